package orient

import (
	"context"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/acyclic"
)

// NotJoined is the failure of Join: no turn can be admitted that leads From one
// switch To another.
type NotJoined struct {
	From, To fabric.NodeID
}

func (e *NotJoined) Error() string {
	return fmt.Sprintf("orient: no turn can be admitted that leads from switch %d to switch %d", e.From, e.To)
}

// Join completes a forwarding whose paths go up, then down: it gives every switch
// a path to every LID of its part of the network, by turns from down to up of
// which each is admitted only if the turns of all paths together stay free of
// cycles. It counts the entries that took such a turn, and fails with *NotJoined.
//
// Every part has a hub, the switch from which most others are reached by going
// up only. Whoever has no path goes towards the hub until it meets somebody who
// has one. With all turns at the hub or right above it, no two of them can close
// a cycle in a tree without faults. Where this does not help, other turns are
// tried; where that comes to nothing either, all is tried again without hubs.
func Join(ctx context.Context, f *fabric.Fabric, o *Orientation, t *routing.Forwarding) (int, error) {
	order := upThenDown(f, o)
	used, err := markTurns(ctx, f, t)
	if err != nil {
		return 0, err
	}
	for _, hubs := range [2]bool{true, false} {
		j := &joiner{f: f, t: t, g: acyclic.From(f, slices.Clone(used), order), up: o.Up, part: make([]int32, f.Switches())}
		for i, switches := range f.Parts() {
			for _, s := range switches {
				j.part[s] = int32(i)
			}
			j.hubs = append(j.hubs, nil)
			if hubs {
				hub := f.Endpoint(f.Attached(o.hub(f, switches))[0]) // its port 0
				j.hubs[i] = t.Row(hub.LID)
			}
		}
		if err = j.all(ctx); err == nil {
			return j.added, nil
		}
		j.undo()
	}
	return 0, err
}

// joiner completes a forwarding in which some switches have no path.
type joiner struct {
	f      *fabric.Fabric
	t      *routing.Forwarding
	g      *acyclic.Graph // the turns of all paths
	up     []bool         // [trunk]
	part   []int32        // [switch]
	hubs   [][]uint8      // [part] the way to its hub, by switch; nil: do without
	tree   routing.Tree
	added  int
	filled []entry // what there was no path for
}

// entry is a place in a forwarding.
type entry struct {
	lid fabric.LID
	s   fabric.NodeID
}

