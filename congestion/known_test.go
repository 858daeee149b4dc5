package congestion_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// drawing makes a network and its forwarding tables of a drawing: cables between
// switches of one letter each, "AB"; hosts of one digit, "1A"; and routes as the
// papers write them, "1ABC2". What no route says is not in the tables.
func drawing(t testing.TB, cables, hosts, routes []string) (*routing.Tables, traffic.Placement) {
	t.Helper()
	var b fabric.Builder
	refs := map[byte]fabric.Ref{}
	ports := map[byte]uint8{}
	port := func(name byte) (fabric.Ref, uint8) {
		if _, ok := refs[name]; !ok {
			kind, n := fabric.Switch, 30
			if name < 'A' {
				kind, n = fabric.Adapter, 1
			}
			refs[name] = b.Node(fabric.Node{GUID: fabric.GUID(name), Kind: kind, Ports: n, Name: string(rune(name))}, "")
		}
		ports[name]++
		return refs[name], ports[name]
	}
	for _, c := range append(append([]string(nil), cables...), hosts...) {
		x, xp := port(c[0])
		y, yp := port(c[1])
		b.Cable(x, xp, y, yp, fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	fw := routing.NewForwarding(f)
	for _, way := range routes {
		last := len(way) - 1
		dst := f.Endpoint(endpointOf(f, way[last]))
		for i := 1; i < last; i++ {
			at, next := f.NodeByGUID(fabric.GUID(way[i])), f.NodeByGUID(fabric.GUID(way[i+1]))
			for c := range f.Channels() {
				if ch := f.Channel(fabric.ChannelID(c)); ch.From == at && ch.To == next {
					fw.Row(dst.LID)[at] = ch.FromPort
				}
			}
		}
	}
	var p traffic.Placement
	for _, h := range hosts {
		p = append(p, endpointOf(f, h[0]))
	}
	return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1))}, p
}

func endpointOf(f *fabric.Fabric, name byte) fabric.EndpointID {
	for e := range f.Endpoints() {
		if f.Endpoint(fabric.EndpointID(e)).Node == f.NodeByGUID(fabric.GUID(name)) {
			return fabric.EndpointID(e)
		}
	}
	return fabric.None
}

// exact is the mean over all bisections, worked out by the twin.
func exact(tables *routing.Tables, p traffic.Placement) float64 {
	w := twin{tables, func(fabric.ChannelID) float64 { return 1 }}
	sum, n := 0.0, 0
	for _, pairs := range bisections(len(p)) {
		flows, _ := w.phase(p, pairs)
		for _, j := range flows {
			sum += j.bottleneck
			n++
		}
	}
	return sum / float64(n)
}

func within(t *testing.T, what string, r *congestion.Result, want float64) {
	t.Helper()
	if d := math.Abs(r.Lambda - want); d > 4*r.StdErr+1e-12 {
		t.Errorf("%s: %.5f ± %.5f in %d runs, exactly %.5f", what, r.Lambda, r.StdErr, r.Runs, want)
	}
}

// Nothing is in the way on one crossbar.
func TestOneCrossbar(t *testing.T) {
	tables, p := drawing(t, nil, []string{"1A", "2A", "3A", "4A", "5A"}, nil)
	for _, h := range p {
		e := tables.Fabric.Endpoint(h)
		tables.Forwarding.Row(e.LID)[0] = tables.Fabric.Channel(e.Deliver).FromPort
	}
	for _, model := range []congestion.Model{congestion.Bottleneck, congestion.MaxMin} {
		r := simulate(t, tables, congestion.Options{Pattern: pattern(t, "bisect"), Placement: p, Model: model, Runs: 1000})
		if r.Lambda != 1 || r.StdErr != 0 || r.Slowdown() != 1 || r.MaxCongestion != 1 || r.Flows != 2000 {
			t.Errorf("%s: %+v", model, r)
		}
	}
}

// Two crossbars joined by one cable: flows across share it.
func TestTwoCrossbars(t *testing.T) {
	for _, c := range []struct {
		hosts []string
		want  float64 // by hand where it is short, else 0
	}{
		// One pair: nothing to share.
		{[]string{"1A", "2B"}, 1},
		// Of 12 bisections 4 keep to the crossbars; of the other 8, half go across in
		// the same direction, and both flows get half.
		{[]string{"1A", "2A", "3B", "4B"}, (4 + 4 + 4*.5) / 12},
		{[]string{"1A", "2A", "3A", "4B", "5B"}, 0},
		{[]string{"1A", "2A", "3A", "4B", "5B", "6B"}, 0},
		{[]string{"1A", "2A", "3A", "4A", "5B", "6B", "7B", "8B"}, 0},
	} {
		var routes []string
		for _, x := range c.hosts {
			for _, y := range c.hosts {
				if x[1] != y[1] {
					routes = append(routes, string([]byte{x[0], x[1], y[1], y[0]}))
				}
			}
		}
		tables, p := drawing(t, []string{"AB"}, c.hosts, routes)
		want := exact(tables, p)
		if c.want != 0 && math.Abs(want-c.want) > 1e-12 {
			t.Errorf("%d hosts: the twin has %.5f, by hand %.5f", len(p), want, c.want)
		}
		r := simulate(t, tables, congestion.Options{Pattern: pattern(t, "bisect"), Placement: p, Precision: .0008})
		within(t, "two crossbars", r, want)
	}
}

