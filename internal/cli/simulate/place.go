package simulate

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/placement"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/traffic"
)

type placeFlags struct {
	simulateFlags
	beginnings int
	out        string
}

// Place makes the command weft place.
func Place(a *console.Console) *cobra.Command {
	var o placeFlags
	c := &cobra.Command{
		Use:   "place FABRIC --pattern P [--engine ENGINE | --tables FILE]",
		Short: "Put the ranks of a job on its hosts so that they share little of the network",
		Long: `Put the ranks of a job on its hosts so that what they send to each other shares as
little of the network as can be. Who sends to whom is a pattern, or a matrix that was
measured: --traffic with --allocation or --ranks is src,dst,bytes by rank, and alone by
host. The routes are those of an engine, or finished tables; only which rank runs on
which of the hosts is chosen. Two ranks are exchanged as long as that
makes the fullest channels lighter, from several beginnings. What is told is
measured, as by weft simulate: how long the job takes, before and after. If no
order is shorter the ranks stay where they are.

--out writes the hosts in the order of ranks, one a line: a host file for mpirun,
and what weft simulate --ranks reads.

weft help patterns lists the patterns.
` + flags.HostNamesHelp + `

Exit code 1: no order was found that is shorter.`,
		Example: `  weft place fabric.ibnetdiscover --pattern neighbour3d --allocation random:64 --out hosts
  weft place fabric.ibnetdiscover --tables /var/log/opensm --ranks hosts --pattern alltoall-phased
  weft place fabric.ibnetdiscover --traffic ranks.csv --allocation random:64 --out hosts
  weft place torus:4x4x4 --engine dor --pattern neighbour2d --allocation random --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return placeRanks(cmd.Context(), a, args[0], &o)
		},
	}
	o.addTo(c, "ring", "seed of exchanges, random patterns and placements, and of engines that choose by chance")
	f := c.Flags()
	f.BoolVar(&o.uniformRates, "uniform-rates", false, "treat all links alike")
	flags.Whole(f, &o.beginnings, "beginnings", placement.DefaultBeginnings, 1, math.MaxInt16, "it is at least 1", "orders of ranks to begin with, the one at hand and others at random")
	f.StringVarP(&o.out, "out", "o", "", "file to write the hosts to, in the order of ranks; - is standard output")
	return c
}

// placedOf is a measurement as weft place prints it.
func placedOf(r *congestion.Result) result.PlacedFigure {
	return result.PlacedFigure{Slowdown: r.Slowdown(), Bandwidth: r.Lambda, MaxCongestion: r.MaxCongestion}
}

// placeRanks takes tables and ranks as weft simulate does, looks for a better order of the ranks, and
// writes and prints it; without one the answer has exit code 1.
func placeRanks(ctx context.Context, a *console.Console, name string, o *placeFlags) error {
	if o.json && o.out == "-" {
		return exit.Usage("--json and the hosts would both go to standard output; give a file with --out")
	}
	j := &simulateJob{Console: a, name: name, o: &o.simulateFlags}
	if err := j.check(); err != nil {
		return err
	}
	if err := j.obtain(ctx); err != nil {
		return err
	}
	if err := j.place(); err != nil {
		return err
	}
	var spent float64
	stage := j.Stage("exchange", &spent)
	r, err := placement.Improve(ctx, j.tables, placement.Options{
		Pattern: j.options.Pattern, Ranks: j.options.Placement, UniformRates: o.uniformRates, Seed: o.route.Seed,
		Beginnings: o.beginnings, Progress: stage.Progress(),
	})
	stage.Done()
	if err != nil {
		return err
	}
	hosts := hostsOf(j.tables.Fabric, r.Ranks)
	if o.out != "" {
		err := output.WriteFile(j.Console, o.out, func(w io.Writer) error {
			for _, h := range hosts {
				if _, err := fmt.Fprintln(w, h); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	s := &result.Place{
		Fabric: filepath.Base(name), Tables: j.source, Pattern: o.job.String(), Ranks: len(r.Ranks), Exchanged: r.Exchanged, Tried: r.Tried,
		Before: placedOf(r.Before), After: placedOf(r.After),
		Gain: 1 - r.After.Time/r.Before.Time, Hosts: hosts, Seed: o.route.Seed, Seconds: spent,
	}
	return j.Answer(o.json, s, func() error {
		if o.out == "-" {
			return nil
		}
		return j.showPlaced(s, o)
	}, r.Exchanged == 0)
}

// showPlaced prints for people what the order of the ranks is worth.
func (j *simulateJob) showPlaced(s *result.Place, o *placeFlags) error {
	p := j.NewPage()
	p.Fact("fabric", "%s", s.Fabric)
	p.Fact("tables", "%s", s.Tables)
	p.Fact("job", "%s among %s", s.Pattern, words.Plural(s.Ranks, "rank"))
	line := func(f result.PlacedFigure) string {
		return fmt.Sprintf("%.3f times as long as each flow alone; %.4f of full for the mean flow; %s at most on a channel", f.Slowdown, f.Bandwidth, words.Plural(f.MaxCongestion, "flow"))
	}
	p.Fact("before", "%s", line(s.Before))
	switch {
	case s.Tried == 0:
		p.Fact("after", "every order of the ranks loads the network alike")
		return j.Show(p)
	case s.Exchanged == 0:
		p.Fact("after", "no order that was tried is shorter; %s tried in %s", words.Plural(s.Tried, "exchange"), words.Seconds(s.Seconds))
		return j.Show(p)
	}
	p.Fact("after", "%s", line(s.After))
	p.Fact("gain", "%.1f %% of the time; %d of %s run elsewhere; %s tried in %s", 100*s.Gain, s.Exchanged, words.Plural(s.Ranks, "rank"), words.Plural(s.Tried, "exchange"), words.Seconds(s.Seconds))
	if o.out == "" {
		p.Fact("next", "--out FILE writes the hosts in the order of ranks")
	}
	return j.Show(p)
}

// hostsOf is the hosts of ranks as --ranks reads them: by name, or by GUID where several
// have that name or it is no single word.
func hostsOf(f *fabric.Fabric, ranks traffic.Placement) []string {
	called := map[string]int{}
	for i := range f.Nodes() {
		called[names.Short(&f.Nodes()[i])]++
	}
	list := make([]string, len(ranks))
	for i, e := range ranks {
		n := f.Node(f.Endpoint(e).Node)
		if list[i] = names.Short(n); called[list[i]] > 1 || strings.ContainsAny(list[i], " \t,[]#") {
			list[i] = n.GUID.String()
		}
	}
	return list
}
