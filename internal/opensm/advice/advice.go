// Package advice says how an OpenSM can take tables: the easiest way that keeps them
// proven, judged with the service levels and lanes that OpenSM would install.
//
// Without QoS an OpenSM writes no SL2VL map: those that ports have stay, whoever
// made them, and every client may send on any service level. Forwarding tables are
// safe then only if they have no loop on one lane, of which any number of lanes and
// any maps make no loop either. With QoS it writes one map for all ports, and its
// QoS policy gives each destination a service level. What needs more than that
// needs the plugin.
package advice

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/opensm/deploy"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/routing"
)

// Proof is what tables are proven for.
type Proof struct {
	Contract routing.Contract
	Scope    routing.Scope // who was asked for
	Planned  routing.Scope // who lanes were planned for: as many or more
}

// Files is how files for an OpenSM without the plugin can express tables, in up to two ways.
type Files struct {
	Alone  *deploy.Plan // the forwarding tables alone, whatever service levels and lanes; nil: they have a loop, or classes of traffic
	Levels *deploy.Plan // with the service levels and lanes of the tables; nil: cannot
	Why    error        // why Levels is nil
}

// ErrLoop is why tables that files can express are not to be installed.
var ErrLoop = errors.New("they have a credit loop")

// OneLane reports whether tables are free of deadlock with all packets on lane 0, whatever service levels and maps they
// have. That they are free under contract any does not say so: packets may change lanes by the ports that they pass.
func OneLane(ctx context.Context, t *routing.Tables, scope routing.Scope) (bool, error) {
	one := *t
	one.Lanes = routing.OneSL(t.Fabric, routing.LanePerSL(1))
	v, err := deadlock.Verify(ctx, &one, deadlock.Options{Contract: routing.Any, Scope: scope, NoCycle: true})
	return err == nil && v.Free(), err
}

// ByFiles asks in which ways files can express tables.
func ByFiles(ctx context.Context, t *routing.Tables, p Proof) (*Files, error) {
	s := &Files{}
	alone, err := express(&routing.Tables{Fabric: t.Fabric, Forwarding: t.Forwarding, Lanes: routing.OneSL(t.Fabric, routing.LanePerSL(1))}, p)
	if err != nil {
		return nil, err
	}
	if t.Lanes.Classes <= 1 {
		switch enough, err := OneLane(ctx, alone.Tables, p.Scope); {
		case err != nil:
			return nil, err
		case enough:
			s.Alone = alone
		}
	}
	levels, err := express(t, p)
	switch limit := (*deploy.Inexpressible)(nil); {
	case errors.As(err, &limit):
		s.Why = err
		return s, nil
	case err != nil:
		return nil, err
	}
	v, err := deadlock.Verify(ctx, levels.Tables, deadlock.Options{Contract: p.Contract, Scope: p.Scope, NoCycle: true})
	switch {
	case err != nil:
		return nil, err
	case v.Free():
		s.Levels = levels
	default:
		s.Why = ErrLoop
	}
	return s, nil
}

// Plan is the files to write: with the service levels and lanes of the tables, else
// without, where the forwarding tables are safe alone.
func (s *Files) Plan() (*deploy.Plan, error) {
	switch {
	case s.Levels != nil:
		return s.Levels, nil
	case s.Alone != nil:
		return s.Alone, nil
	}
	return nil, s.Why
}

// express plans for all that the lanes were planned for, if that is possible, else
// for the endpoints that were asked for.
func express(t *routing.Tables, p Proof) (*deploy.Plan, error) {
	plan, err := deploy.Express(t, p.Planned)
	if err != nil && p.Planned > p.Scope {
		plan, err = deploy.Express(t, p.Scope)
	}
	return plan, err
}

// By is a way into an OpenSM.
type By string

// The ways, a contract with programs.
const (
	File   By = "file"   // routing_engine file with the forwarding tables is all
	Policy By = "policy" // weft deploy files writes a QoS policy beside them
	Plugin By = "plugin" // weft serve and the plugin
	None   By = "none"
)

// Advice is the easiest way.
type Advice struct {
	By       By
	Lines    []string         // of opensm.conf, of File and Plugin
	Contract routing.Contract // under which the tables are proven, installed so
	Why      string           // why not an easier way
}

// For is the easiest way for tables whose forwarding tables are, or will be, in a file.
func For(ctx context.Context, t *routing.Tables, p Proof, file string) (*Advice, error) {
	s, err := ByFiles(ctx, t, p)
	if err != nil {
		return nil, err
	}
	if s.Alone != nil {
		return &Advice{By: File, Lines: s.Alone.Lines(file), Contract: routing.Any}, nil
	}
	a := &Advice{By: Policy, Contract: p.Contract, Why: "on one lane they have a credit loop"}
	if t.Lanes.Classes > 1 {
		a.Why = "the forwarding tables alone have no lanes for classes of traffic"
	}
	if s.Levels != nil {
		return a, nil
	}
	limit := (*deploy.Inexpressible)(nil)
	if errors.As(s.Why, &limit) {
		a.Why += fmt.Sprintf(", and a stock OpenSM cannot set %s: %s", limit.Limit, limit.Where)
	}
	if err := wire.Expressible(t, p.Contract); err != nil {
		a.By, a.Why = None, a.Why+"; nor can the plugin: "+err.Error()
		return a, nil
	}
	a.By, a.Lines = Plugin, append(pluginLines(p.Contract), deploy.LMC(t.Fabric)...)
	return a, nil
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

// Clients says for which clients tables hold that are proven under a contract.
func Clients(k routing.Contract) string {
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
