package input

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// renumberedIn is how many LIDs of a dump are those of other ports in the fabric, where the dump is
// of another subnet manager; nil: it is not.
func renumberedIn(f *fabric.Fabric, d *lft.Dump) *result.Renumbered {
	if d.Renumbered == 0 {
		return nil
	}
	r := &result.Renumbered{LIDs: d.Renumbered}
	for lid, ours := range d.LIDs {
		if ours == 0 {
			continue
		}
		r.Of++
		r.Stated = r.Stated || int(ours) != lid && !f.LIDGiven(f.Owner(ours))
	}
	return r
}

// Fit is how the tables fit the fabric.
func (g *Given) Fit() result.Fit { return result.Fit{Misfits: g.Mismatches, Renumbered: g.Renumbered} }

// Facts adds to a page how tables fit the fabric, if anything is to be said of it.
func Facts(p *console.Page, t result.Fit) {
	if t.Misfits != nil {
		p.Short("differs", "%s", inShort(outputs.MisfitsText(t.Misfits)))
		p.Detail("differs", "%s", outputs.MisfitsText(t.Misfits))
	}
	if t.Renumbered != nil {
		p.Fact("LIDs", "%s", outputs.RenumberedText(t.Renumbered))
	}
}

// inShort is the first item of a list with a heading, and how many more there are.
func inShort(text string) string {
	lines := strings.Split(text, "\n  ")
	if n := len(lines) - 2; n > 0 {
		return fmt.Sprintf("%s; %s", lines[1], words.Counted(n, "more difference", "more differences"))
	}
	return lines[len(lines)-1]
}

// Held is an error if the tables cannot be those that the switches of the fabric hold, since another
// subnet manager gave their LIDs: commands that plan what to write ask.
func (g *Given) Held(tables, fabric string) error {
	if g.Renumbered == nil || !g.Renumbered.Stated {
		return nil
	}
	return fmt.Errorf("%s are not the tables of %s: %s of %s in them are those of other ports there, so that another subnet manager gave them.\nSwitches forward by LIDs, and a change of what they hold is planned by these: give the fabric with the LIDs of the tables, such as the opensm-subnet.lst of the same OpenSM",
		tables, fabric, words.Thousands(g.Renumbered.LIDs), words.Plural(g.Renumbered.Of, "LID"))
}
