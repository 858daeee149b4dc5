package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/opensm/deploy"
	"github.com/weft-fabric/weft/opensm/wire"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// stock is how an OpenSM without our plugin can take tables, judged with the
// service levels and lanes that it would install. What is advised anywhere, and
// what deploy files writes, comes from here.
//
// Without QoS an OpenSM writes no SL2VL map: those that ports have stay, whoever
// made them, and every client may send on any service level. Forwarding tables are
// safe then only if they have no loop on one lane, of which any number of lanes and
// any maps make no loop either. With QoS it writes one map for all ports, and its
// QoS policy gives each destination a service level.
type stock struct {
	plain  *deploy.Plan // by the forwarding tables alone, whatever service levels and lanes; nil: they have a loop
	levels *deploy.Plan // with the service levels and lanes of the tables; nil: cannot
	why    error        // why not with their levels
}

// errLoopInstalled is why tables that files can express are not to be installed.
var errLoopInstalled = errors.New("they have a credit loop")

// stock asks both ways.
func (j *routeJob) stock(ctx context.Context, t *routing.Tables) (*stock, error) {
	s := &stock{}
	judged := func(p *deploy.Plan, k routing.Contract) (*deploy.Plan, error) {
		v, err := deadlock.Verify(ctx, p.Tables, deadlock.Options{Contract: k, Scope: j.scope, NoCycle: true})
		if err != nil || !v.Free() {
			return nil, err
		}
		return p, nil
	}
	plain, err := j.express(&routing.Tables{Fabric: t.Fabric, Forwarding: t.Forwarding, Lanes: routing.OneSL(t.Fabric, routing.LanePerSL(1))})
	if err != nil {
		return nil, err
	}
	if s.plain, err = judged(plain, routing.Any); err != nil {
		return nil, err
	}
	levels, err := j.express(t)
	switch limit := (*deploy.Inexpressible)(nil); {
	case errors.As(err, &limit):
		s.why = err
		return s, nil
	case err != nil:
		return nil, err
	}
	if s.levels, err = judged(levels, j.contract); err == nil && s.levels == nil {
		s.why = errLoopInstalled
	}
	return s, err
}

// express plans for all that the lanes were planned for, if that is possible, else
// for the endpoints that were asked for.
func (j *routeJob) express(t *routing.Tables) (*deploy.Plan, error) {
	plan, err := deploy.Express(t, j.budget.Scope)
	if err != nil && j.budget.Scope > j.scope {
		plan, err = deploy.Express(t, j.scope)
	}
	return plan, err
}

// The ways into an OpenSM, a contract with programs.
const (
	byFile   = "file"   // routing_engine file with the forwarding tables is all
	byPolicy = "policy" // deploy files writes a QoS policy beside them
	byPlugin = "plugin" // weft serve and the plugin
	byNone   = "none"
)

// installation is how to get tables into an OpenSM.
type installation struct {
	By       string   `json:"by"`
	Lines    []string `json:"lines,omitempty"`   // of opensm.conf
	Command  string   `json:"command,omitempty"` // of weft, to run first
	Contract string   `json:"contract"`          // under which they are proven, installed so
	Why      string   `json:"why,omitempty"`     // why not an easier way

	hold string // for which clients
}

