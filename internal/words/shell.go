package words

import "strings"

// ShellWord is a word as a shell reads it, in quotes only if need be: for commands that people read and copy.
func ShellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,=@%+", r))
	}) {
		return s
	}
	return ShellQuoted(s)
}

// ShellQuoted is a word as a shell reads it, always in quotes: for scripts.
func ShellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
