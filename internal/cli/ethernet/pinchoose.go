package ethernet

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/engine/steps/coloring"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/ecmp"
	"github.com/weft-fabric/weft/internal/ethernet/pins"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/traffic"
)

// adapter is an endpoint of the fabric with the addresses that are pinned.
type adapter struct {
	name  string
	e     fabric.EndpointID
	leaf  ethernet.DeviceID
	class int
	ips   []netip.Addr
}

// coloredPins is what pins are called that pins.Serve finds.
const coloredPins = "edge coloring"

// find sets the adapters, each with the addresses that are pinned: those of its list, or computed ones.
func (j *pinJob) find() error {
	t := j.t
	at := make([]int, len(t.Names)) // [DeviceID] adapters so far
	for _, e := range t.among() {
		d := t.w.NICs[t.nics[e]].Device
		a := adapter{e: e, leaf: d, class: t.w.NICs[t.nics[e]].Class}
		if t.networkInput.nics != nil {
			n := t.networkInput.nics[d][at[d]]
			a.name, a.ips = n.name, n.ips
		} else {
			a.name = t.label(e)
			for i := range j.o.addresses {
				ip, err := addressIn(t.Classes[a.class].Prefix(), at[d]*j.o.addresses+i)
				if err != nil {
					return err
				}
				a.ips = append(a.ips, ip)
			}
		}
		at[d]++
		j.adapters = append(j.adapters, a)
	}
	j.s.Adapters = len(j.adapters)
	return nil
}

// chain is the devices that a pin comes down by, from the one above the leaf.
type chain []ethernet.DeviceID

// way is the chain of each address of an adapter. A list of ways is by adapter, as j.adapters.
type way []chain

// choose finds the ways of the adapters, by the engine or by the best of several, and makes them the pins. Best is the one
// with which the traffic of served takes the least time; of those alike the one tried first.
func (j *pinJob) choose(ctx context.Context, engine string) error {
	jobs, err := j.served()
	if err != nil {
		return err
	}
	var demands []engines.Demand
	if j.traffic != "" {
		job := &jobs[0] // the only one; of its phases the first counts
		for _, p := range job.pattern.Append(nil, len(job.placement), 0, nil) {
			demands = append(demands, engines.Demand{From: job.placement[p.From], To: job.placement[p.To], Bytes: max(1, p.Bytes)})
		}
	}
	names := []string{engine}
	switch {
	case engine == "auto" && demands != nil:
		names = []string{coloredPins, "balance", "ftree", "dmodc"}
	case engine == "auto":
		names = []string{"ftree", "dmodc", "balance"}
	}
	var best []way
	worth := math.Inf(1)
	for _, name := range names {
		ways, several, refused, err := j.waysBy(ctx, name, demands)
		if err != nil {
			return err
		}
		if refused != "" {
			j.s.Tried = append(j.s.Tried, result.TriedPins{Engine: name, Refused: refused})
			continue
		}
		j.keep(ways, demands)
		times, perfect, err := j.times(ctx, name, ways, jobs)
		if err != nil {
			return err
		}
		j.s.Tried = append(j.s.Tried, result.TriedPins{Engine: name, Times: times})
		if w := worthOf(times, demands != nil); w < worth*(1-1e-9) {
			best, worth, j.s.Engine, j.s.Roots = ways, w, name, several
		}
		if perfect {
			break
		}
	}
	if best == nil {
		if len(names) == 1 {
			return exit.Finding("%s: %s", engine, j.s.Tried[0].Refused)
		}
		var why []string
		for _, t := range j.s.Tried {
			why = append(why, t.Engine+": "+t.Refused)
		}
		return exit.Finding("no engine gives ways to pin: %s", strings.Join(why, "; "))
	}
	j.take(best)
	return j.beside(ctx, jobs)
}

// worthOf makes one number of the times of the jobs of served, the less the better: that of traffic that is known, or those of
// all to all in phases, jobs 1 and 2, which differ in the order of ranks.
func worthOf(times []float64, known bool) float64 {
	if known {
		return times[0]
	}
	return times[1] * times[2] * math.Pow(times[0]*times[len(times)-1], 1e-3) // of equals, by the first and last, which have no order
}

// servedPairs is how many pairs of adapters a run of traffic has at most that pins are chosen for: all phases of eight jobs on 2,048
// adapters, eight phases on 65,536. Times of phases hardly differ, and so few tell them within a few percent.
const servedPairs = 1 << 19

