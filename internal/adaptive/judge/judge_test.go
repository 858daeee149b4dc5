package judge_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/adaptive/judge"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// everyShortest is one address for every switch, and every trunk that brings a
// packet nearer, on some lanes.
func everyShortest(f *fabric.Fabric, lanes int, next, rely func(lane int) uint16) *adaptive.Tables {
	one := make([]int, f.Switches())
	for s := range one {
		one[s] = 1
	}
	t := adaptive.New(f, one)
	choices := adaptive.NewChoices(f, t.Addresses(), 1, make([]uint8, f.Trunks()))
	for a := range adaptive.Address(t.Addresses()) {
		set, row := choices.Fresh(a, 0), t.AllowedRow(a)
		for c, ch := range f.Channels()[:f.Trunks()] {
			if hopsBetween(f, ch.To, t.Destination(a)) < hopsBetween(f, ch.From, t.Destination(a)) {
				set.Add(fabric.ChannelID(c))
			}
		}
		for s := range row {
			row[s] = 1<<lanes - 1
		}
	}
	for l := range lanes {
		t.Lanes = append(t.Lanes, adaptive.Lane{Choices: choices, Next: next(l), Rely: rely(l)})
	}
	return t
}

func judged(t testing.TB, a *adaptive.Tables, s judge.Switching) *judge.Verdict {
	t.Helper()
	v, err := judge.Verify(context.Background(), a, judge.Options{Switching: s})
	if err != nil {
		t.Fatal(err)
	}
	if err := newTwin(a, routing.HCA, s).agrees(v); err != nil {
		t.Fatal(err)
	}
	return v
}

func all(lanes int) func(int) uint16 { return func(int) uint16 { return 1<<lanes - 1 } }
func own(lane int) uint16            { return 1 << lane }

// Minimal adaptive routing on a ring, with nothing to escape to: packets that all
// go clockwise wait for each other. More lanes, freely chosen, do not help.
func TestMinimalAdaptiveOnRing(t *testing.T) {
	f := testnet.Ring(t, 5)
	for lanes := range 3 {
		lanes++
		v := judged(t, everyShortest(f, lanes, all(lanes), all(lanes)), judge.CutThrough)
		if v.Free() || len(v.Cycle) != 5 || !v.Complete() || !v.Minimal || v.Hops != 2 || v.VLs != lanes {
			t.Errorf("%d lanes: verdict is %+v", lanes, v)
		}
		for i, s := range v.Cycle {
			if next := v.Cycle[(i+1)%5]; f.Channel(s.Trunk).To != f.Channel(next.Trunk).From || s.Kind != judge.Direct {
				t.Errorf("step %d is %+v", i, s)
			}
		}
	}
	// Of two lanes that packets use alike all rely on the second: the cycle is there.
	v := judged(t, everyShortest(f, 2, all(2), func(int) uint16 { return 0b10 }), judge.CutThrough)
	if v.Free() || len(v.Cycle) != 5 || slices.ContainsFunc(v.Cycle, func(s judge.Step) bool { return s.Lane != 1 }) {
		t.Errorf("all rely on lane 1: verdict is %+v", v)
	}
	// On a ring of three no shortest path has a turn.
	if v := judged(t, everyShortest(testnet.Ring(t, 3), 1, own, own), judge.Wormhole); !v.Free() || v.Dependencies != 0 {
		t.Errorf("a ring of three: verdict is %+v", v)
	}
}

// Lanes that differ in one thing only are told apart: where they lead to, and where
// they are led to from. The twin knows nothing of lanes that are alike.
func TestLanesThatDifferALittle(t *testing.T) {
	for _, next := range [][]uint16{
		{0b011, 0b001, 0b001}, // lane 2 is entered at the source only
		{0b111, 0b111, 0b011},
		{0b111, 0b110, 0b110},
		{0b111, 0b111, 0b111},
	} {
		a := everyShortest(testnet.Ring(t, 7), 3, func(l int) uint16 { return next[l] }, func(l int) uint16 { return next[l] })
		for _, s := range []judge.Switching{judge.CutThrough, judge.Wormhole} {
			if v := judged(t, a, s); v.Free() {
				t.Errorf("%b: a ring without an escape is free of deadlock", next)
			}
		}
		// If only one switch sends, trunks differ in which lanes are held.
		for x := range adaptive.Address(a.Addresses()) {
			clear(a.AllowedRow(x)[1:])
		}
		if v := judged(t, a, judge.CutThrough); !v.Free() || v.Flows != 6 {
			t.Errorf("%b, one source: verdict is %+v", next, v)
		}
	}
}

