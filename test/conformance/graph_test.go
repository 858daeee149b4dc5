package conformance

import (
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// acyclic peels off sinks until none is left; what stays then lies on a cycle or
// leads to one.
func acyclic[V comparable](edges map[[2]V]bool) bool {
	out := map[V]int{}
	before := map[V][]V{}
	for e := range edges {
		out[e[0]]++
		out[e[1]] += 0
		before[e[1]] = append(before[e[1]], e[0])
	}
	var sinks []V
	for v, n := range out {
		if n == 0 {
			sinks = append(sinks, v)
		}
	}
	peeled := 0
	for ; len(sinks) > 0; peeled++ {
		v := sinks[len(sinks)-1]
		sinks = sinks[:len(sinks)-1]
		for _, u := range before[v] {
			if out[u]--; out[u] == 0 {
				sinks = append(sinks, u)
			}
		}
	}
	return peeled == len(out)
}

// free reports whether the dependencies have no cycle.
func (r *findings) free() bool {
	edges := map[[2]lane]bool{}
	for e := range r.edges {
		edges[[2]lane{e.from, e.to}] = true
	}
	return acyclic(edges)
}

// shortestCycle is the length of a shortest cycle, by a breadth-first search
// from every vertex; 0 where there is none.
func (r *findings) shortestCycle() int {
	next := map[lane][]lane{}
	for e := range r.edges {
		next[e.from] = append(next[e.from], e.to)
	}
	best := 0
	for root := range next {
		depth := map[lane]int{root: 0}
		queue := []lane{root}
		for i := 0; i < len(queue); i++ {
			for _, u := range next[queue[i]] {
				if u == root && (best == 0 || depth[queue[i]]+1 < best) {
					best = depth[queue[i]] + 1
				}
				if _, seen := depth[u]; !seen {
					depth[u] = depth[queue[i]] + 1
					queue = append(queue, u)
				}
			}
		}
	}
	return best
}

// proven checks a certificate against the dependencies: lanes in use have a
// rank, others have none, and it rises.
func (r *findings) proven(f *fabric.Fabric, c *deadlock.Certificate) bool {
	if c == nil || len(c.Rank) != f.Trunks()*c.Lanes {
		return false
	}
	rank := func(l lane) int32 { return c.Rank[int(l.trunk)*c.Lanes+int(l.vl)] }
	for t := range f.Trunks() {
		for vl := range c.Lanes {
			l := lane{fabric.ChannelID(t), int32(vl)}
			if r.used[l] != (rank(l) != deadlock.Unused) {
				return false
			}
		}
	}
	for e := range r.edges {
		if rank(e.from) >= rank(e.to) {
			return false
		}
	}
	return true
}

// hops is the fewest trunks between any two switches: Floyd and Warshall.
func hops(f *fabric.Fabric) [][]int {
	n := f.Switches()
	d := make([][]int, n)
	for i := range d {
		d[i] = make([]int, n)
		for j := range d[i] {
			if i != j {
				d[i][j] = apart
			}
		}
	}
	net := newNetwork(f)
	for i, c := range f.Channels() {
		if net.isTrunk(fabric.ChannelID(i)) {
			d[c.From][c.To] = 1
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	return d
}

// apart is the distance between parts of a network.
const apart = 1 << 20

// loads is the routes on every trunk when every endpoint in scope sends to every
// LID of every other, with the pairs, their hops and the most hops.
func loads(f *fabric.Fabric, fw *routing.Forwarding, scope routing.Scope) (routes []uint32, pairs, total int64, most int) {
	n := newNetwork(f)
	routes = make([]uint32, f.Trunks())
	for to, dest := range f.Endpoints() {
		for from, src := range f.Endpoints() {
			if from == to || !inScope(scope, src) || !inScope(scope, dest) {
				continue
			}
			for lid := dest.LID; lid < dest.LID+1<<dest.LMC; lid++ {
				way, fate := n.walk(fw, entry(f, src), lid, nil)
				if fate != arrives {
					continue
				}
				pairs++
				total += int64(len(way))
				most = max(most, len(way))
				for _, l := range way {
					routes[l.trunk]++
				}
			}
		}
	}
	return routes, pairs, total, most
}