// servedPhases is how many phases of all to all pins are chosen for, and how many within jobs.
func servedPhases(adapters int) (all, ofJobs int) {
	const most = 64
	ofJobs = max(servedPairs/max(adapters, 1), 1)
	return min(most, ofJobs), ofJobs
}

// served is the traffic that pins are chosen for: what is known, else that of weft compare, of phases a sample.
func (j *pinJob) served() ([]namedJob, error) {
	const runs = 4
	all, ofJobs := servedPhases(len(j.t.among()))
	jobs, err := j.t.compared(j.Console, j.traffic, j.seed, all, ofJobs)
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		jobs[i].runs = max(jobs[i].runs, runs)
	}
	if j.traffic != "" {
		return jobs[len(jobs)-1:], nil
	}
	scattered := jobs[len(jobs)-1]
	scattered.name = "scattered ranks"
	if scattered.placement, err = traffic.Place("random", j.t.f, j.t.among(), j.seed); err != nil {
		return nil, err
	}
	return append(jobs, scattered), nil
}

// waysBy is the ways of an engine, or by an edge coloring, which begins from those of ftree. refused is why there are none;
// several is of how many adapters the engine's ways come down by several devices, so that a pin has only one of them. Of the
// engines only balance is told the demands.
func (j *pinJob) waysBy(ctx context.Context, name string, demands []engines.Demand) (ways []way, several int, refused string, err error) {
	t := j.t
	engine, told := name, demands
	if name == coloredPins {
		engine = "ftree"
	}
	if name != "balance" {
		told = nil
	}
	tables, refused, err := t.pins(ctx, engine, j.seed, told)
	if err != nil || refused != "" {
		return nil, 0, refused, err
	}
	var all []fabric.NodeID                            // switches with adapters
	sources := map[fabric.EndpointID][]fabric.NodeID{} // [adapter] the switches of those that send to it
	for _, a := range j.adapters {
		all = append(all, t.f.Endpoint(a.e).Switch)
	}
	for _, d := range told {
		sources[d.To] = append(sources[d.To], t.f.Endpoint(d.From).Switch)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	device := make([]ethernet.DeviceID, t.f.Switches()) // [switch]
	for s := range device {
		device[s] = t.Device(t.f.Label(fabric.NodeID(s)))
	}
	level := func(s fabric.NodeID) int32 { return t.plan.Level(device[s]) }
	for i := range j.adapters {
		a := &j.adapters[i]
		end := t.f.Endpoint(a.e)
		from := sources[a.e]
		up, exact := pins.Roots(tables, end.LID, end.Switch, from, level)
		if up == nil {
			up, exact = pins.Roots(tables, end.LID, end.Switch, all, level)
		}
		if up == nil {
			return nil, 0, fmt.Sprintf("no other device with hosts reaches %s by a device above %s: there is nothing to pin", a.name, t.Names[a.leaf]), nil
		}
		if !exact {
			several++
		}
		var c chain
		for _, s := range up {
			c = append(c, device[s])
		}
		ways = append(ways, j.spread(a.leaf, c, len(a.ips)))
	}
	if name != coloredPins {
		return ways, several, "", nil
	}
	tree := coloring.Of(t.f)
	if tree == nil {
		return nil, 0, "the network is not a tree whose leaves are all joined to every device above them alike", nil
	}
	return j.colored(ctx, tree, ways, demands), 0, "", nil
}

// colored is ways for demands in a tree, by pins.Serve, which improves on ways. It numbers leaves, planes and tops as the
// tree does; a device that is none of them counts as the first.
func (j *pinJob) colored(ctx context.Context, tree *coloring.Tree, ways []way, demands []engines.Demand) []way {
	t := j.t
	number := map[fabric.EndpointID]int32{}       // [endpoint] the adapter
	leaf := make([]int32, len(j.adapters))        // [adapter] its leaf in the tree
	roots := make([][]pins.Root, len(j.adapters)) // [adapter] ways, in terms of the tree
	j.keep(ways, nil)                             // so that Serve begins from all pins in force
	mids := func(a int) []fabric.NodeID { return tree.Spines[tree.Pod[leaf[a]]] }
	for i, a := range j.adapters {
		number[a.e] = int32(i)
		leaf[i] = tree.Leaf[t.f.Endpoint(a.e).Switch]
		for _, c := range ways[i] {
			r := pins.Root{Plane: int32(max(0, slices.IndexFunc(mids(i), func(s fabric.NodeID) bool { return t.Device(t.f.Label(s)) == c[0] })))}
			if tree.Tops != nil && len(c) > 1 {
				r.Top = int32(max(0, slices.IndexFunc(tree.Tops[r.Plane], func(s fabric.NodeID) bool { return t.Device(t.f.Label(s)) == c[1] })))
			}
			roots[i] = append(roots[i], r)
		}
	}
	var list []pins.Demand
	for _, d := range demands {
		list = append(list, pins.Demand{From: leaf[number[d.From]], To: number[d.To], Bytes: float64(d.Bytes)})
	}
	found, _ := pins.Serve(ctx, tree, j.t.speedsIn(tree), leaf, list, roots, j.before != nil)
	all := make([]way, len(ways))
	for i := range found {
		for _, r := range found[i] {
			c := chain{t.Device(t.f.Label(mids(i)[r.Plane]))}
			if tree.Tops != nil {
				c = append(c, t.Device(t.f.Label(tree.Tops[r.Plane][r.Top])))
			}
			all[i] = append(all[i], c)
		}
	}
	return all
}

// speedsIn is how fast the cables of the network are together from each switch of a tree to each above it: from leaves, leaf by
// leaf, and from spines to tops, pod by pod and plane by plane.
func (t *trafficNetwork) speedsIn(tree *coloring.Tree) (speeds pins.Speeds) {
	device := func(s fabric.NodeID) ethernet.DeviceID { return t.Device(t.f.Label(s)) }
	together := func(below, above fabric.NodeID) (sum float64) {
		to := device(above)
		for l, end := t.LinksFrom(device(below)); l < end; l++ {
			if t.Links[l].To == to {
				sum += t.w.Speed(l)
			}
		}
		return sum
	}
	for i, leaf := range tree.Leaves {
		for _, s := range tree.Spines[tree.Pod[i]] {
			speeds.Leaf = append(speeds.Leaf, together(leaf, s))
		}
	}
	for _, spines := range tree.Spines {
		for plane, s := range spines {
			for top := 0; tree.Tops != nil && top < len(tree.Tops[plane]); top++ {
				speeds.Top = append(speeds.Top, together(s, tree.Tops[plane][top]))
			}
		}
	}
	return speeds
}

// spread is chains for so many addresses of an adapter, as far from each other as can be in the order of above, from that of
// the first address on.
func (j *pinJob) spread(leaf ethernet.DeviceID, first chain, addresses int) way {
	if addresses == 1 {
		return way{first}
	}
	all := j.above(leaf, nil)
	begin := max(0, slices.IndexFunc(all, func(c chain) bool { return slices.Equal(c[:min(len(c), len(first))], first) }))
	var w way
	for i := range addresses {
		w = append(w, all[(begin+i*len(all)/addresses)%len(all)])
	}
	return w
}

// above is all chains from a device upwards that go on from before, of two devices at most.
func (j *pinJob) above(d ethernet.DeviceID, before chain) (all []chain) {
	t := j.t
	var next []ethernet.DeviceID
	for l, end := t.LinksFrom(d); l < end; l++ {
		if to := t.Links[l].To; t.plan.Level(to) == t.plan.Level(d)+1 {
			next = append(next, to)
		}
	}
	slices.Sort(next)
	for _, to := range slices.Compact(next) {
		c := append(slices.Clone(before), to)
		if more := j.above(to, c); len(c) < 2 && more != nil {
			all = append(all, more...)
		} else {
			all = append(all, c)
		}
	}
	return all
}

// keep puts the pins in force into ways, in place; of adapters that demands send to, none.
func (j *pinJob) keep(ways []way, demands []engines.Demand) {
	if j.before == nil {
		return
	}
	named := map[fabric.EndpointID]bool{}
	for _, d := range demands {
		named[d.To] = true
	}
	for i := range j.adapters {
		for k, ip := range j.adapters[i].ips {
			if p, ok := j.before[netip.PrefixFrom(ip, ip.BitLen())]; ok && p.At == j.adapters[i].leaf && !named[j.adapters[i].e] {
				ways[i][k] = p.Up
			}
		}
	}
}

// pinsOf is ways as the plan of BGP takes them.
func (j *pinJob) pinsOf(ways []way) (list []bgp.Pin) {
	for i := range j.adapters {
		a := &j.adapters[i]
		for k, ip := range a.ips {
			list = append(list, bgp.Pin{Prefix: netip.PrefixFrom(ip, ip.BitLen()), At: a.leaf, Up: ways[i][k], Under: a.class})
		}
	}
	return list
}

// withPins is the classes of the network with pins, those of pins behind the others.
func (t *trafficNetwork) withPins(list []bgp.Pin) ([]ethernet.Class, error) {
	classes, err := t.plan.SetPins(t.Classes, list)
	if err != nil {
		return nil, exit.Finding("%s", err.Error())
	}
	return classes, nil
}

// times is how long each job takes with pins; perfect says that none of those that decide can be quicker.
func (j *pinJob) times(ctx context.Context, name string, ways []way, jobs []namedJob) (times []float64, perfect bool, err error) {
	all, err := j.pinnedWays(ctx, name, ways, jobs)
	if err != nil {
		return nil, false, err
	}
	perfect = true
	for i, w := range all {
		times = append(times, w.Time)
		decides := len(all) == 1 || i == 1 || i == 2 // see worthOf
		perfect = perfect && (!decides || w.Time <= w.Bound*(1+1e-9))
	}
	return times, perfect, nil
}

// pinnedWays is how each job fares on a copy of the network with pins, as routers hold them.
func (j *pinJob) pinnedWays(ctx context.Context, name string, ways []way, jobs []namedJob) ([]result.EthernetWay, error) {
	t := j.t
	n := *t.Network
	var err error
	if n.Classes, err = t.withPins(j.pinsOf(ways)); err != nil {
		return nil, err
	}
	nics := slices.Clone(t.w.NICs)
	pin := 0 // its number in pinsOf(ways)
	for i := range j.adapters {
		nic := &nics[t.nics[j.adapters[i].e]]
		for range j.adapters[i].ips {
			nic.Pins = append(nic.Pins, t.plan.ClassOf(pin))
			pin++
		}
	}
	w, err := ecmp.New(&n, nics)
	if err != nil {
		return nil, err
	}
	var list []result.EthernetWay
	for i := range jobs {
		on, err := t.on(jobs[i].placement)
		if err != nil {
			return nil, err
		}
		r, err := ecmp.Simulate(ctx, w, ecmp.Options{Pattern: jobs[i].pattern, Placement: on, Seed: j.seed, QueuePairs: j.o.addresses, Runs: jobs[i].runs})
		if err != nil {
			return nil, err
		}
		way := wayOf("pinned", j.o.addresses, r)
		way.Engine = name
		list = append(list, way)
	}
	return list, nil
}

// take makes ways the pins, of j and of its summary, where it also says which are not those in force.
func (j *pinJob) take(ways []way) {
	t := j.t
	j.pins = j.pinsOf(ways)
	changed := map[ethernet.DeviceID]bool{}
	k := 0 // in j.pins
	for i := range j.adapters {
		for range j.adapters[i].ips {
			p := &j.pins[k]
			k++
			named := result.Pin{Name: j.adapters[i].name, Prefix: p.Prefix.String(), Leaf: t.Names[p.At]}
			for _, d := range p.Up {
				named.Up = append(named.Up, t.Names[d])
			}
			j.s.Pins = append(j.s.Pins, named)
			if old, ok := j.before[p.Prefix]; j.before != nil && (!ok || old.At != p.At || !slices.Equal(old.Up, p.Up)) {
				j.s.Changed++
				changed[p.At] = true
			}
		}
	}
	for d := range ethernet.DeviceID(len(t.Names)) {
		if changed[d] {
			j.s.Leaves = append(j.s.Leaves, t.Names[d])
		}
	}
}

// beside adds to the summary how long each job takes without pins, beside the time with those that were chosen, and where it
// is better to have none.
func (j *pinJob) beside(ctx context.Context, jobs []namedJob) error {
	o := &trafficFlags{qps: []uint{1, 4, 16}}
	var best []float64 // times with the pins that were chosen
	for _, t := range j.s.Tried {
		if t.Engine == j.s.Engine {
			best = t.Times
		}
	}
	for i := range jobs {
		ways, _, err := j.t.hashedWays(ctx, o, &jobs[i].trafficJob, nil)
		if err != nil {
			return err
		}
		ways = append(ways, result.EthernetWay{Way: "pinned", QueuePairs: j.o.addresses, Engine: j.s.Engine, Time: best[i], Bound: ways[0].Bound, Runs: ways[0].Runs, Phases: ways[0].Phases, Flows: ways[0].Flows})
		j.s.Traffic = append(j.s.Traffic, result.EthernetTraffic{Name: jobs[i].name, Ways: ways})
		j.s.Advice = append(j.s.Advice, advice(ways, jobs[i].name)...)
	}
	return nil
}
