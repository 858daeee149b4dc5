package installed

import (
	"context"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Replace is the first move to tables that were routed anew, with service levels and SL2VL
// maps of their own. The error is ErrNone where packets could deadlock while they are
// written.
//
// Entries that no packet in scope follows once the tables are in use may lead packets astray
// that got to them by an entry of before: on a tree, down from a spine without a cable and up
// to another. If there would be a loop with them, they follow in a move of their own. If there
// is one without them, too, and only if Options.Drops, the first move takes away the rows of
// destinations whose earlier packets would close it; once these are gone the tables are safe.
func (s *State) Replace(ctx context.Context, t *routing.Tables, o Options) (*Move, error) {
	c, _, err := s.carrier(t.Fabric, o)
	if err != nil {
		return nil, err
	}
	m := &Move{Kind: Full, Tables: t}
	if err = c.judge(ctx, m); err == nil || ctx.Err() != nil {
		return m, err
	}
	m = &Move{Kind: Full, Tables: c.followed(t), More: 1, Plan: Plan{Kind: Full, Steps: []*routing.Tables{t}}}
	if err = c.judge(ctx, m); err == nil || ctx.Err() != nil || !o.Drops {
		return m, err
	}
	m.Drops = true
	if m.Tables, err = c.withoutRows(ctx, t); err != nil {
		return nil, err
	}
	return m, c.judge(ctx, m)
}

// rounds is how many times withoutRows adds destinations to those whose packets are dropped before it takes all.
const rounds = 12

// withoutRows is c.before without the rows of destinations whose packets would close a loop while t is written: these
// are dropped at once, and when none is left t is safe.
// The error is ErrNone where even the loss of all rows would not do: clients go on with the
// service levels that they know, and packets on these could close a loop on the new paths.
func (c *carrier) withoutRows(ctx context.Context, t *routing.Tables) (*routing.Tables, error) {
	nothing := &routing.Tables{Forwarding: routing.NewForwarding(c.live)}
	without := func(drop func(fabric.LID) bool) (*routing.Tables, *deadlock.MixtureVerdict, error) {
		left := c.rows(func(lid fabric.LID, _ fabric.EndpointID) *routing.Tables {
			if drop(lid) {
				return nothing
			}
			return c.before
		})
		v, err := deadlock.VerifyMixture(ctx, []*routing.Tables{left, t}, deadlock.Options{Contract: c.o.Contract, Scope: c.o.Scope, Lost: -1})
		return left, v, err
	}
	all, v, err := without(func(fabric.LID) bool { return true })
	if err != nil {
		return nil, err
	}
	if !v.Free() {
		return nil, none("packets on the service levels in use could close a loop on the new paths")
	}
	dropped := make(map[fabric.LID]bool)
	for range rounds {
		left, v, err := without(func(lid fabric.LID) bool { return dropped[lid] })
		if err != nil || v.Free() {
			return left, err
		}
		for _, step := range v.Cycle {
			dropped[step.Dst] = true
		}
	}
	return all, nil
}

// followed is t with the entries of c.before where no packet in scope comes by under t.
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
				out := f.Trunk(at, row[at])
				if out == fabric.None {
					break
				}
				at = f.Channel(out).To
			}
		}
		to := fw.Row(lid)
		copy(to, c.before.Forwarding.Row(lid))
		for s, passed := range reached {
			if passed {
				to[s] = row[s]
			}
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: t.Lanes}
}

// elsewhere is an error, ErrNone, where service levels are by path and endpoints are at other LIDs or switches than
// before: packets on the levels that were right there are in no mixture that is judged.
func (s *State) elsewhere(live *fabric.Fabric, parts transition.Parts, k routing.Contract) error {
	if s.anyLevel(k) {
		return nil
	}
	for _, p := range [...]struct {
		who      []fabric.EndpointID
		how, had string
	}{
		{parts.Readdressed, "have other LIDs than before", "of who had these"},
		{parts.Moved, "are on other switches than before", "that were right there, and be answered on them"},
	} {
		if len(p.who) > 0 {
			e := live.Endpoint(p.who[0])
			return none("%d endpoints %s, among them %s, and clients may go on with the service levels %s", len(p.who), p.how, live.Label(e.Node), p.had)
		}
	}
	return nil
}

// anyLevel reports whether a proof under a contract holds whichever path records clients go by.
func (s *State) anyLevel(k routing.Contract) bool {
	if _, fixed := k.FixedMask(); fixed {
		return true
	}
	for _, t := range []*routing.Tables{s.Sent, s.Confirmed, s.Goal} {
		if t != nil && t.Lanes.SLRow(0) != nil {
			return false
		}
	}
	return true
}
