package hop

import (
	"github.com/weft-fabric/weft/internal/engine/steps/forest"
	"github.com/weft-fabric/weft/routing"
)

// bundle is all paths between two switches, both ways, of which some need a service
// level found: under contract honored packets may take each of them on the service
// levels of the others.
type bundle struct{ a, b *forest.End }

// bundlesOf is the paths of three hops or more by bundle.
func bundlesOf(all *forest.Forest) (*sequences, []bundle) {
	s := newSequences(all.Fabric.Turns())
	paths := all.Pairs()
	var list []bundle
	var hops []int32
	for i := range all.Ends {
		for k := i + 1; k < len(all.Ends); k++ {
			a, b := &all.Ends[i], &all.Ends[k]
			hops = paths.Append(hops[:0], a.Switch, b.Switch)
			hops = paths.Append(hops, b.Switch, a.Switch)
			for _, n := range hops {
				if long(all, n) {
					s.add(all, n)
				}
			}
			if s.close() {
				list = append(list, bundle{a, b})
			}
		}
	}
	return s, list
}

// giveBothWays gives every two switches the service level of their paths. Shorter ones
// have one turn or none, and fit into any.
func (p *plan) giveBothWays(l *routing.Lanes, list []bundle) {
	for i, of := range list {
		for range 2 {
			for _, lid := range of.b.LIDs {
				l.SLRow(lid)[of.a.Switch] = p.sl[i]
			}
			of.a, of.b = of.b, of.a
		}
	}
}
