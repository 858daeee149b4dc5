package packets

import (
	"context"
	"fmt"
)

// Saturation is the offered load above which a network delivers less than is offered.
type Saturation struct {
	Offered  float64   // the highest that was delivered, as a share of what the senders' links carry
	Accepted float64   // accepted in that run: the saturation throughput
	Above    float64   // the lowest that was not delivered; 1 if all were
	Status   Status    // of the run at Above
	Runs     []*Result // in the order of the search
}

// Saturation searches for the highest offered load between low and high that the
// network delivers, to a precision of step. It takes for granted that low is delivered,
// and tries high first. A run counts as delivered when it is Steady or Unstable. The
// search ends at a run that deadlocks: there is no throughput above. The field Offered
// of the Injection is ignored.
func (n *Network) Saturation(ctx context.Context, l Injection, w Window, low, high, step float64) (*Saturation, error) {
	if !(low >= 0 && low < high && high <= 1 && step > 0) {
		return nil, fmt.Errorf("a search between loads %v and %v in steps of %v; they are from 0 to 1, and the first is lower", low, high, step)
	}
	s := &Saturation{Offered: low, Above: high}
	try := func(load float64) (*Result, error) {
		l.Offered = load
		r, err := n.Measure(ctx, l, w)
		if err == nil {
			s.Runs = append(s.Runs, r)
		}
		return r, err
	}
	for at := high; ; at = (s.Offered + s.Above) / 2 {
		r, err := try(at)
		if err != nil {
			return nil, err
		}
		switch r.Status {
		case Steady, Unstable:
			s.Offered, s.Accepted = at, r.Accepted
		case Interrupted:
			return s, nil
		default:
			s.Above, s.Status = at, r.Status
		}
		if s.Above-s.Offered <= step || s.Offered >= high {
			return s, nil
		}
	}
}
