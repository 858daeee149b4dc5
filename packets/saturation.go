package packets

import (
	"context"
	"fmt"
)

// Saturation is where a network stops to deliver what is offered.
type Saturation struct {
	Load     float64   // the highest that was delivered
	Accepted float64   // of the run at that load: the saturation throughput
	Above    float64   // the lowest load that was not; 1 if all were
	Status   Status    // of the run there
	Runs     []*Result // in the order in which they were made
}

// Saturation searches the saturation throughput of a load between two others, to a
// step of step: low must be delivered, high is tried first. A run counts as
// delivered when it is Steady or Unstable. The search ends where a run deadlocks:
// there is no throughput above. Offered of the Load is not looked at.
func (n *Network) Saturation(ctx context.Context, l Load, w Window, low, high, step float64) (*Saturation, error) {
	if !(low >= 0 && low < high && high <= 1 && step > 0) {
		return nil, fmt.Errorf("packets: a search between loads %v and %v in steps of %v; they are from 0 to 1, and the first is lower", low, high, step)
	}
	s := &Saturation{Load: low, Above: high}
	try := func(load float64) (*Result, error) {
		l.Offered = load
		r, err := n.Measure(ctx, l, w)
		if err == nil {
			s.Runs = append(s.Runs, r)
		}
		return r, err
	}
	for at := high; ; at = (s.Load + s.Above) / 2 {
		r, err := try(at)
		if err != nil {
			return nil, err
		}
		switch r.Status {
		case Steady, Unstable:
			s.Load, s.Accepted = at, r.Accepted
		case Interrupted:
			return s, nil
		default:
			s.Above, s.Status = at, r.Status
		}
		if s.Above-s.Load <= step || s.Load >= high {
			return s, nil
		}
	}
}
