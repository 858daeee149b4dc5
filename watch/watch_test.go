package watch

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/transition"
)

// scene is a watch of a folder in which each look sees what a test shows.
type scene struct {
	t *testing.T
	*running
	shown map[string]*Snapshot // by the content of the file
}

func newScene(t *testing.T, c Config) *scene {
	t.Helper()
	s := &scene{t: t, shown: map[string]*Snapshot{}}
	c.Folder, c.Settle = t.TempDir(), 1
	if c.State == "" {
		c.State = filepath.Join(t.TempDir(), "state")
	}
	w := &Watcher{Config: c, Log: slog.New(slog.DiscardHandler), Version: "test", Read: s.read}
	var err error
	if s.running, err = w.begin(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.store.close)
	return s
}

func (s *scene) read(network, _ string) (*Snapshot, error) {
	name := filepath.Join(network, ibnetdiscover)
	if _, err := os.Stat(name); err != nil {
		name += ".gz"
	}
	in, err := format.Open(name, nil)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	seen := s.shown[string(text)]
	if seen == nil {
		return nil, fmt.Errorf("%s: %q is no network", filepath.Join(network, ibnetdiscover), text)
	}
	return seen, nil
}

// write writes the file that the next look reads.
func (s *scene) write(text string) {
	if err := os.WriteFile(filepath.Join(s.Folder, ibnetdiscover), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	later := time.Now().Add(time.Duration(len(s.shown)) * time.Second) // whatever the clock of the file system is
	if err := os.Chtimes(filepath.Join(s.Folder, ibnetdiscover), later, later); err != nil {
		s.t.Fatal(err)
	}
}

// show looks at something new.
func (s *scene) show(now *Snapshot) *Look {
	s.t.Helper()
	text := fmt.Sprintf("look %d", len(s.shown))
	s.shown[text] = now
	s.write(text)
	l, err := s.look(s.t.Context())
	if err != nil || l == nil {
		s.t.Fatalf("%v, %v", l, err)
	}
	return l
}

func kindsOf(alarms []Alarm) []Kind {
	var kinds []Kind
	for _, a := range alarms {
		kinds = append(kinds, a.Kind)
	}
	return kinds
}

func tablesBy(t *testing.T, f *fabric.Fabric, engine string, seed uint64) *routing.Tables {
	t.Helper()
	r := weft.Request{Engine: engine, ExactScope: true}
	r.Options.Seed = seed
	got, err := weft.Route(t.Context(), f, r)
	var loop *weft.CreditLoop
	if err != nil {
		if l, ok := err.(*weft.CreditLoop); ok { //nolint:errorlint // it is what Route returns
			loop = l
		}
		if loop == nil {
			t.Fatal(err)
		}
		return loop.Tables
	}
	return got.Tables
}

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
	make func(t *testing.T, rng *rand.Rand, s site) (*Snapshot, Kind)
}{
	{"fallback", func(t *testing.T, _ *rand.Rand, s site) (*Snapshot, Kind) {
		return &Snapshot{Tables: tablesBy(t, s.Tables.Fabric, "minhop", 1), SLs: true, Maps: true}, Fallback
	}},
	{"one lane for all", func(t *testing.T, rng *rand.Rand, s site) (*Snapshot, Kind) {
		// On a ring of trunks somebody is sent round: packets can deadlock on one lane.
		f := testnet.Build(t, fmt.Sprintf("ring:n=%d", 5+rng.IntN(7)))
		return &Snapshot{Tables: tablesBy(t, f, "minhop", 1), SLs: true, Maps: true}, CreditLoop
	}},
	{"tables from before a cable died", func(t *testing.T, rng *rand.Rand, s site) (*Snapshot, Kind) {
		f := s.Tables.Fabric
		for {
			c := fabric.ChannelID(rng.IntN(f.Trunks()))
			if less, err := f.Without([]fabric.ChannelID{c}, nil); err == nil && usesTrunk(s.Tables, c) && len(less.Parts()) == 1 {
				return on(t, less, s.Tables), CutOff
			}
		}
	}},
	{"cables exchanged, and routed anew", func(t *testing.T, rng *rand.Rand, s site) (*Snapshot, Kind) {
		for {
			a, b := cables(rng, s.Tables.Fabric)
			f := exchanged(t, s.Tables.Fabric, a, b)
			if len(f.Parts()) == 1 {
				return &Snapshot{Tables: tablesBy(t, f, "updn", 1), SLs: true, Maps: true}, Recabled
			}
		}
	}},
	{"cables exchanged", func(t *testing.T, rng *rand.Rand, s site) (*Snapshot, Kind) {
		a, b := cables(rng, s.Tables.Fabric)
		return on(t, exchanged(t, s.Tables.Fabric, a, b), s.Tables), Recabled
	}},
	{"no SL2VL maps", func(_ *testing.T, _ *rand.Rand, s site) (*Snapshot, Kind) {
		now := *s.Snapshot
		now.Maps = false
		return &now, NoMap
	}},
	{"an entry lost", func(_ *testing.T, rng *rand.Rand, s site) (*Snapshot, Kind) {
		now, f := *s.Tables, s.Tables.Fabric
		now.Forwarding = s.Tables.Forwarding.Clone()
		hosts := routing.HCA.Endpoints(f)
		for {
			to, from := f.Endpoint(hosts[rng.IntN(len(hosts))]), f.Endpoint(hosts[rng.IntN(len(hosts))])
			if to.Switch != from.Switch {
				now.Forwarding.Row(to.LID)[from.Switch] = routing.NoPort
				return &Snapshot{Tables: &now, SLs: true, Maps: true}, CutOff
			}
		}
	}},
	{"packets sent back", func(_ *testing.T, rng *rand.Rand, s site) (*Snapshot, Kind) {
		now, f := *s.Tables, s.Tables.Fabric
		now.Forwarding = s.Tables.Forwarding.Clone()
		hosts := routing.HCA.Endpoints(f)
		for {
			to, from := f.Endpoint(hosts[rng.IntN(len(hosts))]), f.Endpoint(hosts[rng.IntN(len(hosts))])
			if to.Switch == from.Switch {
				continue
			}
			ch := f.Channel(f.Out(from.Switch, now.Forwarding.Port(from.Switch, to.LID)))
			now.Forwarding.Row(to.LID)[ch.To] = ch.ToPort
			return &Snapshot{Tables: &now, SLs: true, Maps: true}, ForwardingLoop
		}
	}},
}

