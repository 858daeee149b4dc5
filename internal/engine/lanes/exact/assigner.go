package exact

import (
	"context"
	"errors"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/forest"
	"github.com/weft-fabric/weft/routing"
)

// Assigner gives paths the fewest layers there are. Guarantee: free of deadlock
// under contract honored, or directed if that was asked for, and no assigner that keeps
// paths whole, and under honored gives both ways between two switches one lane, needs
// fewer lanes. It refuses networks too large, and those where Effort does not settle
// the question, with *routing.Refusal; and with *routing.TooFewLanes.
type Assigner struct {
	Effort int // steps after which it gives up; zero: DefaultEffort
}

// The rules, for refusals.
const (
	ruleSize    = "the paths that lie on cycles are few enough to be searched"
	ruleSettled = "the fewest layers are found within the effort"
)

// Lanes implements routing.LaneAssigner.
func (a Assigner) Lanes(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	n, err := read(ctx, f, fw, b)
	if err != nil {
		return nil, err
	}
	r, err := Solve(ctx, n.Instance, a.Effort)
	if large := (*TooLarge)(nil); errors.As(err, &large) {
		return nil, routing.Refuse(f, ruleSize, fabric.None, 0, "%d paths lie on cycles; %d can be searched", large.Paths, MaxPaths)
	}
	switch {
	case err != nil:
		return nil, err
	case r.Lower > b.VLs:
		return nil, &routing.TooFewLanes{Need: r.Lower, AtLeast: !r.Optimal(), Have: b.VLs}
	case !r.Optimal():
		return nil, routing.Refuse(f, ruleSettled, fabric.None, 0, "the fewest are %d to %d; the search was given up after %d steps", r.Lower, r.Upper, r.Steps)
	}
	l := routing.NewLanes(f, routing.LanePerSL(b.VLs))
	l.Needed = r.Upper
	err = n.forest.EachLID(ctx, func(t *forest.InTree, hop []int32) {
		row := l.SLRow(t.LID)
		for _, s := range t.Order {
			path := n.path[hop[s]]
			if path == forest.None {
				path = n.besides(s, t.End.Switch)
			}
			if path != forest.None {
				row[s] = uint8(r.Layer[path])
			}
		}
	})
	p.Report(1, 1)
	return l, err
}

// Bounds is between which numbers the fewest layers of a forwarding are, for the scope
// and contract of a budget. Zero effort is DefaultEffort. The error is *TooLarge, *routing.Refusal for paths
// that do not arrive, or the context's.
func Bounds(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, effort int) (lower, upper int, err error) {
	n, err := read(ctx, f, fw, b)
	if err != nil {
		return 0, 0, err
	}
	r, err := Solve(ctx, n.Instance, effort)
	if err != nil {
		return 0, 0, err
	}
	return r.Lower, r.Upper, nil
}

// network is the instance of a forwarding: its vertices are trunks, its paths those of
// two hops or more that source switches take.
type network struct {
	Instance
	forest *forest.Forest
	path   []int32 // [hop of the forest] the path that begins with it; forest.None: it has one hop only, or begins where none sends

	bundles map[[2]fabric.NodeID]int32 // by the two switches, the lower first
	first   []int32                    // [bundle] one of its paths
}

// besides is a path that needs the same layer as one of a single hop between two switches,
// which would do in any: the others of their bundle, detours to other addresses, may be
// taken on its service level. forest.None: there is none.
func (n *network) besides(a, b fabric.NodeID) int32 {
	if at, has := n.bundles[[2]fabric.NodeID{min(a, b), max(a, b)}]; has {
		return n.first[at]
	}
	return forest.None
}

// read makes the instance of the paths between endpoints in scope. Under contract
// honored those between two switches, both ways, are a bundle.
func read(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget) (*network, error) {
	grown, err := forest.Of(f, fw, b.Scope).Grow(ctx, nil)
	if err != nil {
		return nil, err
	}
	n := &network{Instance: Instance{Vertices: f.Trunks()}, forest: grown, path: make([]int32, len(grown.Trunk))}
	n.bundles = map[[2]fabric.NodeID]int32{}
	for end := range grown.Ends {
		to := grown.Ends[end].Switch
		for hop, last := grown.Range(end); hop < last; hop++ {
			n.path[hop] = forest.None
			from := f.Channel(grown.Trunk[hop]).From
			if !grown.Sends[from] || grown.Next[hop] == forest.None {
				continue
			}
			n.path[hop] = int32(len(n.Paths))
			var path []int32
			for h := hop; h != forest.None; h = grown.Next[h] {
				path = append(path, int32(grown.Trunk[h]))
			}
			n.Paths = append(n.Paths, path)
			if b.Contract.EitherWay() {
				n.Bundle = append(n.Bundle, n.bundleOf(from, to))
			}
		}
	}
	return n, nil
}

// bundleOf is the number of the bundle between two switches, of which a path was added last.
func (n *network) bundleOf(a, b fabric.NodeID) int32 {
	key := [2]fabric.NodeID{min(a, b), max(a, b)}
	at, seen := n.bundles[key]
	if !seen {
		at = int32(len(n.bundles))
		n.bundles[key] = at
		n.first = append(n.first, int32(len(n.Paths))-1)
	}
	return at
}
