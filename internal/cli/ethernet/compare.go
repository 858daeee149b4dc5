package ethernet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/traffic"
)

// Compare makes of weft compare, the command c of InfiniBand, one that takes lossless Ethernet too.
func Compare(a *console.Console, c *cobra.Command) *cobra.Command {
	o := &trafficFlags{}
	return ofBothKinds(twoKinds{
		Command: c,
		also:    []string{"json", "markdown", "engine", "traffic", "seed", "precision", "phases"},
		flags:   o.addNamedTo,
		long:    `Of lossless Ethernet (weft simulate): ECMP by --qps, spraying, pins by --engine (ftree).`,
		run:     func(cmd *cobra.Command, name string) error { return runCompare(a, cmd, name, o) },
	})
}

// runCompare answers weft compare of the network called name: ways that hash or spray, then pins by each engine.
func runCompare(a *console.Console, cmd *cobra.Command, name string, o *trafficFlags) error {
	if err := o.check(); err != nil {
		return err
	}
	var asJSON, markdown bool
	var precision float64
	var phases int
	var file string
	s := &result.CompareEthernet{Network: name, Traffic: []result.EthernetTraffic{}, Advice: []string{}}
	if err := errorOf(
		get(cmd.Flags().GetUint64, "seed", &s.Seed), get(cmd.Flags().GetInt, "phases", &phases),
		get(cmd.Flags().GetBool, "json", &asJSON), get(cmd.Flags().GetBool, "markdown", &markdown), get(cmd.Flags().GetString, "traffic", &file),
	); err != nil {
		return err
	}
	if f := cmd.Flags().Lookup("precision"); f.Changed { // else that of hashing, whose times are larger than bandwidths
		var err error
		if precision, err = strconv.ParseFloat(f.Value.String(), 64); err != nil {
			return err
		}
	}
	engines := []string{"ftree"}
	if cmd.Flags().Changed("engine") {
		var err error
		if engines, err = cmd.Flags().GetStringSlice("engine"); err != nil {
			return err
		}
	}
	t, err := o.readTraffic(a, name)
	if err != nil {
		return err
	}
	jobs, err := t.compared(a, file, s.Seed, phases, phases)
	if err != nil {
		return err
	}
	var spent float64
	stage := a.Stage("simulate", &spent)
	defer stage.Done()
	for i := range jobs {
		jobs[i].precision = precision
		ways, _, err := t.hashedWays(cmd.Context(), o, &jobs[i].trafficJob, stage.Progress())
		if err != nil {
			return err
		}
		s.Traffic = append(s.Traffic, result.EthernetTraffic{Name: jobs[i].name, Ways: ways})
	}
	for _, engine := range engines {
		tables, refused, err := t.pins(cmd.Context(), engine, s.Seed, nil)
		if err != nil {
			return err
		}
		for i := range jobs {
			w := result.EthernetWay{Way: "pinned", Engine: engine, Refused: refused}
			if refused == "" {
				if w, err = t.pinned(cmd.Context(), engine, tables, &jobs[i].trafficJob); err != nil {
					return err
				}
			}
			s.Traffic[i].Ways = append(s.Traffic[i].Ways, w)
		}
	}
	stage.Done()
	lost := false
	for _, c := range s.Traffic {
		s.Advice = append(s.Advice, advice(c.Ways, c.Name)...)
		lost = lost || slices.ContainsFunc(c.Ways, func(w result.EthernetWay) bool { return w.Lost > 0 })
	}
	s.Routes, s.Assumed, s.NotCovered, s.Adapters = t.routes, append([]string{}, t.Notes...), append([]string{}, t.Gaps...), len(t.w.NICs)
	return a.Answer(asJSON, s, func() error { return showCompared(a, t, s, markdown) }, lost)
}

// comparedJobs is how many jobs share the network where it is in use by several.
const comparedJobs = 8

// namedJob is traffic with the name of its column.
type namedJob struct {
	trafficJob
	name string
}

