package congestion_test

import (
	"math"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// twin is what congestion does, in the plainest way: one phase in maps. It shares
// no code with it.
type twin struct {
	tables *routing.Tables
	rate   func(fabric.ChannelID) float64
}

// route is the channels from one endpoint to another, by the first address that
// the source may use and that is reached.
func (w twin) route(from, to fabric.EndpointID) []fabric.ChannelID {
	f := w.tables.Fabric
	src, dst := f.Endpoint(from), f.Endpoint(to)
	for a := range 1 << dst.LMC {
		lid := dst.LID + fabric.LID(a)
		if w.tables.Lanes.SL(from, lid) == routing.NoSL {
			continue
		}
		way, seen := []fabric.ChannelID{}, map[fabric.NodeID]bool{}
		if src.Inject != fabric.None {
			way = append(way, src.Inject)
		}
		for at := src.Switch; at != fabric.None && !seen[at]; {
			if at == dst.Switch {
				out := f.Out(at, w.tables.Forwarding.Port(at, lid))
				if dst.Deliver == fabric.None && w.tables.Forwarding.Port(at, lid) == 0 {
					return way
				}
				if dst.Deliver == fabric.None || out != dst.Deliver {
					break
				}
				return append(way, dst.Deliver)
			}
			seen[at] = true
			c := f.Out(at, w.tables.Forwarding.Port(at, lid))
			if c == fabric.None || f.Node(f.Channel(c).To).Kind != fabric.Switch {
				break
			}
			way = append(way, c)
			at = f.Channel(c).To
		}
	}
	return nil
}

// judged is a flow and what it gets.
type judged struct {
	traffic.Pair
	route      []fabric.ChannelID
	congestion int
	full       float64
	bottleneck float64
	maxmin     float64
}

// phase is the flows of a phase, in order, those without a route too.
func (w twin) phase(p traffic.Placement, pairs []traffic.Pair) (flows []judged, load map[fabric.ChannelID]int) {
	f := w.tables.Fabric
	load = map[fabric.ChannelID]int{}
	for _, pair := range pairs {
		from, to := p[pair.From], p[pair.To]
		if from == to {
			continue
		}
		j := judged{Pair: pair, route: w.route(from, to), full: 1}
		for _, c := range []fabric.ChannelID{f.Endpoint(from).Inject, f.Endpoint(to).Deliver} {
			if c != fabric.None {
				j.full = min(j.full, w.rate(c))
			}
		}
		for _, c := range j.route {
			load[c]++
		}
		flows = append(flows, j)
	}
	for i := range flows {
		j := &flows[i]
		if j.route == nil {
			continue
		}
		j.bottleneck = math.Inf(1)
		for _, c := range j.route {
			j.congestion = max(j.congestion, load[c])
			j.bottleneck = min(j.bottleneck, w.rate(c)/float64(load[c]))
		}
	}
	w.fill(flows)
	return flows, load
}

// fill is progressive filling by the book: raise all flows that still grow until
// some channel is full, and stop the flows on full channels.
func (w twin) fill(flows []judged) {
	growing := map[int]bool{}
	for i := range flows {
		if flows[i].route != nil {
			growing[i] = true
		}
	}
	for len(growing) > 0 {
		used, open := map[fabric.ChannelID]float64{}, map[fabric.ChannelID]int{}
		for i := range flows {
			for _, c := range flows[i].route {
				used[c] += flows[i].maxmin
				if growing[i] {
					open[c]++
				}
			}
		}
		step := math.Inf(1)
		for c, n := range open {
			step = min(step, (w.rate(c)-used[c])/float64(n))
		}
		for i := range flows {
			if !growing[i] {
				continue
			}
			flows[i].maxmin += step
			for _, c := range flows[i].route {
				if used[c]+step*float64(open[c]) >= w.rate(c)-1e-9 {
					delete(growing, i)
				}
			}
		}
	}
}

// bisections is every bisection of n ranks with the same probability: every
// perfect matching, with every choice of who sends, and of an odd number everybody
// in turn left out.
func bisections(n int) [][]traffic.Pair {
	var all [][]traffic.Pair
	var match func(left []int32, drawn []traffic.Pair)
	match = func(left []int32, drawn []traffic.Pair) {
		if len(left) == 0 {
			all = append(all, append([]traffic.Pair(nil), drawn...))
			return
		}
		for i := 1; i < len(left); i++ {
			rest := append(append([]int32(nil), left[1:i]...), left[i+1:]...)
			match(rest, append(drawn, traffic.Pair{From: left[0], To: left[i]}))
			match(rest, append(drawn, traffic.Pair{From: left[i], To: left[0]}))
		}
	}
	for idle := range n {
		var left []int32
		for i := range n {
			if n%2 == 0 || i != idle {
				left = append(left, int32(i))
			}
		}
		match(left, nil)
		if n%2 == 0 {
			break
		}
	}
	return all
}
