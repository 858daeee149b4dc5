package deadlock_test

import (
	"fmt"
	"math/bits"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// oddTries is how many networks or walks are drawn: whole, a sample, or with WEFT_THOROUGH a hundred times as many.
func oddTries(whole, sample int) uint64 {
	if os.Getenv("WEFT_THOROUGH") != "" {
		return uint64(100 * whole)
	}
	return uint64(testnet.Of(whole, sample))
}

// oddCount is what was met.
type oddCount struct{ free, loops, trees, answers, escapes, dropped, cut, absent, changes, few int }

// lostOf is pairs without a route as text.
func lostOf(list []deadlock.Lost) string {
	sum := map[[3]int]int64{}
	d := &dumb{lost: sum}
	for _, l := range list {
		sum[[3]int{int(l.Switch), int(l.LID), int(l.Why) + 1}] += l.Pairs
	}
	return d.lostText()
}

// against holds a verdict against the dumb one.
func (n *oddCount) against(t *testing.T, where string, tables *routing.Tables, o deadlock.Options, v *deadlock.Verdict) {
	t.Helper()
	f := tables.Fabric
	w := newDumb(o.Contract, o.Scope, tables).judge()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: contract %v scope %v: %s", where, o.Contract, o.Scope, fmt.Sprintf(format, args...))
	}
	free := w.shortest() == 0
	if v.Free() != free {
		fail("free %v, want %v", v.Free(), free)
		return
	}
	if v.Pairs != w.pairs || v.Unreachable != w.unreachable {
		fail("%d of %d pairs cut off, want %d of %d\n%s\n%s", v.Unreachable, v.Pairs, w.unreachable, w.pairs, lostOf(v.Lost), w.lostText())
	}
	if v.Loops != w.loops {
		fail("%d loops, want %d", v.Loops, w.loops)
	}
	if v.Stray != w.stray {
		fail("%d stray, want %d", v.Stray, w.stray)
	}
	if v.Dropped > 0 != w.drops {
		fail("%d dropped, want any %v", v.Dropped, w.drops)
	}
	if got, want := lostOf(v.Lost), w.lostText(); got != want {
		fail("lost %s\nwant %s", got, want)
	}
	seen := map[[3]int]bool{}
	for _, l := range v.Lost {
		if k := [3]int{int(l.Switch), int(l.LID), int(l.Why)}; seen[k] {
			fail("%v is listed twice", l)
		} else {
			seen[k] = true
		}
	}
	if v.Dependencies != len(w.edges) {
		fail("%d dependencies, want %d", v.Dependencies, len(w.edges))
	}
	if v.LaneMask != w.lanesUsed() || v.VLs != max(1, bits.OnesCount16(v.LaneMask)) {
		fail("lanes %b, want %b", v.LaneMask, w.lanesUsed())
	}
	if v.SLs != max(1, bits.OnesCount16(w.levels)) {
		fail("%d service levels, want %d", v.SLs, bits.OnesCount16(w.levels))
	}
	ab := map[[2]int]bool{}
	for _, a := range v.Absent {
		if int(a.Channel) < f.Trunks() {
			ab[[2]int{int(a.Channel), int(a.VL)}] = true
		}
	}
	n.absent += len(ab)
	if !reflect.DeepEqual(ab, w.absent) {
		fail("absent %v, want %v", ab, w.absent)
	}
	if tables.Multicast != nil && v.Multicast != nil {
		n.trees++
		for _, tree := range tables.Multicast.Trees {
			if slices.Contains(v.Multicast.Circling, tree.MLID) != w.castCircling[tree.MLID] {
				fail("group circles %v, want %v", v.Multicast.Circling, w.castCircling)
			}
			if slices.Contains(v.Multicast.Split, tree.MLID) != w.castSplit[tree.MLID] {
				fail("group split %v, want %v", v.Multicast.Split, w.castSplit)
			}
		}
	} else if tables.Multicast != nil {
		fail("no multicast verdict")
	}
	n.dropped += int(min(1, v.Dropped))
	n.cut += int(min(1, v.Unreachable))
	if free {
		n.free++
		provenBy(t, fail, w, v.Certificate, f, func(c *deadlock.Certificate) error {
			_, err := deadlock.CheckCertificate(t.Context(), tables, c, nil)
			return err
		})
		return
	}
	n.loops++
	if len(v.Cycle) != w.shortest() {
		fail("a loop of %d steps, want %d", len(v.Cycle), w.shortest())
	}
	if tables.Groups != nil && (v.Escape != nil) != w.escapes() {
		fail("an escape %v, want %v", v.Escape != nil, w.escapes())
	}
	if v.Escape != nil {
		n.escapes++
	}
	for i, s := range v.Cycle {
		next := v.Cycle[(i+1)%len(v.Cycle)]
		one := newDumb(o.Contract, o.Scope, tables)
		src := f.Endpoint(s.Src)
		if s.Multicast {
			tree := map[fabric.NodeID]map[uint8]bool{}
			for k := range tables.Multicast.Trees {
				if tables.Multicast.Trees[k].MLID != s.Dst {
					continue
				}
				for _, n := range tables.Multicast.Trees[k].Nodes {
					tree[n.Switch] = map[uint8]bool{}
					for p := range n.Ports.All() {
						tree[n.Switch][p] = true
					}
				}
			}
			one.cast(tree, src.Switch, f.LastPort(src), s.SL, map[fabric.ChannelID]map[fabric.ChannelID]bool{})
		} else {
			dst := f.Owner(s.Dst)
			own, answers := one.levelsOf(s.Src, dst, s.Dst)
			if !one.in(s.Src) || !one.in(dst) || s.Src == dst {
				fail("step %d: nobody sends so", i)
			}
			switch {
			case s.Answer && answers>>s.SL&1 == 0, !s.Answer && own>>s.SL&1 == 0:
				fail("step %d: %+v is on no level of own %b, answers %b", i, s, own, answers)
			}
			if s.Answer {
				n.answers++
			}
			for _, k := range one.kinds() {
				one.travel(s.Src, dst, s.Dst, s.SL, k)
			}
		}
		if !one.edges[[2]hop{{s.Trunk, s.VL}, {next.Trunk, next.VL}}] {
			fail("step %d: no packet makes %+v", i, s)
		}
	}
}

