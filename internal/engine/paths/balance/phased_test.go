package balance

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// cell is where the twin counts a route: a trunk, an order and a block of offsets.
type cell struct {
	trunk fabric.ChannelID
	order int
	block int
}

// Durations are multiples of what the slowest host's link takes: where it takes five times as long as the cables between
// switches, three times that are fifteen routes there, and usual is halfway between.
func TestUsual(t *testing.T) {
	begun := &start{figures: figures{durations: []float64{3, 3}}}
	for slow, want := range map[fabric.Speed]float64{fabric.HDR: 3, fabric.FDR10: math.Sqrt(3 * 15)} {
		var b fabric.Builder
		x, y := b.Node(fabric.Node{GUID: 1, Kind: fabric.Switch, Ports: 36}, ""), b.Node(fabric.Node{GUID: 2, Kind: fabric.Switch, Ports: 36}, "")
		b.Cable(x, 1, y, 1, fabric.Rate{Width: 4, Speed: fabric.HDR})
		for i, speed := range []fabric.Speed{fabric.HDR, slow} {
			b.Cable(b.Node(fabric.Node{GUID: fabric.GUID(10 + i), Kind: fabric.Adapter, Ports: 1}, ""), 1, x, uint8(2+i), fabric.Rate{Width: 4, Speed: speed})
			b.Cable(b.Node(fabric.Node{GUID: fabric.GUID(20 + i), Kind: fabric.Adapter, Ports: 1}, ""), 1, y, uint8(2+i), fabric.Rate{Width: 4, Speed: fabric.HDR})
		}
		f, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		n, err := newNetwork(t.Context(), f, Finder{Aim: Mixed})
		if err != nil {
			t.Fatal(err)
		}
		if got := n.usual(begun); math.Abs(got-want) > .1 {
			t.Errorf("a host at %s: %.3f, want %.3f", slow, got, want)
		}
	}
}

// What a pass looks at does not depend on how often it was reckoned: cells are laid out for several numbers of offsets
// before one is taken.
func TestReckoningIsAnew(t *testing.T) {
	f := testnet.Build(t, "xgft:m=4x4,w=2x4,hosts=2")
	n, err := newNetwork(t.Context(), f, Finder{Aim: Mixed, Uniform: true})
	if err != nil {
		t.Fatal(err)
	}
	was := n.counted
	if n.reckon(); was == 0 || n.counted != was {
		t.Errorf("a pass looks at %d, then at %d", was, n.counted)
	}
}

// phasedTrial is a random network with random orders of ranks and a trial for them.
func phasedTrial(rt *rapid.T) *trial {
	f := random(rt)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed of orders"), 1))
	var hosts []fabric.EndpointID
	for e := range fabric.EndpointID(len(f.Endpoints())) {
		hosts = append(hosts, e) // those that are no hosts get no rank
	}
	var orders []Order
	for i := range 1 + r.IntN(2) {
		r.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
		orders = append(orders, Order{Name: "random", Ranks: slices.Clone(hosts[:len(hosts)*(2-i)/2])})
	}
	n, err := newNetwork(context.Background(), f, Finder{Aim: Mixed, Orders: orders})
	if err != nil {
		rt.Fatal(err)
	}
	n.lay(uint(rapid.IntRange(0, 3).Draw(rt, "shift")))
	t := newTrial(n, plan{power: rapid.IntRange(1, 4).Draw(rt, "power"), even: rapid.Float64Range(0, 50).Draw(rt, "even"), share: rapid.Int64Range(0, 2).Draw(rt, "share"), mend: rapid.Bool().Draw(rt, "mend")}, 1)
	for i := range t.dests {
		pick, root := t.picks(int32(i)), &t.roots[t.dests[i].root]
		for j := 1; j < len(pick); j++ {
			pick[j] = uint8(r.IntN(int(root.first[j+1] - root.first[j])))
		}
	}
	t.from = &start{name: "chance", pick: slices.Clone(t.pick), figures: figures{durations: []float64{1 + 3*r.Float64()}}}
	return t
}

