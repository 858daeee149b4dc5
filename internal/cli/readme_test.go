package cli

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeShowsWhatIsPrinted holds the README's examples: the lines that it shows of what
// they print, "…" standing for those it leaves out, are printed on a terminal of 120 columns
// in that order, at most eight each, and nothing else.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	blocks := strings.Split(string(text), "\n```\n")
	shown := 0
	for _, block := range blocks {
		var args []string
		switch {
		case strings.HasPrefix(block, "verdict    deadlock-free"):
			args = []string{"route", "examples/cluster.ibnetdiscover"}
		case strings.HasPrefix(block, "verdict    credit-loop"):
			args = []string{"route", "examples/cluster.ibnetdiscover", "--engine", "minhop"}
		default:
			continue
		}
		shown++
		rest, lines := onTerminal(t, args...), strings.Split(block, "\n")
		if len(lines) > 8 {
			t.Errorf("%q: %d lines are shown", args, len(lines))
		}
		for _, line := range lines {
			_, after, found := strings.Cut("\n"+rest, "\n"+line+"\n")
			if line != "…" && !found {
				t.Errorf("%q does not print, or not in this order: %s", args, line)
			} else if found {
				rest = after
			}
		}
	}
	if shown != 2 || !strings.Contains(string(text), "go run ./cmd/weft route examples/cluster.ibnetdiscover\n") {
		t.Errorf("the README shows %d examples", shown)
	}
	if lines := strings.Count(string(text), "\n"); lines > 100 {
		t.Errorf("the README has %d lines: its details belong to docs", lines)
	}
}
