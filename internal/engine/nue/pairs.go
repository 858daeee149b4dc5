package nue

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/internal/engine/steps/marks"
	"github.com/weft-fabric/weft/routing"
)

// undecided is the lane of two switches whose paths have none yet.
const undecided = 255

// pairing is Nue for contract honored on several lanes. A lane by destination will not
// do there: the way back leads to another destination. So lanes are given to pairs of
// switches, both ways.
//
// Wanted paths come first: all between two switches, both ways, go into the first lane
// whose graph takes them. If every pair has a lane then, that is all. Else the lanes are
// begun anew with an escape tree in each, pairs are put beside it as far as they fit,
// and the in-tree of every destination is grown along the wanted paths. A switch whose
// way is not in the graph of its pair's lane takes another, by the load; what is left
// over takes detours and in the end the escape tree, as it does on one lane.
type pairing struct {
	f       *fabric.Fabric
	heads   []fabric.NodeID
	vls     int
	wanted  *routing.Forwarding // the paths to keep to, of the finder at hand and then of the best
	paths   *routing.Forwarding // the result
	loads   *intree.Loads       // of routes to adapters
	layers  *acyclic.Layers     // [lane]
	lane    []uint8             // [switch × switches + switch] of the paths between them, both ways alike; undecided
	lids    [][]fabric.LID      // [switch] those in scope on it; its own only where there is no other
	byHops  []pair              // every two switches that send to each other, those of fewest hops first
	seen    *marks.Set          // scratch of collect: turns
	turns   []acyclic.Turn      // scratch: turns of the pair or path at hand
	escapes *intree.Escapes     // nil: every pair has its wanted paths
	tree    pairedTree          // the tree at hand
	count   count
}

type pair struct{ a, b fabric.NodeID }

// routePairs routes for contract honored on several lanes.
func (o Engine) routePairs(ctx context.Context, f *fabric.Fabric, b routing.Budget, p routing.Progress) (*routing.Tables, error) {
	r := newPairing(f, b)
	if err := r.listPairs(ctx); err != nil {
		return nil, err
	}
	left, err := r.chooseWanted(ctx, o.Wanted, p)
	if err != nil {
		return nil, err
	}
	r.paths = r.wanted.Clone()
	if left == 0 {
		r.copyOthers()
		return &routing.Tables{Fabric: f, Forwarding: r.paths, Lanes: r.giveOut()}, nil
	}
	if err := r.growAll(ctx, p); err != nil {
		return nil, err
	}
	if r.count.escapes > 0 { // one lane wastes nothing on keeping ways apart
		one, load, err := routeOn(ctx, f, 1, p)
		if err != nil || intree.Squares(load) < intree.Squares(r.loads.On) {
			return one, err
		}
	}
	r.copyOthers()
	return &routing.Tables{Fabric: f, Forwarding: r.paths, Lanes: r.giveOut()}, nil
}

func newPairing(f *fabric.Fabric, b routing.Budget) *pairing {
	n := f.Switches()
	r := &pairing{
		f: f, heads: f.Heads(), vls: b.VLs, loads: intree.NewLoads(f),
		lane: make([]uint8, n*n), lids: make([][]fabric.LID, n), seen: marks.New(f.Turns()),
	}
	for s := range fabric.NodeID(n) {
		for _, lid := range dag.LIDsOn(f, s, nil) {
			if c := f.Endpoint(f.Owner(lid)).Class; b.Scope.Includes(c) && c != fabric.SwitchPort {
				r.lids[s] = append(r.lids[s], lid)
			}
		}
		if own := f.Endpoint(f.Attached(s)[0]); r.lids[s] == nil && b.Scope.Includes(own.Class) {
			r.lids[s] = []fabric.LID{own.LID}
		}
	}
	return r
}

// listPairs fills byHops.
func (r *pairing) listPairs(ctx context.Context) error {
	var byHops [][]pair
	err := dag.ByDestination(ctx, r.f, dag.Shortest, func(d *dag.DAG, _ []fabric.LID) {
		for a := range d.Root {
			if r.lids[a] == nil || r.lids[d.Root] == nil || d.Hops[a] == dag.NoPath {
				continue
			}
			for len(byHops) <= int(d.Hops[a]) {
				byHops = append(byHops, nil)
			}
			byHops[d.Hops[a]] = append(byHops[d.Hops[a]], pair{a, d.Root})
		}
	})
	r.byHops = slices.Concat(byHops...)
	return err
}

// chooseWanted sets wanted to the paths of the first finder for which the lanes suffice, or to those
// that leave the fewest pairs without a lane, and returns how many pairs that is. If it is none, every
// pair has its lane.
func (r *pairing) chooseWanted(ctx context.Context, finders []routing.PathFinder, p routing.Progress) (fewest int, err error) {
	if len(finders) == 0 {
		finders = []routing.PathFinder{local{}}
	}
	var best *routing.Forwarding
	for _, finder := range finders {
		if r.wanted, err = finder.Paths(ctx, r.f, p); err != nil {
			return 0, err
		}
		if r.wanted == best { // two finders with the same paths
			continue
		}
		left, err := r.place(ctx)
		if err != nil || left == 0 {
			return left, err
		}
		if best == nil || left < fewest {
			best, fewest = r.wanted, left
		}
	}
	r.wanted = best
	return fewest, nil
}