// provenBy wants a certificate that holds, for the dumb twin and for the checker, which refuses what is made of it falsely.
func provenBy(t *testing.T, fail func(string, ...any), w *dumb, c *deadlock.Certificate, f *fabric.Fabric, check func(*deadlock.Certificate) error) {
	t.Helper()
	ranksHold(t, fail, w, c, f)
	if err := check(c); err != nil {
		fail("the proof is refused: %v", err)
	}
	falsified(w, c, func(c *deadlock.Certificate) {
		if check(c) == nil {
			fail("a falsified proof passes")
		}
	})
}

func ranksHold(t *testing.T, fail func(string, ...any), w *dumb, c *deadlock.Certificate, f *fabric.Fabric) {
	t.Helper()
	for e := range w.edges {
		if rankOf(c.Rank, c.Lanes, e[0]) >= rankOf(c.Rank, c.Lanes, e[1]) {
			fail("the ranks do not rise along %v", e)
		}
	}
	for trunk := range fabric.ChannelID(f.Trunks()) {
		for lane := range uint8(c.Lanes) {
			if h := (hop{trunk, lane}); w.held[h] != (rankOf(c.Rank, c.Lanes, h) != deadlock.Unused) {
				fail("%v is held %v and has rank %d", h, w.held[h], rankOf(c.Rank, c.Lanes, h))
			}
		}
	}
}

// falsified makes proofs that are none.
func falsified(w *dumb, c *deadlock.Certificate, try func(*deadlock.Certificate)) {
	n := 0
	for e := range w.edges {
		a := *c
		a.Rank = slices.Clone(c.Rank)
		a.Rank[int(e[0].Trunk)*c.Lanes+int(e[0].Lane)] = rankOf(c.Rank, c.Lanes, e[1])
		try(&a)
		if n++; n > 2 {
			break
		}
	}
	n = 0
	for h := range w.held {
		a := *c
		a.Rank = slices.Clone(c.Rank)
		a.Rank[int(h.Trunk)*c.Lanes+int(h.Lane)] = deadlock.Unused
		try(&a)
		if n++; n > 2 {
			break
		}
	}
}

