package installed

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Replace is the first move to tables that were routed anew, with service levels and SL2VL
// maps of their own. The error is ErrNone where packets could deadlock while they are
// written.
//
// Entries that no packet in scope follows once the tables are in use may lead packets astray
// that got to them by an entry of before: on a tree, down from a spine without a cable and up
// to another. If there would be a loop with them, they follow in a move of their own.
func (s *State) Replace(ctx context.Context, t *routing.Tables, o Options) (*Move, error) {
	c, _, err := s.carrier(t.Fabric, o)
	if err != nil {
		return nil, err
	}
	m := &Move{Kind: Full, Tables: t}
	if err = c.judge(ctx, m); err == nil || ctx.Err() != nil {
		return m, err
	}
	m = &Move{Kind: Full, Tables: c.followed(t), More: 1, Plan: Plan{Full, []*routing.Tables{t}}}
	return m, c.judge(ctx, m)
}

// followed is tables whose entries that no packet in scope follows are those of before.
func (c *carrier) followed(t *routing.Tables) *routing.Tables {
	f := t.Fabric
	fw, sends := routing.NewForwarding(f), c.o.Scope.Ends(f)
	reached := make([]bool, f.Switches())
	for lid := range f.LIDs() {
		row := t.Forwarding.Row(lid)
		clear(reached)
		for s := range fabric.NodeID(f.Switches()) {
			for at := s; sends[s] && at != fabric.None && !reached[at]; {
				reached[at] = true
				out := f.Out(at, row[at])
				if out == fabric.None || int(out) >= f.Trunks() {
					break
				}
				at = f.Channel(out).To
			}
		}
		to := fw.Row(lid)
		copy(to, c.before.Forwarding.Row(lid))
		for s, is := range reached {
			if is {
				to[s] = row[s]
			}
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: t.Lanes}
}