// all completes the forwarding for every LID.
func (j *joiner) all(ctx context.Context) error {
	var lost []fabric.NodeID
	for lid, e := range j.f.LIDs() {
		root := j.f.Endpoint(e).Switch
		if root == fabric.None {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		lost = lost[:0]
		row := j.t.Row(lid)
		for s, port := range row {
			if port == routing.NoPort && j.part[s] == j.part[root] {
				lost = append(lost, fabric.NodeID(s))
				j.filled = append(j.filled, entry{lid, fabric.NodeID(s)})
			}
		}
		if still := j.rescue(row, root, lost, j.hubs[j.part[root]]); len(still) > 0 {
			return &NotJoined{From: still[0], To: root}
		}
	}
	return nil
}

// undo takes all entries back.
func (j *joiner) undo() {
	for _, e := range j.filled {
		j.t.Row(e.lid)[e.s] = routing.NoPort
	}
}

// hub is that of some switches from which most are reached by going up only, of
// several the last in the order.
func (o *Orientation) hub(f *fabric.Fabric, switches []fabric.NodeID) fabric.NodeID {
	member := make(map[fabric.NodeID]bool, len(switches))
	for _, s := range switches {
		member[s] = true
	}
	seen := make([]fabric.NodeID, f.Switches()) // [switch] from which it was last seen, plus one
	best, most := switches[0], -1
	for i := len(o.Order) - 1; i >= 0; i-- {
		s := o.Order[i]
		if !member[s] {
			continue
		}
		queue := []fabric.NodeID{s}
		for k := 0; k < len(queue); k++ {
			first, end := f.TrunksFrom(queue[k])
			for c := first; c < end; c++ {
				if v := f.Heads()[c]; o.Up[c] && seen[v] != s+1 {
					seen[v] = s + 1
					queue = append(queue, v)
				}
			}
		}
		if len(queue) > most {
			best, most = s, len(queue)
		}
	}
	return best
}

// upThenDown is the order of trunks in which going up, then down closes no cycle:
// up trunks from the last switch to the first, then down trunks from the first
// to the last.
func upThenDown(f *fabric.Fabric, o *Orientation) []fabric.ChannelID {
	order := make([]fabric.ChannelID, 0, f.Trunks())
	collect := func(s fabric.NodeID, up bool) {
		first, end := f.TrunksFrom(s)
		for c := first; c < end; c++ {
			if o.Up[c] == up {
				order = append(order, c)
			}
		}
	}
	for i := len(o.Order) - 1; i >= 0; i-- {
		collect(o.Order[i], true)
	}
	for _, s := range o.Order {
		collect(s, false)
	}
	return order
}

// markTurns is 1 for every turn that a path takes, on all cores.
func markTurns(ctx context.Context, f *fabric.Fabric, t *routing.Forwarding) ([]uint32, error) {
	lids := int(f.TopLID()) + 1
	marks := make([][]uint32, par.Workers(lids))          // [worker][turn]
	outs := make([][]fabric.ChannelID, par.Workers(lids)) // [worker][switch] scratch
	for w := range marks {
		marks[w] = make([]uint32, f.Turns())
		outs[w] = make([]fabric.ChannelID, f.Switches())
	}
	err := par.For(ctx, lids, func(worker, lid int) {
		if e := f.Owner(fabric.LID(lid)); e != fabric.None && f.Endpoint(e).Switch != fabric.None {
			markRow(f, t.Row(fabric.LID(lid)), outs[worker], marks[worker])
		}
	})
	for _, m := range marks[1:] {
		for i, seen := range m {
			marks[0][i] |= seen
		}
	}
	return marks[0], err
}

// markRow marks the turns of the paths along one row of a forwarding. out is
// scratch space.
func markRow(f *fabric.Fabric, row []uint8, out []fabric.ChannelID, mark []uint32) {
	heads := f.Heads()
	trunks := fabric.ChannelID(f.Trunks())
	for s, port := range row {
		if out[s] = f.Out(fabric.NodeID(s), port); out[s] >= trunks {
			out[s] = fabric.None
		}
	}
	for _, in := range out {
		if in == fabric.None {
			continue
		}
		if next := out[heads[in]]; next != fabric.None {
			mark[f.Turn(in, next)] = 1
		}
	}
}

// rescue gives lost switches a path by way of neighbours that have one, and
// returns those it could not help. They go towards the hub where they can. For
// the others, what is legal and what was admitted before is used as far as it
// goes; only then one more turn from down to up is admitted, and so on: so the
// same few turns serve all.
func (j *joiner) rescue(row []uint8, root fabric.NodeID, lost []fabric.NodeID, hub []uint8) []fabric.NodeID {
	if len(lost) == 0 {
		return nil
	}
	j.tree.Build(j.f, row, root)
	for len(lost) > 0 {
		before := len(lost)
		if lost = j.towards(hub, row, lost); len(lost) < before {
			continue
		}
		if lost = j.pass(row, lost, false); len(lost) < before {
			continue
		}
		if lost = j.pass(row, lost, true); len(lost) == before {
			return lost
		}
	}
	return nil
}

// towards sends lost switches towards the hub, where the next on the way has a
// path and the turn there can be admitted. It returns those still lost.
func (j *joiner) towards(hub, row []uint8, lost []fabric.NodeID) []fabric.NodeID {
	if hub == nil {
		return lost
	}
	still := lost[:0]
	for _, s := range lost {
		c := j.f.Out(s, hub[s])
		if c == fabric.None || c >= fabric.ChannelID(j.f.Trunks()) {
			still = append(still, s)
			continue
		}
		out := j.tree.Out[j.f.Heads()[c]]
		if out == fabric.None || !j.g.Add(c, out) {
			still = append(still, s)
			continue
		}
		if !j.up[c] && j.up[out] {
			j.added++
		}
		row[s] = j.f.Channel(c).FromPort
		j.tree.Out[s] = c
	}
	return still
}

// pass looks once at every lost switch, and returns those still lost. It stops
// after the first turn from down to up that it had to admit.
func (j *joiner) pass(row []uint8, lost []fabric.NodeID, admit bool) []fabric.NodeID {
	still := lost[:0]
	for i, s := range lost {
		c := j.wayOut(s, admit)
		if c == fabric.None {
			still = append(still, s)
			continue
		}
		row[s] = j.f.Channel(c).FromPort
		j.tree.Out[s] = c
		if admit {
			j.added++
			return append(still, lost[i+1:]...)
		}
	}
	return still
}

// wayOut is a trunk from a lost switch to a neighbour with a path whose turn
// there is in use or legal or, if so asked, can be admitted.
func (j *joiner) wayOut(s fabric.NodeID, admit bool) fabric.ChannelID {
	first, end := j.f.TrunksFrom(s)
	for c := first; c < end; c++ {
		// A neighbour with a path has a trunk to follow: the destination's
		// own switch has no lost neighbours.
		out := j.tree.Out[j.f.Heads()[c]]
		if out == fabric.None {
			continue
		}
		known := j.g.Has(j.f.Turn(c, out)) || j.up[c] || !j.up[out]
		if (known || admit) && j.g.Add(c, out) {
			return c
		}
	}
	return fabric.None
}
