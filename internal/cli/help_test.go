package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
)

// eachCommand calls f with every command that help shows.
func eachCommand(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, below := range c.Commands() {
		if !below.Hidden {
			eachCommand(below, f)
		}
	}
}

// helpOf is what weft COMMAND --help prints into a pipe.
func helpOf(t *testing.T, c *cobra.Command) string {
	t.Helper()
	var out bytes.Buffer
	c.Root().SetOut(&out)
	c.InitDefaultHelpFlag()
	if err := c.Help(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Help fits a terminal: no line is wider than 100 columns, and what comes before the flags takes
// two screens of 24 lines at most.
func TestHelpFitsTheScreen(t *testing.T) {
	eachCommand(newRoot(&console.Console{Context: t.Context()}), func(c *cobra.Command) {
		t.Run(strings.ReplaceAll(c.CommandPath(), " ", "-"), func(t *testing.T) {
			text := helpOf(t, c)
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
					t.Errorf("a line of %d columns: %s", n, line)
				}
			}
			before, _, _ := strings.Cut(text, "\nFlags:\n")
			if n := strings.Count(before, "\n"); n > 48 && c.HasParent() {
				t.Errorf("%d lines before the flags, more than two screens", n)
			}
		})
	})
}

// Of a command with many flags those that matter first come first, every other is in a section,
// and the tables of both name no flag that is gone.
func TestFlagsAreInSections(t *testing.T) {
	const many = 12
	gone := map[string]bool{}
	for _, s := range sections {
		for _, name := range strings.Fields(s.flags) {
			if gone[name] {
				t.Errorf("--%s is in two sections", name)
			}
			gone[name] = true
		}
	}
	paths := map[string]bool{}
	eachCommand(newRoot(&console.Console{Context: t.Context()}), func(c *cobra.Command) {
		paths[c.CommandPath()] = true
		help := helpOf(t, c)
		for name := range gone {
			if c.LocalFlags().Lookup(name) != nil {
				delete(gone, name)
			}
		}
		first := strings.Fields(leading[c.CommandPath()])
		if n := strings.Count(help, "\n      --"); n > many && len(first) != 5 {
			t.Errorf("%s has %d flags: name the five that matter first", c.CommandPath(), n)
		}
		if i := slices.IndexFunc(first, func(name string) bool { return c.LocalFlags().Lookup(name) == nil }); i >= 0 {
			t.Errorf("%s has no flag --%s", c.CommandPath(), first[i])
		}
		if _, rest, ok := strings.Cut(help, "Other flags:\n"); ok {
			t.Errorf("%s has flags in no section:\n%s", c.CommandPath(), rest)
		}
	})
	for name := range gone {
		t.Errorf("sections have --%s, and no command has it", name)
	}
	for path := range leading {
		if !paths[path] {
			t.Errorf("no command is called %s", path)
		}
	}
}
