package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/plain"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
)

func explainCommand(a *console.Console) *cobra.Command {
	var o flags.Engine
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain FABRIC --engine ENGINE",
		Short: "Say why an engine routes or refuses a fabric, rule by rule",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runExplain(cmd.Context(), a, args[0], &o, asJSON)
		},
	}
	o.AddTo(c, "")
	flags.AddJSON(c.Flags(), &asJSON)
	return c
}

type explainSummary struct {
	Engine  string           `json:"engine"`
	Rules   []findingSummary `json:"rules"`
	Routes  bool             `json:"routes"`
	Refusal string           `json:"refusal,omitempty"`
	VLs     int              `json:"vls,omitempty"` // as lanes_needed
	Needed  int              `json:"lanes_needed,omitempty"`
	Verdict string           `json:"verdict,omitempty"`

	how   string   // the contract of the verdict, in words
	notes []string // remarks of the engine, in words
}

type findingSummary struct {
	Rule string `json:"rule"`
	OK   bool   `json:"ok"`
	Why  string `json:"why"`
}

func runExplain(ctx context.Context, a *console.Console, name string, o *flags.Engine, asJSON bool) error {
	j, err := newRouteJob(a, name, o)
	if err != nil {
		return err
	}
	if err := j.mustBeOne("explain"); err != nil {
		return err
	}
	if err := j.prepare(); err != nil {
		return err
	}
	parts := len(j.fabric.Parts())
	s := explainSummary{Engine: j.wanted.Name, Rules: []findingSummary{ // the first is for all engines
		{"cables join all switches", parts == 1, fmt.Sprintf("%s of %s", words.Plural(parts, "part"), words.Plural(j.fabric.Switches(), "switch"))},
	}}
	var rules []routing.Finding
	if j.wanted.Adaptive == nil {
		rules = j.wanted.Explain(j.fabric, j.options)
	}
	for _, f := range rules {
		why := strings.TrimSuffix(plain.Text(f.Why), " (rule: "+f.Rule+")")
		s.Rules = append(s.Rules, findingSummary{f.Rule, f.OK, why})
	}
	if err := j.tryOut(ctx, &s); err != nil {
		return err
	}
	return a.Answer(asJSON, s, func() error { return printExplanation(a, j, &s) }, !s.Routes)
}

// tryOut routes and records the result, also if it is a refusal.
func (j *routeJob) tryOut(ctx context.Context, s *explainSummary) error {
	if j.wanted.Adaptive != nil {
		t, v, err := j.adapt(ctx)
		if err != nil {
			return s.refused(err)
		}
		s.Routes, s.VLs, s.Needed, s.Verdict, s.how, s.notes = true, t.Needed, t.Needed, report.Verdict(v), "adaptive", t.Notes
		return nil
	}
	if err := j.compute(ctx); err != nil {
		return s.refused(err)
	}
	needed := j.Tables.Lanes.Needed
	s.Routes, s.VLs, s.Needed, s.Verdict = true, needed, needed, report.Verdict(j.Verdict)
	s.how, s.notes = "contract "+j.Contract.String(), j.Tables.Forwarding.Notes
	return nil
}

// refused records a refusal; any other error is returned.
func (s *explainSummary) refused(err error) error {
	if !routing.Refused(err) {
		return err
	}
	s.Refusal = plain.Error(err)
	return nil
}

func printExplanation(a *console.Console, j *routeJob, s *explainSummary) error {
	t := a.NewTable("rule of "+s.Engine, "kept", "found")
	t.AtMost(0, 50)
	t.AtMost(2, 70)
	for _, r := range s.Rules {
		kept := "yes"
		if !r.OK {
			kept = "no"
		}
		t.Row(r.Rule, kept, r.Why)
	}
	t.Render()
	answer := "refuses: " + s.Refusal
	if slices.ContainsFunc(s.Rules, func(r findingSummary) bool { return !r.OK && strings.HasPrefix(s.Refusal, r.Why) }) {
		answer = "refuses: a rule above is not kept" // the finding is printed beside the rule
	}
	if s.Routes {
		answer = fmt.Sprintf("routes it, %s needed: %s (%s, endpoints %s)", words.Plural(s.Needed, "lane"), s.Verdict, s.how, j.o.Scope)
		for _, note := range s.notes {
			answer += "\n" + note
		}
	}
	return a.Say("%s %s", s.Engine, answer)
}
