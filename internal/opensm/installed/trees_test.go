package installed

import (
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/spanning"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// Whichever cable dies, the next tables have a tree, with all that is left of the one in use unless
// they say that it is another, and multicast is in the proof of the step; likewise when the cable is
// back.
func TestTreeStays(t *testing.T) {
	for _, c := range []struct {
		spec, engine string
		contract     routing.Contract
		sls          uint16
		another      int // cables without which nothing that what is left of the tree is part of fits
	}{
		{"torus:4x4,hosts=1", "weave-any", routing.Any, 1<<routing.SLs - 1, 0},
		{"xgft:m=4x4,w=2x4,hosts=2", "ftree", routing.Any, 1<<routing.SLs - 1, 0},
		{"torus:4x4,hosts=1", "dfsssp", routing.Honored, 1, 0},
		{"dragonfly:p=2", "weave-any", routing.Any, 1<<routing.SLs - 1, 1},
		{"random:switches=16,links=32,hosts=1,seed=3", "weave-any", routing.Any, 1<<routing.SLs - 1, 0},
	} {
		f := testnet.Build(t, c.spec)
		tables := routed.Of(t, f, c.engine, routing.Budget{VLs: 8, Contract: c.contract})
		was := *tables
		var err error
		if was.Multicast, err = spanning.Tree(t.Context(), tables, spanning.Options{Contract: c.contract, SLs: c.sls}); err != nil {
			t.Fatal(err)
		}
		o := Options{Contract: c.contract, Groups: []uint16{c.sls}}
		kept, mended, another := 0, 0, 0
		for cable := range fabric.ChannelID(f.Trunks()) {
			if cable > f.Reverses()[cable] || int(cable)%testnet.Of(1, 3) != 0 {
				continue
			}
			less, err := f.Without([]fabric.ChannelID{cable}, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := State{Sent: &was, Goal: &was}
			m, err := s.Next(t.Context(), less, o)
			if err != nil {
				t.Fatalf("%s %s, cable %d: %v", c.spec, c.engine, cable, err)
			}
			if m.Tables.Multicast == nil || m.Union.Multicast == nil || m.Alone.Multicast == nil || m.Tables.Multicast.SLs != c.sls {
				t.Fatalf("%s %s, cable %d: no tree, or not in the proof: %+v", c.spec, c.engine, cable, m.Tables.Multicast)
			}
			switch {
			case m.NewTree:
				another++
			case has(f, &was, cable):
				mended++
			default:
				kept++
			}
			for _, n := range was.Multicast.Trees[0].Nodes {
				now := m.Tables.Multicast.Trees[0].At(n.Switch)
				for port := range n.Ports.All() {
					if c := less.Out(n.Switch, port); c != fabric.None && !now.Has(port) && !m.NewTree {
						t.Fatalf("cable %d: port %d of switch %d is in the tree no more", cable, port, n.Switch)
					}
				}
			}
			back := State{Sent: m.Tables, Goal: &was, Returning: true}
			if b, err := back.Next(t.Context(), f, o); err != nil || b.Tables.Multicast == nil || b.Union.Multicast == nil {
				t.Errorf("cable %d is back: %v", cable, err)
			}
			if v, err := deadlock.Verify(t.Context(), m.Tables, deadlock.Options{Contract: c.contract}); err != nil || !v.Free() || len(v.Multicast.Circling)+len(v.Multicast.Split) > 0 {
				t.Errorf("cable %d: %v, %+v", cable, err, v.Multicast)
			}
		}
		t.Logf("%s %s: the tree stays %d times, is mended %d times, is another %d times", c.spec, c.engine, kept, mended, another)
		if kept == 0 || mended == 0 || another > c.another {
			t.Errorf("%s %s: repairs have to find paths beside the tree that stays", c.spec, c.engine)
		}
	}
}

// has reports whether a tree has a cable.
func has(f *fabric.Fabric, t *routing.Tables, cable fabric.ChannelID) bool {
	ch := f.Channel(cable)
	ports := t.Multicast.Trees[0].At(ch.From)
	return ports.Has(ch.FromPort)
}
