package words_test

import (
	"os/exec"
	"testing"

	"github.com/weft-fabric/weft/internal/words"
)

// A shell reads the word that was meant, whatever is in it, and people see quotes only where they count.
func TestShellWords(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "leaf-1:12", "torus:4x4,hosts=2", "it's", "a b", "~", "*", "$HOME", "`id`", `\`, `"`, "a\nb", "#a", "é", "!!", "a;b", "-n"} {
		for _, word := range []string{words.ShellWord(s), words.ShellQuoted(s)} {
			out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", "printf '%s.%s' "+word+" end").Output()
			if err != nil || string(out) != s+".end" {
				t.Errorf("%q as %s: %q, %v", s, word, out, err)
			}
		}
	}
	for _, plain := range []string{"leaf-1:12", "torus:4x4,hosts=2", "/srv/a_b.c", "a@b%1+2"} {
		if got := words.ShellWord(plain); got != plain {
			t.Errorf("%q is in quotes: %s", plain, got)
		}
	}
}
