package plugin_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/live"
)

// TestFuzzCorpus has the plugin read what fuzzing has found so far (make fuzz-plugin), under
// AddressSanitizer and UndefinedBehaviorSanitizer: inputs that between them reach all of its code
// that is ever reached.
func TestFuzzCorpus(t *testing.T) {
	t.Parallel()
	corpus := "../../../plugin/test/corpus"
	program := filepath.Join(live.Plugin(t, "weft-fuzz", ""), "weft-fuzz")
	out, err := exec.Command(program, corpus).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out[max(0, len(out)-3000):])
	}
	var files, read int
	if _, err := fmt.Sscanf(strings.TrimSpace(string(out)), "%d files, %d of them with tables", &files, &read); err != nil || files < 50 || read < files/3 || read == files {
		t.Errorf("%s (%v)", out, err)
	}
}
