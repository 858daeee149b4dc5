package console

import (
	"bytes"
	"testing"

	"github.com/weft-fabric/weft/internal/visible"
)

// Verdicts have colors on a terminal, and what others called their nodes has none.
func TestColors(t *testing.T) {
	page := func(c *Console) *Page {
		p := c.NewPage()
		p.Fact("fabric", "ring")
		p.Judged(false, "credit loop at %s\n  and on", "\x1b[32mevil")
		p.Judged(true, "deadlock-free")
		p.Finding("not covered", "odd")
		return p
	}
	for _, c := range []struct {
		name              string
		terminal, without bool
		want              string
	}{
		{"terminal", true, false, "fabric     ring\n" +
			"verdict    \x1b[31mcredit loop at \\u001b[32mevil\x1b[0m\n             and on\n" +
			"verdict    \x1b[32mdeadlock-free\x1b[0m\nnot covered \x1b[33modd\x1b[0m\n"},
		{"--no-color", true, true, "fabric     ring\nverdict    credit loop at \\u001b[32mevil\n             and on\nverdict    deadlock-free\nnot covered odd\n"},
		{"pipe", false, false, "fabric     ring\nverdict    credit loop at \\u001b[32mevil\n             and on\nverdict    deadlock-free\nnot covered odd\n"},
	} {
		var out bytes.Buffer
		a := &Console{Stdout: &visible.Writer{Under: &out}, NoColor: c.without}
		if c.terminal {
			a.Colors = &out
		}
		if err := a.Show(page(a)); err != nil || out.String() != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, out.String(), err, c.want)
		}
	}
}
