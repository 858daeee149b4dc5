package conformance

import (
	"context"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// mixed is the dependencies of every mixture of some tables, walked packet by packet
// through every choice at every switch.
type mixed struct {
	edges   map[edge]bool
	used    map[lane]bool
	exposed int64 // pairs that the last tables deliver and some walk does not
	pairs   int64
	cut     []int64
	circles map[fabric.LID]bool
}

// at is a packet at a switch: where it entered, and what it holds.
type at struct {
	plug
	hold lane
}

var nothing = lane{trunk: -1}

// mix is the twin of deadlock.VerifyMixture.
func mix(tables []*routing.Tables, contract routing.Contract, scope routing.Scope) *mixed {
	f := tables[0].Fabric
	n := newNetwork(f)
	r := &mixed{edges: map[edge]bool{}, used: map[lane]bool{}, circles: map[fabric.LID]bool{}, cut: make([]int64, len(tables))}
	for to, dest := range f.Endpoints() {
		if !inScope(scope, dest) {
			continue
		}
		for lid := dest.LID; lid < dest.LID+1<<dest.LMC; lid++ {
			for from, src := range f.Endpoints() {
				if from == to || !inScope(scope, src) {
					continue
				}
				levels := map[uint8]bool{}
				addressed := contract != routing.Honored && contract != routing.Directed
				for _, t := range tables {
					addressed = addressed || t.Lanes.SL(fabric.EndpointID(from), lid) != routing.NoSL
				}
				if !addressed {
					continue
				}
				for _, t := range tables {
					for _, sl := range allowed(t, contract, fabric.EndpointID(from), lid) {
						levels[sl] = true
					}
					if contract == routing.Honored { // the answer needs no SL of these tables' own
						for sl := range uint8(16) {
							levels[sl] = levels[sl] || answersOn(t, sl, fabric.EndpointID(from), lid)
						}
					}
				}
				r.pairs++
				last := false
				for i, t := range tables {
					_, fate := n.walk(t.Forwarding, entry(f, src), lid, nil)
					if last = fate == arrives; !last {
						r.cut[i]++
					}
				}
				for sl, ok := range levels {
					if ok {
						r.followAll(n, tables, at{entry(f, src), nothing}, lid, sl, map[at]bool{})
					}
				}
				lost := r.strays(n, tables, src.Switch, lid, map[fabric.NodeID]bool{})
				if lost && last {
					r.exposed++
				}
			}
		}
	}
	return r
}

// followAll follows a packet by every choice.
func (r *mixed) followAll(n *network, tables []*routing.Tables, p at, lid fabric.LID, sl uint8, seen map[at]bool) {
	if seen[p] {
		return
	}
	seen[p] = true
	dest := n.f.Endpoints()[n.f.Owner(lid)]
	for _, t := range tables {
		port := t.Forwarding.Port(p.node, lid)
		c, cabled := n.at(plug{p.node, port})
		if port == routing.NoPort || port == 0 || !cabled || p.node == dest.Switch && port == delivery(n.f, dest) || !n.isTrunk(c) {
			continue
		}
		for _, u := range tables {
			next := lane{c, int32(u.Lanes.SL2VL.VL(p.node, p.port, port, column(u, p.node, sl, p.hold)))}
			if next.vl == 15 {
				continue
			}
			r.used[next] = true
			if p.hold != nothing {
				r.edges[edge{p.hold, next}] = true
			}
			ch := n.f.Channels()[c]
			r.followAll(n, tables, at{plug{ch.To, ch.ToPort}, next}, lid, sl, seen)
		}
	}
}

// column is where an SL2VL map is looked up for a packet on a service level that holds a lane.
func column(t *routing.Tables, s fabric.NodeID, sl uint8, hold lane) uint8 {
	switch {
	case !t.Lanes.SL2VL.ByLane(s, sl):
		return sl
	case hold == nothing: // its adapter sent it
		return sl % 15
	}
	return uint8(hold.vl)
}

// strays reports whether a packet may get lost or circle, lanes aside; way is where it
// was before.
func (r *mixed) strays(n *network, tables []*routing.Tables, s fabric.NodeID, lid fabric.LID, way map[fabric.NodeID]bool) bool {
	if way[s] {
		r.circles[lid] = true
		return true
	}
	way[s] = true
	defer delete(way, s)
	dest := n.f.Endpoints()[n.f.Owner(lid)]
	lost := false
	for _, t := range tables {
		port := t.Forwarding.Port(s, lid)
		c, cabled := n.at(plug{s, port})
		switch {
		case port != routing.NoPort && s == dest.Switch && port == delivery(n.f, dest):
		case port == routing.NoPort || port == 0 || !cabled || !n.isTrunk(c):
			lost = true
		default:
			lost = r.strays(n, tables, n.f.Channels()[c].To, lid, way) || lost
		}
	}
	return lost
}

func TestMixturesAgreeOnGarbage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := mustBuild(t, recipes(5).Draw(t, "network"))
		tables := []*routing.Tables{garbage(t, f)}
		if rapid.Bool().Draw(t, "two") {
			tables = append(tables, garbage(t, f))
		}
		for _, x := range tables {
			if _, uniform := x.Lanes.SL2VL.Uniform(); !uniform && rapid.Bool().Draw(t, "lanes by lanes") {
				rng := chance(t, "switches")
				for s := range fabric.NodeID(f.Switches()) {
					x.Lanes.SL2VL.SetByLane(s, uint16(rng.Uint32())>>rng.IntN(16))
				}
			}
		}
		contract := rapid.SampledFrom(contracts).Draw(t, "contract")
		scope := rapid.SampledFrom(scopes).Draw(t, "scope")
		v, err := deadlock.VerifyMixture(context.Background(), tables, deadlock.Options{Contract: contract, Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		want := mix(tables, contract, scope)
		twin := &findings{edges: want.edges, used: want.used}
		for l := range want.used {
			twin.laneMask |= 1 << l.vl
		}
		cut := true
		for i := range tables {
			cut = cut && v.Cut[i] == want.cut[i]
		}
		if v.Pairs != want.pairs || !cut || v.Exposed != want.exposed || v.Circles != int64(len(want.circles)) ||
			v.Dependencies != len(want.edges) || v.VLs != twin.vls() || v.Free() != twin.free() {
			t.Fatalf("%+v\nwant %d pairs, cut %v, exposed %d, circles %d, %d edges, %d lanes, loop %v", v, want.pairs, want.cut, want.exposed, len(want.circles), len(want.edges), twin.vls(), !twin.free())
		}
		if !v.Free() {
			checkMixtureCycle(t, tables, v, twin)
		} else if _, err := deadlock.CheckMixture(context.Background(), tables, v.Certificate, nil); err != nil {
			t.Fatal(err)
		}
	})
}

