package engines

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Stages is told when a stage of the work begins, "paths" or "lanes", and
// returns its progress and what to call at its end. A router that decides both
// at once has the stage "paths" only.
type Stages func(name string) (p routing.Progress, done func())

// Route routes a fabric with the engine, or returns its refusal. stages may be
// nil. Where the budget has fewer service levels than the engine gives out when it
// uses all lanes, it is asked again with as few lanes: layers have a level each.
func (e Engine) Route(ctx context.Context, f *fabric.Fabric, o Options, b routing.Budget, stages Stages) (*routing.Tables, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	o = o.sharing()
	t, err := e.route(ctx, f, o, b, stages)
	if err != nil || t.Lanes.TopLevel() < b.SLs {
		return t, err
	}
	need := t.Lanes.TopLevel() + 1
	if b.SLs < b.VLs {
		b.VLs = b.SLs
		t, err = e.route(ctx, f, o, b, stages)
		few := (*routing.TooFewLanes)(nil)
		switch {
		case errors.As(err, &few):
			return nil, &routing.TooFewLevels{Need: min(need, few.Need), Have: b.SLs}
		case err != nil || t.Lanes.TopLevel() < b.SLs:
			return t, err
		}
		need = t.Lanes.TopLevel() + 1
	}
	return nil, &routing.TooFewLevels{Need: need, Have: b.SLs}
}

// RouteWide is Route for the budget's scope if that can be had and else for the scope
// that is needed, where the fabric has endpoints that tell the two apart. It returns
// the scope that lanes were planned for.
func (e Engine) RouteWide(ctx context.Context, f *fabric.Fabric, o Options, b routing.Budget, needed routing.Scope, stages Stages) (*routing.Tables, routing.Scope, error) {
	o = o.sharing()
	t, err := e.Route(ctx, f, o, b, stages)
	if n := f.Count(); b.Scope > needed && n.Aggregation+n.Router > 0 && routing.Refused(err) {
		b.Scope = needed
		t, err = e.Route(ctx, f, o, b, stages)
	}
	return t, b.Scope, err
}

func (e Engine) route(ctx context.Context, f *fabric.Fabric, o Options, b routing.Budget, stages Stages) (*routing.Tables, error) {
	if e.Adaptive != nil {
		return nil, fmt.Errorf("engines: %s makes adaptive tables, which InfiniBand cannot express: use RouteAdaptive", e.Name)
	}
	if stages == nil {
		stages = func(string) (routing.Progress, func()) { return nil, func() {} }
	}
	if e.Joint != nil {
		p, done := stages("paths")
		defer done()
		return e.Joint.New(o).Route(ctx, f, b, p)
	}
	finders := e.Finders(b.Contract)
	var refusal error // the one with which the fewest lanes would do
	few, fewest := (*routing.TooFewLanes)(nil), (*routing.TooFewLanes)(nil)
	for _, finder := range finders {
		t, err := e.pairUp(ctx, f, finder, o, b, stages)
		if !routing.Refused(err) {
			return t, err
		}
		if errors.As(err, &few) && (fewest == nil || few.Need < fewest.Need) {
			refusal, fewest = err, few
		} else if refusal == nil {
			refusal = err
		}
	}
	if e.fallback != nil && fewest != nil && b.VLs > 1 && f.Addresses() > 1 {
		p, done := stages("lanes")
		defer done()
		return e.fallback(finders[0], o).Route(ctx, f, b, p)
	}
	return nil, refusal
}

// pairUp finds paths with one of the finders, and lanes for them.
func (e Engine) pairUp(ctx context.Context, f *fabric.Fabric, finder Finder, o Options, b routing.Budget, stages Stages) (*routing.Tables, error) {
	p, done := stages("paths")
	paths, err := o.shared.finder(finder.Name, finder.New(o)).Paths(ctx, f, p)
	done()
	if err != nil {
		return nil, err
	}
	p, done = stages("lanes")
	defer done()
	lanes, err := e.Lanes.New(o).Lanes(ctx, f, paths, b, p)
	if err != nil {
		return nil, err
	}
	return &routing.Tables{Fabric: f, Forwarding: paths, Lanes: lanes}, nil
}

// Explain is how a fabric fares under each rule of the engine's parts, as far as
// they have rules.
func (e Engine) Explain(f *fabric.Fabric, o Options) []routing.Finding {
	var parts []any
	switch {
	case e.Joint != nil:
		parts = []any{e.Joint.New(o)}
	case e.Adaptive != nil:
		parts = []any{e.Adaptive.New(o)}
	default:
		parts = []any{e.Finder.New(o), e.Lanes.New(o)}
	}
	var findings []routing.Finding
	for _, p := range parts {
		if x, ok := p.(routing.Explainer); ok {
			findings = append(findings, x.Explain(f)...)
		}
	}
	return findings
}
