package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/between"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/pauses"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
	"github.com/weft-fabric/weft/result"
)

// ethernetScene is a watch of a folder in which each look sees the network that a test shows.
type ethernetScene struct {
	t *testing.T
	*running
	now   *EthernetSnapshot
	looks int
}

func newEthernetScene(t *testing.T, c Config) *ethernetScene {
	t.Helper()
	s := &ethernetScene{t: t}
	c.Ethernet, c.Settle, c.State = t.TempDir(), 1, filepath.Join(t.TempDir(), "state")
	w := &Watcher{Config: c, Log: slog.New(slog.DiscardHandler), Version: "test", ReadEthernet: func(string, EthernetSettings) (*EthernetSnapshot, error) {
		if s.now == nil {
			return nil, errors.New("it is not to be read")
		}
		again := *s.now
		return &again, nil
	}}
	s.running = begun(t, w)
	return s
}

// show looks at a network that was just written. nil: nothing is new.
func (s *ethernetScene) show(now *EthernetSnapshot) *result.WatchLook {
	s.t.Helper()
	s.now = now
	s.looks++
	for _, name := range []string{"a.route.json", "folder/b.route.json"} {
		path := filepath.Join(s.Ethernet, strings.Replace(name, "folder/", "b/", 1))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, fmt.Appendf(nil, "look %d", s.looks), 0o600)); err != nil {
			s.t.Fatal(err)
		}
	}
	l, err := s.look(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

// A network with all its hosts behind one leaf has nothing to judge, as weft verify has it.
func TestEthernetNothing(t *testing.T) {
	s := newEthernetScene(t, Config{})
	n := clos(t)
	n.Classes = n.Classes[:1]
	l := s.show(&EthernetSnapshot{Network: n})
	if want := "all hosts are behind " + n.Names[0]; l.Ethernet.Nothing != want || l.Verdict != result.NothingToJudge {
		t.Errorf("%s because %q, want %q", l.Verdict, l.Ethernet.Nothing, want)
	}
}

// A device whose dump of routes went away has not stopped to use its neighbors.
func TestEthernetTableless(t *testing.T) {
	s := newEthernetScene(t, Config{})
	s.show(&EthernetSnapshot{Network: clos(t)})
	n := clos(t)
	spine := ethernet.DeviceID(3)
	for i := range n.Classes {
		clear(n.Words(n.Classes[i].Next, spine))
	}
	l := s.show(&EthernetSnapshot{Network: n})
	if l.Ethernet.Changed.Entries == 0 || len(l.Ethernet.Changed.Lost) > 0 {
		t.Errorf("%d entries changed, lost %q", l.Ethernet.Changed.Entries, l.Ethernet.Changed.Lost)
	}
}

// A folder whose files change all the time is named.
func TestEthernetRest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := source{&settings{Config: Config{Ethernet: dir, Settle: 20 * time.Millisecond}}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	text := "{"
	write := func() {
		text += " "
		if err := os.WriteFile(filepath.Join(dir, "a.route.json"), []byte(text), 0o600); err != nil {
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
	for { // on a busy machine the writer itself may rest now and then
		if _, err := s.gather(ctx, nil, t.TempDir()); err != nil {
			if want := dir + ": its files change all the time"; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
			break
		}
	}
	cancel()
	<-ended
}

// clos is three leaves below two spines, with routes by all shortest paths.
func clos(t *testing.T) *ethernet.Network {
	t.Helper()
	p := testcables.Devices(5)
	for leaf := range 3 {
		p.Join(leaf, 3)
		p.Join(leaf, 4)
	}
	c := p.Cabling(t)
	n := &ethernet.Network{Cabling: c, Classes: bgp.Subnets(c, []int{1, 1, 1, 0, 0}), Priorities: ethernet.Uniform(c, []uint8{3})}
	plan, err := bgp.NewPlan(c, bgp.Leaves(n.Classes), bgp.ECMP, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan.Fill(n.Classes)
	return n
}

func alarmsOf(l *result.WatchLook) string {
	var all []string
	for _, a := range l.Alarms {
		all = append(all, a.Kind)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestEthernetLooks(t *testing.T) {
	t.Parallel()
	s := newEthernetScene(t, Config{})
	n := clos(t)
	l := s.show(&EthernetSnapshot{Network: n})
	if l == nil || alarmsOf(l) != "" || l.Verdict != "deadlock-free" || l.Switches != 5 || l.Cables != 6 || l.Pairs != 6 || l.Ethernet.NextHops != 18 || len(l.Files) != 2 {
		t.Fatalf("%+v, %+v", l, l.Ethernet)
	}
	if again := s.show(&EthernetSnapshot{Network: clos(t)}); again != nil {
		t.Errorf("a look at which nothing that routes is new is kept: %+v", again.Ethernet)
	}

	// A session over a cable that is there is down.
	less := clos(t)
	up, _ := less.LinksFrom(0)
	less.Classes[1].Next = slices.Clone(less.Classes[1].Next)
	less.Remove(less.Classes[1].Next, up)
	if l = s.show(&EthernetSnapshot{Network: less}); alarmsOf(l) != "narrow-group next-hops-gone" || l.Ethernet.Changed.Entries != 1 {
		t.Errorf("%s, %+v", alarmsOf(l), l.Ethernet.Changed)
	}

	// What follows from a cable that is down elsewhere is no such loss.
	plan, err := bgp.NewPlan(n.Cabling, bgp.Leaves(n.Classes), bgp.ECMP, nil)
	if err != nil {
		t.Fatal(err)
	}
	down := make([]bool, len(n.Links))
	down[up] = true
	torn, err := between.Without(plan, clos(t), make([]bool, len(n.Names)), down)
	if err != nil {
		t.Fatal(err)
	}
	s.show(&EthernetSnapshot{Network: clos(t)})
	if l = s.show(&EthernetSnapshot{Network: torn}); strings.Contains(alarmsOf(l), "next-hops-gone") || l.Ethernet.Changed.Entries < 3 {
		t.Errorf("%s, %+v", alarmsOf(l), l.Ethernet.Changed)
	}
	cable := between.CableText(ethernet.Cable{A: n.End(up), B: n.End(n.Reverse[up])}) // as weft diff names it
	if !slices.Equal(l.Ethernet.Changed.CablesGone, []string{cable}) || len(l.Missing) != 1 || l.Missing[0].Name != cable {
		t.Errorf("gone %q, missing %+v, not %s", l.Ethernet.Changed.CablesGone, l.Missing, cable)
	}
	s.show(&EthernetSnapshot{Network: clos(t)})

	// The two directions of a cable are lossless for other priorities.
	odd := clos(t)
	odd.Priorities.Lane[up] = ethernet.Lossy
	if l = s.show(&EthernetSnapshot{Network: odd}); alarmsOf(l) != "lossless-differs" || !strings.Contains(l.Alarms[0].What, "since the look before") {
		t.Errorf("%s, %v", alarmsOf(l), l.Alarms)
	}

	// A pin whose upper device does not lead down to its leaf is not in force; nor is one that nobody knows.
	pinned := clos(t)
	pin := EthernetPin{netip.MustParsePrefix("10.9.0.1/32"), []string{n.Names[0], n.Names[3]}}
	c := ethernet.Class{Prefixes: []netip.Prefix{pin.Prefix}, At: []ethernet.DeviceID{0}, Hosts: true, Next: slices.Clone(n.Classes[0].Next)}
	pinned.Classes = append(pinned.Classes, c)
	if l = s.show(&EthernetSnapshot{Network: pinned, Pins: []EthernetPin{pin}}); alarmsOf(l) != "" || l.Ethernet.Pins != 1 {
		t.Errorf("%s, %+v", alarmsOf(l), l.Alarms)
	}
	if l = s.show(&EthernetSnapshot{Network: clos(t), Pins: []EthernetPin{pin}}); alarmsOf(l) != "pins-fell-back" {
		t.Errorf("%s", alarmsOf(l))
	}

	// A cable is slower than others of its tier, or than its other end.
	slow := clos(t)
	slow.Speeds = make([]uint32, len(slow.Links))
	for k := range slow.Speeds {
		slow.Speeds[k] = 400_000
	}
	slow.Speeds[up] = 100_000
	if l = s.show(&EthernetSnapshot{Network: slow}); alarmsOf(l) != "degraded-link" || !strings.Contains(l.Alarms[0].What, "at the other end 400000") {
		t.Errorf("%s, %v", alarmsOf(l), l.Alarms)
	}
	again := *slow
	again.Speeds = slices.Clone(slow.Speeds)
	again.Speeds[slow.Reverse[up]] = 100_000
	if l = s.show(&EthernetSnapshot{Network: &again}); alarmsOf(l) != "degraded-link" || !strings.Contains(l.Alarms[0].What, "100000 Mb/s, and 5 of the cables between these tiers have 400000") {
		t.Errorf("%s, %v", alarmsOf(l), l.Alarms)
	}

	// A device with the routes of its own subnets only, and what the reader left out.
	cut := clos(t)
	cut.Gaps = []string{"routes into a tunnel"}
	for i := range cut.Classes {
		clear(cut.Words(cut.Classes[i].Next, 0))
	}
	if l = s.show(&EthernetSnapshot{Network: cut}); alarmsOf(l) != "cut-off next-hops-gone unproven" || l.CutOff != 2 {
		t.Errorf("%s, %d", alarmsOf(l), l.CutOff)
	}
	if st, err := s.store.Health(); err != nil || len(st.Alarms) != 3 {
		t.Errorf("%+v, %v", st, err)
	}
}

// Ports that are paused are told with the way by which the pauses come, and counters that merely rise make no new look.
func TestEthernetPauses(t *testing.T) {
	t.Parallel()
	s := newEthernetScene(t, Config{PauseRate: 1})
	n := clos(t)
	up, _ := n.LinksFrom(0)
	from, to := n.Names[0], n.Names[n.Links[up].To]
	count := func(frames, dropped uint64) *EthernetSnapshot {
		return &EthernetSnapshot{Network: clos(t), Counters: map[string][]pauses.Counter{from: {{Interface: n.Links[up].FromInterface, Priority: 3, Received: frames, Dropped: dropped}}}}
	}
	if l := s.show(count(7, 0)); alarmsOf(l) != "" {
		t.Error(alarmsOf(l))
	}
	l := s.show(count(1_000_000, 2))
	if alarmsOf(l) != "pause-storm watchdog-drops" {
		t.Fatal(alarmsOf(l))
	}
	if p := l.Ethernet.Paused[0]; p.Received != 999_993 || p.Prefixes != 2 || !slices.Equal(p.Way, []string{to}) || p.Circle {
		t.Errorf("%+v", p)
	}
	if l := s.show(count(2_000_000, 3)); l != nil {
		t.Error("a look with other counts only is kept")
	}
	if l := s.show(count(2_000_000, 3)); alarmsOf(l) != "" {
		t.Error("an alarm stays though nothing is paused any more: " + alarmsOf(l))
	}
	if l := s.show(count(2_000_000, 9)); alarmsOf(l) != "watchdog-drops" {
		t.Fatal(alarmsOf(l))
	}
	s.looks-- // the same files once more: counters stand still
	if l := s.show(count(2_000_000, 9)); l == nil || alarmsOf(l) != "" {
		t.Error("an alarm stays though files were written anew with the same counters")
	}
	again := *clos(t)
	again.Gaps = []string{filepath.Join(s.State, ".gather", "a.route.json") + ":1: a route"}
	if l := s.show(&EthernetSnapshot{Network: &again}); l == nil || l.Ethernet.Gaps[0] != filepath.Join(s.Ethernet, "a.route.json")+":1: a route" {
		t.Errorf("a gap is not told by the name of its file: %q", l.Ethernet.Gaps)
	}
}

// A storm that goes on is told from the first look to the last, though no counter rises; and what members of a port channel
// count is of its link.
func TestEthernetStorm(t *testing.T) {
	t.Parallel()
	s := newEthernetScene(t, Config{PauseRate: 1})
	n := clos(t)
	up, _ := n.LinksFrom(0)
	from, to := n.Names[0], n.Names[n.Links[up].To]
	snapshot := func(frames uint64, storms bool) *EthernetSnapshot {
		now := clos(t)
		now.Members = make([][]string, len(now.Links))
		now.Members[up] = []string{"Ethernet0", "Ethernet4"}
		return &EthernetSnapshot{Network: now, Counters: map[string][]pauses.Counter{from: {
			{Interface: "Ethernet0", Priority: 3, Received: frames}, {Interface: "Ethernet4", Priority: 3, Received: frames + 7, InStorm: storms},
		}}}
	}
	l := s.show(snapshot(7, true))
	if alarmsOf(l) != "watchdog-drops" || !strings.Contains(l.Alarms[0].What, "Ethernet4 sees a storm of priority 3, which goes on; the pauses come from "+to) {
		t.Fatalf("%s, %+v", alarmsOf(l), l.Alarms)
	}
	if p := l.Ethernet.Paused; len(p) != 1 || p[0].Received != 0 || !p[0].InStorm {
		t.Errorf("%+v", p)
	}
	if l = s.show(snapshot(7, true)); l != nil {
		t.Errorf("the storm is told as something new: %+v", l.Alarms)
	}
	if len(s.last.Alarms) != 1 {
		t.Errorf("%+v", s.last.Alarms)
	}
	if l = s.show(snapshot(7, false)); l == nil || alarmsOf(l) != "" {
		t.Fatal("an alarm stays though the storm has ended")
	}
	if l = s.show(snapshot(1_000_000, false)); alarmsOf(l) != "pause-storm" || !slices.Equal(l.Ethernet.Paused[0].Way, []string{to}) || l.Ethernet.Paused[1].Prefixes != 2 {
		t.Errorf("%s, %+v", alarmsOf(l), l.Ethernet.Paused)
	}
}

// A device whose files are old was not heard from, though no file changes; a collector that fails is told.
func TestEthernetSilence(t *testing.T) {
	t.Parallel()
	s := newEthernetScene(t, Config{Silent: time.Hour})
	if l := s.show(&EthernetSnapshot{Network: clos(t)}); alarmsOf(l) != "" {
		t.Fatal(alarmsOf(l))
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(filepath.Join(s.Ethernet, "b", "b.route.json"), old, old); err != nil {
		t.Fatal(err)
	}
	l, err := s.look(t.Context())
	if err != nil || l == nil || alarmsOf(l) != "silent-device" || !slices.Equal(l.Ethernet.Silent, []string{"b"}) {
		t.Fatalf("%+v, %v", l, err)
	}
	for text, why := range map[string]string{"false": "exit status 1", "/no/such/program": "no such file"} {
		s.Collect = text
		if l, err = s.look(t.Context()); err != nil || l == nil || !strings.Contains(l.Ethernet.CollectError, why) {
			t.Errorf("%s: %+v, %v", text, l, err)
		}
	}
	s.now.Silent = []string{"c"}
	if l, err = s.look(t.Context()); err != nil || l != nil && !slices.Equal(l.Ethernet.Silent, []string{"b", "c"}) {
		t.Errorf("%+v, %v", l, err)
	}
	s.now.Silent = nil
	s.Collect = "touch " + filepath.Join(s.Ethernet, "b", "b.route.json")
	if l, err = s.look(t.Context()); err != nil || l == nil || alarmsOf(l) != "" {
		t.Errorf("%+v, %v", l, err)
	}
}

// What begins again goes on from the last look, and settings of both kinds at once are refused.
func TestEthernetAgain(t *testing.T) {
	t.Parallel()
	s := newEthernetScene(t, Config{})
	s.show(&EthernetSnapshot{Network: clos(t)})
	w := *s.Watcher
	endWhole(s.running)
	r := begun(t, &w)
	s.running = r
	if r.before == nil || r.before.Ethernet == nil || r.last.Number != 1 {
		t.Fatalf("%+v", r.before)
	}
	if l := s.show(&EthernetSnapshot{Network: clos(t)}); l != nil {
		t.Errorf("%+v", l)
	}
	for _, text := range []string{
		"ethernet: /a\nfolder: /b\nstate: /c\n", "ethernet: /a\nengine: updn\nstate: /c\n", "folder: /a\nsilent: 1m\nstate: /c\n",
		"ethernet: a\nstate: /c\n", "ethernet: /a\nstate: /c\nlossless_priorities: 9\n", "ethernet: /a\nstate: /c\nlossless_priorities: 3,3\n", "ethernet: /a\nstate: /c\npause_rate: -1\n",
	} {
		c, err := ReadConfig(strings.NewReader(text))
		if err == nil {
			_, err = c.Check()
		}
		if err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
