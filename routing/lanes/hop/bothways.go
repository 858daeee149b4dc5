package hop

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// bundle is all paths between two switches, both ways, of which some need a service
// level found: under contract honored packets may ride each of them on the service
// levels of the others.
type bundle struct{ a, b *ways }

// bundlesOf is the paths of three hops or more by bundle.
func bundlesOf(all []*ways, turns int) (*sequences, []bundle) {
	s := &sequences{start: []int32{0}, first: []int32{0}, space: turns}
	var list []bundle
	var hops []int32
	for i, a := range all {
		for _, b := range all[i+1:] {
			hops = s.addLong(b, a.root, hops[:0])
			hops = s.addLong(a, b.root, hops[:0])
			if s.close() {
				list = append(list, bundle{a, b})
			}
		}
	}
	return s, list
}

// addLong adds the different paths of three hops or more from a switch. seen is scratch.
func (s *sequences) addLong(w *ways, from fabric.NodeID, seen []int32) []int32 {
	switches := len(w.first) / len(w.lids)
	for i := range w.lids {
		n := w.first[i*switches+int(from)]
		if n == none || slices.Contains(seen, n) {
			continue
		}
		seen = append(seen, n)
		if next := w.nodes[n].parent; next != none && w.nodes[next].parent != none {
			s.add(w, n)
		}
	}
	return seen
}

// giveBothWays gives every two switches the service level of their paths. Shorter ones
// have one turn or none, and travel on any.
func (p *plan) giveBothWays(l *routing.Lanes, list []bundle) {
	for i, of := range list {
		for range 2 {
			for _, lid := range of.b.lids {
				l.SLRow(lid)[of.a.root] = p.sl[i]
			}
			of.a, of.b = of.b, of.a
		}
	}
}
