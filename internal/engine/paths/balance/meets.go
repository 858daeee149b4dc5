package balance

import (
	"math"

	"github.com/weft-fabric/weft/fabric"
)

// Annealing for Mixed weighs two things: how long shifts take, and how many routes those
// of random pairs meet. The first is measured, and the second is counted over all pairs,
// not over the sample by which trials are judged: what is annealed by a sample learns it by
// heart, and has a fiftieth less on every other.

// meets is what the routes that come through a switch meet on the rest of their way, in
// units of trial.cost, if it goes on by one of its ways. The tree must be off the loads. How
// many routes come through it charge has noted when it took them off: since then only
// switches nearer to the root have changed their ways.
func (a *annealer) meets(r *root, pick []uint8, j int32, k uint8) int64 {
	w := r.ways[r.first[j]+int32(k)]
	sum := a.meetsOn(r, pick, j, w)
	routes, c := a.tree[j].routes, &a.trunks[w.trunk]
	for w.head != 0 {
		w = r.ways[r.first[w.head]+int32(pick[w.head])]
		next := &a.trunks[w.trunk]
		sum += routes * (next.load*int64(next.inverse) - a.turned(c, w))
		c = next
	}
	return sum
}

// meetsOn is what routes through a switch meet on one of its trunks and have not met right
// before: those of its own hosts nobody from the same host, the others nobody who came along.
func (a *annealer) meetsOn(r *root, pick []uint8, j int32, w way) int64 {
	c := &a.trunks[w.trunk]
	sum := (a.tree[j].routes*c.load - a.square[r.order[j]]*c.first) * int64(c.inverse)
	for i := a.phased.child[j]; i != fabric.None; i = a.phased.next[i] {
		before := &a.trunks[r.ways[r.first[i]+int32(pick[i])].trunk]
		sum -= a.tree[i].routes * a.turned(before, w)
	}
	return sum
}

// turned is what a route meets on both of two trunks in a row.
func (a *annealer) turned(c *trunk, w way) int64 {
	return a.both[a.turnBase[w.trunk]+c.back] * int64(min(c.inverse, a.trunks[w.trunk].inverse))
}

// weighPairs settles what meeting others counts beside the durations of shifts: what it
// costs random pairs, at the rate at which Mixed exchanges their bandwidth.
func (a *annealer) weighPairs(bandwidth float64) {
	all := 0.0
	for i := range a.dests {
		all += float64(a.dests[i].weight * a.metOnTheWayTo(int32(i)))
	}
	if all <= 0 {
		return // nobody meets anybody
	}
	ranks := 0
	for i := range a.orders {
		ranks += len(a.orders[i].Ranks)
	}
	whole := float64(ranks) * fine * fine * unit * unit // what all durations count
	// Twice, because whoever is met meets somebody too.
	a.pairs = 2 * exchange * steepness(bandwidth) * whole / all
}

// metOnTheWayTo is what all routes to a destination meet.
func (a *annealer) metOnTheWayTo(d int32) (sum int64) {
	to := &a.dests[d]
	r, pick := &a.roots[to.root], a.picks(d)
	a.phased.old(r, pick)
	a.charge(r, pick, -to.weight)
	for j := int32(1); int(j) < len(r.order); j++ {
		sum += a.meetsOn(r, pick, j, r.ways[r.first[j]+int32(pick[j])])
	}
	a.charge(r, pick, to.weight)
	return sum
}

// steepness is by how many hundredths the bandwidth of random pairs falls when flows meet
// a hundredth more others. It takes these for a Poisson variable of mean m, so that a flow
// gets 1/(1+others), in the mean (1-exp(-m))/m.
func steepness(bandwidth float64) float64 {
	least, most := 1e-9, 1e3
	for range 60 {
		if m := (least + most) / 2; -math.Expm1(-m)/m > bandwidth {
			least = m
		} else {
			most = m
		}
	}
	return 1 - least/math.Expm1(least)
}
