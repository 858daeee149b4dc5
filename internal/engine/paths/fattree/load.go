package fattree

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
)

// load is the routes on every trunk so far, for trees in which not all switches meet the stem.
type load struct {
	*intree.Loads
	heads []fabric.NodeID
	way   []onWay // [switch] what is on its way to the destination at hand, if that is chosen
}

// onWay is the routes on the fullest trunk of a way, and on all of its trunks.
type onWay struct{ fullest, sum uint64 }

func newLoad(f *fabric.Fabric) *load {
	return &load{Loads: intree.NewLoads(f), heads: f.Heads(), way: make([]onWay, f.Switches())}
}

// scatter routes a destination without a stem, into out, [switch]: switch by switch, each takes the
// lightest way, and its own routes are counted before the next one chooses.
func (l *load) scatter(d *dag.DAG, out []fabric.ChannelID) {
	for i := 1; i < len(d.Order); i++ {
		s := d.Order[i]
		for _, c := range d.Choices(i) {
			l.measure(d.Root, l.heads[c], out)
		}
		out[s] = l.lightest(d, i)
		if l.Sources[s] == 0 {
			continue
		}
		for at := s; at != d.Root; at = l.heads[out[at]] {
			l.On[out[at]] += uint64(l.Sources[s])
		}
	}
}

// lightest is the trunk by which the i-th switch of d begins the way whose fullest
// trunk has the fewest routes, of several that with the fewest in all. The way of every switch that
// its trunks lead to must be in l.way.
func (l *load) lightest(d *dag.DAG, i int) fabric.ChannelID {
	// In variables of their own the slices stay in registers.
	choices, heads, on, way := d.Choices(i), d.Head[d.First[i]:d.First[i+1]], l.On, l.way
	k := int(d.Order[i]) % len(choices)
	best, fullest, least := choices[k], ^uint64(0), uint64(0)
	for range choices {
		w, n := &way[heads[k]], on[choices[k]]
		if most, sum := max(w.fullest, n), w.sum+n; most < fullest || most == fullest && sum < least {
			best, fullest, least = choices[k], most, sum
		}
		if k++; k == len(choices) {
			k = 0
		}
	}
	return best
}

// onWayBy is the routes on the way that begins with c.
func (l *load) onWayBy(c fabric.ChannelID) onWay {
	w := l.way[l.heads[c]]
	return onWay{fullest: max(w.fullest, l.On[c]), sum: w.sum + l.On[c]}
}

// measure sets l.way of a switch by walking its way along out.
func (l *load) measure(root, s fabric.NodeID, out []fabric.ChannelID) {
	var w onWay
	for at := s; at != root; at = l.heads[out[at]] {
		w.fullest, w.sum = max(w.fullest, l.On[out[at]]), w.sum+l.On[out[at]]
	}
	l.way[s] = w
}