// usesTrunk says whether any path between hosts takes a trunk.
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
	each := 2
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
	looks := 20
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

// A look that sees what the last one saw is none; one that cannot be read is an alarm until
// it can.
func TestSameAndUnreadable(t *testing.T) {
	t.Parallel()
	w := newScene(t, Config{})
	f := testnet.Build(t, "ring:n=5")
	good := &Snapshot{Tables: tablesBy(t, f, "updn", 1)}
	first := w.show(good)
	for range 2 {
		if l, err := w.look(t.Context()); l != nil || err != nil {
			t.Fatalf("%+v, %v", l, err)
		}
	}
	if w.status.Same != 2 || w.status.Look != 1 || first.Contract != "single:0" || first.Changed != nil {
		t.Errorf("%+v, %+v", w.status, first)
	}
	w.write("half a fi")
	for range 2 {
		if l, err := w.look(t.Context()); l != nil || err == nil || strings.Contains(err.Error(), gatherName) || !strings.Contains(err.Error(), w.Folder) {
			t.Fatalf("%+v, %v", l, err)
		}
	}
	if got := kindsOf(w.status.Alarms); !slices.Equal(got, []Kind{Unreadable}) || w.status.Failed != 2 || w.ready() == nil || w.healthy() != nil {
		t.Errorf("%v, %+v", got, w.status)
	}
	since := w.status.Alarms[0].Since
	if _, err := w.look(t.Context()); err == nil || !w.status.Alarms[0].Since.Equal(since) {
		t.Errorf("the alarm is there since %v, then since %v", since, w.status.Alarms[0].Since)
	}
	if l := w.show(good); len(w.status.Alarms) > 0 || l.Number != 2 || w.ready() != nil || l.Changed == nil || l.Changed.Entries != 0 {
		t.Errorf("%+v, %+v", w.status, l)
	}
}

