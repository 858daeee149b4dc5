// Package updown is Up*/Down* routing: every channel is up or down, and no path
// goes up after it went down.
//
// M. D. Schroeder et al.: Autonet: a High-Speed, Self-Configuring Local Area
// Network Using Point-to-Point Links, IEEE JSAC 9(8), 1991; as used in O. Lysne
// et al.: Layered Routing in Irregular Networks, IEEE TPDS 17(1), 2006, section
// 4.1. The switches are put in an order, and up is towards the earlier one. The
// order is one of three:
//
//   - FromRoots, as in Autonet: by breadth-first distance from the roots, then
//     GUID (engine updn);
//   - DepthFirst: the order in which a depth-first search finds them (J. C.
//     Sancho, A. Robles: Improving the Up*/Down* Routing Scheme for Networks of
//     Workstations, Euro-Par 2000), which the TPDS paper simulates against
//     (updn-dfs);
//   - FromLeaves: the farther from host adapters the earlier, as OpenSM's dnup
//     ranks, so that a tree needs no roots to be named (dnup).
//
// Guarantee: deadlock-free on one lane, whatever service level a client uses,
// and connected for all switches and endpoints. Paths need not be minimal.
//
// Complexity: O(S·(S + C) + D·M) as for minhop.
//
// Deviations from the papers:
//   - Forwarding knows the destination, not the way behind it. A switch that can
//     go down all the way to a destination does so, the others go up: so nobody
//     who arrives from above is sent up again.
//   - Several roots, as a fat tree wants them, leave the roots themselves (and
//     what hangs on them) apart, since none can reach another without going
//     down first. Such pairs are joined by single turns from down to up, each
//     admitted only if all turns of all paths together stay free of cycles.
//     OpenSM's connect_roots does the same without the proof.
//   - Without roots given, both the tops of a tree-like network and one central
//     switch are tried; the shorter paths between switches with hosts win.
//   - Sancho's heuristic is told in words only: the search starts at the switch
//     farthest from all others on average and goes on to the neighbour with most
//     cables to switches already found. Ties go to the farther switch, then to
//     the lower GUID.
package updown

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// Rank says how switches are put in order.
type Rank uint8

// The orders of the package comment.
const (
	FromRoots Rank = iota
	DepthFirst
	FromLeaves
)

// Finder is Up*/Down* routing. The zero Finder ranks from roots that it chooses.
type Finder struct {
	Rank  Rank
	Roots []fabric.GUID // of FromRoots: switches of rank 0; empty: chosen, and named in Forwarding.Notes
}

// Paths implements routing.PathFinder. It refuses roots that are no switches,
// and an order that leaves a pair of switches without a path.
func (o Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	given, err := o.given(f)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Rank == DepthFirst:
		order, roots := depthFirst(f)
		return route(ctx, f, order, "depth-first from "+name(f, roots), p)
	case o.Rank == FromLeaves:
		return route(ctx, f, byHeight(f), "ranked from the switches with hosts", p)
	case len(given) > 0:
		return route(ctx, f, byRank(f, given), "roots: "+name(f, given), p)
	}
	for _, roots := range candidates(f) {
		t, err := route(ctx, f, byRank(f, roots), "roots: "+name(f, roots), p)
		if apart := (*routing.Refusal)(nil); !errors.As(err, &apart) {
			return t, err
		}
	}
	panic("updown: a single root in every part joins all")
}

func (o Finder) given(f *fabric.Fabric) ([]fabric.NodeID, error) {
	var roots []fabric.NodeID
	for _, g := range o.Roots {
		n := f.NodeByGUID(g)
		if n == fabric.None {
			return nil, fmt.Errorf("updown: root %s is no node of this fabric", g)
		}
		if node := f.Node(n); node.Kind != fabric.Switch {
			return nil, fmt.Errorf("updown: root %s is a %s; roots are switches", f.Label(n), node.Kind)
		}
		roots = append(roots, n)
	}
	return roots, nil
}

// route routes with the switches in this order, and notes what it was.
func route(ctx context.Context, f *fabric.Fabric, order []fabric.NodeID, note string, p routing.Progress) (*routing.Forwarding, error) {
	o := orient(f, order)
	t, err := dag.RouteLocally(ctx, f, o.legal, p)
	if err != nil {
		return nil, err
	}
	if o.apart(f) {
		joined, err := join(ctx, f, o, t)
		if err != nil {
			return nil, err
		}
		note += fmt.Sprintf("; %d turns from down to up join what that leaves apart", joined)
	}
	t.Notes = append(t.Notes, note)
	return t, nil
}

// name lists a few switches for people.
func name(f *fabric.Fabric, switches []fabric.NodeID) string {
	const most = 3
	names := make([]string, 0, most+1)
	for i, s := range switches {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(switches)-most))
			break
		}
		names = append(names, f.Label(s))
	}
	return strings.Join(names, ", ")
}

// orientation says which channels are up.
type orientation struct {
	up    []bool          // [trunk]
	order []fabric.NodeID // every switch; up leads to an earlier one
}

func orient(f *fabric.Fabric, order []fabric.NodeID) *orientation {
	o := &orientation{up: make([]bool, f.Trunks()), order: order}
	place := make([]int32, f.Switches())
	for i, s := range order {
		place[s] = int32(i)
	}
	heads := f.Heads()
	for s := range f.Switches() {
		first, end := f.TrunksFrom(fabric.NodeID(s))
		for c := first; c < end; c++ {
			o.up[c] = place[heads[c]] < place[s]
		}
	}
	return o
}

// legal fills d with the Up*/Down* paths to root; it is a dag.Builder. Switches
// without one are left out.
func (o *orientation) legal(d *dag.DAG, f *fabric.Fabric, root fabric.NodeID) {
	d.Reset(f, root)
	heads, reverse := f.Heads(), f.Reverses()
	// Down all the way: breadth first from the root against the down channels.
	for i := 0; i < len(d.Order); i++ {
		u := d.Order[i]
		first, end := f.TrunksFrom(u)
		for c := first; c < end; c++ {
			v, down := heads[c], !o.up[reverse[c]]
			if down && d.Hops[v] == dag.NoPath {
				d.Hops[v] = d.Hops[u] + 1
				d.Order = append(d.Order, v)
			} else if !o.up[c] && i > 0 && d.Hops[v] == d.Hops[u]-1 {
				d.Out, d.Head = append(d.Out, c), append(d.Head, v)
			}
		}
		d.First = append(d.First, int32(len(d.Out)))
	}
	// Up first: an up channel leads to a switch earlier in the order.
	for _, u := range o.order {
		if d.Hops[u] != dag.NoPath {
			continue
		}
		best := int32(dag.NoPath)
		first, end := f.TrunksFrom(u)
		for c := first; c < end; c++ {
			if h := d.Hops[heads[c]]; o.up[c] && h != dag.NoPath && (best == dag.NoPath || h < best) {
				best = h
			}
		}
		if best == dag.NoPath {
			continue
		}
		d.Hops[u] = best + 1
		d.Order = append(d.Order, u)
		for c := first; c < end; c++ {
			if o.up[c] && d.Hops[heads[c]] == best {
				d.Out, d.Head = append(d.Out, c), append(d.Head, heads[c])
			}
		}
		d.First = append(d.First, int32(len(d.Out)))
	}
}
