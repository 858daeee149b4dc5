// Package address makes the layer a matter of the address: the i-th LID of every
// endpoint uses lane i.
//
// O. Lysne et al.: Layered Routing in Irregular Networks, IEEE TPDS 17(1), 2006,
// section 4.2, step 3: the traffic assignment of MROOTS, where a source may use
// every layer, and of D-MROOTS, where packets between two endpoints must stay in
// order and so keep to one.
//
// Guarantee: deadlock-free under contract directed if the paths to the i-th
// addresses are free of cycles among themselves, for every i; updown.MultiRoot
// makes them so. With Single also under honored: then two switches use the same
// address both ways. Lanes needed: 2^LMC. O(1) per pair.
package address

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Assigner assigns layers by address. The zero Assigner lets every source use
// every address (MROOTS).
type Assigner struct {
	// Single gives each pair of source switch and endpoint one address only,
	// all of them used evenly (D-MROOTS); the others are routing.NoSL.
	Single bool
}

// Lanes implements routing.LaneAssigner.
func (o Assigner) Lanes(ctx context.Context, f *fabric.Fabric, _ *routing.Forwarding, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	layers := f.Addresses()
	if layers > b.VLs {
		return nil, &routing.TooFewLanes{Need: layers, Have: b.VLs}
	}
	l := routing.NewLanes(f, routing.LanePerSL(b.VLs))
	l.Needed = layers
	pairs := make([]uint64, layers) // [layer] pairs of endpoints in it
	sources := b.Scope.PerSwitch(f)
	for i := range f.Endpoints() {
		e := f.Endpoint(fabric.EndpointID(i))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for a := range fabric.LID(1) << e.LMC {
			row := l.SLRow(e.LID + a)
			for s := range row {
				row[s] = uint8(a)
			}
		}
		if o.Single && e.LMC > 0 && !b.Contract.EitherWay() {
			keepOne(l, e, pairs, sources)
		}
		p.Report(i+1, len(f.Endpoints()))
	}
	if o.Single && b.Contract.EitherWay() {
		keepOneBothWays(f, l, b.Scope, pairs, sources)
	}
	return l, nil
}

// keepOne leaves each source switch one address of an endpoint, the one whose layer has
// the fewest pairs, and counts those in pairs.
func keepOne(l *routing.Lanes, e *fabric.Endpoint, pairs []uint64, sources []uint32) {
	for s := range sources {
		best := emptiest(pairs, 1<<e.LMC)
		pairs[best] += uint64(sources[s])
		keep(l, e, fabric.NodeID(s), best)
	}
}

// keepOneBothWays leaves every two switches one address, counted from the base LID, for each other's
// endpoints: of those that all of these have the one whose layer has the fewest pairs, which it counts
// in pairs.
func keepOneBothWays(f *fabric.Fabric, l *routing.Lanes, scope routing.Scope, pairs []uint64, sources []uint32) {
	ends := make([][]*fabric.Endpoint, len(sources))      // [switch] endpoints in scope
	all := slices.Repeat([]int{len(pairs)}, len(sources)) // [switch] addresses that all of them have
	for _, id := range scope.Endpoints(f) {
		e := f.Endpoint(id)
		ends[e.Switch], all[e.Switch] = append(ends[e.Switch], e), min(all[e.Switch], 1<<e.LMC)
	}
	for b := range fabric.NodeID(len(sources)) {
		for a := range b + 1 {
			best := emptiest(pairs, min(all[a], all[b]))
			pairs[best] += 2 * uint64(sources[a]) * uint64(sources[b])
			for _, e := range ends[b] {
				keep(l, e, a, best)
			}
			for _, e := range ends[a] {
				keep(l, e, b, best)
			}
		}
	}
}

// emptiest is the layer with the fewest pairs among the first so many.
func emptiest(pairs []uint64, layers int) int {
	best := 0
	for layer, n := range pairs[:layers] {
		if n < pairs[best] {
			best = layer
		}
	}
	return best
}

// keep leaves a switch one address of an endpoint, and marks the others with NoSL.
func keep(l *routing.Lanes, e *fabric.Endpoint, s fabric.NodeID, address int) {
	for a := range 1 << e.LMC {
		if a != address {
			l.SLRow(e.LID + fabric.LID(a))[s] = routing.NoSL
		}
	}
}
