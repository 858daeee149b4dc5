package campaigns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/campaign"
	"github.com/weft-fabric/weft/internal/sweep/chart"
	"github.com/weft-fabric/weft/internal/sweep/results"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

const resultsHelp = "RESULTS is folders of weft sweep -o, finished or not, and Parquet files."

// sweepResultsCommands is the commands below weft sweep for results that are there.
func sweepResultsCommands(a *console.Console) []*cobra.Command {
	return []*cobra.Command{sweepMergeCommand(a), sweepCSVCommand(a), sweepPlotCommand(a), sweepEstimatesCommand(a)}
}

// readResults reads results, folders or Parquet files, and merges them; none at all is an error.
func readResults(ctx context.Context, names []string) ([]results.Row, []results.Difference, error) {
	sets := make([][]results.Row, len(names))
	for i, name := range names {
		var err error
		if sets[i], err = results.Of(ctx, name); err != nil {
			return nil, nil, err
		}
	}
	rows, differ := results.Merge(sets...)
	if len(rows) == 0 {
		return nil, nil, fmt.Errorf("%s: there are no results yet", strings.Join(names, ", "))
	}
	return rows, differ, nil
}

func sweepMergeCommand(a *console.Console) *cobra.Command {
	var out string
	var asJSON bool
	c := &cobra.Command{
		Use:   "merge RESULTS... -o DIR",
		Short: "Put results of several folders into one",
		Long: `Put results of several folders into one, each point and measure once. DIR then
is as if everything had been measured there: weft sweep -o DIR goes on from it.

` + resultsHelp + `

Exit code 1: the same point and measure has different values, times aside. The one
of the later folder counts.`,
		Example: "  weft sweep merge part-1 part-2 part-3 -o all",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return exit.Usage("where shall the results go? -o DIR")
			}
			return mergeResults(a, args, out, asJSON)
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "folder for all of them; if it has results, they come first")
	flags.AddJSON(c.Flags(), &asJSON)
	return c
}

// mergeResults adds the results that are named to the folder out, writes that anew, and prints where they differ.
func mergeResults(a *console.Console, names []string, out string, asJSON bool) error {
	for _, name := range names {
		if sameFolder(name, out) {
			return exit.Usage("%s is where the results go; what it has counts without being named", name)
		}
	}
	rows, differ, err := readResults(a.Context, names)
	if err != nil {
		return err
	}
	all, fromOut, err := campaign.Add(out, rows)
	if err != nil {
		return err
	}
	differ = append(differ, fromOut...)
	s := result.SweepMerge{Results: names, Out: out, Rows: len(all), Points: countPoints(all), Differences: len(differ), Differ: []result.SweepDifference{}}
	for i := range differ[:min(len(differ), mostDifferences)] {
		d := &differ[i]
		s.Differ = append(s.Differ, result.SweepDifference{
			Point: d.First.Point, Network: d.First.Network, Seed: d.First.Seed, Engine: d.First.Engine, Measure: d.First.Measure,
			First: d.First.Outcome(), Second: d.Second.Outcome(), FirstVersion: d.First.Version, SecondVersion: d.Second.Version,
		})
	}
	found := s.Differences > 0
	return a.Answer(asJSON, s, func() error {
		for _, d := range s.Differ {
			fmt.Fprintf(a.Stdout, "differs: %s of %s on %s, seed %d: %s (%s), %s (%s)\n", d.Measure, d.Engine, d.Network, d.Seed, d.First, d.FirstVersion, d.Second, d.SecondVersion)
		}
		if unlisted := s.Differences - len(s.Differ); unlisted > 0 {
			fmt.Fprintf(a.Stdout, "and %s more\n", words.Plural(unlisted, "difference"))
		}
		_, err := fmt.Fprintf(a.Stdout, "%s of %s in %s\n", words.Plural(s.Rows, "row"), words.Plural(s.Points, "point"), out)
		return err
	}, found)
}

// sameFolder reports whether two paths lead to one folder or file, by links or written in another way; a path
// that leads nowhere is the same as itself only.
func sameFolder(a, b string) bool {
	at, err := os.Stat(a)
	other, errOther := os.Stat(b)
	if err != nil || errOther != nil {
		return filepath.Clean(a) == filepath.Clean(b)
	}
	return os.SameFile(at, other)
}

// mostDifferences is how many differences are listed; the number says the rest.
const mostDifferences = 20

