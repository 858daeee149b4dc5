// Package dor is dimension-order routing: a packet travels along the first
// dimension until it is level with its destination, then along the second, and
// so on, on meshes, tori, hypercubes and grids with both kinds of dimension.
//
// W. J. Dally, C. L. Seitz: Deadlock-Free Message Routing in Multiprocessor
// Interconnection Networks, IEEE Trans. Computers C-36(5), 1987 (the e-cube of
// the binary n-cube, and its generalisation to k-ary n-cubes). The coordinates
// are found in the graph itself, see internal/engine/steps/grid: no names, no port numbers,
// no configuration; OpenSM's dor trusts that port numbers follow the dimensions.
//
// Guarantee: connected, and minimal on an undamaged grid. Deadlock-free on one
// lane, whatever service level a client uses, as long as no ring of five or more
// switches is whole: on every mesh and hypercube, and on tori of rings of three
// and four. A larger ring can deadlock on one lane; there the lanes are the
// business of a lane assigner, or of torus-2qos, which adds datelines to this
// order. Forwarding.Notes says which of the two it is.
//
// Halfway round a ring of even size, even coordinates go up and odd ones down.
// Both directions are loaded alike, and rings of four need no second lane.
// Parallel cables are shared out by destination.
//
// Damage. What is missing is recognised as missing. A ring without one of its
// cables is gone round the other way, which can only remove dependencies: a
// broken ring has no cycle. Dimension order has no other second path: a cable
// missing in a line or a second one in a ring, and any missing switch, are
// refused by name. A fabric in parts is routed within its parts, each a grid.
//
// Complexity: O(S·d²·log d) to find the coordinates, O(S²·n + D·S) for the
// tables, with S switches of d neighbours, n dimensions and D LIDs.
package dor

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/grid"
	"github.com/weft-fabric/weft/routing"
)

// Finder is dimension-order routing.
type Finder struct{}

// Paths implements routing.PathFinder. It refuses with *routing.Refusal what is
// no grid, or a grid in which something is missing that dimension order cannot
// do without.
func (Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	grids, err := grid.FindAll(f, nil, nil)
	if err != nil {
		return nil, err
	}
	t := routing.NewForwarding(f)
	done := 0
	for _, g := range grids {
		if err := whole(f, g); err != nil {
			return nil, err
		}
		err := g.Route(ctx, f, t, func(from, to int) grid.Dir { return next(g, from, to) }, func(int, []fabric.LID) {
			done++
			p.Report(done, f.Switches())
		})
		if err != nil {
			return nil, err
		}
	}
	t.Notes = append(t.Notes, "dimension order on a "+grid.Describe(grids)+"; "+lanes(grids))
	return t, nil
}

// next is the direction from a point towards another. There is one in grids that whole does not refuse.
func next(g *grid.Grid, from, to int) grid.Dir {
	if d, c := g.InOrder(from, to); d >= 0 {
		return g.Toward(from, d, c)
	}
	return grid.NoDir
}

const ruleComplete = "every point of the grid has a switch: dimension order turns at each of them"

// whole refuses a grid that lacks a turning point or a line.
func whole(f *fabric.Fabric, g *grid.Grid) error {
	for _, hole := range g.Holes() {
		for r := range grid.Dir(2 * len(g.Dims)) {
			if p := g.Next(hole, r); p >= 0 && g.Switch[p] != fabric.None {
				return routing.Refuse(f, ruleComplete, g.Switch[p], 0, "in a %s its neighbour at %s is missing", g, g.PointName(hole))
			}
		}
	}
	return g.Joined(f)
}

// lanes says, for a note, whether the paths need lanes.
func lanes(grids []*grid.Grid) string {
	for _, g := range grids {
		if d := g.Cyclic(); d >= 0 {
			return fmt.Sprintf("its rings of %d need a second lane to be free of deadlock", g.Dims[d].Size)
		}
	}
	return "free of deadlock on one lane"
}

// Explain implements routing.Explainer.
func (Finder) Explain(f *fabric.Fabric) []routing.Finding {
	grids, findings := grid.Explain(f, nil, nil)
	if grids == nil {
		return findings
	}
	complete := routing.Finding{Rule: ruleComplete + ", and " + grid.RuleJoined, OK: true, Why: "nothing is missing that it needs"}
	for _, g := range grids {
		if err := whole(f, g); err != nil {
			complete.OK, complete.Why = false, err.Error()
			break
		}
	}
	alone := routing.Finding{Rule: "no whole ring has five or more switches, or else a lane assigner follows", OK: true, Why: lanes(grids)}
	return append(findings, complete, alone)
}
