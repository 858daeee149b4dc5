package measured

import (
	"fmt"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// Say says which cables are in trouble, at most so many of them; a nil list says nothing.
func Say(a *console.Console, l *result.Trouble, most int) error {
	if l == nil {
		return nil
	}
	if err := a.Say("\n%s", Head(l)); err != nil {
		return err
	}
	n := a.AtMost(most, len(l.Cables))
	for i := range l.Cables[:n] {
		for _, line := range Lines(&l.Cables[i]) {
			if err := a.Say("  %s", line); err != nil {
				return err
			}
		}
	}
	if n < len(l.Cables) {
		if err := a.Say("  … and %d more (--json has all)", len(l.Cables)-n); err != nil {
			return err
		}
	}
	for _, note := range l.Notes {
		if err := a.Say("  note: %s", note); err != nil {
			return err
		}
	}
	return nil
}

// Head is a line about the whole list.
func Head(l *result.Trouble) string {
	if len(l.Cables) == 0 {
		return fmt.Sprintf("cables in trouble: none of %s", words.Thousands(l.Looked))
	}
	return fmt.Sprintf("cables in trouble: %s of %s", words.Thousands(len(l.Cables)), words.Thousands(l.Looked))
}

// Lines says what is wrong with a cable, and what to do about it.
func Lines(c *result.CableInTrouble) []string {
	lines := []string{fmt.Sprintf("%s: %s, %s", c.Level, c.Name, c.Place)}
	for _, s := range c.Signs {
		lines = append(lines, "  "+s.Kind+": "+s.Text)
	}
	do := "  " + c.Do + ": " + c.Advice
	if c.Command != "" {
		do += "\n    first:  " + c.Command + "\n    after:  " + c.Then
	}
	return append(lines, do)
}
