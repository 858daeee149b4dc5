package daemon

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// proven is tables with their proof, or why there are none.
type proven struct {
	tables  *routing.Tables   // nil: refused
	verdict *deadlock.Verdict // of the tables
	loads   *congestion.Loads // of the tables
	engine  string
	tried   []result.Attempt
	refusal string   // the reason to tell OpenSM; empty if there are tables
	missing []string // names in the settings that the fabric does not have
	noTree  string   // why there is no spanning tree for multicast; empty: there is one, or none is wanted
	route   time.Duration
	verify  time.Duration

	restored bool            // read back from the state folder, and proven again
	before   *routing.Tables // what was handed over before a restart, as far as it could be read

	// unfinished is why the search for better tables was not finished; nil: it was.
	unfinished error
}

// prove routes a fabric with the engines of the settings in their order, until the
// judge proves the tables of one of them. found is called with every proven result that
// is better than those before, while the search goes on.
func prove(ctx context.Context, f *fabric.Fabric, s *settings, lanes int, found func(*proven)) *proven {
	p := &proven{}
	if s.VLs > 0 {
		lanes = min(lanes, s.VLs)
	}
	s, missing, err := s.forFabric(f)
	if p.missing = missing; err != nil {
		p.refusal = err.Error()
		return p
	}
	for _, name := range s.Engine {
		a := result.Attempt{Engine: name}
		var last *proven
		err := p.try(ctx, f, name, s, lanes, func(better proven) {
			better.tried = append(slices.Clone(p.tried), a)
			last = &better
			found(last)
		})
		if err != nil && last != nil { // interrupted or failed, but there is a proven result
			q := *last
			q.unfinished = err
			return &q
		}
		if err == nil {
			p.tried = append(p.tried, a)
			return p
		}
		a.Refused = err.Error()
		a.CreditLoop = errors.As(err, new(*weft.CreditLoop))
		p.tried = append(p.tried, a)
		if ctx.Err() != nil {
			break
		}
	}
	p.tables, p.verdict, p.loads = nil, nil, nil
	why := make([]string, len(p.tried))
	for i, a := range p.tried {
		why[i] = a.Engine + ": " + a.Refused
	}
	p.refusal = strings.Join(why, "; ")
	return p
}

// try routes with an engine, or the best of several, has the tables proven, and sets p to them. The error is why there
// are none, or not the best; found is called with a copy of p for the best so far. An engine that panics counts as
// one that refuses.
func (p *proven) try(ctx context.Context, f *fabric.Fabric, engine string, s *settings, lanes int, found func(proven)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %v\n%s", r, debug.Stack())
		}
	}()
	start, before := time.Now(), *p
	verifying := time.Duration(0)
	var bare, withTree *weft.Result // what was given a tree last, and that with it
	take := func(r *weft.Result) (err error) {
		if r != bare {
			if withTree, err = p.addTree(ctx, r, s); err != nil {
				return err
			}
			if all := reachAll(withTree.Tables, s.scope); all != withTree.Tables {
				with := *withTree
				with.Tables = all
				withTree = &with
			}
			bare = r
		}
		r = withTree
		p.tables, p.verdict, p.loads, p.engine = r.Tables, r.Verdict, r.Loads, r.Engine.Name
		p.route, p.verify = before.route+time.Since(start)-verifying, before.verify+verifying
		return s.acceptable(r, lanes)
	}
	r, err := s.route(ctx, f, weft.Request{
		Engine: engine, Contract: &s.contract, VLs: lanes, SLs: s.SLs, Classes: s.Classes, Scope: s.scope, Options: s.told,
		Stages: func(name string) (routing.Progress, func()) {
			began := time.Now()
			return nil, func() {
				if name == "verify" {
					verifying += time.Since(began)
				}
			}
		},
		Time: s.Budget, Patient: s.Budget == 0,
		Accept: func(r *weft.Result) error { return wire.Expressible(r.Tables, s.contract) },
		Found: func(r *weft.Result) {
			if take(r) == nil {
				found(*p)
			}
		},
	})
	if err != nil {
		p.route, p.verify = before.route+time.Since(start)-verifying, before.verify+verifying
		return err
	}
	if r.Choice != nil && r.Choice.Stopped > 0 {
		p.unfinished = errors.New("the clock reached one and a half times the budget")
	}
	return take(r)
}

// addTree gives a result a spanning tree for multicast, if the settings want one and there is one.
func (p *proven) addTree(ctx context.Context, r *weft.Result, s *settings) (*weft.Result, error) {
	p.noTree = ""
	if len(s.groups) == 0 {
		return r, nil
	}
	with, err := r.WithMulticast(ctx, s.groups...)
	if none := (*weft.NoTree)(nil); errors.As(err, &none) {
		p.noTree = err.Error()
		return r, nil
	}
	return with, err
}

// acceptable says why proven tables cannot be used, if so.
func (s *settings) acceptable(r *weft.Result, lanes int) error {
	switch v := r.Verdict; {
	case !v.Complete():
		return fmt.Errorf("%d of %d pairs have no route that delivers", v.Unreachable+v.Loops, v.Pairs)
	case v.VLs > lanes:
		return fmt.Errorf("the tables use %d lanes of %d", v.VLs, lanes)
	}
	return wire.Expressible(r.Tables, s.contract)
}
