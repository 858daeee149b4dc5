package packets

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// twin is the dumb simulator: it walks through time step by step, and moves every
// flit of every packet by itself. It knows tables, lanes that take turns, input
// buffers, both ways of switching and the speed-up.
type twin struct {
	n       *Network
	now     Time
	queue   [][]*twinPacket // [buffer] the front one may be on its way out
	sends   []twinSend      // [port]
	wait    [][]int32       // [buffer] queues that want into it, in the order they asked
	turn    []int           // [port] lane that sent last
	room    []int           // [buffer] blocks that the sender may use
	later   map[Time][]func()
	packets int // there were to send
	got     []delivery
	t       *rapid.T
}

type twinPacket struct {
	Message
	blocks  int
	sl      uint8
	waits   bool
	heads   Time  // when its head may go on
	arrived int   // flits that may go on
	lane    uint8 // on its way out of the source
}

// twinSend is what a port is doing.
type twinSend struct {
	packet *twinPacket
	from   int32
	left   int
}

type delivery struct {
	Src, Dst, Blocks int
	Created, At      Time
}

func newTwin(t *rapid.T, n *Network) *twin {
	w := &twin{n: n, later: map[Time][]func(){}, t: t}
	w.sends, w.turn = make([]twinSend, len(n.links)), make([]int, len(n.links))
	buffers := len(n.links) << n.shift
	w.queue, w.wait, w.room = make([][]*twinPacket, buffers), make([][]int32, buffers), make([]int, buffers)
	for i := range w.turn {
		w.turn[i] = n.lanes - 1
	}
	for b := range w.room {
		w.room[b] = n.Config.Buffer / Block
	}
	return w
}

func (w *twin) at(t Time, do func()) { w.later[t] = append(w.later[t], do) }

// step is one picosecond.
func (w *twin) step() {
	for _, do := range w.later[w.now] {
		do()
	}
	delete(w.later, w.now)
	for q := range w.queue {
		w.ask(int32(q))
	}
	for o := range w.sends {
		w.grant(int32(o))
	}
	for o := range w.sends {
		w.flit(int32(o))
	}
	w.now++
}

// ask lets a queue's front packet ask once.
func (w *twin) ask(q int32) {
	if len(w.queue[q]) == 0 || w.queue[q][0].waits || w.queue[q][0].heads > w.now || w.leaving(q) {
		return
	}
	p := w.queue[q][0]
	into := w.wayOn(q, p)
	p.waits = true
	w.wait[into] = append(w.wait[into], q)
}

func (w *twin) leaving(q int32) bool {
	return slices.ContainsFunc(w.sends, func(s twinSend) bool { return s.packet != nil && s.from == q })
}

func (w *twin) wayOn(q int32, p *twinPacket) int32 {
	f, in := w.n.Fabric, q>>w.n.shift
	if in >= w.n.ports {
		return int32(f.Endpoint(fabric.EndpointID(in-w.n.ports)).Inject)<<w.n.shift | int32(p.lane)
	}
	ch := f.Channel(fabric.ChannelID(in))
	port := w.n.tables.Forwarding.Port(ch.To, f.Endpoint(p.To).LID)
	column := p.sl
	if w.n.tables.Lanes.SL2VL.ByLane(ch.To, p.sl) {
		column = uint8(q & (1<<w.n.shift - 1))
	}
	lane := w.n.tables.Lanes.SL2VL.VL(ch.To, ch.ToPort, port, column)
	return int32(f.Out(ch.To, port))<<w.n.shift | int32(lane)
}

// grant lets a port begin with another packet.
func (w *twin) grant(o int32) {
	if w.sends[o].packet != nil {
		return
	}
	for k := range w.n.lanes {
		lane := (w.turn[o] + 1 + k) % w.n.lanes
		into := o<<w.n.shift | int32(lane)
		for i, q := range w.wait[into] {
			p := w.queue[q][0]
			if w.room[into] < p.blocks {
				break
			}
			reading := 0
			for _, s := range w.sends {
				if s.packet != nil && s.from>>w.n.shift == q>>w.n.shift {
					reading++
				}
			}
			if reading >= max(1, w.n.Config.Speedup) {
				continue
			}
			w.wait[into] = slices.Delete(w.wait[into], i, i+1)
			w.begin(o, into, q, p, lane)
			return
		}
	}
}

