package routed

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/internal/opensm/advice"
	"github.com/weft-fabric/weft/internal/tablefiles"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// ProofOf is what has been proven of tables, as far as it decides how OpenSM may take them.
func ProofOf(r *weft.Result) advice.Proof {
	return advice.Proof{Contract: r.Contract, Scope: r.Scope, Planned: r.Planned}
}

// Installation is the easiest way in which OpenSM takes the tables and they stay proven: the files of
// the folder out as they are; or byFiles, the command that makes files for a stock OpenSM (empty:
// none does); or the plugin, where the daemon has the engine of that name.
func (j *Judged) Installation(ctx context.Context, out, byFiles, engine string) (*result.Installation, error) {
	dir, err := filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	a, err := advice.For(ctx, j.Tables, ProofOf(j.Result), filepath.Join(dir, tablefiles.ForwardingFile))
	if err != nil {
		return nil, err
	}
	way := &result.Installation{By: string(a.By), Lines: a.Lines, Contract: a.Contract.String(), Why: a.Why}
	_, unnamed := engines.Named(j.Engine.Name)
	switch {
	case a.By == advice.Policy && byFiles == "":
		way.By, way.Why = string(advice.None), way.Why+"; weft deploy files routes anew, and keeps no tables"
	case a.By == advice.Policy:
		way.Command = byFiles
	case a.By == advice.Plugin && unnamed != nil:
		way.By, way.Lines, way.Why = string(advice.None), nil, way.Why+"; the plugin can, but weft serve takes engines by name"
	case a.By == advice.Plugin:
		way.Command = fmt.Sprintf("weft serve --engine %s --contract %s", engine, j.Contract)
		if n := j.Tables.Lanes.Classes; n > 1 {
			way.Command += fmt.Sprintf(" --classes %d", n)
		}
		if j.Scope != routing.HCA {
			way.Command += " --endpoints " + j.Scope.String()
		}
	}
	return way, nil
}

// DeployCommand is the command line of weft deploy files that routes as this weft route did.
func (j *Job) DeployCommand(out string) string {
	all := []string{"weft", "deploy", "files", j.Name}
	if j.Flags.Paths != "" {
		all = append(all, "--paths", j.Flags.Paths, "--lanes", j.Flags.Lanes)
	} else {
		all = append(all, "--engine", j.Engine.Name)
	}
	all = append(all, "--contract", j.Contract.String())
	j.Flags.Set.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "vls", "sls", "classes", "roots", "endpoints", "lmc", "order", "prefer", "before", "seed", "aim", "weight":
			value := f.Value.String()
			if list, ok := f.Value.(pflag.SliceValue); ok {
				value = strings.Join(list.GetSlice(), ",")
			}
			all = append(all, "--"+f.Name, value)
		case "within-parts":
			all = append(all, "--within-parts")
		}
	})
	all = append(all, "--out", out+"-opensm")
	for i, w := range all {
		all[i] = words.ShellWord(w)
	}
	return strings.Join(all, " ")
}

// InstallText is an Installation for people, with the reasons.
func InstallText(i *result.Installation) string {
	hold := ""
	if c, err := routing.ParseContract(i.Contract); err == nil {
		hold = advice.Clients(c)
	}
	lines := strings.Join(i.Lines, "\n    ")
	switch advice.By(i.By) {
	case advice.File:
		return "in opensm.conf, with qos TRUE or FALSE since one lane is enough:\n    " + lines
	case advice.Policy:
		return fmt.Sprintf("for a stock OpenSM:\n    %s\nwrites them with what else they need:\n    routing_engine file,no_fallback\n    qos TRUE, a QoS policy and one map for all ports\nThey hold %s.\nNot the forwarding tables alone: %s", i.Command, hold, i.Why)
	case advice.Plugin:
		return fmt.Sprintf("%s, and with the plugin (docs/opensm.md), in opensm.conf:\n    %s\nThey hold %s.\nNot routing_engine file: %s", i.Command, lines, hold, i.Why)
	}
	return "for studying. Not routing_engine file: " + i.Why
}
