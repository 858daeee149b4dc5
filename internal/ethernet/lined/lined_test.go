package lined

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/format"
)

func FuzzRead(f *testing.F) {
	f.Add("{\"a\":[1,true,null,\n\"x\"],\"b\":{}}")
	f.Add("\ufeff{\"a\":1,\r\n\"a\":2}")
	f.Add("[[[[[[\n]]")
	f.Add(`[[], {} , [ ], {"a\\",[": "\\\\"}, [[0,1]], {"b": [{}]}]`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Read(strings.NewReader(text), "f")
		var at *format.ParseError
		if err != nil && !errors.As(err, &at) {
			t.Fatalf("an error without a line: %v", err)
		}
		lines := 1 + strings.Count(text, "\n")
		if at != nil && at.Line > lines {
			t.Fatalf("line %d of %d", at.Line, lines)
		}
		if err == nil && !json.Valid([]byte(strings.TrimPrefix(text, "\ufeff"))) {
			t.Fatalf("%q is taken for JSON", text)
		}
		if err == nil {
			inLines(t, v, lines)
			var c tally
			if _, ahead := c.add([]byte(text), maxValues), inside(v); c.values != ahead {
				t.Fatalf("%q has %d values inside its own, of which %d are counted ahead", text, ahead, c.values)
			}
		}
	})
}

// inside is how many values are in a value.
func inside(v *Value) int {
	n := len(v.Items) + len(v.Members)
	for i := range v.Items {
		n += inside(&v.Items[i])
	}
	for i := range v.Members {
		n += inside(&v.Members[i].Value)
	}
	return n
}

// As many values as a file may have are read; one more is refused ahead, and where that does not see it, by the decoder.
func TestTooManyValues(t *testing.T) {
	const most = 1000
	list := func(more string) string {
		return "[[], " + strings.Repeat("{}\t,\n", most-3) + `"a,b\",["` + more + "]"
	}
	for text, want := range map[string]string{
		list(""):                      "",
		list(",\n\n0"):                fmt.Sprintf("f:%d: more than %d values", most-2, most),
		list(",\n\nno JSON"):          fmt.Sprintf("f:%d: more than %d values", most-2, most),
		list("") + " 0":               fmt.Sprintf("f:%d: more than %d values", most-2, most),
		strings.Repeat("0\n", most+1): fmt.Sprintf("f:%d: more than %d values", most+1, most),
	} {
		_, err := read(strings.NewReader(text), "f", most)
		if err == nil && want != "" || err != nil && (want == "" || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func inLines(t *testing.T, v *Value, lines int) {
	t.Helper()
	if v.Line < 1 || v.Line > lines {
		t.Fatalf("line %d of %d", v.Line, lines)
	}
	for i := range v.Items {
		inLines(t, &v.Items[i], lines)
	}
	for i := range v.Members {
		inLines(t, &v.Members[i].Value, lines)
	}
}
