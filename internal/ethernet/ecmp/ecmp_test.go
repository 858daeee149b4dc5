package ecmp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
	"github.com/weft-fabric/weft/traffic"
)

// clos is a network of leaves with adapters, leaf by leaf, whose routes are all shortest paths.
func clos(t testing.TB, devices, leaves, nics int, join func(cable func(a, b int))) (*Network, []int32) {
	t.Helper()
	w, placement := prepared(t, network(t, devices, leaves, nics, join), nics)
	return w, placement
}

func network(t testing.TB, devices, leaves, nics int, join func(cable func(a, b int))) *ethernet.Network {
	t.Helper()
	var names []string
	for i := range devices {
		names = append(names, fmt.Sprintf("d%d", i))
	}
	var cables []ethernet.Cable
	join(func(a, b int) {
		port := fmt.Sprintf("e%d", len(cables))
		cables = append(cables, ethernet.Cable{A: ethernet.End{Device: names[a], Interface: port}, B: ethernet.End{Device: names[b], Interface: port}})
	})
	c, err := ethernet.NewCabling(names, cables)
	if err != nil {
		t.Fatal(err)
	}
	hosts := make([]int, devices)
	for i := range leaves {
		hosts[i] = nics
	}
	n := &ethernet.Network{Cabling: c, Classes: bgp.Subnets(c, hosts)}
	plan, err := bgp.NewPlan(c, bgp.Leaves(n.Classes), bgp.ECMP, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan.Fill(n.Classes)
	return n
}

// prepared has so many adapters in each class.
func prepared(t testing.TB, n *ethernet.Network, nics int) (*Network, []int32) {
	t.Helper()
	var list []NIC
	var placement []int32
	for i := range n.Classes {
		for range nics {
			placement = append(placement, int32(len(list)))
			list = append(list, NIC{Device: n.Classes[i].At[0], Class: i})
		}
	}
	w, err := New(n, list)
	if err != nil {
		t.Fatal(err)
	}
	return w, placement
}

func twoTiers(t testing.TB, leaves, spines, nics int) (*Network, []int32) {
	t.Helper()
	return clos(t, leaves+spines, leaves, nics, func(cable func(a, b int)) {
		for a := range leaves {
			for b := range spines {
				cable(a, leaves+b)
			}
		}
	})
}

// threeTiers is the fat tree of switches with k ports.
func threeTiers(t testing.TB, k int) (*Network, []int32) {
	t.Helper()
	h := k / 2
	leaves := k * h
	return clos(t, 2*leaves+h*h, leaves, h, func(cable func(a, b int)) {
		for pod := range k {
			for i := range h {
				for j := range h {
					cable(pod*h+i, leaves+pod*h+j)
					cable(leaves+pod*h+i, 2*leaves+i*h+j)
				}
			}
		}
	})
}

func pattern(t testing.TB, spec string) traffic.Pattern {
	t.Helper()
	p, err := traffic.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func simulate(t testing.TB, w *Network, o Options) *Result {
	t.Helper()
	if o.QueuePairs == 0 {
		o.QueuePairs = 1
	}
	r, err := Simulate(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The figures that independent simulations of hashing (written before this one, in another language too)
// found of the same networks: phases of all to all, and random permutations. Theirs of permutations with one queue pair, 5.86, is
// 3 % above ours and what chance gives, 5.68 (see TestHashIsChance): a single permutation has a standard deviation of .65, so that it is
// within the error of a mean over sixty or fewer. No other reading of the word gives all three of theirs (5.86, 3.05, 1.92; by chance 5.69,
// 3.05, 1.93): permutations that leave the leaf 5.72, 3.06, 1.94; that leave the pod 5.84, 3.13, 1.98; a destination drawn for
// each adapter by itself 5.96, 3.51, 2.65.
func TestKnownFigures(t *testing.T) {
	two, on2 := twoTiers(t, 32, 32, 32)
	three, on3 := threeTiers(t, 16)
	for _, c := range []struct {
		name    string
		w       *Network
		on      []int32
		pattern string
		runs    int
		want    map[int]float64 // by queue pairs; 0: spraying
	}{
		{"32 leaves, 32 spines, 32 adapters each", two, on2, "alltoall-phased", 1, map[int]float64{1: 5.36, 4: 2.97, 16: 1.90, 0: 1}},
		{"three tiers, k=16", three, on3, "alltoall-phased", 1, map[int]float64{1: 5.62, 4: 3.10, 16: 1.94, 0: 1}},
		{"three tiers, k=16", three, on3, "permutation", 400, map[int]float64{1: 5.86, 4: 3.05, 16: 1.92}},
	} {
		for qps, want := range c.want {
			o := Options{Pattern: pattern(t, c.pattern), Placement: c.on, QueuePairs: max(qps, 1), Spray: qps == 0, Runs: c.runs, Seed: 1}
			r := simulate(t, c.w, o)
			t.Logf("%s, %s, %d queue pairs: %.3f ± %.3f, worst %.2f, bound %.3f", c.name, c.pattern, qps, r.Time, r.StdErr, r.Worst, r.Bound)
			if math.Abs(r.Time-want) > .03*want || r.Lost > 0 || r.Bound > r.Time {
				t.Errorf("%s, %s, %d queue pairs: %.3f, not %.2f", c.name, c.pattern, qps, r.Time, want)
			}
		}
	}
}

// slow sends flow by flow, with sets of next hops looked up anew at every hop.
func slow(w *Network, n *ethernet.Network, o Options, run int) (time, ideal float64, lost int64) {
	fast := func(key any) float64 { // in Mb/s, of the slower end; all are given, or none is
		switch k := key.(type) {
		case ethernet.LinkID:
			if n.Speeds != nil {
				return float64(min(n.Speeds[k], n.Speeds[n.Reverse[k]]))
			}
		case [2]int32:
			if speed := w.NICs[k[1]].Speed; speed > 0 {
				return float64(speed)
			}
		}
		return 1
	}
	phases, _ := o.Pattern.Phases(len(o.Placement))
	stream := traffic.Stream(o.Seed, uint64(run))
	seed := mix(mix(o.Seed+1) ^ uint64(run)*0x9E3779B97F4A7C15)
	for at := range phases {
		load := map[any]float64{}
		most, alone := 0., 0.
		for _, p := range o.Pattern.Append(nil, len(o.Placement), at, stream) {
			from, to := o.Placement[p.From], o.Placement[p.To]
			if from == to {
				continue
			}
			size := float64(max(p.Bytes, 1))
			alone = max(alone, size/min(fast([2]int32{0, from}), fast([2]int32{0, to})))
			load[[2]int32{0, from}] += size
			load[[2]int32{1, to}] += size
			ok := true
			for qp := range o.QueuePairs {
				d := w.NICs[from].Device
				class := &n.Classes[w.NICs[to].Class]
				flow := mix(mix(seed^uint64(uint32(from))<<32^uint64(uint32(to))) + uint64(qp)*0x9E3779B97F4A7C15)
				for hop := 0; !class.Leaves(d); hop++ {
					var next []ethernet.LinkID
					for l, end := n.LinksFrom(d); l < end; l++ {
						for range max(1, class.Weights[l]) { // as often as its weight says
							if n.Has(class.Next, l) {
								next = append(next, l)
							}
						}
					}
					if len(next) == 0 || hop == len(n.Names) {
						ok = false
						break
					}
					salt := mix(seed + uint64(d)*0xD1342543DE82EF95)
					if o.Polarized {
						salt = 0
					}
					l := next[(mix(flow^salt)>>32)*uint64(len(next))>>32]
					load[l] += size / float64(o.QueuePairs)
					d = n.Links[l].To
				}
			}
			if !ok {
				lost++
			}
		}
		for key, l := range load {
			most = max(most, l/fast(key))
		}
		time, ideal = time+most, ideal+alone
	}
	return time, ideal, lost
}

// Whatever the network and its routes, sensible or not, the quick simulation counts what the slow one does.
func TestAgainstSlow(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	looped := 0
	for i := range 300 {
		n := testcables.Network(t, r)
		var nics []NIC
		for c := range n.Classes {
			for range 1 + r.IntN(3) {
				nics = append(nics, NIC{Device: n.Classes[c].At[0], Class: c})
			}
			if r.IntN(2) == 0 {
				n.Classes[c].Weights = map[ethernet.LinkID]uint16{}
				for l := range n.Links {
					n.Classes[c].Weights[ethernet.LinkID(l)] = uint16(1 + r.IntN(4))
				}
			}
		}
		if r.IntN(2) == 0 { // speeds of all
			speed := func() uint32 { return []uint32{10_000, 25_000, 100_000, 400_000}[r.IntN(4)] }
			for range n.Links {
				n.Speeds = append(n.Speeds, speed())
			}
			for i := range nics {
				nics[i].Speed = speed()
			}
		}
		w, err := New(n, nics)
		if err != nil {
			t.Fatal(err)
		}
		var on []int32
		for range 2 + r.IntN(8) {
			on = append(on, int32(r.IntN(len(nics))))
		}
		o := Options{Pattern: pattern(t, []string{"bisect", "alltoall-phased", "uniform+ring"}[i%3]), Placement: on, QueuePairs: 1 << r.IntN(3), Polarized: i%4 == 0, Seed: uint64(i), Runs: 3}
		got := simulate(t, w, o)
		sum, lost, runs := 0., int64(0), 0
		for run := range o.Runs {
			time, ideal, l := slow(w, n, o, run)
			lost += l
			if ideal > 0 {
				sum += time / ideal
				runs++
			}
		}
		if lost > 0 {
			looped++
		}
		if runs > 0 && math.Abs(got.Time-sum/float64(runs)) > 1e-9 || got.Lost != lost || got.Bound > got.Time+1e-9 && lost == 0 {
			t.Fatalf("network %d: time %g, lost %d, bound %g; slowly %g, %d", i, got.Time, got.Lost, got.Bound, sum/float64(runs), lost)
		}
		o.Spray = true
		if s := simulate(t, w, o); lost == 0 && got.Flows > 0 && s.Bound > s.Time+1e-9 {
			t.Fatalf("network %d: spraying takes %g, below the bound %g", i, s.Time, s.Bound)
		}
	}
	if looped == 0 {
		t.Error("no network lost a packet")
	}
}

// Spraying is what hashing comes to with ever more queue pairs, also where next hops have weights.
func TestSprayIsManyQueuePairs(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		n := network(t, 7, 4, 4, func(cable func(a, b int)) {
			for a := range 4 {
				for b := range 3 {
					cable(a, 4+b)
				}
			}
		})
		want := 4. / 3 // four adapters, three links
		if weighted {
			want = 4 * 3. / 6 // half of it by the third
			for i := range n.Classes {
				n.Classes[i].Weights = map[ethernet.LinkID]uint16{}
				for l := range n.Links {
					n.Classes[i].Weights[ethernet.LinkID(l)] = uint16(max(1, int(n.Links[l].To)-3))
				}
			}
		}
		w, on := prepared(t, n, 4)
		o := Options{Pattern: pattern(t, "shift:k=4"), Placement: on, QueuePairs: 20_000, Runs: 1}
		many := simulate(t, w, o)
		o.Spray = true
		even := simulate(t, w, o)
		if math.Abs(many.Time-want) > .05 || math.Abs(even.Time-want) > 1e-9 || math.Abs(even.Bound-4./3) > 1e-9 {
			t.Errorf("weighted %v: spraying %g, bound %g; 20,000 queue pairs %g, not %g", weighted, even.Time, even.Bound, many.Time, want)
		}
	}
}

// Where all devices hash with one seed, a device above uses a part of its links only.
func TestPolarized(t *testing.T) {
	w, on := threeTiers(t, 8)
	o := Options{Pattern: pattern(t, "permutation"), Placement: on, QueuePairs: 4, Runs: 50}
	apart := simulate(t, w, o)
	o.Polarized = true
	alike := simulate(t, w, o)
	used := func(r *Result) (n int) {
		for _, load := range r.Load {
			if load > 0 {
				n++
			}
		}
		return n
	}
	if alike.Time < 1.5*apart.Time || used(apart) != len(w.Links) || used(alike) > len(w.Links)*3/4 {
		t.Errorf("with one seed %g over %d links, with several %g over %d of %d", alike.Time, used(alike), apart.Time, used(apart), len(w.Links))
	}
}

// Figures do not depend on the number of cores.
func TestCores(t *testing.T) {
	w, on := threeTiers(t, 4)
	for _, spec := range []string{"uniform", "alltoall-phased"} {
		o := Options{Pattern: pattern(t, spec), Placement: on, QueuePairs: 3, Seed: 9, Runs: 40}
		var figures [2]string
		for i, cores := range []int{1, 3} {
			before := runtime.GOMAXPROCS(cores)
			figures[i] = fmt.Sprint(simulate(t, w, o))
			runtime.GOMAXPROCS(before)
		}
		if figures[0] != figures[1] {
			t.Errorf("%s: %s\n%s", spec, figures[0], figures[1])
		}
	}
}

// Who gives up gets an error, and soon.
func TestCancelled(t *testing.T) {
	w, on := threeTiers(t, 8)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := Simulate(ctx, w, Options{Pattern: pattern(t, "alltoall"), Placement: on, QueuePairs: 1 << 16, Runs: 4})
	if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took > 20*time.Second {
		t.Errorf("%v after %v", err, took)
	}
}

// Loads of all to all are what spraying every pair one by one adds up to, and none is lost where all arrive.
func TestLoads(t *testing.T) {
	w, on := threeTiers(t, 4)
	load, demand, lost := w.Loads()
	sum := make([]float64, len(load))
	pairs := 0
	for from := range on {
		s := newSprayer(w)
		for to := range on {
			if a := w.NICs[from].Device; w.set[w.NICs[to].Class*w.devices+int(a)] != delivered {
				s.add(w.NICs[to].Class, a, 1)
				pairs++
			}
		}
		if s.spread(sum) > 0 {
			t.Error("a pair is lost")
		}
	}
	for l := range sum {
		if math.Abs(sum[l]-load[l]) > 1e-6 {
			t.Fatalf("link %d: %g, one by one %g", l, load[l], sum[l])
		}
	}
	if demand != float64(pairs) || lost != 0 {
		t.Errorf("%g pairs, %g lost; one by one %d", demand, lost, pairs)
	}
}

// Slow links take longer for what crosses them, and adapters that are faster than links or slower count so. Four adapters on each
// leaf send to those of another, over one link of 400 Gb/s and one of 100.
func TestSpeeds(t *testing.T) {
	n := network(t, 6, 4, 4, func(cable func(a, b int)) {
		for a := range 4 {
			cable(a, 4)
			cable(a, 5)
		}
	})
	n.Speeds = make([]uint32, len(n.Links))
	for l := range n.Links {
		n.Speeds[l] = 400_000
		if n.Links[l].To == 5 || n.Links[l].From == 5 {
			n.Speeds[l] = 100_000
		}
	}
	for _, c := range []struct {
		nic         uint32
		time, bound float64
	}{{100_000, 2, 1}, {400_000, 8, 4 * 400. / 500}, {25_000, 1, 1}, {0, 8, 4 * 400. / 500}} {
		w, on := prepared(t, n, 4)
		nics := w.NICs
		for i := range nics {
			nics[i].Speed = c.nic
		}
		w, err := New(n, nics)
		if err != nil {
			t.Fatal(err)
		}
		r := simulate(t, w, Options{Pattern: pattern(t, "shift:k=4"), Placement: on, Spray: true, Runs: 1})
		if math.Abs(r.Time-c.time) > 1e-9 || math.Abs(r.Bound-c.bound) > 1e-9 {
			t.Errorf("adapters of %d Mb/s: time %g, bound %g, not %g, %g", c.nic, r.Time, r.Bound, c.time, c.bound)
		}
		unrated := *n // where no link has a speed, each is as fast as an adapter
		unrated.Speeds = make([]uint32, len(n.Links))
		if w, err = New(&unrated, nics); err != nil || !w.Alike {
			t.Errorf("adapters of %d Mb/s on links of no speed: alike %v, %v", c.nic, w.Alike, err)
		}
	}
	for l := range n.Speeds { // a cable has the speed of its slower end, and one of which nothing is known that of most
		n.Speeds[l] = 100_000
	}
	n.Speeds[3], n.Speeds[n.Reverse[3]] = 0, 0
	if w, _ := prepared(t, n, 1); !w.Alike {
		t.Errorf("a link of which nothing is known is not as others: %v", w.speed)
	}
	n.Speeds[3] = 25_000
	if w, _ := prepared(t, n, 1); w.Alike || w.speed[3] != .25 || w.speed[n.Reverse[3]] != .25 {
		t.Errorf("a cable with one end of 25 Gb/s: %v", w.speed)
	}
}

// drawn is what hashing comes to if hashes are chance, without any: each queue pair takes a device above at random, with
// three tiers one above that.
func drawn(r *rand.Rand, pods, leaves, nics, ways, tops, qps int, to func(from int) int) float64 {
	up, down := make([]int, pods*leaves*ways), make([]int, pods*leaves*ways)
	upTop, downTop := make([]int, pods*ways*(tops+1)), make([]int, pods*ways*(tops+1))
	full := qps
	for from := range pods * leaves * nics {
		a, b := from/nics, to(from)/nics
		for range qps {
			if a == b {
				continue
			}
			way := r.IntN(ways)
			up[a*ways+way]++
			down[b*ways+way]++
			full = max(full, up[a*ways+way], down[b*ways+way])
			if p, q := a/leaves, b/leaves; p != q {
				top := r.IntN(tops)
				upTop[(p*ways+way)*tops+top]++
				downTop[(q*ways+way)*tops+top]++
				full = max(full, upTop[(p*ways+way)*tops+top], downTop[(q*ways+way)*tops+top])
			}
		}
	}
	return float64(full) / float64(qps)
}

// The figures are those of chance within their errors: a hash is neither better nor worse.
func TestHashIsChance(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	two, on2 := twoTiers(t, 32, 32, 32)
	three, on3 := threeTiers(t, 16)
	const runs = 300
	for _, qps := range []int{1, 4, 16} {
		for _, c := range []struct {
			name                      string
			w                         *Network
			on                        []int32
			pods, leaves, nics, above int
		}{{"two tiers", two, on2, 1, 32, 32, 32}, {"three tiers", three, on3, 16, 8, 8, 8}} {
			sum, squares := 0., 0.
			for range runs {
				order := r.Perm(len(c.on))
				x := drawn(r, c.pods, c.leaves, c.nics, c.above, c.above, qps, func(from int) int { return order[from] })
				sum, squares = sum+x, squares+x*x
			}
			mean := sum / runs
			spread := math.Sqrt(squares/runs - mean*mean)
			got := simulate(t, c.w, Options{Pattern: pattern(t, "permutation"), Placement: c.on, QueuePairs: qps, Runs: runs, Seed: 11})
			t.Logf("%s, permutations, %d queue pairs: %.3f ± %.3f; by chance %.3f, one draw ± %.3f", c.name, qps, got.Time, got.StdErr, mean, spread)
			if off := math.Abs(got.Time - mean); off > 4*math.Hypot(got.StdErr, spread/math.Sqrt(runs)) {
				t.Errorf("%s, %d queue pairs: %.3f ± %.3f, by chance %.3f", c.name, qps, got.Time, got.StdErr, mean)
			}
		}
	}
}
