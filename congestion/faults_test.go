package congestion_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// withRate is a network with another rate of one cable.
func withRate(t *testing.T, f *fabric.Fabric, cable fabric.ChannelID, rate fabric.Rate) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	refs := make([]fabric.Ref, len(f.Nodes()))
	for i, n := range f.Nodes() {
		refs[i] = b.Node(n, fmt.Sprint(i))
	}
	for _, e := range f.Endpoints() {
		b.Port(refs[e.Node], e.Port, fabric.Port{GUID: e.PortGUID, LID: e.LID, LMC: e.LMC})
	}
	for i, c := range f.Channels() {
		if id := fabric.ChannelID(i); c.Reverse > id {
			r := c.Rate
			if id == cable || c.Reverse == cable {
				r = rate
			}
			b.Cable(refs[c.From], c.FromPort, refs[c.To], c.ToPort, r)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// site is a network with the tables that its operator believes in.
type site struct {
	t      *testing.T
	f      *fabric.Fabric
	tables *routing.Tables
	loads  *congestion.Loads
	rng    *rand.Rand
}

func (s *site) by(engine string) *routing.Tables {
	e, err := engines.Named(engine)
	if err != nil {
		s.t.Fatal(err)
	}
	tables, err := e.Route(s.t.Context(), s.f, engines.Options{}, routing.Budget{VLs: 8}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return tables
}

// findings is what counters say of packets under tables on a network, each with a tenth of
// noise.
func (s *site) findings(f *fabric.Fabric, forwarding *routing.Forwarding, offered float64) *congestion.Measured {
	hardware, err := packets.PresetNamed("ib")
	if err != nil {
		s.t.Fatal(err)
	}
	hardware.Counters = true
	n, err := packets.New(&routing.Tables{Fabric: f, Forwarding: forwarding, Lanes: s.tables.Lanes}, hardware)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := n.Measure(s.t.Context(), packets.Injection{Offered: offered, Placement: routing.HCA.Endpoints(f), Seed: s.rng.Uint64()}, packets.Window{})
	if err != nil {
		s.t.Fatal(err)
	}
	c := congestion.Counted{Known: slices.Repeat([]bool{true}, len(r.Counters)), Seconds: float64(r.Window) / 1e12, Tick: 22e-9}
	noise := func(v float64) float64 { return v * (.9 + .2*s.rng.Float64()) }
	for _, k := range r.Counters {
		c.Bytes, c.Wait = append(c.Bytes, noise(float64(k.Bytes))), append(c.Wait, noise(float64(k.Wait)/1e12/c.Tick))
	}
	return congestion.Explain(s.f, s.tables.Forwarding, s.loads, c)
}

// anyTrunk is a trunk over which so much leads that a fault of its cable shows.
func (s *site) anyTrunk(share float64) fabric.ChannelID {
	for {
		c := fabric.ChannelID(s.rng.IntN(s.f.Trunks()))
		if float64(s.loads.Routes[c]) >= share*float64(s.loads.Max) {
			return c
		}
	}
}

// slowed is what is found where a cable runs at another rate than the network says, and
// whether it is named: at one of its ends, at its very port.
func (s *site) slowed(c fabric.ChannelID, rate fabric.Rate, offered float64) (at, exactly bool) {
	m := s.findings(withRate(s.t, s.f, c, rate), s.tables.Forwarding, offered)
	i := slices.IndexFunc(m.Findings, func(x congestion.Finding) bool { return x.Kind == congestion.Slow })
	if i < 0 {
		return false, false
	}
	found, ch := m.Findings[i].Trunk, s.f.Channel(c)
	from := s.f.Channel(found).From
	return from == ch.From || from == ch.To, found == c || found == ch.Reverse
}

// stale is whether a switch is named that was not told of a change: a cable was taken out of
// use, and the switch still sends over it. Not ok: nothing comes there that would take it.
func (s *site) stale(c fabric.ChannelID) (named, ok bool) {
	without, err := s.f.Without([]fabric.ChannelID{c}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	drained := &site{t: s.t, f: without, rng: s.rng}
	tables := drained.by("updn")
	told, left := routing.NewForwarding(s.f), routing.NewForwarding(s.f)
	at := s.f.Channel(c).From
	for lid := range s.f.LIDs() {
		copy(told.Row(lid), tables.Forwarding.Row(lid))
		copy(left.Row(lid), tables.Forwarding.Row(lid))
		if s.tables.Forwarding.Port(at, lid) == s.f.Channel(c).FromPort {
			left.Row(lid)[at] = s.f.Channel(c).FromPort
		}
	}
	if congestion.Count(s.f, left, routing.HCA).Routes[c] == 0 {
		return false, false
	}
	now := &routing.Tables{Fabric: s.f, Forwarding: told, Lanes: s.tables.Lanes}
	believed := &site{t: s.t, f: s.f, tables: now, loads: congestion.Count(s.f, told, routing.HCA), rng: s.rng}
	m := believed.findings(s.f, left, .05)
	return len(m.Findings) > 0 && m.Findings[0].Kind == congestion.Unexpected && m.Findings[0].Trunk == c, true
}

// Counters of packets, each with a tenth of noise: no finding without a fault, and faults
// are named: a cable at a twentieth of its rate; one at a quarter of it and a fifth more
// traffic than that; a switch that still sends over a cable that was taken out of use. Of
// slow cables the switch is named at least, of stale entries the port. Where very slow
// cables make most of a network wait, some are named elsewhere.
func TestCountersOfFaults(t *testing.T) {
	const faults = 4 // of each kind on each network
	var slow, wrong, stale tally
	specs := []string{"torus:4x4,hosts=2", "dragonfly:p=2", "xgft:m=4x4,w=2x2,hosts=4", "jellyfish:switches=20,degree=5,hosts=2,seed=1"}
	for _, spec := range specs {
		s := &site{t: t, f: testnet.Build(t, spec), rng: rand.New(rand.NewPCG(16, 4))}
		s.tables = s.by("updn")
		s.loads = congestion.Count(s.f, s.tables.Forwarding, routing.HCA)
		for _, offered := range []float64{.05, .15, .3} {
			if m := s.findings(s.f, s.tables.Forwarding, offered); len(m.Findings) > 0 {
				t.Errorf("%s, offered %v, no fault: %+v", spec, offered, m.Findings)
			}
		}
		for range faults {
			slow.add(s.slowed(s.anyTrunk(.25), fabric.Rate{Width: 1, Speed: fabric.QDR}, .08))
			c := s.anyTrunk(.7)
			wrong.add(s.slowed(c, fabric.Rate{Width: 1, Speed: fabric.HDR}, 1.2*.25*float64(len(routing.HCA.Endpoints(s.f))-1)/float64(s.loads.Routes[c])))
			found, ok := s.stale(s.anyTrunk(.25))
			for !ok {
				found, ok = s.stale(s.anyTrunk(.25))
			}
			stale.add(found, found)
		}
	}
	all := faults * len(specs)
	t.Logf("of %d faults each: slow cable %d (%d by its port), wrong rate %d (%d), stale table %d", all, slow.at, slow.exactly, wrong.at, wrong.exactly, stale.at)
	if slow.at < all*3/4 || wrong.at < all-1 || stale.at < all {
		t.Error("too few of them were named")
	}
}

// tally counts faults that were named: by their switch, by their very port.
type tally struct{ at, exactly int }

func (n *tally) add(at, exactly bool) {
	if at {
		n.at++
	}
	if exactly {
		n.exactly++
	}
}
