package route

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/engine/adaptive/alash"
	"github.com/weft-fabric/weft/internal/engine/lanes/exact"
	"github.com/weft-fabric/weft/internal/engine/lanes/hop"
	"github.com/weft-fabric/weft/internal/engine/lanes/layer"
	"github.com/weft-fabric/weft/internal/engine/lanes/weave"
	"github.com/weft-fabric/weft/internal/engine/mplash"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Lanes makes the command weft lanes.
func Lanes(a *console.Console) *cobra.Command {
	var o flags.Engine
	var withExact, withAllPaths, asJSON bool
	c := &cobra.Command{
		Use:   "lanes FABRIC",
		Short: "Compare how many lanes each lane assigner needs for the same paths",
		Long: `Compare how many lanes each lane assigner needs for the paths of an engine or
of a path finder (--paths): first-fit with the paths taken in every order,
break-cycles with every heuristic, the same as the papers print them (plain), the
lanes that rise with the hops, and weave.

Assigners content themselves with the lanes there are: with a smaller --vls they
try harder, and what they get down to is shown.

--exact adds between which numbers the fewest layers are that any assigner can
do with that keeps paths whole, by a search that small networks allow.
--all-paths adds what it takes to open every shortest path: to the switches
(A-LASH) and to the sources, as source routes (MP-LASH).`,
		Example: `  weft lanes torus:4x4 --engine lash --exact
  weft lanes random:switches=64,links=128 --paths minhop --all-paths --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Paths != "" {
				o.Lanes = "single" // --paths wants some assigner; this one is never asked
			}
			return compareLanes(cmd.Context(), a, args[0], &o, withExact, withAllPaths, asJSON)
		},
	}
	o.AddPathsTo(c, "")
	f := c.Flags()
	vls := f.Lookup("vls")
	vls.Usage, vls.DefValue = "data lanes to do with if possible, 1 to 15; without, no more than every cable between switches is stated to run", fmt.Sprint(routing.MaxDataVLs)
	o.VLs = routing.MaxDataVLs
	flags.AddContract(f, &o.Contract, "honored")
	f.Lookup("contract").Usage = "what clients do with service levels: honored or directed (default honored)"
	f.BoolVar(&withExact, "exact", false, "find the fewest layers there are, or bounds")
	f.BoolVar(&withAllPaths, "all-paths", false, "count the layers for all shortest paths, too")
	flags.AddJSON(f, &asJSON)
	return c
}

// compareLanes has the paths of an engine made, asks every lane assigner how many lanes they take, and
// prints the counts.
func compareLanes(ctx context.Context, a *console.Console, name string, o *flags.Engine, withExact, withAllPaths, asJSON bool) error {
	j, err := routed.New(a, name, o)
	if err != nil {
		return err
	}
	if err := j.OneEngine("lanes"); err != nil {
		return err
	}
	if err := j.NeedsTables(); err != nil {
		return exit.Usage("%w; --all-paths counts what it takes", err)
	}
	if err := j.Prepare(); err != nil {
		return err
	}
	if o.Contract == nil {
		o.Contract = &routing.Honored
	} else if _, fixed := o.Contract.FixedMask(); fixed {
		return exit.Usage("--contract %s: lanes are for clients that use the service levels of their paths, honored or directed", o.Contract)
	}
	paths, err := pathsOnly(ctx, j)
	if err != nil {
		return err
	}
	s := result.Lanes{
		Fabric: name, Paths: j.Wanted.PathsUnder(j.Asked()), Contract: j.Asked().String(), Endpoints: j.Budget().Scope.String(),
		Offered: j.VLs, Available: j.VLs, Limit: outputs.LaneLimit(j.Fabric, j.VLs),
	}
	if s.Assigners, err = countLanes(ctx, j, paths); err != nil {
		return err
	}
	if withExact {
		if s.Exact, err = fewest(ctx, j, paths); err != nil {
			return err
		}
	}
	if withAllPaths {
		if s.AllPaths, err = openAll(ctx, j); err != nil {
			return err
		}
	}
	return a.Answer(asJSON, s, func() error { return printLanes(a, &s, j.Fabric) }, false)
}

// pathsOnly is the forwarding of the engine's path finder; of an engine that decides ways
// and lanes at once, that of its tables with all lanes it may have.
func pathsOnly(ctx context.Context, j *routed.Job) (*routing.Forwarding, error) {
	var paths *routing.Forwarding
	finder, err := engines.FinderNamed(j.Wanted.PathsUnder(j.Asked()))
	if err != nil { // no path finder: the engine decides both
		if err = j.Compute(ctx); err == nil {
			paths = j.Tables.Forwarding
		}
	} else {
		s := j.Stage("paths", &j.Spent.Paths)
		defer s.Done()
		paths, err = finder.New(j.Options).Paths(ctx, j.Fabric, s.Progress())
	}
	if err != nil {
		return nil, j.Refusal(ctx, err, false)
	}
	return paths, nil
}

// countLanes asks every lane assigner, in all its variants, for lanes for the paths. Their last step, the
// spreading over spare lanes, changes no count and is left out (Unbalanced).
func countLanes(ctx context.Context, j *routed.Job, paths *routing.Forwarding) ([]result.LaneCount, error) {
	type variant struct {
		name, variant string
		routing.LaneAssigner
	}
	var all []variant
	for _, o := range layer.Orders {
		all = append(all, variant{"first-fit", o.String(), layer.FirstFit{Order: o, Unbalanced: true}})
	}
	for _, h := range layer.Heuristics {
		all = append(all, variant{"break-cycles", h.String(), layer.BreakCycles{Heuristic: h, Unbalanced: true}})
	}
	all = append(all, variant{"hop-d2", "", hop.D2{}}, variant{"hop-dn", "", hop.DN{}}, variant{"weave", "", weave.Assigner{}},
		variant{"first-fit-plain", layer.ByDestination.String(), layer.FirstFit{Order: layer.ByDestination, AsPrinted: true, Unbalanced: true}})
	for _, h := range layer.Heuristics {
		all = append(all, variant{"break-cycles-plain", h.String(), layer.BreakCycles{Heuristic: h, AsPrinted: true, Unbalanced: true}})
	}
	all = append(all, variant{"hop-dn-plain", "", hop.Printed{}})
	counts := make([]result.LaneCount, len(all))
	for i, v := range all {
		counts[i] = result.LaneCount{Name: v.name, Variant: v.variant}
		err := timed(ctx, &counts[i], func() (int, error) {
			s := j.Stage(strings.TrimSpace(v.name+" "+v.variant), &j.Spent.Lanes)
			defer s.Done()
			l, err := v.Lanes(ctx, j.Fabric, paths, j.Budget(), s.Progress())
			if err != nil {
				return 0, err
			}
			return l.Needed, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// timed calls count and notes in l how many lanes it returns, or what it refuses, and how long it took.
// The error is the context's.
func timed(ctx context.Context, l *result.LaneCount, count func() (int, error)) error {
	start := time.Now()
	n, err := count()
	l.Seconds = time.Since(start).Seconds()
	few := (*routing.TooFewLanes)(nil)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &few):
		l.VLs, l.Needed, l.AtLeast = few.Need, few.Need, few.AtLeast
	case err != nil:
		l.Refused = err.Error()
	default:
		l.VLs, l.Needed = n, n
	}
	return nil
}

// fewest is what --exact adds: the fewest layers of these paths, or bounds.
func fewest(ctx context.Context, j *routed.Job, paths *routing.Forwarding) (*result.Exact, error) {
	start := time.Now()
	s := &result.Exact{}
	var err error
	s.Lower, s.Upper, err = exact.Bounds(ctx, j.Fabric, paths, j.Budget(), 0)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		s.Refused = err.Error()
	}
	s.Seconds = time.Since(start).Seconds()
	return s, nil
}

// openAll is what --all-paths adds. As with assigners, the spreading over spare lanes
// (OneLayer leaves it out) changes no count; of MP-LASH its paths by layer are shown too.
func openAll(ctx context.Context, j *routed.Job) (*result.AllPaths, error) {
	s := &result.AllPaths{ALASH: result.LaneCount{Name: "a-lash"}, MPLASH: result.LaneCount{Name: "mp-lash"}}
	err := timed(ctx, &s.ALASH, func() (int, error) {
		t, err := alash.Engine{OneLayer: true}.RouteAdaptive(ctx, j.Fabric, routing.Budget{VLs: routing.MaxDataVLs, Scope: j.Budget().Scope}, nil)
		if err != nil {
			return 0, err
		}
		return t.Needed, nil
	})
	if err != nil {
		return nil, err
	}
	return s, timed(ctx, &s.MPLASH, func() (int, error) {
		t, err := mplash.Analyse(ctx, j.Fabric, mplash.Options{Scope: j.Budget().Scope})
		if err != nil {
			return 0, err
		}
		s.Pairs, s.Paths, s.Most, s.PerLayer = t.Pairs, t.Paths, t.MostPaths, t.PerLayer
		spread, err := mplash.Analyse(ctx, j.Fabric, mplash.Options{Scope: j.Budget().Scope, Spread: true})
		if err != nil {
			return 0, err
		}
		s.Spread = spread.PerLayer
		return t.Layers, nil
	})
}

// printLanes prints the counts as a table.
func printLanes(a *console.Console, s *result.Lanes, f *fabric.Fabric) error {
	t := a.NewTable("lanes for "+s.Paths, "order or heuristic", "lanes needed", "time")
	t.AtMost(1, 60)
	row := func(l result.LaneCount, detail string) {
		if l.Refused != "" {
			detail = "refuses: " + l.Refused
		}
		t.Row(l.Name, detail, laneCountText(&l), words.Seconds(l.Seconds))
	}
	for _, l := range s.Assigners {
		row(l, l.Variant)
	}
	if e := s.Exact; e != nil {
		l := result.LaneCount{Name: "exact", VLs: e.Lower, Refused: e.Refused, Seconds: e.Seconds}
		detail := "no fewer"
		if e.Lower < e.Upper {
			detail = fmt.Sprintf("between %d and %d; the search was given up", e.Lower, e.Upper)
			l.AtLeast = true
		}
		row(l, detail)
	}
	if p := s.AllPaths; p != nil {
		t.Line()
		row(p.ALASH, "all shortest paths open, switches choose")
		row(p.MPLASH, fmt.Sprintf("%s shortest paths of %s pairs of switches, at most %s of one; by layer %s, with each wherever it fits %s",
			words.Thousands(p.Paths), words.Thousands(p.Pairs), words.Thousands(p.Most), inARow(p.PerLayer), inARow(p.Spread)))
	}
	t.Render()
	_, err := fmt.Fprintf(a.Stdout, "%s available, planned for contract %s and endpoints %s%s\n", words.Plural(s.Offered, "lane"), s.Contract, s.Endpoints, outputs.LimitText(result.LaneCounts{Limit: s.Limit}, f))
	return err
}

// laneCountText is a count, "-" for a refusal.
func laneCountText(l *result.LaneCount) string {
	switch {
	case l.Refused != "":
		return "-"
	case l.AtLeast:
		return fmt.Sprintf("%d or more", l.VLs)
	}
	return fmt.Sprint(l.VLs)
}

// inARow is numbers with spaces between.
func inARow(numbers []int64) string { return strings.Join(list.Of(numbers, words.Thousands), " ") }
