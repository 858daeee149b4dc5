package deadlock_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// clockwise sends everything on by port 2.
func clockwise(f *fabric.Fabric) *routing.Forwarding {
	fw := routing.NewForwarding(f)
	for lid, e := range f.LIDs() {
		row := fw.Row(lid)
		for s := range row {
			row[s] = 2
		}
		ep := f.Endpoint(e)
		row[ep.Switch] = ep.Port // 0 of a switch, 1 of a host, and hosts are on port 1
	}
	return fw
}

func verify(t *testing.T, f *fabric.Fabric, fw *routing.Forwarding, l *routing.Lanes, c routing.Contract) *deadlock.Verdict {
	t.Helper()
	v, err := deadlock.Verify(context.Background(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}, deadlock.Options{Contract: c})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Everybody sends clockwise: the loop goes once round (IPDPS 2011, Figure 2).
func TestRingOfFive(t *testing.T) {
	f := testnet.Ring(t, 5)
	v := verify(t, f, clockwise(f), routing.OneSL(f, routing.LanePerSL(8)), routing.Honored)
	if v.Free() || len(v.Cycle) != 5 || v.Dependencies != 5 || v.Pairs != 20 || !v.Complete() || v.VLs != 1 || v.SLs != 1 {
		t.Fatalf("verdict is %+v", v)
	}
	for i, s := range v.Cycle {
		next := v.Cycle[(i+1)%5]
		if c := f.Channel(s.Trunk); c.To != f.Channel(next.Trunk).From || s.VL != 0 || s.SL != 0 {
			t.Errorf("step %d is %+v", i, s)
		}
	}
}

// It goes round as well where nobody sends to the first address of a host and all to its second, by the same way.
func TestRingBySecondAddresses(t *testing.T) {
	f, err := testnet.Ring(t, 5).WithLMC(1)
	if err != nil {
		t.Fatal(err)
	}
	l := routing.NewLanes(f, routing.LanePerSL(8))
	for lid, e := range f.LIDs() {
		if lid == f.Endpoint(e).LID {
			for s := range l.SLRow(lid) {
				l.SLRow(lid)[s] = routing.NoSL
			}
		}
	}
	if v := verify(t, f, clockwise(f), l, routing.Honored); v.Free() || len(v.Cycle) != 5 || v.Dependencies != 5 || v.Pairs != 20 || !v.Complete() {
		t.Errorf("verdict is %+v", v)
	}
}

// NoCycle leaves out the loop and nothing else.
func TestNoCycle(t *testing.T) {
	f := testnet.Ring(t, 5)
	tables := &routing.Tables{Fabric: f, Forwarding: clockwise(f), Lanes: routing.OneSL(f, routing.LanePerSL(8))}
	with := verify(t, f, tables.Forwarding, tables.Lanes, routing.Any)
	without, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any, NoCycle: true})
	if err != nil || without.Free() || without.Cycle != nil || len(with.Cycle) == 0 {
		t.Fatalf("%v, free %v, a loop of %d steps", err, without.Free(), len(without.Cycle))
	}
	with.Cycle = nil
	if d := cmp.Diff(with, without, cmpopts.EquateComparable(routing.Contract{})); d != "" {
		t.Error(d)
	}
}

// A dateline: what goes through switch 0 leaves it by VL 1, if it is on SL 0.
func TestDateline(t *testing.T) {
	f := testnet.Ring(t, 3)
	m := routing.LanePerSL(1).PerPort(f)
	m.Set(0, 3, 2, 0, 1)
	l := routing.OneSL(f, m)
	if v := verify(t, f, clockwise(f), l, routing.Honored); !v.Free() || !v.Complete() || v.VLs != 2 || v.Dependencies != 3 {
		t.Errorf("verdict is %+v", v)
	}
	if v := verify(t, f, clockwise(f), l, routing.Single(1)); v.Free() || len(v.Cycle) != 3 {
		t.Errorf("all on SL 1: verdict is %+v", v)
	}
	if v := verify(t, f, clockwise(f), l, routing.Any); v.Free() || v.Dependencies != 4 {
		t.Errorf("all on any SL: verdict is %+v", v)
	}
}

