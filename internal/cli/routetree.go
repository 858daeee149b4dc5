package cli

import (
	"context"
	"errors"

	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/result"
)

func (j *routeRun) treeSummary() *result.Tree {
	switch {
	case j.treeless != nil:
		s := &result.Tree{SLs: []int{}, None: j.treeless.None.Error()}
		if j.treeless.Loop != nil {
			s.Loop = result.Steps(j.fabric, j.treeless.Loop.Cycle)
		}
		return s
	case j.Tables.Multicast != nil:
		return &result.Tree{SLs: result.LevelsOf(j.Tables.Multicast.SLs)}
	}
	return nil
}

// treeText is the same for people; empty: no tree was asked for.
func (j *routeRun) treeText() string {
	switch {
	case j.treeless != nil && j.treeless.Loop != nil:
		return j.treeless.None.Error() + ";\nthe shortest one would close a loop:\n" + report.CycleText(j.Console, j.fabric, j.treeless.Loop.Cycle)
	case j.treeless != nil:
		return j.treeless.None.Error()
	case j.Tables.Multicast != nil:
		return "one spanning tree, of which the trees of all groups on " + report.SLsText(j.Tables.Multicast.SLs) + " are parts: by the plugin, OpenSM's own are others"
	}
	return ""
}

// span finds a spanning tree for multicast.
func (j *routeRun) span(ctx context.Context, sls uint16) error {
	s := j.Stage("tree", &j.spent.Multicast)
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
