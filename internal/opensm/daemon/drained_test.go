package daemon

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// orders gives an order.
func (o *opensm) orders(order Order) *Ordered {
	o.t.Helper()
	text, err := wire.GiveOrder(o.t.Context(), o.config.Socket, order)
	if err != nil {
		o.t.Fatal(err)
	}
	var said Ordered
	if err := json.Unmarshal(text, &said); err != nil {
		o.t.Fatal(err)
	}
	return &said
}

// stands asks a question that stays open, and uses its answer.
func (o *opensm) stands(f *fabric.Fabric) *wire.Answer {
	o.t.Helper()
	q := o.question(f, true)
	q.Stands = true
	a := o.ask(q)
	if a.Refusal == "" {
		o.inUse, o.engine, o.ports, o.switches = a.Number, a.Engine, a.OutPorts, a.Switches
	}
	return a
}

// leads reports whether a switch has an entry for a host that leads out by a port.
func (o *opensm) leads(f *fabric.Fabric, s fabric.NodeID, port uint8) bool {
	lids := len(o.ports) / o.switches
	for lid, owner := range f.LIDs() {
		if f.Endpoint(owner).Class != fabric.SwitchPort && o.ports[int(s)*lids+int(lid)] == port {
			return true
		}
	}
	return false
}

// A question that stays open is answered when a cable is to be drained, in steps; a sweep after that and
// another daemon keep it free; a cable that dies meanwhile is mended without it; and then it comes back.
func TestDrained(t *testing.T) {
	t.Parallel()
	r := newRunning(t, Config{Engine: Names{"updn"}, State: stateDir(t)})
	r.dir = r.socketDir()
	r.config.Socket = filepath.Join(r.dir, "s")
	r.run()
	o := openSM(r)
	o.lifetime = time.Millisecond
	f := testnet.Build(t, "xgft:m=4x4,w=2x4,hosts=2")
	if said := o.orders(Order{Do: DrainOrder, Parts: []string{"x"}}); !strings.Contains(said.Refused, "no tables were handed over yet") {
		t.Errorf("%+v", said)
	}
	o.settles(f)
	first := o.ports
	ch := f.Channel(0)
	part := f.Label(ch.From) + ":" + string('0'+rune(ch.FromPort))
	for _, c := range []struct {
		order Order
		want  string
	}{
		{Order{Do: DrainOrder, Parts: []string{"nobody"}}, `no switch is called "nobody"`},
		{Order{Do: DrainOrder}, "nothing is named"},
		{Order{Do: "dance"}, `there is no order "dance"`},
		{Order{Do: UndrainOrder, Parts: []string{part}}, "nothing is drained"},
		{Order{Do: DrainOrder, Parts: []string{part}, After: -1}, "not negative"},
		{Order{Do: DrainOrder, Parts: []string{f.Label(f.Endpoint(fabric.EndpointID(f.Switches())).Switch)}}, "would cut off"},
		{Order{Do: DrainOrder, Parts: []string{"*"}}, "no switch would be left"},
	} {
		if said := o.orders(c.order); !strings.Contains(said.Refused, c.want) {
			t.Errorf("%+v: %q, want %q", c.order, said.Refused, c.want)
		}
	}
	if s := r.Status(); len(s.Drained) != 0 {
		t.Errorf("refused, and %+v", s.Drained)
	}
	var said *Ordered
	time.AfterFunc(100*time.Millisecond, func() { said = o.orders(Order{Do: DrainOrder, Parts: []string{part}}) })
	steps := 0
	for a := o.stands(f); ; a = o.asks(f, true) {
		if a.Refusal != "" || !a.Step {
			t.Fatalf("%+v", a)
		}
		if steps++; a.More == 0 {
			break
		}
	}
	if said.Refused != "" || said.Steps != steps || said.Kept != "" || o.leads(f, ch.From, ch.FromPort) || o.leads(f, ch.To, ch.ToPort) {
		t.Errorf("%d steps: %+v", steps, said)
	}
	o.asks(f, false) // which says that all switches have confirmed them
	o.until(func(s result.Status) bool { return len(s.Drained) == 1 && s.Drained[0].State == Free && s.Settled })

	r.end() // and another goes on
	r = newRunning(t, r.config)
	r.dir = filepath.Dir(r.config.Socket)
	r.run()
	o.running = r
	o.settles(f)
	if s := r.Status(); len(s.Drained) != 1 || o.leads(f, ch.From, ch.FromPort) {
		t.Errorf("after a restart %+v", s.Drained)
	}
	other := fabric.ChannelID(1)
	for f.Channel(other).To == ch.To || f.Channel(other).From == ch.From || f.Channel(other).To == ch.From {
		other++
	}
	g := less(t, f, []fabric.ChannelID{other})
	o.settles(g)
	if o.leads(g, ch.From, ch.FromPort) || o.leads(g, ch.To, ch.ToPort) {
		t.Error("a repair uses what is drained")
	}
	o.settles(f)
	if said := o.orders(Order{Do: UndrainOrder}); said.Refused != "" || len(said.Parts) != 1 {
		t.Errorf("%+v", said)
	}
	o.settles(f)
	o.settles(f)
	if n := differences(first, o.ports); n != 0 {
		t.Errorf("it comes back with %d other entries", n)
	}
}

