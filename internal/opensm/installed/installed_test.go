package installed_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/installed"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// sweeps plays a subnet manager that is handed one step after another.
type sweeps struct {
	testing.TB
	installed.State
	o       installed.Options
	steps   int
	entries int
	left    int // destinations that did not come back
}

func begin(t testing.TB, f *fabric.Fabric, engine string, contract routing.Contract) *sweeps {
	t.Helper()
	tables := routed.Of(t, f, engine, routing.Budget{VLs: 8, Contract: contract})
	return &sweeps{TB: t, State: installed.State{Sent: tables, Goal: tables}, o: installed.Options{Contract: contract}}
}

// sweep hands over one step for a fabric, and holds it against the judges.
func (s *sweeps) sweep(live *fabric.Fabric) *installed.Move {
	s.Helper()
	m, err := s.Next(s.Context(), live, s.o)
	if err != nil {
		s.Fatal(err)
	}
	v, err := transition.Verify(s.Context(), s.Sent, m.Tables, deadlock.Options{Contract: s.o.Contract})
	if err != nil || !v.Free() || !m.Alone.Free() || !m.Union.Free() {
		s.Fatalf("%s: every mixture is free of loops: %v, %v; the end: %v", m.Kind, v.Free(), err, m.Alone.Free())
	}
	if err := wire.Expressible(m.Tables, s.o.Contract); err != nil {
		s.Fatal(err)
	}
	if m.Cost.Entries > 0 {
		s.steps++
		s.entries += m.Cost.Entries
	}
	s.Sent, s.Confirmed, s.Returning, s.Plan = m.Tables, nil, m.Returning, m.Plan
	return m
}

// settle sweeps until nothing follows.
func (s *sweeps) settle(live *fabric.Fabric) (first *installed.Move) {
	s.Helper()
	s.steps, s.entries, s.left = 0, 0, 0
	for i := 0; ; i++ {
		m := s.sweep(live)
		if first == nil {
			first = m
		}
		s.left = max(s.left, m.Left)
		if m.More == 0 {
			if m.CutAfter > 0 || !m.Alone.Complete() {
				s.Fatalf("%d pairs are cut at the end", m.CutAfter)
			}
			return first
		}
		if i > 20 {
			s.Fatal("it does not end")
		}
	}
}

