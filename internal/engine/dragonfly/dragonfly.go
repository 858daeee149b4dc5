// Package dragonfly routes fully connected Dragonflies by the shortest way through their
// groups, on the lanes of two papers.
//
// The path from one group to another takes one cable between the two, at most one within the
// group where it begins and at most one within that where it ends (J. Kim, W. J. Dally, S.
// Scott, D. Abts: Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008, minimal
// routing, section 4.1). Within a group it is one hop. By way of a third group there are
// sometimes shorter paths, of two cables between groups; they are not taken, because the
// lanes depend on it. Where two groups have several cables, the least hops count, then the
// fewest routes.
//
// DLA, G. Maglione-Mathey, J. Escudero-Sahuquillo, P. J. García, F. J. Quiles, E. Zahavi:
// Leveraging InfiniBand Controller to Configure Deadlock-Free Routing Engines for
// Dragonflies, JPDC 2021 (arXiv 2502.01214): the shift of lanes of Kim and Dally in OpenSM.
// A packet that comes in from another group goes on by lane 1, all others by lane 0, which
// the map from service level to lane says by in-port alone, whatever the service level.
// Guarantee: deadlock-free under every contract: lane 0 within the first group, lane 0
// between groups, lane 1 within the last, and no path goes on from there. Lanes: 2.
//
// D3R, G. Maglione-Mathey, P. Yebenes, J. Escudero-Sahuquillo, P. J. García, F. J. Quiles,
// E. Zahavi: Scalable Deadlock-Free Deterministic Minimal-Path Routing Engine for
// InfiniBand-Based Dragonfly Networks, TPDS 2018: each path keeps to one lane, 0 if it leads
// to a group of a higher number than its own and 1 if to a lower one. Guarantee:
// deadlock-free under contract directed: on lane 0 a path goes on from a group only to a
// higher one, on lane 1 only to a lower one. Lanes: 2; with a third one, paths within a
// group have that.
//
// They refuse what is no fully connected Dragonfly with groups of three switches or more,
// found from the cables alone: a cable missing within a group, or the last one between two,
// is more than either paper says anything about.
//
// Complexity: O(D·S) for D LIDs and S switches, and O(S·k²) to find the groups, for switches
// of k trunks.
//
// The texts were not at hand beyond their abstracts, which say as much as is said here; that
// it is the number of the group that orders D3R's lanes, and that its third lane is for paths
// within groups, is a reconstruction.
package dragonfly

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/routing"
)

// Lanes is whose lanes an Engine takes.
type Lanes uint8

// The lanes of the two papers: by how often a packet has changed groups, and by which of the
// groups where it begins and ends has the higher number.
const (
	Shift Lanes = iota // DLA
	Order              // D3R
)

// Engine is one of the two.
type Engine struct{ Lanes Lanes }

// Route implements routing.Engine.
func (o Engine) Route(ctx context.Context, f *fabric.Fabric, b routing.Budget, p routing.Progress) (*routing.Tables, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	g, no := find(f)
	if no == nil {
		no = g.allJoined()
	}
	if no != nil {
		return nil, no
	}
	need := min(2, max(1, len(g.members)))
	if b.VLs < need {
		return nil, &routing.TooFewLanes{Need: need, Have: b.VLs}
	}
	t := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f)}
	r := newRouter(f, g)
	for root := range fabric.NodeID(f.Switches()) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, lid := range dag.LIDsOn(f, root, nil) {
			r.grow(root)
			intree.Write(f, t.Forwarding.Row(lid), lid, r.order, r.out)
			if f.Endpoint(f.Owner(lid)).Class != fabric.SwitchPort {
				r.Charge(r.order, r.out, 1)
			}
		}
		p.Report(int(root)+1, f.Switches())
	}
	if o.Lanes == Shift {
		t.Lanes = g.shifted(need)
	} else {
		t.Lanes = g.ordered(b.VLs)
	}
	t.Lanes.Needed = need
	t.Forwarding.Notes = append(t.Forwarding.Notes, fmt.Sprintf("a Dragonfly of %s", g))
	return t, nil
}

