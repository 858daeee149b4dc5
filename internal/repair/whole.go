package repair

import (
	"bytes"
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// keepWhole splits the steps in which some mixture of the entries drops packets that arrive by
// the tables before the step as well as by those after it. That is so where packets are sent to a
// switch that gets its entry in the same step, or loses it, as a spine that nobody used:
//
//  1. switches without a working path get the entries by which they have one,
//  2. all others but those that lose their working paths change,
//  3. these last.
//
// Then every entry of every mixture leads to a switch that has a working path before or after the
// step and an entry of it. All mixtures are among those of the whole step, so that they are as
// free of cycles.
func (p *Plan) keepWhole(ctx context.Context, tables *routing.Tables, scope routing.Scope) error {
	k := newKeeper(tables.Fabric, scope)
	var steps []Step
	for _, s := range p.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		steps = append(steps, k.split(tables, s)...)
		tables = s.Tables
	}
	p.Steps = steps
	return nil
}

// keeper finds packets that a step would drop on paths that are whole before and after it.
type keeper struct {
	f     *fabric.Fabric
	scope routing.Scope
	ends  []bool  // [switch] with sources in scope
	was   []mixed // [switch] what becomes of packets by the entries before the step
	now   []mixed // [switch] by those after it
	mix   []mixed // [switch] at worst, by any mixture of both
}

func newKeeper(f *fabric.Fabric, scope routing.Scope) *keeper {
	n := f.Switches()
	return &keeper{f, scope, scope.Ends(f), make([]mixed, n), make([]mixed, n), make([]mixed, n)}
}

// split is the steps that make up one.
func (k *keeper) split(before *routing.Tables, s Step) []Step {
	var first, second *Step
	removed := 0 // entries, by the last of them
	for lid := range k.scope.LIDs(k.f) {
		old, row := before.Forwarding.Row(lid), s.Tables.Forwarding.Row(lid)
		if bytes.Equal(old, row) || !k.cuts(lid, old, row) {
			continue
		}
		if first == nil {
			first, second = part(s, before.Forwarding), part(s, s.Tables.Forwarding)
		}
		served := k.serves()
		for at := range row {
			switch {
			case row[at] == old[at]:
			case k.now[at] != arrive:
				second.Tables.Forwarding.Row(lid)[at] = old[at]
				if row[at] == routing.NoPort {
					removed++
				}
			case k.was[at] != arrive:
				first.Tables.Forwarding.Row(lid)[at] = row[at]
				if served {
					first.Mended++
				} else {
					first.Follow++
				}
			}
		}
	}
	if first == nil {
		return []Step{s}
	}
	last := s
	last.Drops = min(s.Drops, removed) // what drops packets is among the entries that lose their paths
	last.Mended, last.Follow = 0, differences(second.Tables, s.Tables)-last.Drops
	second.Drops = s.Drops - last.Drops
	second.Follow = max(0, s.Follow-first.Mended-first.Follow-last.Follow)
	second.Mended = differences(first.Tables, second.Tables) - second.Drops - second.Follow
	var steps []Step
	if first.Mended+first.Follow > 0 {
		steps = append(steps, *first)
	}
	steps = append(steps, *second)
	if last.Drops+last.Follow > 0 {
		steps = append(steps, last)
	}
	return steps
}

// part is a step like another, to a copy of some entries.
func part(s Step, from *routing.Forwarding) *Step {
	t := *s.Tables
	t.Forwarding = entries(t.Fabric, from)
	return &Step{Tables: &t, Rebuilt: s.Rebuilt, Balanced: s.Balanced}
}

// differences is how many entries differ. Those for hosts that are gone are not counted.
func differences(a, b *routing.Tables) int {
	n := 0
	for lid, owner := range a.Fabric.LIDs() {
		if a.Fabric.Endpoint(owner).Switch == fabric.None {
			continue
		}
		row := b.Forwarding.Row(lid)
		for s, port := range a.Forwarding.Row(lid) {
			if row[s] != port {
				n++
			}
		}
	}
	return n
}

// serves says whether some switch with sources has a working path only after the step.
func (k *keeper) serves() bool {
	for s, sends := range k.ends {
		if sends && k.was[s] != arrive && k.now[s] == arrive {
			return true
		}
	}
	return false
}

// cuts says whether packets to a LID that arrive before and after the step may be dropped while
// it is written. Where the home switch's own entry changes there are none.
func (k *keeper) cuts(lid fabric.LID, old, row []uint8) bool {
	home := k.f.Endpoint(k.f.Owner(lid)).Switch
	if home == fabric.None || old[home] != row[home] || !k.touches(home, old, row) {
		return false
	}
	for _, of := range [...]struct {
		fates []mixed
		rows  [2][]uint8
	}{{k.was, [2][]uint8{old, old}}, {k.now, [2][]uint8{row, row}}, {k.mix, [2][]uint8{old, row}}} {
		clear(of.fates)
		of.fates[home] = arrive
		for s := range of.fates {
			k.follow(fabric.NodeID(s), of.fates, of.rows)
		}
	}
	for s, sends := range k.ends {
		if sends && k.was[s] == arrive && k.now[s] == arrive && k.mix[s] != arrive {
			return true
		}
	}
	return false
}

// touches says whether any of the entries that change is on a path to home that is whole before the
// step. If none is, packets with such a path meet no other entry than before.
func (k *keeper) touches(home fabric.NodeID, old, row []uint8) bool {
	heads := k.f.Heads()
	for at := range old {
		if old[at] == row[at] {
			continue
		}
		s := fabric.NodeID(at)
		for hops := 0; s != home; hops++ {
			c := k.f.Trunk(s, old[s])
			if c == fabric.None || hops == len(old) {
				break
			}
			s = heads[c]
		}
		if s == home {
			return true
		}
	}
	return false
}

// follow finds what becomes at worst of packets at a switch, by entries of two rows.
func (k *keeper) follow(s fabric.NodeID, fates []mixed, rows [2][]uint8) mixed {
	switch fates[s] {
	case onTheWay:
		return circle
	case unseen:
	default:
		return fates[s]
	}
	fates[s] = onTheWay
	found := arrive
	for _, row := range rows {
		if c := k.f.Trunk(s, row[s]); c == fabric.None {
			found = max(found, mayDrop)
		} else {
			found = max(found, k.follow(k.f.Heads()[c], fates, rows))
		}
	}
	fates[s] = found
	return found
}
