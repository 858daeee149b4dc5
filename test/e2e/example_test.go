package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/live"
)

// The example does all that docs/opensm.md says, with an OpenSM that stays, the
// plugin and the daemon, and shows what it says it shows.
func TestTheExample(t *testing.T) {
	live.Need(t)
	t.Parallel()
	for _, tool := range []string{"bash", "cc", "make", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	if _, err := os.Stat("/usr/include/infiniband/opensm/osm_event_plugin.h"); err != nil {
		t.Skip("no headers of OpenSM to build the plugin with")
	}
	cmd := exec.CommandContext(t.Context(), "timeout", "--kill-after=10", "900", "bash", "../../examples/opensm-on-ibsim.sh")
	// Without position-independent code make links what go test has compiled already; package
	// install builds weft as it is shipped.
	cmd.Env = append(os.Environ(), "HARDENED=")
	cmd.WaitDelay = 10 * time.Second
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	rest := string(text)
	for _, line := range []string{
		"credit-loop (contract honored",               // OpenSM alone
		"DANGER: the tables have a credit loop",       //
		"OpenSM has not asked yet",                    // the daemon
		"weft tables configured on all switches",      // with the plugin
		"deadlock-free by dfsssp (contract honored)",  // in the status
		"verdict    deadlock-free (contract honored",  // by the judge, from the dumps
		"sweep=2 change=repair",                       // a cable breaks
		"verdict    deadlock-free (contract honored",  //
		"are proven for the fabric as it is and stay", // the daemon is killed
		"changed LFT entries",                         // and back
		"Done.",                                       //
	} {
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Fatalf("%q is missing, or not in its place\n%s", line, text)
		}
		rest = after
	}
}
