// Package visible shows text of others, such as names in files, as text: what a terminal
// would obey, or a reader not see, is written as an escape. The escapes are those of JSON, so
// that what was JSON stays the same JSON.
package visible

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Text is a text of several lines with escapes, such as \u001b, in place of control characters
// but tab and newline, of characters that change the direction of writing or have no width, and
// with \xff in place of what is not UTF-8.
func Text(text string) string {
	var shown strings.Builder
	write(&shown, text, true)
	return shown.String()
}

// Name refuses a name of a device or an interface that would do something to a terminal.
func Name(device, name string) error {
	for _, c := range name {
		if !unicode.IsPrint(c) {
			return fmt.Errorf("the name %q (of %q) has characters that cannot be printed", name, device)
		}
	}
	return nil
}

// hidden reports whether a character is no text: a control character, or one of Unicode's format
// characters, line separators and private characters.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.C, unicode.Zl, unicode.Zp)
}

// odd reports whether a byte may be a part of something hidden.
func odd(c byte) bool { return (c < ' ' || c >= 0x7f) && c != '\n' && c != '\t' }

// write writes a text with escapes. If more is to come, the first bytes of a character at its
// end are handed back.
func write(to *strings.Builder, text string, end bool) (rest string) {
	done := 0
	for i := 0; i < len(text); {
		if !odd(text[i]) {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		broken := r == utf8.RuneError && n == 1
		if broken && !end && !utf8.FullRuneInString(text[i:]) {
			to.WriteString(text[done:i])
			return text[i:]
		}
		switch {
		case broken:
			fmt.Fprintf(to, `%s\x%02x`, text[done:i], text[i])
			done = i + n
		case hidden(r) && r > 0xffff:
			fmt.Fprintf(to, `%s\u%04x\u%04x`, text[done:i], 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
			done = i + n
		case hidden(r):
			fmt.Fprintf(to, `%s\u%04x`, text[done:i], r)
			done = i + n
		}
		i += n
	}
	to.WriteString(text[done:])
	return ""
}

// Writer writes texts to another writer as Text shows them. It may be used by several
// goroutines.
type Writer struct {
	Under io.Writer

	mutex sync.Mutex
	begun string // of a character whose other bytes were not written yet
}

// Write writes all of p, but for the first bytes of a character at its end, which follow with
// the others.
func (w *Writer) Write(p []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.begun == "" && !slices.ContainsFunc(p, odd) {
		return w.Under.Write(p)
	}
	var shown strings.Builder
	w.begun = write(&shown, w.begun+string(p), false)
	if shown.Len() == 0 {
		return len(p), nil
	}
	if _, err := io.WriteString(w.Under, shown.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what begins a character that did not come to its end.
func (w *Writer) Close() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.begun == "" {
		return nil
	}
	_, err := io.WriteString(w.Under, Text(w.begun))
	w.begun = ""
	return err
}