// withEscape gives a routing of one kind of lane another lane to rely on: along
// the line that a ring of switches is without the cable from the last to the first.
func withEscape(t *adaptive.Tables, back bool) {
	f := t.Fabric
	line := adaptive.NewChoices(f, t.Addresses(), 1, make([]uint8, f.Trunks()))
	for a := range adaptive.Address(t.Addresses()) {
		set, d := line.Fresh(a, 0), t.Destination(a)
		for c, ch := range f.Channels()[:f.Trunks()] {
			if ch.To == ch.From+1 && ch.To <= d || ch.To == ch.From-1 && ch.To >= d {
				set.Add(fabric.ChannelID(c))
			}
		}
		for s, row := 0, t.AllowedRow(a); s < len(row); s++ {
			row[s] = 0b11
		}
	}
	t.Lanes[0].Next, t.Lanes[0].Rely = 0b11, 0b10
	t.Lanes = append(t.Lanes, adaptive.Lane{Choices: line, Next: 0b10, Rely: 0b10})
	if back {
		t.Lanes[1].Next = 0b11
	}
}

// Duato: a cycle among the adaptive lanes does no harm if there is an escape. To
// come back from it is free of deadlock where packets are buffered whole, but a
// packet may then circle; in a wormhole network it may hold what it escapes to.
func TestEscape(t *testing.T) {
	for _, c := range []struct {
		back           bool
		s              judge.Switching
		free, complete bool
	}{
		{false, judge.CutThrough, true, true},
		{false, judge.Wormhole, true, true},
		{true, judge.CutThrough, true, false},
		{true, judge.Wormhole, false, false},
	} {
		a := everyShortest(testnet.Ring(t, 6), 1, own, own)
		withEscape(a, c.back)
		v := judged(t, a, c.s)
		if v.Free() != c.free || v.Complete() != c.complete || v.Stranded != 0 || v.Minimal {
			t.Errorf("%+v: verdict is %+v", c, v)
		}
		if !c.complete && (v.MayNotArrive == 0 || v.Lost[0].Why != judge.Circling) {
			t.Errorf("%+v: lost is %+v", c, v.Lost)
		}
		if !c.free && !slices.ContainsFunc(v.Cycle, func(s judge.Step) bool {
			return s.Kind == judge.Indirect || s.Kind == judge.IndirectCross
		}) {
			t.Errorf("%+v: no step of %+v is indirect", c, v.Cycle)
		}
	}
}

// An escape that does not lead from everywhere proves nothing.
func TestEscapeMustBeConnected(t *testing.T) {
	a := everyShortest(testnet.Ring(t, 6), 1, own, own)
	withEscape(a, false)
	d, _ := a.AddressesOf(3)
	a.Lanes[1].Choices.Fresh(d, 0) // nobody escapes to switch 3
	v := judged(t, a, judge.CutThrough)
	if v.Free() || v.Cycle != nil || v.Stranded != 5 || !strings.Contains(v.Lost[0].Why.String(), "rely") {
		t.Errorf("verdict is %+v", v)
	}
}

// What a source is not allowed, or not offered, is lost and told.
func TestLostFlows(t *testing.T) {
	a := everyShortest(testnet.Ring(t, 5), 1, own, own)
	first, _ := a.AddressesOf(0)
	a.AllowedRow(first)[1] = 0
	choices := a.Lanes[0].Choices
	second, _ := a.AddressesOf(2)
	choices.Fresh(second, 0)
	v := judged(t, a, judge.CutThrough)
	want := []judge.Lost{
		{Source: 1, Dest: 0, Address: judge.NoFlow, Why: judge.NotAddressed},
		{Source: 0, Dest: 2, Address: second, Why: judge.DeadEnd},
	}
	if !slices.Equal(v.Lost[:2], want) || v.Unreachable != 5 || v.MayNotArrive != 4 || v.Complete() {
		t.Errorf("verdict is %+v", v)
	}
}

// garbageAdaptive is any routing at all.
func garbageAdaptive(t *rapid.T) *adaptive.Tables {
	f := smallNetwork(t)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "routing"), 1))
	addresses := make([]int, f.Switches())
	for s := range addresses {
		addresses[s] = rng.IntN(3)
	}
	a := adaptive.New(f, addresses)
	var choices []*adaptive.Choices
	wrong, missing := rapid.SampledFrom([]int{0, 1, 8}).Draw(t, "wrong in 20"), rapid.SampledFrom([]int{0, 3}).Draw(t, "missing in 20")
	for range rapid.IntRange(1, 2).Draw(t, "choices") {
		phases := 1 + rng.IntN(2)
		phase := make([]uint8, f.Trunks())
		for c := range phase {
			phase[c] = uint8(rng.IntN(phases))
		}
		c := adaptive.NewChoices(f, a.Addresses(), phases, phase)
		for x := range adaptive.Address(a.Addresses()) {
			for p := range phases {
				randomSet(f, c.Fresh(x, uint8(p)), a.Destination(x), rng, wrong, missing)
			}
		}
		choices = append(choices, c)
	}
	n := rapid.IntRange(1, 3).Draw(t, "lanes")
	for range n {
		next := uint16(rng.IntN(1 << n))
		a.Lanes = append(a.Lanes, adaptive.Lane{Choices: choices[rng.IntN(len(choices))], Next: next, Rely: next & uint16(rng.IntN(1<<n))})
	}
	if rapid.Bool().Draw(t, "sane lanes") {
		for i := range a.Lanes {
			a.Lanes[i].Next, a.Lanes[i].Rely = 1<<n-1, 1<<rng.IntN(n)
		}
	}
	for x := range adaptive.Address(a.Addresses()) {
		for s, row := 0, a.AllowedRow(x); s < len(row); s++ {
			if row[s] = uint16(rng.IntN(1 << n)); rng.IntN(2) == 0 {
				row[s] = 1<<n - 1
			}
		}
	}
	return a
}

