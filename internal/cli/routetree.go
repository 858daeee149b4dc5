package cli

import (
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
)

// treeSummary is the spanning tree for multicast, or why there is none.
type treeSummary struct {
	SLs  []int         `json:"sls"`            // service levels of groups that it is proven for
	None string        `json:"none,omitempty"` // why there is no tree; empty: there is one
	Loop []report.Step `json:"loop,omitempty"` // the credit loop that the shortest tree would close
}

func (j *judged) treeSummary() *treeSummary {
	switch {
	case j.treeless != nil:
		s := &treeSummary{SLs: []int{}, None: j.treeless.None.Error()}
		if j.treeless.Loop != nil {
			s.Loop = report.Steps(j.fabric, j.treeless.Loop.Cycle)
		}
		return s
	case j.Tables.Multicast != nil:
		return &treeSummary{SLs: input.LevelsOf(j.Tables.Multicast.SLs)}
	}
	return nil
}

// treeText is the same for people; empty: no tree was asked for.
func (j *judged) treeText() string {
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