// The ring of three with one of the paths of two hops on a layer of its own: free as
// long as each side asks for its own PathRecord. If host 1 asks for the one to host
// 2, it is told SL 0, and host 2 answers on that.
func TestTheWayBack(t *testing.T) {
	f := testnet.Ring(t, 3)
	var lid [3]fabric.LID
	var host [3]fabric.EndpointID
	for l, e := range f.LIDs() {
		if ep := f.Endpoint(e); ep.Class == fabric.HostAdapter {
			lid[ep.Switch], host[ep.Switch] = l, e
		}
	}
	l := routing.NewLanes(f, routing.LanePerSL(2))
	l.SLRow(lid[1])[2] = 1
	if v := verify(t, f, clockwise(f), l, routing.Directed); !v.Free() || v.VLs != 2 {
		t.Errorf("directed: verdict is %+v", v)
	}
	v := verify(t, f, clockwise(f), l, routing.Honored)
	if v.Free() || len(v.Cycle) != 3 {
		t.Fatalf("honored: verdict is %+v", v)
	}
	for i, s := range v.Cycle {
		if s.Answer != (s.Src == host[2] && s.Dst == lid[1]) || s.SL != 0 || s.VL != 0 {
			t.Errorf("step %d is %+v", i, s)
		}
	}
	l.SLRow(lid[2])[1] = 1
	if v := verify(t, f, clockwise(f), l, routing.Honored); !v.Free() || v.VLs != 2 {
		t.Errorf("one SL a pair: verdict is %+v", v)
	}
	// A host that may not be asked does not answer.
	l.SLRow(lid[2])[1] = routing.NoSL
	if v := verify(t, f, clockwise(f), l, routing.Honored); !v.Free() {
		t.Errorf("host 1 does not ask host 2: verdict is %+v", v)
	}
}

// Packets that circle hold lanes and wait for others: that is a credit loop.
func TestForwardingLoopIsACreditLoop(t *testing.T) {
	f := testnet.Ring(t, 4)
	fw := routing.NewForwarding(f)
	for lid, e := range f.LIDs() {
		if f.Endpoint(e).Class == fabric.HostAdapter {
			fw.Row(lid)[f.Endpoint(e).Switch] = 1
		}
	}
	// For the host of switch 0, switches 1 and 2 send to each other, 3 sends to 2.
	copy(fw.Row(5), []uint8{1, 2, 3, 3})
	uniform := routing.LanePerSL(8)
	for _, m := range []*routing.SL2VL{uniform, uniform.PerPort(f)} {
		for _, groups := range []*routing.Groups{nil, routing.NewGroups(f, 1)} { // with groups another walker follows the packets
			tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, m), Groups: groups}
			v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Honored})
			if err != nil {
				t.Fatal(err)
			}
			if v.Free() || len(v.Cycle) != 2 || v.Loops != 3 || v.Complete() || v.Dependencies != 3 {
				t.Errorf("groups %v: verdict is %+v", groups != nil, v)
			}
		}
	}
}

// A lane that is VL 15 on the last cable, from switch to host, drops as well.
func TestDropOnTheLastCable(t *testing.T) {
	f := testnet.Ring(t, 3)
	m := routing.LanePerSL(1).PerPort(f)
	for in := range uint8(4) {
		m.Set(1, in, 1, 0, 15)
	}
	if v := verify(t, f, clockwise(f), routing.OneSL(f, m), routing.Honored); v.Dropped == 0 || v.Complete() {
		t.Errorf("verdict is %+v", v)
	}
	// Two hosts of one switch.
	var b fabric.Builder
	s := b.Node(fabric.Node{GUID: 1, Ports: 2}, "")
	for p := range uint8(2) {
		b.Cable(b.Node(fabric.Node{GUID: fabric.GUID(10 + p), Kind: fabric.Adapter, Ports: 1}, ""), 1, s, p+1, fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	fw := routing.NewForwarding(f)
	fw.Row(2)[0], fw.Row(3)[0] = 1, 2
	drop := routing.UniformSL2VL([routing.SLs]uint8{15})
	for _, m := range []*routing.SL2VL{drop, drop.PerPort(f)} {
		if v := verify(t, f, fw, routing.OneSL(f, m), routing.Honored); v.Dropped == 0 || v.Complete() {
			t.Errorf("verdict is %+v", v)
		}
		if v := verify(t, f, fw, routing.OneSL(f, m), routing.Single(1)); v.Dropped != 0 || !v.Complete() {
			t.Errorf("on SL 1: verdict is %+v", v)
		}
	}
}

// What a destination would send to itself is not sent, even where its switch has
// another source and sends its packets on.
func TestDestinationsDoNotSendToThemselves(t *testing.T) {
	f := testnet.Ring(t, 3)
	m := routing.LanePerSL(1).PerPort(f)
	m.Set(0, 1, 2, 0, 1) // from the host of switch 0
	fw := routing.NewForwarding(f)
	fw.Row(4)[0] = 2 // to that host
	tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, m)}
	v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Scope: routing.All})
	if err != nil {
		t.Fatal(err)
	}
	if v.LaneMask != 1 {
		t.Errorf("lanes %b carry something", v.LaneMask)
	}
}