// offset is the distance of the ranks of a route in an order; negative: one of its ends has no rank.
func (t *trial) offset(order int, from fabric.EndpointID, d int32) int {
	o := &t.orders[order]
	a, b := o.rank[from], o.rank[t.f.Owner(t.dests[d].lid)]
	if a < 0 || b < 0 {
		return -1
	}
	return (int(b-a) + len(o.Ranks)) % len(o.Ranks)
}

// block is the offsets that are counted with an offset of an order.
func (t *trial) block(order, offset int) int {
	return int(t.orders[order].cell(int32(offset)) >> t.shift)
}

// met counts the routes of all but one destination, one by one.
func (t *trial) metAtOffsets(but int32) map[cell]int {
	counts := map[cell]int{}
	for d := range t.dests {
		for _, from := range t.hosts {
			for _, c := range t.route(t.f.Endpoint(from).Switch, int32(d)) {
				for o := range t.orders {
					if k := t.offset(o, from, int32(d)); k >= 0 && int32(d) != but {
						counts[cell{c, o, t.block(o, k)}]++
					}
				}
			}
		}
	}
	return counts
}

// Whatever passes do, flows are what the twin counts route by route.
func TestFlowsAreCounted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := phasedTrial(rt)
		for range 1 + rapid.IntRange(0, 2).Draw(rt, "passes") {
			x.pass(context.Background())
		}
		counts, sum := x.metAtOffsets(fabric.None), 0
		for k, n := range counts {
			if got := int(x.phased.get(k.trunk, x.orders[k.order].base+int32(k.block))); got != n {
				rt.Fatalf("%d routes in %+v, want %d", got, k, n)
			}
			sum += n
		}
		all := 0
		for _, w := range x.phased.words {
			for ; w != 0; w >>= x.phased.bits() {
				all += int(w & x.phased.most())
			}
		}
		if all != sum {
			rt.Fatalf("%d routes in all cells, want %d", all, sum)
		}
	})
}

// Paths do not depend on the size of cells.
func TestSizesOfCells(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := phasedTrial(rt)
		x.plan.mend = false
		x.lay(0)
		y := newTrial(x.network, x.plan, 1)
		copy(y.pick, x.pick)
		x.phased, y.phased = newPhased(x.network, x.plan, small), newPhased(y.network, y.plan, large)
		for _, t := range []*trial{x, y} {
			t.countAll(context.Background())
			for range 3 {
				t.pass(context.Background())
			}
		}
		if !slices.Equal(x.pick, y.pick) {
			rt.Fatal("with large cells, paths are others")
		}
	})
}

// Where more routes meet at an offset than a small cell holds, they are counted in large ones.
func TestManyRoutesAtAnOffset(t *testing.T) {
	for hosts, want := range map[string]uint{"60": small, "150": large} {
		f := testnet.Build(t, "mesh:2,hosts="+hosts)
		n, err := newNetwork(context.Background(), f, Finder{Aim: Mixed})
		if err != nil {
			t.Fatal(err)
		}
		n.lay(0)
		x := newTrial(n, plan{power: 2, even: 1, share: 2}, 1)
		x.from = &start{name: "chance", pick: slices.Clone(x.pick), figures: figures{durations: []float64{2}}}
		x.countFirst(context.Background(), x.countAll)
		if x.phased.perLog != want || x.phased.over {
			t.Errorf("%s hosts on each of two switches: cells of size %d, too small %v; want size %d", hosts, x.phased.perLog, x.phased.over, want)
		}
		for k, n := range x.metAtOffsets(fabric.None) {
			if got := int(x.phased.get(k.trunk, int32(k.block))); got != n {
				t.Fatalf("%d routes in %+v, want %d", got, k, n)
			}
		}
		for c, k := range x.trunks {
			if want := int64(len(n.hosts) / 2 * len(n.hosts) / 2 * MaxWeight * MaxWeight); k.load != want {
				t.Errorf("load of trunk %d is %d, want %d", c, k.load, want)
			}
		}
	}
}

