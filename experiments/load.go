package experiments

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/adaptive/alash"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/routing/lanes/layer"
	"github.com/weft-fabric/weft/routing/mplash"
	"github.com/weft-fabric/weft/traffic"
)

// The packet simulations of TPDS 2006, section 8. All methods of a figure have the
// same number of lanes on a network: what the one that needs most takes there.

// carrier is a method of section 8: how a network forwards with so many lanes.
type carrier struct {
	name  string
	lanes func(context.Context, *fabric.Fabric, uint64) (int, error) // that all methods of its figures have
	make  func(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (*routing.Tables, *routing.Adaptive, error)
}

// carriers is every method, by the name of its line. The word before the colon says
// in which category: it settles the number of lanes.
var carriers = []carrier{
	{"deterministic:updn-dfs", lanesOfLASH, upDown},
	{"deterministic:d-mroots", lanesOfLASH, func(ctx context.Context, f *fabric.Fabric, vls int, _ uint64) (*routing.Tables, *routing.Adaptive, error) {
		return roots(ctx, f, vls, true)
	}},
	{"deterministic:lash", lanesOfLASH, lash},
	{"source:mroots", lanesOfMPLASH, func(ctx context.Context, f *fabric.Fabric, vls int, _ uint64) (*routing.Tables, *routing.Adaptive, error) {
		return roots(ctx, f, vls, false)
	}},
	{"source:mp-lash", lanesOfMPLASH, mpLASH(false)},
	{"source:mp-lash-one", lanesOfMPLASH, mpLASH(true)},
	{"source:lash", lanesOfMPLASH, lash},
	{"switch:updn-adaptive", lanesOfALASH, adaptively("updn-adaptive")},
	{"switch:escape", lanesOfALASH, adaptively("escape")},
	{"switch:a-lash", lanesOfALASH, adaptively("a-lash")},
	{"switch:lash", lanesOfALASH, lash},
}

func carrierNamed(name string) (carrier, error) {
	for _, c := range carriers {
		if c.name == name {
			return c, nil
		}
	}
	return carrier{}, fmt.Errorf("experiments: nothing carries packets that is called %q", name)
}

func lanesOfLASH(ctx context.Context, f *fabric.Fabric, seed uint64) (int, error) {
	m, err := methodNamed("lash-random")
	if err != nil {
		return 0, err
	}
	t, err := m.tables(ctx, f, seed)
	if err != nil {
		return 0, err
	}
	return t.Lanes.Needed, nil
}

func lanesOfMPLASH(ctx context.Context, f *fabric.Fabric, _ uint64) (int, error) {
	a, err := mplash.Analyse(ctx, f, mplash.Options{})
	if err != nil {
		return 0, err
	}
	return a.Layers, nil
}

// lanesOfALASH is at least two, with which Escape can do.
func lanesOfALASH(ctx context.Context, f *fabric.Fabric, _ uint64) (int, error) {
	t, err := alash.Router{OneLayer: true}.RouteAdaptive(ctx, f, budget, nil)
	if err != nil {
		return 0, err
	}
	return max(2, t.Needed), nil
}

// lash is one shortest path for each pair, taken at random, layers balanced.
func lash(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (*routing.Tables, *routing.Adaptive, error) {
	paths, err := pathsOf(ctx, f, "shortest-random", seed)
	if err != nil {
		return nil, nil, err
	}
	lanes, err := layer.FirstFit{}.Lanes(ctx, f, paths, routing.Budget{VLs: vls, Scope: routing.HCA, Contract: routing.Directed}, nil)
	if err != nil {
		return nil, nil, err
	}
	return &routing.Tables{Fabric: f, Forwarding: paths, Lanes: lanes}, nil, nil
}

// upDown is Up*/Down* along a depth-first spanning tree. "The choice of layer was
// made by distributing the source/destination pairs as evenly between the layers as
// possible."
func upDown(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (*routing.Tables, *routing.Adaptive, error) {
	paths, err := pathsOf(ctx, f, "updn-dfs", seed)
	if err != nil {
		return nil, nil, err
	}
	lanes := routing.NewLanes(f, routing.LanePerSL(vls))
	for lid, e := range f.LIDs() {
		row := lanes.SLRow(lid)
		for s := range row {
			row[s] = uint8((s + int(f.Endpoint(e).Switch)) % vls)
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: paths, Lanes: lanes}, nil, nil
}

// roots is an Up*/Down* tree for each layer. LMC gives endpoints a power of two of
// addresses; those beyond the layers are not used. With one, a pair keeps to one.
func roots(ctx context.Context, f *fabric.Fabric, vls int, one bool) (*routing.Tables, *routing.Adaptive, error) {
	f, err := f.WithLMC(uint8(bits.Len(uint(vls - 1))))
	if err != nil {
		return nil, nil, err
	}
	paths, err := pathsOf(ctx, f, "mroots", 0)
	if err != nil {
		return nil, nil, err
	}
	lanes := routing.NewLanes(f, routing.LanePerSL(vls))
	for lid, id := range f.LIDs() {
		e := f.Endpoint(id)
		address := int(lid - e.LID)
		row := lanes.SLRow(lid)
		for s := range row {
			row[s] = uint8(address)
			if address >= vls || one && e.LMC > 0 && address != (s+int(e.Switch))%vls {
				row[s] = routing.NoSL
			}
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: paths, Lanes: lanes}, nil, nil
}

// mpLASH opens every shortest path to its source, on every layer that takes it, or
// on one.
func mpLASH(one bool) func(context.Context, *fabric.Fabric, int, uint64) (*routing.Tables, *routing.Adaptive, error) {
	return func(ctx context.Context, f *fabric.Fabric, _ int, _ uint64) (*routing.Tables, *routing.Adaptive, error) {
		a, err := mplash.Analyse(ctx, f, mplash.Options{Spread: true})
		if err != nil {
			return nil, nil, err
		}
		return nil, a.Routing(one), nil
	}
}

func pathsOf(ctx context.Context, f *fabric.Fabric, finder string, seed uint64) (*routing.Forwarding, error) {
	p, err := engines.FinderNamed(finder)
	if err != nil {
		return nil, err
	}
	return p.New(engines.Options{Seed: seed}).Paths(ctx, f, nil)
}

func adaptively(name string) func(context.Context, *fabric.Fabric, int, uint64) (*routing.Tables, *routing.Adaptive, error) {
	return func(ctx context.Context, f *fabric.Fabric, vls int, _ uint64) (*routing.Tables, *routing.Adaptive, error) {
		e, err := engines.Named(name)
		if err != nil {
			return nil, nil, err
		}
		t, err := e.Adaptive.New(engines.Options{}).RouteAdaptive(ctx, f, routing.Budget{VLs: vls, Scope: routing.HCA}, nil)
		return nil, t, err
	}
}

// carried sends packets over one network at the point's load and returns what
// arrives, a fraction of what the links of the hosts carry, and the mean latency.
func carried(ctx context.Context, f *fabric.Fabric, p Point, seed uint64) (reading, error) {
	c, err := carrierNamed(p.Engine)
	if err != nil {
		return reading{}, err
	}
	vls, err := c.lanes(ctx, f, seed)
	if err != nil {
		return reading{}, err
	}
	tables, adaptive, err := c.make(ctx, f, vls, seed)
	if err != nil {
		return reading{}, err
	}
	config, err := packets.PresetNamed("unit")
	if err != nil {
		return reading{}, err
	}
	config.Lanes = vls
	var n *packets.Network
	if adaptive != nil {
		n, err = packets.NewAdaptive(adaptive, config)
	} else {
		if err := provenFree(ctx, tables); err != nil {
			return reading{}, err
		}
		n, err = packets.New(tables, config)
	}
	if err != nil {
		return reading{}, err
	}
	load := packets.Injection{Offered: p.Load, Placement: routing.HCA.Endpoints(n.Fabric), Seed: seed}
	if p.Traffic != "uniform" {
		if load.Pattern, err = traffic.Parse(p.Traffic); err != nil {
			return reading{}, err
		}
	}
	// Section 8: "until the average latency had stabilized ... Thereafter, the
	// simulation was run for another 50,000 time units."
	r, err := n.Measure(ctx, load, packets.Window{Length: packets.Time(p.Patterns)})
	if err != nil {
		return reading{}, err
	}
	if r.Status == packets.Interrupted {
		return reading{}, ctx.Err()
	}
	if r.Deadlock != nil {
		return reading{}, fmt.Errorf("a routing that is proven free deadlocked: %s", r.Deadlock)
	}
	return reading{values: []float64{r.Accepted}, latency: r.Mean}, nil
}

// provenFree asks the judge.
func provenFree(ctx context.Context, t *routing.Tables) error {
	v, err := deadlock.Verify(ctx, t, deadlock.Options{Contract: routing.Directed})
	if err == nil && !(v.Free() && v.Complete()) {
		err = fmt.Errorf("its tables are not what it promises: free of credit loops %t, complete %t", v.Free(), v.Complete())
	}
	return err
}
