package opensm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/opensm/check"
	"github.com/weft-fabric/weft/internal/opensm/conf"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

type checkFlags struct {
	conf, fabric   string
	tables         flags.Tables
	contract       *routing.Contract
	scope          routing.Scope
	vls            int
	vlsGiven       bool
	plugin, opensm string
	json           bool
}

// Check makes the command weft deploy check.
func Check(a *console.Console) *cobra.Command {
	var o checkFlags
	c := &cobra.Command{
		Use:   "check --conf opensm.conf",
		Short: "Say what is dangerous about an OpenSM: its configuration, tables and fabric",
		Long: `Read opensm.conf as OpenSM does and report what is dangerous, the worst first: a
credit loop in the tables that run, a silent fallback to MinHop, QoS off while
lanes are needed, too few operational lanes or a wrong max_op_vls, a plugin built
for another OpenSM, an option of the plugin that it does not know or that demands
too little, service levels that clients do not use, ftree or updn about to refuse
the fabric. With --fabric and --tables the judge looks at the tables too.

With --contract single:N it prints the environment that clients need.

Exit code 1 if there is anything more than advice.`,
		Example: `  weft deploy check --conf /etc/opensm/opensm.conf
  weft deploy check --conf opensm.conf --fabric fabric.ibnetdiscover --tables /var/log/opensm
  weft deploy check --conf opensm.conf --plugin /usr/lib/libweft.so --opensm /usr/sbin/opensm`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.vlsGiven = cmd.Flags().Changed("vls")
			return deployCheck(cmd.Context(), a, &o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.conf, "conf", "", "opensm.conf, - for standard input")
	f.StringVar(&o.fabric, "fabric", "", "the fabric: a file or a spec")
	o.tables.AddTo(c)
	flags.AddContract(f, &o.contract, "not known")
	flags.AddScope(f, &o.scope)
	flags.AddVLs(f, &o.vls, routing.DefaultVLs, "data lanes of the hardware (VLCap); without, no more than every cable between switches of --fabric is stated to run")
	f.StringVar(&o.plugin, "plugin", "", "the plugin's library, to see which OpenSM it was built for")
	f.StringVar(&o.opensm, "opensm", "", "the opensm program, or its version such as 3.3.23")
	flags.AddJSON(f, &o.json)
	flags.Required(c, "conf")
	return c
}

// deployCheck reads everything that the flags name, has package check look at it, and prints what is
// dangerous.
func deployCheck(ctx context.Context, a *console.Console, o *checkFlags) error {
	in, err := checkInput(a, o)
	if err != nil {
		return err
	}
	if in.Fabric != nil && !o.vlsGiven {
		in.VLs = routing.LimitOf(in.Fabric).Within(in.VLs)
	}
	r, err := check.Run(ctx, in)
	if err != nil {
		return err
	}
	s := &result.DeployCheck{
		Conf: o.conf, Engines: append([]string{}, r.Engines...), NoFallback: r.NoFallback, QoS: r.QoS,
		VLs: r.Lanes, VLsNeeded: r.Needed, LaneCounts: result.LaneCounts{Needed: r.Needed, Available: r.Lanes}, Bad: r.Bad(),
		Findings: list.Of(r.Findings, func(f check.Finding) result.Danger {
			return result.Danger{Level: string(f.Level), Code: string(f.Code), What: f.What, Do: f.Do, Lines: f.Lines, Line: f.Line}
		}),
	}
	return a.Answer(o.json, s, func() error { return printCheck(a, s) }, s.Bad)
}

// checkInput reads opensm.conf, the versions of plugin and OpenSM, and the fabric with its tables.
func checkInput(a *console.Console, o *checkFlags) (in check.Input, err error) {
	in.VLs, in.Contract, in.Scope = o.vls, o.contract, o.scope
	if in.Conf, err = console.ReadFile(a, o.conf, conf.Read); err != nil {
		return in, err
	}
	if in.Plugin, err = openSMVersion(a, o.plugin); err != nil {
		return in, err
	}
	if in.OpenSM, err = openSMVersion(a, o.opensm); err != nil {
		return in, err
	}
	o.tables.StaticOnly = true
	if err := o.tables.Settle(); err != nil {
		return in, err
	}
	switch {
	case o.fabric == "" && o.tables.LFTs != "":
		return in, exit.Usage("--tables needs the fabric that the tables are for: --fabric")
	case o.fabric == "":
		return in, nil
	case o.tables.LFTs == "":
		in.Fabric, err = input.Fabric(a, o.fabric)
		return in, err
	}
	v, err := input.Read(a, o.fabric, flags.NoLMC, &o.tables)
	if err != nil {
		return in, err
	}
	for _, text := range outputs.FitTexts(v.Fit()) {
		a.Note("%s", text)
	}
	in.Fabric, in.Tables, in.SLs = v.Tables.Fabric, v.Tables, o.tables.PSL != ""
	return in, nil
}

var (
	versionInside = regexp.MustCompile(`OpenSM \d+\.\d+\.\d+[-.\w]*`)
	versionAlone  = regexp.MustCompile(`^\d+\.\d+\.\d+[-.\w]*$`)
)

// openSMVersion is the version of OpenSM that a program or library was built
// with, or the one that is given in place of a file; empty for nothing.
func openSMVersion(a *console.Console, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	if v := strings.TrimPrefix(name, "OpenSM "); versionAlone.MatchString(v) {
		return "OpenSM " + v, nil
	}
	text, err := a.ReadPlain(name)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s: no such file, and no version such as 3.3.23", name)
	}
	if err != nil {
		return "", err
	}
	v := versionInside.Find(text)
	if v == nil {
		return "", fmt.Errorf("%s: says nothing of a version of OpenSM", name)
	}
	return string(bytes.Clone(v)), nil
}

// printCheck prints the findings for people, the worst first.
func printCheck(a *console.Console, s *result.DeployCheck) error {
	var b strings.Builder
	engines := strings.Join(s.Engines, ", then ")
	if engines == "" {
		engines = "none named"
	}
	if last := len(s.Engines) - 1; !s.NoFallback && (last < 0 || s.Engines[last] != "minhop" && s.Engines[last] != "null") {
		engines += ", then MinHop"
	}
	qos := "off"
	if s.QoS {
		qos = "on"
	}
	fmt.Fprintf(&b, "%s: engines %s; QoS %s; lanes: %s\n", s.Conf, engines, qos, outputs.LanesText(s.LaneCounts))
	for i, f := range s.Findings {
		where := ""
		if f.Line > 0 {
			where = fmt.Sprintf(" (line %d)", f.Line)
		}
		number := fmt.Sprintf("%d. ", i+1)
		indent := strings.Repeat(" ", len(number))
		fmt.Fprintf(&b, "\n%s%s: %s%s\n%s%s\n", number, strings.ToUpper(f.Level), f.What, where, indent, f.Do)
		for _, l := range f.Lines {
			fmt.Fprintf(&b, "%s    %s\n", indent, l)
		}
	}
	if len(s.Findings) == 0 {
		b.WriteString("nothing dangerous was found\n")
	}
	return a.Say("%s", strings.TrimSuffix(b.String(), "\n"))
}