// installation is the easiest way that keeps the tables proven.
func (j *routeJob) installation(ctx context.Context, o *routeFlags) (*installation, error) {
	s, err := j.stock(ctx, j.tables)
	if err != nil {
		return nil, err
	}
	if s.plain != nil {
		dir, err := filepath.Abs(j.out)
		if err != nil {
			return nil, err
		}
		return &installation{By: byFile, Lines: s.plain.Lines(filepath.Join(dir, lftFile)), Contract: routing.Any.String()}, nil
	}
	way := &installation{Contract: j.contract.String(), Why: "on one lane they have a credit loop", hold: where(j.contract)}
	if s.levels != nil && o.keep != "" {
		way.By, way.Why = byNone, way.Why+"; weft deploy files routes anew, and keeps no tables"
		return way, nil
	}
	if s.levels != nil {
		way.By, way.Command = byPolicy, j.deployCommand(o)
		return way, nil
	}
	limit := (*deploy.Inexpressible)(nil)
	if errors.As(s.why, &limit) {
		way.Why = fmt.Sprintf("on one lane they have a credit loop, and a stock OpenSM cannot set %s: %s", limit.Limit, limit.Where)
	}
	if err := wire.Expressible(j.tables, j.contract); err != nil {
		way.By, way.Why = byNone, way.Why+"; nor can the plugin: "+strings.TrimPrefix(err.Error(), "wire: ")
		return way, nil
	}
	if _, err := engines.Named(j.engine.Name); err != nil {
		way.By, way.Why = byNone, way.Why+"; the plugin can, but weft serve takes engines by name"
		return way, nil
	}
	way.By = byPlugin
	way.Lines = append(pluginLines(j.contract), deploy.LMC(j.fabric)...)
	way.Command = fmt.Sprintf("weft serve --engine %s --contract %s", j.asked(), j.contract)
	if j.scope != routing.HCA {
		way.Command += " --endpoints " + j.scope.String()
	}
	return way, nil
}

// deployCommand is the weft deploy files that routes as this weft route did.
func (j *routeJob) deployCommand(o *routeFlags) string {
	words := []string{"weft", "deploy", "files", j.name}
	if o.paths != "" {
		words = append(words, "--paths", o.paths, "--lanes", o.lanes)
	} else {
		words = append(words, "--engine", j.engine.Name)
	}
	words = append(words, "--contract", j.contract.String())
	o.flags.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "vls", "sls", "roots", "endpoints", "lmc", "order", "prefer", "before", "seed", "aim", "weight":
			value := f.Value.String()
			if list, ok := f.Value.(pflag.SliceValue); ok {
				value = strings.Join(list.GetSlice(), ",")
			}
			words = append(words, "--"+f.Name, value)
		case "within-parts":
			words = append(words, "--within-parts")
		}
	})
	words = append(words, "--out", j.out+"-opensm")
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " ")
}

// shellWord is a word as a shell takes it.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,=@%+", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// pluginLines is what opensm.conf needs for the plugin to take tables that are proven
// under a contract. It refuses those for directed unless it is told to.
func pluginLines(k routing.Contract) []string {
	lines := []string{"event_plugin_name weft"}
	if k == routing.Directed {
		lines = append(lines, "event_plugin_options weft.contract=directed")
	}
	return append(lines, "routing_engine weft,no_fallback", "qos TRUE")
}

// text is the advice for people.
func (i *installation) text() string {
	lines := strings.Join(i.Lines, "\n    ")
	switch i.By {
	case byFile:
		return "in opensm.conf, with qos TRUE or FALSE since one lane is enough:\n    " + lines
	case byPolicy:
		return fmt.Sprintf("for a stock OpenSM:\n    %s\nwrites them with what else they need:\n    routing_engine file,no_fallback\n    qos TRUE, a QoS policy and one map for all ports\nThey hold %s.\nNot the forwarding tables alone: %s", i.Command, i.hold, i.Why)
	case byPlugin:
		return fmt.Sprintf("%s, and with the plugin (docs/opensm.md), in opensm.conf:\n    %s\nThey hold %s.\nNot routing_engine file: %s", i.Command, lines, i.hold, i.Why)
	}
	return "for studying. Not routing_engine file: " + i.Why
}

// where says for which clients tables hold that are proven under a contract.
func where(k routing.Contract) string {
	var sl int
	if n, err := fmt.Sscanf(k.String(), "single:%d", &sl); n == 1 && err == nil {
		return fmt.Sprintf("where all clients use SL %d (UCX_IB_SL=%d, NCCL_IB_SL=%d)", sl, sl, sl)
	}
	switch k {
	case routing.Honored:
		return "where clients use the service level of the PathRecord, their own or the other side's"
	case routing.Directed:
		return "where each side uses the service level of its own PathRecord (a passive side of RDMA-CM does not: --contract honored proves for it too)"
	}
	return "whatever service levels clients use"
}
