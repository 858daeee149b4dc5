package sssp_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
)

// TPDS 2006, section 6: "One can allow all shortest paths between any source and
// destination, assign a distinct destination address ... to each of them, and let
// the source node decide which path to use". Where there are as many addresses as
// ways to begin with, each begins another way.
func TestAnAddressForEachWay(t *testing.T) {
	for _, c := range []struct {
		spec string
		lmc  uint8
	}{{"ring:6", 1}, {"torus:4x4", 2}, {"hypercube:4", 2}, {"karytree:k=4,n=2", 2}} {
		f, err := testnet.Build(t, c.spec).WithLMC(c.lmc)
		if err != nil {
			t.Fatal(err)
		}
		fw, err := sssp.MultiPath{}.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range f.Endpoints() {
			if e.Class != fabric.HostAdapter {
				continue
			}
			hops := hopsTo(f, e.Switch)
			for s := range fabric.NodeID(f.Switches()) {
				ways, used := 0, map[fabric.ChannelID]bool{}
				for c, end := f.TrunksFrom(s); c < end; c++ {
					if hops[f.Heads()[c]] < hops[s] {
						ways++
					}
				}
				for a := range fabric.LID(1) << e.LMC {
					if s == e.Switch {
						continue
					}
					out := f.Out(s, fw.Port(s, e.LID+a))
					if hops[f.Heads()[out]] >= hops[s] {
						t.Fatalf("%s: switch %d goes astray for LID %d", c.spec, s, e.LID+a)
					}
					used[out] = true
				}
				if want := min(ways, 1<<e.LMC); len(used) < want {
					t.Errorf("%s: from switch %d to %d the addresses begin %d ways of %d", c.spec, s, e.Switch, len(used), ways)
				}
			}
		}
	}
}

// hopsTo is the hops of every switch to one.
func hopsTo(f *fabric.Fabric, root fabric.NodeID) []int {
	hops := make([]int, f.Switches())
	for i := range hops {
		hops[i] = f.Switches()
	}
	hops[root] = 0
	for range hops { // Bellman and Ford
		for c := range fabric.ChannelID(f.Trunks()) {
			ch := f.Channel(c)
			hops[ch.From] = min(hops[ch.From], hops[ch.To]+1)
		}
	}
	return hops
}
