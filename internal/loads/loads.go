// Package loads groups the loads of channels for those who show them: by tier, which are the trunks between two levels of
// switches, and by lane.
package loads

import (
	"cmp"
	"math"
	"slices"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Bins is the number of bins of loads, from none to the largest.
const Bins = 10

// Tier is the trunks from switches of one level to those of another. The level of a
// switch is its number of hops to the nearest switch with an endpoint in scope: on a
// tree, its height.
type Tier struct {
	From, To int
	Trunks   int
	Least    uint32 // routes over a trunk
	Most     uint32
	Mean     float64
	Loads    [Bins]int // number of trunks by load, as a fraction of the largest load of all tiers
}

// Levels is the level of every switch, -1 for those that are not connected to any endpoint
// in scope.
func Levels(f *fabric.Fabric, scope routing.Scope) []int32 {
	var ends []fabric.NodeID
	for s, end := range scope.Ends(f) {
		if end {
			ends = append(ends, fabric.NodeID(s))
		}
	}
	return f.Hops(ends...)
}

// Trunks groups the trunks by tier, by the levels of switches.
func Trunks(f *fabric.Fabric, level []int32) *congestion.TrunkTiers {
	t := &congestion.TrunkTiers{Of: make([]int32, f.Trunks())}
	levels := func(c int) [2]int {
		ch := f.Channel(fabric.ChannelID(c))
		return [2]int{int(level[ch.From]), int(level[ch.To])}
	}
	for c := range t.Of {
		if x := levels(c); x[0] >= 0 && !slices.Contains(t.Levels, x) {
			t.Levels = append(t.Levels, x)
		}
	}
	slices.SortFunc(t.Levels, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for c := range t.Of {
		t.Of[c] = int32(slices.Index(t.Levels, levels(c)))
	}
	return t
}

// Tiers groups the loads of trunks by tier, from the lowest level up. It leaves out
// trunks of switches that are not connected to any endpoint in scope.
func Tiers(l *congestion.Loads, f *fabric.Fabric, scope routing.Scope) []Tier {
	trunks := Trunks(f, Levels(f, scope))
	tiers := make([]Tier, len(trunks.Levels))
	for i, x := range trunks.Levels {
		tiers[i] = Tier{From: x[0], To: x[1], Least: math.MaxUint32}
	}
	for c, load := range l.Routes {
		if trunks.Of[c] < 0 {
			continue
		}
		t := &tiers[trunks.Of[c]]
		t.Trunks++
		t.Least, t.Most = min(t.Least, load), max(t.Most, load)
		t.Mean += float64(load)
		t.Loads[min(Bins-1, int(load)*Bins/int(max(1, l.Max)))]++
	}
	for i := range tiers {
		tiers[i].Mean /= float64(tiers[i].Trunks)
	}
	return tiers
}

// Lane is the load of a lane when every endpoint in scope sends to every address of
// every other that it may use.
type Lane struct {
	VL     uint8
	Hops   int64  // trunks crossed on this lane, summed over all routes
	Pairs  int64  // routes that cross a trunk on it; a route counts on each of its lanes
	Trunks int    // number of trunks on which it is in use
	Most   uint32 // largest number of routes over one of them
}

// On is the routes of the trunks on a lane, [trunk].
func On(r *congestion.LaneRoutes, vl int) []uint32 { return r.Routes[vl*r.Trunks : (vl+1)*r.Trunks] }

// Lanes is the loads of the lanes in use, by lane.
func Lanes(r *congestion.LaneRoutes) []Lane {
	var lanes []Lane
	for vl := range routing.MaxDataVLs {
		l := Lane{VL: uint8(vl), Pairs: r.Pairs[vl]}
		for _, n := range On(r, vl) {
			if n > 0 {
				l.Hops += int64(n)
				l.Trunks++
				l.Most = max(l.Most, n)
			}
		}
		if l.Trunks > 0 {
			lanes = append(lanes, l)
		}
	}
	return lanes
}