// Ranks that are as far apart on every switch are one run.
func TestRunsByStride(t *testing.T) {
	f := testnet.Build(t, "xgft:m=4x8,w=3x3,hosts=5")
	bySwitch := f.ByPort(routing.HCA.Endpoints(f))
	leaves := len(bySwitch) / 5
	var rails []fabric.EndpointID // a host of each leaf, then the next of each
	for i := range bySwitch {
		rails = append(rails, bySwitch[i%leaves*5+i/leaves])
	}
	for _, c := range []struct {
		ranks  []fabric.EndpointID
		stride int32
	}{{bySwitch, 1}, {rails, int32(leaves)}} {
		n, err := newNetwork(context.Background(), f, Finder{Aim: Mixed, Orders: []Order{{"order", c.ranks}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := n.orders[0].stride; got != c.stride {
			t.Errorf("stride %d, want %d", got, c.stride)
		}
		for s, runs := range n.orders[0].runs {
			if n.src[s] > 0 && (len(runs) != 1 || runs[0].count != 5) {
				t.Fatalf("switch %d has the runs %v, want one of 5 ranks", s, runs)
			}
		}
	}
}

// A switch takes a way on which the routes behind it meet least: for each of them the
// price of those at its offset on every trunk as far as the root, and what it meets there
// as a random pair.
func TestCheapestWay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := phasedTrial(rt)
		x.pass(context.Background())
		if len(x.dests) == 0 {
			return
		}
		d := int32(rapid.IntRange(0, len(x.dests)-1).Draw(rt, "destination"))
		to := &x.dests[d]
		r, pick := &x.roots[to.root], x.picks(d)
		if len(r.order) < 2 {
			return
		}
		x.charge(r, pick, -to.weight)
		x.count(to, r, pick, -1)
		counts := x.metAtOffsets(d)
		x.phased.old(r, pick)
		x.tree[0] = step{}
		for j := 1; j < len(r.order); j++ {
			w := r.ways[r.first[j]+int32(pick[j])]
			x.take(j, w)
		}
		crowds := x.crowds(d)
		j := int32(rapid.IntRange(1, len(r.order)-1).Draw(rt, "switch"))
		sources := int64(0)
		for _, u := range r.order {
			if x.src[u] > 0 && x.comesBy(u, d, r.order[j]) {
				sources += x.src[u]
			}
		}
		cost := func(k int) int64 {
			at := r.ways[r.first[j]+int32(k)]
			own := x.square[r.order[j]] << 10 / max(1, sources)
			pairs := -(crowds.trees[at.trunk] * own >> 10 * 2 * x.inverse[at.trunk])
			before := fabric.ChannelID(fabric.None)
			sum := int64(0)
			for {
				for _, from := range x.hosts {
					if !x.comesBy(x.f.Endpoint(from).Switch, d, r.order[j]) {
						continue
					}
					for o := range x.orders {
						if k := x.offset(o, from, d); k >= 0 {
							price := x.phased.price[x.phased.class[at.trunk]]
							sum += price[counts[cell{at.trunk, o, x.block(o, k)}]]
						}
					}
				}
				pairs += crowds.on[at.trunk] * 2 * x.inverse[at.trunk]
				if before != fabric.None {
					pairs -= x.share * crowds.onBoth[[2]fabric.ChannelID{before, at.trunk}] * min(x.inverse[before], x.inverse[at.trunk])
				}
				before = at.trunk
				if at.head == 0 {
					return sum + max(1, (sources+x.ordinary/2)/x.ordinary)*(pairs*x.phased.even>>x.phased.lessEven)
				}
				at = r.ways[r.first[at.head]+int32(pick[at.head])]
			}
		}
		best := int64(math.MaxInt64)
		for k := range r.first[j+1] - r.first[j] {
			best = min(best, cost(int(k)))
		}
		if got := cost(x.cheapest(r, pick, j, x.behind(to, r, j))); got != best {
			rt.Fatalf("it takes a way that costs %d; the cheapest is %d", got, best)
		}
	})
}

// crowds is the routes of all but one destination, by weight.
type crowds struct {
	on     map[fabric.ChannelID]int64
	onBoth map[[2]fabric.ChannelID]int64 // one trunk right after the other
	trees  map[fabric.ChannelID]int64    // destinations to which some go by it
}