// A part is drained when its time has come and comes back when that is over, though nobody asks; and who
// hangs up takes no place.
func TestDrainedForAWhile(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	r := newRunning(t, Config{Engine: Names{"updn"}, State: stateDir(t)})
	r.dir = r.socketDir()
	r.config.Socket = filepath.Join(r.dir, "s")
	r.clock = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	r.run()
	o := openSM(r)
	f := testnet.Build(t, "xgft:m=4x4,w=2x4,hosts=2")
	o.settles(f)
	ch := f.Channel(0)
	part := f.Label(ch.From) + ":" + string('0'+rune(ch.FromPort))
	if said := o.orders(Order{Do: DrainOrder, Parts: []string{part}, After: time.Hour, For: time.Hour}); said.Refused != "" {
		t.Fatal(said.Refused)
	}
	for _, c := range []struct {
		after time.Duration
		leads bool
		state string
	}{{0, true, Later}, {time.Hour, false, ""}, {time.Hour, true, ""}} {
		mu.Lock()
		now = now.Add(c.after)
		mu.Unlock()
		o.settles(f)
		if got := o.leads(f, ch.From, ch.FromPort); got != c.leads {
			t.Errorf("%v later: something leads over it: %v", c.after, got)
		}
		if s := r.Status(); c.state != "" && s.Drained[0].State != c.state {
			t.Errorf("%+v", s.Drained)
		}
	}
	text, err := os.ReadFile(filepath.Join(r.config.State, drainedName))
	if err != nil || !bytes.Contains(text, []byte(part)) {
		t.Errorf("%s, %v", text, err)
	}
	q := o.question(f, true)
	q.Stands, q.Deadline = true, 300*time.Millisecond
	if a := o.ask(q); !strings.Contains(a.Refusal, errNothingOrdered.Error()) {
		t.Errorf("%+v", a)
	}
}

// A part whose time is over is drained no longer, though OpenSM does not run and so does not ask; and a restart that could
// not know of its order has forgotten nothing.
func TestDrainEndsWithoutOpenSM(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	r := newRunning(t, Config{Engine: Names{"updn"}, State: stateDir(t)})
	r.open = func(dir string) (folder, error) {
		f, err := openState(dir)
		return forgetful{f, &full}, err
	}
	r.dir = r.socketDir()
	r.config.Socket = filepath.Join(r.dir, "s")
	r.run()
	o := openSM(r)
	f := testnet.Build(t, "xgft:m=4x4,w=2x4,hosts=2")
	o.settles(f)
	name := func(c fabric.ChannelID) string {
		return f.Label(f.Channel(c).From) + ":" + string('0'+rune(f.Channel(c).FromPort))
	}
	if said := o.orders(Order{Do: DrainOrder, Parts: []string{name(0)}, For: 500 * time.Millisecond}); said.Refused != "" {
		t.Fatal(said.Refused)
	}
	o.until(func(s result.Status) bool { return len(s.Drained) == 0 })
	full.Store(true)
	if said := o.orders(Order{Do: DrainOrder, Parts: []string{name(0)}, For: 3 * time.Second, Force: true}); said.Refused != "" || said.Kept == "" {
		t.Fatalf("%+v", said)
	}
	r.end()
	full.Store(false)
	open := r.open
	r = newRunning(t, r.config)
	r.open = open
	r.dir = filepath.Dir(r.config.Socket)
	time.Sleep(3 * time.Second)
	r.run()
	o.running = r
	if s := o.until(func(s result.Status) bool { return !s.Start }); len(s.Drained) != 0 || len(s.Forgotten) != 0 {
		t.Errorf("its time is over: drained %+v, forgotten %+v", s.Drained, s.Forgotten)
	}
}

