package look

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/export"
	"github.com/weft-fabric/weft/internal/page"
	"github.com/weft-fabric/weft/result"
)

// Export makes the command weft export.
func Export(a *console.Console) *cobra.Command {
	var o reportFlags
	var form string
	c := &cobra.Command{
		Use:   "export FABRIC --to FORM",
		Short: "Write a fabric, its loads or the findings for Graphviz, NetworkX, Slurm, Prometheus …",
		Long: `Write a fabric in the form of another tool:

` + formHelp() + `
Loads and findings are those of the tables of an engine, or of --tables. The first
forms contain loads only if one of the two is given.

In Slurm's tree a host is below the switch of its first adapter. What switches are
joined by without the levels above is one branch, and so is a group of a Dragonfly.
Parts that no cable joins have no branch in common.

In CSV a name that a spreadsheet would calculate, as =A1, has an apostrophe before it;
weft takes it away where it reads names from CSV (--traffic).

Exit code 1: the tables have a credit loop, leave pairs without a route or do not
fit the fabric.`,
		Example: `  weft export fabric.ibnetdiscover --to slurm -o /etc/slurm/topology.conf
  weft export fabric.ibnetdiscover --to csv --tables /var/log/opensm -o links.csv
  weft export dragonfly:p=2 --to dot | neato -n -Tsvg > map.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeExport(cmd.Context(), a, args[0], form, &o)
		},
	}
	o.route.AddTo(c, auto.Name)
	o.tables.AddTo(c)
	f := c.Flags()
	f.StringVar(&form, "to", "", "form to write: "+strings.Join(export.Names(), ", "))
	f.StringVarP(&o.out, "out", "o", "-", "file to write; - is standard output")
	f.Float64Var(&o.precision, "precision", 0.002, "standard error of the bandwidth of random pairs")
	flags.Complete(c, "to", export.Names)
	flags.Required(c, "to")
	return c
}

// formHelp lists the forms for the help text.
func formHelp() string {
	var b strings.Builder
	for _, f := range export.Formats {
		fmt.Fprintf(&b, "  %-11s %s\n", f.Name, f.What)
	}
	return b.String()
}

// writeExport writes a fabric in a form. Where the form or a flag asks for tables, it makes the same
// network as weft report, with loads and findings; else it only reads the fabric.
func writeExport(ctx context.Context, a *console.Console, name, form string, o *reportFlags) error {
	f, err := export.Named(form)
	if err != nil {
		return exit.Usage("--to %s: %w", form, err)
	}
	j := &reportJob{Console: a, o: o, data: &result.Report{}}
	if err := j.check([]string{name}); err != nil {
		return err
	}
	var n *result.ReportNetwork
	if f.Judged || o.route.Chosen() || o.tables.LFTs != "" {
		if err := j.add(ctx, name); err != nil {
			return err
		}
		n = j.data.Networks[0]
	} else {
		fab, err := input.FabricWithLMC(a, name, o.route.LMC)
		if err != nil {
			return err
		}
		n = page.NewNetwork(name, fab)
	}
	if err := output.WriteFile(a, o.out, func(w io.Writer) error { return f.Write(w, n) }); err != nil {
		return err
	}
	return a.Answer(false, nil, func() error { return nil }, j.found)
}
