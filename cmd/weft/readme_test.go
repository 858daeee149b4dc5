package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// What the README shows of its examples is what the program prints on a terminal of
// 120 columns, but for times and memory.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	t.Setenv("COLUMNS", "120")
	for _, args := range [][]string{
		{"route", "examples/cluster.ibnetdiscover"},
		{"route", "examples/cluster.ibnetdiscover", "--engine", "minhop"},
	} {
		if !strings.Contains(string(readme), "go run ./cmd/weft "+strings.Join(args, " ")+"\n") {
			t.Errorf("the README does not have the command %q", args)
		}
		var out, errs bytes.Buffer
		run(t.Context(), args, nil, &out, &errs)
		for line := range strings.SplitSeq(out.String(), "\n") {
			line = triedTime.ReplaceAllString(line, "$1")
			if !strings.HasPrefix(line, "time ") && !strings.Contains(string(readme), line) {
				t.Errorf("%q: not in the README: %s", args, line)
			}
		}
	}
}
