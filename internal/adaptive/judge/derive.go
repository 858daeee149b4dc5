package judge

import (
	"cmp"
	"context"
	"maps"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/waits/cdg"
)

// derivation is a call of derive: the dependencies of a routing, and what its verdict counts.
type derivation struct {
	t       *adaptive.Tables
	o       Options
	ends    []bool          // [switch] has endpoints in scope, which send and receive
	dests   []fabric.NodeID // the switches of ends, ascending
	graph   *extended       // the extended channel dependency graph
	inUse   []uint16        // [trunk] lanes that packets can hold, as bits
	verdict Verdict
}

// derive follows all packets along all ways. Its verdict lacks only the certificate or the cycle.
func derive(ctx context.Context, t *adaptive.Tables, o Options) (*derivation, error) {
	if err := t.Valid(); err != nil {
		return nil, err
	}
	d := &derivation{
		t: t, o: o,
		ends:    make([]bool, t.Fabric.Switches()),
		verdict: Verdict{Scope: o.Scope, Switching: o.Switching, Minimal: true},
	}
	for s := range d.ends {
		for _, e := range t.Fabric.Attached(fabric.NodeID(s)) {
			d.ends[s] = d.ends[s] || o.Scope.Includes(t.Fabric.Endpoint(e).Class)
		}
		if d.ends[s] {
			d.dests = append(d.dests, fabric.NodeID(s))
		}
	}
	ends := int64(len(d.dests))
	d.verdict.Pairs = ends * (ends - 1)
	followers, err := cdg.OnAllCores(ctx, d.dests, o.Progress, func() *follower { return newFollower(d) }, (*follower).destination)
	if err != nil {
		return nil, err
	}
	d.merge(followers)
	return d, nil
}

// merge sets graph, inUse and the verdict's counts to the sums of what the followers found. Each
// destination was done by one follower, so
// the sums do not depend on how the destinations were divided.
func (d *derivation) merge(followers []*follower) {
	v, all := &d.verdict, followers[0]
	for _, w := range followers[1:] {
		for i, word := range w.turns.matrix {
			all.turns.matrix[i] |= word
		}
		for c, mask := range w.turns.inUse {
			all.turns.inUse[c] |= mask
		}
		maps.Copy(all.far, w.far)
	}
	for _, w := range followers {
		v.Unreachable += w.count.Unreachable
		v.Flows += w.count.Flows
		v.MayNotArrive += w.count.MayNotArrive
		v.Stranded += w.count.Stranded
		v.Hops = max(v.Hops, w.count.Hops)
		v.Minimal = v.Minimal && w.count.Minimal
		v.Lost = append(v.Lost, w.count.Lost...)
	}
	slices.SortStableFunc(v.Lost, func(a, b Lost) int { return cmp.Compare(a.Dest, b.Dest) })
	v.Lost = v.Lost[:min(len(v.Lost), mostLost)]
	d.inUse = all.turns.inUse
	d.graph = extend(&cdg.Graph{Fabric: d.t.Fabric, Lanes: len(d.t.Lanes), Turns: all.turns.matrix}, all.far)
	for _, mask := range d.inUse {
		v.LaneMask |= mask
	}
	v.VLs = max(1, bits.OnesCount16(v.LaneMask))
	v.Dependencies = d.graph.Count() + len(d.graph.far)
}

// follower follows the packets to one destination after another, on one core.
type follower struct {
	d         *derivation
	group     grouper
	reach     *reach
	turns     *turnMatrices
	count     *flowCounter
	laneReach *laneReach        // nil unless under wormhole switching
	far       map[edge]struct{} // indirect dependencies, under wormhole switching
}

func newFollower(d *derivation) *follower {
	apart := d.o.Switching == Wormhole // every lane is a kind of its own
	w := &follower{
		d:     d,
		reach: newReach(d.t, apart),
		turns: newTurnMatrices(d.t),
		count: newFlowCounter(d),
		far:   map[edge]struct{}{},
	}
	if apart {
		w.laneReach = newLaneReach(d.t, apart)
	}
	return w
}

// destination follows all packets to one switch.
func (w *follower) destination(dest fabric.NodeID) {
	w.count.begin(dest)
	w.group.each(w.d, dest, func(p flowSet) bool {
		w.reach.follow(p)
		w.count.group(w.reach)
		w.turns.add(w.reach)
		if w.laneReach != nil {
			w.laneReach.follow(p)
			for i, v := range w.laneReach.states {
				w.laneReach.beyond(i, func(u, _ int32) { w.far[edge{v, u}] = struct{}{} })
			}
		}
		return true
	})
	w.count.end()
}

// flowSet is the flows to one address whose packets may use the same lanes.
type flowSet struct {
	address adaptive.Address
	dest    fabric.NodeID
	lanes   uint16          // as bits
	sources []fabric.NodeID // ascending
}

// grouper finds the sources of a flowSet without allocating.
type grouper struct {
	done    []bool          // [switch] it was among the sources of a flowSet of the address at hand
	sources []fabric.NodeID // of the flowSet at hand
}

// each visits every pair of an address of dest and a set of lanes that some source may
// use for it, until visit returns false, and returns whether it visited all. The sources are valid
// until the next visit.
func (g *grouper) each(d *derivation, dest fabric.NodeID, visit func(flowSet) (more bool)) bool {
	first, end := d.t.AddressesOf(dest)
	for a := first; a < end; a++ {
		row := d.t.AllowedRow(a)
		g.done = sized(g.done, len(row))
		for s := range row {
			if g.done[s] || !d.sends(fabric.NodeID(s), dest, row[s]) {
				continue
			}
			g.sources = g.sources[:0]
			for u := s; u < len(row); u++ {
				if row[u] == row[s] && d.sends(fabric.NodeID(u), dest, row[u]) {
					g.sources = append(g.sources, fabric.NodeID(u))
					g.done[u] = true
				}
			}
			if !visit(flowSet{address: a, dest: dest, lanes: row[s], sources: g.sources}) {
				return false
			}
		}
	}
	return true
}

// sends reports whether a switch is the source of a flow to another.
func (d *derivation) sends(s, dest fabric.NodeID, allowed uint16) bool {
	return d.ends[s] && s != dest && allowed != 0
}