// A watch that begins again continues from the last look that it kept.
func TestResume(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "torus:4x4")
	a, b := &Snapshot{Tables: tablesBy(t, f, "updn", 1)}, &Snapshot{Tables: tablesBy(t, f, "minhop", 1)}
	state := filepath.Join(t.TempDir(), "s")
	w := newScene(t, Config{State: state, Engine: "updn"})
	w.show(a)
	began := w.show(b).Alarms[0].Since
	w.store.close()

	again := newScene(t, Config{State: state, Engine: "updn"})
	again.shown = map[string]*Snapshot{"look 1": b, "x": nil}
	again.before, again.last = nil, nil
	again.resume()
	if again.before != b || again.last.Number != 2 {
		t.Fatalf("%+v", again.last)
	}
	if l := again.show(b); l.Number != 3 || l.Changed.Entries != 0 || !l.Alarms[0].Since.Equal(began) {
		t.Errorf("%+v", l)
	}
	if _, err := takeStore(state); err == nil || !strings.Contains(err.Error(), "another weft watch") {
		t.Errorf("two watches in one state folder: %v", err)
	}
}

// The last looks are kept, with their files and no others.
func TestStoreKeepsTheLast(t *testing.T) {
	t.Parallel()
	w := newScene(t, Config{Keep: 3})
	f := testnet.Build(t, "ring:n=4")
	for i := range 6 {
		w.show(&Snapshot{Tables: tablesBy(t, f, "updn", uint64(i+1))})
	}
	numbers, err := w.store.Numbers()
	if err != nil || !slices.Equal(numbers, []int{4, 5, 6}) {
		t.Fatalf("%v, %v", numbers, err)
	}
	files, err := os.ReadDir(filepath.Join(w.State, filesFolder))
	if err != nil || len(files) != 3 {
		t.Errorf("%v, %v", files, err)
	}
	for number, want := range map[int]int{0: 6, -1: 5, -2: 4, 4: 4} {
		if l, err := w.store.Look(number); err != nil || l.Number != want {
			t.Errorf("look %d: %+v, %v", number, l, err)
		}
	}
	for _, number := range []int{-3, 3, 7} {
		if l, err := w.store.Look(number); err == nil || !strings.Contains(err.Error(), "4 to 6 are kept") {
			t.Errorf("look %d: %+v, %v", number, l, err)
		}
	}
	into := t.TempDir()
	l, err := w.store.Look(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.Files(l, into); err != nil {
		t.Fatal(err)
	}
	if packed, err := os.ReadFile(filepath.Join(into, ibnetdiscover+".gz")); err != nil || len(packed) == 0 {
		t.Errorf("%v", err)
	}
}

// Files that change while they are copied are copied again, and not read half.
func TestFilesRest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := source{&settings{Config: Config{Folder: dir, Settle: 20 * time.Millisecond}}}
	path := filepath.Join(dir, "opensm-lfts.dump")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	text := ""
	write := func() {
		text += "0x0001 001\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	write()
	ended := make(chan bool)
	go func() {
		defer close(ended)
		for wait(ctx, 5*time.Millisecond) == nil {
			write()
		}
	}()
	for {
		g, err := s.gather(t.Context(), nil, t.TempDir())
		if err == nil {
			if g.files[0].Bytes != int64(len(text)) {
				t.Errorf("%d bytes of %d", g.files[0].Bytes, len(text))
			}
			break
		}
		if !strings.Contains(err.Error(), "change all the time") {
			t.Fatal(err)
		}
	}
	<-ended
}
