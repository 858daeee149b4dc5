package repair

import (
	"bytes"
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/walk"
	"github.com/weft-fabric/weft/routing"
)

// keepWhole ends every planning: it splits the steps of p in which some mixture of the entries drops packets
// that arrive by the tables before the step as well as by those after it. tables is what p begins with. Such
// packets are sent to a switch that gets its entry in the same step, or loses it, as a spine that nobody
// used. So in a row where that can happen
//
//  1. switches without a working path get the entries by which they have one,
//  2. then all others change, except switches that lose their working path,
//  3. and these last.
//
// Then every entry of every mixture leads to a switch that has a working path before or after the
// step and an entry of it. All mixtures are among those of the whole step, so that they are as
// free of cycles.
func (p *Plan) keepWhole(ctx context.Context, tables *routing.Tables, scope routing.Scope) error {
	k := &splitter{f: tables.Fabric, scope: scope, ends: scope.Ends(tables.Fabric)}
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

// splitter finds packets that a step would drop on paths that are whole before and after it.
type splitter struct {
	f     *fabric.Fabric
	scope routing.Scope
	ends  []bool // [switch] it has sources in scope

	// To the LID that cuts was asked about last, as far as cuts needed them.
	was, now routing.Tree // by the entries before the step, and by those after it
	mix      walk.Walk    // by any mixture of both
}

// split is the steps that make up a step from the tables before: itself alone, if it cuts no path.
func (k *splitter) split(before *routing.Tables, s Step) []Step {
	var first, second *Step
	removed := 0 // number of entries that the last of the steps removes
	for lid := range k.scope.LIDs(k.f) {
		old, row := before.Forwarding.Row(lid), s.Tables.Forwarding.Row(lid)
		if bytes.Equal(old, row) || !k.cuts(lid, old, row) {
			continue
		}
		if first == nil {
			first, second = stepWith(s, before.Forwarding), stepWith(s, s.Tables.Forwarding)
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

// stepWith is a step like another, whose tables have a copy of other entries, without its counts.
func stepWith(s Step, entries *routing.Forwarding) *Step {
	t := *s.Tables
	t.Forwarding = copyEntries(t.Fabric, entries)
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

// serves reports whether some switch with sources has a working path only after the step, to the LID that cuts
// was asked about last.
func (k *splitter) serves() bool {
	for at, sends := range k.ends {
		if s := fabric.NodeID(at); sends && k.was.Depth(s) < 0 && k.now.Depth(s) >= 0 {
			return true
		}
	}
	return false
}

// cuts reports whether packets to a LID that arrive before and after the step may be dropped while
// it is written, where the step changes its row from old to row. If so, was, now and mix hold for that LID.
// Where the home switch's own entry changes no packets arrive both before and after. Where none of the
// entries that change is on a path that is whole before, packets with such a path meet none that changes.
func (k *splitter) cuts(lid fabric.LID, old, row []uint8) bool {
	home := k.f.Endpoint(k.f.Owner(lid)).Switch
	if home == fabric.None || old[home] != row[home] || !changes(old, row, func(s fabric.NodeID) bool { return k.f.Trunk(s, old[s]) != fabric.None }) {
		return false
	}
	k.was.Build(k.f, old, home)
	if !changes(old, row, func(s fabric.NodeID) bool { return k.was.Depth(s) >= 0 }) {
		return false
	}
	k.now.Build(k.f, row, home)
	k.mix.Along(k.f, home, old, row)
	for at, sends := range k.ends {
		if s := fabric.NodeID(at); sends && k.was.Depth(s) >= 0 && k.now.Depth(s) >= 0 && k.mix.Fate[s] != walk.Arrive {
			return true
		}
	}
	return false
}

// changes reports whether the entry of any switch that counts differs between two rows.
func changes(old, row []uint8, counts func(s fabric.NodeID) bool) bool {
	for s := range old {
		if old[s] != row[s] && counts(fabric.NodeID(s)) {
			return true
		}
	}
	return false
}
