package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/internal/testnet"
)

// The files of docs/scenarios show what weft says, whole, to whoever wants to know
// what it is like. A file begins with a heading and what is going on, lines that
// begin with #. Then come blocks, each with
//
//	commands, one a line, of which all but the last must end with exit code 0
//	----
//	what they print, standard output and then standard error
//	(exit code N)
//
// and # lines and empty ones between. They are run one after the other, in a folder
// of their own in which examples is that of the repository and files is beside them. Besides weft there is
// cat. Times and memory are left out, and the folder is called /home/net. go test
// ./internal/cli -run Scenarios -update writes what is printed now.
const scenarios = "../../docs/scenarios"

// scenario is a file, line by line as it is to be.
type scenario struct {
	dir string // in which commands run
	out strings.Builder
}

func TestScenarios(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(scenarios, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	index := map[string]string{} // heading by name
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		heading, _, _ := strings.Cut(string(text), "\n")
		index[name] = strings.TrimPrefix(heading, "# ")
		t.Run(strings.TrimSuffix(name, ".txt"), func(t *testing.T) {
			if i%3 > 0 && !*update {
				testnet.OnlyWhole(t)
			}
			t.Parallel()
			compareWith(t, file, string(text), played(t, string(text)))
		})
	}
	// The list of them is kept by hand, in an order of its own.
	list, err := os.ReadFile(filepath.Join(scenarios, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, heading := range index {
		if want := fmt.Sprintf("[%s](%s)", heading, name); !strings.Contains(string(list), want) {
			t.Errorf("docs/scenarios/README.md has no link %s", want)
		}
	}
}

// compareWith compares a file with what it should be, or writes it with -update.
func compareWith(t *testing.T, file, text, want string) {
	t.Helper()
	switch diff := cmp.Diff(strings.Split(text, "\n"), strings.Split(want, "\n")); {
	case diff == "":
	case *update:
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s (-) and what is printed (+); go test ./internal/cli -run %s -update writes it:\n%s", file, strings.Split(t.Name(), "/")[0], diff)
	}
}

// exitLine ends a block.
var exitLine = regexp.MustCompile(`^\(exit code \d+\)$`)

// played is the text of a scenario with what its commands print now.
func played(t *testing.T, text string) string {
	dir, err := os.MkdirTemp("", "weft") // short, so that lines with it are not wrapped
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := scenario{dir: dir}
	for name, at := range map[string]string{"examples": "../../examples", "files": filepath.Join(scenarios, "files")} {
		at, err := filepath.Abs(at)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(at, filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	var commands []string
	skip := false // what was printed before
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		switch {
		case skip:
			skip = !exitLine.MatchString(line)
		case line == "----":
			s.out.WriteString("----\n")
			s.play(t, commands)
			commands, skip = nil, true
		default:
			s.out.WriteString(line + "\n")
			if line != "" && !strings.HasPrefix(line, "#") {
				commands = append(commands, line)
			}
		}
	}
	if skip || len(commands) > 0 {
		t.Fatalf("the last block lacks its ---- or (exit code N)")
	}
	return s.out.String()
}

// play runs commands and writes down what they print.
func (s *scenario) play(t *testing.T, commands []string) {
	code := 0
	for _, line := range commands {
		if code != 0 {
			t.Fatalf("exit code %d before %s", code, line)
		}
		words := shellWords(line)
		if words[0] != "weft" && words[0] != "cat" {
			t.Fatalf("%q is neither weft nor cat", words[0])
		}
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir = s.dir
		cmd.Env = append(os.Environ(), "COLUMNS=110", "GOMAXPROCS=2")
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		var exit *exec.ExitError
		if err := cmd.Run(); errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		s.out.WriteString(s.steady(out.String()) + s.steady(errs.String()))
	}
	fmt.Fprintf(&s.out, "(exit code %d)\n", code)
}

// unsteady is lines that differ from run to run.
var unsteady = regexp.MustCompile(`(?m)^time       (read|choose|paths|plan) .*\n`)

// triedTime is what an engine took, at the end of its line of what auto tried.
var triedTime = regexp.MustCompile(`(?m)^( {11}.*[0-9])  [0-9.]+ m?s$`)

// steady is what was printed, without what differs from run to run.
func (s *scenario) steady(text string) string {
	text = triedTime.ReplaceAllString(unsteady.ReplaceAllString(text, ""), "$1")
	text = withoutColumns(text, "time", "memory")
	text = strings.ReplaceAll(text, s.dir, "/home/net")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// withoutColumns is a text whose tables lack the columns with some headings.
func withoutColumns(text string, headings ...string) string {
	lines := strings.Split(text, "\n")
	const wall, seam = "│", "┌┬┐├┼┤└┴┘│"
	var cut []int
	for i, line := range lines {
		first, _ := utf8.DecodeRuneInString(line)
		switch {
		case first == '┌': // the headings follow
			cut = nil
			for j, cell := range strings.Split(lines[i+1], wall) {
				if slices.Contains(headings, strings.TrimSpace(cell)) {
					cut = append(cut, j)
				}
			}
		case !strings.ContainsRune("├└"+wall, first):
			continue
		}
		cells := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(seam, r) })
		seams := []rune(strings.Map(func(r rune) rune {
			if strings.ContainsRune(seam, r) {
				return r
			}
			return -1
		}, line))
		var b strings.Builder
		for j, cell := range cells {
			if !slices.Contains(cut, j+1) {
				b.WriteString(string(seams[j]) + cell)
			}
		}
		lines[i] = b.String() + string(seams[len(seams)-1])
	}
	return strings.Join(lines, "\n")
}

// shellWords cuts a line at blanks, but for those within single quotes.
func shellWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words[len(words)-1] += part
			continue
		}
		fields := strings.Fields(part)
		if i > 0 && !strings.HasPrefix(part, " ") && len(fields) > 0 {
			words[len(words)-1] += fields[0]
			fields = fields[1:]
		}
		words = append(words, fields...)
		if strings.HasSuffix(part, " ") {
			words = append(words, "") // a quote begins here
		}
	}
	if words[len(words)-1] == "" {
		words = words[:len(words)-1]
	}
	return words
}
