package meter

import (
	"context"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive/judge"
	"github.com/weft-fabric/weft/internal/engine/adaptive/choosing"
	"github.com/weft-fabric/weft/internal/engine/mplash"
	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// simulatedEngine finds the function that makes the ways of an engine without tables, for so many
// lanes; sweep.SimulatedEngines says what each engine is.
func simulatedEngine(name string) (func(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (measures.Ways, error), error) {
	switch name {
	case "lash-source":
		return lashSource, nil
	case "updn-source":
		return upDown(updown.SourceRoutes{}), nil
	case "updn-tables":
		return upDownTables, nil
	case "d-mroots-source":
		return upDown(updown.SourceRoutes{Roots: true}), nil
	case "d-mroots-dfs-source":
		return upDown(updown.SourceRoutes{Roots: true, DepthFirst: true}), nil
	case "mroots-dfs-source":
		return upDown(updown.SourceRoutes{Roots: true, DepthFirst: true, All: true}), nil
	case "mroots-source":
		return upDown(updown.SourceRoutes{Roots: true, All: true}), nil
	case "mp-lash-source":
		return mpLASH(false, packets.BySource), nil
	case "mp-lash-one-source":
		return mpLASH(true, packets.BySource), nil
	case "mp-lash-credits":
		return mpLASH(false, packets.BySwitches), nil
	}
	name, byCredits := strings.CutSuffix(name, "-credits")
	e, err := choosing.Named(name)
	return func(ctx context.Context, f *fabric.Fabric, vls int, _ uint64) (measures.Ways, error) {
		t, err := e.RouteAdaptive(ctx, f, routing.Budget{VLs: vls, Scope: routing.HCA}, nil)
		if err == nil {
			t.FirstSwitch = byCredits
		}
		return measures.Ways{Adaptive: t}, err
	}, err
}

// lanesOf is how many lanes an engine of sweep.LanesOf needs on a network. Of a-lash it is two at
// least, since engine escape, which is compared with it, needs two.
func lanesOf(ctx context.Context, f *fabric.Fabric, engine string, seed uint64) (int, error) {
	switch engine {
	case "lash":
		a, err := mplash.Analyse(ctx, f, mplash.Options{One: true, Seed: seed})
		if err != nil {
			return 0, err
		}
		return a.Layers, nil
	case "mp-lash":
		return measures.LayersOf(ctx, f, engine)
	case "a-lash":
		needed, err := measures.LayersOf(ctx, f, engine)
		return max(2, needed), err
	}
	return 0, fmt.Errorf("lanes-of: %q", engine)
}

// lashSource is one shortest path for each pair, taken at random, layers balanced.
func lashSource(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (measures.Ways, error) {
	a, err := mplash.Analyse(ctx, f, mplash.Options{One: true, Seed: seed, Spread: true, AtLeast: vls})
	switch {
	case err != nil:
		return measures.Ways{}, err
	case a.Layers > vls:
		return measures.Ways{}, &routing.TooFewLanes{Need: a.Layers, Have: vls}
	}
	return measures.Ways{Adaptive: a.Routing(true)}, nil
}

// upDown is Up*/Down* by source routes, as its papers have it. "The choice of layer was
// made by distributing the source/destination pairs as evenly between the layers as
// possible."
func upDown(o updown.SourceRoutes) func(context.Context, *fabric.Fabric, int, uint64) (measures.Ways, error) {
	return func(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (measures.Ways, error) {
		o.Seed = seed
		t, err := o.RouteAdaptive(ctx, f, routing.Budget{VLs: vls, Scope: routing.HCA}, nil)
		return measures.Ways{Adaptive: t}, err
	}
}

// upDownTables is Up*/Down* after a depth-first search as InfiniBand's tables can hold it.
func upDownTables(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (measures.Ways, error) {
	finder, err := engines.FinderNamed("updn-dfs")
	if err != nil {
		return measures.Ways{}, err
	}
	paths, err := finder.New(engines.Options{Seed: seed}).Paths(ctx, f, nil)
	if err != nil {
		return measures.Ways{}, err
	}
	lanes := routing.NewLanes(f, routing.LanePerSL(vls))
	for lid, id := range f.LIDs() {
		row, end := lanes.SLRow(lid), f.Endpoint(id)
		for s := range row {
			row[s] = uint8((s + int(end.Switch)) % vls)
		}
	}
	return measures.Ways{Tables: &routing.Tables{Fabric: f, Forwarding: paths, Lanes: lanes}}, nil
}

// mpLASH opens every shortest path to its source, on every layer that takes it, or
// on one.
func mpLASH(one bool, choice packets.LaneChoice) func(context.Context, *fabric.Fabric, int, uint64) (measures.Ways, error) {
	return func(ctx context.Context, f *fabric.Fabric, vls int, _ uint64) (measures.Ways, error) {
		a, err := mplash.Analyse(ctx, f, mplash.Options{Spread: true})
		switch {
		case err != nil:
			return measures.Ways{}, err
		case a.Layers > vls:
			return measures.Ways{}, &routing.TooFewLanes{Need: a.Layers, Have: vls}
		}
		return measures.Ways{Adaptive: a.Routing(one), Choice: choice}, nil
	}
}

// simulate makes the ways of an engine without tables (t.of.Ways), and has them judged.
func (t *taking) simulate(ctx context.Context) error {
	e := &t.point.Engine
	route, err := simulatedEngine(e.Name)
	if err != nil {
		return err
	}
	if routing.HCA.Disconnected(t.of.Fabric) > 0 {
		return routing.Refuse(t.of.Fabric, "all hosts are joined by cables", fabric.None, 0, "the network is in %d parts", len(t.of.Fabric.Parts()))
	}
	if t.of.Ways, err = route(ctx, t.of.Fabric, t.of.Lanes, t.point.Seed); err != nil {
		return err
	}
	if t.of.Ways.Adaptive == nil {
		contract := routing.Directed
		_, err := weft.Verify(ctx, t.of.Ways.Tables, weft.Request{Custom: &engines.Engine{Name: e.Name, Safe: true, Contract: contract}, Contract: &contract})
		return err
	}
	v, err := judge.Verify(ctx, t.of.Ways.Adaptive, judge.Options{})
	if err == nil && !(v.Free() && v.Complete()) {
		err = &defect{e.Name}
	}
	return err
}

// defect is an engine without tables that did not do what it says.
type defect struct{ engine string }

func (d *defect) Error() string {
	return fmt.Sprintf("%s: the judge finds a credit loop, or pairs without a way", d.engine)
}

// classes puts in place of the routed tables (t.of.Result) some with as many classes of traffic as
// there are lanes for, where senders may choose any service level.
func (t *taking) classes(ctx context.Context) error {
	r := t.of.Result
	n := t.of.Lanes / max(1, r.Verdict.VLs)
	if r.Contract != routing.Any || n < 2 {
		return nil
	}
	tables, err := r.Tables.InClasses(n)
	if err != nil {
		return err
	}
	t.of.Result, err = weft.Verify(ctx, tables, weft.Request{Custom: &r.Engine, Contract: &r.Contract, Scope: r.Scope, NoCycle: true})
	return err
}

// lanesAtHand is how many lanes an engine gets; zero for an engine with tables that is told nothing
// of another's lanes, and gets what Engine.VLs says.
func (t *taking) lanesAtHand(ctx context.Context) (int, error) {
	e := &t.point.Engine
	switch {
	case e.LanesOf != "":
		return lanesOf(ctx, t.of.Fabric, e.LanesOf, t.point.Seed)
	case !sweep.IsSimulated(e.Name):
		return 0, nil
	case e.VLs > 0:
		return e.VLs, nil
	}
	return routing.DefaultVLs, nil
}
