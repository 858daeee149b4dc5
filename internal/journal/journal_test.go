package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/journal"
)

// lines opens a journal and returns what it holds.
func lines(t *testing.T, name string) (*journal.Journal, []string) {
	t.Helper()
	var all []string
	j, err := journal.Open(name, func(n int, text []byte) error {
		all = append(all, strings.TrimSpace(string(text)))
		if n != len(all) {
			t.Errorf("line %d is called %d", len(all), n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j, all
}

// Wherever a journal was cut, it holds the whole lines, and what is appended follows them.
func TestWholeAfterAnyCut(t *testing.T) {
	const whole = "\"a\"\n\"b\"\n"
	for cut := range len(whole) + 1 {
		name := filepath.Join(t.TempDir(), "j")
		if err := os.WriteFile(name, []byte(whole[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		j, had := lines(t, name)
		if want := strings.Count(whole[:cut], "\n"); len(had) != want || j.Empty() != (want == 0) {
			t.Errorf("after %d bytes: %q, empty %t", cut, had, j.Empty())
		}
		if err := errors.Join(j.Append("c"), j.Close()); err != nil {
			t.Fatal(err)
		}
		if _, now := lines(t, name); !slices.Equal(now, append(had, `"c"`)) {
			t.Errorf("after %d bytes and a line more: %q", cut, now)
		}
	}
}

func TestOneProcessAtATime(t *testing.T) {
	name := filepath.Join(t.TempDir(), "j")
	j, _ := lines(t, name)
	if _, err := journal.Open(name, nil); !errors.Is(err, journal.ErrHeld) {
		t.Errorf("a second one: %v", err)
	}
	if err := errors.Join(j.Append(1), j.Close()); err != nil {
		t.Fatal(err)
	}
	if _, had := lines(t, name); !slices.Equal(had, []string{"1"}) {
		t.Errorf("after the first one: %q", had)
	}
}

// What its owner does not understand stays as it is.
func TestRefusedIsNotTouched(t *testing.T) {
	name := filepath.Join(t.TempDir(), "j")
	if err := os.WriteFile(name, []byte("1\n2\n3"), 0o600); err != nil {
		t.Fatal(err)
	}
	no := errors.New("no")
	if _, err := journal.Open(name, func(n int, _ []byte) error {
		if n == 2 {
			return no
		}
		return nil
	}); !errors.Is(err, no) {
		t.Error(err)
	}
	if text, err := os.ReadFile(name); string(text) != "1\n2\n3" {
		t.Errorf("%q, %v", text, err)
	}
}

// A link is no journal: where others can put one, it could lead to any file, whose last line
// without an end would be cut off.
func TestLinkIsNoJournal(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	if err := errors.Join(os.WriteFile(other, []byte("secret"), 0o600), os.Symlink(other, filepath.Join(dir, "j"))); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(filepath.Join(dir, "j"), nil); err == nil || !strings.Contains(err.Error(), "is a symbolic link") {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "secret" {
		t.Errorf("%q, %v", text, err)
	}
}