func (t *trial) crowds(but int32) crowds {
	x := crowds{map[fabric.ChannelID]int64{}, map[[2]fabric.ChannelID]int64{}, map[fabric.ChannelID]int64{}}
	for d := range t.dests {
		if int32(d) == but {
			continue
		}
		used := map[fabric.ChannelID]bool{}
		for u := range fabric.NodeID(t.f.Switches()) {
			if t.src[u] == 0 {
				continue
			}
			route := t.route(u, int32(d))
			for i, c := range route {
				x.on[c] += t.src[u] * t.dests[d].weight
				if !used[c] {
					used[c] = true
					x.trees[c] += t.dests[d].weight
				}
				if i > 0 {
					x.onBoth[[2]fabric.ChannelID{route[i-1], c}] += t.src[u] * t.dests[d].weight
				}
			}
		}
	}
	return x
}

// comesBy reports whether the route from a switch to a destination comes by another, or
// begins there.
func (t *trial) comesBy(from fabric.NodeID, d int32, by fabric.NodeID) bool {
	r, pick := &t.roots[t.dests[d].root], t.picks(d)
	for at := r.at[from]; ; at = r.ways[r.first[at]+int32(pick[at])].head {
		if r.order[at] == by {
			return r.order[0] == by || at != 0
		}
		if at == 0 {
			return false
		}
	}
}

// A shift takes as long as the trunk on which most of its flows meet, by its rate.
func TestDurations(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := phasedTrial(rt)
		s := newShiftSample(x.network, 7)
		got := x.durations(s)
		first := x.firstAddress()
		for o := range x.orders {
			ranks := x.orders[o].Ranks
			sum := 0.0
			for k := 1; k < len(ranks); k++ {
				load := map[fabric.ChannelID]int64{}
				worst := s.slowest
				for i, from := range ranks {
					for _, c := range x.route(x.f.Endpoint(from).Switch, first[ranks[(i+k)%len(ranks)]]) {
						load[c] += x.inverse[c]
						worst = max(worst, load[c])
					}
				}
				sum += float64(worst) / float64(s.slowest)
			}
			if want := sum / float64(max(1, len(ranks)-1)); len(ranks) > 1 && math.Abs(got[o]-want) > 1e-9 {
				rt.Fatalf("shifts take %g, want %g", got[o], want)
			}
		}
	})
}

// Paths that somebody else made are taken as they are, where they are shortest.
func TestAdopt(t *testing.T) {
	f := testnet.Build(t, "xgft:m=4x8,w=4x4,hosts=4")
	fw := find(t, f, sssp.Finder{})
	n, err := newNetwork(context.Background(), f, Finder{})
	if err != nil {
		t.Fatal(err)
	}
	x := newTrial(n, plan{}, 1)
	x.adopt(context.Background(), fw)
	x.kept = slices.Clone(x.pick)
	got := routing.NewForwarding(f)
	x.write(got)
	for i := range x.dests {
		if lid := x.dests[i].lid; !slices.Equal(got.Row(lid), fw.Row(lid)) {
			t.Fatalf("LID %d goes other ways", lid)
		}
	}
}

