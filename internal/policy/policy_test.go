package policy

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/weft-fabric/weft"
	root   = "../.."
)

// rule says what packages may import of this module and of other modules, in
// code that is not a test. Paths are relative to the module; "x/..." is x and all
// below it. The standard library is free to all, and so are tests.
type rule struct {
	packages string
	may      []string // packages of this module
	modules  []string // of other modules, path prefixes
	why      string
}

// source is one Go file of the module, read up to its imports.
type source struct {
	dir  string // the package, relative to the module; "." is the root
	name string
	test bool
	file *ast.File
}

func TestImports(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		r := ruleFor(s.dir)
		if r == nil {
			t.Errorf("%s has no rule: add one to rules_test.go", s.dir)
			continue
		}
		for _, spec := range s.file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatalf("%s/%s: import %s: %v", s.dir, s.name, spec.Path.Value, err)
			}
			if problem := r.problem(s.dir, imported); problem != "" {
				t.Errorf("%s/%s imports %s: %s", s.dir, s.name, imported, problem)
			}
		}
	}
}

// The rules themselves forbid what the design forbids.
func TestRulesForbid(t *testing.T) {
	for _, c := range []struct{ from, to string }{
		{"fabric", module + "/routing"},
		{"fabric", "github.com/spf13/cobra"},
		{"topology", module + "/routing"},
		{"deadlock", module + "/internal/engine/paths/updown"},
		{"deadlock", module + "/internal/engine/lanes/layer"},
		{"deadlock", module + "/routing/engines"},
		{"deadlock", module + "/internal/engine/steps/acyclic"},
		{"packets", module + "/routing/engines"},
		{"internal/engine/paths/sssp", module + "/internal/engine/lanes/layer"},
		{"internal/engine/paths/sssp", module + "/internal/engine/paths/minhop"},
		{"internal/engine/paths/sssp", module + "/routing/engines"},
		{"internal/engine/lanes/layer", module + "/internal/engine/steps/dag"},
		{"internal/engine/lanes/layer", module + "/deadlock"},
		{"internal/format/lft", module + "/format/ibnet"},
		{"packets", module},
		{"routing/engines", module},
		{"deadlock", module},
		{"cmd/weft", module + "/routing"},
		{"internal/cli", module + "/internal/live"},
		{"routing", "C"},
	} {
		r := ruleFor(c.from)
		if r == nil {
			t.Errorf("%s has no rule", c.from)
		} else if r.problem(c.from, c.to) == "" {
			t.Errorf("%s may import %s", c.from, c.to)
		}
	}
	if r := ruleFor("surprise"); r != nil {
		t.Errorf("a new package falls under the rule of %s", r.packages)
	}
}

func TestPackagesAreNamedForWhatTheyHold(t *testing.T) {
	for dir := range packages(t) {
		for _, element := range strings.Split(dir, "/") {
			if slices.Contains(vagueNames, element) {
				t.Errorf("%s: %q says nothing about what is in it", dir, element)
			}
		}
	}
}

func TestPackagesHaveComments(t *testing.T) {
	all := packages(t)
	for _, dir := range slices.Sorted(maps.Keys(all)) {
		onlyTests := !slices.ContainsFunc(all[dir], func(s source) bool { return !s.test })
		described := 0
		for _, s := range all[dir] {
			if s.test && !onlyTests || s.file.Doc == nil {
				continue
			}
			described++
			name := strings.TrimSuffix(s.file.Name.Name, "_test")
			want := "Package " + name + " "
			if name == "main" {
				want = "Command " + path.Base(dir) + " "
			}
			if text := s.file.Doc.Text(); !strings.HasPrefix(text, want) {
				t.Errorf("%s/%s: the package comment must begin with %q", dir, s.name, want)
			}
		}
		if described != 1 {
			t.Errorf("%s has %d package comments, want one", dir, described)
		}
	}
}

