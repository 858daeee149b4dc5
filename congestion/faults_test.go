package congestion_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/counters/explain"
	"github.com/weft-fabric/weft/internal/engine/adaptive/minimal"
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
func (s *site) findings(f *fabric.Fabric, forwarding *routing.Forwarding, offered float64) *explain.Measured {
	hardware, err := packets.PresetNamed("ib")
	if err != nil {
		s.t.Fatal(err)
	}
	hardware.Counters = true
	tables := &routing.Tables{Fabric: f, Forwarding: forwarding, Lanes: s.tables.Lanes}
	if s.tables.Groups != nil {
		tables = hashed(s.t, f, tables)
	}
	n, err := packets.New(tables, hardware)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := n.Measure(s.t.Context(), packets.Injection{Offered: offered, Placement: routing.HCA.Endpoints(f), Seed: s.rng.Uint64()}, packets.Window{})
	if err != nil {
		s.t.Fatal(err)
	}
	c := explain.Counted{Known: slices.Repeat([]bool{true}, len(r.Counters)), Seconds: float64(r.Window) / 1e12, Tick: 22e-9}
	noise := func(v float64) float64 { return v * (.9 + .2*s.rng.Float64()) }
	for _, k := range r.Counters {
		c.Bytes, c.Wait = append(c.Bytes, noise(float64(k.Bytes))), append(c.Wait, noise(float64(k.Wait)/1e12/c.Tick))
	}
	return explain.Trunks(s.tables, s.loads, c)
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
	i := slices.IndexFunc(m.Findings, func(x explain.Finding) bool { return x.Kind == explain.Slow })
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
	return len(m.Findings) > 0 && m.Findings[0].Kind == explain.Unexpected && m.Findings[0].Trunk == c, true
}

// Counters of packets, each with a tenth of noise: no finding without a fault, and faults
// are named: a cable at a twentieth of its rate; one at a quarter of it and a fifth more
// traffic than that; a switch that still sends over a cable that was taken out of use. Of
// slow cables the switch is named at least, of stale entries the port. Where very slow
// cables make most of a network wait, some are named elsewhere.
func TestCountersOfFaults(t *testing.T) {
	faults := testnet.Of(4, 1) // of each kind on each network
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

// hashed is tables with groups of all ports that lead nearer, of which a hash chooses, so that slow
// cables are not avoided.
func hashed(t *testing.T, f *fabric.Fabric, static *routing.Tables) *routing.Tables {
	t.Helper()
	with := &routing.Tables{Fabric: f, Forwarding: static.Forwarding, Lanes: static.Lanes}
	groups, err := minimal.Groups(t.Context(), with, routing.Any, routing.HCA, nil)
	if err != nil {
		t.Fatal(err)
	}
	for lid := range f.LIDs() {
		for at, c := range groups.Row(0, lid) {
			if c != routing.NoChoice {
				groups.Row(0, lid)[at] = routing.ChoiceOf(c.Group(), true)
			}
		}
	}
	with.Groups = groups
	return with
}

// lowestPorts is entries with the lowest port that leads nearer.
func lowestPorts(f *fabric.Fabric) *routing.Forwarding {
	fw := routing.NewForwarding(f)
	for lid, owner := range f.LIDs() {
		to := f.Endpoint(owner)
		hops, row := f.Hops(to.Switch), fw.Row(lid)
		for s := range row {
			if row[s] = f.LastPort(to); fabric.NodeID(s) == to.Switch {
				continue
			}
			for c, end := f.TrunksFrom(fabric.NodeID(s)); c < end; c++ {
				if ch := f.Channel(c); hops[ch.To] < hops[s] {
					row[s] = ch.FromPort
					break
				}
			}
		}
	}
	return fw
}

// Where switches choose, waiting is followed over every port of a group.
func TestCountersOfFaultsWithGroups(t *testing.T) {
	faults := testnet.Of(8, 3)
	var chosen tally
	specs := []string{"xgft:m=4x4,w=2x2,hosts=4", "xgft:m=4x6,w=3x2,hosts=3"}
	for _, spec := range specs {
		s := &site{t: t, f: testnet.Build(t, spec), rng: rand.New(rand.NewPCG(16, 5))}
		static := *s.by("updn")
		static.Forwarding = lowestPorts(s.f) // half of the cables have no route by these
		s.tables = hashed(t, s.f, &static)
		var err error
		if s.loads, err = congestion.CountTables(t.Context(), s.tables, routing.HCA); err != nil {
			t.Fatal(err)
		}
		for _, offered := range []float64{.05, .15, .3} {
			if m := s.findings(s.f, s.tables.Forwarding, offered); len(m.Findings) > 0 {
				t.Errorf("%s, offered %v, no fault: %+v", spec, offered, m.Findings)
			}
		}
		for range faults {
			chosen.add(s.slowed(s.anyTrunk(.25), fabric.Rate{Width: 1, Speed: fabric.QDR}, .08))
		}
	}
	t.Logf("of %d slow cables %d (%d by port)", faults*len(specs), chosen.at, chosen.exactly)
	if chosen.at < faults*len(specs)-1 || chosen.exactly < faults*len(specs)*3/4 {
		t.Error("too few of them were named")
	}
}
