package reading

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/weft-fabric/weft/format"
)

// endless is the same text again and again; a reader without a bound would not come back.
type endless struct {
	text string
	read int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], e.text)
	}
	e.read += int64(n)
	return n, nil
}

func TestReadAllHasABound(t *testing.T) {
	from := &endless{text: "12345678\n"}
	_, err := ReadAll(from, "f", 1<<20)
	if err == nil || !strings.Contains(err.Error(), ": more than 1048576 bytes of text, which is the most that is read of such a file: give the one") {
		t.Error(err)
	}
	if from.read > 2<<20 {
		t.Errorf("%d bytes were read", from.read)
	}
	for text, want := range map[string]string{"a\nb\x00": "f:2: NUL byte", "a\nb\nc\xffd": "f:3: byte 0xff is not UTF-8"} {
		if _, err := ReadUTF8(strings.NewReader(text), "f", 100); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if text, err := ReadUTF8(strings.NewReader("é\n"), "f", 3); err != nil || string(text) != "é\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestCSV(t *testing.T) {
	c := NewCSV(iotest.OneByteReader(strings.NewReader("a,\"b\nc\"\n\n# x\nd,e")), "f")
	c.Comment = '#'
	rows, err := c.ReadAll()
	if err != nil || len(rows) != 2 || !slices.Equal(rows[0], []string{"a", "b\nc"}) || !slices.Equal(rows[1], []string{"d", "e"}) {
		t.Errorf("%q, %v", rows, err)
	}
	for text, want := range map[string]string{
		"a,b\nc,\"d\n":                                "f:",
		"a,b\nc\n":                                    "f:2: wrong number of fields",
		"a,\"b\n" + "x\"y\n":                          "f:2: extraneous or missing",
		"a,b\n\"" + strings.Repeat("x\n", 1<<20):      "f:530431: more than 1048576 bytes without the end of a record",
		"a\n" + strings.Repeat("x", MaxLine+1) + "\n": "f:2: line longer than 65536 bytes",
	} {
		_, err := NewCSV(strings.NewReader(text), "f").ReadAll()
		var at *format.ParseError
		if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
	if _, err := NewCSV(strings.NewReader("a\n"+strings.Repeat("# "+strings.Repeat("y", 60000)+"\n", 10)+"b\n"), "f").ReadAll(); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"x", "x\"", "\"x\n", ",", "#x\n"} { // one line, one record, fields and comments without end
		from := &endless{text: text}
		c := NewCSV(from, "f")
		c.Comment = '#'
		var err error
		for err == nil && from.read < 100<<20 {
			_, err = c.Read()
		}
		if err == nil || errors.Is(err, io.EOF) || from.read > 2<<20 {
			t.Errorf("%q without end: %v after %d bytes", text, err, from.read)
		}
	}
}
