package daemon

import (
	"bytes"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// opensm plays OpenSM with the plugin: it says what is in use.
type opensm struct {
	*running
	sweep    uint64
	inUse    uint64
	engine   string
	ports    []uint8 // of the answer that is in use
	switches int
	lifetime time.Duration // of packets in a switch; 0: for ever
	filled   bool          // OpenSM began anew, and the switches are as they were
}

func openSM(r *running) *opensm { return &opensm{running: r, lifetime: time.Second} }

// question is about a fabric.
func (o *opensm) question(f *fabric.Fabric, again bool) *wire.Request {
	o.sweep++
	q := wire.Of(f, o.sweep)
	q.OpenSM, q.Deadline, q.Improves, q.Again, q.InUse, q.Lifetime = "OpenSM 3.3.23", time.Minute, true, again, o.inUse, o.lifetime
	q.Filled = o.filled && o.inUse == 0
	return q
}

// asks asks about a fabric, and uses the answer.
func (o *opensm) asks(f *fabric.Fabric, again bool) *wire.Answer {
	o.t.Helper()
	a := o.ask(o.question(f, again))
	if a.Refusal == "" {
		o.inUse, o.engine, o.ports, o.switches = a.Number, a.Engine, a.OutPorts, a.Switches
	}
	return a
}

// settles asks until nothing follows, and returns the answers.
func (o *opensm) settles(f *fabric.Fabric) (all []*wire.Answer) {
	o.t.Helper()
	for again := false; ; again = true {
		a := o.asks(f, again)
		if a.Refusal != "" {
			o.t.Fatalf("%s\n%s", a.Refusal, o.log)
		}
		all = append(all, a)
		if !a.SoFar {
			return all
		}
		if len(all) > 20 {
			o.t.Fatalf("no end\n%s", o.log)
		}
	}
}

func less(t *testing.T, f *fabric.Fabric, channels []fabric.ChannelID, nodes ...fabric.NodeID) *fabric.Fabric {
	t.Helper()
	g, err := f.Without(channels, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// differ counts the entries in which two answers for fabrics of the same LIDs differ.
func differences(a, b []uint8) int {
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// Tables in use are kept: a host that leaves changes nothing, a cable few entries, and all
// back is as before. Every answer but the first is a step.
func TestKeep(t *testing.T) {
	t.Parallel()
	for spec, engine := range map[string]string{"torus:4x4,hosts=2": "weave-any", "xgft:m=4x4,w=2x4,hosts=2": "updn"} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			o := openSM(start(t, Config{Engine: Names{engine}}))
			f := testnet.Build(t, spec)
			if first := o.settles(f); len(first) != 1 || first[0].Step {
				t.Fatalf("%d answers, a step: %v", len(first), first[0].Step)
			}
			whole := o.ports
			if a := o.settles(f); !a[0].Step && len(a) == 1 && !bytes.Equal(o.ports, whole) {
				t.Error("nothing happened, and the tables are others")
			}
			if l := o.after(2).Last; !l.Cached {
				t.Errorf("%+v", l)
			}
			host := f.Endpoint(routing.HCA.Endpoints(f)[3])
			o.settles(less(t, f, nil, host.Node))
			if l := o.after(3).Last; l.Change == nil || l.Change.Kind != "same" || l.Change.Entries != 0 {
				t.Errorf("a host left: %+v", l.Change)
			}
			if o.settles(f); !bytes.Equal(o.ports, whole) {
				t.Error("it is back, and the tables are others")
			}
			if l := o.after(4).Last; l.Change == nil || l.Change.Entries > f.Switches() || l.Change.Due != l.Change.Entries {
				t.Errorf("a host is back: %+v", l.Change)
			}
			steps := o.settles(less(t, f, []fabric.ChannelID{0}))
			if n := differences(o.ports, whole); n == 0 || n > len(whole)/10 {
				t.Errorf("%d of %d entries change for a cable", n, len(whole))
			}
			for _, a := range steps {
				if !a.Step {
					t.Error("it is no step")
				}
			}
			s := o.after(4 + int64(len(steps)))
			if g := s.Plan; g == nil || g.Kind != "repair" || g.Ended == nil || g.Steps != len(steps) || g.CutPairs == 0 || g.CutNow != 0 || g.Due == 0 || g.Entries < g.Due {
				t.Errorf("%+v", g)
			}
			back := o.settles(f)
			if len(back) < 2 || back[0].More == 0 || !bytes.Equal(o.ports, whole) {
				t.Errorf("%d answers until the cable is used again", len(back))
			}
			o.until(func(result.Status) bool {
				return strings.Contains(o.log.String(), "change=repair") && strings.Contains(o.log.String(), "change=return")
			})
		})
	}
}

// After a restart between two steps of a repair the plan goes on, and the tables at the end are
// those without a restart: of a plan in which earlier steps have entries over the dead cable, and
// of one back to it when it is found again.
func TestKeepThroughRestart(t *testing.T) {
	t.Parallel()
	for _, n := range []struct {
		spec     string
		engine   Names
		contract string
		most     int
		away     []fabric.ChannelID
	}{
		{"torus:4x4,hosts=2", Names{"weave-any"}, "any", 8, []fabric.ChannelID{0, 30}},
		{"fattree:ports=8,levels=3", Names{"updn"}, "any", 0, []fabric.ChannelID{300}},
		{"dragonfly:p=2", Names{"df-dn"}, "honored", 40, []fabric.ChannelID{4, 50}}, // a map for each pair of ports
	} {
		t.Run(n.spec, func(t *testing.T) {
			if n.contract != "any" || n.most == 0 {
				testnet.OnlyWhole(t)
			}
			t.Parallel()
			f := testnet.Build(t, n.spec)
			gone := less(t, f, n.away)
			var want [][]uint8
			for _, restarts := range []bool{false, true} {
				c := Config{Engine: n.engine, Contract: n.contract, State: stateDir(t), MaxEntries: n.most}
				o := openSM(start(t, c))
				o.settles(f)
				var got [][]uint8
				for _, now := range []*fabric.Fabric{gone, f} {
					for steps, again := 0, false; ; steps, again = steps+1, true {
						if restarts {
							o.end()
							o.running = start(t, c)
						}
						a := o.asks(now, again)
						if a.Refusal != "" || !a.Step || steps > 40 {
							t.Fatalf("step %d: %q, a step: %v\n%s", steps, a.Refusal, a.Step, o.log)
						}
						got = append(got, o.ports)
						if !a.SoFar {
							break
						}
					}
				}
				t.Logf("restarts: %v: %d steps", restarts, len(got))
				if !restarts {
					want = got
				} else if !slices.EqualFunc(want, got, bytes.Equal) {
					t.Errorf("%d steps with restarts, %d without, or other tables\n%s", len(got), len(want), o.log)
				}
			}
		})
	}
}

// Packets of tables in use are about still when all was routed anew: the next step is to
// hold for these too, until they are gone.
func TestLingering(t *testing.T) {
	t.Parallel()
	o := openSM(start(t, Config{Engine: Names{"weave-any"}}))
	f := testnet.Build(t, "torus:4x4,hosts=2")
	o.settles(f)
	was := o.keeper.find(o.inUse)
	o.mu.Lock()
	o.config.Engine = Names{"updn"}
	o.mu.Unlock()
	o.reload <- syscall.SIGHUP
	o.until(func(s result.Status) bool { return s.Engines[0] == "updn" })
	o.settles(f)
	q := &wire.Request{Lifetime: time.Second}
	now := o.keeper.find(o.inUse)
	if now == was || now.lingering(q) != was.tables || now.hops == 0 {
		t.Errorf("%d switches; the tables before are known: %v", now.hops, now.lingering(q) != nil)
	}
	o.settles(f)
	if again := o.keeper.find(o.inUse); again.lingering(q) != was.tables || !again.since.at.Equal(now.since.at) {
		t.Error("nothing changed, and the tables before are forgotten")
	}
	late := *now
	late.since.at = late.since.at.Add(-writing - time.Duration(now.hops)*q.Lifetime)
	if late.lingering(q) != nil || now.lingering(&wire.Request{Lifetime: time.Second, Again: true}) != nil {
		t.Error("they are never gone")
	}
}

// A plugin that has a newer question drops the one for the next step: that is no finding.
func TestDropped(t *testing.T) {
	t.Parallel()
	o := openSM(start(t, Config{Engine: Names{"weave-any"}}))
	f := testnet.Build(t, "torus:4x4,hosts=2")
	o.settles(f)
	o.settles(less(t, f, []fabric.ChannelID{0}))
	if a := o.asks(f, false); a.More == 0 {
		t.Fatal("no step follows")
	}
	last := func() *handed {
		o.keeper.mu.Lock()
		defer o.keeper.mu.Unlock()
		return o.keeper.list[len(o.keeper.list)-1]
	}
	before := last()
	c, err := net.Dial("unix", o.config.Socket)
	if err != nil {
		t.Fatal(err)
	}
	q := o.question(f, true)
	if err := errors.Join(q.Write(c), c.Close()); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); last() == before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no step is made")
		}
	}
	if o.settles(f); o.after(1).Refused != 0 || strings.Contains(o.log.String(), "broken pipe") {
		t.Errorf("%d refused\n%s", o.after(1).Refused, o.log)
	}
}