// countPoints counts a point once, though it has a row for each measure.
func countPoints(rows []results.Row) int {
	seen := map[string]bool{}
	for i := range rows {
		seen[rows[i].Point] = true
	}
	return len(seen)
}

func sweepCSVCommand(a *console.Console) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "csv RESULTS...",
		Short: "Print results as comma-separated values",
		Long: `Print results as comma-separated values, a line a point and measure. docs/sweep.md
says what the columns are.

` + resultsHelp,
		Example: "  weft sweep csv random > random.csv",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			rows, _, err := readResults(a.Context, args)
			if err != nil {
				return err
			}
			return output.WriteFile(a, out, func(w io.Writer) error { return results.WriteCSV(w, rows) })
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "-", "file to write; - is standard output")
	return c
}

func sweepPlotCommand(a *console.Console) *cobra.Command {
	var out string
	var o chart.Chart
	var where []string
	c := &cobra.Command{
		Use:   "plot RESULTS... --x COLUMN --y COLUMN",
		Short: "Draw any column of results against any other",
		Long: `Draw any column of results against any other, as SVG. COLUMN is a measure, such as
lanes, which stands for its value, or a column of it, as bandwidth.seconds; or a
parameter of the networks, such as links; or a column that all measures of a point
share, such as switches, hosts, cables, seed, engine, options, network,
missing_cables, routing_seconds or memory; or a setting of measures, such as the
load of settled, with the measure before it where something else is called so too:
settled.load.

Points of one line at one place are their mean, with the least and the most as
whiskers. Where --x is no number, there are bars.

` + resultsHelp,
		Example: `  weft sweep plot random --x links --y lanes --by engine -o lanes.svg
  weft sweep plot random --x lanes --y bandwidth --by engine --where links=200,320
  weft sweep plot random --x cables --y bandwidth --where pattern=bisect --log-x
  weft sweep plot tpds2006 --x load --y settled --by engine,pattern`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, text := range where {
				f, err := chart.ParseFilter(text)
				if err != nil {
					return exit.Usage("--where %w", err)
				}
				o.Where = append(o.Where, f)
			}
			rows, _, err := readResults(a.Context, args)
			if err != nil {
				return err
			}
			var drawn strings.Builder
			if err := o.SVG(&drawn, rows); err != nil {
				return err
			}
			return output.WriteFile(a, out, func(w io.Writer) error { _, err := io.WriteString(w, drawn.String()); return err })
		},
	}
	f := c.Flags()
	f.StringVar(&o.X, "x", "", "what goes to the right")
	f.StringVar(&o.Y, "y", "", "what goes up")
	f.StringSliceVar(&o.By, "by", []string{"engine", "options"}, "a line for each value, or each combination of several")
	f.StringArrayVar(&where, "where", nil, "rows that count: NAME=VALUE, several values with commas between; may be repeated")
	f.BoolVar(&o.LogX, "log-x", false, "logarithmic to the right")
	f.BoolVar(&o.LogY, "log-y", false, "logarithmic upwards")
	f.StringVar(&o.Title, "title", "", "heading of the figure")
	f.StringVarP(&out, "out", "o", "-", "SVG file to write; - is standard output")
	flags.Required(c, "x")
	flags.Required(c, "y")
	return c
}

func sweepEstimatesCommand(a *console.Console) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "estimates RESULTS...",
		Short: "Fit what points take to results, for weft sweep --estimates",
		Long: `Fit what points take to results, and print it as CSV for weft sweep --estimates:
dry runs and shards then go by this machine, and by networks like these. The last
column is how good that is: the factor within which half of the points are when they
are foretold from networks of other kinds. For all together it goes to standard error.

` + resultsHelp,
		Example: "  weft sweep estimates random -o here.csv",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			rows, _, err := readResults(a.Context, args)
			if err != nil {
				return err
			}
			samples := campaign.Samples(rows)
			if len(samples) == 0 {
				return errors.New("no row of these results has a time")
			}
			q := sweep.Quality(samples) // each kind of network is foretold from the other kinds
			a.Tell("%s; left out by kind of network and foretold from the others: half are within a factor of %.2f, nine of ten within %.2f; their sum is %.2f of what they took",
				words.Plural(len(samples), "time"), q.Half, q.Ninety, q.Sum)
			return output.WriteFile(a, out, sweep.Fit(samples).Write)
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "-", "file to write; - is standard output")
	return c
}
