package packetset

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// ring is tables of a ring in which everything goes the same way round.
func ring(t *testing.T, maps func(f *fabric.Fabric) *routing.SL2VL) *routing.Tables {
	t.Helper()
	f := testnet.Build(t, "ring:4,hosts=1")
	tables := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: routing.OneSL(f, maps(f))}
	for lid := range f.LIDs() {
		for s := range fabric.NodeID(f.Switches()) {
			if s != Home(f, lid) {
				tables.Forwarding.Row(lid)[s] = next(f, s)
			}
		}
	}
	return tables
}

// next is the first port of a switch with a trunk.
func next(f *fabric.Fabric, s fabric.NodeID) uint8 {
	first, _ := f.TrunksFrom(s)
	return f.TailPorts()[first]
}

func onLaneZero(*fabric.Fabric) *routing.SL2VL { return routing.UniformSL2VL([routing.SLs]uint8{}) }

// drawn is tables of a network in which every switch has any of its trunks, so that packets circle, too;
// with lanes that differ by turn.
func drawn(t *testing.T, seed uint64) *routing.Tables {
	t.Helper()
	f := testnet.Build(t, "torus:4x4,hosts=2")
	rng := rand.New(rand.NewPCG(seed, 0))
	maps := onLaneZero(f).PerPort(f)
	tables := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f)}
	for s := range fabric.NodeID(f.Switches()) {
		first, end := f.TrunksFrom(s)
		for in := range uint8(f.Node(s).Ports + 1) {
			for out := first; out < end; out++ {
				maps.Set(s, in, f.TailPorts()[out], 0, []uint8{0, 1, 2, routing.MaxDataVLs}[rng.IntN(4)])
			}
		}
		for lid := range f.LIDs() {
			if rng.IntN(8) > 0 {
				tables.Forwarding.Row(lid)[s] = f.TailPorts()[first+fabric.ChannelID(rng.IntN(int(end-first)))]
			}
		}
	}
	tables.Lanes = routing.OneSL(f, maps)
	return tables
}

// caused is what Start and Add of some trunks cause.
func caused(p *Packets, trunks ...fabric.ChannelID) map[acyclic.Dependency]bool {
	all := map[acyclic.Dependency]bool{}
	note := func(in, out fabric.ChannelID) bool {
		all[acyclic.Dependency{In: in, Out: out}] = true
		return true
	}
	p.Start(note)
	for _, c := range trunks {
		p.Add(p.f.Channel(c).From, c, note)
	}
	return all
}

// A lane counts that packets have only if they come by the last port of a switch.
func TestLanes(t *testing.T) {
	const lane = 3
	tables := ring(t, func(f *fabric.Fabric) *routing.SL2VL {
		maps := onLaneZero(f).PerPort(f)
		maps.Set(0, uint8(f.Node(0).Ports), next(f, 0), 0, lane)
		return maps
	})
	if n := NewSources(tables, routing.Honored, routing.Adapters, 0).Lanes; n != lane+1 {
		t.Errorf("%d lanes, want %d", n, lane+1)
	}
}

// Packets of a host are on the lanes of its own service level from its own port, not on those of another
// host on the switch; and a host alone on its switch sends itself nothing.
func TestGroups(t *testing.T) {
	f := testnet.Build(t, "ring:4,hosts=2")
	maps, row := onLaneZero(f).PerPort(f), make([]int32, len(f.Endpoints()))
	for _, s := range levels.Leaves(f) {
		for i, e := range f.Attached(s)[:2] {
			row[e] = int32(i)
			for sl := range uint8(2) {
				maps.Set(s, f.LastPort(f.Endpoint(e)), next(f, s), sl, uint8(2*i)+sl)
			}
		}
	}
	tables := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: routing.NewLanesByRow(f, maps, row, 2)}
	lid := f.Endpoint(routing.HCA.Endpoints(f)[0]).LID
	tables.Lanes.SLRow(lid)[1] = 1
	p := New(NewSources(tables, routing.Directed, routing.Adapters, 0))
	from := (Home(f, lid) + 1) % fabric.NodeID(f.Switches())
	tables.Forwarding.Row(lid)[from] = next(f, from)
	p.Begin(tables.Forwarding.Row(lid), lid)
	p.Start(Any)
	lanes := uint16(0)
	for level := range p.SLs {
		lanes |= p.held[int(p.Entry[from])*len(p.SLs)+level]
	}
	if want := uint16(1<<0 | 1<<3); lanes != want {
		t.Errorf("lanes %04b, want %04b", lanes, want)
	}
	alone := ring(t, onLaneZero)
	e := routing.HCA.Endpoints(alone.Fabric)[0]
	s := NewSources(alone, routing.Honored, routing.HCA, 0)
	if at, lid := alone.Fabric.Endpoint(e).Switch, alone.Fabric.Endpoint(e).LID; s.Send(at, lid) || !s.Send((at+1)%4, lid) {
		t.Error("a host sends to itself, or another does not")
	}
}

