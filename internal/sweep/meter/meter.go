// Package meter measures points of a campaign, one at a time: it makes the network, has it
// routed and judged once, and takes every measure of the result.
//
// What an engine answers is a result, refusals included. So is a panic, and an engine that
// broke its promise: the rows say what happened, and the next point is taken.
//
// Values are a function of the point, except times and memory. Processor time and memory
// are those of the process, so a process that measures points does nothing else.
package meter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/internal/sweep/pool"
	"github.com/weft-fabric/weft/internal/sweep/results"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
)

// Meter measures points.
type Meter struct {
	Open             func(file string) (*fabric.Fabric, error) // reads a network in a file
	Version, Machine string                                    // for the rows

	last    string // the spec or file of the network made last
	network *fabric.Fabric
}

// Take measures a point: a row for every measure. The error is the context's, if that
// ends.
func (m *Meter) Take(ctx context.Context, p *sweep.Point) ([]results.Row, error) {
	t := m.taking(p)
	forgetPeak()
	t.take(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	peak := peakMemory()
	for i := range t.rows {
		t.rows[i].Memory = peak
	}
	return t.rows, nil
}

// Lost is the rows of a point whose process came to an end while it took it.
func (m *Meter) Lost(p *sweep.Point, why string) []results.Row {
	t := m.taking(p)
	t.fail(0, results.Broken, why)
	return t.rows
}

// blank is the rows of a point before anything is known.
func (m *Meter) blank(p *sweep.Point) []results.Row {
	rows := make([]results.Row, len(p.Measures))
	for i := range rows {
		of := &p.Measures[i]
		unit := ""
		if k, err := measures.Named(of.Name); err == nil {
			unit = k.Unit
		}
		rows[i] = results.Row{
			Point: p.ID, Network: p.Network.String(), Digest: p.Network.Digest, Parameters: p.Network.Parameters(), Ports: p.Network.Ports, Seed: p.Seed,
			Engine: p.Engine.Name, Options: p.Engine.Options(), Measure: of.Name, Settings: of.Text(), Unit: unit, Status: results.OK,
			Version: m.Version, Machine: m.Machine,
		}
	}
	return rows
}

// taking is a point while it is measured.
type taking struct {
	meter *Meter
	point *sweep.Point
	rows  []results.Row  // [measure of the point]
	next  int            // the row at hand; those before it are finished
	clock stopwatch      // of the run that is judged
	of    measures.Input // what the measures are taken of; route fills it in
}

// taking begins with a point: its rows as they are before it is routed.
func (m *Meter) taking(p *sweep.Point) *taking {
	t := &taking{meter: m, point: p, rows: m.blank(p)}
	t.of = measures.Input{Seed: p.Seed, Again: t.again, Route: t.anew, Processors: pool.ProcessorTime, Peak: peakMemory}
	return t
}

// take routes the point and takes its measures. What goes wrong is in the rows.
func (t *taking) take(ctx context.Context) {
	defer func() {
		if broken := recover(); broken != nil {
			t.fail(t.next, results.Broken, fmt.Sprintf("panic: %v\n%s", broken, debug.Stack()))
		}
	}()
	start := pool.ProcessorTime()
	err := t.route(ctx)
	spent := pool.ProcessorTime() - start
	for i := range t.rows {
		t.rows[i].RoutingSeconds = spent.Seconds()
	}
	if err != nil {
		t.fail(0, statusOf(err), err.Error())
		return
	}
	t.measures(ctx)
}

// measures takes every measure of what is routed, and fills in its row.
func (t *taking) measures(ctx context.Context) {
	t.of.Spent = time.Duration(t.clock)
	for t.next = range t.rows {
		row := &t.rows[t.next]
		row.Verdict = t.verdict()
		start := pool.ProcessorTime()
		v, err := t.of.Take(ctx, &t.point.Measures[t.next])
		row.Seconds = (pool.ProcessorTime() - start).Seconds()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			row.Status, row.Reason = results.Refused, err.Error()
		default:
			row.Value, row.Error, row.Count = &v.Mean, v.Error, int64(len(v.Runs))
			if len(v.Runs) > 0 {
				low, high := slices.Min(v.Runs), slices.Max(v.Runs)
				row.Low, row.High = &low, &high
			}
		}
	}
}

// verdict is the judge's, as rows have it; empty where nothing is routed.
func (t *taking) verdict() string {
	switch {
	case t.point.Engine.Name == sweep.NoEngine:
		return ""
	case t.of.Result != nil && !t.of.Result.Verdict.Free():
		return "credit-loop"
	}
	return "deadlock-free"
}

// fail marks the rows from one on as refused or broken.
func (t *taking) fail(from int, status results.Status, why string) {
	for i := range t.rows[from:] {
		row := &t.rows[from+i]
		row.Status, row.Reason, row.Value, row.Error = status, why, nil, nil
	}
}

