package watch

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// site is a network as it should be, with the engine that OpenSM is asked for.
type site struct {
	asked, engine string // engine: of ours, which makes the same
	*Snapshot
}

func sites(t *testing.T) []site {
	var all []site
	for _, s := range []struct{ spec, asked, engine string }{
		{"torus:4x4", "weft,no_fallback", "weave-any"}, {"torus:3x3x2", "updn", "updn"}, {"dragonfly:p=2", "updn", "updn"},
		{"random:switches=16,links=32,hosts=2,seed=3", "weft", "df-dn"}, {"jellyfish:switches=20,degree=5,hosts=2,seed=1", "dfsssp", "dfsssp"},
		{"xgft:m=4x4,w=2x2,hosts=4", "ftree", "ftree"},
	} {
		f := testnet.Build(t, s.spec)
		all = append(all, site{strings.TrimSuffix(s.asked, ",no_fallback"), s.engine, &Snapshot{Tables: tablesBy(t, f, s.engine, 1), SLs: true, Maps: true}})
	}
	return all
}

// on is tables as they act on another network.
func on(t *testing.T, f *fabric.Fabric, tables *routing.Tables) *Snapshot {
	t.Helper()
	acting, err := transition.On(f, tables, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Snapshot{Tables: acting, SLs: true, Maps: true}
}

// exchanged is a network with the far ends of two cables exchanged.
func exchanged(t *testing.T, f *fabric.Fabric, a, b fabric.ChannelID) *fabric.Fabric {
	t.Helper()
	var build fabric.Builder
	refs := make([]fabric.Ref, len(f.Nodes()))
	for i, n := range f.Nodes() {
		refs[i] = build.Node(n, fmt.Sprint(i))
	}
	for _, e := range f.Endpoints() {
		build.Port(refs[e.Node], e.Port, fabric.Port{GUID: e.PortGUID, LID: e.LID, LMC: e.LMC})
	}
	far := func(c fabric.ChannelID) (fabric.NodeID, uint8) { return f.Channel(c).To, f.Channel(c).ToPort }
	for i, c := range f.Channels() {
		id := fabric.ChannelID(i)
		if id != a && id != b && (c.Reverse < id || c.Reverse == a || c.Reverse == b) {
			continue
		}
		node, port := c.To, c.ToPort
		switch id {
		case a:
			node, port = far(b)
		case b:
			node, port = far(a)
		}
		build.Cable(refs[c.From], c.FromPort, refs[node], port, c.Rate)
	}
	g, err := build.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// cables is two cables between four switches.
func cables(rng *rand.Rand, f *fabric.Fabric) (a, b fabric.ChannelID) {
	for {
		a, b = fabric.ChannelID(rng.IntN(f.Trunks())), fabric.ChannelID(rng.IntN(f.Trunks()))
		x, y := f.Channel(a), f.Channel(b)
		ends := []fabric.NodeID{x.From, x.To, y.From, y.To}
		slices.Sort(ends)
		if len(slices.Compact(ends)) == 4 {
			return a, b
		}
	}
}

// faults is what may go wrong at a site, by the alarm that it must raise.
var faults = []struct {
	name string
	make func(t *testing.T, rng *rand.Rand, s site) (*Snapshot, string)
}{
	{"fallback", func(t *testing.T, _ *rand.Rand, s site) (*Snapshot, string) {
		return &Snapshot{Tables: tablesBy(t, s.Tables.Fabric, "minhop", 1), SLs: true, Maps: true}, Fallback
	}},
	{"one lane for all", func(t *testing.T, rng *rand.Rand, s site) (*Snapshot, string) {
		// On a ring of trunks somebody is sent round: packets can deadlock on one lane.
		f := testnet.Build(t, fmt.Sprintf("ring:n=%d", 5+rng.IntN(7)))
		return &Snapshot{Tables: tablesBy(t, f, "minhop", 1), SLs: true, Maps: true}, CreditLoop
	}},
	{"tables from before a cable died", func(t *testing.T, rng *rand.Rand, s site) (*Snapshot, string) {
		f := s.Tables.Fabric
		for {
			c := fabric.ChannelID(rng.IntN(f.Trunks()))
			if less, err := f.Without([]fabric.ChannelID{c}, nil); err == nil && usesTrunk(s.Tables, c) && len(less.Parts()) == 1 {
				return on(t, less, s.Tables), CutOff
			}
		}
	}},
	{"cables exchanged, and routed anew", func(t *testing.T, rng *rand.Rand, s site) (*Snapshot, string) {
		for {
			a, b := cables(rng, s.Tables.Fabric)
			f := exchanged(t, s.Tables.Fabric, a, b)
			if len(f.Parts()) == 1 {
				return &Snapshot{Tables: tablesBy(t, f, "updn", 1), SLs: true, Maps: true}, Recabled
			}
		}
	}},
	{"cables exchanged", func(t *testing.T, rng *rand.Rand, s site) (*Snapshot, string) {
		a, b := cables(rng, s.Tables.Fabric)
		return on(t, exchanged(t, s.Tables.Fabric, a, b), s.Tables), Recabled
	}},
	{"no SL2VL maps", func(_ *testing.T, _ *rand.Rand, s site) (*Snapshot, string) {
		now := *s.Snapshot
		now.Maps = false
		return &now, NoMap
	}},
	{"an entry lost", func(_ *testing.T, rng *rand.Rand, s site) (*Snapshot, string) {
		now := *s.Tables
		now.Forwarding = s.Tables.Forwarding.Clone()
		from, to := apart(rng, now.Fabric)
		now.Forwarding.Row(to.LID)[from.Switch] = routing.NoPort
		return &Snapshot{Tables: &now, SLs: true, Maps: true}, CutOff
	}},
	{"packets sent back", func(_ *testing.T, rng *rand.Rand, s site) (*Snapshot, string) {
		now := *s.Tables
		now.Forwarding = s.Tables.Forwarding.Clone()
		from, to := apart(rng, now.Fabric)
		ch := now.Fabric.Channel(now.Fabric.Out(from.Switch, now.Forwarding.Port(from.Switch, to.LID)))
		now.Forwarding.Row(to.LID)[ch.To] = ch.ToPort
		return &Snapshot{Tables: &now, SLs: true, Maps: true}, ForwardingLoop
	}},
}

// apart is two hosts on different switches.
func apart(rng *rand.Rand, f *fabric.Fabric) (from, to *fabric.Endpoint) {
	hosts := routing.HCA.Endpoints(f)
	for {
		from, to = f.Endpoint(hosts[rng.IntN(len(hosts))]), f.Endpoint(hosts[rng.IntN(len(hosts))])
		if from.Switch != to.Switch {
			return from, to
		}
	}
}

// usesTrunk reports whether any path between hosts takes a trunk.
func usesTrunk(t *routing.Tables, c fabric.ChannelID) bool {
	f := t.Fabric
	for _, src := range routing.HCA.Endpoints(f) {
		for _, dst := range routing.HCA.Endpoints(f) {
			to := f.Endpoint(dst)
			for at := f.Endpoint(src).Switch; at != to.Switch; {
				out := f.Out(at, t.Forwarding.Port(at, to.LID))
				if out == c {
					return true
				}
				at = f.Channel(out).To
			}
		}
	}
	return false
}

// Faults raise their alarm at the look that sees them, and it is over when all is as it was:
// a thousand of them in the thorough run.
func TestInjectedFaults(t *testing.T) {
	t.Parallel()
	each := testnet.Of(2, 1)
	if os.Getenv("WEFT_THOROUGH") != "" {
		each = 21
	}
	rng := rand.New(rand.NewPCG(1, 2))
	injected := 0
	for _, s := range sites(t) {
		w := newScene(t, Config{Engine: s.asked})
		if l := w.show(s.Snapshot); len(l.Alarms) > 0 {
			t.Fatalf("a site is not as it should be: %+v", l.Alarms)
		}
		for _, fault := range faults {
			for range each {
				now, want := fault.make(t, rng, s)
				l := w.show(now)
				injected++
				if !slices.Contains(kindsOf(l.Alarms), want) {
					t.Fatalf("%s at %s, asked for %s: alarms %v", fault.name, s.engine, s.asked, l.Alarms)
				}
				if l := w.show(s.Snapshot); slices.Contains(kindsOf(l.Alarms), want) && want != Recabled {
					t.Fatalf("%s is over: alarms %v", fault.name, l.Alarms)
				}
			}
		}
	}
	t.Logf("%d faults, all reported", injected)
}

// What harms nobody raises no alarm: hosts that leave and come back, cables that go while
// the tables follow, routing anew with other seeds, the same again: a thousand looks in the
// thorough run.
func TestHarmlessChanges(t *testing.T) {
	t.Parallel()
	looks := testnet.Of(20, 5)
	if os.Getenv("WEFT_THOROUGH") != "" {
		looks = 200
	}
	rng := rand.New(rand.NewPCG(3, 4))
	seen := 0
	for _, s := range sites(t) {
		w := newScene(t, Config{Engine: s.asked})
		f := s.Tables.Fabric
		w.show(s.Snapshot)
		for range looks {
			now := s.Snapshot
			switch rng.IntN(4) {
			case 0: // a host leaves
				hosts := routing.HCA.Endpoints(f)
				less, err := f.Without(nil, []fabric.NodeID{f.Endpoint(hosts[rng.IntN(len(hosts))]).Node})
				if err != nil {
					t.Fatal(err)
				}
				now = on(t, less, s.Tables)
			case 1: // a cable goes, and the tables are mended
				less, err := f.Without([]fabric.ChannelID{fabric.ChannelID(rng.IntN(f.Trunks()))}, nil)
				if err != nil {
					t.Fatal(err)
				}
				p, err := change.Mend(t.Context(), s.Tables, less, change.Options{Contract: routing.Honored})
				if err != nil || p.CutAfter > p.Disconnected {
					continue
				}
				now = &Snapshot{Tables: p.After, SLs: true, Maps: true}
			case 2: // routed anew
				now = &Snapshot{Tables: tablesBy(t, f, s.engine, 1+rng.Uint64N(9)), SLs: true, Maps: true}
			}
			l := w.show(now)
			seen++
			if len(l.Alarms) > 0 {
				t.Fatalf("%s: alarms %+v", s.engine, l.Alarms)
			}
		}
	}
	t.Logf("%d looks, no alarm", seen)
}
