package look

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/bound"
	"github.com/weft-fabric/weft/internal/choose"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Bound makes the command weft bound.
func Bound(a *console.Console) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "bound FABRIC",
		Short: "Say what no routing of a fabric can do better, and which cables are why",
		Long: `Say how good any routing can be at best, whatever it is made by, with all links
alike. Each bound is proven by cuts: some switches, the hosts on them and the
cables that leave them, which all that these hosts send to others has to pass.

  phases         all to all in phases, with the ranks by switch and port, by the
                 names of hosts and at random, takes at least so many times as
                 long as without other flows; 1 if nothing has to meet
  fullest        routes on the fullest channel if all hosts send to all
  random pairs   what pairs of hosts at random get at most of full: a weak bound,
                 as it lets all flows out of a cut share its cables evenly

Beside each are the cuts that decide most of it. What the cables of a cut do not
let through no routing can mend; what a routing is behind the bound it may mend, or
there may be a reason that no single cut shows. weft compare shows what engines
reach.`,
		Example: "  weft bound fabric.ibnetdiscover\n  weft bound fattree:ports=24,hosts=16",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := input.Fabric(a, args[0])
			if err != nil {
				return err
			}
			s, err := findBounds(cmd.Context(), args[0], f)
			if err != nil {
				return err
			}
			return a.Answer(asJSON, s, func() error { return printBound(a, s) }, false)
		},
	}
	flags.AddJSON(c.Flags(), &asJSON)
	return c
}

// findBounds finds what no routing of a fabric can do better.
func findBounds(ctx context.Context, name string, f *fabric.Fabric) (*result.Bound, error) {
	hosts := f.ByPort(routing.HCA.Endpoints(f))
	s := &result.Bound{Name: name, Hosts: len(hosts), RatesDiffer: !routed.RatesAlike(f)}
	n, err := bound.New(ctx, f)
	if err != nil {
		return nil, err
	}
	orders, err := choose.Orders(f, hosts, weft.DefaultSeed)
	if err != nil {
		return nil, err
	}
	for _, o := range orders {
		p, err := n.Phases(ctx, o.Ranks)
		if err != nil {
			return nil, err
		}
		s.Phases = append(s.Phases, result.PhasesBound{Order: o.Name, Time: p.Time, Cuts: cutsOf(f, p.Cuts)})
	}
	r, err := n.AllToAll(ctx)
	if err != nil {
		return nil, err
	}
	s.Fullest = result.FullestBound{Routes: r.Most, By: "lengths"}
	if r.Lengths == nil {
		s.Fullest.By = "cut"
		if r.Cut.Switches != nil {
			s.Fullest.Cut = &cutsOf(f, []bound.Cut{r.Cut})[0]
		}
	}
	p := n.Random()
	s.Pairs = result.PairsBound{Lambda: p.Lambda, Cuts: cutsOf(f, p.Cuts)}
	return s, nil
}

// cutsOf names the switches of cuts.
func cutsOf(f *fabric.Fabric, cuts []bound.Cut) []result.BoundCut {
	all := make([]result.BoundCut, len(cuts))
	for i, c := range cuts {
		all[i] = result.BoundCut{Hosts: c.Hosts, Cables: c.Cables, Phases: c.Phases}
		for _, s := range c.Switches {
			all[i].Switches = append(all[i].Switches, f.Label(s))
		}
	}
	return all
}

// mostCuts is how many cuts are shown beside a bound; JSON has all.
const mostCuts = 3

// printBound prints a row for each bound.
func printBound(a *console.Console, s *result.Bound) error {
	t := a.NewTable("bound", "", "by")
	t.AtMost(2, 90)
	for _, p := range s.Phases {
		t.Row("phases by "+p.Order, fmt.Sprintf("≥ %.2f", p.Time), cutText(p.Cuts))
	}
	by := "lengths of channels (a dual solution of the linear program of flow)"
	if s.Fullest.By == "cut" {
		by = ""
		if s.Fullest.Cut != nil {
			by = cutText([]result.BoundCut{*s.Fullest.Cut})
		}
	}
	t.Row("fullest channel", "≥ "+words.Thousands(s.Fullest.Routes), by)
	t.Row("random pairs", fmt.Sprintf("≤ %.3f", s.Pairs.Lambda), cutText(s.Pairs.Cuts))
	t.Render()
	if s.RatesDiffer {
		return a.Say("Cables have different rates here, and the bounds take all links for alike: hold them against weft compare --uniform-rates.")
	}
	return nil
}

// cutText describes the first of some cuts, a line each, and says how many more there are.
func cutText(cuts []result.BoundCut) string {
	lines := make([]string, 0, mostCuts)
	for _, c := range cuts[:min(mostCuts, len(cuts))] {
		name := strings.Join(c.Switches, ", ")
		if len(c.Switches) > 3 {
			name = fmt.Sprintf("%s, %s and %s", c.Switches[0], c.Switches[1], words.Counted(len(c.Switches)-2, "more switch", "more switches"))
		}
		line := fmt.Sprintf("%s: %s on %s", name, words.Plural(c.Hosts, "host"), words.Plural(c.Cables, "cable"))
		if c.Phases > 0 {
			line += fmt.Sprintf(", %s", words.Plural(c.Phases, "phase"))
		}
		lines = append(lines, line)
	}
	if more := len(cuts) - mostCuts; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s", words.Plural(more, "other cut")))
	}
	return strings.Join(lines, "\n")
}