// checkMixtureCycle follows the way of every step by the choices that it names.
func checkMixtureCycle(t *rapid.T, tables []*routing.Tables, v *deadlock.MixtureVerdict, twin *findings) {
	f := tables[0].Fabric
	if len(v.Cycle) != twin.shortestCycle() {
		t.Fatalf("a cycle of %d steps, a shortest has %d", len(v.Cycle), twin.shortestCycle())
	}
	for i, step := range v.Cycle {
		next := v.Cycle[(i+1)%len(v.Cycle)]
		where := entry(f, f.Endpoints()[step.Src])
		var way []lane
		for _, c := range step.Way {
			port := tables[c.Entry].Forwarding.Port(c.Switch, step.Dst)
			if c.Switch != where.node {
				t.Fatalf("step %d: at switch %d, not %d", i, where.node, c.Switch)
			}
			ch := f.Out(c.Switch, port)
			hold := nothing
			if len(way) > 0 {
				hold = way[len(way)-1]
			}
			way = append(way, lane{ch, int32(tables[c.Map].Lanes.SL2VL.VL(c.Switch, where.port, port, column(tables[c.Map], c.Switch, step.SL, hold)))})
			where = plug{f.Channel(ch).To, f.Channel(ch).ToPort}
		}
		if len(way) < 2 || way[len(way)-2] != (lane{step.Trunk, int32(step.VL)}) || way[len(way)-1] != (lane{next.Trunk, int32(next.VL)}) {
			t.Fatalf("step %d: %+v ends in %v", i, step, way)
		}
		levels := false
		for _, x := range tables {
			for _, sl := range allowed(x, v.Contract, step.Src, step.Dst) {
				levels = levels || sl == step.SL
			}
			levels = levels || v.Contract == routing.Honored && answersOn(x, step.SL, step.Src, step.Dst)
		}
		if !levels {
			t.Fatalf("step %d: SL %d is nobody's", i, step.SL)
		}
	}
}

// Whatever a network meets while its switches are written in any order, it holds no
// dependency that the mixture has not; and tables alone are a mixture of one.
func TestEveryInterleavingIsInTheMixture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := mustBuild(t, recipes(5).Draw(t, "network"))
		a, b := garbage(t, f), garbage(t, f)
		contract := rapid.SampledFrom(contracts).Draw(t, "contract")
		all := mix([]*routing.Tables{a, b}, contract, routing.HCA).edges
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1))
		fw := routing.NewForwarding(f)
		for lid := range f.TopLID() + 1 {
			for s := range fabric.NodeID(f.Switches()) {
				from := a
				if rng.IntN(2) == 0 {
					from = b
				}
				fw.Row(lid)[s] = from.Forwarding.Port(s, lid)
			}
		}
		snapshot := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: a.Lanes}
		for e := range judge(snapshot, contract, routing.HCA).edges {
			if !all[e] {
				t.Fatalf("a snapshot has %v, the mixture has not", e)
			}
		}
	})
}
