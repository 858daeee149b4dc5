package packets

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/routing"
)

// The account of flows is that of a plain map: what is sent has the next number, what
// comes must be due, and a flow without packets under way is forgotten.
func TestFlowsKeepTheAccount(t *testing.T) {
	type account struct{ sent, next, open uint32 }
	for _, c := range []struct{ gaps, mixed bool }{{false, false}, {true, false}, {false, true}} {
		rng := rand.New(rand.NewPCG(5, 5))
		f := newFlows(c.gaps, c.mixed)
		twin := map[[2]int32]*account{}
		way := map[[2]int32][]uint32{} // numbers under way, in order
		for step := range 30_000 {
			// Now many flows, now few, so that the table grows and empties.
			ends := int32(2 + 30*(step/3000%2))
			key := [2]int32{rng.Int32N(ends), rng.Int32N(ends)}
			if a := twin[key]; a == nil || rng.IntN(2) == 0 && len(way[key]) < 5 {
				if a == nil {
					a = &account{}
					twin[key] = a
				}
				if got := f.send(key[0], key[1]); got != a.sent {
					t.Fatalf("step %d: packet %d of %v, want %d", step, got, key, a.sent)
				}
				way[key] = append(way[key], a.sent)
				a.sent++
				a.open++
			} else if c.gaps && rng.IntN(8) == 0 {
				last := len(way[key]) - 1
				if err := f.record([]endedPacket{{key[0], key[1], way[key][last], true}}); err != nil {
					t.Fatal(err)
				}
				way[key] = way[key][:last]
				a.open--
			} else {
				at := 0
				if c.mixed {
					at = rng.IntN(len(way[key]))
				}
				number := way[key][at]
				for _, wrong := range []uint32{number + 1, a.sent, number - 1} {
					due := c.mixed && wrong < a.sent || c.gaps && wrong >= a.next && wrong < a.sent
					if !due && f.arrive(key[0], key[1], wrong) == nil {
						t.Fatalf("step %d: packet %d of %v comes where %d of %d was due", step, wrong, key, a.next, a.sent)
					}
				}
				if err := f.record([]endedPacket{{key[0], key[1], number, false}}); err != nil {
					t.Fatalf("step %d: %v", step, err)
				}
				way[key] = slices.Delete(way[key], at, at+1)
				a.next = number + 1
				a.open--
			}
			if twin[key].open == 0 {
				delete(twin, key)
			}
			rows := 0
			for _, r := range f.rows {
				if r.key != 0 {
					rows++
				}
			}
			if f.used != len(twin) || rows != len(twin) {
				t.Fatalf("step %d: %d flows in %d rows, want %d", step, f.used, rows, len(twin))
			}
		}
		if err := f.arrive(99, 99, 0); err == nil {
			t.Error("a packet of no flow comes")
		}
	}
}

// The wheel hands over what a sorted list would, picosecond by picosecond.
func TestWheelIsAQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 40 {
		var w wheel
		var list []event
		now, what := Time(-1), uint64(0)
		for range 600 {
			for range rng.IntN(6) {
				// Near, and so far that every digit of the time counts.
				at := now + 1 + Time(rng.Int64N(1<<rng.IntN(50)))
				w.push(at, what)
				list = append(list, event{at, what})
				what++
			}
			slices.SortFunc(list, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what)) })
			if w.count != len(list) {
				t.Fatalf("%d events, want %d", w.count, len(list))
			}
			earliest := w.earliest()
			if len(list) > 0 && earliest > list[0].at || len(list) == 0 && earliest != never || earliest < now {
				t.Fatalf("nothing is said to happen before %d, after %d: %v", earliest, now, list)
			}
			before := never
			if len(list) > 0 && rng.IntN(3) == 0 {
				before = list[0].at + Time(rng.IntN(2))
			}
			got := slices.Clone(w.next(before))
			n := 0
			for n < len(list) && list[n].at == list[0].at && list[0].at < before {
				n++
			}
			slices.SortFunc(got, func(a, b event) int { return cmp.Compare(a.what, b.what) })
			if !slices.Equal(got, list[:n]) {
				t.Fatalf("before %d: %v, want %v", before, got, list[:n])
			}
			if n > 0 {
				now = list[0].at
			} else if before != never {
				now = before - 1 // nothing may be pushed that is due before
			}
			list = list[n:]
		}
	}
}

