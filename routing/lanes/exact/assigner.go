package exact

import (
	"context"
	"errors"

	"github.com/weft-fabric/weft/fabric"
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
	ruleEnds    = "no packet circles"
)

// Lanes implements routing.LaneAssigner.
func (a Assigner) Lanes(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	n, err := read(f, fw, b)
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
	for i, pair := range n.pairs {
		l.SLRow(pair.lid)[pair.from] = uint8(r.Layer[n.path[i]])
	}
	p.Report(1, 1)
	return l, nil
}

// Bounds is between which numbers the fewest layers of a forwarding are, for the scope
// and contract of a budget. Zero effort is DefaultEffort. The error is *TooLarge, *routing.Refusal for paths
// that circle, or the context's.
func Bounds(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, effort int) (lower, upper int, err error) {
	n, err := read(f, fw, b)
	if err != nil {
		return 0, 0, err
	}
	r, err := Solve(ctx, n.Instance, effort)
	if err != nil {
		return 0, 0, err
	}
	return r.Lower, r.Upper, nil
}

// network is the instance of a forwarding: its vertices are trunks.
type network struct {
	Instance
	pairs []pair
	path  []int32 // [pair] its path
}

// pair is a source switch and a destination LID that are joined by a path of two
// hops or more.
type pair struct {
	from fabric.NodeID
	lid  fabric.LID
}

// read makes the instance of the paths between endpoints in scope, equal paths
// once. Under contract honored those between two switches, both ways, are a bundle.
func read(f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget) (*network, error) {
	n := &network{Instance: Instance{Vertices: f.Trunks()}}
	sends := b.Scope.Ends(f)
	known := map[string]int32{}
	bundles := map[[2]fabric.NodeID]int32{}
	var key []byte
	for lid, e := range f.LIDs() {
		ep := f.Endpoint(e)
		if ep.Switch == fabric.None || !b.Scope.Includes(ep.Class) {
			continue
		}
		for s := range fabric.NodeID(f.Switches()) {
			if !sends[s] {
				continue
			}
			path, ends := walk(f, fw.Row(lid), s)
			if !ends {
				return nil, routing.Refuse(f, ruleEnds, s, 0, "its packets to LID %d circle for ever", lid)
			}
			if len(path) < 2 {
				continue
			}
			key = key[:0]
			for _, c := range path {
				key = append(key, byte(c), byte(c>>8), byte(c>>16), byte(c>>24))
			}
			at, seen := known[string(key)]
			if !seen {
				at = int32(len(n.Paths))
				known[string(key)] = at
				n.Paths = append(n.Paths, path)
				if b.Contract.EitherWay() {
					n.Bundle = append(n.Bundle, bundleOf(bundles, s, ep.Switch))
				}
			}
			n.pairs, n.path = append(n.pairs, pair{s, lid}), append(n.path, at)
		}
	}
	return n, nil
}

// bundleOf is the number of the bundle between two switches.
func bundleOf(known map[[2]fabric.NodeID]int32, a, b fabric.NodeID) int32 {
	key := [2]fabric.NodeID{min(a, b), max(a, b)}
	at, seen := known[key]
	if !seen {
		at = int32(len(known))
		known[key] = at
	}
	return at
}

// walk is the trunks of a path, up to where it is delivered or lost.
func walk(f *fabric.Fabric, row []uint8, s fabric.NodeID) (path []int32, ends bool) {
	for len(path) <= f.Switches() {
		c := f.Out(s, row[s])
		if c == fabric.None || int(c) >= f.Trunks() {
			return path, true
		}
		path = append(path, int32(c))
		s = f.Heads()[c]
	}
	return nil, false
}