// A path of the machine somebody works on means nothing to anybody else.
func TestNoPathsOfOneMachine(t *testing.T) {
	local := regexp.MustCompile(`(^|[^\w.-])/(work|farm)/`)
	eachFile(t, func(name string, text []byte) {
		if bytes.IndexByte(text, 0) >= 0 || !bytes.Contains(text, []byte("work/")) && !bytes.Contains(text, []byte("farm/")) {
			return // as nearly all, which to match line by line takes a second
		}
		for i, l := range bytes.Split(text, []byte("\n")) {
			if local.Match(l) {
				t.Errorf("%s:%d: path of one machine: %s", name, i+1, bytes.TrimSpace(l))
			}
		}
	})
}

// large is packages of more than mostFiles files, tests aside, with the reason why they are one
// package. Length alone makes no concept: a package that grows is looked at, and named here or
// divided.
var large = map[string]string{
	"internal/opensm/daemon": "one process: what it is asked, knows, keeps, routes and answers",
	"packets":                "one simulator: every event touches the same buffers, credits and lanes",
	"result":                 "a file for each output, and for what several of them have in common",
	"topology":               "a file for each family of networks",
}

const mostFiles = 25

func TestLargePackagesAreLookedAt(t *testing.T) {
	for dir, all := range packages(t) {
		files := 0
		for _, s := range all {
			if !s.test {
				files++
			}
		}
		if why := large[dir]; files > mostFiles && why == "" {
			t.Errorf("%s has %d files, more than %d: find the concept that wants its own package, or say in large why it is one", dir, files, mostFiles)
		} else if files <= mostFiles && why != "" {
			t.Errorf("%s has %d files, and is still called large", dir, files)
		}
	}
}

func ruleFor(dir string) *rule {
	for _, r := range slices.Concat(rules, sweepRules) {
		if covers(r.packages, dir) {
			return &r
		}
	}
	return nil
}

// problem says why a package under the rule may not import another, or nothing.
func (r *rule) problem(dir, imported string) string {
	within := func(pattern string) bool { return covers(pattern, imported) }
	if imported == "C" {
		if slices.ContainsFunc(cgo, func(pattern string) bool { return covers(pattern, dir) }) {
			return ""
		}
		return "cgo stays in " + strings.Join(cgo, ", ")
	}
	if own, ok := strings.CutPrefix(imported+"/", module+"/"); ok {
		own = cmp.Or(strings.TrimSuffix(own, "/"), ".")
		imported = own
		switch {
		case slices.Contains(testOnly, own) && !slices.Contains(testOnly, dir):
			return "it is for tests only"
		case slices.ContainsFunc(r.may, within):
			return ""
		}
		return r.why
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") || slices.ContainsFunc(r.modules, func(m string) bool { return covers(m+"/...", imported) }) {
		return ""
	}
	return "packages other than the command stand on the standard library alone"
}

// covers reports whether a package is what a pattern means.
func covers(pattern, pkg string) bool {
	if pattern == "..." {
		return true
	}
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == tree || strings.HasPrefix(pkg, tree+"/")
	}
	return pkg == pattern
}

func packages(t *testing.T) map[string][]source {
	all := map[string][]source{}
	for _, s := range sources(t) {
		all[s.dir] = append(all[s.dir], s)
	}
	return all
}

// sources is every Go file, whatever its build constraints.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	set := token.NewFileSet()
	eachFile(t, func(name string, text []byte) {
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			return
		}
		file, err := parser.ParseFile(set, name, text, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Error(err)
			return
		}
		all = append(all, source{
			dir:  path.Dir(name),
			name: path.Base(name),
			test: strings.HasSuffix(name, "_test.go"),
			file: file,
		})
	})
	if len(all) == 0 {
		t.Fatal("no Go files found")
	}
	return all
}

// eachFile calls f with every file of the repository, by its path from the root
// with slashes, except what git and the build keep there.
func eachFile(t *testing.T, f func(name string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if name == ".git" && !entry.IsDir() {
			return nil // a worktree's, which says where the repository is
		}
		if entry.IsDir() {
			if name == ".git" || name == "bin" {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		f(name, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// cgo is the packages that may import "C".
var cgo = []string{"libweft"}

// vagueNames say nothing about what a package holds.
var vagueNames = []string{"util", "utils", "common", "helper", "helpers", "misc", "pkg", "lib", "shared", "base"}
