// Package escape is minimal adaptive routing with an Up*/Down* escape lane.
//
// F. Silla, J. Duato: High-Performance Routing in Networks of Workstations with
// Irregular Topology, IEEE Trans. Parallel and Distributed Systems 11(7), 2000;
// the baseline "Escape" of O. Lysne et al.: Layered Routing in Irregular
// Networks, IEEE TPDS 17(1), 2006, section 8.3: "we let all layers but one be
// open for fully adaptive routing. The last layer was used as an escape layer
// that was routed according to UpDown."
//
// On all lanes except the last, a packet may take any trunk of any shortest path. At
// any switch, the first included, it may instead take the last lane, and there
// any trunk that begins a shortest Up*/Down* path from that switch; from then on
// it stays on that lane and keeps to Up*/Down*.
//
// Guarantee: deadlock-free by J. Duato's theory with the last lane for routing
// subfunction (Theorem 4 of Lysne et al.), under cut-through switching and, since
// nobody comes back from the last lane, under wormhole switching as well;
// connected, and bounded: at most the diameter, and then the longest Up*/Down*
// path. Coming back would be free of deadlock under cut-through switching too
// (set Next of the last lane), but a packet could then circle for ever.
//
// Lanes: two or more. Complexity: O(S·(S + C)) for S switches and C trunks, O(D·C)
// bits for D destinations.
package escape

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/engine/steps/choices"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/routing"
)

// Engine is minimal adaptive routing with an escape lane. The zero Engine chooses
// the root of Up*/Down*.
type Engine struct {
	Root fabric.GUID // a switch; zero: the one nearest to all others
}

// RouteAdaptive implements adaptive.Engine. It uses every lane of the
// budget, and refuses one lane and a root that is no switch.
func (o Engine) RouteAdaptive(ctx context.Context, f *fabric.Fabric, b routing.Budget, p routing.Progress) (*adaptive.Tables, error) {
	const need = 2
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	if b.VLs < need {
		return nil, &routing.TooFewLanes{Need: need, Have: b.VLs}
	}
	up, err := choices.NewUpDown(f, o.Root)
	if err != nil {
		return nil, err
	}
	ends := b.Scope.Ends(f)
	t := adaptive.New(f, choices.OneEach(ends))
	const phases = 1 // a packet may do the same whatever trunk it came by
	minimal := adaptive.NewChoices(f, t.Addresses(), phases, make([]uint8, f.Trunks()))
	legal := up.Choices(t.Addresses())
	var d dag.DAG
	for a := range adaptive.Address(t.Addresses()) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		dag.Shortest(&d, f, t.Destination(a))
		choices.Add(minimal.Fresh(a, 0), &d)
		up.Legal(legal, a, t.Destination(a))
		p.Report(int(a)+1, t.Addresses())
	}
	all, last := choices.AllLanes(b), uint16(1)<<(b.VLs-1)
	for range b.VLs - 1 {
		t.Lanes = append(t.Lanes, adaptive.Lane{Choices: minimal, Next: all, Rely: last})
	}
	t.Lanes = append(t.Lanes, adaptive.Lane{Choices: legal, Next: last, Rely: last})
	choices.AllowAll(t, ends, all)
	t.Needed, t.Notes = need, []string{"escape " + up.Note()}
	return t, nil
}