func (w *twin) begin(o, into, q int32, p *twinPacket, lane int) {
	w.turn[o] = lane
	w.room[into] -= p.blocks
	w.queue[q] = w.queue[q][1:]
	w.sends[o] = twinSend{p, q, p.blocks}
	if q>>w.n.shift < w.n.ports {
		if have := w.arrivedBy(p); have < 1 {
			w.t.Fatalf("a packet begins with %d flits there", have)
		}
	}
	next := *p
	next.waits, next.arrived = false, 0
	l, k := w.n.links[o], w.n.kindAt(o)
	next.heads = w.now + k.latency
	if w.n.Config.StoreWhole && l.to >= 0 {
		next.heads += Time(p.blocks)
	}
	w.at(w.now+k.latency, func() { w.comes(o, into, &next) })
	w.sends[o].packet = &next
}

// arrivedBy is the flits of a packet that may go on by now.
func (w *twin) arrivedBy(p *twinPacket) int { return min(p.blocks, int(w.now-p.heads)+1) }

// comes puts a packet whose head is there into its buffer.
func (w *twin) comes(o, into int32, p *twinPacket) {
	if w.n.links[o].to < 0 {
		end := w.now + Time(p.blocks)
		w.at(end, func() {
			w.got = append(w.got, delivery{int(p.From), int(p.To), p.blocks, p.At, end})
			w.at(end+w.n.kindAt(o).credit, func() { w.room[into] += p.blocks })
		})
		return
	}
	w.queue[into] = append(w.queue[into], p)
}

// flit moves one flit.
func (w *twin) flit(o int32) {
	s := &w.sends[o]
	if s.packet == nil || s.left == 0 {
		return
	}
	s.left--
	if s.left > 0 {
		return
	}
	blocks, from := s.packet.blocks, s.from
	w.at(w.now+1+w.n.Config.Gap, func() { w.sends[o] = twinSend{} })
	if in := from >> w.n.shift; in < w.n.ports {
		w.at(w.now+1+w.n.kindAt(in).credit, func() { w.room[from] += blocks })
	}
}

// play sends messages and returns what arrived, until nothing more does.
func (w *twin) play(messages []Message, limit Time) []delivery {
	for _, m := range messages {
		for left := m.Bytes; left > 0; left -= int64(w.n.Config.MTU) {
			p := &twinPacket{Message: m, blocks: blocksOf(int(min(left, int64(w.n.Config.MTU))))}
			p.sl = w.n.tables.Lanes.SL(m.From, w.n.Fabric.Endpoint(m.To).LID)
			w.packets++
			p.lane = p.sl % uint8(w.n.lanes)
			if lane, ok := w.n.tables.Lanes.SL2VL.Uniform(); ok {
				p.lane = lane[p.sl]
			} else if w.n.tables.Lanes.SL2VL.AnyByLane() {
				p.lane = p.sl % routing.MaxDataVLs
			}
			q := w.n.source(m.From)<<w.n.shift | int32(p.lane)
			w.at(m.At, func() { w.queue[q] = append(w.queue[q], p) })
		}
	}
	for w.now < limit {
		w.step()
	}
	return w.got
}

func sortDeliveries(list []delivery) {
	slices.SortFunc(list, func(a, b delivery) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Src, b.Src), cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Blocks, b.Blocks))
	})
}

// The networks and engines of the random tests.
var (
	smallNetworks = []string{"ring:5", "ring:4,hosts=2", "torus:3x3", "mesh:2x3,hosts=2", "karytree:k=2,n=2", "random:switches=6,links=9,hosts=2,seed=3"}
	smallEngines  = []string{"minhop", "updn", "lash", "dfsssp", "df-dn", "nue", "sssp"}
)

