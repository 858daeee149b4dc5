package policy

import (
	"bytes"
	"flag"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/api.txt anew")

// public is the library: the packages that programs of others import. A package that is not
// among them lies below internal, or is a program, a test or an example.
var public = []string{
	".", "change", "congestion", "deadlock", "deadlock/transition", "ethernet", "ethernet/folder", "ethernet/judge",
	"fabric", "format", "format/certificate", "format/files", "format/ibnet", "packets", "result", "routing", "routing/engines", "topology", "traffic",
}

// apart is where code lies that nobody imports from outside although Go would let them.
var apart = []string{"build/...", "cmd/...", "examples/...", "libweft", "test/..."}

func TestLibraryIsListed(t *testing.T) {
	all := packages(t)
	for dir := range all {
		inside := slices.Contains(strings.Split(dir, "/"), "internal") || slices.ContainsFunc(apart, func(p string) bool { return covers(p, dir) })
		if listed := slices.Contains(public, dir); listed == inside {
			t.Errorf("%s: in the list of public packages: %v; below internal or apart: %v; it must be one of the two", dir, listed, inside)
		}
	}
	for _, dir := range public {
		if all[dir] == nil {
			t.Errorf("%s is listed as public and is no package", dir)
		}
	}
}

// testdata/api.txt is what the library exports, a line a name with its type. A change of it
// is a change for programs of others: it shall be seen, and meant.
func TestAPIIsTheListedOne(t *testing.T) {
	var lines []string
	for _, dir := range public {
		lines = append(lines, exported(t, dir)...)
	}
	got := strings.Join(lines, "\n") + "\n"
	names := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !named.MatchString(l) })
	if len(names) > mostNames {
		t.Errorf("the library exports %d names, more than %d: what only our own programs need goes below internal", len(names), mostNames)
	}
	const name = "testdata/api.txt"
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for _, l := range lines {
		if !slices.Contains(want, l) {
			t.Errorf("the library exports, and internal/policy/%s does not list: %s", name, l)
		}
	}
	for _, l := range want {
		if !slices.Contains(lines, l) {
			t.Errorf("internal/policy/%s lists, and the library does not export: %s", name, l)
		}
	}
	if t.Failed() {
		t.Error("if that is meant: go test ./internal/policy -run API -update")
	}
}

// mostNames is how many functions, methods, types, constants and variables the library may
// export; fields do not count.
const mostNames = 800

var named = regexp.MustCompile(`^[^ ]+: (func|type|const|var) `)

// exported is the exported names of a package, sorted, each with its type. A name without
// a comment fails the test.
func exported(t *testing.T, dir string) []string {
	t.Helper()
	set := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	pkg, err := doc.NewFromFiles(set, files, path.Join(module, dir))
	if err != nil {
		t.Fatal(err)
	}

	var lines []string
	say := func(what string) { lines = append(lines, dir+": "+what) }
	commented := func(name, text string) {
		if text == "" {
			t.Errorf("%s: %s has no comment", dir, name)
		}
	}
	source := func(n ast.Node) string { return oneLine(t, set, n) }
	values := func(all []*doc.Value) {
		for _, v := range all {
			for _, spec := range v.Decl.Specs {
				spec := spec.(*ast.ValueSpec)
				for _, id := range spec.Names {
					if id.IsExported() {
						commented(id.Name, v.Doc+spec.Doc.Text()+spec.Comment.Text())
						say(strings.TrimSpace(v.Decl.Tok.String() + " " + id.Name + " " + source(spec.Type)))
					}
				}
			}
		}
	}
	functions := func(all []*doc.Func) {
		for _, f := range all {
			if !standard[f.Name] { // what they do is known
				commented(f.Name, f.Doc)
			}
			f.Decl.Body, f.Decl.Doc = nil, nil
			say(source(f.Decl))
		}
	}
	values(pkg.Consts)
	values(pkg.Vars)
	functions(pkg.Funcs)
	for _, typ := range pkg.Types {
		commented(typ.Name, typ.Doc)
		values(typ.Consts)
		values(typ.Vars)
		functions(typ.Funcs)
		functions(typ.Methods)
		spec := typ.Decl.Specs[0].(*ast.TypeSpec)
		var members *ast.FieldList
		switch of := spec.Type.(type) {
		case *ast.StructType:
			members = of.Fields
			say("type " + typ.Name + " struct")
		case *ast.InterfaceType:
			members = of.Methods
			say("type " + typ.Name + " interface")
		default:
			equal := ""
			if spec.Assign.IsValid() {
				equal = "= "
			}
			say("type " + typ.Name + " " + equal + source(of))
			continue
		}
		for _, m := range members.List {
			for _, id := range m.Names {
				if id.IsExported() {
					say(typ.Name + "." + id.Name + " " + source(m.Type))
				}
			}
			if len(m.Names) == 0 {
				say(typ.Name + "." + source(m.Type) + " embedded")
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// standard is methods whose meaning the standard library gives.
var standard = map[string]bool{"Error": true, "String": true, "Unwrap": true, "MarshalJSON": true, "UnmarshalJSON": true, "MarshalText": true, "UnmarshalText": true}

var (
	blanks   = regexp.MustCompile(`\s+`)
	comments = regexp.MustCompile(`//[^\n]*\n`)
)

// oneLine is a node as source on one line, without comments; empty for none.
func oneLine(t *testing.T, set *token.FileSet, n ast.Node) string {
	t.Helper()
	if e, ok := n.(ast.Expr); n == nil || ok && e == nil {
		return ""
	}
	var b bytes.Buffer
	if err := format.Node(&b, set, n); err != nil {
		t.Fatal(err)
	}
	return blanks.ReplaceAllString(comments.ReplaceAllString(b.String(), "\n"), " ")
}
