package packets

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/engine/adaptive/choosing"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// started is a run under heavy uniform traffic.
func started(t testnet.TB, n *Network, seed uint64) *sim {
	t.Helper()
	s := newSim(n)
	s.begin(seed, 0)
	g, err := n.prepare(&Injection{Offered: 0.9, Placement: routing.HCA.Endpoints(n.Fabric)}, s.sending.random)
	if err != nil {
		t.Fatal(err)
	}
	s.generate(g)
	return s
}

// step goes to the next time at which something happens, in the only region.
func (s *sim) step() bool {
	more := s.regions[0].step(never)
	s.now = s.regions[0].wheel.now
	return more
}

// A deadlock that is looked for at every event is found when it closes, and what is
// said to be stuck never moves again.
func TestStuckIsForEver(t *testing.T) {
	stopped := 0
	testnet.CheckCounted(t, func(t *rapid.T) {
		c := unit(rapid.IntRange(1, 4).Draw(t, "flits"), 0)
		c.Buffer = c.MTU * rapid.IntRange(1, 2).Draw(t, "packets")
		c.Credit, c.Cable = Time(rapid.IntRange(0, 9).Draw(t, "credit")), Time(rapid.IntRange(1, 5).Draw(t, "cable"))
		c.Lottery = rapid.Bool().Draw(t, "lottery")
		n := routed(t, rapid.SampledFrom([]string{"ring:5", "torus:3x5", "ring:7,hosts=2"}).Draw(t, "network"), "minhop", 1, c)
		s := started(t, n, rapid.Uint64().Draw(t, "seed"))
		var found *Deadlock
		for s.now < 5000 && found == nil && s.step() {
			found = s.stuckNow()
		}
		if found == nil {
			return
		}
		stopped++
		if found.Closed != found.Found {
			t.Fatalf("closed at %d, found at %d", found.Closed, found.Found)
		}
		before := slices.Clone(s.far)
		moves := append([]bool(nil), s.watch.moves...)
		for s.now < 20_000 && s.step() {
		}
		for q, m := range moves {
			if !m && before[q].head != s.far[q].head {
				t.Fatalf("buffer %d was said to be stuck and moved", q)
			}
		}
	}, func() {
		if stopped < 10 {
			t.Errorf("only %d runs stopped", stopped)
		}
	})
}

// Packets of an adaptive routing go where its sets allow, and nowhere else.
func TestAdaptivePacketsObey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a-lash", "updn-adaptive", "escape"}).Draw(t, "engine")
		n := adaptiveNetwork(t, rapid.SampledFrom(append(smallNetworks, "torus:4x5")).Draw(t, "network"), name, unit(2, 4))
		s := started(t, n, rapid.Uint64().Draw(t, "seed"))
		at := map[int32]packet{} // as it was before the event
		hops := 0
		for s.now < 300 && s.step() {
			for i := range s.regions[0].packets {
				p, last := s.regions[0].packets[i], at[int32(i)]
				at[int32(i)] = p
				// Another packet may have taken the place.
				same := last.src == p.src && last.dst == p.dst && last.created == p.created && last.number == p.number
				if same && last.injected > 0 && p.into != none && p.into != last.into {
					obeys(t, n, &p, last.into)
					hops++
				}
			}
		}
		if hops < 20 {
			t.Fatalf("%d hops", hops)
		}
	})
}

// obeys checks a hop from one buffer to the one a packet is in now.
func obeys(t *rapid.T, n *Network, p *packet, from int32) {
	f, a := n.Fabric, n.adaptive
	came, went := fabric.ChannelID(from>>n.shift), fabric.ChannelID(p.into>>n.shift)
	lane, to := uint8(from&(1<<n.shift-1)), uint8(p.into&(1<<n.shift-1))
	dst := f.Endpoint(fabric.EndpointID(p.dst))
	at := f.Channel(came).To
	if f.Channel(went).From != at {
		t.Fatalf("a packet leaps from %d to %d", came, went)
	}
	if at == dst.Switch {
		if went != dst.Deliver {
			t.Fatalf("a packet leaves its destination")
		}
		return
	}
	allowed := p.lanes
	if int(came) >= f.Trunks() {
		came = fabric.None
	} else {
		allowed &= a.Lanes[lane].Next
	}
	if allowed>>to&1 == 0 || !a.Ways(adaptive.Address(p.address), came, lane, to).Has(went) {
		t.Fatalf("a packet to switch %d goes from lane %d of trunk %d to lane %d of %d", dst.Switch, lane, came, to, went)
	}
}

func adaptiveNetwork(t testnet.TB, spec, engine string, c Config) *Network {
	e, err := choosing.Named(engine)
	if err != nil {
		t.Fatal(err)
	}
	a, err := e.RouteAdaptive(context.Background(), testnet.Build(t, spec), routing.Budget{VLs: 8, Scope: routing.Adapters}, nil)
	if err != nil {
		t.Fatal(err)
	}
	n, err := NewAdaptive(a, c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
