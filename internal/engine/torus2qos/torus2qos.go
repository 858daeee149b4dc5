// Package torus2qos routes tori, meshes and mixed grids in dimension order on two
// lanes, and keeps every service level it has granted when a switch or cables
// fail.
//
// The idea is that of OpenSM's torus-2QoS (manual page torus-2QoS(8), 2010):
// each ring has a dateline, the step between its last and its first coordinate;
// bit i of the service level says whether the path crosses the dateline of the
// i-th dimension that has one; and a switch takes, for an out-port that points
// along that dimension, bit i as the lane. Three dimensions make eight service
// levels and two lanes, once: the second level of service that OpenSM adds would
// double both.
//
// The coordinates are found in the graph itself, see internal/engine/steps/grid; OpenSM wants
// the sizes and a seed of cables in a file.
//
// # Guarantee
//
// Connected and free of deadlock in every scope, if clients use the service level
// of their PathRecord, and of the way back too under contract honored: then it is the
// same, since points halfway round a ring apart send by the same half. The service level
// of a pair depends on its coordinates only, never on the damage. Minimal on an
// undamaged grid.
//
// Why it is free. Within a whole ring, the paths of one service level stay on
// one lane: those of lane 0 do not use the dateline, and those of lane 1, at most
// half a ring long and all across the dateline, do not get all the way round. A
// ring of three has paths of one hop, and one of four is left open by the way
// ties are broken (grid.Shorter), so neither needs a dateline. Between rings the
// order of dimensions does the rest.
//
// # Failures
//
// A broken ring is a line: packets go the way that is left, on whatever lane,
// and cannot go round in it. A ring may lack one cable; cables that have
// parallels do not count.
//
// One missing switch T takes away the corner of those paths that arrive along
// dimension i at T, to leave it along a later dimension. Such a packet turns
// early, at the neighbour of T: one hop along the first later dimension j in
// which it has yet to move, one along i, and it is past T's corner. This is
// OpenSM's detour, with one difference. OpenSM passes T on either side and needs
// two more lanes for the hop after the turn from j to i. Here all detours along j
// pass T on the same side, and two lanes are enough:
//
// Suppose a cycle of dependencies, and let j be the highest dimension from which
// it turns back to a lower one. It has no hops along higher dimensions, as it
// could not return from them. Every turn back from j ends at the same
// coordinate along j, the one beside T on the chosen side, and is entered by the
// hop from T's coordinate to it. So every visit to dimension j begins at this
// coordinate and ends there after hops in one direction: it goes all the way
// round one ring, on one lane. But no lane has the dependencies all the way round,
// and a detour adds none to a ring: its hop along j follows one along a lower
// dimension. If the cycle never turns back, dimension order forbids it.
//
// # Needs and refusals
//
// Lanes: two; one where no ring has five switches or more. Service levels: 2^r
// with r dimensions of such rings.
//
// It refuses, naming rule and place: what is no grid; more than four dimensions of
// rings of five or more, since a service level has four bits; a line with a
// cable missing or a ring with two (OpenSM: a disjoint ring); more than one
// missing switch in a part of the fabric; and a missing switch whose detour
// lacks a cable on both sides. OpenSM also routes round failed switches that are
// next to each other along the last dimension; this does not.
//
// # The frame
//
// Where the datelines are and which dimension is first is settled by GUIDs, so
// that a failure rarely changes it: the loss of the switch with the lowest GUID, or
// of one or two in line with it, may. No rule over the damaged fabric alone
// can do better than "rarely"; Router.Before does.
//
// Complexity: O(S·d²·log d) to find the coordinates, O(S²·n + D·S) for the
// tables, with S switches of d neighbours, n dimensions and D LIDs.
package torus2qos

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/grid"
	"github.com/weft-fabric/weft/routing"
)

// Engine is torus-2QoS with one level of service.
type Engine struct {
	// Before is the fabric at the time when the service levels that clients hold
	// were granted: coordinates, and with them service levels, are as they were.
	// nil: the fabric itself, with the caveat of the package comment. Switches
	// that it does not have are refused.
	Before *fabric.Fabric
}

