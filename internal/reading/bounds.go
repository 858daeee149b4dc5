package reading

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/weft-fabric/weft/format"
)

// MaxSettings is how many bytes a file that a person writes may have: configurations, SPECs of
// campaigns, topologies of Containerlab.
const MaxSettings = 16 << 20

// ReadAll reads a text to its end for a parser that wants it whole, at most so many bytes. A
// text that is longer, cut short or holds a NUL byte is refused with file and line.
func ReadAll(r io.Reader, file string, most int64) ([]byte, error) {
	text, err := ReadBytes(r, file, most)
	if err != nil {
		return nil, err
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		return nil, format.Errorf(file, lineAt(text, at), "NUL byte: this is a binary file")
	}
	return text, nil
}

// ReadBytes is ReadAll for files of any kind.
func ReadBytes(r io.Reader, file string, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, format.Errorf(file, lineAt(text, len(text)), "the compressed file was cut short")
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	case int64(len(text)) > most:
		return nil, format.Errorf(file, lineAt(text, len(text)-1), "%s", tooLarge(most))
	}
	return text, nil
}

// lineAt is the number of the line of a byte.
func lineAt(text []byte, at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }

// ReadUTF8 is ReadAll for forms whose text is UTF-8, as YAML.
func ReadUTF8(r io.Reader, file string, most int64) ([]byte, error) {
	text, err := ReadAll(r, file, most)
	if err != nil || utf8.Valid(text) {
		return text, err
	}
	at := 0
	for {
		c, n := utf8.DecodeRune(text[at:])
		if c == utf8.RuneError && n <= 1 {
			return nil, format.Errorf(file, lineAt(text, at), "byte 0x%02x is not UTF-8: save the file as UTF-8", text[at])
		}
		at += n
	}
}

func tooLarge(most int64) string {
	return fmt.Sprintf("more than %d bytes of text, which is the most that is read of such a file: give the one that was meant, or parts of it", most)
}