// Routes are in trouble if one of the cells that they are counted in, on some trunk of
// their way, takes nearly as long as the fullest of its offsets, and longer than hosts'
// links. What is not in trouble stays where it is.
func TestMendingMovesWhatIsInTrouble(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := phasedTrial(rt)
		x.plan.mend = true
		x.phased = newPhased(x.network, x.plan, x.size())
		x.mending = newMending(x.network, &x.phased.flows)
		x.countApart(context.Background())
		counts, longest := x.metAtOffsets(fabric.None), map[cell]int64{}
		for k, n := range counts {
			all := cell{fabric.None, k.order, k.block}
			longest[all] = max(longest[all], int64(n)*x.inverse[k.trunk])
		}
		bad := func(s fabric.NodeID, d int32) bool {
			for _, c := range x.route(s, d) {
				for _, from := range x.hosts {
					for o := range x.orders {
						k := x.offset(o, from, d)
						if x.f.Endpoint(from).Switch != s || k < 0 {
							continue
						}
						takes, most := int64(counts[cell{c, o, x.block(o, k)}])*x.inverse[c], longest[cell{fabric.None, o, x.block(o, k)}]
						if takes >= int64(trouble*float64(most)) && takes > x.network.slowest()<<x.shift {
							return true
						}
					}
				}
			}
			return false
		}
		x.survey()
		x.findTroubled(context.Background())
		calm := map[int32][]uint8{}
		for d := range int32(len(x.dests)) {
			r := &x.roots[x.dests[d].root]
			for j := 1; j < len(r.order); j++ {
				if got, want := slices.Contains(x.mending.from[d], int32(j)), bad(r.order[j], d); got != want {
					rt.Fatalf("routes from switch %d to destination %d in trouble: %v, want %v", r.order[j], d, got, want)
				}
			}
			if len(x.mending.from[d]) == 0 {
				calm[d] = slices.Clone(x.picks(d))
			}
		}
		x.pass(context.Background())
		for d, pick := range calm {
			if !slices.Equal(pick, x.picks(d)) {
				rt.Fatalf("destination %d was moved", d)
			}
		}
	})
}

// mendWhole is mend with the whole tree of the destination taken off the loads, and put back.
func (t *trial) mendWhole(k int32) {
	m, x, d := t.mending, t.phased, &t.dests[k]
	r, pick := &t.roots[d.root], t.picks(k)
	t.charge(r, pick, -d.weight)
	x.old(r, pick)
	clear(m.bad)
	for _, j := range m.from[k] {
		m.bad[j] = t.troubled(true, &x.spans, d, r, pick, j)
	}
	m.look(r, pick)
	t.tree[0] = step{}
	for j := int32(1); int(j) < len(r.order); j++ {
		if !m.bad[j] && !m.seen[j] {
			continue
		}
		if ways := r.ways[r.first[j]:r.first[j+1]]; m.bad[j] && len(ways) > 1 {
			x.now++
			sources := t.behind(d, r, j)
			for _, sign := range []int32{-1, 1} {
				for i := j; i != 0; {
					w := r.ways[r.first[i]+int32(pick[i])]
					x.add(w.trunk, x.spans, sign)
					x.used[w.trunk] = x.now
					i = w.head
				}
				if sign < 0 {
					pick[j] = uint8(t.cheapest(r, pick, j, sources))
				}
			}
		}
		t.take(int(j), r.ways[r.first[j]+int32(pick[j])])
	}
	t.charge(r, pick, d.weight)
}

// Mending takes the ways that it would with the whole tree of a destination taken off the loads,
// and leaves the loads and counts of the trees there are.
func TestMendingIsAsWithTheWholeTreeOff(t *testing.T) {
	moved := 0
	testnet.CheckCounted(t, func(rt *rapid.T) {
		x := phasedTrial(rt)
		x.plan.mend = true
		x.phased = newPhased(x.network, x.plan, x.size())
		x.mending = newMending(x.network, &x.phased.flows)
		x.countApart(context.Background())
		y := newTrial(x.network, x.plan, 1)
		copy(y.pick, x.pick)
		y.phased = newPhased(y.network, y.plan, y.size())
		y.mending = newMending(y.network, &y.phased.flows)
		y.countApart(context.Background())
		for range 2 {
			for _, z := range []*trial{x, y} {
				z.survey()
				z.findTroubled(context.Background())
			}
			for k := range int32(len(x.dests)) {
				if len(x.mending.from[k]) == 0 {
					continue
				}
				d := &x.dests[k]
				if x.mend(x.mending.from[k], d, &x.roots[d.root], x.picks(k)) {
					moved++
				}
				y.mendWhole(k)
				if !slices.Equal(x.picks(k), y.picks(k)) {
					rt.Fatalf("destination %d goes by %v, and by %v with its tree taken off", k, x.picks(k), y.picks(k))
				}
				if !slices.Equal(x.trunks, y.trunks) || !slices.Equal(x.both, y.both) || !slices.Equal(x.phased.words, y.phased.words) {
					rt.Fatalf("after destination %d, loads or counts are not those of the trees", k)
				}
			}
		}
	}, func() {
		if moved == 0 {
			t.Error("no tree was mended")
		}
	})
}

