package visible

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"sw-1 é 漢 \"'\\\n\tend": "sw-1 é 漢 \"'\\\n\tend",
		"\x1b[31mred\x1b]0;t\a": `\u001b[31mred\u001b]0;t\u0007`,
		"a\r\x00\x7f\u009b2J":   `a\u000d\u0000\u007f\u009b2J`,
		"\u202egpj.exe\u2066":   `\u202egpj.exe\u2066`,
		"\ufeffa\u200bb\u2028":  `\ufeffa\u200bb\u2028`,
		"\xff\xe9lan\xc3":       `\xff\xe9lan\xc3`,
		"\U000e0041":            `\udb40\udc41`,
		"\ufffd":                "\ufffd",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// However a text is cut into writes, it comes out the same.
func FuzzWriter(f *testing.F) {
	f.Add("a\u009bé\xc3", uint8(1))
	f.Add("{\"a\":\"\u202e\x7f\"}", uint8(3))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		var out bytes.Buffer
		w := &Writer{Under: &out}
		for rest := []byte(text); len(rest) > 0; {
			n := min(int(size%7)+1, len(rest))
			if written, err := w.Write(rest[:n]); err != nil || written != n {
				t.Fatal(written, err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if out.String() != Text(text) {
			t.Fatalf("%q, want %q", out.String(), Text(text))
		}
		if !utf8.Valid(out.Bytes()) || strings.ContainsFunc(out.String(), hidden) {
			t.Fatalf("%q is not visible", out.String())
		}
	})
}

// JSON stays what it was.
func TestJSONStaysTheSame(t *testing.T) {
	want := map[string]string{"a\u202e\u007f": "\u009b\x1b\\\"\U000e0041\n\xff"}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var was, is map[string]string
	if err := json.Unmarshal(text, &was); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(Text(string(text))), &is); err != nil {
		t.Fatal(err)
	}
	for k, v := range was {
		if is[k] != v {
			t.Errorf("%q: %q, want %q", k, is[k], v)
		}
	}
	if Text(string(text)) == string(text) {
		t.Error("nothing was shown in another way")
	}
}
