// Package reading has what the readers of text files have in common: opening (standard input,
// pipes, gzip, zstd, xz, bzip2), a line scanner with limits, a cursor over a line, and recognition of the kind of
// a text by its beginning. The formats themselves are the packages below format.
//
// Opening. The program opens what it reads here and nowhere else: Open for a name that the
// user gave, OpenFound for one that weft found in a folder, OpenPlain and OpenIn for files of its own. Reading ends with
// the context, whatever the file is.
//
// Limits. A line has at most MaxLine bytes, a file at most MaxSize bytes (tables:
// MaxTable) after decompression, and neither contains a NUL byte. A file beyond a limit
// is refused with file and line, so that no input can exhaust memory or be mistaken for
// another format. What reads lines takes Lines; comma-separated values, CSV; a text that
// another parser wants whole (JSON, YAML, XML), ReadAll.
package reading

import (
	"fmt"
	"strings"
	"unicode"
)

// Printable is a name with a blank in place of what cannot be printed, as fabric.Node has it.
func Printable(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "?"))
}

// Count is a number of things, one or more of them, for warnings and errors of readers.
func Count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
