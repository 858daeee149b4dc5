package input

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/lft"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/words"
)

// Renumbered is that the fabric has other LIDs throughout than the tables, so that these are of another
// subnet manager. What is judged is the same routes under the LIDs of the fabric.
type Renumbered struct {
	LIDs   int  `json:"lids"`   // of the tables, that are others in the fabric
	Of     int  `json:"of"`     // those that it has
	Stated bool `json:"stated"` // by the fabric; else weft gave it LIDs
}

func renumberedIn(f *fabric.Fabric, d *lft.Dump) *Renumbered {
	if d.Renumbered == 0 {
		return nil
	}
	r := &Renumbered{LIDs: d.Renumbered}
	for lid, ours := range d.LIDs {
		if ours == 0 {
			continue
		}
		r.Of++
		r.Stated = r.Stated || int(ours) != lid && !f.LIDGiven(f.Owner(ours))
	}
	return r
}

// Text says what is judged in place of what switches hold.
func (r *Renumbered) Text() string {
	whose := "weft gave the fabric its LIDs"
	if r.Stated {
		whose = "the tables are of another subnet manager than the LIDs of the fabric"
	}
	return fmt.Sprintf("%s of %s of the tables are others in the fabric: %s, and judged are the same routes under these LIDs", words.Thousands(r.LIDs), words.Plural(r.Of, "LID"), whose)
}

// Fit is how tables fit the fabric, as every summary and screen has it.
type Fit struct {
	Misfits    *Mismatches `json:"misfits,omitempty"`
	Renumbered *Renumbered `json:"renumbered,omitempty"`
}

// Fit is how the tables fit the fabric.
func (g *Given) Fit() Fit { return Fit{g.Mismatches, g.Renumbered} }

// Facts adds what is to be said of it, if anything.
func (t Fit) Facts(p *console.Page) {
	if t.Misfits != nil {
		p.Fact("differs", "%s", t.Misfits.Text())
	}
	if t.Renumbered != nil {
		p.Fact("LIDs", "%s", t.Renumbered.Text())
	}
}

// Texts is what is to be said of it.
func (t Fit) Texts() (texts []string) {
	if t.Misfits != nil {
		texts = append(texts, t.Misfits.Text())
	}
	if t.Renumbered != nil {
		texts = append(texts, t.Renumbered.Text())
	}
	return texts
}

// Held is an error for tables of which nothing can be said that switches hold: these forward by LIDs.
func (g *Given) Held(tables, fabric string) error {
	if g.Renumbered == nil || !g.Renumbered.Stated {
		return nil
	}
	return fmt.Errorf("%s are not the tables of %s: %s of %s in them are those of other ports there, so that another subnet manager gave them.\nSwitches forward by LIDs, and a change of what they hold is planned by these: give the fabric with the LIDs of the tables, such as the opensm-subnet.lst of the same OpenSM",
		tables, fabric, words.Thousands(g.Renumbered.LIDs), words.Plural(g.Renumbered.Of, "LID"))
}
