package look

import (
	"fmt"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/measured"
	"github.com/weft-fabric/weft/internal/words"
)

// mostCables is how many cables in trouble the screen names; the page has all.
const mostCables = 6

// screen says what the page shows.
func (j *reportJob) screen(size int64) *console.Page {
	p := j.NewPage()
	for _, n := range j.data.Networks {
		p.Fact("fabric", "%s: %s, %s", n.Name, words.Plural(n.Counts.Switches, "switch"), words.Plural(n.Counts.HostPorts, "host adapter port"))
		for _, t := range n.Tables {
			text := fmt.Sprintf("%s: %s (contract %s, endpoints %s)", t.Source, t.Verdict, t.Contract, t.Endpoints)
			if t.Unreachable > 0 {
				text += fmt.Sprintf("; %s without a route", words.Counted(t.Unreachable, "pair", "pairs"))
			}
			p.Fact("tables", "%s", text)
			if e := t.Paths; len(e.LIDs) < e.Of {
				p.Fact("paths", "the page has those to %s of %s LIDs, some of every switch", words.Thousands(len(e.LIDs)), words.Thousands(e.Of))
			}
		}
	}
	for _, n := range j.data.Networks {
		if l := n.Trouble; l != nil {
			text := measured.Head(l)
			for _, c := range l.Cables[:min(len(l.Cables), mostCables)] {
				text += fmt.Sprintf("\n%s: %s", c.Name, c.Signs[0].Text)
			}
			p.Fact("trouble", "%s", text)
		}
	}
	p.Fact("page", "%s, %.2f MB; open it in a browser", j.o.out, float64(size)/1e6)
	return p
}