// routed is a network with tables.
func routed(t testnet.TB, spec, engine string, vls int, c Config) *Network {
	t.Helper()
	n, err := New(tablesOf(t, testnet.Build(t, spec), engine, vls), c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func tablesOf(t testnet.TB, f *fabric.Fabric, engine string, vls int) *routing.Tables {
	t.Helper()
	e, err := engines.Named(engine)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := e.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: vls, Scope: routing.Adapters}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// unit is the preset unit with packets and buffers of so many flits.
func unit(flits, buffer int) Config {
	c, err := PresetNamed("unit")
	if err != nil {
		panic(err)
	}
	c.MTU, c.Buffer = flits*Block, buffer*Block
	return c
}

// The simulator and its twin deliver the same packets at the same times, deadlock
// or not.
func TestTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := unit(rapid.IntRange(1, 5).Draw(t, "flits"), 0)
		c.Buffer = c.MTU * rapid.IntRange(1, 3).Draw(t, "packets")
		c.Forward, c.Cable, c.Credit = Time(rapid.IntRange(0, 3).Draw(t, "forward")), Time(rapid.IntRange(1, 3).Draw(t, "cable")), Time(rapid.IntRange(0, 2).Draw(t, "credit"))
		c.Gap = Time(rapid.IntRange(0, 2).Draw(t, "gap"))
		c.Speedup, c.StoreWhole = rapid.IntRange(1, 2).Draw(t, "speedup"), rapid.Bool().Draw(t, "store")
		n := routed(t, rapid.SampledFrom(smallNetworks).Draw(t, "network"), rapid.SampledFrom(smallEngines).Draw(t, "engine"), 8, c)
		if rapid.IntRange(0, 3).Draw(t, "lanes by lanes") == 0 {
			n = randomByLane(t, n)
		}
		messages := randomMessages(t, n)
		const limit = 3000
		w := newTwin(t, n)
		want := w.play(messages, limit)
		got, found := playAll(t, n, messages, limit)
		if found != nil {
			// The run ends there. The twin goes on, and must never get rid of what is stuck.
			left := 0
			for q := range w.queue[:int(n.ports)<<n.shift] {
				left += len(w.queue[q])
			}
			if left < found.Packets {
				t.Fatalf("%d packets are said to be stuck for ever; the twin has %d left", found.Packets, left)
			}
			// Of what arrives in the instant in which it ends, a part may be left.
			late := func(d delivery) bool { return d.At >= found.Found }
			want, got = slices.DeleteFunc(want, late), slices.DeleteFunc(got, late)
		} else if len(want) != w.packets {
			t.Fatalf("the twin delivers %d of %d packets, and nothing is said to be stuck", len(want), w.packets)
		}
		sortDeliveries(want)
		sortDeliveries(got)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("twin and simulator differ (-twin +simulator):\n%s", diff)
		}
	})
}

// randomByLane is a network whose maps are random, and which looks them up by lanes at some switches.
func randomByLane(t *rapid.T, n *Network) *Network {
	f, tables := n.Fabric, *n.tables
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "maps"), 1))
	maps := routing.LanePerSL(1).PerPort(f)
	for s := range fabric.NodeID(f.Switches()) {
		maps.SetByLane(s, uint16(r.IntN(4)))
		for in := range uint8(f.Node(s).Ports + 1) {
			for out := range uint8(f.Node(s).Ports + 1) {
				for column := range uint8(routing.SLs) {
					maps.Set(s, in, out, column, uint8(r.IntN(3)))
				}
			}
		}
	}
	lanes := *tables.Lanes
	lanes.SL2VL, tables.Lanes = maps, &lanes
	n, err := New(&tables, n.Config)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func randomMessages(t *rapid.T, n *Network) []Message {
	hosts := routing.HCA.Endpoints(n.Fabric)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	count, span := rapid.IntRange(1, 120).Draw(t, "messages"), rapid.IntRange(1, 300).Draw(t, "span")
	var list []Message
	for range count {
		m := Message{At: Time(r.IntN(span)), From: hosts[r.IntN(len(hosts))], To: hosts[r.IntN(len(hosts))], Bytes: int64(1 + r.IntN(3*n.Config.MTU))}
		if m.From != m.To {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b Message) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.At, b.At)) })
	return list
}

// playAll sends messages and returns what arrived before a time, with every
// account checked on the way.
func playAll(t testnet.TB, n *Network, messages []Message, limit Time) ([]delivery, *Deadlock) {
	t.Helper()
	s := newSim(n)
	s.begin(1, 0)
	at := make([][]delivery, len(s.regions)) // at the same time, where there are several
	for i, r := range s.regions {
		r.observe = func(p *packet) {
			if r.wheel.now < limit {
				at[i] = append(at[i], delivery{int(p.src), int(p.dst), int(p.size), p.created, r.wheel.now})
			}
		}
	}
	r, err := s.complete(context.Background(), [][]Message{messages}, limit)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.audit(); err != nil {
		t.Fatal(err)
	}
	if r.Created != r.Arrived+r.Dropped+r.Held+s.counted().atSource {
		t.Fatal("packets went missing", r.Created, r.Arrived, r.Dropped, r.Held)
	}
	return slices.Concat(at...), r.Deadlock
}
