package engines

import (
	"context"
	"errors"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/routing"
)

// Stages is called when a stage of the work begins, "paths" or "lanes", and returns its
// progress and what to call at its end. An engine that decides both at once has the
// stage "paths" only.
type Stages func(name string) (p routing.Progress, done func())

// Implementation makes the tables of one engine.
type Implementation interface {
	// Route routes a fabric within a budget, or refuses.
	Route(ctx context.Context, f *fabric.Fabric, b routing.Budget, stages Stages) (*routing.Tables, error)
	// Explain reports whether a fabric keeps each rule of the engine.
	Explain(f *fabric.Fabric) []routing.Finding
}

// Route routes a fabric with the engine, or returns its refusal. stages may be nil. If
// the budget has fewer service levels than the engine uses with all lanes, it is tried
// again with as many lanes as service levels, because each layer needs a level of its
// own; and, if it refuses, with more, to say how many it needs.
func (e Engine) Route(ctx context.Context, f *fabric.Fabric, o Options, b routing.Budget, stages Stages) (*routing.Tables, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	if stages == nil {
		stages = func(string) (routing.Progress, func()) { return nil, func() {} }
	}
	r := e.New(o.only(e.Uses).sharing())
	t, err := r.Route(ctx, f, b, stages)
	if err != nil || t.Lanes.TopLevel() < b.SLs {
		return t, err
	}
	have, all, need := b.SLs, b.VLs, t.Lanes.TopLevel()+1 // need: a number of service levels that suffices
	for b.VLs = min(all, have); b.VLs < min(all, need); b.VLs++ {
		t, err = r.Route(ctx, f, b, stages)
		few := (*routing.TooFewLanes)(nil)
		switch {
		case errors.As(err, &few):
		case err != nil || t.Lanes.TopLevel() < have:
			return t, err
		case t.Lanes.TopLevel() < b.VLs:
			need = b.VLs
		}
	}
	return nil, &routing.TooFewLevels{Need: need, Have: have}
}

// RouteWide is Route for the budget's scope or, if the engine refuses that, for the scope needed, which
// is smaller, if the fabric has endpoints in the one and not in the other. It also takes the scope
// needed where balanced paths leave apart what only the wider scope asks for (Forwarding.Apart), and
// the wider scope would cost lanes for that alone. It returns the scope that lanes were planned for.
func (e Engine) RouteWide(ctx context.Context, f *fabric.Fabric, o Options, b routing.Budget, needed routing.Scope, stages Stages) (*routing.Tables, routing.Scope, error) {
	o = o.sharing()
	t, err := e.Route(ctx, f, o, b, stages)
	n := f.Count()
	if b.Scope == needed || n.Aggregation+n.Router == 0 {
		return t, b.Scope, err
	}
	wide := b.Scope
	switch b.Scope = needed; {
	case routing.Refused(err):
		t, err = e.Route(ctx, f, o, b, stages)
		return t, needed, err
	case err == nil && e.Uses&option.Balanced != 0:
		paths := o.shared.apart(f)
		if paths == nil {
			break
		}
		kept := keepsHosts(t, paths)
		if kept && t.Lanes.Needed == 1 {
			break
		}
		narrow, err := e.Route(ctx, f, o, b, stages)
		if err != nil {
			break
		}
		if fewer := t.Lanes.Needed - narrow.Lanes.Needed; fewer > 0 || fewer == 0 && !kept && keepsHosts(narrow, paths) {
			return narrow, needed, nil
		}
	}
	return t, wide, err
}

// keepsHosts reports whether tables have the given paths to all host adapters.
func keepsHosts(t *routing.Tables, paths *routing.Forwarding) bool {
	for lid := range routing.HCA.LIDs(t.Fabric) {
		row := t.Forwarding.Row(lid)
		for s, port := range paths.Row(lid) {
			if port != routing.NoPort && port != row[s] {
				return false
			}
		}
	}
	return true
}

// pair is an Implementation of a path finder, or several that are tried in turn, and a lane
// assigner.
type pair struct {
	options  Options
	finders  []Finder
	bothWays []Finder // instead of finders under contract honored
	assigner Assigner
	escapes  bool // Engine.Escapes
}

// findersUnder is the path finders that are tried under a contract, in their order.
func (r *pair) findersUnder(c routing.Contract) []Finder {
	if c.EitherWay() {
		return r.bothWays
	}
	return r.finders
}

// Route tries the finders in turn until the lanes suffice for the paths of one, then withEscape.
func (r *pair) Route(ctx context.Context, f *fabric.Fabric, b routing.Budget, stages Stages) (*routing.Tables, error) {
	finders := r.findersUnder(b.Contract)
	var refusal error // the one that needs the fewest lanes
	few, fewest := (*routing.TooFewLanes)(nil), (*routing.TooFewLanes)(nil)
	var tried []*routing.Forwarding // lighter's paths may be symmetric's
	for _, finder := range finders {
		paths, err := r.paths(ctx, f, finder, b, stages)
		if slices.Contains(tried, paths) {
			continue
		}
		var t *routing.Tables
		if err == nil {
			tried = append(tried, paths)
			t, err = r.withLanes(ctx, f, paths, b, stages)
		}
		if !routing.Refused(err) {
			return t, err
		}
		if errors.As(err, &few) && (fewest == nil || few.Need < fewest.Need) {
			refusal, fewest = err, few
		} else if refusal == nil {
			refusal = err
		}
	}
	if r.escapes && fewest != nil && b.VLs > 1 && f.Addresses() > 1 {
		p, done := stages("lanes")
		defer done()
		return withEscape(ctx, f, finders[0].New(r.options), b, p)
	}
	return nil, refusal
}

// paths finds paths with one of the finders, or uses those that it made before (Sharing).
func (r *pair) paths(ctx context.Context, f *fabric.Fabric, finder Finder, b routing.Budget, stages Stages) (*routing.Forwarding, error) {
	p, done := stages("paths")
	defer done()
	paths, err := r.options.shared.finder(finder.Name, finder.New(r.options)).Paths(ctx, f, p)
	if err == nil {
		err = leftApart(f, paths, b.Scope)
	}
	if err != nil {
		return nil, err
	}
	return paths, nil
}

// withLanes is the tables of paths, with lanes that the assigner finds for them.
func (r *pair) withLanes(ctx context.Context, f *fabric.Fabric, paths *routing.Forwarding, b routing.Budget, stages Stages) (*routing.Tables, error) {
	p, done := stages("lanes")
	defer done()
	lanes, err := r.assigner.New(r.options).Lanes(ctx, f, paths, b, p)
	if err != nil {
		return nil, err
	}
	return &routing.Tables{Fabric: f, Forwarding: paths, Lanes: lanes}, nil
}

func (r *pair) Explain(f *fabric.Fabric) []routing.Finding {
	return append(explain(f, r.finders[0].New(r.options)), explain(f, r.assigner.New(r.options))...)
}

// joint is an Implementation that decides both at once.
type joint struct{ routing.Engine }

func (r joint) Route(ctx context.Context, f *fabric.Fabric, b routing.Budget, stages Stages) (*routing.Tables, error) {
	p, done := stages("paths")
	defer done()
	return r.Engine.Route(ctx, f, b, p)
}

func (r joint) Explain(f *fabric.Fabric) []routing.Finding { return explain(f, r.Engine) }

// explain is what a path finder, lane assigner or engine says of a fabric; nil: it has no rules.
func explain(f *fabric.Fabric, part any) []routing.Finding {
	if x, ok := part.(routing.Explainer); ok {
		return x.Explain(f)
	}
	return nil
}