// Where packets live for ever, the log says that the wait between two steps is no bound.
func TestEndless(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "torus:4x4,hosts=2")
	for _, lifetime := range []time.Duration{0, time.Second} {
		o := openSM(start(t, Config{Engine: Names{"weave-any"}}))
		o.lifetime = lifetime
		o.settles(f)
		o.settles(less(t, f, []fabric.ChannelID{0}))
		if all := o.settles(f); len(all) < 2 {
			t.Fatal("the cable is back in one step")
		}
		if said := strings.Contains(o.log.String(), "packet_life_time of OpenSM has no end"); said != (lifetime == 0) {
			t.Errorf("lifetime %v: said: %v", lifetime, said)
		}
	}
}

// Where OpenSM was started anew it gets the tables there were; where it has some that
// nobody knows, or settings are others, all is routed anew, and said.
func TestNotKept(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	o := openSM(start(t, Config{Engine: Names{"weave-any"}, State: dir}))
	f := testnet.Build(t, "torus:4x4,hosts=2")
	o.settles(f)
	o.settles(less(t, f, []fabric.ChannelID{2}))
	mended := o.ports
	o.inUse = 0
	if a := o.asks(less(t, f, []fabric.ChannelID{2}), false); a.Step || !bytes.Equal(o.ports, mended) {
		t.Errorf("OpenSM was started anew: a step: %v, %d entries are others", a.Step, differences(o.ports, mended))
	}
	o.inUse = 12345
	o.asks(less(t, f, []fabric.ChannelID{2}), false)
	logs := func(text string) {
		t.Helper()
		o.until(func(result.Status) bool { return strings.Contains(o.log.String(), text) })
	}
	logs(`change=full`)
	logs(`not_kept="OpenSM uses tables that this daemon does not know"`)
	o.after(1)
	o.end()
	o.running = start(t, Config{Engine: Names{"updn"}, State: dir})
	if a := o.asks(f, false); a.Engine != "updn" || a.Step {
		t.Errorf("%q, a step: %v", a.Engine, a.Step)
	}
	logs(`not_kept="the tables in use are from other settings`)
}

