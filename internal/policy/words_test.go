package policy

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// The words that programmers and users meet (exported names, commands, flags) are those
// of GLOSSARY.md or plain ones, which testdata/words.txt lists. A new word fails the test
// until somebody decides: if a network engineer knows it at first sight, or any reader of
// English, add it to the list; if not, take a better one or define it in the glossary.
func TestWordsAreKnown(t *testing.T) {
	known := listed(t, "testdata/words.txt")
	maps.Copy(known, glossary(t))
	eachGo(t, func(name string, file *ast.File, set *token.FileSet) {
		for id := range publicNames(name, file) {
			for _, word := range wordsOf(id.name) {
				if !isKnown(word, known) {
					t.Errorf("%s:%d: %s: %q is neither in GLOSSARY.md nor in internal/policy/testdata/words.txt", name, set.Position(id.at).Line, id.name, word)
				}
			}
		}
	})
}

// testdata/private.txt lists words that only the authors understood, with what to write
// instead. They are in no name, comment, message or page.
func TestNoPrivateWords(t *testing.T) {
	everywhere, names := private(t)
	eachGo(t, func(name string, file *ast.File, set *token.FileSet) {
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				for _, word := range wordsOf(id.Name) {
					if instead := names[word]; instead != "" {
						t.Errorf("%s:%d: %s: %q is a private word: %s", name, set.Position(id.Pos()).Line, id.Name, word, instead)
					}
				}
			}
			return true
		})
	})
	eachFile(t, func(name string, text []byte) {
		if !slices.Contains([]string{".go", ".md", ".c", ".h", ".txtar"}, path.Ext(name)) || strings.HasPrefix(name, "docs/results/") {
			return
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			for word := range strings.FieldsFuncSeq(string(line), noLetter) {
				if instead := everywhere[strings.ToLower(word)]; instead != "" {
					t.Errorf("%s:%d: %q is a private word: %s", name, i+1, word, instead)
				}
			}
		}
	})
}

