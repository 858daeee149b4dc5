package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// unguarded is what reads without a bound, waits for a pipe that nobody can interrupt, or writes
// what others then obey, and what is used in its place.
var unguarded = map[string]string{
	"os.Open":          "reading.Open, OpenFound or OpenPlain",
	"os.ReadFile":      "reading.OpenPlain and reading.ReadAll",
	"os.DirFS":         "reading.OpenPlain",
	"io.ReadAll":       "reading.ReadAll",
	"bufio.NewScanner": "reading.NewLines",
	"csv.NewReader":    "reading.NewCSV",
	"csv.NewWriter":    "reading.NewCSVWriter, so that no name is calculated by a spreadsheet",
}

// readers is who may read in another way, and why.
var readers = map[string]string{
	"internal/reading":             "it is where the bounds are",
	"internal/cli/internal/output": "it opens what it has just made",
	"internal/sweep/meter":         "it reads /proc",
	"internal/reproduce":           "it reads /proc, and a table that is a part of the program",
	"build/scripts/...":            "no part of the program",
	"test/bench/...":               "no part of the program",
}

// A file that is read is opened, bounded and interruptible in one place.
func TestFilesAreReadInOnePlace(t *testing.T) {
	found := 0
	eachFile(t, func(name string, text []byte) {
		dir := path.Dir(name)
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") || slices.ContainsFunc(testOnly, func(p string) bool { return covers(p, dir) }) {
			return
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := call.X.(*ast.Ident)
			if !ok {
				return true
			}
			instead, ok := unguarded[pkg.Name+"."+call.Sel.Name]
			if !ok {
				return true
			}
			found++
			for who := range readers {
				if covers(who, dir) {
					return true
				}
			}
			t.Errorf("%s: %s.%s is not for files of others: use %s", set.Position(n.Pos()), pkg.Name, call.Sel.Name, instead)
			return true
		})
	})
	if found == 0 {
		t.Error("the search finds nothing, not even in package reading")
	}
}
