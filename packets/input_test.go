package packets

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// What makes no sense is refused before anything runs, with the reason.
func TestBadConfigs(t *testing.T) {
	tables := tablesOf(t, testnet.Build(t, "torus:3x3"), "dfsssp", 8)
	for want, change := range map[string]func(*Config){
		"a packet of 2074 bytes needs 33":     func(c *Config) { c.Buffer = 2000 },
		"output buffer of 64 bytes":           func(c *Config) { c.OutBuffer = 64 },
		"reaches to 131072":                   func(c *Config) { c.Buffer = 1 << 20 },
		"packets of 0 + 26 bytes":             func(c *Config) { c.MTU = 0 },
		"a cable takes at least 1 ps":         func(c *Config) { c.Cable = 0 },
		"speed-up of 17":                      func(c *Config) { c.Speedup = 17 },
		"16 lanes":                            func(c *Config) { c.Lanes = 16 },
		"rate that is not known":              func(c *Config) { c.Rate = fabric.Rate{Width: 4, Speed: "WARP"} },
		"give lane 0 no turn":                 func(c *Config) { c.Arbitration = &Arbitration{High: []Weight{{VL: 1, Blocks: 3}}} },
		"the arbitration table has VL 15":     func(c *Config) { c.Arbitration = &Arbitration{Low: []Weight{{VL: 15, Blocks: 3}}} },
		"takes at least 1 ps to forward":      func(c *Config) { c.OutBuffer, c.Forward = 8192, 0 },
		"no other time is negative (cable 25": func(c *Config) { c.Credit = -1 },
	} {
		c := mustPreset(t, "ib-hdr")
		change(&c)
		if _, err := New(tables, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	torus := tablesOf(t, testnet.Build(t, "torus:5x5"), "torus-2qos", 2)
	c := mustPreset(t, "ib")
	c.Lanes = 1
	if _, err := New(torus, c); err == nil || !strings.Contains(err.Error(), "the tables use lane 1; there are 1 lanes") {
		t.Errorf("lanes beyond those there are: %v", err)
	}
	if _, err := PresetNamed("token-ring"); err == nil {
		t.Error("a preset that is none")
	}
}

func TestBadLoads(t *testing.T) {
	f := testnet.Build(t, "ring:4")
	n, err := New(tablesOf(t, f, "updn", 1), mustPreset(t, "ib"))
	if err != nil {
		t.Fatal(err)
	}
	good := Injection{Offered: 0.5, Placement: routing.HCA.Endpoints(f)}
	for want, change := range map[string]func(*Injection){
		"a load of 0":              func(l *Injection) { l.Offered = 0 },
		"a load of 1.01":           func(l *Injection) { l.Offered = 1.01 },
		"a load of NaN":            func(l *Injection) { l.Offered = math.NaN() },
		"messages of -1 bytes":     func(l *Injection) { l.Bytes = -1 },
		"fewer than two endpoints": func(l *Injection) { l.Placement = l.Placement[:1] },
		"sends nothing over":       func(l *Injection) { l.Pattern = pattern{{From: 1, To: 1}} },
		"sends nothing here":       func(l *Injection) { l.Placement = traffic.Placement{0, 1} }, // port 0 of switches
	} {
		l := good
		change(&l)
		if _, err := n.Measure(context.Background(), l, Window{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := n.Complete(context.Background(), [][]Message{{{From: 5, To: 5}}}, 1, 0); err == nil {
		t.Error("a message to its source")
	}
	if _, err := n.Saturation(context.Background(), good, Window{}, 0.5, 0.1, 0.01); err == nil {
		t.Error("a search from above")
	}
	if _, err := n.Replay(context.Background(), nil, 1); err == nil {
		t.Error("a replay of nothing")
	}
}

// Tables that do not cover a pair that is to be used, and packets that would be
// dropped on VL 15, are found before anything runs.
func TestUncoveredPairs(t *testing.T) {
	f := testnet.Build(t, "ring:4")
	hosts := routing.HCA.Endpoints(f)
	lid := f.Endpoint(hosts[3]).LID
	for want, change := range map[string]func(*routing.Tables){
		"has no way to LID":     func(t *routing.Tables) { t.Forwarding.Row(lid)[f.Endpoint(hosts[2]).Switch] = routing.NoPort },
		"circle for ever":       func(t *routing.Tables) { allRound(t.Forwarding.Row(lid)) },
		"on lane 15":            func(t *routing.Tables) { t.Lanes.SL2VL = routing.UniformSL2VL([routing.SLs]uint8{15}) },
		"may use no address of": func(t *routing.Tables) { t.Lanes.SLRow(lid)[0] = routing.NoSL },
	} {
		tables := tablesOf(t, f, "dfsssp", 8)
		change(tables)
		n, err := New(tables, mustPreset(t, "ib"))
		if err == nil {
			_, err = n.Measure(context.Background(), Injection{Offered: 0.5, Placement: hosts}, Window{})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// allRound sends everything round the ring.
func allRound(row []uint8) {
	for i := range row {
		row[i] = 2
	}
}

// A run that is interrupted says what it measured.
func TestInterrupted(t *testing.T) {
	for _, regions := range []int{1, 4} {
		n := routed(t, "torus:4x4", "dfsssp", 8, mustPreset(t, "ib"))
		n.split(regions)
		interrupted(t, n)
	}
}

func interrupted(t *testing.T, n *Network) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	parts := 0
	r, err := n.Measure(ctx, Injection{Offered: 0.4, Placement: routing.HCA.Endpoints(n.Fabric)}, Window{Length: 1e9, WarmUp: 1e8, Exactly: true, Batch: func() {
		if parts++; parts == 14 {
			cancel()
		}
	}})
	if err != nil || r.Status != Interrupted || r.Packets == 0 || r.Mean == 0 || math.Abs(r.Accepted-0.4) > 0.05 {
		t.Errorf("%v %+v", err, r)
	}
}

// Lanes share a port as the arbitration tables say: by weight in the low table, and
// the high one first up to its limit.
func TestArbitration(t *testing.T) {
	share := func(a Arbitration) float64 {
		var s arbiter
		sent := [2]int32{}
		for range 10_000 {
			lane, high := a.pick(&s, 0b11)
			s.sent(high, 10)
			sent[lane] += 10
		}
		return float64(sent[0]) / float64(sent[0]+sent[1])
	}
	for _, c := range []struct {
		name string
		a    Arbitration
		want float64
	}{
		{"3 to 1", Arbitration{Low: []Weight{{0, 30}, {1, 10}}}, 0.75},
		{"no limit", Arbitration{High: []Weight{{1, 10}}, Low: []Weight{{0, 10}}, Limit: 255}, 0},
		{"one packet each", Arbitration{High: []Weight{{1, 10}}, Low: []Weight{{0, 10}}}, 0.5},
		// 4 KiB are 64 blocks: seven packets of ten go before the limit is passed.
		{"4 KiB before a packet", Arbitration{High: []Weight{{1, 10}}, Low: []Weight{{0, 10}}, Limit: 1}, 1.0 / 8},
	} {
		if got := share(c.a); math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s: lane 0 has %.3f, want %.3f", c.name, got, c.want)
		}
	}
}

// Switches that drop what waits too long get out of a deadlock, and count.
func TestLifetime(t *testing.T) {
	c := mustPreset(t, "ib-hdr")
	c.Lifetime = 20_000_000
	n := routed(t, "ring:5", "sssp", 1, c)
	l := Injection{Offered: 0.9, Pattern: twoOn(5), Placement: routing.HCA.Endpoints(n.Fabric), Seed: 1}
	n.Config.Lottery = true
	r := measured(t, n, l, Window{Length: 1e9, WarmUp: 1e7, Exactly: true})
	if r.Dropped == 0 || r.Deadlock != nil || r.Accepted == 0 {
		t.Errorf("%s: %d dropped, accepted %.3f", r.Status, r.Dropped, r.Accepted)
	}
	c.Lifetime = 0
	if n, err := New(n.tables, c); err != nil || measured(t, n, l, Window{Length: 1e8, WarmUp: 1e7, Exactly: true}).Dropped != 0 {
		t.Error(err, "dropped without a lifetime")
	}
}

// Several addresses are used alike, at random or in turn, and only those allowed.
func TestAddresses(t *testing.T) {
	f, err := testnet.Build(t, "torus:4x4").WithLMC(1)
	if err != nil {
		t.Fatal(err)
	}
	tables := tablesOf(t, f, "mroots", 2)
	for _, choice := range []AddressChoice{AtRandom, InTurn} {
		c := mustPreset(t, "ib-hdr")
		c.AddressChoice = choice
		n, err := New(tables, c)
		if err != nil {
			t.Fatal(err)
		}
		s := newSim(n)
		s.begin(1, 0)
		hosts := routing.HCA.Endpoints(f)
		used := map[int32]int{}
		s.regions[0].observe = func(p *packet) {
			used[p.address]++
			if tables.Lanes.SL(fabric.EndpointID(p.src), fabric.LID(p.address)) != p.sl {
				t.Error("a packet with another service level")
			}
		}
		if _, err := s.complete(context.Background(), [][]Message{{{From: hosts[0], To: hosts[9], Bytes: 400 * 2048}}}, 0); err != nil {
			t.Fatal(err)
		}
		lid := int32(f.Endpoint(hosts[9]).LID)
		if a, b := used[lid], used[lid+1]; a+b != 400 || a < 150 || b < 150 || choice == InTurn && a != b {
			t.Errorf("choice %d: the addresses are used %v times", choice, used)
		}
	}
}

// The search for the saturation throughput ends within its step, at the capacity of
// a cable that two hosts share.
func TestSaturation(t *testing.T) {
	f := testnet.Build(t, "mesh:1x2,hosts=2")
	n, err := New(tablesOf(t, f, "updn", 1), unit(16, 128))
	if err != nil {
		t.Fatal(err)
	}
	across := pattern{{From: 0, To: 2}, {From: 1, To: 3}, {From: 2, To: 0}, {From: 3, To: 1}}
	s, err := n.Saturation(context.Background(), Injection{Pattern: across, Placement: routing.HCA.Endpoints(f), Seed: 3}, Window{Length: 400_000}, 0, 1, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	if s.Accepted < 0.46 || s.Accepted > 0.5 || s.Above-s.Offered > 0.02 || s.Status != Saturated {
		t.Errorf("%+v", s)
	}
}
