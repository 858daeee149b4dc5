package routed

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/bound"
	"github.com/weft-fabric/weft/internal/choose"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// mostBound is how many hosts a network may have whose bounds are found beside everything else; weft bound finds
// those of larger ones.
const mostBound = 3000

// BoundOf is what no routing can do better by the measures of a meter (see package bound), which weft route and compare show
// beside. It is nil where that would take too long, or is not comparable: links differ and are measured by their rates, others
// than hosts count, or the network is in parts. The bound of the fullest channel takes longest, seconds at most, and is found
// if asked for.
func BoundOf(ctx context.Context, f *fabric.Fabric, m *choose.Meter, fullest bool) (*result.AnyRouting, error) {
	if !bounded(f, m) || ratesDiffer(f, m) {
		return nil, nil
	}
	n, err := bound.New(ctx, f)
	if err != nil {
		return nil, err
	}
	b := &result.AnyRouting{Lambda: n.Random().Lambda}
	for _, o := range m.Orders {
		p, err := n.Phases(ctx, o.Ranks)
		if err != nil {
			return nil, err
		}
		b.Shifts = append(b.Shifts, result.Shift{Order: o.Name, Time: p.Time})
	}
	if !fullest {
		return b, nil
	}
	r, err := n.AllToAll(ctx)
	if err != nil {
		return nil, err
	}
	b.Index = r.Most
	return b, nil
}

// bounded reports whether bounds for links alike are found, and are about the endpoints that a meter measures.
func bounded(f *fabric.Fabric, m *choose.Meter) bool {
	hosts := len(routing.HCA.Endpoints(f))
	return hosts <= mostBound && hosts == len(m.Endpoints) && len(f.Parts()) == 1
}

// ratesDiffer reports whether links differ and are measured by their rates.
func ratesDiffer(f *fabric.Fabric, m *choose.Meter) bool { return !m.Uniform && !RatesAlike(f) }

// OnlyRatesDiffer reports whether there would be a bound (BoundOf) if all links were taken for alike.
func OnlyRatesDiffer(f *fabric.Fabric, m *choose.Meter) bool {
	return bounded(f, m) && ratesDiffer(f, m)
}

// RatesAlike reports whether all cables have the same rate.
func RatesAlike(f *fabric.Fabric) bool {
	for _, c := range f.Channels() {
		if c.Rate != f.Channel(0).Rate {
			return false
		}
	}
	return true
}
