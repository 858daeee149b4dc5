package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/conf"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// family is whose file it is: that of the OpenSM that runs, if that is known, or as the file looks.
func family(in *Input) conf.Family {
	switch {
	case strings.HasPrefix(in.OpenSM, "OpenSM 3."):
		return conf.Upstream
	case in.OpenSM != "":
		return conf.NVIDIA
	}
	return in.Conf.Family()
}

// checkFamily says what a file of another family than OpenSM 3.3's has besides, and what that leaves open.
func (r *Report) checkFamily(in *Input) {
	if r.Family != conf.NVIDIA {
		return
	}
	var only []string
	for _, o := range in.Conf.Options {
		if !conf.Known(o.Key) && r.Family.Of(o.Key) && !slices.Contains(only, o.Key) {
			only = append(only, o.Key)
		}
	}
	what := fmt.Sprintf("this is checked as a file of %s, of MLNX_OFED, DOCA or UFM", r.Family)
	if len(only) > 0 {
		what += fmt.Sprintf("; what only that reads is not looked at: %s", strings.Join(only[:min(4, len(only))], ", "))
		if more := len(only) - 4; more > 0 {
			what += fmt.Sprintf(" and %d more", more)
		}
	}
	r.add(Finding{Level: Advice, Code: OtherManager, What: what, Do: "if OpenSM 3.3 of a distribution runs, say so, with --opensm: it skips these"})
	if i := slices.IndexFunc(r.Engines, func(e string) bool { return strings.HasPrefix(e, "ar_") || strings.HasPrefix(e, "dfp") }); i >= 0 && (in.Tables == nil || in.Tables.Groups == nil) {
		r.add(Finding{Level: Advice, Code: OtherManager, What: fmt.Sprintf("%s lets switches choose among ports, which forwarding tables alone do not show", r.Engines[i]),
			Do: "have ibdiagnet write the groups of ports, and judge them with the tables: ibdiagnet -r --routing --pc -o DIR, then weft verify DIR", Line: in.Conf.Line("routing_engine")})
	}
	if hasPlugin(in.Conf) {
		r.add(Finding{Level: Warning, Code: OtherManager, What: "weft's plugin is built for OpenSM 3.3, and untested with NVIDIA's", Do: "use tables as files, or only weft watch, until you have tried it", Line: in.Conf.Line("event_plugin_name")})
	}
}

// name is what the findings call a subnet manager.
func name(f conf.Family) string {
	if f == conf.Upstream {
		return "OpenSM"
	}
	return string(f)
}

// isMinHop reports whether a name of an engine is one of MinHop.
func isMinHop(engine string) bool { return engine == "minhop" || engine == "null" }

// minHopShare is which share of the entries of tables is MinHop's at least if MinHop made them. A cable
// that was replaced between the dump of the fabric and that of the tables changes fewer.
const minHopShare = .99

// checkMinHop finds tables of MinHop where the configuration asks for another engine: it failed, or was never
// loaded. OpenSM says so in one line of its log. weft's minhop is OpenSM's, entry by entry.
func (r *Report) checkMinHop(ctx context.Context, in *Input) error {
	if in.Tables == nil || len(r.Engines) == 0 || isMinHop(r.Engines[0]) {
		return nil
	}
	share, err := shareOf(ctx, in.Tables, "minhop")
	if err != nil || share < minHopShare {
		return err
	}
	asked := r.Engines[0]
	if _, ok := ofOpenSM(asked); ok {
		switch own, err := shareOf(ctx, in.Tables, asked); {
		case err != nil:
			return err
		case own >= share: // on a tree both may make the same tables
			return nil
		}
	}
	r.add(Finding{Level: Danger, Code: SilentFallback, What: fmt.Sprintf("the tables in force are MinHop's (%.4g %% of their entries), and the configuration asks for %s: it failed, or these are from before", 100*share, asked),
		Do: "look in OpenSM's log for the sweep that wrote them; with no_fallback tables that are there stay", Line: in.Conf.Line("routing_engine")})
	return nil
}

// shareOf is the share of the entries for adapters that are as one of OpenSM's engines makes them, of those
// where several ports are on shortest paths; 0 if there are none, or if it has no tables for the network.
// O(S·C + entries).
func shareOf(ctx context.Context, t *routing.Tables, engine string) (float64, error) {
	e, _ := ofOpenSM(engine)
	own, err := e.Route(ctx, t.Fabric, engines.Options{}, routing.Budget{VLs: routing.MaxDataVLs, Scope: routing.Adapters}, nil)
	if err != nil {
		return 0, ctx.Err()
	}
	f := t.Fabric
	on := make([][]fabric.LID, f.Switches()) // [switch] LIDs of adapters
	for _, e := range routing.Adapters.Endpoints(f) {
		end := f.Endpoint(e)
		on[end.Switch] = append(on[end.Switch], end.LID)
	}
	entries, same := 0, 0
	for dest := range fabric.NodeID(f.Switches()) {
		if len(on[dest]) == 0 {
			continue
		}
		far := f.Hops(dest)
		for s := range fabric.NodeID(f.Switches()) {
			nearer := 0
			for c, end := f.TrunksFrom(s); c < end; c++ {
				if far[f.Channel(c).To] == far[s]-1 {
					nearer++
				}
			}
			if nearer < 2 {
				continue
			}
			entries += len(on[dest])
			for _, lid := range on[dest] {
				if t.Forwarding.Port(s, lid) == own.Forwarding.Port(s, lid) {
					same++
				}
			}
		}
	}
	if entries == 0 {
		return 0, nil
	}
	return float64(same) / float64(entries), nil
}