// againstMixture holds the verdict of a mixture against the dumb one.
func (n *oddCount) againstMixture(t *testing.T, where string, ts []*routing.Tables, o deadlock.Options, v *deadlock.MixtureVerdict) {
	t.Helper()
	f := ts[0].Fabric
	w := newDumb(o.Contract, o.Scope, ts...).judge()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: mixture: contract %v scope %v: %s", where, o.Contract, o.Scope, fmt.Sprintf(format, args...))
	}
	free := w.shortest() == 0
	if v.Free() != free || v.Dependencies != len(w.edges) {
		fail("free %v, %d dependencies, want %v, %d", v.Free(), v.Dependencies, free, len(w.edges))
		return
	}
	if v.Pairs != w.pairs || !slices.Equal(v.Cut, w.cut) || v.Exposed != w.exposed || v.Circles != w.circles {
		fail("%d pairs, cut %v, exposed %d, circles %d; want %d, %v, %d, %d", v.Pairs, v.Cut, v.Exposed, v.Circles, w.pairs, w.cut, w.exposed, w.circles)
	}
	if v.Dropped > 0 != w.drops {
		fail("%d dropped, want any %v", v.Dropped, w.drops)
	}
	if v.VLs != max(1, bits.OnesCount16(w.lanesUsed())) {
		fail("%d lanes, want %b", v.VLs, w.lanesUsed())
	}
	if v.Multicast != nil {
		for mlid, circ := range w.castCircling {
			if slices.Contains(v.Multicast.Circling, mlid) != circ {
				fail("group circles %v, want %v", v.Multicast.Circling, w.castCircling)
			}
		}
	}
	if free {
		n.free++
		provenBy(t, fail, w, v.Certificate, f, func(c *deadlock.Certificate) error {
			_, err := deadlock.CheckMixture(t.Context(), ts, c, nil)
			return err
		})
		return
	}
	n.loops++
	if len(v.Cycle) != w.shortest() {
		fail("a loop of %d steps, want %d", len(v.Cycle), w.shortest())
	}
	for i, s := range v.Cycle {
		next := v.Cycle[(i+1)%len(v.Cycle)]
		if s.Multicast {
			continue
		}
		at, in := f.Endpoint(s.Src).Switch, f.LastPort(f.Endpoint(s.Src))
		own, answers := newDumb(o.Contract, o.Scope, ts...).levelsOf(s.Src, f.Owner(s.Dst), s.Dst)
		if s.Answer && answers>>s.SL&1 == 0 || !s.Answer && own>>s.SL&1 == 0 {
			fail("step %d: %+v is on no level of own %b, answers %b", i, s.LoopStep, own, answers)
		}
		var way []hop
		hold := hop{Trunk: fabric.None}
		for _, c := range s.Way {
			offered := false
			for _, levels := range ts {
				by := [4]*routing.Tables{ts[c.Private], ts[c.Entry], levels, ts[max(c.Group, 0)]}
				offered = offered || slices.Contains(ports(by, at, in, s.SL, s.Dst, c.Group >= 0), c.Port)
			}
			if c.Switch != at || !offered {
				fail("step %d: at switch %d: %+v", i, at, c)
			}
			out := f.Channel(f.Out(at, c.Port))
			hold = hop{Trunk: f.Out(at, c.Port), Lane: newDumb(o.Contract, o.Scope, ts...).laneBy(ts[c.Map], at, in, c.Port, s.SL, hold)}
			way = append(way, hold)
			at, in = out.To, out.ToPort
		}
		if k := len(way); k < 2 || way[k-2] != (hop{s.Trunk, s.VL}) || way[k-1] != (hop{next.Trunk, next.VL}) {
			fail("step %d: %+v ends in %v", i, s, way)
		}
	}
}

// oddDrawn is a network in which switches look up lanes by lanes now and then.
func oddDrawn(seed uint64, withGroups bool) *odd {
	o := newOdd(seed, withGroups)
	if o.maps != nil && seed%5 == 0 {
		for s := range o.maps.byLane {
			if o.one(2) {
				o.maps.byLane[s] = uint16(o.n(16))
			}
		}
	}
	return o
}

// Networks in which seldom features meet are judged as by the dumb one.
func TestOdd(t *testing.T) {
	var n oddCount
	for seed := uint64(0); seed < oddTries(1000, 300) && !t.Failed(); seed++ {
		o := oddDrawn(seed, seed%3 == 0)
		tables, opt := o.build(t), o.options()
		v, err := deadlock.Verify(t.Context(), tables, opt)
		if err != nil {
			t.Fatal(err)
		}
		n.against(t, fmt.Sprint("seed ", seed), tables, opt, v)
	}
	if n.free < 100 || n.loops < 60 || n.trees < 40 || n.answers < 10 || n.escapes < 2 || n.dropped < 40 || n.cut < 80 || n.absent < 40 {
		t.Errorf("%+v: too few of a kind to be a test", n)
	}
}

