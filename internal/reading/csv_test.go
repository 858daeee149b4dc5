package reading

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
)

// A text of others is a text to a spreadsheet, a number stays one, and what was written is
// what is read.
func TestCellsAreTexts(t *testing.T) {
	cells := []string{"=cmd|'/C calc'!A0", "+1+2", "-oX", "@SUM(1)", "\t=1", "\r\n=1", "'=x", "''=x", "'-1", "-1", "+2.5e3", "-", "a=b", "", "'", "'a", " =1"}
	var b bytes.Buffer
	if err := NewCSVWriter(&b).WriteAll([][]string{cells, cells}); err != nil {
		t.Fatal(err)
	}
	seen, err := csv.NewReader(bytes.NewReader(b.Bytes())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, cell := range seen[0] {
		if cell != "" && strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) && cells[i] != "-1" && cells[i] != "+2.5e3" {
			t.Errorf("a spreadsheet calculates %q", cell)
		}
	}
	if seen[0][9] != "-1" || seen[0][12] != "a=b" || seen[0][15] != "'a" {
		t.Errorf("%q", seen[0])
	}
	back, err := NewCSV(bytes.NewReader(b.Bytes()), "f").ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, cell := range back[1] {
		if want := strings.ReplaceAll(cells[i], "\r\n", "\n"); cell != want { // as encoding/csv has it
			t.Errorf("%q is read as %q", cells[i], cell)
		}
	}
}
