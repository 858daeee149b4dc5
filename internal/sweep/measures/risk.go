package measures

import (
	"context"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// allToAll is the pattern of riskOf in which every host sends to every other at once, which is
// counted without making all its pairs.
const allToAll = "alltoall"

func risk(ctx context.Context, in *Input, m *Measure) (Value, error) {
	mean, err := riskOf(ctx, in.Result.Tables, m.Setting("pattern"), m.whole("patterns"), in.Seed)
	return Value{Mean: mean}, err
}

// riskOf is the congestion risk of the tables: that of the port with most. The risk of a
// port under some traffic is the number of sources whose packets leave by it, or of their
// destinations, whichever is less: so much traffic can meet there that has neither end in
// common. In a permutation that is the number of flows. Patterns with phases have that of
// the worst phase; of a random pattern it is the median over so many draws.
func riskOf(ctx context.Context, t *routing.Tables, spec string, draws int, seed uint64) (float64, error) {
	if spec == allToAll {
		risk, lost := allToAllRisk(t)
		return float64(risk), lostPairs(lost)
	}
	pattern, err := traffic.Parse(spec)
	if err != nil {
		return 0, err
	}
	runs := 1
	if pattern.Random() {
		runs = max(1, draws)
	}
	hosts, all := routing.HCA.Endpoints(t.Fabric), make([]float64, runs)
	for i := range all {
		r, err := congestion.Simulate(ctx, t, congestion.Options{Pattern: pattern, Placement: hosts, UniformRates: true, Seed: seed + uint64(i), Runs: 1})
		if err != nil {
			return 0, err
		}
		if err := lostPairs(int(r.Lost)); err != nil {
			return 0, err
		}
		all[i] = float64(r.MaxCongestion)
	}
	slices.Sort(all)
	return (all[(runs-1)/2] + all[runs/2]) / 2, nil
}

// lostPairs is the error of so many pairs without a route.
func lostPairs(n int) error {
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%d pairs have no route", n)
}

// allToAllRisk is the largest number, of all trunks, of sources or of destinations of the
// routes over it, whichever is less. lost is the pairs that have no route.
func allToAllRisk(t *routing.Tables) (risk, lost int) {
	f := t.Fabric
	hosts := routing.HCA.PerSwitch(f)
	from, to := make([]int, f.Trunks()), make([]int, f.Trunks())
	last := make([]int32, f.Trunks()) // stamp of the destination, or of the source switch, that was counted last
	ends := routing.HCA.Endpoints(f)
	stamp := int32(0)
	// walk visits the trunks from a switch to an endpoint, until visit knows the rest of the way.
	walk := func(s fabric.NodeID, e *fabric.Endpoint, visit func(c fabric.ChannelID) (known bool)) (arrives bool) {
		for at := s; at != e.Switch; {
			c := f.Out(at, t.Forwarding.Port(at, e.LID))
			if c == fabric.None {
				return false
			}
			if visit(c) {
				break
			}
			at = f.Heads()[c]
		}
		return true
	}
	for _, id := range ends {
		stamp++
		for s, n := range hosts {
			if n == 0 {
				continue
			}
			walk(fabric.NodeID(s), f.Endpoint(id), func(c fabric.ChannelID) bool {
				known := last[c] == stamp // and so is the rest of the way
				if !known {
					last[c] = stamp
					to[c]++
				}
				return known
			})
		}
	}
	for s, n := range hosts {
		stamp++
		for _, id := range ends {
			if n == 0 {
				break
			}
			if !walk(fabric.NodeID(s), f.Endpoint(id), func(c fabric.ChannelID) bool {
				if last[c] != stamp {
					last[c] = stamp
					from[c] += int(n)
				}
				return false // another destination may part from here
			}) {
				lost += int(n)
			}
		}
	}
	for c := range from {
		risk = max(risk, min(from[c], to[c]))
	}
	return risk, lost
}
