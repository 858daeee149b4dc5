package reading

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// partOf is a file, and counts in opened how many are open.
func partOf(name, text string, opened *int) Part {
	return Part{Name: name, Open: func() (io.ReadCloser, error) {
		if text == "missing" {
			return nil, errors.New(name + " is missing")
		}
		*opened++
		return struct {
			io.Reader
			io.Closer
		}{strings.NewReader(text), closer(func() { *opened-- })}, nil
	}}
}

type closer func()

func (c closer) Close() error { c(); return nil }

// Several files are one text, with one of them open at a time; errors have the file and the line in it.
func TestJoined(t *testing.T) {
	t.Parallel()
	opened := 0
	l := NewJoined([]Part{partOf("a", "1\n2\n", &opened), partOf("none", "", &opened), partOf("b", "\xff\xfe3\x00\n\x00", &opened), partOf("c", "4\n5", &opened)})
	var got []string
	for l.Next() {
		got = append(got, fmt.Sprintf("%s %v %v", l.Text(), l.Begins(), l.Errorf("x")))
		if opened != 1 {
			t.Errorf("%d files are open", opened)
		}
	}
	want := []string{"1 true a:1: x", "2 false a:2: x", "3 true b:1: x", "4 true c:1: x", "5 false c:2: x"}
	if !slices.Equal(got, want) || l.Err() != nil || opened != 0 {
		t.Errorf("%q, want %q; %v, %d files are open", got, want, l.Err(), opened)
	}
	for line, want := range map[int]string{2: "line 2 of a", 3: "line 1 of b", 5: "line 2 of c"} {
		if got := l.Line(line); got != want {
			t.Errorf("line %d is %q, want %q", line, got, want)
		}
	}
	if err := l.ErrorAt(2, "x"); err.Error() != "a:2: x" || l.Truncated() == nil {
		t.Errorf("%v, %v", err, l.Truncated())
	}
	if one := NewLines(strings.NewReader("1\n"), "f"); one.Line(7) != "line 7" {
		t.Errorf("of one file %q", one.Line(7))
	}
	for second, want := range map[string]string{"2\n\x00\n": "b:2: NUL byte: this is a binary file", "missing": "b is missing", strings.Repeat("x", MaxLine+9): "b:1: line longer"} {
		l := NewJoined([]Part{partOf("a", "1\n1\n1\n", &opened), partOf("b", second, &opened)})
		for l.Next() {
		}
		if err := l.Err(); err == nil || !strings.HasPrefix(err.Error(), want) || opened != 0 || l.Next() {
			t.Errorf("%v, want %s; %d files are open", err, want, opened)
		}
	}
	l = NewJoined([]Part{partOf("a", "1\n2\n", &opened)})
	if !l.Next() || opened != 1 {
		t.Error("nothing is read")
	}
	if l.Close(); opened != 0 {
		t.Error("a file is left open")
	}
}
