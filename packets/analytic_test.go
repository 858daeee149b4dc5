package packets

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// pattern is a literal list of pairs of ranks.
type pattern []traffic.Pair

func (p pattern) Phases(int) (int, error) { return 1, nil }
func (p pattern) Random() bool            { return false }
func (p pattern) String() string          { return "pattern" }

// measured is a run that must not fail.
func measured(t testing.TB, n *Network, l Injection, w Window) *Result {
	t.Helper()
	r, err := n.Measure(context.Background(), l, w)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// One sender on one link is a queue with Poisson arrivals and constant service,
// M/D/1: it waits rho/(2(1-rho)) services in the mean (Pollaczek and Khinchine).
func TestOneLinkIsMD1(t *testing.T) {
	n := routed(t, "ring:2", "updn", 1, mustPreset(t, "ib-hdr"))
	packet := float64(serial(n.Config.wire(2048), n.kindAt(0).perByte))
	zero := packet + float64(3*n.Config.Cable+2*n.Config.Forward)
	for _, rho := range testnet.First([]float64{0.7, 0.1, 0.3, 0.5, 0.8, 0.9}, 1) {
		r := measured(t, n, Injection{Offered: rho, Pattern: pattern{{From: 0, To: 1}}, Placement: routing.HCA.Endpoints(n.Fabric), Seed: 5}, Window{Length: Time(400_000 * packet), WarmUp: Time(20_000 * packet), Exactly: true})
		want := zero + packet*rho/(2*(1-rho))
		t.Logf("rho %.1f: %.0f ps, theory %.0f, error %.0f", rho, r.Mean, want, r.Error)
		if r.Status != Steady || math.Abs(r.Mean-want) > 0.01*want+2*r.Error {
			t.Errorf("rho %.1f: %s, mean %.0f ± %.0f, theory %.0f", rho, r.Status, r.Mean, r.Error, want)
		}
		if math.Abs(r.Accepted-rho) > 0.01 {
			t.Errorf("rho %.1f: accepted %.4f", rho, r.Accepted)
		}
	}
}

func mustPreset(t testnet.TB, name string) Config {
	t.Helper()
	c, err := PresetNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (p pattern) Append(pairs []traffic.Pair, n, phase int, _ *rand.Rand) []traffic.Pair {
	return append(pairs, p...)
}

// Alone in the network, a packet takes the delays of its cables and switches and
// is serialised once, or at every link if switches store it whole.
func TestZeroLoadLatency(t *testing.T) {
	for _, c := range []struct {
		spec   string
		change func(*Config)
	}{
		{"torus:3x4", func(*Config) {}},
		{"karytree:k=3,n=3", func(*Config) {}},
		{"torus:3x4", func(c *Config) { c.StoreWhole = true }},
		{"torus:3x4", func(c *Config) { c.OutBuffer = 8192 }},
		{"torus:3x4", func(c *Config) { c.OutBuffer, c.Speedup = 8192, 2 }},
	} {
		config := mustPreset(t, "ib-ndr")
		c.change(&config)
		n := routed(t, c.spec, "updn", 1, config)
		hosts := routing.HCA.Endpoints(n.Fabric)
		for _, a := range hosts {
			for _, b := range hosts {
				if a == b {
					continue
				}
				r, err := n.Complete(context.Background(), [][]Message{{{From: a, To: b}}}, 1, 0)
				if err != nil {
					t.Fatal(err)
				}
				if want := zeroLoad(n, a, b); r.Makespan != want || r.Status != Completed {
					t.Fatalf("%s: from %d to %d in %d ps (%s), want %d", c.spec, a, b, r.Makespan, r.Status, want)
				}
			}
		}
	}
}

// zeroLoad is the closed form, all links being alike.
func zeroLoad(n *Network, a, b fabric.EndpointID) Time {
	f, c := n.Fabric, n.Config
	packet := serial(c.wire(int64(c.MTU)), n.kindAt(0).perByte)
	switches := Time(1)
	for at := f.Endpoint(a).Switch; at != f.Endpoint(b).Switch; switches++ {
		at = f.Channel(f.Out(at, n.tables.Forwarding.Port(at, f.Endpoint(b).LID))).To
	}
	t := (switches+1)*c.Cable + switches*c.Forward + packet
	switch {
	case c.StoreWhole:
		t += switches * packet
	case c.OutBuffer > 0 && c.Speedup > 1:
		// A faster way through the switch waits for the tail to keep up.
		t += switches * (packet - serial(c.wire(int64(c.MTU)), n.kindAt(0).perByte/int64(c.Speedup)))
	}
	return t
}

// A crossbar with queues at its inputs saturates at 2 - √2 for many ports, for what
// is behind the head of a queue waits with it (M. Karol, M. Hluchyj, S. Morgan:
// Input Versus Output Queueing on a Space-Division Packet Switch, IEEE Trans.
// Communications 35(12), 1987). Output buffers and enough speed-up undo it.
func TestHeadOfLineBlocking(t *testing.T) {
	testnet.OnlyWhole(t)
	f := star(t, 128)
	c := unit(1, 64)
	n, err := New(tablesOf(t, f, "updn", 1), c)
	if err != nil {
		t.Fatal(err)
	}
	l := Injection{Offered: 1, Placement: routing.HCA.Endpoints(f), Regular: true, Seed: 1}
	r := measured(t, n, l, Window{Length: 4000, WarmUp: 2000, Exactly: true})
	limit := 2 - math.Sqrt2
	t.Logf("accepted %.4f, the limit is %.4f", r.Accepted, limit)
	if math.Abs(r.Accepted-limit) > 0.03*limit || r.Status != Saturated {
		t.Errorf("accepted %.4f (%s), the limit is %.4f", r.Accepted, r.Status, limit)
	}
	c = unit(8, 256)
	c.OutBuffer, c.Speedup = c.Buffer, 4
	if n, err = New(n.tables, c); err != nil {
		t.Fatal(err)
	}
	r = measured(t, n, l, Window{Length: 20_000, WarmUp: 10_000, Exactly: true})
	t.Logf("with output buffers and speed-up 4: %.4f", r.Accepted)
	if r.Accepted < 0.85 {
		t.Errorf("accepted %.4f with output buffers and a speed-up of 4", r.Accepted)
	}
}

// star is one switch with so many hosts.
func star(t testing.TB, hosts int) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	s := b.Node(fabric.Node{Kind: fabric.Switch, Ports: hosts, Name: "switch"}, "switch")
	for i := range hosts {
		b.Cable(b.Node(fabric.Node{Kind: fabric.Adapter, Ports: 1}, fmt.Sprintf("host-%04d", i)), 1, s, uint8(i+1), fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A credit loop that traffic fills stops, and says where.
func TestRingDeadlocks(t *testing.T) {
	n := routed(t, "ring:5", "minhop", 1, mustPreset(t, "ib-hdr"))
	n.Config.Lottery = true
	for i := range 12 {
		for seed := range 3 {
			r := measured(t, n, Injection{Offered: float64(i+1) / 12, Pattern: twoOn(5), Placement: routing.HCA.Endpoints(n.Fabric), Seed: uint64(seed)}, Window{})
			t.Log(i, seed, r.Status, r.Accepted, r.Deadlock)
		}
	}
	r := measured(t, n, Injection{Offered: 1, Pattern: twoOn(5), Placement: routing.HCA.Endpoints(n.Fabric), Seed: 1}, Window{})
	if r.Status != Deadlocked || len(r.Deadlock.Cycle) != 5 || r.Deadlock.Closed > r.Deadlock.Found {
		t.Fatalf("%s: %+v", r.Status, r.Deadlock)
	}
	t.Logf("closed at %d ps, found at %d", r.Deadlock.Closed, r.Deadlock.Found)
	safe := routed(t, "ring:5", "dfsssp", 8, mustPreset(t, "ib-hdr"))
	if r := measured(t, safe, Injection{Offered: 1, Pattern: twoOn(5), Placement: routing.HCA.Endpoints(n.Fabric), Seed: 1}, Window{}); r.Status == Deadlocked {
		t.Fatalf("deadlocked: %+v", r.Deadlock)
	}
}

// twoOn is every rank to the second next.
func twoOn(n int) pattern {
	var p pattern
	for i := range int32(n) {
		p = append(p, traffic.Pair{From: i, To: (i + 2) % int32(n)})
	}
	return p
}

// Two hosts send three packets each to a third through buffers of one packet, of 32 time
// units. The port to it sends from 2 to 34, from 36 to 68 and so on, for the credit is two
// units under way: it waits 5 times 2. The first host begins at 0, at 35, one unit after its
// packet has left the switch, and at 103: it waits 3 and 36. The second begins at 0, 69 and
// 137 and waits 37 and 36.
func TestCounters(t *testing.T) {
	c := mustPreset(t, "unit")
	c.Buffer, c.Counters = c.MTU, true
	f := star(t, 3)
	n, err := New(tablesOf(t, f, "minhop", 1), c)
	if err != nil {
		t.Fatal(err)
	}
	var all []Message
	for from := fabric.EndpointID(1); from < 3; from++ { // endpoint 0 is the switch
		all = append(all, Message{From: from, To: 3, Bytes: 3 * int64(c.MTU)})
	}
	r, err := n.Complete(t.Context(), [][]Message{all}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]Counter, len(f.Channels()))
	want[f.Endpoint(1).Inject] = Counter{3 * int64(c.MTU), 3 + 36}
	want[f.Endpoint(2).Inject] = Counter{3 * int64(c.MTU), 37 + 36}
	want[f.Endpoint(3).Deliver] = Counter{6 * int64(c.MTU), 5 * 2}
	if !slices.Equal(r.Counters, want) || r.Makespan != 205 {
		t.Errorf("%v by %d, want %v", r.Counters, r.Makespan, want)
	}
}