// The pairs of a LID are counted once, whatever was counted before.
func TestCountPairs(t *testing.T) {
	tables := ring(t, onLaneZero)
	f := tables.Fabric
	n := NewCounter(NewSources(tables, routing.Honored, routing.Adapters, 0))
	loads := func(lids ...fabric.LID) []int64 {
		load := make([]int64, f.Trunks())
		for _, lid := range lids {
			n.Count(tables.Forwarding.Row(lid), lid, 1, nil, load)
		}
		return load
	}
	hosts := routing.HCA.Endpoints(f)
	one, other := f.Endpoint(hosts[0]).LID, f.Endpoint(hosts[2]).LID
	want := loads(one)
	for c, n := range loads(other) {
		want[c] += n
	}
	if got := loads(one, other); slices.Max(got) == 0 || !slices.Equal(got, want) {
		t.Errorf("one after the other: %v, each alone: %v", got, want)
	}
	home := Home(f, other)
	if n.Pairs(home) != 3 {
		t.Errorf("%d pairs come to their switch, want 3", n.Pairs(home))
	}
	n.Count(make([]uint8, f.Switches()), other, 1, nil, nil)
	for s := range fabric.NodeID(f.Switches()) {
		if want := min(1, int64(max(s-home, home-s))); n.Pairs(s) != want {
			t.Errorf("%d pairs pass switch %d, where no entry leads on, want %d", n.Pairs(s), s, want)
		}
	}
}

// Where all packets are on lane 0, the quick way finds what the general one does, and so does the
// counter, whether packets circle or not.
func TestLaneZero(t *testing.T) {
	circle := 0
	for seed := range uint64(20) {
		tables := drawn(t, seed)
		tables.Lanes = routing.OneSL(tables.Fabric, onLaneZero(tables.Fabric))
		s := NewSources(tables, routing.Honored, routing.Adapters, 0)
		if seed%2 == 1 { // others may use more lanes
			s.Lanes = 2
		}
		quick, counter := New(s), NewCounter(s)
		slow := *s
		slow.laneZero = false
		general, numbers := New(&slow), s.Dependencies()
		for lid := range routing.HCA.LIDs(tables.Fabric) {
			row := tables.Forwarding.Row(lid)
			quick.Begin(row, lid)
			general.Begin(row, lid)
			uses := make([]int32, numbers.Count())
			counter.Count(row, lid, 1, uses, nil)
			want := caused(general)
			if !maps.Equal(caused(quick), want) || !slices.Equal(quick.held, general.held) {
				t.Fatalf("seed %d, LID %d: the quick way finds other dependencies", seed, lid)
			}
			n := 0
			for _, by := range uses {
				n += int(by)
			}
			for d := range want {
				if uses[numbers.Number(d)] != 1 {
					t.Errorf("seed %d, LID %d: %v is counted %d times", seed, lid, d, uses[numbers.Number(d)])
				}
			}
			if n != len(want) {
				t.Errorf("seed %d, LID %d: %d dependencies, %d counted", seed, lid, len(want), n)
			}
			if !counter.trace(row, lid) {
				circle++
			}
		}
	}
	if circle == 0 {
		t.Error("no packets circle: the case tests little")
	}
}

// A trunk that is added causes what it would cause had packets been allowed it from the beginning, and
// all of it can be taken back.
func TestAdd(t *testing.T) {
	more, refused := 0, 0
	for seed := range uint64(40) {
		tables := drawn(t, seed)
		f := tables.Fabric
		rng := rand.New(rand.NewPCG(seed, 1))
		s := NewSources(tables, routing.Honored, routing.Adapters, 0)
		p, q := New(s), New(s)
		lid := f.Endpoint(routing.HCA.Endpoints(f)[rng.IntN(32)]).LID
		row := tables.Forwarding.Row(lid)
		p.Begin(row, lid)
		before := caused(p)
		held, mark := slices.Clone(p.held), p.Mark()
		c := fabric.ChannelID(rng.IntN(f.Trunks()))
		at := f.Channel(c).From
		after := map[acyclic.Dependency]bool{}
		added := p.Add(at, c, func(in, out fabric.ChannelID) bool { after[acyclic.Dependency{In: in, Out: out}] = true; return true })
		q.Begin(row, lid)
		q.Allow(at, c)
		want := caused(q)
		if maps.Copy(after, before); added && (!maps.Equal(after, want) || !slices.Equal(p.held, q.held)) {
			t.Errorf("seed %d: what is added is not what it causes", seed)
		}
		if added && len(want) > len(before) {
			more++
		}
		p.TakeBack(mark)
		if !slices.Equal(p.held, held) || len(p.Added()) > 0 || p.Last(at) != p.Entry[at] {
			t.Errorf("seed %d: something stays", seed)
		}
		if !added {
			refused++ // it drops packets
			continue
		}
		p.Absent = make([]uint16, f.Trunks())
		for c := range p.Absent {
			p.Absent[c] = 1<<s.Lanes - 1
		}
		if came := !slices.Equal(q.held, held); p.Add(at, c, Any) == came {
			t.Errorf("seed %d: packets are brought to lanes that trunks lack: %v", seed, came)
		}
	}
	if more < 5 || refused < 5 {
		t.Errorf("%d trunks add anything, %d are refused: the case tests little", more, refused)
	}
}