func noLetter(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') }

func TestWordsOf(t *testing.T) {
	for name, want := range map[string]string{
		"HCAPort": "hca port", "SL2VLDump": "sl vl dump", "MaxMin": "max min", "within-parts": "within parts",
		"LIDs": "lid", "PathSLs": "path sl", "ByGUID": "by guid", "EitherWay": "either way", "OpenSM": "open sm", "VLs": "vl",
	} {
		if got := strings.Join(wordsOf(name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// publicName is a name that programmers or users meet.
type publicName struct {
	name string
	at   token.Pos
}

// publicNames yields the exported names that a file declares, and the commands and flags
// of internal/cli.
func publicNames(name string, file *ast.File) map[publicName]bool {
	all := map[publicName]bool{}
	add := func(id *ast.Ident) {
		if id.IsExported() {
			all[publicName{id.Name, id.Pos()}] = true
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(d.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, id := range s.Names {
						add(id)
					}
				case *ast.TypeSpec:
					add(s.Name)
					if s.Name.IsExported() {
						eachMember(s.Type, add)
					}
				}
			}
		}
	}
	if strings.HasPrefix(name, "internal/cli/") {
		ast.Inspect(file, func(n ast.Node) bool {
			if word, at := commandWord(n); word != "" {
				all[publicName{word, at}] = true
			}
			return true
		})
	}
	return all
}

// eachMember visits the fields of a struct and the methods of an interface.
func eachMember(t ast.Expr, visit func(*ast.Ident)) {
	var fields *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return
	}
	for _, f := range fields.List {
		for _, id := range f.Names {
			visit(id)
		}
	}
}

var (
	flagCall   = regexp.MustCompile(`^(String|Bool|Int|Uint|Float|Duration|Count|Text)\w*VarP?$|^VarP?F?$`)
	flagName   = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	commandUse = regexp.MustCompile(`^[a-z][a-z-]*`)
)

// commandWord is the name of the flag that a call declares, or of the command that the
// field Use of a cobra.Command names.
func commandWord(n ast.Node) (string, token.Pos) {
	switch n := n.(type) {
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || !flagCall.MatchString(sel.Sel.Name) || len(n.Args) < 2 {
			return "", 0
		}
		if text, ok := literal(n.Args[1]); ok && flagName.MatchString(text) {
			return text, n.Args[1].Pos()
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Use" {
			text, _ := literal(n.Value)
			return commandUse.FindString(text), n.Value.Pos()
		}
	}
	return "", 0
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// wordsOf splits a name into words in lower case, abbreviations without the s of their
// plural.
func wordsOf(name string) []string {
	var all []string
	runes := []rune(name)
	for i := 0; i < len(runes); {
		if !unicode.IsLetter(runes[i]) {
			i++
			continue
		}
		j := i
		for j < len(runes) && unicode.IsUpper(runes[j]) {
			j++
		}
		upper := j - i
		for j < len(runes) && unicode.IsLower(runes[j]) {
			j++
		}
		switch lower := j - i - upper; {
		case upper > 1 && lower == 1 && runes[j-1] == 's': // LIDs
			all = append(all, string(runes[i:j-1]))
		case upper > 1 && lower > 0: // the last capital begins a word
			all = append(all, string(runes[i:i+upper-1]), string(runes[i+upper-1:j]))
		default:
			all = append(all, string(runes[i:j]))
		}
		i = j
	}
	for i := range all {
		all[i] = strings.ToLower(all[i])
	}
	return all
}

// isKnown reports whether a word or its singular is in a list.
func isKnown(word string, list map[string]bool) bool {
	return list[word] || list[strings.TrimSuffix(word, "s")] || list[strings.TrimSuffix(word, "es")]
}

// glossary is the words in bold in the first column of GLOSSARY.md.
func glossary(t *testing.T) map[string]bool {
	text, err := os.ReadFile(root + "/GLOSSARY.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\|([^|]*)\|`).FindAllSubmatch(text, -1) {
		for _, word := range regexp.MustCompile(`[A-Za-z]+`).FindAllString(string(row[1]), -1) {
			for _, part := range append(wordsOf(word), strings.ToLower(word)) {
				all[part] = true
			}
		}
	}
	if len(all) < 50 {
		t.Fatalf("%d words in GLOSSARY.md", len(all))
	}
	return all
}

// listed is the words of a file, any number on a line; # begins a comment.
func listed(t *testing.T, name string) map[string]bool {
	all := map[string]bool{}
	eachLine(t, name, func(line string) {
		for _, word := range strings.Fields(line) {
			if all[word] {
				t.Errorf("internal/policy/%s: %q is listed twice", name, word)
			}
			all[word] = true
		}
	})
	return all
}

// private is the private words, with what to write instead: those that are written
// nowhere, and those that only names may not have because they are English words too.
func private(t *testing.T) (everywhere, names map[string]string) {
	everywhere, names = map[string]string{}, map[string]string{}
	eachLine(t, "testdata/private.txt", func(line string) {
		word, instead, ok := strings.Cut(line, ": ")
		own, inNames := strings.CutPrefix(word, "name ")
		if !ok || strings.Contains(own, " ") {
			t.Fatalf("testdata/private.txt: %q is not \"word: what to write instead\"", line)
		}
		names[own] = instead
		if !inNames {
			everywhere[own] = instead
		}
	})
	return everywhere, names
}

func eachLine(t *testing.T, name string, visit func(string)) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if line, _, _ := strings.Cut(lines.Text(), "#"); strings.TrimSpace(line) != "" {
			visit(strings.TrimSpace(line))
		}
	}
}

// eachGo visits the Go files that are not tests.
func eachGo(t *testing.T, visit func(name string, file *ast.File, set *token.FileSet)) {
	eachFile(t, func(name string, text []byte) {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			return
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, 0)
		if err != nil {
			t.Error(fmt.Errorf("%s: %w", name, err))
			return
		}
		visit(name, file, set)
	})
}
