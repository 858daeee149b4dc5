package measure

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/routing/mplash"
	"github.com/weft-fabric/weft/routing/paths/updown"
	"github.com/weft-fabric/weft/traffic"
)

// The packet simulations of TPDS 2006, section 8. All methods of a figure have the
// same number of lanes on a network: what the one that needs most takes there.

// network is what packets go through: tables, or those of switches or sources that choose.
type network struct {
	tables   *routing.Tables
	adaptive *routing.Adaptive
	lanes    packets.LaneChoice
}

// packetMethod is a method of section 8: how a network forwards with so many lanes.
type packetMethod struct {
	name  string
	lanes func(context.Context, *fabric.Fabric, uint64) (int, error) // that all methods of its figures have
	route func(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (network, error)
}

// packetMethods is every method, by the name of its line. The word before the colon
// says in which category: it settles the number of lanes. Those of the paper have source
// routes where it has them; by tables and by credits is what stands beside.
var packetMethods = []packetMethod{
	{"deterministic:updn-dfs", lanesOfLASH, upDown(updown.SourceRoutes{})},
	{"deterministic:updn-dfs, by tables", lanesOfLASH, upDownTables},
	{"deterministic:d-mroots", lanesOfLASH, upDown(updown.SourceRoutes{Roots: true})},
	{"deterministic:lash", lanesOfLASH, lash},
	{"source:mroots", lanesOfMPLASH, upDown(updown.SourceRoutes{Roots: true, All: true})},
	{"source:mp-lash", lanesOfMPLASH, mpLASH(false, packets.BySource)},
	{"source:mp-lash, by credits", lanesOfMPLASH, mpLASH(false, packets.BySwitches)},
	{"source:mp-lash-one", lanesOfMPLASH, mpLASH(true, packets.BySource)},
	{"source:lash", lanesOfMPLASH, lash},
	{"switch:updn-adaptive", lanesOfALASH, adaptively("updn-adaptive")},
	{"switch:escape", lanesOfALASH, adaptively("escape")},
	{"switch:a-lash", lanesOfALASH, adaptively("a-lash")},
	{"switch:lash", lanesOfALASH, lash},
	{"deterministic:weave-any", lanesOfLASH, weaveAny}, {"deterministic:nue", lanesOfLASH, nue},
	{"source:weave-any", lanesOfMPLASH, weaveAny}, {"source:nue", lanesOfMPLASH, nue},
	{"switch:weave-any", lanesOfALASH, weaveAny}, {"switch:nue", lanesOfALASH, nue},
}

func packetMethodNamed(name string) (packetMethod, error) {
	for _, m := range packetMethods {
		if m.name == name {
			return m, nil
		}
	}
	return packetMethod{}, fmt.Errorf("measure: no method of sending packets is called %q", name)
}

func lanesOfLASH(ctx context.Context, f *fabric.Fabric, seed uint64) (int, error) {
	a, err := mplash.Analyse(ctx, f, mplash.Options{One: true, Seed: seed})
	if err != nil {
		return 0, err
	}
	return a.Layers, nil
}

func lanesOfMPLASH(ctx context.Context, f *fabric.Fabric, _ uint64) (int, error) {
	return layersOfMPLASH(ctx, f)
}

// lanesOfALASH is at least two, with which Escape can do.
func lanesOfALASH(ctx context.Context, f *fabric.Fabric, _ uint64) (int, error) {
	needed, err := layersOfALASH(ctx, f)
	return max(2, needed), err
}

// lash is one shortest path for each pair, taken at random, layers balanced.
func lash(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (network, error) {
	a, err := mplash.Analyse(ctx, f, mplash.Options{One: true, Seed: seed, Spread: true, AtLeast: vls})
	switch {
	case err != nil:
		return network{}, err
	case a.Layers > vls:
		return network{}, &routing.TooFewLanes{Need: a.Layers, Have: vls}
	}
	return network{adaptive: a.Routing(true)}, nil
}

// upDown is Up*/Down* by source routes, as its papers have it. "The choice of layer was
// made by distributing the source/destination pairs as evenly between the layers as
// possible."
func upDown(o updown.SourceRoutes) func(context.Context, *fabric.Fabric, int, uint64) (network, error) {
	return func(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (network, error) {
		o.Seed = seed
		t, err := o.RouteAdaptive(ctx, f, routing.Budget{VLs: vls, Scope: routing.HCA}, nil)
		return network{adaptive: t}, err
	}
}

// upDownTables is Up*/Down* after a depth-first search as InfiniBand's tables can hold it.
func upDownTables(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (network, error) {
	paths, err := pathsOf(ctx, f, "updn-dfs", seed)
	if err != nil {
		return network{}, err
	}
	lanes := routing.NewLanes(f, routing.LanePerSL(vls))
	for lid, id := range f.LIDs() {
		row, end := lanes.SLRow(lid), f.Endpoint(id)
		for s := range row {
			row[s] = uint8((s + int(end.Switch)) % vls)
		}
	}
	return network{tables: &routing.Tables{Fabric: f, Forwarding: paths, Lanes: lanes}}, nil
}

// weaveAny is weave-any, with a copy of its lanes for each of as many classes of traffic as
// there is room for.
func weaveAny(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (network, error) {
	r, err := weft.Route(ctx, f, weft.Request{Engine: "weave-any", VLs: vls, Options: engines.Options{Seed: seed}})
	if err != nil {
		return network{}, err
	}
	t, err := r.Tables.InClasses(vls / r.Verdict.VLs)
	return network{tables: t}, err
}

// nue is Nue on all lanes.
func nue(ctx context.Context, f *fabric.Fabric, vls int, seed uint64) (network, error) {
	r, err := weft.Route(ctx, f, weft.Request{Engine: "nue", VLs: vls, Contract: &budget.Contract, Options: engines.Options{Seed: seed}})
	if err != nil {
		return network{}, err
	}
	return network{tables: r.Tables}, nil
}

// mpLASH opens every shortest path to its source, on every layer that takes it, or
// on one.
func mpLASH(one bool, lanes packets.LaneChoice) func(context.Context, *fabric.Fabric, int, uint64) (network, error) {
	return func(ctx context.Context, f *fabric.Fabric, _ int, _ uint64) (network, error) {
		a, err := mplash.Analyse(ctx, f, mplash.Options{Spread: true})
		if err != nil {
			return network{}, err
		}
		return network{adaptive: a.Routing(one), lanes: lanes}, nil
	}
}

func adaptively(name string) func(context.Context, *fabric.Fabric, int, uint64) (network, error) {
	return func(ctx context.Context, f *fabric.Fabric, vls int, _ uint64) (network, error) {
		t, err := adaptive(ctx, f, name, vls)
		return network{adaptive: t}, err
	}
}

// accepted sends packets over one network at the point's load and returns what
// arrives, a fraction of what the links of the hosts carry, and the mean latency.
func accepted(ctx context.Context, f *fabric.Fabric, p Point, seed uint64) (sample, error) {
	n, err := simulated(ctx, f, p.Engine, seed)
	if err != nil {
		return sample{}, err
	}
	// "For pairwise traffic, a new set of pairs was drawn for each topology and load."
	r, err := offer(ctx, n, p, p.Load, seed, uint64(math.Round(p.Load*gridOfLoads*2)), false)
	if err != nil {
		return sample{}, err
	}
	return sample{values: []float64{r.Accepted}, latency: r.Mean}, nil
}

// gridOfLoads is how many loads a throughput is looked for among: 0.02, 0.04 … 1.
const gridOfLoads = 50

// delivered is the largest load of the grid that one network still delivers, and the
// latency there. It takes for granted that a network which delivers a load delivers
// smaller ones, so that pairs are the same at all loads.
func delivered(ctx context.Context, f *fabric.Fabric, p Point, seed uint64) (sample, error) {
	n, err := simulated(ctx, f, p.Engine, seed)
	if err != nil {
		return sample{}, err
	}
	s := sample{values: []float64{0}}
	for low, high := 0, gridOfLoads+1; high-low > 1; {
		mid := (low + high) / 2
		load := float64(mid) / gridOfLoads
		r, err := offer(ctx, n, p, load, seed, 0, true)
		if err != nil {
			return sample{}, err
		}
		if r.Status == packets.Saturated {
			high = mid
		} else {
			low, s.values[0], s.latency = mid, load, r.Mean
		}
	}
	return s, nil
}

// offer sends packets at a load; runs of another number draw other pairs. If all that is
// asked is whether the load is delivered, the run ends as soon as it is clear that it is not.
func offer(ctx context.Context, n *packets.Network, p Point, offered float64, seed, run uint64, isIt bool) (*packets.Result, error) {
	load := packets.Injection{Offered: offered, Placement: routing.HCA.Endpoints(n.Fabric), Seed: seed, Run: run}
	if p.Traffic != Uniform {
		var err error
		if load.Pattern, err = traffic.Parse(p.Traffic); err != nil {
			return nil, err
		}
	}
	// Section 8: "until the average latency had stabilized ... Thereafter, the
	// simulation was run for another 50,000 time units." Past saturation it never
	// stabilizes, and what is accepted does.
	window := packets.Window{Length: packets.Time(p.Patterns), WarmUp: packets.Time(p.Patterns), Throughput: true, Verdict: isIt}
	r, err := n.Measure(ctx, load, window)
	switch {
	case err != nil:
		return nil, err
	case r.Status == packets.Interrupted:
		return nil, ctx.Err()
	case r.Deadlock != nil:
		return nil, fmt.Errorf("a routing that is proven free deadlocked: %s", r.Deadlock)
	}
	return r, nil
}

// simulated is a fabric routed by a method of section 8, ready to send packets.
func simulated(ctx context.Context, f *fabric.Fabric, name string, seed uint64) (*packets.Network, error) {
	m, err := packetMethodNamed(name)
	if err != nil {
		return nil, err
	}
	vls, err := m.lanes(ctx, f, seed)
	if err != nil {
		return nil, err
	}
	routed, err := m.route(ctx, f, vls, seed)
	if err != nil {
		return nil, err
	}
	config, err := packets.PresetNamed("unit")
	if err != nil {
		return nil, err
	}
	config.Lanes = vls
	if routed.adaptive != nil {
		config.LaneChoice = routed.lanes
		v, err := deadlock.VerifyAdaptive(ctx, routed.adaptive, deadlock.AdaptiveOptions{})
		if err == nil && !(v.Free() && v.Complete()) {
			err = fmt.Errorf("%s: the judge finds a loop, or pairs without a way", name)
		}
		if err != nil {
			return nil, err
		}
		return packets.NewAdaptive(routed.adaptive, config)
	}
	contract := budget.Contract
	if routed.tables.Lanes.Classes > 1 {
		contract = routing.Any // senders choose their class
	}
	if _, err := weft.Verify(ctx, routed.tables, weft.Request{Custom: &engines.Engine{Name: name}, Contract: &contract}); err != nil {
		return nil, err
	}
	return packets.New(routed.tables, config)
}

// stops measures when a network under the tables of an engine stops, see StopsOf.
func stops(ctx context.Context, f *fabric.Fabric, p Point) (sample, error) {
	e, _, err := methodNamed(p.Engine)
	if err != nil {
		return sample{}, err
	}
	r, err := route(ctx, f, e, budget.Scope, p.Seed)
	if err != nil {
		return sample{}, err
	}
	values, err := StopsOf(ctx, r.Tables, r.Verdict.Cycle, p.Repeats, p.Seed)
	return sample{values: values, loop: !r.Verdict.Free()}, err
}

// StopsOf simulates HOTI 2016, section VI.A: every host sends one message of 128 KiB to
// another, as far as possible along the routes of a credit loop, the others at
// random, everything on one lane. It returns the microseconds after which the
// network stopped, of the runs in which it did.
func StopsOf(ctx context.Context, t *routing.Tables, loop []deadlock.LoopStep, repeats int, seed uint64) (after []float64, err error) {
	// "800 credits per port, an MTU of 2KiB, 10 GiB full duplex links". Ports draw
	// lots: those that take turns like clockwork can miss each other for ever.
	config, err := packets.PresetNamed("ib-edr")
	if err != nil {
		return nil, err
	}
	config.MTU, config.Buffer, config.Lanes, config.Lottery = 2048, 800*packets.Block, 1, true
	n, err := packets.New(t, config)
	if err != nil {
		return nil, err
	}
	for run := range uint64(repeats) {
		result, err := n.Complete(ctx, [][]packets.Message{loopPairs(t.Fabric, loop, rand.New(rand.NewPCG(seed, run)))}, seed+run, 0)
		if err != nil {
			return after, err
		}
		if d := result.Deadlock; d != nil {
			after = append(after, float64(d.Closed)/1e6)
		}
	}
	return after, nil
}

// loopPairs is a message from every host to a host of its own: "we select
// sender/receiver such that they utilize paths which contribute to a cycle in the CDG
// if possible (otherwise the selection is random)".
func loopPairs(f *fabric.Fabric, loop []deadlock.LoopStep, r *rand.Rand) []packets.Message {
	sends, receives := map[fabric.EndpointID]bool{}, map[fabric.EndpointID]bool{}
	var list []packets.Message
	add := func(from, to fabric.EndpointID) {
		sends[from], receives[to] = true, true
		list = append(list, packets.Message{From: from, To: to, Bytes: 128 << 10})
	}
	for _, step := range loop {
		if to := f.Owner(step.Dst); !sends[step.Src] && !receives[to] {
			add(step.Src, to)
		}
	}
	var from, to []fabric.EndpointID
	for i := range f.Endpoints() {
		id := fabric.EndpointID(i)
		if e := f.Endpoint(id); e.Switch == fabric.None || !routing.HCA.Includes(e.Class) {
			continue
		}
		if !sends[id] {
			from = append(from, id)
		}
		if !receives[id] {
			to = append(to, id)
		}
	}
	r.Shuffle(len(to), func(i, k int) { to[i], to[k] = to[k], to[i] })
	for i, id := range from {
		if id != to[i] {
			add(id, to[i])
		}
	}
	return list
}