// shifted is DLA's lanes, of which one or two are needed.
func (g *groups) shifted(need int) *routing.Lanes {
	m := routing.UniformSL2VL([routing.SLs]uint8{})
	if need == 1 {
		return routing.OneSL(g.f, m)
	}
	m = m.PerPort(g.f)
	var second [routing.SLs]uint8
	for sl := range second {
		second[sl] = 1
	}
	for c := range fabric.ChannelID(g.f.Trunks()) {
		ch := g.f.Channel(c)
		for out := range g.f.Node(ch.To).Ports + 1 {
			if g.of[ch.From] != g.of[ch.To] {
				m.SetMap(ch.To, ch.ToPort, uint8(out), second)
			}
		}
	}
	return routing.OneSL(g.f, m)
}

// ordered is D3R's lanes, among vls: service level n is lane n, and paths have those by their groups.
func (g *groups) ordered(vls int) *routing.Lanes {
	l := routing.NewLanes(g.f, routing.LanePerSL(vls))
	inside := uint8(0)
	if vls > 2 && len(g.members) > 1 {
		inside = 2
	}
	for lid, owner := range g.f.LIDs() {
		row, to := l.SLRow(lid), g.f.Endpoint(owner).Switch
		for s := range row {
			switch {
			case to == fabric.None:
			case g.of[s] == g.of[to]:
				row[s] = inside
			case g.of[s] > g.of[to]:
				row[s] = 1
			}
		}
	}
	return l
}

// router grows the tree of one LID after another.
type router struct {
	*intree.Loads
	*groups
	size    int                  // switches of a group
	inside  [][]fabric.ChannelID // [switch × size + place of another switch of its group] trunks to that
	between [][]fabric.ChannelID // [group × groups + other group] trunks from group to other group

	out   []fabric.ChannelID // [switch] the trunk it forwards to in the tree
	hops  []int32            // [switch] of its path; dag.NoPath: not in the tree yet
	sum   []uint64           // [switch] the loads of its path's trunks, added up
	order []fabric.NodeID    // the switches of the tree, the root first, each behind the one it forwards to
}

func newRouter(f *fabric.Fabric, g *groups) *router {
	n, all, size := f.Switches(), len(g.members), len(g.members[0])
	r := &router{
		Loads: intree.NewLoads(f), groups: g, size: size, inside: make([][]fabric.ChannelID, n*size), between: make([][]fabric.ChannelID, all*all),
		out: make([]fabric.ChannelID, n), hops: make([]int32, n), sum: make([]uint64, n),
	}
	for c := range fabric.ChannelID(f.Trunks()) {
		ch := f.Channel(c)
		to := &r.between[int(g.of[ch.From])*all+int(g.of[ch.To])]
		if g.of[ch.From] == g.of[ch.To] {
			to = &r.inside[int(ch.From)*size+g.place(ch.To)]
		}
		*to = append(*to, c)
	}
	return r
}

// grow makes the tree to a switch, in order and out: the root's group, and of each other group first the
// switches with cables to the root's group, then the others by way of these. The least hops count, then
// the loads.
func (r *router) grow(root fabric.NodeID) {
	for s := range r.hops {
		r.hops[s] = dag.NoPath
	}
	r.hops[root], r.sum[root] = 0, 0
	r.order = append(r.order[:0], root)
	home := int(r.of[root])
	for _, s := range r.members[home] {
		if s != root {
			r.offer(s, root)
		}
	}
	for group, members := range r.members {
		if group == home {
			continue
		}
		first := len(r.order)
		for _, c := range r.between[group*len(r.members)+home] {
			r.take(r.f.Channel(c).From, c)
		}
		gates := r.order[first:]
		for _, s := range members {
			if r.hops[s] == dag.NoPath {
				for _, gate := range gates {
					r.offer(s, gate)
				}
			}
		}
	}
}

// offer offers switch s the trunks to another switch of its group (take).
func (r *router) offer(s, by fabric.NodeID) {
	for _, c := range r.inside[int(s)*r.size+r.place(by)] {
		r.take(s, c)
	}
}

// take gives a switch the way by a trunk if it has none so far, or one of more hops, or of
// as many and with more load.
func (r *router) take(s fabric.NodeID, c fabric.ChannelID) {
	v := r.f.Heads()[c]
	hops, sum := r.hops[v]+1, r.sum[v]+r.On[c]
	switch {
	case r.hops[s] == dag.NoPath:
		r.order = append(r.order, s)
	case hops > r.hops[s] || hops == r.hops[s] && sum >= r.sum[s]:
		return
	}
	r.out[s], r.hops[s], r.sum[s] = c, hops, sum
}
