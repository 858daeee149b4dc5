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
	k := &keeper{f: tables.Fabric, scope: scope, ends: scope.Ends(tables.Fabric)}
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
	f        *fabric.Fabric
	scope    routing.Scope
	ends     []bool       // [switch] with sources in scope
	was, now routing.Tree // by the entries before the step, and by those after it
	mix      routing.Walk // by any mixture of both
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
			switch s := fabric.NodeID(at); {
			case row[at] == old[at]:
			case k.now.Depth(s) < 0:
				second.Tables.Forwarding.Row(lid)[at] = old[at]
				if row[at] == routing.NoPort {
					removed++
				}
			case k.was.Depth(s) < 0:
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
	t.Forwarding = copyEntries(t.Fabric, from)
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

// serves reports whether some switch with sources has a working path only after the step.
func (k *keeper) serves() bool {
	for at, sends := range k.ends {
		if s := fabric.NodeID(at); sends && k.was.Depth(s) < 0 && k.now.Depth(s) >= 0 {
			return true
		}
	}
	return false
}

// cuts reports whether packets to a LID that arrive before and after the step may be dropped while
// it is written. Where the home switch's own entry changes there are none, nor where none of the
// entries that change is on a path that is whole before: packets with such a path meet no other.
func (k *keeper) cuts(lid fabric.LID, old, row []uint8) bool {
	home := k.f.Endpoint(k.f.Owner(lid)).Switch
	if home == fabric.None || old[home] != row[home] || !k.changes(old, row, func(s fabric.NodeID) bool { return k.f.Trunk(s, old[s]) != fabric.None }) {
		return false
	}
	k.was.Build(k.f, old, home)
	if !k.changes(old, row, func(s fabric.NodeID) bool { return k.was.Depth(s) >= 0 }) {
		return false
	}
	k.now.Build(k.f, row, home)
	k.mix.Along(k.f, home, old, row)
	for at, sends := range k.ends {
		if s := fabric.NodeID(at); sends && k.was.Depth(s) >= 0 && k.now.Depth(s) >= 0 && k.mix.Fate[s] != routing.Arrive {
			return true
		}
	}
	return false
}

// changes reports whether the entry of any of some switches changes.
func (k *keeper) changes(old, row []uint8, of func(s fabric.NodeID) bool) bool {
	for s := range old {
		if old[s] != row[s] && of(fabric.NodeID(s)) {
			return true
		}
	}
	return false
}
