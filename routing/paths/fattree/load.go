package fattree

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// load is the routes on every trunk so far.
type load struct {
	heads   []fabric.NodeID
	on      []uint64 // [trunk] routes
	sources []uint64 // [switch] adapter and router ports on it
	through []uint64 // [switch] scratch: sources in its subtree
}

func newLoad(f *fabric.Fabric) *load {
	n := f.Switches()
	l := &load{heads: f.Heads(), on: make([]uint64, f.Trunks()), sources: make([]uint64, n), through: make([]uint64, n)}
	for s := range l.sources {
		l.sources[s] = uint64(len(f.Attached(fabric.NodeID(s))) - 1) // less its own port 0
	}
	return l
}

// add counts the routes to a destination along out.
func (l *load) add(d *dag.DAG, out []fabric.ChannelID) {
	for _, s := range d.Order {
		l.through[s] = l.sources[s]
	}
	for i := len(d.Order) - 1; i > 0; i-- { // each after all that forward to it
		s := d.Order[i]
		l.on[out[s]] += l.through[s]
		l.through[l.heads[out[s]]] += l.through[s]
	}
}

// scatter routes a destination without a stem: switch by switch, each takes the
// lightest way, and its own routes are counted before the next one chooses.
func (l *load) scatter(d *dag.DAG, out []fabric.ChannelID) {
	for i := 1; i < len(d.Order); i++ {
		s := d.Order[i]
		out[s] = l.lightest(d, i, out)
		if l.sources[s] == 0 {
			continue
		}
		for at := s; at != d.Root; at = l.heads[out[at]] {
			l.on[out[at]] += l.sources[s]
		}
	}
}

// lightest is the trunk by which the i-th switch of d begins the way whose fullest
// trunk has the fewest routes, of several that with the fewest in all. Those
// nearer to the destination have their trunks in out.
func (l *load) lightest(d *dag.DAG, i int, out []fabric.ChannelID) fabric.ChannelID {
	choices := d.Choices(i)
	start := int(d.Order[i]) % len(choices)
	best, fullest, sum := choices[start], ^uint64(0), uint64(0)
	for j := range choices {
		c := choices[(start+j)%len(choices)]
		if m, t := l.along(c, d.Root, out); m < fullest || m == fullest && t < sum {
			best, fullest, sum = c, m, t
		}
	}
	return best
}

// along is the routes on the fullest trunk and on all trunks of the way that
// begins with c.
func (l *load) along(c fabric.ChannelID, root fabric.NodeID, out []fabric.ChannelID) (fullest, sum uint64) {
	for {
		fullest = max(fullest, l.on[c])
		sum += l.on[c]
		at := l.heads[c]
		if at == root {
			return fullest, sum
		}
		c = out[at]
	}
}
