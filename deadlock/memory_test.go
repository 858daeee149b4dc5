package deadlock_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// What the judge says by what it keeps of the tables before is what it says of the tables alone, and of a
// mixture of both, after one random change after another: cables, switches and hosts that come and go, entries, service
// levels and trees of multicast that are others.
func TestMemory(t *testing.T) {
	changes := 25
	if os.Getenv("WEFT_THOROUGH") != "" {
		changes = 500
	}
	specs := []string{"xgft:m=4x4,w=4x4,hosts=3", "dragonfly:p=2", "torus:4x4,hosts=2", "random:switches=14,links=36,hosts=2,seed=3", "xgft:m=4x5,w=3x2,hosts=5"}
	all, few := 0, 0
	for n, spec := range testnet.First(specs, 2) {
		for _, engine := range []string{"sssp", "dfsssp", "weave-any", "updn"} {
			t.Run(spec+"/"+engine, func(t *testing.T) {
				w := walk{rng: rand.New(rand.NewPCG(uint64(n), 7)), whole: testnet.Build(t, spec)}
				w.made = routed.Of(t, w.whole, engine, routing.Budget{VLs: 4})
				w.tables, w.engine = w.made, engine
				for range changes {
					w.change(t)
					all++
					few += w.judged(t)
				}
			})
		}
	}
	t.Logf("%d changes, after %d of which less than half of the destinations were looked at", all, few)
	if few*3 < all*2 {
		t.Errorf("after %d of %d changes only were few destinations looked at", few, all)
	}
}

// The switch of a destination may have an entry that leads on, to where packets are dropped. What they held there
// is forgotten when the entry is mended.
func TestMemoryOfWrongDelivery(t *testing.T) {
	good := routed.By(t, "xgft:m=4x4,w=4x4,hosts=3", "sssp")
	f := good.Fabric
	e := f.Endpoint(routing.HCA.Endpoints(f)[0])
	_, end := f.TrunksFrom(e.Switch)
	up := f.Channel(end - 1)
	wrong, dropping := *good, *good
	wrong.Forwarding = good.Forwarding.Clone()
	wrong.Forwarding.Row(e.LID)[up.To] = routing.NoPort
	dropping.Forwarding = wrong.Forwarding.Clone()
	wrong.Forwarding.Row(e.LID)[e.Switch] = up.FromPort
	w := walk{before: &wrong, tables: &wrong, what: "led on"}
	w.judged(t)
	w.tables, w.what = &dropping, "mended"
	w.judged(t)
}

// A port may lead to another switch, by the same entries as before: who waits there then waits for another trunk.
func TestMemoryOfReplugged(t *testing.T) {
	plugged := func(to int) *fabric.Fabric { // port 3 of switch 1 leads to another switch
		var b fabric.Builder
		var sw [4]fabric.Ref
		for i := range sw {
			sw[i] = b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 16}, "")
		}
		b.Cable(sw[0], 1, sw[1], 1, fabric.Rate{})
		b.Cable(sw[1], 2, sw[3], 2, fabric.Rate{})
		b.Cable(sw[1], 3, sw[to], 3, fabric.Rate{})
		b.Cable(sw[2], 1, sw[3], 1, fabric.Rate{})
		for i := range 12 { // ten on switch 0, two on switch 2
			h := b.Node(fabric.Node{GUID: fabric.GUID(100 + i), Kind: fabric.Adapter, Ports: 1}, "")
			b.Port(h, 1, fabric.Port{LID: fabric.LID(10 + i)})
			b.Cable(h, 1, sw[i/10*2], uint8(4+i), fabric.Rate{})
		}
		f, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := plugged(2)
	tables := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: routing.OneSL(f, routing.LanePerSL(1))}
	for lid, owner := range routing.HCA.LIDs(f) {
		e := f.Endpoint(owner)
		copy(tables.Forwarding.Row(lid), [][]uint8{{0, 1, 1, 2}, {}, {1, 3, 0, 1}}[e.Switch])
		tables.Forwarding.Row(lid)[e.Switch] = f.LastPort(e)
	}
	w := walk{before: tables, tables: tables, what: "as planned"}
	w.judged(t)
	w.what = "plugged elsewhere"
	w.on(t, plugged(3))
	if w.judged(t) == 0 {
		t.Error("all was looked at again")
	}
}