// A drained switch that a repair cannot do without is used again, and the status names who is reached over it; when
// they can go another way it is free once more.
func TestDrainedIsNeeded(t *testing.T) {
	t.Parallel()
	r := newRunning(t, Config{Engine: Names{"updn"}, State: stateDir(t)})
	r.dir = r.socketDir()
	r.config.Socket = filepath.Join(r.dir, "s")
	r.run()
	o := openSM(r)
	o.lifetime = time.Millisecond
	f := testnet.Build(t, "xgft:m=2x2,w=2x2,hosts=2")
	o.settles(f)
	ch := f.Channel(0) // from a leaf to a switch that is drained
	if said := o.orders(Order{Do: DrainOrder, Parts: []string{f.Label(ch.To)}}); said.Refused != "" {
		t.Fatal(said.Refused)
	}
	o.settles(f)
	o.asks(f, false)
	o.until(func(s result.Status) bool { return len(s.Drained) == 1 && s.Drained[0].State == Free })
	var gone []fabric.ChannelID // the leaf's other ways
	var hosts []string
	for c, end := f.TrunksFrom(ch.From); c < end; c++ {
		if f.Channel(c).To != ch.To {
			gone = append(gone, c)
		}
	}
	for i := range f.Endpoints() {
		if e := f.Endpoint(fabric.EndpointID(i)); e.Class != fabric.SwitchPort && e.Switch == ch.From {
			hosts = append(hosts, f.EndpointLabel(fabric.EndpointID(i)))
		}
	}
	g := less(t, f, gone)
	o.settles(g)
	o.asks(g, false)
	o.until(func(s result.Status) bool {
		return len(s.Drained) == 1 && s.Drained[0].State == StillUsed && strings.Contains(s.Drained[0].Why, strings.Join(hosts, ", "))
	})
	o.settles(f)
	o.settles(f)
	o.asks(f, false)
	o.until(func(s result.Status) bool { return len(s.Drained) == 1 && s.Drained[0].State == Free })
}