// statusOf is what an error on the way to tables means.
func statusOf(err error) results.Status {
	var engine *weft.EngineDefect
	var simulated *defect
	if errors.As(err, &engine) || errors.As(err, &simulated) {
		return results.Broken
	}
	return results.Refused
}

// Fabric is the network of a point as its engine gets it, without the further addresses (LMC) that
// the engine may ask for.
func (m *Meter) Fabric(p *sweep.Point) (*fabric.Fabric, error) {
	t := &taking{meter: m, point: p}
	return t.network()
}

// Judged takes the measures of a point from tables that are at hand, in place of having its engine
// make some.
func (m *Meter) Judged(ctx context.Context, p *sweep.Point, r *weft.Result) ([]results.Row, error) {
	t := m.taking(p)
	t.of.Fabric, t.of.Result = r.Tables.Fabric, r
	t.measures(ctx)
	return t.rows, ctx.Err()
}

// network makes the network of the point, with its ports shuffled and its damage taken away.
func (t *taking) network() (*fabric.Fabric, error) {
	f, err := t.meter.make(&t.point.Network)
	if err == nil && t.point.Network.Ports == sweep.Shuffled {
		f, err = shufflePorts(f, t.point.Seed)
	}
	if err != nil {
		return nil, err
	}
	return t.damaged(f)
}

// route makes the network and, if an engine is named, routes it. It fills in t.of, and what the
// rows say of the network.
func (t *taking) route(ctx context.Context) error {
	f, err := t.network()
	if err != nil {
		return err
	}
	if lmc := t.point.Engine.LMC; lmc > 0 {
		if f, err = f.WithLMC(uint8(lmc)); err != nil {
			return err
		}
	}
	t.of.Fabric = f
	n := f.Count()
	for i := range t.rows {
		t.rows[i].Switches, t.rows[i].Hosts, t.rows[i].Cables = int64(n.Switches), int64(n.HCA), int64(n.SwitchCables)
	}
	if t.of.Lanes, err = t.lanesAtHand(ctx); err != nil {
		return err
	}
	switch name := t.point.Engine.Name; {
	case name == sweep.NoEngine:
		return nil
	case sweep.IsSimulated(name):
		return t.simulate(ctx)
	}
	var stages engines.Stages
	if t.asked("time") {
		stages = t.clock.stages
	}
	if t.of.Result, err = t.routed(ctx, t.of.Fabric, stages); err == nil && t.of.Lanes > 0 {
		err = t.classes(ctx)
	}
	return err
}

// make is the network of a point before damage; the one made last is kept, for points of
// one network follow each other.
func (m *Meter) make(n *sweep.Network) (f *fabric.Fabric, err error) {
	if name := n.String(); m.network == nil || m.last != name {
		m.network = nil
		if n.File != "" {
			f, err = m.Open(n.File)
		} else {
			var family topology.Family
			if family, err = topology.Parse(n.Spec); err == nil {
				f, err = family.Build()
			}
		}
		if err != nil {
			return nil, err
		}
		m.last, m.network = name, f
	}
	return m.network, nil
}

// damaged is the network without what its damage takes away, which it notes in the rows.
func (t *taking) damaged(f *fabric.Fabric) (*fabric.Fabric, error) {
	n := f.Count()
	d := t.point.Network.Damage
	cables, switches := d.Cables.Of(n.SwitchCables), d.Switches.Of(n.Switches)
	if cables+switches == 0 {
		return f, nil
	}
	loss, err := topology.Damage{Links: cables, Switches: switches, Seed: t.point.Seed}.Draw(f)
	if err != nil {
		return nil, err
	}
	for i := range t.rows {
		t.rows[i].MissingCables, t.rows[i].MissingSwitches = int64(cables), int64(switches)
	}
	return loss.Apply(f)
}

// routed is a network routed by the engine and judged. Tables with a credit loop are a result,
// too.
func (t *taking) routed(ctx context.Context, f *fabric.Fabric, stages engines.Stages) (*weft.Result, error) {
	e := &t.point.Engine
	contract, scope, err := e.Promises()
	if err != nil {
		return nil, err
	}
	told, err := e.Told()
	if err != nil {
		return nil, err
	}
	told.Seed = t.point.Seed
	r, err := weft.Route(ctx, f, weft.Request{
		Engine: e.Name, Contract: contract, Scope: scope, ExactScope: e.Exact, VLs: cmp.Or(t.of.Lanes, e.VLs), SLs: e.SLs, Options: told, Stages: stages,
		NoCycle: !t.asked("stops"), Patient: true,
	})
	if loop := (*weft.CreditLoop)(nil); errors.As(err, &loop) {
		return loop.Result, nil
	}
	return r, err
}

// anew is another network, such as one after a failure, routed likewise.
func (t *taking) anew(ctx context.Context, f *fabric.Fabric) (*weft.Result, error) {
	return t.routed(ctx, f, nil)
}

// asked reports whether a measure of this name is taken of the point.
func (t *taking) asked(measure string) bool {
	return slices.ContainsFunc(t.point.Measures, func(m measures.Measure) bool { return m.Name == measure })
}
