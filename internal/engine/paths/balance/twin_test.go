package balance

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
)

// random is a random network with hosts, some cables double, perhaps in parts,
// with several addresses, and with links of two rates.
func random(t *rapid.T) *fabric.Fabric {
	n := rapid.IntRange(2, 9).Draw(t, "switches")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	var b fabric.Builder
	port := make([]uint8, n)
	refs := make([]fabric.Ref, n)
	for s := range refs {
		refs[s] = b.Node(fabric.Node{GUID: fabric.GUID(s + 1), Ports: 64}, "")
	}
	next := func(s int) uint8 {
		port[s]++
		return port[s]
	}
	hosts := 0
	for s := range refs {
		for range r.IntN(4) {
			hosts++
			h := b.Node(fabric.Node{GUID: fabric.GUID(100 + hosts), Kind: fabric.Adapter, Ports: 1}, "")
			b.Port(h, 1, fabric.Port{LMC: uint8(r.IntN(2))})
			b.Cable(h, 1, refs[s], next(s), [...]fabric.Rate{{}, {Width: 1, Speed: fabric.NDR}, {Width: 4, Speed: fabric.XDR}}[r.IntN(3)])
		}
	}
	rates := [...]fabric.Rate{{Width: 4, Speed: fabric.HDR}, {Width: 4, Speed: fabric.EDR}}
	for range rapid.IntRange(n-1, 3*n).Draw(t, "cables") {
		if u, v := r.IntN(n), r.IntN(n); u != v {
			b.Cable(refs[u], next(u), refs[v], next(v), rates[r.IntN(2)])
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// route is the trunks from a switch to a destination.
func (t *trial) route(from fabric.NodeID, d int32) []fabric.ChannelID {
	r, pick := &t.roots[t.dests[d].root], t.picks(d)
	var way []fabric.ChannelID
	for i := r.at[from]; i != 0; {
		w := r.ways[r.first[i]+int32(pick[i])]
		way = append(way, w.trunk)
		i = w.head
	}
	return way
}

// met is what a route meets of others to other destinations, counted pair by pair:
// the routes that share a stretch with it, once for each stretch.
func (t *trial) met(way []fabric.ChannelID, but int32) int64 {
	sum := int64(0)
	for d := range t.dests {
		for s := range fabric.NodeID(t.f.Switches()) {
			if int32(d) == but || t.src[s] == 0 {
				continue
			}
			other := t.route(s, int32(d))
			for k, c := range way {
				at := slices.Index(other, c)
				if at >= 0 && (k == 0 || at == 0 || other[at-1] != way[k-1]) {
					sum += t.src[s] * t.dests[d].weight
				}
			}
		}
	}
	return sum
}

// What the search calls the cost of a way is how many routes of others it meets,
// those that stay together for a while met once.
func TestCostIsWhatARouteMeets(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := random(rt)
		n, err := newNetwork(context.Background(), f, Finder{Uniform: true})
		if err != nil {
			rt.Fatal(err)
		}
		if len(n.dests) == 0 {
			return
		}
		x := newTrial(n, plan{share: 2, turns: true}, 1)
		x.begin(context.Background())
		x.pass(context.Background())
		d := int32(rapid.IntRange(0, len(n.dests)-1).Draw(rt, "destination"))
		r, pick := &n.roots[n.dests[d].root], x.picks(d)
		x.charge(r, pick, -n.dests[d].weight)
		x.place(r, pick)
		for i, u := range r.order {
			if got, want := x.tree[i].sum, 2*unit*x.met(x.route(u, d), d); got != want {
				rt.Fatalf("from switch %d to destination %d costs %d; it meets %d", u, d, got, want)
			}
		}
	})
}

// collisions is the pairs of routes to different destinations that share a trunk,
// once for each such trunk, by the time they take on it.
func (t *trial) collisions() float64 {
	load, same := make([]float64, t.f.Trunks()), make([]float64, t.f.Trunks())
	one := make([]float64, t.f.Trunks())
	for d := range t.dests {
		clear(one)
		for s := range fabric.NodeID(t.f.Switches()) {
			for _, c := range t.route(s, int32(d)) {
				one[c] += float64(t.src[s] * t.dests[d].weight)
			}
		}
		for c, n := range one {
			load[c] += n
			same[c] += n * n
		}
	}
	sum := 0.0
	for c := range load {
		sum += float64(t.inverse[c]) * (load[c]*load[c] - same[c]) / 2
	}
	return sum
}

// With loads alone as costs, routing a destination again is the best that can be
// done for it, so that no pass makes more routes meet.
func TestPassesNeverMeetMore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, err := newNetwork(context.Background(), random(rt), Finder{})
		if err != nil {
			rt.Fatal(err)
		}
		x := newTrial(n, plan{turns: rapid.Bool().Draw(rt, "turns")}, 1)
		x.begin(context.Background())
		before := x.collisions()
		for pass := range 4 {
			x.pass(context.Background())
			after := x.collisions()
			if after > before || x.moved == 0 && after != before {
				rt.Fatalf("pass %d: %g pairs of routes meet, before %g", pass, after, before)
			}
			before = after
		}
		loads := slices.Clone(x.trunks)
		x.unload()
		for d := range n.dests {
			x.charge(&n.roots[n.dests[d].root], x.picks(int32(d)), n.dests[d].weight)
		}
		if !slices.Equal(loads, x.trunks) {
			rt.Fatal("loads do not fit the routing any more")
		}
	})
}

