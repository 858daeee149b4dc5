package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
)

// Manual pages say what --help says, word by word: what looks like markup in a
// help text is lost on the way.
func TestManualPagesSayWhatHelpSays(t *testing.T) {
	dir := t.TempDir()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"man", dir}, nil, &out, &errs); code != exit.OK {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	markup := regexp.MustCompile(`\\f[BIPR]|(?m)^\.\w+ ?`)
	words := func(text string) string { return " " + strings.Join(strings.Fields(text), " ") + " " }
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" {
			return
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			return
		}
		page := words(strings.NewReplacer(`\-`, "-", `\&`, "", `\\`, `\`, `\[aq]`, "'", `\(aq`, "'").Replace(markup.ReplaceAllString(string(text), "")))
		for paragraph := range strings.SplitSeq(c.Long, "\n\n") {
			if !strings.Contains(page, strings.TrimSpace(words(paragraph))) {
				t.Errorf("%s does not have: %s", name, paragraph)
			}
		}
	}
	check(newRoot(&console.Console{Context: t.Context(), Stdout: &out, Stderr: &errs}))
}