func randomSet(f *fabric.Fabric, set adaptive.TrunkSet, dest fabric.NodeID, rng *rand.Rand, wrong, missing int) {
	for c, ch := range f.Channels()[:f.Trunks()] {
		nearer := hopsBetween(f, ch.To, dest) < hopsBetween(f, ch.From, dest)
		if nearer && rng.IntN(20) >= missing || rng.IntN(20) < wrong {
			set.Add(fabric.ChannelID(c))
		}
	}
}

// smallNetwork draws up to six switches, most with a host.
func smallNetwork(t *rapid.T) *fabric.Fabric {
	var b fabric.Builder
	n := rapid.IntRange(1, 6).Draw(t, "switches")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "wiring"), 1))
	var sw []fabric.Ref
	used := make([]uint8, n)
	for i := range n {
		sw = append(sw, b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 5}, ""))
		if used[i] = 1; rng.IntN(6) > 0 {
			h := b.Node(fabric.Node{GUID: fabric.GUID(100 + i), Kind: fabric.Adapter, Ports: 1}, "")
			b.Cable(h, 1, sw[i], 1, fabric.Rate{})
		}
	}
	for range rng.IntN(2*n + 1) {
		x, z := rng.IntN(n), rng.IntN(n)
		if x == z || used[x] == 5 || used[z] == 5 {
			continue
		}
		used[x]++
		used[z]++
		b.Cable(sw[x], used[x], sw[z], used[z], fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The judge agrees with its twin on any routing, however wrong, and a certificate
// holds for what it was made for and for nothing that depends otherwise.
func TestAdaptiveJudgeAgreesOnGarbage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := garbageAdaptive(t)
		scope := rapid.SampledFrom([]routing.Scope{routing.HCA, routing.Adapters, routing.All}).Draw(t, "scope")
		s := rapid.SampledFrom([]judge.Switching{judge.CutThrough, judge.Wormhole}).Draw(t, "switching")
		v, err := judge.Verify(context.Background(), a, judge.Options{Scope: scope, Switching: s})
		if err != nil {
			t.Fatal(err)
		}
		w := newTwin(a, scope, s)
		if err := w.agrees(v); err != nil {
			t.Fatal(err)
		}
		if !v.Free() {
			return
		}
		if _, err := judge.CheckCertificate(context.Background(), a, v.Certificate, nil); err != nil {
			t.Fatalf("the certificate does not hold: %v", err)
		}
		for i, rank := range v.Certificate.Rank {
			if rank == deadlock.Unused {
				continue
			}
			v.Certificate.Rank[i] = deadlock.Unused
			if _, err := judge.CheckCertificate(context.Background(), a, v.Certificate, nil); err == nil {
				t.Fatalf("without a rank for lane %d in use the certificate holds", i)
			}
			v.Certificate.Rank[i] = rank
		}
		for e := range w.edges {
			i, j := int(e[0].Trunk)*v.Certificate.Lanes+int(e[0].Lane), int(e[1].Trunk)*v.Certificate.Lanes+int(e[1].Lane)
			rank := v.Certificate.Rank
			rank[i], rank[j] = rank[j], rank[i]
			wrong := (*judge.Violation)(nil)
			if _, err := judge.CheckCertificate(context.Background(), a, v.Certificate, nil); !errors.As(err, &wrong) {
				t.Fatalf("with the ranks of %v exchanged the certificate holds: %v", e, err)
			}
			return
		}
	})
}

func TestAdaptiveNotAVerdict(t *testing.T) {
	a := everyShortest(testnet.Ring(t, 4), 2, own, own)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := judge.Verify(ctx, a, judge.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
	v := judged(t, everyShortest(testnet.Ring(t, 3), 1, own, own), judge.CutThrough)
	if _, err := judge.CheckCertificate(context.Background(), a, v.Certificate, nil); err == nil || !strings.Contains(err.Error(), "trunk lanes") {
		t.Errorf("a certificate of another routing: %v", err)
	}
	a.Lanes[1].Next = 0b100
	if _, err := judge.Verify(context.Background(), a, judge.Options{}); err == nil {
		t.Error("a lane that leads to one that is not there passes")
	}
}
