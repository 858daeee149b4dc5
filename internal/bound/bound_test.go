package bound_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/bound"
	"github.com/weft-fabric/weft/internal/choose"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// orders is the hosts by switch, by name and at random.
func orders(t testing.TB, f *fabric.Fabric) (all [][]fabric.EndpointID) {
	t.Helper()
	list, err := choose.Orders(f, f.ByPort(routing.HCA.Endpoints(f)), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		all = append(all, o.Ranks)
	}
	return all
}

func look(t rapid.TB, f *fabric.Fabric) *bound.Network {
	n, err := bound.New(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func phases(t rapid.TB, n *bound.Network, ranks []fabric.EndpointID) bound.Phases {
	p, err := n.Phases(context.Background(), ranks)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func allToAll(t rapid.TB, n *bound.Network) bound.Routes {
	r, err := n.AllToAll(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What is known of real fabrics; every cut is what it says.
func TestRealFabrics(t *testing.T) {
	for name, want := range map[string][2]float64{"psmn-x5-2020": {1.91, 1.98}, "kalcher-stage-2014": {3.42, 3.44}, "topograph-ndr-dgx-2025": {1.95, 1.98}} {
		f := testnet.Dump(t, name)
		n := look(t, f)
		for i, ranks := range orders(t, f)[:2] {
			p := phases(t, n, ranks)
			if math.Abs(p.Time-want[i]) > .006 {
				t.Errorf("%s, order %d: phases take %.3f, want %.2f", name, i, p.Time, want[i])
			}
			for _, c := range slices.Concat(p.Cuts, n.Random().Cuts) {
				if err := bound.Check(f, c); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// No engine is better than a bound, on trees, grids and what is neither.
func TestNoEngineIsBetter(t *testing.T) {
	for _, spec := range testnet.First([]string{"xgft:m=4x6,w=2x3,hosts=4", "torus:4x4,hosts=2", "random:switches=12,links=20,hosts=3,seed=1", "patchwork:39", "patchwork:45", "dragonfly:p=2"}, 3) {
		f := testnet.Build(t, spec)
		n := look(t, f)
		r, pairs, ranks := allToAll(t, n), n.Random(), orders(t, f)
		if r.Lengths != nil {
			if got := byLengths(f, r.Lengths); got != r.Most {
				t.Errorf("%s: lengths make a bound of %d, not %d", spec, got, r.Most)
			}
		}
		for _, engine := range []string{"updn", "weave-any", "nue"} {
			s, err := weft.Route(t.Context(), f, weft.Request{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			m := choose.Meter{Endpoints: ranks[0], Uniform: true, Runs: 300, Seed: 1}
			for _, o := range ranks {
				m.Orders = append(m.Orders, engines.RankOrder{Ranks: o})
			}
			x, err := m.Measure(t.Context(), s.Tables)
			if err != nil {
				t.Fatal(err)
			}
			if int64(s.Loads.Max) < r.Most || x.Lambda > pairs.Lambda+3*x.StdErr {
				t.Errorf("%s, %s: %d routes, %.3f; the bounds are %d and %.3f", spec, engine, s.Loads.Max, x.Lambda, r.Most, pairs.Lambda)
			}
			for i, o := range ranks {
				if p := phases(t, n, o); x.Shifts[i].Time < p.Time-1e-9 {
					t.Errorf("%s, %s, order %d: phases take %.3f, at least %.3f", spec, engine, i, x.Shifts[i].Time, p.Time)
				}
			}
		}
	}
}

// byLengths is the bound that lengths make, by all distances one after the other.
func byLengths(f *fabric.Fabric, lengths []int64) int64 {
	const far = int64(1) << 50
	d := make([][]int64, f.Switches())
	for s := range d {
		d[s] = slices.Repeat([]int64{far}, f.Switches())
		d[s][s] = 0
	}
	total := int64(0)
	for c, l := range lengths {
		ch := f.Channel(fabric.ChannelID(c))
		d[ch.From][ch.To] = min(d[ch.From][ch.To], l)
		total += l
	}
	for k := range d {
		for i := range d {
			for j := range d {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	sum, hosts := int64(0), routing.HCA.PerSwitch(f)
	for i := range d {
		for j := range d {
			sum += int64(hosts[i]) * int64(hosts[j]) * d[i][j]
		}
	}
	return (sum + total - 1) / total
}

// small draws a connected network of a few switches, with parallel cables.
func small(t *rapid.T) *fabric.Fabric {
	var b fabric.Builder
	n := rapid.IntRange(2, 4).Draw(t, "switches")
	var switches []fabric.Ref
	guid, ports := fabric.GUID(1), make([]uint8, n)
	port := func(s int) uint8 { ports[s]++; return ports[s] }
	rate := fabric.Rate{Width: 4, Speed: fabric.HDR}
	for range n {
		switches = append(switches, b.Node(fabric.Node{GUID: guid, Kind: fabric.Switch, Ports: 30}, ""))
		guid += 0x100
	}
	for s := range n {
		for range rapid.IntRange(0, 2).Draw(t, "hosts") {
			h := b.Node(fabric.Node{GUID: guid, Kind: fabric.Adapter, Ports: 1}, "")
			guid += 0x100
			b.Cable(h, 1, switches[s], port(s), rate)
		}
		if s > 0 {
			to := rapid.IntRange(0, s-1).Draw(t, "to")
			b.Cable(switches[s], port(s), switches[to], port(to), rate)
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "more") {
		x, y := rapid.IntRange(0, n-1).Draw(t, "x"), rapid.IntRange(0, n-1).Draw(t, "y")
		if x != y {
			b.Cable(switches[x], port(x), switches[y], port(y), rate)
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// ways is all paths without a switch twice.
func ways(f *fabric.Fabric, from, to fabric.NodeID, seen []bool) (all [][]fabric.ChannelID) {
	if from == to {
		return [][]fabric.ChannelID{nil}
	}
	seen[from] = true
	for c, end := f.TrunksFrom(from); c < end; c++ {
		if v := f.Heads()[c]; !seen[v] {
			for _, rest := range ways(f, v, to, seen) {
				all = append(all, append([]fabric.ChannelID{c}, rest...))
			}
		}
	}
	seen[from] = false
	return all
}

// fits reports whether flows can be routed with so many on a channel at most: it tries all.
func fits(f *fabric.Fabric, flows [][2]fabric.NodeID, load []int, most int) bool {
	if len(flows) == 0 {
		return true
	}
next:
	for _, way := range ways(f, flows[0][0], flows[0][1], make([]bool, f.Switches())) {
		for i, c := range way {
			if load[c]++; load[c] > most {
				for _, c := range way[:i+1] {
					load[c]--
				}
				continue next
			}
		}
		if fits(f, flows[1:], load, most) {
			return true
		}
		for _, c := range way {
			load[c]--
		}
	}
	return false
}

func least(f *fabric.Fabric, flows [][2]fabric.NodeID) int {
	for most := 0; ; most++ {
		if fits(f, flows, make([]int, f.Trunks()), most) {
			return most
		}
	}
}

// Beside all routings of tiny networks: none is better than the bounds, and mostly one is as
// good.
func TestBruteForce(t *testing.T) {
	runs, met := 0, 0
	testnet.CheckCounted(t, func(rt *rapid.T) {
		f := small(rt)
		ranks := f.ByPort(routing.HCA.Endpoints(f))
		if len(ranks) < 2 {
			return
		}
		n := look(rt, f)
		sum := 0
		var all [][2]fabric.NodeID
		for k := 1; k < len(ranks); k++ {
			var flows [][2]fabric.NodeID
			for i, e := range ranks {
				flows = append(flows, [2]fabric.NodeID{f.Endpoint(e).Switch, f.Endpoint(ranks[(i+k)%len(ranks)]).Switch})
			}
			sum += max(1, least(f, flows))
			all = append(all, flows...)
		}
		best := float64(sum) / float64(len(ranks)-1)
		p := phases(rt, n, ranks)
		if p.Time > best+1e-9 {
			rt.Fatalf("phases take %.3f with some routing, and the bound is %.3f", best, p.Time)
		}
		for _, c := range p.Cuts {
			if err := bound.Check(f, c); err != nil {
				rt.Fatal(err)
			}
		}
		runs++
		if p.Time > best-1e-9 {
			met++
		}
		if r := allToAll(rt, n); len(all) <= 12 && int(r.Most) > least(f, all) {
			rt.Fatalf("some routing has %d routes on its fullest channel, and the bound is %d", least(f, all), r.Most)
		}
	}, func() {
		if met < runs*9/10 {
			t.Errorf("the bound is met by a routing in %d of %d networks", met, runs)
		}
	})
}

// What random pairs get past a cut, beside all ways to pair up hosts.
func TestRandomPairs(t *testing.T) {
	for _, spec := range []string{"ring:5", "random:switches=3,links=2,hosts=2,seed=1", "random:switches=7,links=6,hosts=1,seed=2"} {
		f := testnet.Build(t, spec)
		hosts := routing.HCA.Endpoints(f)
		trunks := func(s fabric.NodeID) int { return len(f.Neighbours(s)) }
		sum, count := 0.0, 0
		permute(slices.Clone(hosts), 0, func(row []fabric.EndpointID) {
			count++
			out := make([]int, f.Switches())
			for i := range len(row) / 2 {
				from, to := f.Endpoint(row[2*i]).Switch, f.Endpoint(row[2*i+1]).Switch
				if from == to {
					sum++
				} else {
					out[from]++
				}
			}
			for s, flows := range out {
				sum += float64(min(flows, trunks(fabric.NodeID(s))))
			}
		})
		want := sum / float64(count) / float64(len(hosts)/2)
		if got := look(t, f).Random().Lambda; got > want+1e-9 || got < want/2 {
			t.Errorf("%s: at most %.6f, by leaves alone %.6f", spec, got, want)
		}
	}
}

func permute(row []fabric.EndpointID, at int, visit func([]fabric.EndpointID)) {
	if at == len(row) {
		visit(row)
		return
	}
	for i := at; i < len(row); i++ {
		row[at], row[i] = row[i], row[at]
		permute(row, at+1, visit)
		row[at], row[i] = row[i], row[at]
	}
}

// Hosts in several parts, a cut that is none: told, not counted.
func TestRefused(t *testing.T) {
	f := testnet.Build(t, "mesh:2x2,hosts=1")
	apart, err := f.Without(fabric.All[fabric.ChannelID](f.Trunks()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bound.New(t.Context(), apart); err == nil {
		t.Error("a network in parts has bounds")
	}
	for _, c := range []bound.Cut{{Switches: []fabric.NodeID{0}, Hosts: 1, Cables: 1}, {Switches: []fabric.NodeID{0}, Hosts: 2, Cables: 2}, {Switches: []fabric.NodeID{9}}, {Switches: []fabric.NodeID{1, 1}, Hosts: 1, Cables: 2}} {
		if bound.Check(f, c) == nil {
			t.Errorf("%v is a cut", c)
		}
	}
}
