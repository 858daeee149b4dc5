package look

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Explain makes the command weft explain.
func Explain(a *console.Console) *cobra.Command {
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

// runExplain asks the engine about each of its rules, then has it route.
func runExplain(ctx context.Context, a *console.Console, name string, o *flags.Engine, asJSON bool) error {
	j, err := routed.New(a, name, o)
	if err != nil {
		return err
	}
	if err := j.OneEngine("explain"); err != nil {
		return err
	}
	if err := j.Prepare(); err != nil {
		return err
	}
	parts := len(j.Fabric.Parts())
	s := result.Explain{Engine: j.Wanted.Name, Rules: []result.Finding{ // the first is for all engines
		{Rule: "cables join all switches", OK: parts == 1, Why: fmt.Sprintf("%s of %s", words.Plural(parts, "part"), words.Plural(j.Fabric.Switches(), "switch"))},
	}}
	var rules []routing.Finding // adaptive engines have none
	if j.Wanted.Adaptive == nil {
		rules = j.Wanted.Explain(j.Fabric, j.Options)
	}
	for _, f := range rules {
		why := strings.TrimSuffix(f.Why, " (rule: "+f.Rule+")")
		s.Rules = append(s.Rules, result.Finding{Rule: f.Rule, OK: f.OK, Why: why})
	}
	if err := tryOut(ctx, j, &s); err != nil {
		return err
	}
	return a.Answer(asJSON, s, func() error { return printExplanation(a, j, &s) }, !s.Routes)
}

// tryOut routes and notes in s what came of it, also if it is a refusal.
func tryOut(ctx context.Context, j *routed.Job, s *result.Explain) error {
	if j.Wanted.Adaptive != nil {
		t, v, err := j.Adapt(ctx)
		if err != nil {
			return refusedBy(s, err)
		}
		s.Routes, s.VLs, s.Needed, s.Verdict, s.How, s.Notes = true, t.Needed, t.Needed, outputs.WordOf(v), "adaptive", t.Notes
		return nil
	}
	if err := j.Compute(ctx); err != nil {
		return refusedBy(s, err)
	}
	needed := j.Tables.Lanes.Needed
	s.Routes, s.VLs, s.Needed, s.Verdict = true, needed, needed, outputs.WordOf(j.Verdict)
	s.How, s.Notes = "contract "+j.Contract.String(), j.Tables.Forwarding.Notes
	return nil
}

// refusedBy notes a refusal in s; any other error is returned.
func refusedBy(s *result.Explain, err error) error {
	if !routing.Refused(err) {
		return err
	}
	s.Refusal = err.Error()
	return nil
}

// printExplanation prints the rules and what came of routing.
func printExplanation(a *console.Console, j *routed.Job, s *result.Explain) error {
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
	if slices.ContainsFunc(s.Rules, func(r result.Finding) bool { return !r.OK && strings.HasPrefix(s.Refusal, r.Why) }) {
		answer = "refuses: a rule above is not kept" // the finding is printed beside the rule
	}
	if s.Routes {
		answer = fmt.Sprintf("routes it, %s needed: %s (%s, endpoints %s)", words.Plural(s.Needed, "lane"), s.Verdict, s.How, j.Flags.Scope)
		for _, note := range s.Notes {
			answer += "\n" + note
		}
	}
	return a.Say("%s %s", s.Engine, answer)
}