// local is shortest paths, balanced by each switch on its own.
type local struct{}

func (local) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	return dag.RouteLocally(ctx, f, dag.Shortest, dag.Arriving, p)
}

// How often pairs are placed, in rounds and in pairs altogether.
const (
	mostRounds = 8
	mostPlaced = 1 << 20
)

// place gives every two switches a lane for the wanted paths between them, in several rounds, and
// returns how many pairs have none after the best, which is the one that stays. Pairs without a lane
// come first in the next round, the others stay together lane by lane, the last lane first (J. C.
// Culberson: Iterated Greedy Graph Coloring and the Difficulty Landscape, 1992).
func (r *pairing) place(ctx context.Context) (fewest int, err error) {
	order := r.byHops
	best, last := order, 0
	for round := range mostRounds {
		left, err := r.placeOnce(ctx, order)
		if err != nil {
			return 0, err
		}
		if last = left; round == 0 || left < fewest {
			best, fewest = order, left
		}
		if fewest == 0 || (round+2)*len(order) > mostPlaced {
			break
		}
		order = r.backwards(order)
	}
	if last != fewest {
		return r.placeOnce(ctx, best)
	}
	return fewest, nil
}

// backwards is the order of the next round: pairs without a lane first, then those of the
// last lane, and so on.
func (r *pairing) backwards(order []pair) []pair {
	byLane := make([][]pair, r.vls+1)
	for _, p := range order {
		lane := min(int(r.lane[int(p.a)*r.f.Switches()+int(p.b)]), r.vls)
		byLane[r.vls-lane] = append(byLane[r.vls-lane], p)
	}
	return slices.Concat(byLane...)
}

// placeOnce is a round of place: it makes layers and lane anew, by the first lane that takes all paths
// of a pair, and counts the pairs left over, which stay undecided.
func (r *pairing) placeOnce(ctx context.Context, order []pair) (left int, err error) {
	r.layers = acyclic.NewLayers(r.f)
	if r.escapes != nil {
		r.reserve()
	}
	for i := range r.lane {
		r.lane[i] = undecided
	}
	for i, p := range order {
		if i%(1<<12) == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		r.collect(p.a, p.b)
		if lane, ok := r.layers.First(r.turns, r.vls); ok {
			r.decide(p.a, p.b, uint8(lane))
		} else {
			left++
		}
	}
	return left, nil
}

// reserve adds the escape tree to every lane.
func (r *pairing) reserve() {
	r.layers.AtLeast(r.vls)
	r.turns = r.turns[:0]
	r.escapes.EachTurn(func(in, out fabric.ChannelID) {
		r.turns = append(r.turns, acyclic.Turn{ID: int32(r.f.Turn(in, out)), In: in, Out: out})
	})
	for lane := range r.vls {
		if !r.layers.Into(lane, r.turns) {
			panic("nue: a tree has a cycle of turns")
		}
	}
}

// decide sets the lane of two switches, both ways.
func (r *pairing) decide(a, b fabric.NodeID, lane uint8) {
	n := r.f.Switches()
	r.lane[int(a)*n+int(b)], r.lane[int(b)*n+int(a)] = lane, lane
}

// collect sets turns to those of all wanted paths between two switches, both ways.
func (r *pairing) collect(a, b fabric.NodeID) {
	r.turns = r.turns[:0]
	r.seen.Empty()
	for range 2 {
		for _, lid := range r.lids[b] {
			row := r.wanted.Row(lid)
			in := r.f.Out(a, row[a])
			for at := r.heads[in]; at != b; at = r.heads[in] {
				out := r.f.Out(at, row[at])
				if t := r.f.Turn(in, out); r.seen.Add(t) {
					r.turns = append(r.turns, acyclic.Turn{ID: int32(t), In: in, Out: out})
				}
				in = out
			}
		}
		a, b = b, a
	}
}

// copyOthers routes the LIDs out of scope, and switches' own, like another on the switch
// where there is one in scope; else they keep to the wanted paths.
func (r *pairing) copyOthers() {
	for lid, e := range r.f.LIDs() {
		ep := r.f.Endpoint(e)
		if ep.Switch == fabric.None || r.lids[ep.Switch] == nil || slices.Contains(r.lids[ep.Switch], lid) {
			continue
		}
		row := r.paths.Row(lid)
		copy(row, r.paths.Row(r.lids[ep.Switch][0]))
		row[ep.Switch] = r.f.LastPort(ep)
	}
}

// giveOut makes Lanes of the lane of every pair: service level n is lane n.
func (r *pairing) giveOut() *routing.Lanes {
	n := r.f.Switches()
	l := routing.NewLanes(r.f, routing.LanePerSL(r.vls))
	l.Needed = 1
	for lid, e := range r.f.LIDs() {
		to := r.f.Endpoint(e).Switch
		if to == fabric.None {
			continue
		}
		row := l.SLRow(lid)
		for s, lane := range r.lane[int(to)*n:][:n] {
			if lane != undecided { // else it is the switch itself, or lies apart
				row[s] = lane
				l.Needed = max(l.Needed, int(lane)+1)
			}
		}
	}
	return l
}
