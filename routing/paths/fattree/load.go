package fattree

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/internal/dag"
	"github.com/weft-fabric/weft/routing/internal/intree"
)

// load is the routes on every trunk so far.
type load struct {
	*intree.Loads
	heads []fabric.NodeID
}

func newLoad(f *fabric.Fabric) *load { return &load{intree.NewLoads(f), f.Heads()} }

// scatter routes a destination without a stem: switch by switch, each takes the
// lightest way, and its own routes are counted before the next one chooses.
func (l *load) scatter(d *dag.DAG, out []fabric.ChannelID) {
	for i := 1; i < len(d.Order); i++ {
		s := d.Order[i]
		out[s] = l.lightest(d, i, out)
		if l.Sources[s] == 0 {
			continue
		}
		for at := s; at != d.Root; at = l.heads[out[at]] {
			l.On[out[at]] += uint64(l.Sources[s])
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
		fullest = max(fullest, l.On[c])
		sum += l.On[c]
		at := l.heads[c]
		if at == root {
			return fullest, sum
		}
		c = out[at]
	}
}
