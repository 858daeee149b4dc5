package cure

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/hops"
)

// order is an order of links: a turn that does not lead to a higher rank raises the priority.
type order struct {
	name string
	rank []int32 // [LinkID]
}

// orders is the orders that Compute tries: up before down, and where no more than maxGreedy turns are in use, one that
// admits these one by one, the most used first.
func (t *turns) orders() []order {
	list := []order{t.upBeforeDown()}
	var used []int32
	for turn, weight := range t.weight {
		if weight > 0 {
			used = append(used, int32(turn))
		}
	}
	if len(used) <= maxGreedy {
		slices.SortStableFunc(used, func(a, b int32) int { return cmp.Compare(t.weight[b], t.weight[a]) })
		list = append(list, t.greedy(used))
	}
	return list
}

// upBeforeDown ranks links that lead up, lowest first, before those that lead down, highest
// first. Of two devices at one level the one with the higher number is above.
func (t *turns) upBeforeDown() order {
	n := t.n
	var hosts []ethernet.DeviceID
	for _, s := range n.Senders(ethernet.HostScope) {
		hosts = append(hosts, s.At...)
	}
	level := hops.From(n.Cabling, hosts, nil)
	devices := int32(len(n.Names))
	height := func(d ethernet.DeviceID) int32 { return level[d]*devices + int32(d) + devices }
	top := height(0)
	for d := range n.Names {
		top = max(top, height(ethernet.DeviceID(d)))
	}
	o := order{name: "up before down", rank: make([]int32, len(n.Links))}
	for l, link := range n.Links {
		from, to := height(link.From), height(link.To)
		o.rank[l] = from
		if from > to {
			o.rank[l] = 2*top - from + 1
		}
	}
	return o
}

// greedy admits turns in the order of a list as long as they close no circle. The ranks are kept as in D.
// Pearce and P. Kelly, A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs,
// ACM Journal of Experimental Algorithmics 11 (2007): where a turn does not rise, only links
// between its ends change their places.
func (t *turns) greedy(list []int32) order {
	g := &sorter{
		rank: make([]int32, len(t.n.Links)), seen: make([]bool, len(t.n.Links)),
		next: make([][]ethernet.LinkID, len(t.n.Links)), prev: make([][]ethernet.LinkID, len(t.n.Links)),
	}
	for l := range g.rank {
		g.rank[l] = int32(l)
	}
	for _, turn := range list {
		in, out := t.ends(turn)
		if g.admit(in, out) {
			g.next[in] = append(g.next[in], out)
			g.prev[out] = append(g.prev[out], in)
		}
	}
	return order{name: "most used turns first", rank: g.rank}
}

// sorter keeps ranks of links that rise along all turns admitted so far.
type sorter struct {
	rank       []int32             // [LinkID]
	next, prev [][]ethernet.LinkID // [LinkID] links that admitted turns lead to, and come from
	seen       []bool              // [LinkID] of search
}

// admit changes ranks so that in is below out. It says false, and changes none, if the turn would close a circle.
func (g *sorter) admit(in, out ethernet.LinkID) bool {
	if g.rank[in] < g.rank[out] {
		return true
	}
	ahead := g.search(out, g.next, func(l ethernet.LinkID) bool { return g.rank[l] <= g.rank[in] })
	if slices.Contains(ahead, in) {
		return false
	}
	behind := g.search(in, g.prev, func(l ethernet.LinkID) bool { return g.rank[l] >= g.rank[out] })
	byRank := func(a, b ethernet.LinkID) int { return cmp.Compare(g.rank[a], g.rank[b]) }
	slices.SortFunc(ahead, byRank)
	slices.SortFunc(behind, byRank)
	links := slices.Concat(behind, ahead)
	places := make([]int32, len(links))
	for i, l := range links {
		places[i] = g.rank[l]
	}
	slices.Sort(places)
	for i, l := range links {
		g.rank[l] = places[i]
	}
	return true
}

// search is the links that can be reached from one, itself included, among those that are within.
func (g *sorter) search(from ethernet.LinkID, next [][]ethernet.LinkID, within func(ethernet.LinkID) bool) []ethernet.LinkID {
	found := []ethernet.LinkID{from}
	g.seen[from] = true
	for i := 0; i < len(found); i++ {
		for _, l := range next[found[i]] {
			if !g.seen[l] && within(l) {
				g.seen[l] = true
				found = append(found, l)
			}
		}
	}
	for _, l := range found {
		g.seen[l] = false
	}
	return found
}