// Orders that come together are carried out one after the other: each is planned beside those before it. Who hangs up
// before the answer has ordered nothing.
func TestOrdersTogether(t *testing.T) {
	t.Parallel()
	r := newRunning(t, Config{Engine: Names{"updn"}, State: stateDir(t)})
	r.dir = r.socketDir()
	r.config.Socket = filepath.Join(r.dir, "s")
	r.run()
	o := openSM(r)
	f := testnet.Build(t, "xgft:m=2x2,w=2x2,hosts=2")
	o.settles(f)
	ask := func(parts ...string) (refused []string) {
		said := make([]*Ordered, len(parts))
		var all sync.WaitGroup
		for i, part := range parts {
			all.Go(func() {
				text, err := wire.GiveOrder(t.Context(), o.config.Socket, Order{Do: DrainOrder, Parts: []string{part}})
				if err == nil {
					err = json.Unmarshal(text, &said[i])
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, x := range said {
			if x != nil && x.Refused != "" {
				refused = append(refused, x.Refused)
			}
		}
		return refused
	}
	name := func(c fabric.ChannelID) string {
		return f.Label(f.Channel(c).From) + ":" + string('0'+rune(f.Channel(c).FromPort))
	}
	first, end := f.TrunksFrom(0)
	other, _ := f.TrunksFrom(1)
	for range 5 {
		if refused := ask(name(first), name(other)); len(refused) != 0 || len(r.Status().Drained) != 2 {
			t.Fatalf("%v, %+v", refused, r.Status().Drained)
		}
		o.orders(Order{Do: UndrainOrder})
		if refused := ask(name(first), name(end-1)); len(refused) != 1 || !strings.Contains(refused[0], "drained already") || len(r.Status().Drained) != 1 {
			t.Fatalf("%v, %+v", refused, r.Status().Drained)
		}
		o.orders(Order{Do: UndrainOrder})
	}
	gone := make(chan struct{})
	close(gone)
	text, err := json.Marshal(Order{Do: DrainOrder, Parts: []string{name(first)}})
	if err != nil {
		t.Fatal(err)
	}
	if said := r.order(t.Context(), text, credentials{}, gone); said.Refused != errOrdererGone.Error() || len(r.Status().Drained) != 0 {
		t.Errorf("%+v, %+v", said, r.Status().Drained)
	}
	r.takeBack(r.order(t.Context(), text, credentials{}, nil), "somebody")
	if left := r.Status().Drained; len(left) != 0 {
		t.Errorf("not taken back: %+v", left)
	}
}

// A drain that is taken back puts back what was ordered before it, with all that was said then; where somebody has ordered
// anew since, that order stands. So it is over a restart, and where who ordered hung up.
func TestDrainTakenBack(t *testing.T) {
	t.Parallel()
	r := newRunning(t, Config{Engine: Names{"updn"}, State: stateDir(t)})
	r.dir = r.socketDir()
	r.config.Socket = filepath.Join(r.dir, "s")
	r.run()
	o := openSM(r)
	f := testnet.Build(t, "xgft:m=4x4,w=2x4,hosts=2")
	o.settles(f)
	name := func(c fabric.ChannelID) string {
		return f.Label(f.Channel(c).From) + ":" + string('0'+rune(f.Channel(c).FromPort))
	}
	part, other := name(0), name(f.Channel(0).Reverse+2)
	drain := func(id string, until time.Duration, parts ...string) {
		t.Helper()
		if said := o.orders(Order{Do: DrainOrder, Parts: parts, For: until, ID: id}); said.Refused != "" {
			t.Fatal(said.Refused)
		}
	}
	back := func(id string) *Ordered { return o.orders(Order{Do: UndrainOrder, ID: id}) }
	plain := func(p result.Drained) string {
		p.State, p.Before = "", nil
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	drain("a", time.Hour, part)
	first := plain(r.Status().Drained[0])
	drain("b", 0, part, other)
	drain("b", 0, part, other) // once more, since there was no answer
	r.end()
	r = newRunning(t, r.config)
	r.dir = filepath.Dir(r.config.Socket)
	r.run()
	o.running = r
	o.until(func(s result.Status) bool { return !s.Start })
	o.settles(f)
	said := back("b")
	if now := r.Status().Drained; said.Refused != "" || len(said.Parts) != 2 || len(said.Before) != 1 || len(now) != 1 || plain(now[0]) != first || len(now[0].Before) != 0 {
		t.Fatalf("%+v\n%+v, want %s", said, now, first)
	}
	if said := back("b"); !strings.Contains(said.Refused, "nothing is drained by this order") {
		t.Errorf("%+v", said)
	}
	drain("c", 0, part)
	drain("d", 0, part)
	last := plain(r.Status().Drained[0])
	if said := back("c"); said.Refused != "" || plain(r.Status().Drained[0]) != last {
		t.Errorf("somebody has ordered anew since: %+v, %+v", said, r.Status().Drained)
	}
	if said := back("d"); said.Refused != "" || plain(r.Status().Drained[0]) != first {
		t.Errorf("%+v, %+v, want %s", said, r.Status().Drained, first)
	}
	text, err := json.Marshal(Order{Do: DrainOrder, Parts: []string{part}})
	if err != nil {
		t.Fatal(err)
	}
	r.takeBack(r.order(t.Context(), text, credentials{}, nil), "somebody")
	if now := r.Status().Drained; len(now) != 1 || plain(now[0]) != first {
		t.Errorf("%+v, want %s", now, first)
	}
	if said := back("a"); said.Refused != "" || len(r.Status().Drained) != 0 {
		t.Errorf("%+v, %+v", said, r.Status().Drained)
	}
}

// What is drained and free and then pulled is gone, and no alarm; it stays drained when it is back, over a restart meanwhile
// too. Where it is undrained before that, it is missed; and so is what goes undrained.
func TestDrainedIsPulled(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"cable", "switch"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRunning(t, Config{Engine: Names{"updn"}, State: stateDir(t), Metrics: "127.0.0.1:0"})
			r.dir = r.socketDir()
			r.config.Socket = filepath.Join(r.dir, "s")
			r.run()
			o := openSM(r)
			o.lifetime = time.Millisecond
			f := testnet.Build(t, "xgft:m=4x4,w=2x4,hosts=2")
			o.settles(f)
			ch := f.Channel(0) // from a leaf upwards
			part, place, g := f.Label(ch.From)+":"+string('0'+rune(ch.FromPort)), result.Location{GUID: f.Node(ch.From).GUID, Port: ch.FromPort}, less(t, f, []fabric.ChannelID{0})
			if kind == "switch" {
				part, place, g = f.Label(ch.To), result.Location{GUID: f.Node(ch.To).GUID}, less(t, f, nil, ch.To)
			}
			missed := func() (all []string) {
				for line := range strings.Lines(r.scrape(t)) {
					if strings.HasPrefix(line, "weft_missing{") {
						all = append(all, line[strings.LastIndex(line, " ")+1:len(line)-1])
					}
				}
				return all
			}
			if said := o.orders(Order{Do: DrainOrder, Parts: []string{part}}); said.Refused != "" {
				t.Fatal(said.Refused)
			}
			o.settles(f)
			o.asks(f, false)
			o.until(func(s result.Status) bool {
				return len(s.Drained) == 1 && s.Drained[0].State == Free && !s.Drained[0].Gone && s.Settled
			})
			o.settles(g)
			o.asks(g, false)
			o.until(func(s result.Status) bool {
				return len(s.Drained) == 1 && s.Drained[0].Gone && len(s.Missing) == 1 && s.Missing[0].Drained
			})
			if got := missed(); !slices.Equal(got, []string{"0"}) {
				t.Errorf("pulled: weft_missing %v", got)
			}
			r.end()
			r = newRunning(t, r.config)
			r.dir = filepath.Dir(r.config.Socket)
			r.run()
			o.running = r
			o.until(func(s result.Status) bool { return len(s.Drained) == 1 && s.Drained[0].Gone && len(s.Missing) == 1 })
			if got := missed(); !slices.Equal(got, []string{"0"}) {
				t.Errorf("after a restart: weft_missing %v", got)
			}
			o.settles(f) // it is back
			o.asks(f, false)
			s := o.until(func(s result.Status) bool {
				return len(s.Drained) == 1 && s.Drained[0].State == Free && !s.Drained[0].Gone
			})
			if kind == "cable" && (o.leads(f, ch.From, ch.FromPort) || o.leads(f, ch.To, ch.ToPort)) || len(reachedOver(r.keeper.newest().tables, place)) > 0 || len(s.Missing) > 0 || len(missed()) > 0 {
				t.Errorf("it is back: %+v", s)
			}
			o.settles(g)
			o.asks(g, false)
			if said := o.orders(Order{Do: UndrainOrder}); said.Refused != "" || len(said.Parts) != 1 || !said.Parts[0].Gone {
				t.Errorf("%+v", said)
			}
			if got := missed(); !slices.Equal(got, []string{"1"}) {
				t.Errorf("undrained while it is gone: weft_missing %v", got)
			}
		})
	}
}

// forgetful is a state folder that cannot keep what is drained.
type forgetful struct {
	folder
	full *atomic.Bool
}

func (f forgetful) drained(list []result.Drained) error {
	if f.full.Load() {
		return syscall.ENOSPC
	}
	return f.folder.drained(list)
}

// A drain that cannot be kept is refused. By force it stands and says what a restart does; after the restart the status
// names what was forgotten, until somebody orders anew.
func TestDrainThatCannotBeKept(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	r := newRunning(t, Config{Engine: Names{"updn"}, State: stateDir(t)})
	r.open = func(dir string) (folder, error) {
		f, err := openState(dir)
		return forgetful{f, &full}, err
	}
	r.dir = r.socketDir()
	r.config.Socket = filepath.Join(r.dir, "s")
	r.run()
	o := openSM(r)
	o.lifetime = time.Millisecond
	f := testnet.Build(t, "xgft:m=4x4,w=2x4,hosts=2")
	o.settles(f)
	name := func(c fabric.ChannelID) string {
		return f.Label(f.Channel(c).From) + ":" + string('0'+rune(f.Channel(c).FromPort))
	}
	first, second := name(0), name(f.Channel(0).Reverse+2)
	if said := o.orders(Order{Do: DrainOrder, Parts: []string{first}}); said.Refused != "" {
		t.Fatal(said.Refused)
	}
	full.Store(true)
	order := Order{Do: DrainOrder, Parts: []string{second}}
	if said := o.orders(order); !strings.Contains(said.Refused, "a restart of the daemon would forget the order") || !strings.Contains(said.Refused, "no space left") || said.Kept != "" || len(r.Status().Drained) != 1 {
		t.Errorf("%+v, %+v", said, r.Status().Drained)
	}
	order.Force = true
	if said := o.orders(order); said.Refused != "" || !strings.Contains(said.Kept, "no space left") || len(r.Status().Drained) != 2 {
		t.Errorf("%+v, %+v", said, r.Status().Drained)
	}
	r.end()
	full.Store(false)
	again := func() {
		open := r.open
		r = newRunning(t, r.config)
		r.open = open
		r.dir = filepath.Dir(r.config.Socket)
		r.run()
		o.running = r
	}
	again()
	s := o.until(func(s result.Status) bool { return !s.Start })
	if len(s.Drained) != 1 || len(s.Forgotten) != 1 || s.Forgotten[0].By == "" || !isCalled(&s.Forgotten[0], second) || !strings.Contains(o.log.String(), "a restart forgot what was drained") {
		t.Fatalf("drained %+v, forgotten %+v\n%s", s.Drained, s.Forgotten, o.log)
	}
	r.end()
	again()
	if s := o.until(func(s result.Status) bool { return !s.Start }); len(s.Forgotten) != 1 || s.Forgotten[0].By == "" || strings.Contains(o.log.String(), "a restart forgot what was drained") {
		t.Errorf("after one more restart: %+v\n%s", s.Forgotten, o.log)
	}
	if said := o.orders(Order{Do: UndrainOrder, Parts: []string{second}}); said.Refused != "" || len(said.Parts) != 1 || len(r.Status().Forgotten) != 0 || len(r.Status().Drained) != 1 {
		t.Errorf("%+v", said)
	}
	r.end()
	again()
	if s := o.until(func(s result.Status) bool { return !s.Start }); len(s.Forgotten) != 0 || len(s.Drained) != 1 {
		t.Errorf("somebody has undrained it: %+v", s.Forgotten)
	}
	o.settles(f)
	if said := o.orders(Order{Do: DrainOrder, Parts: []string{second, second}}); said.Refused != "" || said.Kept != "" || len(said.Before) != 0 {
		t.Errorf("%+v", said)
	}
	if said := o.orders(Order{Do: DrainOrder, Parts: []string{second}}); len(said.Before) != 1 || said.Before[0].By == "" {
		t.Errorf("drained twice: %+v", said)
	}
	for _, host := range []string{f.Label(f.Endpoint(fabric.EndpointID(f.Switches())).Node), f.Label(f.Endpoint(fabric.EndpointID(f.Switches())).Node) + ":1"} {
		if said := o.orders(Order{Do: DrainOrder, Parts: []string{host}}); !strings.Contains(said.Refused, "host") || !strings.Contains(said.Refused, "have the scheduler drain") {
			t.Errorf("%s: %q", host, said.Refused)
		}
	}
}