// Two adapters cabled to each other have LIDs, and entries for them, but nobody
// can send there: they are no witnesses of a credit loop.
func TestWitnessesAreAttached(t *testing.T) {
	var b fabric.Builder
	var pair [2]fabric.Ref
	for i := range pair {
		pair[i] = b.Node(fabric.Node{GUID: fabric.GUID(200 + i), Kind: fabric.Adapter, Ports: 1}, "")
		b.Port(pair[i], 1, fabric.Port{LID: fabric.LID(i + 1)}) // below all others
	}
	b.Cable(pair[0], 1, pair[1], 1, fabric.Rate{})
	f := testnet.RingInto(t, 3, &b)
	fw := routing.NewForwarding(f)
	for lid, e := range f.LIDs() {
		row := fw.Row(lid)
		copy(row, []uint8{2, 2, 2})
		if ep := f.Endpoint(e); ep.Switch != fabric.None {
			row[ep.Switch] = ep.Port
		}
	}
	v := verify(t, f, fw, routing.OneSL(f, routing.LanePerSL(1)), routing.Honored)
	if v.Free() || len(v.Cycle) != 3 || v.Pairs != 6 || v.Unreachable != 0 {
		t.Fatalf("verdict is %+v", v)
	}
	for _, s := range v.Cycle {
		if s.Dst <= 2 || f.Endpoint(s.Src).Switch == fabric.None {
			t.Errorf("a step is caused by %+v", s)
		}
	}
}

// Lanes of another fabric are refused, a cancelled judge says so.
func TestVerifyRefuses(t *testing.T) {
	f, g := testnet.Ring(t, 3), testnet.Ring(t, 4)
	if _, err := deadlock.Verify(context.Background(), &routing.Tables{Fabric: f, Forwarding: clockwise(f), Lanes: routing.OneSL(g, routing.LanePerSL(1))}, deadlock.Options{}); err == nil {
		t.Error("lanes of another fabric pass")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tables := &routing.Tables{Fabric: f, Forwarding: clockwise(f), Lanes: routing.OneSL(f, routing.LanePerSL(1))}
	if _, err := deadlock.Verify(ctx, tables, deadlock.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and the error is %v", err)
	}
}

func TestCertificateIsForItsTables(t *testing.T) {
	f := testnet.Ring(t, 5)
	fw := routing.NewForwarding(f)
	for lid, e := range f.LIDs() {
		d := f.Endpoint(e).Switch
		row := fw.Row(lid)
		for s := range row {
			row[s] = 2 // towards higher switches, never from 4 to 0
			if fabric.NodeID(s) > d {
				row[s] = 3
			}
		}
		row[d] = f.Endpoint(e).Port
	}
	tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
	v := verify(t, f, fw, tables.Lanes, routing.Honored)
	if !v.Free() || !v.Complete() {
		t.Fatalf("verdict is %+v", v)
	}
	ctx := context.Background()
	again, err := deadlock.CheckCertificate(ctx, tables, v.Certificate, nil)
	if err != nil || again.Dependencies != v.Dependencies || again.Pairs != v.Pairs {
		t.Errorf("checked again: %+v, %v", again, err)
	}
	wrongSize := *v.Certificate
	wrongSize.Rank = slices.Clone(wrongSize.Rank[1:])
	if _, err := deadlock.CheckCertificate(ctx, tables, &wrongSize, nil); err == nil {
		t.Error("a certificate that is too short passes")
	}
	more := *tables
	more.Lanes = routing.OneSL(f, routing.LanePerSL(2))
	if _, err := deadlock.CheckCertificate(ctx, &more, v.Certificate, nil); err == nil {
		t.Error("a certificate of one lane passes for tables of two")
	}
	around := *tables
	around.Forwarding = clockwise(f)
	var wrong *deadlock.Violation
	if _, err := deadlock.CheckCertificate(ctx, &around, v.Certificate, nil); !errors.As(err, &wrong) || wrong.Error() == "" {
		t.Errorf("the certificate of other tables: %v", err)
	}
}

// A lane in use has a rank even where nothing waits for it and it waits for nothing.
func TestCertificateRanksEveryLaneInUse(t *testing.T) {
	f := testnet.Ring(t, 2)
	tables := &routing.Tables{Fabric: f, Forwarding: clockwise(f), Lanes: routing.OneSL(f, routing.LanePerSL(1))}
	v := verify(t, f, tables.Forwarding, tables.Lanes, routing.Honored)
	if !v.Free() || v.Dependencies != 0 {
		t.Fatalf("verdict is %+v", v)
	}
	used := 0
	for trunk, rank := range v.Certificate.Rank {
		if rank == deadlock.Unused {
			continue
		}
		used++
		holed := *v.Certificate
		holed.Rank = slices.Clone(holed.Rank)
		holed.Rank[trunk] = deadlock.Unused
		want := deadlock.Unranked{Switch: f.Label(f.Channel(fabric.ChannelID(trunk)).From), Port: 2}
		var got *deadlock.Unranked
		if _, err := deadlock.CheckCertificate(context.Background(), tables, &holed, nil); !errors.As(err, &got) || *got != want {
			t.Errorf("without a rank for trunk %d: %v, want %v", trunk, err, &want)
		}
		if _, err := deadlock.CheckMixture(context.Background(), []*routing.Tables{tables}, &holed, nil); !errors.As(err, &got) {
			t.Errorf("of a mixture, without a rank for trunk %d: %v", trunk, err)
		}
	}
	if used != 2 {
		t.Errorf("%d lanes have a rank, not 2", used)
	}
}
