package packets

import (
	"context"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/adaptive/choosing"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// anyConfig is hardware of all kinds.
func anyConfig(t *rapid.T) Config {
	var c Config
	if rapid.Bool().Draw(t, "unit") {
		c = unit(rapid.IntRange(1, 8).Draw(t, "flits"), 0)
	} else {
		c = mustPreset(t, rapid.SampledFrom([]string{"ib", "ib-fdr", "ib-ndr"}).Draw(t, "preset"))
		c.MTU = rapid.SampledFrom([]int{256, 1024, 4096}).Draw(t, "mtu")
	}
	packet := (c.MTU + c.Header + Block - 1) / Block * Block
	c.Buffer = packet * rapid.IntRange(1, 4).Draw(t, "packets")
	if rapid.Bool().Draw(t, "output buffers") {
		c.OutBuffer = packet * rapid.IntRange(1, 2).Draw(t, "output packets")
	}
	c.Speedup, c.StoreWhole, c.Lottery = rapid.IntRange(1, 3).Draw(t, "speedup"), rapid.Bool().Draw(t, "store"), rapid.Bool().Draw(t, "lottery")
	if rapid.Bool().Draw(t, "arbitration") {
		c.Arbitration = &Arbitration{Limit: uint8(rapid.SampledFrom([]int{0, 1, 255}).Draw(t, "limit"))}
		for vl := range uint8(routing.MaxDataVLs) {
			w := Weight{VL: vl, Blocks: uint8(rapid.IntRange(1, 40).Draw(t, "weight"))}
			c.Arbitration.Low = append(c.Arbitration.Low, w)
			if vl%2 == 0 {
				c.Arbitration.High = append(c.Arbitration.High, w)
			}
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "lifetime") == 0 {
		c.Lifetime = 20 * serial(int32(packet), max(1, c.perByte(fabric.Rate{})))
	}
	if rapid.Bool().Draw(t, "in turn") {
		c.AddressChoice = InTurn
	}
	return c
}

// anyNetwork is a network with tables, with several addresses, or whose switches
// choose. safe says whether it is proven.
func anyNetwork(t *rapid.T, c Config) (n *Network, safe bool) {
	f := testnet.Build(t, rapid.SampledFrom(smallNetworks).Draw(t, "network"))
	name := rapid.SampledFrom(append([]string{"a-lash", "updn-adaptive", "escape", "mroots", "mp-lash"}, smallEngines...)).Draw(t, "engine")
	budget := routing.Budget{VLs: 8, Scope: routing.Adapters}
	if e, err := choosing.Named(name); err == nil {
		a, err := e.RouteAdaptive(context.Background(), f, budget, nil)
		if err != nil {
			t.Fatal(err)
		}
		n, err = NewAdaptive(a, c)
		if err != nil {
			t.Fatal(err)
		}
		return n, true
	}
	e, err := engines.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	if name == "mroots" || name == "mp-lash" {
		if f, err = f.WithLMC(1); err != nil {
			t.Fatal(err)
		}
	}
	tables, err := e.Route(context.Background(), f, engines.Options{}, budget, nil)
	if err != nil {
		t.Skip(err)
	}
	if n, err = New(tables, c); err != nil {
		t.Fatal(err)
	}
	return n, e.Safe
}

// Whatever the hardware, the routing and the traffic: no credit and no packet is
// lost or made up, every flow keeps its account, what is proven does not stop, and
// the same seed gives the same run.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, safe := anyNetwork(t, anyConfig(t))
		l := Injection{
			Offered: float64(rapid.IntRange(1, 20).Draw(t, "load")) / 20, Placement: routing.HCA.Endpoints(n.Fabric), Seed: rapid.Uint64().Draw(t, "seed"),
			Regular: rapid.Bool().Draw(t, "regular"), Burst: rapid.IntRange(1, 3).Draw(t, "burst"), Bytes: int64(rapid.IntRange(1, 3*n.Config.MTU).Draw(t, "bytes")),
		}
		var results [2]*Result
		for i := range results {
			s := newSim(n)
			s.begin(l.Seed, 0)
			g, err := n.prepare(&l, s.sending.random)
			if err != nil {
				t.Fatal(err)
			}
			s.generate(g)
			s.measureFrom()
			packet := serial(n.Config.wire(int64(n.Config.MTU)), n.slowest())
			stop, err := s.batchesOf(context.Background(), 10*packet, 8, func() bool { return false })
			if err != nil {
				t.Fatal(err)
			}
			if err := s.audit(); err != nil {
				t.Fatal(err)
			}
			if c := s.counted(); c.created != c.delivered+c.dropped+c.inside+c.atSource {
				t.Fatalf("%+v", c)
			}
			if safe && stop == Deadlocked {
				t.Fatalf("a proven routing stops: %s", s.watch.deadlock)
			}
			results[i] = s.result(0)
		}
		if diff := gocmp.Diff(results[0], results[1]); diff != "" {
			t.Fatalf("the same seed gives two runs:\n%s", diff)
		}
	})
}

// A script ends with every packet delivered, or dropped, or in a deadlock.
func TestScriptsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, safe := anyNetwork(t, anyConfig(t))
		r, err := n.Complete(context.Background(), [][]Message{randomMessages(t, n), nil, randomMessages(t, n)}, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		switch r.Status {
		case Completed:
			if r.Arrived+r.Dropped != r.Created || r.Held != 0 || r.Dropped > 0 && n.Config.Lifetime == 0 {
				t.Fatalf("created %d, arrived %d, dropped %d", r.Created, r.Arrived, r.Dropped)
			}
		case Deadlocked:
			if safe {
				t.Fatalf("a proven routing stops: %s", r.Deadlock)
			}
		default:
			t.Fatalf("ends %s", r.Status)
		}
	})
}