func without(t testing.TB, f *fabric.Fabric, channels []fabric.ChannelID, nodes ...fabric.NodeID) *fabric.Fabric {
	t.Helper()
	less, err := f.Without(channels, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return less
}

// same holds tables against others for the same fabric.
func (s *sweeps) same(want *routing.Tables) {
	s.Helper()
	for lid := range want.Fabric.LIDs() {
		if !bytes.Equal(s.Sent.Forwarding.Row(lid), want.Forwarding.Row(lid)) {
			s.Fatalf("the row of LID %d is another", lid)
		}
	}
}

// networks is what the tests are about, with engines and contracts.
var networks = []struct {
	spec, engine string
	contract     routing.Contract
}{
	{"xgft:m=4x4,w=2x4,hosts=2", "weave-any", routing.Any},
	{"torus:4x4,hosts=2", "weave-any", routing.Any},
	{"dragonfly:p=2", "df-dn", routing.Honored},
	{"dragonfly:p=2", "dfsssp", routing.Directed},
	{"torus:4x4,hosts=1", "updn", routing.Single(1)},
}

func each(t *testing.T, do func(t *testing.T, f *fabric.Fabric, s *sweeps)) {
	for _, n := range networks {
		t.Run(fmt.Sprintf("%s/%s/%s", n.spec, n.engine, n.contract), func(t *testing.T) {
			t.Parallel()
			f := testnet.Build(t, n.spec)
			do(t, f, begin(t, f, n.engine, n.contract))
		})
	}
}

// Nothing happened: nothing changes.
func TestSame(t *testing.T) {
	each(t, func(t *testing.T, f *fabric.Fabric, s *sweeps) {
		was := s.Sent
		if m := s.sweep(testnet.Build(t, fmt.Sprint(spec(t)))); m.Kind != installed.Same || m.More != 0 || m.Cost.Entries != 0 {
			t.Errorf("%s, %d entries, %d more", m.Kind, m.Cost.Entries, m.More)
		}
		s.same(was)
	})
}

// spec is the network that a subtest of each is about.
func spec(t *testing.T) string {
	for _, n := range networks {
		if t.Name() == fmt.Sprintf("%s/%s/%s/%s", "TestSame", n.spec, n.engine, n.contract) {
			return n.spec
		}
	}
	return networks[0].spec
}

// A host that leaves changes nothing, one that is back its own row, and so does one that
// was never there.
func TestHosts(t *testing.T) {
	each(t, func(t *testing.T, f *fabric.Fabric, s *sweeps) {
		goal := s.Sent
		hosts := routing.HCA.Endpoints(f)
		for _, e := range []fabric.EndpointID{hosts[0], hosts[len(hosts)/2], hosts[len(hosts)-1]} {
			less := without(t, f, nil, f.Endpoint(e).Node)
			if m := s.settle(less); m.Kind != installed.Same || s.entries != 0 {
				t.Errorf("it leaves: %s, %d entries", m.Kind, s.entries)
			}
			if s.settle(f); s.steps != 1 || s.entries > f.Switches() {
				t.Errorf("it is back: %d steps, %d entries, %d switches", s.steps, s.entries, f.Switches())
			}
			s.same(goal)
			s.Goal = nil // nobody remembers it
			s.settle(less)
			s.Goal = s.Sent
			if s.settle(f); s.steps != 1 || s.entries > f.Switches() {
				t.Errorf("it is new: %d steps, %d entries, %d switches", s.steps, s.entries, f.Switches())
			}
			s.State = installed.State{Sent: goal, Goal: goal}
		}
	})
}

// Cables go and come back, one after another and several at a time: each step is proven,
// and at the end the tables are the first.
func TestCables(t *testing.T) {
	each(t, func(t *testing.T, f *fabric.Fabric, s *sweeps) {
		goal := s.Sent
		chance := rand.New(rand.NewPCG(2, uint64(f.Trunks())))
		mended, came := 0, 0
		for range 6 {
			var gone []fabric.ChannelID
			for range 1 + chance.IntN(3) {
				gone = append(gone, fabric.ChannelID(chance.IntN(f.Trunks())))
			}
			if len(without(t, f, gone).Parts()) > 1 {
				continue
			}
			before := s.State
			broken := false
			for i := range gone {
				if _, err := s.Next(t.Context(), without(t, f, gone[:i+1]), s.o); err != nil {
					broken = true
					break
				}
				s.settle(without(t, f, gone[:i+1]))
			}
			if broken {
				s.State = before
				continue
			}
			mended++
			for i := range gone { // the first is back first
				less := without(t, f, gone[i+1:])
				if m := s.settle(less); m.Kind == installed.Return {
					t.Error("a cable is used in the sweep that finds it")
				}
			}
			if s.Returning {
				t.Error("it still returns")
			}
			if s.left > 0 { // said, and there is nothing to be done about it
				s.State = before
				continue
			}
			came++
			s.same(goal)
		}
		if mended < 3 || came < 3 {
			t.Errorf("%d of 6 were mended, %d came back", mended, came)
		}
	})
}

// A switch goes, with its hosts or without, and is back.
func TestSwitches(t *testing.T) {
	for _, spec := range []string{"xgft:m=4x4,w=2x4,hosts=2", "torus:4x4,hosts=2"} {
		f := testnet.Build(t, spec)
		s := begin(t, f, "weave-any", routing.Any)
		goal := s.Sent
		for _, n := range []fabric.NodeID{0, fabric.NodeID(f.Switches() - 1)} {
			var gone []fabric.NodeID
			for _, e := range f.Attached(n) {
				if f.Endpoint(e).Node != n {
					gone = append(gone, f.Endpoint(e).Node)
				}
			}
			s.settle(without(t, f, nil, append(gone, n)...))
			s.settle(f)
			s.same(goal)
		}
	}
}

// A limit cuts what is brought back into steps, and no repair.
func TestAtMost(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	s := begin(t, f, "weave-any", routing.Any)
	goal := s.Sent
	first, _ := f.TrunksFrom(3)
	s.settle(without(t, f, []fabric.ChannelID{first}))
	whole := s.State
	s.settle(f)
	free, entries := s.steps, s.entries
	s.State = whole
	s.o.Most = entries/3 + 1
	s.settle(f)
	s.same(goal)
	if s.steps <= free || s.entries != entries {
		t.Errorf("%d entries in %d steps without a limit; %d in %d with %d at most", entries, free, s.entries, s.steps, s.o.Most)
	}
	if want := entries/s.o.Most + 1; s.steps < want {
		t.Errorf("%d steps for %d entries, %d at most in each", s.steps, entries, s.o.Most)
	}
	s.o.Most = 1
	if m := s.sweep(without(t, f, []fabric.ChannelID{first})); m.Cost.Entries <= 1 {
		t.Errorf("a repair of %d entries is cut short", m.Cost.Entries)
	}
}

// A second failure so soon that packets of the first tables are about: the step is proven
// for those too, where that can be.
func TestEarlier(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	all := 0
	for i := 0; i < 12; i++ {
		s := begin(t, f, "weave-any", routing.Any)
		first, second := fabric.ChannelID(i), fabric.ChannelID(f.Trunks()-1-i)
		s.Earlier = s.Sent
		s.sweep(without(t, f, []fabric.ChannelID{first}))
		live := without(t, f, []fabric.ChannelID{first, second})
		m, err := s.Next(t.Context(), live, s.o)
		if err != nil {
			continue // no repair
		}
		if len(m.Union.Cut) < 3 {
			continue // it has to wait
		}
		all++
		var mixed []*routing.Tables
		for _, old := range []*routing.Tables{s.Earlier, s.Sent} {
			on, err := transition.On(live, old, m.Tables)
			if err != nil {
				t.Fatal(err)
			}
			mixed = append(mixed, on)
		}
		if _, err := deadlock.CheckMixture(t.Context(), append(mixed, m.Tables), m.Union.Certificate, nil); err != nil {
			t.Errorf("trunks %d and %d: %v", first, second, err)
		}
	}
	if all < 6 {
		t.Errorf("%d of 12 need not wait", all)
	}
}

// A subnet manager that cannot prove steps gets the last one at once, and what it costs is
// held against what the switches have, not against the steps that were left out.
func TestEnd(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	jumps := 0
	for i := 0; i < f.Trunks(); i += 3 {
		s := begin(t, f, "weave-any", routing.Any)
		live := without(t, f, []fabric.ChannelID{fabric.ChannelID(i), fabric.ChannelID(f.Trunks() - 1 - i)})
		was, err := transition.On(live, s.Sent, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, jumped, err := s.End(t.Context(), live, s.o, false)
		if err != nil {
			continue // no repair
		}
		want, by := transition.CostOf(was, m.Tables), s.State
		if m.Cost.Entries != want.Entries || m.Cost.Due != want.Due || m.CutAfter != 0 || m.CutBefore == 0 {
			t.Errorf("trunk %d: %d entries, %d of them due, want %d, %d; %d pairs cut before, %d after", i, m.Cost.Entries, m.Cost.Due, want.Entries, want.Due, m.CutBefore, m.CutAfter)
		}
		s.State = by
		s.settle(live)
		s.same(m.Tables)
		if (s.steps > 1) != jumped {
			t.Errorf("trunk %d: %d steps, left out: %v", i, s.steps, jumped)
		}
		if jumped {
			jumps++
		}
	}
	if jumps == 0 {
		t.Error("no repair takes several steps")
	}
}

// What a switch has not confirmed counts, and is put right.
func TestConfirmed(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	s := begin(t, f, "weave-any", routing.Any)
	old := s.Sent
	first, _ := f.TrunksFrom(5)
	less := without(t, f, []fabric.ChannelID{first})
	m := s.sweep(less)
	// Switch 5 did not answer: it has what it had.
	kept := &routing.Tables{Fabric: less, Forwarding: routing.NewForwarding(less), Lanes: m.Tables.Lanes}
	for lid := range less.LIDs() {
		row := kept.Forwarding.Row(lid)
		copy(row, m.Tables.Forwarding.Row(lid))
		row[5] = old.Forwarding.Port(5, lid)
	}
	s.Confirmed = kept
	if again := s.settle(less); again.Kind != installed.Repair || again.Cost.Entries == 0 {
		t.Errorf("%s, %d entries", again.Kind, again.Cost.Entries)
	}
}

// OpenSM takes a packet that came back unanswered for an answer: a switch to which a cable was
// pulled meanwhile has confirmed nothing but zeros. The cable is mended as if it had confirmed.
func TestConfirmedNothing(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	for i := range fabric.ChannelID(f.Trunks()) {
		less := without(t, f, []fabric.ChannelID{i})
		s := begin(t, f, "weave-any", routing.Any)
		plain, err := s.Next(t.Context(), less, s.o)
		if err != nil {
			t.Fatal(err)
		}
		s.Confirmed = &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: s.Sent.Lanes}
		for lid := range f.LIDs() {
			row := s.Confirmed.Forwarding.Row(lid)
			copy(row, s.Sent.Forwarding.Row(lid))
			row[f.Channel(i).From], row[f.Channel(i).To] = 0, 0
		}
		m, err := s.Next(t.Context(), less, s.o)
		if err != nil {
			t.Fatalf("trunk %d: %v", i, err)
		}
		if m.Kind != installed.Repair || m.CutBefore <= plain.CutBefore || m.CutAfter != 0 && plain.CutAfter == 0 || transition.CostOf(plain.Tables, m.Tables).Entries != 0 {
			t.Errorf("trunk %d: %s, %d pairs cut, %d after", i, m.Kind, m.CutBefore, m.CutAfter)
		}
		host := f.Endpoint(routing.HCA.Endpoints(f)[int(i)%32]).Node
		if m, err = s.Next(t.Context(), without(t, f, nil, host), s.o); err != nil || m.Kind != installed.Repair || m.Cost.Entries == 0 {
			t.Fatalf("a host goes as well: %v, %+v", err, m)
		}
	}
}

// Where LIDs were given out anew, the old destinations go in one step and the new ones come in the next;
// LIDs that nobody had come at once.
func TestOtherLIDs(t *testing.T) {
	f := testnet.Build(t, "ring:5,hosts=2")
	hosts := routing.HCA.Endpoints(f)
	s := begin(t, f, "updn", routing.Any)
	wide, err := f.WithLMC(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what   string
		change func(q *wire.Request)
		steps  int
	}{
		{"a LID that nobody had", func(q *wire.Request) { q.Nodes[f.Endpoint(hosts[3]).Node].Has[0].LID = f.TopLID() + 4 }, 1},
		{"exchanged on one switch", func(q *wire.Request) { exchange(q, f.Endpoint(hosts[0]).Node, f.Endpoint(hosts[1]).Node) }, 1},
		{"exchanged", func(q *wire.Request) { exchange(q, f.Endpoint(hosts[0]).Node, f.Endpoint(hosts[5]).Node) }, 2},
		{"LMC", nil, 2},
	} {
		now := wide
		if c.change != nil {
			q := wire.Of(f, 1)
			c.change(q)
			if now, err = q.Fabric(); err != nil {
				t.Fatal(err)
			}
		}
		s := &sweeps{TB: t, State: s.State, o: s.o}
		first := s.settle(now)
		if first.Kind != installed.Repair || first.CutBefore == 0 || s.steps != c.steps || c.steps == 1 && first.CutAfter > 0 {
			t.Errorf("%s: %s, %d steps, %d pairs cut by the first of %d", c.what, first.Kind, s.steps, first.CutAfter, first.CutBefore)
		}
	}
}

// exchange has two adapters of a request exchange their LIDs.
func exchange(q *wire.Request, a, b fabric.NodeID) {
	x, y := &q.Nodes[a].Has[0], &q.Nodes[b].Has[0]
	x.LID, y.LID = y.LID, x.LID
}