// HOTI 2009, figures 2 and 3 (b): the routes as the paper writes them, with
// forwarding indexes 2 and 1. One pair at a time, so that Λ is 1 for both; of all
// pairs at once those of P-SSSP share channels.
func TestFigures2And3(t *testing.T) {
	cables, hosts := []string{"AB", "AD", "CB", "CD", "EB", "ED"}, []string{"0A", "1E", "2C"}
	for _, c := range []struct {
		name   string
		routes []string
		index  uint32
	}{
		{"P-SSSP", []string{"1EBA0", "2CBA0", "0ADE1", "2CDE1", "0ABC2", "1EBC2"}, 2},
		{"P²-SSSP", []string{"0ABE1", "0ADC2", "1EDA0", "1EBC2", "2CBA0", "2CDE1"}, 1},
	} {
		tables, p := drawing(t, cables, hosts, c.routes)
		if l := congestion.Count(tables.Fabric, tables.Forwarding, routing.HCA); l.Max != c.index || l.Pairs != 6 {
			t.Errorf("%s: forwarding index %d of %d pairs, the paper has %d", c.name, l.Max, l.Pairs, c.index)
		}
		if r := simulate(t, tables, congestion.Options{Pattern: pattern(t, "bisect"), Placement: p, Runs: 100}); r.Lambda != 1 {
			t.Errorf("%s: Λ is %f", c.name, r.Lambda)
		}
		r := simulate(t, tables, congestion.Options{Pattern: pattern(t, "alltoall"), Placement: p})
		trunk := uint32(0)
		for c := range tables.Fabric.Trunks() {
			trunk = max(trunk, uint32(r.Most[c]))
		}
		if trunk != c.index || r.Lambda != .5 { // at both ends of each route two flows meet
			t.Errorf("%s: %d flows on a trunk, Λ %f", c.name, trunk, r.Lambda)
		}
	}
}

// HOTI 2009, figure 6: routes from D to 3 by the upper path (D,C,B,A) never meet
// those between 1 and 2; by the lower path they "could lead to a congestion on
// edge (F,E) if the lower path is taken for the pair (6,3) and 1 and 2 are
// communicating". So the lower path costs bandwidth.
func TestFigure6(t *testing.T) {
	cables, hosts := []string{"AB", "BC", "CD", "DE", "EF", "FA"}, []string{"1F", "2E", "3A", "4D", "5D", "6D"}
	routes := []string{
		"1FE2", "1FA3", "1FED4", "1FED5", "1FED6", "2EF1", "2EFA3", "2ED4", "2ED5", "2ED6",
		"3AF1", "3AFE2", "3ABCD4", "3ABCD5", "3ABCD6", "4DEF1", "4DE2", "5DEF1", "5DE2", "6DEF1", "6DE2",
	}
	across := fixed{{From: 5, To: 2}, {From: 1, To: 0}} // 6 to 3 while 2 talks to 1
	var lambda [2]float64
	for i, to3 := range [][]string{{"4DCBA3", "5DCBA3", "6DCBA3"}, {"4DEFA3", "5DEFA3", "6DEFA3"}} {
		tables, p := drawing(t, cables, hosts, append(append([]string(nil), routes...), to3...))
		if r := simulate(t, tables, congestion.Options{Pattern: across, Placement: p}); r.MaxCongestion != i+1 || r.Lambda != 1/float64(i+1) {
			t.Errorf("6 to 3 by %s: %d flows meet, Λ %f", to3[2], r.MaxCongestion, r.Lambda)
		}
		lambda[i] = exact(tables, p)
		within(t, to3[2], simulate(t, tables, congestion.Options{Pattern: pattern(t, "bisect"), Placement: p}), lambda[i])
	}
	if lambda[0] <= lambda[1] {
		t.Errorf("Λ is %f by the upper path and %f by the lower one", lambda[0], lambda[1])
	}
}

// fixed is a pattern of these pairs.
type fixed []traffic.Pair

func (f fixed) Phases(int) (int, error) { return 1, nil }
func (f fixed) Append(pairs []traffic.Pair, _, _ int, _ *rand.Rand) []traffic.Pair {
	return append(pairs, f...)
}
func (f fixed) Random() bool   { return false }
func (f fixed) String() string { return "fixed" }
