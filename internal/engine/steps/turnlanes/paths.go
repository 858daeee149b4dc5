package turnlanes

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/forest"
	"github.com/weft-fabric/weft/routing"
)

// Paths is the paths that need lanes. A service level that admits a path admits all its
// suffixes, so only paths that are no suffix of another are placed.
//
// Under contract honored that is true for a single service level only. With several,
// all paths between two switches, in both directions, share one: they are a bundle.
type Paths struct {
	Change Change // when packets may change lanes

	*forest.Forest
	maximal []int32  // first hops of the paths that are no suffix of another and have a turn; most hops first
	both    bool     // bundles have to be placed
	bundles *bundles // nil until needed
}

// Gather collects the paths between the endpoints in scope. It refuses as package
// forest does.
func Gather(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, report routing.Progress) (*Paths, error) {
	grown, err := forest.Of(f, fw, b.Scope).Grow(ctx, report)
	if err != nil {
		return nil, err
	}
	p := &Paths{Forest: grown, both: b.Contract.EitherWay()}
	var byHops [][]int32
	for _, n := range p.Leaves {
		hops := p.Hops(n)
		for len(byHops) <= hops {
			byHops = append(byHops, nil)
		}
		byHops[hops] = append(byHops[hops], n)
	}
	for h := len(byHops) - 1; h > 1; h-- { // one hop has no turn
		p.maximal = append(p.maximal, byHops[h]...)
	}
	return p, nil
}

// Len counts the paths that are no suffix of another and have a turn.
func (p *Paths) Len() int { return len(p.maximal) }
