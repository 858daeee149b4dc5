package cli

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/words"
)

// survivals is the kinds of failure that --survive knows.
var survivals = map[string]func(*fabric.Fabric) []change.Failure{"links": change.Cables, "switches": change.Switches}

// mostWorst is the number of failures that are named, unless there are more that are not mended.
const mostWorst = 5

type survivalSummary struct {
	Failures  string         `json:"failures"` // links or switches
	Tried     int            `json:"tried"`
	OneStep   int            `json:"mended_in_one_step"`
	Mended    int            `json:"mended"`
	Rebuilt   int            `json:"mended_by_rebuilding"`
	NotMended int            `json:"not_mended"`
	Worst     []survivalCase `json:"worst"`
}

type survivalCase struct {
	Without string `json:"without"`
	Steps   int    `json:"steps"`
	Entries int    `json:"entries_changed"`
	Due     int    `json:"entries_due"`
	Rebuilt bool   `json:"rebuilt"`
	Left    int    `json:"destinations_left"`
}

func (j *judged) survive(ctx context.Context, kinds []string, drain bool) error {
	s := j.Stage("repairs", &j.spent.Repairs)
	defer s.Done()
	for _, kind := range kinds {
		failures := survivals[kind](j.fabric)
		r, err := change.Survive(ctx, j.Tables, failures, change.Options{Contract: j.Contract, Scope: j.Scope, AllowDrops: drain})
		if err != nil {
			return err
		}
		j.survival = append(j.survival, newSurvivalSummary(j.fabric, kind, r))
	}
	return nil
}

func newSurvivalSummary(f *fabric.Fabric, kind string, r *change.Survival) *survivalSummary {
	sum := &survivalSummary{Failures: kind, Tried: len(r.Repairs), OneStep: r.OneStep, Mended: r.Mended, Rebuilt: r.Rebuilt, NotMended: r.NotMended, Worst: []survivalCase{}}
	for _, x := range r.Worst() {
		if x.Left == 0 && (x.Steps <= 1 || len(sum.Worst) >= mostWorst) {
			break
		}
		sum.Worst = append(sum.Worst, survivalCase{failureName(f, x.Failure), x.Steps, x.Entries, x.Due, x.Rebuilt, x.Left})
	}
	return sum
}

func failureName(f *fabric.Fabric, x change.Failure) string {
	if len(x.Channels) > 0 {
		return report.LinkNames(report.RemovedLinks(f, x.Channels[:1]))[0]
	}
	return f.Label(x.Nodes[0])
}

func (s *survivalSummary) text() string {
	one := map[string]string{"links": "cable", "switches": "switch"}[s.Failures]
	text := fmt.Sprintf("the loss of any %s (%s tried): %s mended in one step, %s in several, for %s others make way, %s not mended", one,
		words.Thousands(s.Tried), words.Thousands(s.OneStep), words.Thousands(s.Mended+s.Rebuilt-s.OneStep), words.Thousands(s.Rebuilt), words.Thousands(s.NotMended))
	for _, w := range s.Worst {
		text += fmt.Sprintf("\n  %s: %s, %s of which %s had to change", w.Without, words.Plural(w.Steps, "step"), words.Counted(w.Entries, "entry", "entries"), words.Thousands(w.Due))
		if w.Rebuilt {
			text += "; others make way"
		}
		if w.Left > 0 {
			text += fmt.Sprintf("; %s cannot be reached from everywhere", words.Plural(w.Left, "destination"))
		}
	}
	return text
}
