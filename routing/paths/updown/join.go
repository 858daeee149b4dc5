package updown

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/acyclic"
	"github.com/weft-fabric/weft/routing"
)

// apartError is the refusal of roots that leave two switches without a path.
type apartError struct {
	from, to string
	roots    int
}

func (e *apartError) Error() string {
	return fmt.Sprintf("updown: with these %d roots %s has no legal path to %s, and no turn can be admitted to make one; give fewer roots", e.roots, e.from, e.to)
}

func asApart(err error, target **apartError) bool { return errors.As(err, target) }

// apart says whether some switches cannot reach others: whether a part of the
// network has more than one switch without an up channel.
func (o *orientation) apart(f *fabric.Fabric) bool {
	sinks := 0
	for s := range f.Switches() {
		if o.sink(f, fabric.NodeID(s)) {
			sinks++
		}
	}
	return sinks > len(f.Parts())
}

// sink says whether no channel leads up from a switch.
func (o *orientation) sink(f *fabric.Fabric, s fabric.NodeID) bool {
	first, end := f.TrunksFrom(s)
	for c := first; c < end; c++ {
		if o.up[c] {
			return false
		}
	}
	return true
}

// joiner completes a forwarding in which some switches have no path.
type joiner struct {
	f     *fabric.Fabric
	g     *acyclic.Graph // the turns of all paths
	up    []bool         // [trunk]
	tree  routing.Tree
	added int
}

// join gives every switch a path to every LID of its part of the network, and
// counts the turns that it took beyond Up*/Down*.
func join(ctx context.Context, f *fabric.Fabric, o *orientation, t *routing.Forwarding) (int, error) {
	j := &joiner{f: f, g: turnsInUse(f, o, t), up: o.up}
	part := make([]int32, f.Switches())
	for i, switches := range f.Parts() {
		for _, s := range switches {
			part[s] = int32(i)
		}
	}
	for lid, e := range f.LIDs() {
		root := f.Endpoint(e).Switch
		if root == fabric.None {
			continue
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		var lost []fabric.NodeID
		row := t.Row(lid)
		for s, port := range row {
			if port == routing.NoPort && part[s] == part[root] {
				lost = append(lost, fabric.NodeID(s))
			}
		}
		if lost = j.rescue(row, root, lost); len(lost) > 0 {
			sinks := 0
			for s := range f.Switches() {
				if o.sink(f, fabric.NodeID(s)) {
					sinks++
				}
			}
			return 0, &apartError{f.Label(lost[0]), f.Label(root), sinks}
		}
	}
	return j.added, nil
}

// turnsInUse is the graph of the turns of all paths. It is free of cycles in the
// order of Up*/Down*: up channels from the last switch to the first, then down
// channels from the first to the last.
func turnsInUse(f *fabric.Fabric, o *orientation, t *routing.Forwarding) *acyclic.Graph {
	count := make([]uint32, f.Turns())
	heads := f.Heads()
	var tree routing.Tree
	for lid, e := range f.LIDs() {
		root := f.Endpoint(e).Switch
		if root == fabric.None {
			continue
		}
		tree.Build(f, t.Row(lid), root)
		for _, s := range tree.Order {
			if in := tree.Out[s]; in != fabric.None {
				if out := tree.Out[heads[in]]; out != fabric.None {
					count[f.Turn(in, out)]++
				}
			}
		}
	}
	order := make([]fabric.ChannelID, 0, f.Trunks())
	collect := func(s fabric.NodeID, up bool) {
		first, end := f.TrunksFrom(s)
		for c := first; c < end; c++ {
			if o.up[c] == up {
				order = append(order, c)
			}
		}
	}
	for i := len(o.order) - 1; i >= 0; i-- {
		collect(o.order[i], true)
	}
	for _, s := range o.order {
		collect(s, false)
	}
	return acyclic.From(f, count, order)
}

// rescue gives lost switches a path by way of neighbours that have one, and
// returns those it could not help. What Up*/Down* allows and what was admitted
// before is used as far as it goes; only then one turn from down to up is
// admitted, and so on: so the same few turns serve all.
func (j *joiner) rescue(row []uint8, root fabric.NodeID, lost []fabric.NodeID) []fabric.NodeID {
	if len(lost) == 0 {
		return nil
	}
	j.tree.Build(j.f, row, root)
	for len(lost) > 0 {
		before := len(lost)
		lost = j.pass(row, lost, false)
		if len(lost) == before {
			if lost = j.pass(row, lost, true); len(lost) == before {
				return lost
			}
		}
	}
	return nil
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
