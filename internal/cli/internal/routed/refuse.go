package routed

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/internal/choose"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Advised is the engines to try where another refuses for want of lanes.
func Advised() []string { return engines.Names(func(e engines.Engine) bool { return e.Advised }) }

// Refusal reports an engine's refusal, with advice: which engines do fit.
func (j *Job) Refusal(ctx context.Context, err error, asJSON bool) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if none := (*weft.NoneProven)(nil); errors.As(err, &none) {
		return j.NoneProven(none, asJSON)
	}
	if !routing.Refused(err) {
		return err
	}
	s := result.Refusal{Engine: j.Wanted.String(), Refused: err.Error(), Fits: []result.FittingEngine{}}
	text := fmt.Errorf("%s refuses: %s", s.Engine, s.Refused)
	if few := (*routing.TooFewLanes)(nil); errors.As(err, &few) {
		s.Need, s.Available, s.Fits = few.Need, few.Have, j.thatFit(ctx)
		s.LaneCounts = result.LaneCounts{Needed: few.Need, Available: few.Have, Limit: outputs.LaneLimit(j.Fabric, few.Have)}
		text = tooFewText(&s, few)
	}
	if classes := (*weft.TooFewForClasses)(nil); errors.As(err, &classes) {
		s.ClassesFit = classes.Fit
		text = fmt.Errorf("%w\n%s", text, classesAdvice(classes))
	}
	return j.Refuse(asJSON, s, "%w", text)
}

// thatFit is the advised engines that do route the fabric in the same budget.
func (j *Job) thatFit(ctx context.Context) []result.FittingEngine {
	fits := []result.FittingEngine{}
	for _, name := range Advised() {
		if name == j.Wanted.Name {
			continue
		}
		contract := j.Asked()
		r := weft.Request{Engine: name, Contract: &contract, VLs: j.VLs, SLs: j.Flags.SLs, Classes: j.Flags.Classes, Scope: j.Flags.Scope, NoCycle: true}
		if other, err := weft.Route(ctx, j.Fabric, r); err == nil {
			fits = append(fits, result.FittingEngine{Engine: name, VLs: other.Tables.Lanes.Needed, Needed: other.Tables.Lanes.Needed})
		}
	}
	return fits
}

// classesAdvice says how many classes of traffic there is room for.
func classesAdvice(e *weft.TooFewForClasses) string {
	if e.Fit < 2 {
		return fmt.Sprintf("That is for %d classes of traffic; there is no room for two of this engine's.", e.Classes)
	}
	return fmt.Sprintf("That is for %d classes of traffic; --classes %d fits.", e.Classes, e.Fit)
}

// tooFewText is the error for want of lanes, with the engines that fit.
func tooFewText(s *result.Refusal, few *routing.TooFewLanes) error {
	least := ""
	if few.AtLeast {
		least = "at least "
	}
	limit, advice := "(--vls)", "No other engine fits either; give more lanes (--vls)."
	if few.Where != "" {
		limit, advice = "by what cables run: "+few.Where, "No other engine fits either. More lanes than a cable runs lose packets there: have both its ports run more (max_op_vls of opensm.conf, VLCap), or take it out of use (weft drain)."
	}
	if len(s.Fits) > 0 {
		names := list.Of(s.Fits, func(f result.FittingEngine) string {
			return fmt.Sprintf("%s (%s)", f.Engine, words.Plural(f.VLs, "lane"))
		})
		advice = "Engines that fit: " + strings.Join(names, ", ") + "."
	}
	return fmt.Errorf("%s refuses: it needs %s%s here; %s available %s.\n%s", s.Engine, least, words.Plural(s.Need, "lane"), words.Counted(s.Available, "is", "are"), limit, advice)
}

// NoneProven is the answer where auto has found nothing that is proven, with what it tried.
func (j *Job) NoneProven(none *weft.NoneProven, asJSON bool) error {
	return j.Refuse(asJSON, result.NoneProven{Refusal: result.Refusal{Engine: auto.Name, Refused: none.Error(), Available: j.VLs, LaneCounts: result.LaneCounts{Available: j.VLs, Limit: outputs.LaneLimit(j.Fabric, j.VLs)}, Fits: []result.FittingEngine{}}, Tried: trialSummaries(none.Trials)},
		"no engine is proven under contract %s with %s available:%s\n%s", none.Contract, words.Plural(j.VLs, "lane"), outputs.LimitText(result.LaneCounts{Limit: outputs.LaneLimit(j.Fabric, j.VLs)}, j.Fabric), TrialText(none.Trials))
}

// trialSummaries is what auto tried, for programs.
func trialSummaries(trials []choose.Trial) []result.Trial {
	return list.Of(trials, func(t choose.Trial) result.Trial {
		return result.Trial{Engine: t.Engine, Outcome: t.Outcome.String(), Why: t.Why, VLs: t.VLs, Needed: t.VLs, SLs: t.SLs, Lambda: t.Lambda, Shifts: ShiftsOf(t.Shifts), MaxLoad: t.MaxLoad, Traffic: t.Traffic, Mean: t.TrafficMean}
	})
}

// TrialText is a line for each engine that was tried, without figures.
func TrialText(trials []choose.Trial) string {
	return strings.Join(list.Of(trials, func(t choose.Trial) string { return fmt.Sprintf("%-10s  %s", t.Engine, OutcomeText(&t)) }), "\n")
}

// OutcomeText is what became of an engine, in words.
func OutcomeText(t *choose.Trial) string {
	switch t.Outcome {
	case choose.Loop:
		return "has a credit loop here"
	case choose.Refused:
		return "refuses: " + t.Why
	case choose.Skipped:
		return "not tried: " + t.Why
	case choose.Stopped:
		return "stopped: " + t.Why
	}
	return fmt.Sprintf("%s needed, %s on the fullest channel", words.Plural(t.VLs, "lane"), words.Plural(t.MaxLoad, "route"))
}

// ShiftsOf is the times of all to all in phases, a value an order of ranks.
func ShiftsOf(all []choose.Shift) []result.Shift {
	return list.Of(all, func(s choose.Shift) result.Shift { return result.Shift{Order: s.Order, Time: s.Time} })
}