// The sampled bandwidth, counted with a map for every bisection.
func TestBandwidth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := random(rt)
		weights := make([]uint8, len(f.Endpoints()))
		for i := range weights {
			weights[i] = uint8(50 * (i % 3))
		}
		n, err := newNetwork(context.Background(), f, Finder{Weights: weights})
		if err != nil {
			rt.Fatal(err)
		}
		x, s := newTrial(n, plan{}, 1), newSample(n, 3)
		x.begin(context.Background())
		sum, full := 0.0, 0.0
		for run := range len(s.first) - 1 {
			var pairs []ends
			for _, way := range s.pairs.way[s.first[run]:s.first[run+1]] {
				pairs = append(pairs, s.pairs.ends[way])
			}
			flows := map[fabric.ChannelID]float64{}
			busy := map[int32]bool{}
			for _, m := range pairs {
				for _, c := range x.route(m.from, m.dest) {
					flows[c] += float64(n.inverse[c]) / unit
				}
				host := int32(f.Owner(n.dests[m.dest].lid))
				if busy[host] || n.weight[host] == 0 {
					rt.Fatalf("bisection %d: endpoint %d twice, or without traffic", run, host)
				}
				busy[host] = true
			}
			for i, m := range pairs {
				worst := float64(s.alone[int(s.first[run])+i]) / unit
				full += 1 / worst
				for _, c := range x.route(m.from, m.dest) {
					worst = max(worst, flows[c])
				}
				sum += 1 / worst
			}
		}
		if got := x.bandwidth(s); full > 0 && math.Abs(got-sum/full) > 1e-9 {
			rt.Fatalf("bandwidth %g, counted %g", got, sum/full)
		}
	})
}

// A sample draws every host alike: about as often as source and as destination.
func TestSampleIsFair(t *testing.T) {
	f := testnet.Build(t, "karytree:k=4,n=2")
	n, err := newNetwork(context.Background(), f, Finder{})
	if err != nil {
		t.Fatal(err)
	}
	s := newSample(n, 1)
	count := make([]int, len(n.dests))
	for _, way := range s.pairs.way {
		count[s.pairs.ends[way].dest]++
	}
	mean := float64(len(s.pairs.way)) / float64(len(count))
	for d, k := range count {
		if math.Abs(float64(k)-mean) > 6*math.Sqrt(mean) {
			t.Errorf("destination %d is drawn %d times, the mean is %.0f", d, k, mean)
		}
	}
}
