package reading_test

import (
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/reading"
)

// The files of a run say when it was; whatever else they are, and wherever they end.
func TestRunOf(t *testing.T) {
	t.Parallel()
	const run = "2026-03-31 23:43:18 UTC +0000"
	const table = "START_RUN_INFO\nIBDIAGNET_Version,Date,Args\n\"IBDIAGNET 2.10\",\"" + run + "\",\" -o a,b\"\nEND_RUN_INFO\n"
	for text, want := range map[string]string{
		"# This database file\n# Running timestamp : " + run + "\n# File created at : later\n\nlines\n": run,
		"# Timestamp: " + run + "\r\n":                                        run,
		"# INDEX_TABLE offset: 551254, line: 5007\n\n\n" + table:              run,
		strings.ReplaceAll(table, "\n", "\r\n"):                               run,
		strings.Replace(table, run, "today", 1):                               "",
		"START_RUN_INFO\nDate":                                                "",
		"START_RUN_INFO\nDate\n":                                              "",
		"START_RUN_INFO\nA,Date\n1\nEND_RUN_INFO\nSTART_X\n\"" + run + "\"\n": "",
		"START_NODES\n" + table:                                               "",
		"":                                                                    "",
		strings.Repeat("#", 1<<17):                                            "",
	} {
		if got := reading.RunOf(strings.NewReader(text)); got != want {
			t.Errorf("%q, want %q, of %q", got, want, text[:min(len(text), 200)])
		}
	}
}
