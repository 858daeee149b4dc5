package lined

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/format"
)

func FuzzRead(f *testing.F) {
	f.Add("{\"a\":[1,true,null,\n\"x\"],\"b\":{}}")
	f.Add("\ufeff{\"a\":1,\r\n\"a\":2}")
	f.Add("[[[[[[\n]]")
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
		}
	})
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
