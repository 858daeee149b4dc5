package plain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		text, want string
		except     []string
	}{
		{"", "", nil},
		{"routing: needs 3 lanes; 1 are available", "needs 3 lanes; 1 are available", nil},
		{"change: updown: routing: no way", "no way", nil},
		{"--contract: routing: a contract is honored", "--contract: a contract is honored", nil},
		{"engines: no engine is called x\nengines: no path finder", "no engine is called x\nno path finder", nil},
		{"minhop: routing: none; nue: few", "minhop: none; nue: few", nil},
		{"fabric: no such file", "fabric: no such file", []string{"fabric"}},
		{"fabric: routing: none", "fabric: none", []string{"fabric"}},
		{"reroutinging: x, routing:x, the fabric: y", "reroutinging: x, routing:x, the fabric: y", nil},
		{"routing: ", "", nil},
	} {
		if got := Text(c.text, c.except...); got != c.want {
			t.Errorf("%q is said as %q, not %q", c.text, got, c.want)
		}
	}
}

// Every package that begins a text with its name is on the list, and no other.
func TestPackages(t *testing.T) {
	root := filepath.Join("..", "..")
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			// errors.New, fmt.Errorf, fmt.Sprintf and the like of Error methods.
			callee, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains([]string{"New", "Errorf", "Sprintf"}, callee.Sel.Name) {
				return true
			}
			if lit, ok := call.Args[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && strings.HasPrefix(text, file.Name.Name+": ") {
					found[file.Name.Name] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(found, "live") // tests only
	var names []string
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	if !slices.Equal(names, packages) {
		t.Errorf("the packages whose errors begin with their names are\n%q, and plain.packages is\n%q", names, packages)
	}
}