// So are mixtures of such tables before and after some changes.
func TestOddMixtures(t *testing.T) {
	var n oddCount
	for seed := uint64(0); seed < oddTries(200, 60) && !t.Failed(); seed++ {
		o := oddDrawn(seed, seed%2 == 0)
		all := []*routing.Tables{o.build(t)}
		for range 1 + o.n(2) {
			for range 1 + o.n(4) {
				o.change()
			}
			all = append(all, o.build(t))
		}
		f := all[o.n(len(all))].Fabric
		for i := range all {
			all[i] = oddOn(t, f, all[i], nil)
		}
		v, err := deadlock.VerifyMixture(t.Context(), all, o.options())
		if err != nil {
			t.Fatal(err)
		}
		n.againstMixture(t, fmt.Sprint("seed ", seed), all, o.options(), v)
	}
	if n.free < 15 || n.loops < 15 {
		t.Errorf("%+v: too few of a kind to be a test", n)
	}
}

// What a memory says after one change after another is what is said from scratch, and what the dumb one says.
func TestOddMemory(t *testing.T) {
	var n oddCount
	for seed := uint64(0); seed < oddTries(100, 20) && !t.Failed(); seed++ {
		o := newOdd(seed, seed%7 == 0)
		if seed%2 == 0 { // the service level decides the lane
			o.maps = nil
		}
		for sl := range o.uniform {
			if o.uniform[sl] == 15 && seed%4 == 0 {
				o.uniform[sl] = 0
			}
		}
		var memory deadlock.Memory
		before := o.build(t)
		for step := 0; step < 40 && !t.Failed(); step++ {
			for range 1 + min(1, o.n(8)/7) {
				o.change()
			}
			tables := o.build(t)
			n.remembered(t, fmt.Sprintf("seed %d, step %d, %s", seed, step, o.what), o, &memory, before, tables)
			before = tables
		}
	}
	if n.few*2 < n.changes || n.free == 0 || n.loops == 0 {
		t.Errorf("%+v: too few of a kind to be a test", n)
	}
}

// remembered compares verdicts on tables, and now and then on a mixture with those before, with and without what is known.
func (n *oddCount) remembered(t *testing.T, where string, o *odd, memory *deadlock.Memory, before, tables *routing.Tables) {
	t.Helper()
	n.changes++
	opt := o.options()
	with := opt
	with.Memory = memory
	if o.one(3) {
		mixed := []*routing.Tables{oddOn(t, tables.Fabric, before, tables), tables}
		if o.one(4) {
			slices.Reverse(mixed)
		}
		compare(t, where+": mixture", func(opt deadlock.Options) (any, error) { return deadlock.VerifyMixture(t.Context(), mixed, opt) }, opt, with)
		if o.one(4) {
			v, err := deadlock.VerifyMixture(t.Context(), mixed, opt)
			if err != nil {
				t.Fatal(err)
			}
			n.againstMixture(t, where, mixed, opt, v)
		}
	}
	compare(t, where, func(opt deadlock.Options) (any, error) { return deadlock.Verify(t.Context(), tables, opt) }, opt, with)
	if o.one(3) {
		v, err := deadlock.Verify(t.Context(), tables, opt)
		if err != nil {
			t.Fatal(err)
		}
		n.against(t, where, tables, opt, v)
	}
	var fresh deadlock.Memory
	opt.Memory = &fresh
	if _, err := deadlock.Verify(t.Context(), tables, opt); err != nil {
		t.Fatal(err)
	}
	if d := memory.Differs(&fresh); d != "" {
		t.Errorf("%s: what is kept differs in %s", where, d)
	}
	lids := 0
	for range opt.Scope.LIDs(tables.Fabric) {
		lids++
	}
	if memory.Followed()*2 < lids {
		n.few++
	}
}

// oddOn is tables as they act on a network.
func oddOn(t *testing.T, f *fabric.Fabric, tables, fresh *routing.Tables) *routing.Tables {
	t.Helper()
	on, err := transition.On(f, tables, fresh)
	if err != nil {
		t.Fatal(err)
	}
	return on
}