// What a Window leaves open is 4,000 packets of the slowest sender, and three times
// that before; what it says stays.
func TestWindowsLeftOpen(t *testing.T) {
	n := routed(t, "ring:3", "updn", 1, mustPreset(t, "ib-hdr"))
	hosts := routing.HCA.Endpoints(n.Fabric)
	packet := serial(n.Config.wire(int64(n.Config.MTU)), n.kindAt(0).perByte)
	for _, c := range []struct{ in, want Window }{
		{Window{}, Window{Length: 4000 * packet, WarmUp: 12_000 * packet}},
		{Window{Length: 100}, Window{Length: 100, WarmUp: 300}},
		{Window{Length: 1}, Window{Length: 1, WarmUp: 3}},
		{Window{Length: 100, WarmUp: 1}, Window{Length: 100, WarmUp: 1}},
		{Window{Length: 100, Exactly: true}, Window{Length: 100, Exactly: true}},
		{Window{Length: -1, WarmUp: -1}, Window{Length: 4000 * packet, WarmUp: 12_000 * packet}},
	} {
		l := Injection{Offered: 0.1, Placement: hosts, Seed: 1}
		g, err := n.prepare(&l, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		got := c.in
		if n.fillDefaults(&got, g); got.Length != c.want.Length || got.WarmUp != c.want.WarmUp || got.Exactly != c.want.Exactly {
			t.Errorf("%+v is settled as %+v, want %+v", c.in, got, c.want)
		}
	}
}

// The warm-up and the window of a result are as long as asked for.
func TestWindowsAreAsLongAsAskedFor(t *testing.T) {
	n := routed(t, "ring:3", "updn", 1, mustPreset(t, "unit"))
	for _, c := range []struct{ warmUp, want Time }{{8000, 8000}, {80, 80}, {8, 8}, {3, 8}, {15, 8}, {17, 16}} {
		r := measured(t, n, Injection{Offered: 0.1, Placement: routing.HCA.Endpoints(n.Fabric), Seed: 1}, Window{Length: 4000, WarmUp: c.warmUp, Exactly: true})
		if r.WarmUp != c.want || r.Window != 4000 {
			t.Errorf("of %d and 4000 ps: a warm-up of %d and a window of %d, want %d", c.warmUp, r.WarmUp, r.Window, c.want)
		}
	}
}

// What must not happen is kept, the first of it.
func TestTheFirstErrorIsKept(t *testing.T) {
	s := &region{flows: newFlows(false, false)}
	s.record(&mail{ended: []endedPacket{{src: 1, dst: 2}}})
	first := s.failure
	if first == nil {
		t.Fatal("a packet of no flow is no error")
	}
	m := &mail{ended: []endedPacket{{src: 3, dst: 4}}}
	if s.record(m); !errors.Is(s.failure, first) || len(m.ended) != 0 {
		t.Errorf("%v after %v, %d left", s.failure, first, len(m.ended))
	}
	if s.record(&mail{}); !errors.Is(s.failure, first) {
		t.Error("the first is forgotten")
	}
}

// The limits of arbitration tables hold at the limit and not one beyond.
func TestLimitsOfArbitration(t *testing.T) {
	for _, c := range []struct {
		a    *Arbitration
		good bool
	}{
		{nil, true},
		{&Arbitration{}, true},
		{&Arbitration{High: make([]Weight, 64), Low: make([]Weight, 64)}, true},
		{&Arbitration{High: make([]Weight, 65)}, false},
		{&Arbitration{Low: make([]Weight, 65)}, false},
		{&Arbitration{High: []Weight{{VL: 14}}, Low: []Weight{{VL: 14}}}, true},
		{&Arbitration{High: []Weight{{VL: 15}}}, false},
		{&Arbitration{Low: []Weight{{VL: 1}, {VL: 15}}}, false},
	} {
		if err := c.a.check(); (err == nil) != c.good {
			t.Errorf("%+v: %v", c.a, err)
		}
	}
	for _, c := range []struct {
		a     *Arbitration
		lanes int
		good  bool
	}{
		{nil, 8, true},
		{&Arbitration{}, 1, false},
		{&Arbitration{Low: []Weight{{0, 1}}}, 1, true},
		{&Arbitration{Low: []Weight{{0, 0}}}, 1, false},
		{&Arbitration{Low: []Weight{{0, 1}}}, 2, false},
		{&Arbitration{Low: []Weight{{0, 1}}, High: []Weight{{1, 1}}}, 2, true},
		{&Arbitration{Low: []Weight{{0, 1}, {2, 1}}, High: []Weight{{1, 1}}}, 2, true},
	} {
		if err := c.a.serves(c.lanes); (err == nil) != c.good {
			t.Errorf("%+v for %d lanes: %v", c.a, c.lanes, err)
		}
	}
}
