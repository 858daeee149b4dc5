package meter

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/adaptive/judge"
	"github.com/weft-fabric/weft/internal/engine/adaptive/choosing"
	"github.com/weft-fabric/weft/internal/engine/mplash"
	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// ways is what packets go through where there are no tables of an engine, as TPDS 2006,
// section 8, has it: those of sources or switches that choose, or tables of our own making.
type ways struct {
	tables   *routing.Tables
	adaptive *adaptive.Tables
	choice   packets.LaneChoice
}

// simulatedEngine finds how a network forwards with so many lanes; sweep.SimulatedEngines
// says what each is.
func simulatedEngine(name string) (func(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (ways, error), error) {
	switch name {
	case "lash-source":
		return lashSource, nil
	case "updn-source":
		return upDown(updown.SourceRoutes{}), nil
	case "updn-tables":
		return upDownTables, nil
	case "d-mroots-source":
		return upDown(updown.SourceRoutes{Roots: true}), nil
	case "mroots-source":
		return upDown(updown.SourceRoutes{Roots: true, All: true}), nil
	case "mp-lash-source":
		return mpLASH(false, packets.BySource), nil
	case "mp-lash-one-source":
		return mpLASH(true, packets.BySource), nil
	case "mp-lash-credits":
		return mpLASH(false, packets.BySwitches), nil
	}
	e, err := choosing.Named(name)
	return func(ctx context.Context, f *fabric.Fabric, vls int, _ uint64) (ways, error) {
		t, err := e.RouteAdaptive(ctx, f, routing.Budget{VLs: vls, Scope: routing.HCA}, nil)
		return ways{adaptive: t}, err
	}, err
}

// lanesOf is how many lanes an engine of sweep.LanesOf needs on a network. What a-lash needs
// is at least two, with which Escape can do.
func lanesOf(ctx context.Context, f *fabric.Fabric, engine string, seed uint64) (int, error) {
	switch engine {
	case "lash":
		a, err := mplash.Analyse(ctx, f, mplash.Options{One: true, Seed: seed})
		if err != nil {
			return 0, err
		}
		return a.Layers, nil
	case "mp-lash":
		return layersOf(ctx, f, engine)
	case "a-lash":
		needed, err := layersOf(ctx, f, engine)
		return max(2, needed), err
	}
	return 0, fmt.Errorf("meter: lanes-of: %q", engine)
}

// lashSource is one shortest path for each pair, taken at random, layers balanced.
func lashSource(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (ways, error) {
	a, err := mplash.Analyse(ctx, f, mplash.Options{One: true, Seed: seed, Spread: true, AtLeast: vls})
	switch {
	case err != nil:
		return ways{}, err
	case a.Layers > vls:
		return ways{}, &routing.TooFewLanes{Need: a.Layers, Have: vls}
	}
	return ways{adaptive: a.Routing(true)}, nil
}

// upDown is Up*/Down* by source routes, as its papers have it. "The choice of layer was
// made by distributing the source/destination pairs as evenly between the layers as
// possible."
func upDown(o updown.SourceRoutes) func(context.Context, *fabric.Fabric, int, uint64) (ways, error) {
	return func(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (ways, error) {
		o.Seed = seed
		t, err := o.RouteAdaptive(ctx, f, routing.Budget{VLs: vls, Scope: routing.HCA}, nil)
		return ways{adaptive: t}, err
	}
}

// upDownTables is Up*/Down* after a depth-first search as InfiniBand's tables can hold it.
func upDownTables(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (ways, error) {
	finder, err := engines.FinderNamed("updn-dfs")
	if err != nil {
		return ways{}, err
	}
	paths, err := finder.New(engines.Options{Seed: seed}).Paths(ctx, f, nil)
	if err != nil {
		return ways{}, err
	}
	lanes := routing.NewLanes(f, routing.LanePerSL(vls))
	for lid, id := range f.LIDs() {
		row, end := lanes.SLRow(lid), f.Endpoint(id)
		for s := range row {
			row[s] = uint8((s + int(end.Switch)) % vls)
		}
	}
	return ways{tables: &routing.Tables{Fabric: f, Forwarding: paths, Lanes: lanes}}, nil
}

// mpLASH opens every shortest path to its source, on every layer that takes it, or
// on one.
func mpLASH(one bool, choice packets.LaneChoice) func(context.Context, *fabric.Fabric, int, uint64) (ways, error) {
	return func(ctx context.Context, f *fabric.Fabric, vls int, _ uint64) (ways, error) {
		a, err := mplash.Analyse(ctx, f, mplash.Options{Spread: true})
		switch {
		case err != nil:
			return ways{}, err
		case a.Layers > vls:
			return ways{}, &routing.TooFewLanes{Need: a.Layers, Have: vls}
		}
		return ways{adaptive: a.Routing(one), choice: choice}, nil
	}
}

// simulate makes the ways of an engine without tables, and has them judged.
func (t *taking) simulate(ctx context.Context) error {
	e := &t.point.Engine
	route, err := simulatedEngine(e.Name)
	if err != nil {
		return err
	}
	if routing.HCA.Disconnected(t.fabric) > 0 {
		return routing.Refuse(t.fabric, "all hosts are joined by cables", fabric.None, 0, "the network is in %d parts", len(t.fabric.Parts()))
	}
	if t.ways, err = route(ctx, t.fabric, t.lanes, t.point.Seed); err != nil {
		return err
	}
	if t.ways.adaptive == nil {
		contract := routing.Directed
		_, err := weft.Verify(ctx, t.ways.tables, weft.Request{Custom: &engines.Engine{Name: e.Name, Safe: true, Contract: contract}, Contract: &contract})
		return err
	}
	v, err := judge.Verify(ctx, t.ways.adaptive, judge.Options{})
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

// classes gives the routed tables as many classes of traffic as there are lanes for, where
// senders may choose any.
func (t *taking) classes(ctx context.Context) error {
	r := t.result
	n := t.lanes / max(1, r.Verdict.VLs)
	if r.Contract != routing.Any || n < 2 {
		return nil
	}
	tables, err := r.Tables.InClasses(n)
	if err != nil {
		return err
	}
	t.result, err = weft.Verify(ctx, tables, weft.Request{Custom: &r.Engine, Contract: &r.Contract, Scope: r.Scope, NoCycle: true})
	return err
}

// packetNetwork is the network with packets.
func (t *taking) packetNetwork(preset string) (*packets.Network, error) {
	config, err := packets.PresetNamed(preset)
	if err != nil {
		return nil, err
	}
	if t.lanes > 0 {
		config.Lanes = t.lanes
	}
	switch {
	case t.ways.adaptive != nil:
		config.LaneChoice = t.ways.choice
		return packets.NewAdaptive(t.ways.adaptive, config)
	case t.ways.tables != nil:
		return packets.New(t.ways.tables, config)
	}
	return packets.New(t.result.Tables, config)
}

// lanesAtHand is how many lanes an engine gets: zero where it is not told so, and has
// tables to say it.
func (t *taking) lanesAtHand(ctx context.Context) (int, error) {
	e := &t.point.Engine
	switch {
	case e.LanesOf != "":
		return lanesOf(ctx, t.fabric, e.LanesOf, t.point.Seed)
	case !sweep.IsSimulated(e.Name):
		return 0, nil
	case e.VLs > 0:
		return e.VLs, nil
	}
	return routing.DefaultVLs, nil
}
