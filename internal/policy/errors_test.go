package policy

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// Errors say what is wrong, for people who do not know our packages; whoever wants to know where
// one comes from asks for its type.
func TestErrorsNameNoPackage(t *testing.T) {
	seen := 0
	eachGo(t, func(_ string, file *ast.File, set *token.FileSet) {
		if file.Name.Name == "main" {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			made, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || made.Sel.Name != "Errorf" && made.Sel.Name != "New" {
				return true
			}
			text, ok := literal(call.Args[0])
			if ok {
				seen++
			}
			if strings.HasPrefix(text, file.Name.Name+": ") {
				t.Errorf("%s: an error begins with the name of its package: %q", set.Position(call.Pos()), text)
			}
			return true
		})
	})
	if seen < 500 {
		t.Errorf("%d texts of errors were looked at", seen)
	}
}