// compared is the traffic that ways are compared by: that of a file, if one is named, behind our own. Of all to all it has at most so many
// phases, and ofJobs within jobs; 0: all of them.
func (t *trafficNetwork) compared(a *console.Console, file string, seed uint64, phases, ofJobs int) ([]namedJob, error) {
	all := "alltoall-phased"
	if phases > 0 && phases < len(t.among())-1 {
		all += ":phases=" + strconv.Itoa(phases)
	}
	var jobs []namedJob
	for _, c := range []struct{ name, pattern, order string }{
		{"random pairs", "bisect", "switch"}, {"by switch", all, "switch"}, {"by name", all, "name"},
	} {
		p, err := traffic.Parse(c.pattern)
		if err != nil {
			return nil, err
		}
		placement, err := traffic.Place(c.order, t.f, t.among(), seed)
		if err != nil {
			return nil, err
		}
		j := namedJob{trafficJob{pattern: p, placement: placement, seed: seed}, c.name}
		if !p.Random() {
			j.runs = 1
		}
		jobs = append(jobs, j)
	}
	if n := min(comparedJobs, len(t.among())/2); n > 1 {
		spec := fmt.Sprintf("job-shifts:jobs=%d,phases=%d", n, ofJobs)
		p, err := traffic.Parse(spec)
		if err != nil {
			return nil, err
		}
		placement, err := traffic.Place("jobs:"+strconv.Itoa(n), t.f, t.among(), seed)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, namedJob{trafficJob{pattern: p, placement: placement, seed: seed, runs: 1}, words.Plural(n, "scattered job")})
	}
	if file == "" {
		return jobs, nil
	}
	p, placement, err := flags.TrafficOf(a, t.f, t.among(), file)
	if err != nil {
		return nil, err
	}
	if _, err := p.Phases(len(placement)); err != nil {
		return nil, exit.Usage("--traffic: %w", err)
	}
	return append(jobs, namedJob{trafficJob{pattern: p, placement: placement, seed: seed}, "traffic"}), nil
}

// showCompared shows the ways as rows and the traffic as columns.
func showCompared(a *console.Console, t *trafficNetwork, s *result.CompareEthernet, markdown bool) error {
	if !markdown {
		p := a.NewPage()
		t.factNetwork(p, s.Network)
		p.Fact("adapters", "%s", words.Thousands(s.Adapters))
		if err := a.Show(p); err != nil {
			return err
		}
	}
	head := []any{"way"}
	for _, c := range s.Traffic {
		head = append(head, c.Name)
	}
	table := a.NewTable(head...)
	table.Right(1, len(head)-1)
	for i := range s.Traffic[0].Ways {
		row := []any{wayText(&s.Traffic[0].Ways[i])}
		for _, c := range s.Traffic {
			row = append(row, timeText(&c.Ways[i]))
		}
		table.Row(row...)
	}
	bound := []any{"bound of any ways"}
	for _, c := range s.Traffic {
		bound = append(bound, twoPlaces(c.Ways[0].Bound))
	}
	table.Line()
	table.Row(bound...)
	if markdown {
		table.RenderMarkdown()
	} else {
		table.Render()
	}
	p := a.NewPage()
	for _, w := range s.Traffic[0].Ways {
		if w.Refused != "" {
			p.Fact("refused", "%s: %s", wayText(&w), w.Refused)
		}
	}
	p.Fact("figures", "time of the fullest link of each phase, 1 if no flow is in another's way; random pairs: a random half of the adapters sends to the other; by switch, by name: all to all in phases, with ranks in that order; scattered jobs: the same within jobs of one size on adapters drawn at random, each with its ranks by switch; %s", t.figures())
	if len(s.Advice) > 0 {
		p.Fact("advice", "%s", strings.Join(s.Advice, "\n"))
	}
	return a.Show(p)
}

func twoPlaces(x float64) string { return fmt.Sprintf("%.2f", x) }
