package ethernet

import (
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/version"
	"github.com/weft-fabric/weft/internal/export"
	"github.com/weft-fabric/weft/internal/page"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// Report is weft report, the command c of InfiniBand, of lossless Ethernet too.
func Report(a *console.Console, c *cobra.Command) *cobra.Command {
	o := &trafficFlags{}
	return ofBothKinds(twoKinds{
		Command: c,
		also:    []string{"json", "out", "title", "seed"},
		flags:   o.addTo,
		long: `Of a lossless Ethernet network the map has what crosses each cable where all adapters
send to all over every next hop, the lossless priorities, the loop, every way that ECMP
can choose between two hosts, next hops by prefix, and how long random pairs take.`,
		run: func(cmd *cobra.Command, name string) error { return runReport(a, cmd, name, o) },
	})
}

// runReport writes the page of a lossless Ethernet network: its map, how long random pairs take if that can be measured, and
// its next hops. Findings are credit loops and pairs without a route.
func runReport(a *console.Console, cmd *cobra.Command, name string, o *trafficFlags) error {
	if args := cmd.Flags().Args(); len(args) > 1 {
		return exit.Usage("%s is a lossless Ethernet network, and a page shows one of them; %d are given", name, len(args))
	}
	if err := o.check(); err != nil {
		return err
	}
	var asJSON bool
	var out, title string
	var seed uint64
	if err := errorOf(
		get(cmd.Flags().GetBool, "json", &asJSON), get(cmd.Flags().GetString, "out", &out), get(cmd.Flags().GetString, "title", &title), get(cmd.Flags().GetUint64, "seed", &seed),
	); err != nil {
		return err
	}
	if !asJSON && out == "" {
		return exit.Usage("--out names no file; - is standard output")
	}
	var spent struct{ read, measure float64 }
	stage := a.Stage("reading", &spent.read)
	in, err := o.read(a, name)
	stage.Done()
	if err != nil {
		return err
	}
	stage = a.Stage("measuring", &spent.measure)
	j, err := newPage(cmd.Context(), in, name, o, true)
	var times *result.ReportResult
	if err == nil {
		times, err = j.times(cmd.Context(), o, seed)
	}
	stage.Done()
	if err != nil {
		return err
	}
	if title == "" {
		title = filepath.Base(name)
	}
	d := &result.Report{Title: title, Made: "weft " + version.Current().Version, Networks: []*result.ReportNetwork{j.n}, Results: []*result.ReportResult{}}
	if times != nil {
		d.Results = append(d.Results, times)
	}
	d.Results = append(d.Results, j.nextHops())
	t := j.n.Tables[0] // the routes as read, the only ones
	found := t.Verdict != result.DeadlockFree || t.Unreachable > 0 || t.Circling > 0
	if asJSON {
		return a.Answer(true, d, nil, found)
	}
	size := int64(0)
	err = output.WriteFile(a, out, func(w io.Writer) error { return page.Write(io.MultiWriter(w, counter{n: &size}), d) })
	if err != nil {
		return err
	}
	return a.Answer(false, nil, func() error {
		if out == "-" {
			return nil
		}
		p := a.NewPage()
		p.Judged(!found, "%s; %s", t.Verdict, t.Why[0])
		in.factNetwork(p, name)
		p.Fact("page", "%s, %s", out, words.Bytes(size))
		p.Fact("time", "read %s, measure %s", words.Seconds(spent.read), words.Seconds(spent.measure))
		return a.Show(p)
	}, found)
}

// counter counts what is written.
type counter struct{ n *int64 }

func (c counter) Write(p []byte) (int, error) {
	*c.n += int64(len(p))
	return len(p), nil
}

// Export is weft export, the command c of InfiniBand, of lossless Ethernet too.
func Export(a *console.Console, c *cobra.Command) *cobra.Command {
	o := &trafficFlags{}
	return ofBothKinds(twoKinds{
		Command: c,
		also:    []string{"to", "out"},
		flags:   o.addTo,
		long: `Of a lossless Ethernet network loads are routes over each cable where all adapters send
to all over every next hop, lanes are priorities, and ports are interfaces by name.`,
		run: func(cmd *cobra.Command, name string) error { return runExport(a, cmd, name, o) },
	})
}

// runExport writes the network in the form of --to. Findings count only for forms that tell the verdict.
func runExport(a *console.Console, cmd *cobra.Command, name string, o *trafficFlags) error {
	if err := o.check(); err != nil {
		return err
	}
	var form, out string
	if err := errorOf(get(cmd.Flags().GetString, "to", &form), get(cmd.Flags().GetString, "out", &out)); err != nil {
		return err
	}
	f, err := export.Named(form)
	if err != nil {
		return exit.Usage("--to %s: %w", form, err)
	}
	if f.Hosts {
		return exit.Usage("--to %s is about hosts by name, which a lossless Ethernet network does not tell", form)
	}
	in, err := o.read(a, name)
	if err != nil {
		return err
	}
	j, err := newPage(cmd.Context(), in, name, o, false)
	if err != nil {
		return err
	}
	if err := output.WriteFile(a, out, func(w io.Writer) error { return f.Write(w, j.n) }); err != nil {
		return err
	}
	t := j.n.Tables[0]
	return a.Answer(false, nil, func() error { return nil }, f.Judged && (t.Verdict != result.DeadlockFree || t.Unreachable > 0 || t.Circling > 0))
}