// A host may be alone on its switch until others come there, which may not send to it.
func TestMemoryOfNeighbours(t *testing.T) {
	made := routed.By(t, "xgft:m=4x4,w=4x4,hosts=3", "sssp")
	f := made.Fabric
	first := routing.HCA.Endpoints(f)[0]
	alone := f.Endpoint(first)
	var others []fabric.ChannelID
	for _, e := range f.Attached(alone.Switch) {
		if c := f.Endpoint(e).Deliver; c != alone.Deliver && c != fabric.None {
			others = append(others, c)
		}
	}
	whole := *made
	whole.Lanes = routing.NewLanes(f, routing.LanePerSL(1))
	whole.Lanes.SLRow(alone.LID)[whole.Lanes.Row[first]] = routing.NoSL
	less, err := f.Without(others, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := walk{tables: &whole, what: "alone"}
	w.on(t, less)
	w.before = w.tables
	w.judged(t)
	w.before, w.tables, w.what = &whole, &whole, "others came"
	if w.judged(t) == 0 {
		t.Error("all was looked at again")
	}
}

// Neighbours on a switch may answer one another on other service levels than before, though on all those on which both may be
// answered together nothing changed.
func TestMemoryOfAnswersBesideOneAnother(t *testing.T) {
	var b fabric.Builder
	s := b.Node(fabric.Node{GUID: 1, Ports: 4}, "")
	for i := range 3 {
		h := b.Node(fabric.Node{GUID: fabric.GUID(10 + i), Kind: fabric.Adapter, Ports: 1}, "")
		b.Port(h, 1, fabric.Port{LID: fabric.LID(2 + 2*i), LMC: 1})
		b.Cable(h, 1, s, uint8(1+i), fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	maps := routing.LanePerSL(2).PerPort(f)
	for in := range uint8(4) {
		maps.Set(0, in, 1, 1, 15) // service level 1 is dropped on the cable to the first host
	}
	fw := routing.NewForwarding(f)
	for lid, e := range f.LIDs() {
		fw.Row(lid)[0] = f.LastPort(f.Endpoint(e))
	}
	levels := func(lid fabric.LID) *routing.Tables { // on service level 1 goes what is for one LID
		l := routing.NewLanes(f, maps)
		l.SLRow(lid)[0] = 1
		return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}
	}
	var memory deadlock.Memory
	before := levels(3)
	for _, lid := range []fabric.LID{3, 4, 3} {
		tables := levels(lid)
		mixed := []*routing.Tables{before, tables}
		before = tables
		compare(t, "mixture", func(o deadlock.Options) (any, error) { return deadlock.VerifyMixture(t.Context(), mixed, o) }, deadlock.Options{}, deadlock.Options{Memory: &memory})
		compare(t, "alone", func(o deadlock.Options) (any, error) { return deadlock.Verify(t.Context(), tables, o) }, deadlock.Options{}, deadlock.Options{Memory: &memory})
	}
}

// walk is tables that change again and again.
type walk struct {
	rng    *rand.Rand
	whole  *fabric.Fabric
	made   *routing.Tables // of the whole network
	engine string
	tables *routing.Tables
	before *routing.Tables
	what   string
	memory deadlock.Memory
}

// change changes the tables at hand.
func (w *walk) change(t *testing.T) {
	t.Helper()
	w.before = w.tables
	f := w.tables.Fabric
	next := *w.tables
	switch kind := w.rng.IntN(12); kind {
	case 0, 1: // a cable or two are gone
		w.what = "cables"
		w.on(t, w.without(t, f, 1+w.rng.IntN(2), false))
		return
	case 2: // and other tables are there at once
		w.what = "cables, routed anew"
		less := w.without(t, f, 1, false)
		w.tables = w.routed(t, less)
		return
	case 3:
		w.what = "all is back"
		w.on(t, w.whole)
		return
	case 4:
		w.what = "a host or a switch"
		w.on(t, w.without(t, f, 1, true))
		return
	case 5:
		w.what = "the tables of the beginning"
		w.tables = w.made
		return
	case 6:
		w.what = "service levels"
		l := routing.NewLanesByRow(f, next.Lanes.SL2VL, next.Lanes.Row, next.Lanes.Rows)
		for lid := range f.LIDs() {
			copy(l.SLRow(lid), next.Lanes.SLRow(lid))
		}
		for range 1 + w.rng.IntN(3) {
			row := l.SLRow(w.lid(f))
			row[w.rng.IntN(len(row))] = []uint8{0, 1, 2, routing.NoSL}[w.rng.IntN(4)]
		}
		next.Lanes = l
	case 11:
		w.what = "cables exchanged"
		w.on(t, w.exchanged(t, f))
		return
	case 10:
		w.what = "a tree of multicast"
		next.Multicast = w.tree(f)
	default:
		w.what = "entries"
		next.Forwarding = next.Forwarding.Clone()
		for range 1 + w.rng.IntN(4) {
			row := next.Forwarding.Row(w.lid(f))
			s := w.rng.IntN(len(row))
			if kind < 9 { // to a switch that is as near or nearer, mostly
				if c := f.Trunk(fabric.NodeID(s), w.made.Forwarding.Row(w.lid(w.whole))[min(s, w.whole.Switches()-1)]); c != fabric.None {
					row[s] = f.Channel(c).FromPort
				}
				continue
			}
			row[s] = uint8(w.rng.IntN(2 + f.Node(fabric.NodeID(s)).Ports))
		}
	}
	w.tables = &next
}

// tree is some tree of multicast, or now and then none.
func (w *walk) tree(f *fabric.Fabric) *routing.Multicast {
	if w.rng.IntN(3) == 0 {
		return nil
	}
	at := fabric.NodeID(w.rng.IntN(f.Switches()))
	ports, in, list := make([]routing.PortSet, f.Switches()), map[fabric.NodeID]bool{at: true}, []fabric.NodeID{at}
	for i := 0; i < len(list); i++ {
		first, end := f.TrunksFrom(list[i])
		for c := first; c < end; c++ {
			if ch := f.Channel(c); !in[ch.To] {
				in[ch.To], list = true, append(list, ch.To)
				ports[ch.From].Add(ch.FromPort)
				ports[ch.To].Add(ch.ToPort)
			}
		}
	}
	tree := routing.MulticastTree{MLID: routing.FirstMLID}
	for s, set := range ports {
		if set.Len() > 0 {
			tree.Nodes = append(tree.Nodes, routing.TreeNode{Switch: fabric.NodeID(s), Ports: set})
		}
	}
	return &routing.Multicast{SLs: 1 << w.rng.IntN(2), Trees: []routing.MulticastTree{tree}}
}

func (w *walk) lid(f *fabric.Fabric) fabric.LID {
	var all []fabric.LID
	for lid := range f.LIDs() {
		all = append(all, lid)
	}
	return all[w.rng.IntN(len(all))]
}

// without is a network without some cables, those of hosts and whole switches among them if asked for.
func (w *walk) without(t *testing.T, f *fabric.Fabric, n int, others bool) *fabric.Fabric {
	t.Helper()
	var cables []fabric.ChannelID
	var nodes []fabric.NodeID
	for range n {
		switch {
		case !others:
			cables = append(cables, fabric.ChannelID(w.rng.IntN(max(1, f.Trunks()))))
		case w.rng.IntN(4) == 0 && f.Switches() > 4:
			nodes = append(nodes, fabric.NodeID(w.rng.IntN(f.Switches())))
		default:
			cables = append(cables, fabric.ChannelID(w.rng.IntN(len(f.Channels()))))
		}
	}
	less, err := f.Without(cables, nodes)
	if err != nil {
		return f
	}
	return less
}

// exchanged is a network in which two cables between switches have exchanged an end.
func (w *walk) exchanged(t *testing.T, f *fabric.Fabric) *fabric.Fabric {
	t.Helper()
	if f.Trunks() == 0 {
		return f
	}
	var b fabric.Builder
	refs := make([]fabric.Ref, len(f.Nodes()))
	for i, n := range f.Nodes() {
		refs[i] = b.Node(n, "")
	}
	for _, e := range f.Endpoints() {
		b.Port(refs[e.Node], e.Port, fabric.Port{LID: e.LID, LMC: e.LMC})
	}
	var two [2]fabric.ChannelID
	for i := range two {
		c := fabric.ChannelID(w.rng.IntN(f.Trunks()))
		two[i] = min(c, f.Channel(c).Reverse)
	}
	for i, c := range f.Channels() {
		switch {
		case c.Reverse < fabric.ChannelID(i):
			continue
		case two[0] == fabric.ChannelID(i):
			other := f.Channel(two[1])
			c.To, c.ToPort = other.To, other.ToPort
		case two[1] == fabric.ChannelID(i):
			other := f.Channel(two[0])
			c.To, c.ToPort = other.To, other.ToPort
		}
		b.Cable(refs[c.From], c.FromPort, refs[c.To], c.ToPort, c.Rate)
	}
	now, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// on lets the tables act on another network.
func (w *walk) on(t *testing.T, f *fabric.Fabric) {
	t.Helper()
	on, err := transition.On(f, w.tables, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.tables = on
}

func (w *walk) routed(t *testing.T, f *fabric.Fabric) *routing.Tables {
	t.Helper()
	return routed.Of(t, f, "updn", routing.Budget{VLs: 4})
}

// judged compares verdicts with and without memory, and is 1 where less than half of the destinations were looked at.
func (w *walk) judged(t *testing.T) int {
	t.Helper()
	o := deadlock.Options{Lost: -1}
	with := o
	with.Memory = &w.memory
	on, err := transition.On(w.tables.Fabric, w.before, w.tables)
	if err != nil {
		t.Fatal(err)
	}
	mixed := []*routing.Tables{on, w.tables}
	compare(t, w.what+": mixture", func(o deadlock.Options) (any, error) { return deadlock.VerifyMixture(t.Context(), mixed, o) }, o, with)
	compare(t, w.what, func(o deadlock.Options) (any, error) { return deadlock.Verify(t.Context(), w.tables, o) }, o, with)
	var fresh deadlock.Memory
	with.Memory = &fresh
	if _, err := deadlock.Verify(t.Context(), w.tables, with); err != nil {
		t.Fatal(err)
	}
	if d := w.memory.Differs(&fresh); d != "" {
		t.Fatalf("%s: what is kept differs in %s from what is found from scratch", w.what, d)
	}
	lids := 0
	for range o.Scope.LIDs(w.tables.Fabric) {
		lids++
	}
	if w.memory.Followed()*2 < lids {
		return 1
	}
	return 0
}

func compare(t *testing.T, what string, judge func(deadlock.Options) (any, error), o, with deadlock.Options) {
	t.Helper()
	want, err := judge(o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := judge(with)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: %s\nfrom scratch %s", what, shown(got), shown(want))
	}
}

func shown(v any) string { return fmt.Sprintf("%.3000s", fmt.Sprintf("%+v", v)) }
