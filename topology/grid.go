package topology

import (
	"strings"
)

// grid is what ring, mesh, torus and hypercube have in common, each of which makes one of its
// parameters, to be counted (size) and laid (lay): one switch at each point of a box, cables
// between neighbours along each dimension.
//
// Order: the last coordinate changes fastest. Ports: the hosts, then for each
// dimension, first to last, the port up (to the next larger coordinate) and the port
// down. A dimension of size 2 has one cable and so one port; a dimension of size 1 has
// none. Without wraparound the outer ports at the ends are unused.
type grid struct {
	dims  []int
	hosts int
	wrap  bool                           // the ends of each dimension are joined, unless it has two switches
	name  func(coordinates []int) string // of a switch
}

// portsAlong counts the ports that a switch needs along a dimension of size k.
func portsAlong(k int) int { return min(k-1, 2) }

func (g *grid) size() size {
	ports := g.hosts
	for _, k := range g.dims {
		ports += portsAlong(k)
	}
	n := product(g.dims...)
	return size{switches: n, hosts: product(n, g.hosts), ports: ports}
}

func (g *grid) lay(l *layout) {
	need := g.size()
	at := make([]int, len(g.dims))
	for s := range need.switches {
		digitsOf(s, g.dims, at)
		l.addSwitch(g.name(at), need.ports)
	}
	weight := weights(g.dims)
	for s := range need.switches {
		l.addHosts(s, g.hosts)
		digitsOf(s, g.dims, at)
		up := g.hosts + 1
		for d, k := range g.dims {
			down := up + portsAlong(k) - 1 // up and down are one port where k is 2
			if at[d]+1 < k {
				l.cable(s, up, s+weight[d], down)
			} else if g.wrap && k > 2 {
				l.cable(s, up, s-at[d]*weight[d], down)
			}
			up = down + 1
		}
	}
}

// coordinateName is sw-3-0-1.
func coordinateName(at []int) string { return named("sw", at...) }

// binaryName is sw-0110.
func binaryName(at []int) string {
	var b strings.Builder
	b.WriteString("sw-")
	for _, bit := range at {
		b.WriteByte('0' + byte(bit))
	}
	return b.String()
}
