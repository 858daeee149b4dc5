package route

import (
	"context"
	"errors"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/engine/adaptive/minimal"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/result"
)

// treeSummary is the spanning tree for multicast, or why there is none; nil: none was asked for.
func (j *routeRun) treeSummary() *result.Tree {
	switch {
	case j.treeless != nil:
		s := &result.Tree{SLs: []int{}, None: j.treeless.None.Error()}
		if j.treeless.Loop != nil {
			s.Loop = outputs.Loop(j.Fabric, j.treeless.Loop.Cycle)
		}
		return s
	case j.Tables.Multicast != nil:
		return &result.Tree{SLs: outputs.Levels(j.Tables.Multicast.SLs)}
	}
	return nil
}

// treeText is treeSummary for people; empty: none was asked for.
func (j *routeRun) treeText() string {
	switch {
	case j.treeless != nil && j.treeless.Loop != nil:
		return j.treeless.None.Error() + ";\nthe shortest one would close a loop:\n" + report.CycleText(j.Console, j.Fabric, j.treeless.Loop.Cycle)
	case j.treeless != nil:
		return j.treeless.None.Error()
	case j.Tables.Multicast != nil:
		return "one spanning tree, of which the trees of all groups on " + report.SLsText(j.Tables.Multicast.SLs) + " are parts: by the plugin, OpenSM's own are others"
	}
	return ""
}

// span finds a spanning tree for multicast on some service levels, as bits: j.Result gets it, or
// j.treeless says why there is none.
func (j *routeRun) span(ctx context.Context, sls uint16) error {
	s := j.Stage("tree", &j.Spent.Multicast)
	defer s.Done()
	with, err := j.WithMulticast(ctx, sls)
	if errors.As(err, &j.treeless) {
		return nil
	}
	if err == nil {
		j.Result = with
	}
	return err
}

// What --adaptive may be.
const (
	noGroups      = "none"
	minimalGroups = "minimal"
)

// widen is --adaptive minimal: it gives the entries of j.Tables groups of ports to choose from, and has
// them judged again, over every choice.
func (j *routeRun) widen(ctx context.Context) (err error) {
	scope := j.Scope
	if j.Wider != nil && j.Wider.Free() {
		scope = j.Wider.Scope
	}
	s := j.Stage("groups", &j.Spent.Paths)
	wide := *j.Tables
	wide.Groups, err = minimal.Groups(ctx, j.Tables, j.Contract, scope, s.Progress())
	s.Done()
	if err != nil {
		return err
	}
	judge := j.Stage("verify", &j.Spent.Verify)
	defer judge.Done()
	o := deadlock.Options{Contract: j.Contract, Scope: j.Scope, Progress: judge.Progress()}
	if j.Verdict, err = deadlock.Verify(ctx, &wide, o); err != nil {
		return err
	}
	if j.Wider != nil {
		o.Scope = j.Wider.Scope
		if j.Wider, err = deadlock.Verify(ctx, &wide, o); err != nil {
			return err
		}
	}
	if !j.Verdict.Free() || j.Verdict.Loops > 0 {
		return exit.Internal("the groups of ports are not free of credit loops and circles")
	}
	j.Tables = &wide
	return nil
}
