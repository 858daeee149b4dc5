package watch

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/conf"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// asked is the engines that OpenSM was asked for, in order; empty: not known. noFallback: it is to keep
// the tables there are where all of them fail.
func (s *settings) asked(ctx context.Context) (names []string, noFallback bool, err error) {
	switch {
	case s.Engine != "":
		names, noFallback = conf.ParseEngines(s.Engine)
		return names, noFallback, nil
	case s.Conf == "":
		return nil, false, nil
	}
	in, err := reading.OpenFound(ctx, s.Conf)
	if err != nil {
		return nil, false, err
	}
	defer in.Close()
	c, err := conf.Read(in, s.Conf)
	if err != nil {
		return nil, false, err
	}
	names, noFallback = c.Engines()
	return names, noFallback, nil
}

// fallen is the engine that OpenSM falls back to.
const fallen = "minhop"

// Tables are taken to be MinHop's by the share of entries with a choice that are as MinHop makes them. In those of
// an OpenSM that has run through changes some differ from what it would make afresh; in tables of another origin
// about one in two is as MinHop's at most.
const (
	minhopShare = 0.9  // at least
	clearer     = 0.02 // by so much MinHop's share is larger than that of any engine asked for
)

// byTables is MinHop if tables look like its own, and clearly less like those of an engine asked for; else nil: it is
// not known who made them.
func byTables(ctx context.Context, t *routing.Tables, asked []string) (*result.LookMade, error) {
	if slices.Contains(asked, fallen) {
		return nil, nil
	}
	share, err := shareOf(ctx, t, fallen)
	if err != nil || share < minhopShare {
		return nil, err
	}
	for _, name := range asked {
		own, err := shareOf(ctx, t, name)
		if err != nil {
			return nil, err
		}
		if own > share-clearer {
			return nil, nil
		}
	}
	return &result.LookMade{Engine: fallen, How: "tables", Share: share}, nil
}

// shareOf is the share of entries with a choice, those at switches with several shortest ways, that are as an
// engine of OpenSM makes them; 0 if it makes none, or if no switch has a choice.
func shareOf(ctx context.Context, t *routing.Tables, engine string) (float64, error) {
	table := engines.All()
	i := slices.IndexFunc(table, func(e engines.Engine) bool { return engine != "" && e.OpenSM == engine })
	if i < 0 { // weft's plugin, or a file
		return 0, nil
	}
	e := table[i]
	own, _, err := e.RouteWide(ctx, t.Fabric, engines.Options{Seed: 1}, routing.Budget{Contract: e.Contract, Scope: routing.Adapters}, routing.Adapters, nil)
	switch {
	case err != nil && ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil: // it refuses
		return 0, nil
	}
	same, all := 0, 0
	f := t.Fabric
	choice := make([]bool, f.Switches()) // [switch] it has several shortest ways to switch to
	to := fabric.NodeID(fabric.None)
	for lid, owner := range f.LIDs() {
		ep := f.Endpoint(owner)
		if ep.Class == fabric.SwitchPort || ep.Switch == fabric.None {
			continue
		}
		if ep.Switch != to {
			to = ep.Switch
			choices(f, to, choice)
		}
		for s, free := range choice {
			if port := t.Forwarding.Port(fabric.NodeID(s), lid); free && port != routing.NoPort {
				all++
				if port == own.Forwarding.Port(fabric.NodeID(s), lid) {
					same++
				}
			}
		}
	}
	if all == 0 {
		return 0, nil
	}
	return float64(same) / float64(all), nil
}

// choices sets choice, [switch], to which switches have several shortest ways to one.
func choices(f *fabric.Fabric, to fabric.NodeID, choice []bool) {
	hops := f.Hops(to)
	for s := range choice {
		ways := 0
		first, end := f.TrunksFrom(fabric.NodeID(s))
		for c := first; c < end; c++ {
			if next := hops[f.Channel(c).To]; next >= 0 && next == hops[s]-1 {
				ways++
			}
		}
		choice[s] = ways > 1
	}
}

// madeBy says which engine made the tables of a look: log, the one that OpenSM's log names, or else by the tables. nil:
// it is not known.
func madeBy(ctx context.Context, now *Snapshot, asked []string, log string) (*result.LookMade, error) {
	switch {
	case log != "":
		return &result.LookMade{Engine: log, How: "log"}, nil
	case len(asked) == 0:
		return nil, nil
	}
	return byTables(ctx, now.Tables, asked)
}
