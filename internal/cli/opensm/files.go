package opensm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/opensm/advice"
	"github.com/weft-fabric/weft/internal/opensm/deploy"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Deploy makes the command weft deploy.
func Deploy(a *console.Console) *cobra.Command {
	c := &cobra.Command{
		Use:   "deploy",
		Short: "Bring tables to an OpenSM without the plugin, and check one that runs",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(deployFilesCommand(a), Check(a))
	return c
}

type deployFlags struct {
	flags.Engine
	out         string
	force, json bool
	dir         string   // on the manager's host; empty: that of --out
	io          []string // adapters by name, * is any text
	ibsim       bool
}

func deployFilesCommand(a *console.Console) *cobra.Command {
	var o deployFlags
	c := &cobra.Command{
		Use:   "files FABRIC --out DIR",
		Short: "Write what a stock OpenSM needs to use weft's tables",
		Long: `Route a fabric, prove the tables, and write them as files for an OpenSM without
the plugin: lfts.dump, opensm.conf (the options to put into yours),
qos-policy.conf where there is more than one service level, root-guids,
compute-guids, io-guids and guid-routing-order. All files or none.

Files can express one SL2VL map for all ports and one service level for each
destination. Tables that need more are refused, never half expressed: those of
weave, weave-any, df-d2, df-dn and torus-2qos where their maps differ by port, of
lash and dfsssp where they need more than one lane (service levels by source), of
mroots and mp-lash with LMC (by address), and of all adaptive engines. updn, dnup,
ftree, minhop, dor, sssp and balance need one lane; nue gives every destination
its level.`,
		Example: `  weft deploy files fabric.ibnetdiscover --engine nue --vls 4 --out tables --dir /etc/opensm/weft`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.out == "" {
				return exit.Usage("--out names no folder")
			}
			return deployFiles(cmd.Context(), a, args[0], &o)
		},
	}
	o.AddTo(c, auto.Name)
	o.AddClassesTo(c)
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "folder to write the files into")
	f.BoolVar(&o.force, "force", false, "replace the files of an earlier run in the folder")
	f.StringVar(&o.dir, "dir", "", "where the files will be on the subnet manager's host (default: the folder of --out)")
	f.StringSliceVar(&o.io, "io", nil, "adapters that serve rather than compute, by name, with commas between; * is any text")
	f.BoolVar(&o.ibsim, "ibsim", false, "for a subnet manager on ibsim, which makes port GUIDs of node GUID and port number")
	flags.AddJSON(f, &o.json)
	flags.Required(c, "out")
	return c
}

// deployFiles routes as weft route does, has the tables expressed as files, judges what OpenSM makes
// of these, and writes them.
func deployFiles(ctx context.Context, a *console.Console, name string, o *deployFlags) error {
	j, err := routed.New(a, name, &o.Engine)
	if err != nil {
		return err
	}
	if j.Wanted.Adaptive != nil {
		return exit.Finding("%s refuses: its switches choose among several ports, which files for a stock OpenSM cannot express", j.Wanted.Name)
	}
	if err := output.MayWrite(o.out, o.force); err != nil {
		return err
	}
	if err := j.Prepare(); err != nil {
		return err
	}
	j.Accept = func(r *weft.Result) error { // auto passes over engines whose tables files cannot express
		_, err := planOf(ctx, r)
		return err
	}
	if err := j.Compute(ctx); err != nil {
		return j.Refusal(ctx, err, o.json)
	}
	plan, err := planOf(ctx, j.Result)
	if err != nil {
		return inexpressible(ctx, j, err, o.json)
	}
	// From here on the tables are those that OpenSM will have.
	r := j.Request()
	r.Custom = &j.Engine
	if j.Wanted.Auto { // whatever the engine chosen is made for
		r.Contract = &j.Contract
	}
	if j.Result, err = routed.LoopOrResult(weft.Verify(ctx, plan.Tables, r)); err != nil {
		return err
	}
	if !j.Verdict.Free() {
		return exit.Internal("the tables of %s have a credit loop under contract %s, and had none before", j.Engine.Name, j.Contract)
	}
	s, err := writeDeployment(ctx, j, plan, o)
	if err != nil {
		return err
	}
	return a.Answer(o.json, s, func() error { return printDeployment(a, s, j.Fabric, j.Contract, o.out) }, j.Apart)
}

// planOf is how files express tables. The error is *deploy.Inexpressible, advice.ErrLoop
// where the tables that files make of them have a loop, or whatever else went wrong.
func planOf(ctx context.Context, r *weft.Result) (*deploy.Plan, error) {
	files, err := advice.ByFiles(ctx, r.Tables, routed.ProofOf(r))
	if err != nil {
		return nil, err
	}
	return files.Plan()
}

// inexpressible reports an error of planOf, with what would do instead.
func inexpressible(ctx context.Context, j *routed.Job, err error, asJSON bool) error {
	if errors.Is(err, advice.ErrLoop) {
		return exit.Finding("%s: the tables have a credit loop under contract %s, endpoints %s; nothing was written (weft route shows the loop)",
			j.Engine.Name, j.Contract, j.Scope)
	}
	var limit *deploy.Inexpressible
	if !errors.As(err, &limit) {
		return err
	}
	s := result.DeployRefusal{Engine: j.Engine.Name, Refused: limit.Where, Limit: string(limit.Limit), Fits: []string{}, Ways: []string{}}
	ways(ctx, j, &s)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var instead string
	if len(s.Ways) > 0 {
		instead += "\nFiles can express here:\n  " + strings.Join(s.Ways, "\n  ")
	}
	if wire.Expressible(j.Tables, j.Contract) == nil {
		instead += "\nThe plugin takes these tables as they are (weft serve, docs/opensm.md)."
	}
	return j.Refuse(asJSON, s, "%s refuses: files for a stock OpenSM cannot express %s: %s.%s", s.Engine, s.Limit, s.Refused, instead)
}

