package main

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/cmd/weft/internal/list"
	"github.com/weft-fabric/weft/cmd/weft/internal/report"
	"github.com/weft-fabric/weft/cmd/weft/internal/words"
	"github.com/weft-fabric/weft/internal/plain"
	"github.com/weft-fabric/weft/routing/engines"
)

// autoSummary is what auto tried and why it chose, as JSON.
type autoSummary struct {
	Why   string         `json:"why"`
	Tried []trialSummary `json:"tried"`
	// LimitReached says that the clock ended the search, so that another run may
	// choose otherwise.
	LimitReached bool `json:"limit_reached"`
}

type trialSummary struct {
	Engine  string  `json:"engine"`
	Outcome string  `json:"outcome"`
	Why     string  `json:"why,omitempty"`
	VLs     int     `json:"vls,omitempty"` // as lanes_needed
	Needed  int     `json:"lanes_needed,omitempty"`
	SLs     int     `json:"sls,omitempty"`
	Lambda  float64 `json:"ebb,omitempty"`
	MaxLoad uint32  `json:"max_load,omitempty"`
}

func trialSummaries(trials []weft.Trial) []trialSummary {
	return list.Of(trials, func(t weft.Trial) trialSummary {
		return trialSummary{t.Engine, t.Outcome.String(), t.Why, t.VLs, t.VLs, t.SLs, t.Lambda, t.MaxLoad}
	})
}

func trialSeconds(trials []weft.Trial) map[string]float64 {
	s := make(map[string]float64, len(trials))
	for _, t := range trials {
		if t.Spent > 0 {
			s[t.Engine] = t.Spent.Seconds()
		}
	}
	return s
}

func trialText(trials []weft.Trial) string {
	return strings.Join(list.Of(trials, func(t weft.Trial) string {
		what := ""
		switch t.Outcome {
		case weft.Proven:
			what = fmt.Sprintf("%s needed, %s on the fullest channel", words.Plural(t.VLs, "lane"), words.Plural(int(t.MaxLoad), "route"))
			if t.Lambda > 0 { // else there is nobody to talk to
				what = fmt.Sprintf("bandwidth %.3f of full, %s", t.Lambda, what)
			}
		case weft.Loop:
			what = "has a credit loop here"
		case weft.Refused:
			what = "refuses: " + t.Why
		case weft.Skipped:
			what = "not tried: " + t.Why
		case weft.Stopped:
			what = "stopped: " + t.Why
		}
		return fmt.Sprintf("%-10s %s", t.Engine, what)
	}), "\n")
}

// noneProvenSummary is the refusal of auto, as JSON.
type noneProvenSummary struct {
	refusalSummary
	Tried []trialSummary `json:"tried"`
}

func (j *routeJob) noneProven(none *weft.NoneProven, asJSON bool) error {
	return j.refuse(asJSON, noneProvenSummary{refusalSummary{Engine: engines.AutoName, Refused: plain.Error(none), Available: j.vls, LaneCounts: report.LaneCounts{Available: j.vls}, Fits: []fitSummary{}}, trialSummaries(none.Trials)},
		"no engine is proven under contract %s with %s available:\n%s", none.Contract, words.Plural(j.vls, "lane"), trialText(none.Trials))
}
