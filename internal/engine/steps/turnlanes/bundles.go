package turnlanes

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/forest"
)

// bundle is all paths between two switches, in both directions. Under contract honored
// packets may take each path on the service levels of the others, so that one service
// level must admit all.
type bundle struct{ a, b fabric.NodeID }

// bundles is the bundles with at least one turn.
type bundles struct {
	paths *forest.Pairs
	list  []bundle // by hops, most first

	hops []int32          // scratch of turns: first hops of paths, as of forest.Forest
	each [][]acyclic.Turn // scratch of turns: its result
}

// inBundles groups the paths by bundle, once, in p.bundles.
func (p *Paths) inBundles() *bundles {
	if p.bundles != nil {
		return p.bundles
	}
	b := &bundles{paths: p.Pairs()}
	n := p.Fabric.Switches()
	hops := make([]int, n*n) // [a × switches + b] of the longest path of the bundle
	var all []int32
	for x := range fabric.NodeID(n) {
		for y := range x {
			if !p.Sends[x] || !p.Sends[y] {
				continue
			}
			all = b.paths.Append(all[:0], x, y)
			all = b.paths.Append(all, y, x)
			most := 0
			for _, h := range all {
				most = max(most, p.Hops(h))
			}
			if hops[int(y)*n+int(x)] = most; most > 1 { // one hop has no turn
				b.list = append(b.list, bundle{y, x})
			}
		}
	}
	slices.SortFunc(b.list, func(x, y bundle) int {
		return cmp.Or(cmp.Compare(hops[int(y.a)*n+int(y.b)], hops[int(x.a)*n+int(x.b)]), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	p.bundles = b
	return b
}

// turns is the turns of every path of the n-th bundle that has any, valid until the
// next call.
func (b *bundles) turns(p *Paths, n int32) [][]acyclic.Turn {
	ends := b.list[n]
	b.hops = b.paths.Append(b.hops[:0], ends.b, ends.a)
	b.hops = b.paths.Append(b.hops, ends.a, ends.b)
	slices.Reverse(b.hops)
	b.each = b.each[:0]
	for _, h := range b.hops {
		if p.Next[h] == forest.None {
			continue
		}
		i := len(b.each)
		b.each = slices.Grow(b.each, 1)[:i+1]
		b.each[i] = p.AppendTurns(b.each[i][:0], h)
	}
	return b.each
}