// What switches have not confirmed is handed over once more.
func TestUnconfirmed(t *testing.T) {
	t.Parallel()
	o := openSM(start(t, Config{Engine: Names{"weave-any"}}))
	f := testnet.Build(t, "torus:4x4,hosts=2")
	o.settles(f)
	whole := o.ports
	g := less(t, f, []fabric.ChannelID{0})
	o.settles(g)
	lids := len(whole) / f.Switches()
	q := wire.Of(g, 50)
	q.InUse, q.Improves, q.Deadline = o.inUse, true, time.Minute
	ports := bytes.Repeat([]byte{routing.NoPort}, 64)
	copy(ports, whole[:lids])
	q.Blocks = []wire.Block{{Switch: 0, Ports: ports}}
	a := o.ask(q)
	if a.Refusal != "" || !a.Step || !bytes.Equal(a.OutPorts, o.ports) {
		t.Errorf("%q, a step: %v, %d entries are others", a.Refusal, a.Step, differences(a.OutPorts, o.ports))
	}
	s := o.until(func(s result.Status) bool { return s.Last != nil && s.Last.Sweep == 50 })
	if c := s.Last.Change; c == nil || c.Kind != "repair" || c.Entries == 0 || c.Due == 0 {
		t.Errorf("%+v", c)
	}
}