// ways fills in s.Fits and s.Ways: what files can express in place of the tables of j. It tries the
// engines that are advised, as they are or else with one lane, and the engine of j with one lane or for
// directed clients.
func ways(ctx context.Context, j *routed.Job, s *result.DeployRefusal) {
	fits := func(e engines.Engine, vls int, k routing.Contract) bool { // vls: how many lanes
		r, err := weft.Route(ctx, j.Fabric, weft.Request{Custom: &e, Contract: &k, VLs: vls, SLs: j.Flags.SLs, Scope: j.Scope, NoCycle: true})
		if err == nil {
			_, err = planOf(ctx, r)
		}
		return err == nil
	}
	for _, e := range engines.All() {
		if e.Name != j.Engine.Name && !e.Advised {
			continue
		}
		switch {
		case e.Name != j.Engine.Name && fits(e, j.VLs, j.Contract):
			s.Fits = append(s.Fits, e.Name)
			s.Ways = append(s.Ways, "--engine "+e.Name)
		case j.VLs > 1 && fits(e, 1, j.Contract):
			s.Ways = append(s.Ways, "--engine "+e.Name+" --vls 1")
		}
	}
	if j.Contract == routing.Honored && fits(j.Engine, j.VLs, routing.Directed) {
		s.Ways = append(s.Ways, fmt.Sprintf("--engine %s --contract directed (only where each side uses its own PathRecord)", j.Engine.Name))
	}
}

// writeDeployment writes the files of a plan, all or none, and reads the forwarding tables
// back, which must be those of j. It returns what weft deploy files prints.
func writeDeployment(ctx context.Context, j *routed.Job, plan *deploy.Plan, o *deployFlags) (*result.Deploy, error) {
	out, err := filepath.Abs(o.out)
	if err != nil {
		return nil, err
	}
	// VLs is what the ports offer; the plan may need fewer.
	opt := deploy.Options{Dir: out, VLs: j.VLs, Contract: j.Contract, Engine: j.Engine.Name}
	if o.dir != "" {
		opt.Dir = filepath.Clean(o.dir)
	}
	if o.ibsim {
		opt.GUIDs = lft.NodePlusPort
	}
	opt.Roots = list.Of(j.Options.Roots, j.Fabric.NodeByGUID)
	if opt.IO, err = adapterPorts(j.Fabric, o.io); err != nil {
		return nil, err
	}
	all, err := plan.Files(opt)
	if err != nil {
		return nil, exit.Usage("%w", err)
	}
	s := &result.Deploy{
		Fabric: outputs.Fabric(j.Name, j.Fabric), Engine: j.Engine.Name, Verdict: outputs.WordOf(j.Verdict), Contract: j.Contract.String(),
		VLs: plan.VLs, LaneCounts: j.Lanes(), Dir: opt.Dir,
		Levels:  list.Of(plan.Levels(), func(level uint8) int { return int(level) }),
		Classes: plan.Classes, ClassLevels: plan.ClassLevels,
		Files: list.Of(all, func(f files.File) string { return f.Name }),
	}
	return s, output.WriteFolder(o.out, o.force, func(d *output.Folder) error {
		if err := d.Write(ctx, all...); err != nil {
			return err
		}
		_, err := console.ReadFile(j.Console, d.At(deploy.LFTs), func(r io.Reader, name string) (*routing.Forwarding, error) {
			return files.ReadForwardingBack(r, name, j.Tables, false)
		})
		return err
	})
}

// adapterPorts is the connected ports of the adapters or hosts with these names.
func adapterPorts(f *fabric.Fabric, wanted []string) ([]fabric.EndpointID, error) {
	adapters, err := input.Adapters(f, "--io", wanted)
	if err != nil {
		return nil, err
	}
	var ports []fabric.EndpointID
	for i := range f.Endpoints() {
		if e := fabric.EndpointID(i); slices.Contains(adapters, f.Endpoint(e).Node) {
			ports = append(ports, e)
		}
	}
	return ports, nil
}

// printDeployment prints for people what was written and what to do with it.
func printDeployment(a *console.Console, s *result.Deploy, f *fabric.Fabric, contract routing.Contract, out string) error {
	p := a.NewPage()
	levels := "SL 0 for everything"
	if s.Classes > 1 {
		levels = fmt.Sprintf("SL 0 for everything that asks for a PathRecord; senders choose one of %d classes: service level n is of class n mod %d", s.Classes, s.Classes)
	}
	if len(s.Levels) > 1 || s.Levels[0] != 0 {
		levels = fmt.Sprintf("%d by destination, on %s", len(s.Levels), words.Plural(s.VLs, "lane"))
	}
	p.Fact("tables", "%s, %s (contract %s)", s.Engine, s.Verdict, s.Contract)
	p.Fact("levels", "%s", levels)
	if limit := strings.TrimSpace(outputs.LimitText(s.LaneCounts, f)); limit != "" {
		p.Fact("lanes", "%s", limit)
	}
	p.Fact("hold", "%s", advice.Clients(contract))
	p.Fact("wrote", "%s: %s", out, strings.Join(s.Files, ", "))
	p.Fact("next", "put the folder at %s on the subnet manager's host, the lines of its opensm.conf into yours, restart OpenSM, then ask: weft deploy check --conf opensm.conf", s.Dir)
	return a.Show(p)
}
