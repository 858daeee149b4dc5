// Package updown is adaptive Up*/Down* routing: at every switch a packet may take
// any trunk that begins a shortest way on which no packet goes up after it went
// down, on any lane.
//
// M. D. Schroeder et al.: Autonet: a High-Speed, Self-Configuring Local Area
// Network Using Point-to-Point Links, IEEE JSAC 9(8), 1991; the baseline of O.
// Lysne et al.: Layered Routing in Irregular Networks, IEEE TPDS 17(1), 2006,
// section 8.3: "we let UpDown routing have adaptivity between both paths and
// layers".
//
// Guarantee: deadlock-free on one lane and on any number, under wormhole and
// cut-through switching alike, with free moves between lanes; connected. Paths
// are the shortest legal ones, so bounded; they need not be minimal.
//
// Complexity: O(S·(S + C)) for S switches and C trunks, O(D·C) bits for D
// destinations.
//
// Unlike the path finder of the same name it looks at the trunk that a packet
// came by (Definition 3 of the paper): one that may still go up has every
// shortest legal way open to it, not only those that go down where going down is
// possible. A part of the network has one root.
package updown

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/engine/steps/choices"
	"github.com/weft-fabric/weft/routing"
)

// Engine is adaptive Up*/Down* routing. The zero Engine chooses its root.
type Engine struct {
	Root fabric.GUID // a switch; zero: the one nearest to all others
}

// RouteAdaptive implements adaptive.Engine. It uses every lane of the
// budget, and refuses a root that is no switch.
func (o Engine) RouteAdaptive(ctx context.Context, f *fabric.Fabric, b routing.Budget, p routing.Progress) (*adaptive.Tables, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	up, err := choices.NewUpDown(f, o.Root)
	if err != nil {
		return nil, err
	}
	ends := b.Scope.Ends(f)
	t := adaptive.New(f, choices.OneEach(ends))
	open := up.Choices(t.Addresses())
	for a := range adaptive.Address(t.Addresses()) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		up.Legal(open, a, t.Destination(a))
		p.Report(int(a)+1, t.Addresses())
	}
	all := choices.AllLanes(b)
	for range b.VLs {
		t.Lanes = append(t.Lanes, adaptive.Lane{Choices: open, Next: all, Rely: all})
	}
	choices.AllowAll(t, ends, all)
	t.Needed, t.Notes = 1, []string{up.Note()}
	return t, nil
}
