package repair

import (
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/spanning"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// withTree is tables of an engine with a spanning tree for multicast.
func withTree(t *testing.T, spec, engine string, contract routing.Contract, sls uint16) *routing.Tables {
	t.Helper()
	tables := routed.Of(t, testnet.Build(t, spec), engine, routing.Budget{VLs: 8, Contract: contract})
	with := *tables
	var err error
	if with.Multicast, err = spanning.Tree(t.Context(), tables, spanning.Options{Contract: contract, SLs: sls}); err != nil {
		t.Fatal(err)
	}
	return &with
}

const anySL = 1<<routing.SLs - 1

// What treeTurns finds is what one finds who sends a packet from every endpoint and follows every
// copy.
func TestTreeTurns(t *testing.T) {
	for _, tables := range []*routing.Tables{
		withTree(t, "torus:4x4,hosts=1", "weave-any", routing.Any, anySL),
		withTree(t, "torus:4x4,hosts=1", "dfsssp", routing.Honored, 1),
		withTree(t, "dragonfly:p=2", "weave-any", routing.Any, anySL),
		withTree(t, "mesh:3x4,hosts=2", "torus-2qos", routing.Honored, 1),
	} {
		f := tables.Fabric
		lanes := packetset.NewSources(tables, routing.Honored, routing.Adapters, 0).Lanes
		tree := &tables.Multicast.Trees[0]
		want := map[acyclic.Dependency]bool{}
		type packet struct {
			at    fabric.NodeID
			in    uint8
			holds acyclic.Dependency // Out is the lane of a trunk that it holds; Out < 0: none
		}
		for _, e := range f.Endpoints() {
			for sl := range uint8(routing.SLs) {
				if tables.Multicast.SLs>>sl&1 == 0 {
					continue
				}
				list := []packet{{e.Switch, f.LastPort(&e), acyclic.Dependency{Out: -1}}}
				for len(list) > 0 {
					p := list[0]
					list = list[1:]
					for port := 1; port <= f.Node(p.at).Ports; port++ {
						ports, c := tree.At(p.at), f.Out(p.at, uint8(port))
						if !ports.Has(uint8(port)) || uint8(port) == p.in || int(c) >= f.Trunks() {
							continue
						}
						vl := tables.Lanes.SL2VL.VL(p.at, p.in, uint8(port), sl)
						goes := int(c)*lanes + int(vl)
						if p.holds.Out >= 0 && int(vl) < lanes {
							want[acyclic.Dependency{In: p.holds.Out, Out: fabric.ChannelID(goes)}] = true
						}
						ch := f.Channel(c)
						next := packet{ch.To, ch.ToPort, acyclic.Dependency{Out: fabric.ChannelID(goes)}}
						if int(vl) >= lanes {
							next.holds.Out = -1
						}
						list = append(list, next)
					}
				}
			}
		}
		got := map[acyclic.Dependency]bool{}
		for _, d := range treeTurns(tables, lanes) {
			got[d] = true
			if !want[d] {
				t.Errorf("%v: no packet causes it", d)
			}
		}
		if len(got) != len(want) || len(want) == 0 {
			t.Errorf("%d dependencies, %d by following every copy", len(got), len(want))
		}
	}
}

// Where a cable dies that a tree does not have, the tree stays: every step, and every mixture
// with the tables before, is free of deadlock together with it. Where the dead cable was one of
// the tree, that holds for what is left of it.
func TestTreesStay(t *testing.T) {
	for _, c := range testnet.First([]struct { // dragonflies take most of the time
		spec, engine string
		contract     routing.Contract
		sls          uint16
	}{
		{"torus:4x4,hosts=1", "weave-any", routing.Any, anySL},
		{"torus:4x4,hosts=1", "dfsssp", routing.Honored, 1},
		{"dragonfly:p=2", "weave-any", routing.Any, anySL},
		{"xgft:m=4x4,w=2x4,hosts=2", "ftree", routing.Any, anySL},
	}, 2) {
		was := withTree(t, c.spec, c.engine, c.contract, c.sls)
		f := was.Fabric
		stays, gone := 0, 0
		for cable := range fabric.ChannelID(f.Trunks()) {
			if cable > f.Reverses()[cable] {
				continue
			}
			live, err := f.Without([]fabric.ChannelID{cable}, nil)
			if err != nil {
				t.Fatal(err)
			}
			before, err := transition.On(live, was, nil)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := Mend(t.Context(), before, was, Options{Contract: c.contract})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range plan.Steps {
				if s.Tables.Multicast == nil {
					gone++
					break
				}
				stays++
				o := deadlock.Options{Contract: c.contract}
				v, err := transition.Verify(t.Context(), before, s.Tables, o)
				if err != nil || !v.Free() {
					t.Fatalf("%s, cable %d: the mixture is not free of deadlock, or %v", c.spec, cable, err)
				}
				alone, err := deadlock.Verify(t.Context(), s.Tables, o)
				if err != nil || !alone.Free() || alone.Multicast == nil {
					t.Fatalf("%s, cable %d: the tables are not free of deadlock with the tree, or %v", c.spec, cable, err)
				}
				before = s.Tables
			}
		}
		t.Logf("%s, %s: %d steps with the tree, %d plans without", c.spec, c.engine, stays, gone)
		if stays == 0 || gone > 0 {
			t.Errorf("%s, %s: %d steps with the tree, %d plans without", c.spec, c.engine, stays, gone)
		}
	}
}