// Route implements routing.Engine.
func (o Engine) Route(ctx context.Context, f *fabric.Fabric, b routing.Budget, p routing.Progress) (*routing.Tables, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	earlier, err := o.earlier()
	if err != nil {
		return nil, err
	}
	grids, err := grid.FindAll(f, o.Before, earlier)
	if err != nil {
		return nil, err
	}
	plans := make([]*plan, len(grids))
	need := 1
	for i, g := range grids {
		g.SameWayBack = b.Contract.EitherWay()
		if plans[i], err = newPlan(f, g); err != nil {
			return nil, err
		}
		if len(plans[i].datelines) > 0 {
			need = 2
		}
	}
	if b.VLs < need {
		return nil, &routing.TooFewLanes{Need: need, Have: b.VLs}
	}
	t := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: lanes(f, plans, need)}
	done := 0
	for _, pl := range plans {
		if err := pl.route(ctx, t, func() { done++; p.Report(done, f.Switches()) }); err != nil {
			return nil, err
		}
	}
	note := "dimension order with datelines on a " + grid.Describe(grids)
	for _, pl := range plans {
		if pl.detour != nil {
			note += "; " + pl.detour.String()
		}
	}
	t.Forwarding.Notes = append(t.Forwarding.Notes, note)
	return t, nil
}

// earlier is the grids of Before.
func (o Engine) earlier() ([]*grid.Grid, error) {
	if o.Before == nil {
		return nil, nil
	}
	grids, err := grid.FindAll(o.Before, nil, nil) // by its own cables, not by an earlier fabric
	if err != nil {
		return nil, fmt.Errorf("the earlier fabric: %w", err)
	}
	return grids, nil
}

// lanes is the SL2VL maps, with service levels that plan.route still has to write. With one
// dateline the service level is the lane at every port, as in a layered routing.
func lanes(f *fabric.Fabric, plans []*plan, need int) *routing.Lanes {
	most := 0
	for _, pl := range plans {
		most = max(most, len(pl.datelines))
	}
	if most == 0 {
		l := routing.OneSL(f, routing.UniformSL2VL([routing.SLs]uint8{}))
		l.Needed = need
		return l
	}
	m := routing.LanePerSL(2)
	if most > 1 {
		m = routing.UniformSL2VL([routing.SLs]uint8{}).PerPort(f)
		for _, pl := range plans {
			pl.setLanes(f, m)
		}
	}
	l := routing.NewLanes(f, m)
	l.Needed = need
	return l
}

const (
	ruleBits  = "at most four dimensions have rings of five or more switches, one for each bit of a service level"
	ruleHoles = "at most one switch is missing: the proof that two lanes are enough holds round one"
)

// Explain implements routing.Explainer.
func (o Engine) Explain(f *fabric.Fabric) []routing.Finding {
	earlier, err := o.earlier()
	if err != nil {
		return []routing.Finding{{Rule: "the earlier fabric is a grid", Why: err.Error()}}
	}
	grids, findings := grid.Explain(f, o.Before, earlier)
	for _, rule := range rules {
		if grids == nil {
			break
		}
		finding := routing.Finding{Rule: rule.text, OK: true, Why: rule.yes}
		for _, g := range grids {
			if err := rule.check(f, g); err != nil {
				finding.OK, finding.Why = false, err.Error()
				break
			}
		}
		findings = append(findings, finding)
		if !finding.OK {
			break // what follows takes it for granted
		}
	}
	return findings
}

// rules is what a grid must keep, in the order in which to check it.
var rules = []struct {
	text, yes string
	check     func(f *fabric.Fabric, g *grid.Grid) error
}{
	{text: ruleBits, yes: "service levels have bits for all datelines", check: checkBits},
	{text: ruleHoles, yes: "no more are missing", check: checkHoles},
	{text: grid.RuleJoined, yes: "every line hangs together", check: func(f *fabric.Fabric, g *grid.Grid) error { return g.Joined(f) }},
	{text: ruleDetour, yes: "there are detours round all that is missing", check: func(f *fabric.Fabric, g *grid.Grid) error {
		_, err := newDetour(f, g)
		return err
	}},
}

func checkBits(f *fabric.Fabric, g *grid.Grid) error {
	if n := len(datelines(g)); n > 4 {
		return routing.Refuse(f, ruleBits, fabric.None, 0, "a %s has %d", g, n)
	}
	return nil
}

func checkHoles(f *fabric.Fabric, g *grid.Grid) error {
	if holes := g.Holes(); len(holes) > 1 {
		return routing.Refuse(f, ruleHoles, fabric.None, 0, "in a %s %d are missing, the first at %s and %s",
			g, len(holes), g.PointName(holes[0]), g.PointName(holes[1]))
	}
	return nil
}
