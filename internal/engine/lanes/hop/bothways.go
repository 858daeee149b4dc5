package hop

import (
	"github.com/weft-fabric/weft/internal/engine/steps/forest"
	"github.com/weft-fabric/weft/routing"
)

// bundle is all paths between two switches, both ways, at least one of three hops or more: under
// contract honored packets may take each of them on the service levels of the others.
type bundle struct{ a, b *forest.End }

// bundlesOf is the paths of three hops or more, and the bundles that they are of, in the order of
// the sequences' bundles.
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

// giveBothWays writes into l the service level of every bundle, which its shorter paths, of one turn
// or none, fit into as well.
func (p *plan) giveBothWays(l *routing.Lanes, list []bundle) {
	for i, pair := range list {
		from, to := pair.a, pair.b
		for range 2 {
			for _, lid := range to.LIDs {
				l.SLRow(lid)[from.Switch] = p.sl[i]
			}
			from, to = to, from
		}
	}
}
