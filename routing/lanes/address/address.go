// Package address makes the layer a matter of the address: the i-th LID of every
// endpoint rides lane i.
//
// O. Lysne et al.: Layered Routing in Irregular Networks, IEEE TPDS 17(1), 2006,
// section 4.2, step 3: the traffic assignment of MROOTS, where a source may use
// every layer, and of D-MROOTS, where packets between two endpoints must stay in
// order and so keep to one.
//
// Guarantee: deadlock-free under contract honored if the paths to the i-th
// addresses are free of cycles among themselves, for every i; updown.MultiRoot
// makes them so. Lanes needed: 2^LMC. O(1) per pair.
package address

import (
	"context"

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
		if o.Single && e.LMC > 0 {
			keepOne(l, e, pairs, sources)
		}
		p.Report(i+1, len(f.Endpoints()))
	}
	return l, nil
}

// keepOne leaves each source switch the address of an endpoint whose layer has
// the fewest pairs.
func keepOne(l *routing.Lanes, e *fabric.Endpoint, pairs []uint64, sources []uint32) {
	for s := range sources {
		best := 0
		for a := range 1 << e.LMC {
			if pairs[a] < pairs[best] {
				best = a
			}
		}
		pairs[best] += uint64(sources[s])
		for a := range 1 << e.LMC {
			if a != best {
				l.SLRow(e.LID + fabric.LID(a))[s] = routing.NoSL
			}
		}
	}
}