// With keep: balanced, tables from scratch follow a repair where they are better, by safe
// steps; where they are not, or no step leads there, the tables stay.
func TestBalanced(t *testing.T) {
	t.Parallel()
	better, stays := 0, 0
	for _, engine := range []string{"updn", "weave-any"} {
		o := openSM(start(t, Config{Engine: Names{engine}, Keep: "balanced", Rebalance: "00:00-23:59"}))
		f := testnet.Build(t, "torus:4x4,hosts=2")
		o.settles(f)
		whole := o.ports
		for _, c := range []fabric.ChannelID{0, 21, 33, 46} {
			g := less(t, f, []fabric.ChannelID{c})
			var before uint32
			for again := false; ; again = true {
				a := o.asks(g, again)
				if a.Refusal == errNoBetter.Error() {
					stays++
					break
				}
				if a.Refusal != "" {
					t.Fatalf("%s\n%s", a.Refusal, o.log)
				}
				if !a.Step { // routed anew, since there is no repair
					break
				}
				l := o.until(func(s result.Status) bool { return s.Last != nil && s.Last.Sweep == o.sweep }).Last
				if l.Change.Kind == "repair" {
					before = l.MaxLoad
				}
				if !a.SoFar {
					if better++; l.Change.Kind != "return" || l.MaxLoad > before-before/gain {
						t.Errorf("%+v, largest load %d, %d before", l.Change, l.MaxLoad, before)
					}
					break
				}
			}
			if a := o.asks(g, false); a.SoFar {
				t.Error("it looks for better tables again")
			}
			for a := o.asks(f, false); a.SoFar && a.Refusal == ""; {
				a = o.asks(f, true)
			}
		}
		if !bytes.Equal(o.ports, whole) {
			t.Logf("%s: %d entries are others", engine, differences(o.ports, whole))
		}
	}
	if t.Logf("%d rebalanced, %d not", better, stays); better == 0 || stays == 0 {
		t.Error("the trial is one-sided")
	}
}

// A cable that was never there before is used, though nothing is broken; what it is
// brought to becomes what tables come back to.
func TestGrown(t *testing.T) {
	t.Parallel()
	o := openSM(start(t, Config{Engine: Names{"updn"}}))
	f := testnet.Build(t, "xgft:m=4x4,w=2x4,hosts=2")
	first, _ := f.TrunksFrom(20)
	o.settles(less(t, f, []fabric.ChannelID{first}))
	a := o.asks(f, false)
	for steps := 0; a.SoFar && steps < 9; steps++ {
		if a = o.asks(f, true); a.Refusal != "" {
			t.Fatalf("%s\n%s", a.Refusal, o.log)
		}
	}
	o.until(func(s result.Status) bool {
		return s.Last != nil && s.Last.Change != nil && s.Last.Change.Kind == "return"
	})
	port, lids := f.Channel(first).FromPort, len(o.ports)/f.Switches()
	if !bytes.Contains(o.ports[20*lids:21*lids], []byte{port}) {
		t.Errorf("the new cable carries nothing\n%s", o.log)
	}
	if a := o.asks(f, false); a.SoFar {
		t.Error("it looks for better tables again")
	}
}