// Orders of ranks that are the same are counted once where cells are for several offsets, and
// paths are those that counting each of them gives.
func TestSameOrdersAreCountedOnce(t *testing.T) {
	for _, mend := range []bool{false, true} {
		var paths [][]uint8
		for _, copies := range []int32{1, 2} {
			f := testnet.Build(t, "xgft:m=4x8,w=3x3,hosts=5")
			ranks := f.ByPort(routing.HCA.Endpoints(f))
			n, err := newNetwork(context.Background(), f, Finder{Aim: Mixed, Orders: []Order{{"switch", ranks}, {"name", ranks}}})
			if err != nil {
				t.Fatal(err)
			}
			if n.copies != 1 {
				t.Fatalf("cells of one offset are counted for %d orders at once", n.copies)
			}
			n.lay(2)
			if n.countOnce(); n.copies != 2 {
				t.Fatal("two orders that are the same are counted twice")
			}
			n.copies = copies
			own := newTrial(n, plan{turns: true, share: 2}, 1)
			own.begin(context.Background())
			from := &start{"balance", own.pick, figures{.5, []float64{2, 2}}}
			x := newTrial(n, plan{from: from, power: 3, even: 1, share: 2, mend: mend}, 1)
			x.begin(context.Background())
			for range 3 {
				x.pass(context.Background())
			}
			if slices.Equal(x.pick, from.pick) {
				t.Fatal("no path was changed")
			}
			if got, want := int(x.phased.width), int(n.width/copies); got != want {
				t.Errorf("%d cells for %d orders in one, want %d", got, copies, want)
			}
			paths = append(paths, x.pick)
		}
		if !slices.Equal(paths[0], paths[1]) {
			t.Errorf("mending %v: counted once, paths are others", mend)
		}
	}
	f := testnet.Build(t, "ring:5,hosts=3")
	ranks := f.ByPort(routing.HCA.Endpoints(f))
	turned := append(slices.Clone(ranks[1:]), ranks[0])
	n, err := newNetwork(context.Background(), f, Finder{Aim: Mixed, Orders: []Order{{"switch", ranks}, {"other", turned}}})
	if err != nil {
		t.Fatal(err)
	}
	n.lay(1)
	if n.countOnce(); n.copies != 1 {
		t.Error("two orders that differ are counted as one")
	}
}

// A trial takes the figures and the paths of its beginning as they are, and what it finds better
// it keeps for itself: others begin with the same.
func TestTrialsLeaveTheirBeginningAlone(t *testing.T) {
	f := testnet.Build(t, "xgft:m=4x8,w=3x3,hosts=5")
	n, err := newNetwork(context.Background(), f, Finder{Aim: Mixed})
	if err != nil {
		t.Fatal(err)
	}
	own := newTrial(n, plan{turns: true, share: 2}, 1)
	own.begin(context.Background())
	from := &start{"balance", own.pick, figures{.5, []float64{2}}}
	before := slices.Clone(from.pick)
	s := &phases{network: n, aim: Mixed, pairs: newSample(n, 1), shifts: newShiftSample(n, 1)}
	x := newTrial(n, plan{from: from, power: 3, even: 1, share: 2}, 1)
	x.begin(context.Background())
	if x.judge(s.judge); x.found.bandwidth != .5 || &x.kept[0] != &from.pick[0] {
		t.Errorf("the beginning is measured or copied again: %v", x.found)
	}
	worth := x.best
	for range 3 {
		x.pass(context.Background())
		worth++
		x.judge(func(*trial) float64 { return worth })
		if !slices.Equal(x.kept, x.pick) || &x.kept[0] == &x.pick[0] {
			t.Fatal("what is better is not kept, or the trial goes on in it")
		}
	}
	if slices.Equal(x.pick, before) {
		t.Fatal("no path was changed")
	}
	if !slices.Equal(from.pick, before) {
		t.Error("the paths of the beginning were changed")
	}
	if y := s.measure(x); s.judge(x) != s.worth(y) {
		t.Error("after a pass a trial is judged by its beginning")
	}
}
