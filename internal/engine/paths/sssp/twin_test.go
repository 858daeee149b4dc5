package sssp_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
)

// twin is P-SSSP told simply: a search for every switch and destination, and every route
// walked to charge it.
func twin(f *fabric.Fabric) *routing.Forwarding {
	t, load := routing.NewForwarding(f), make([]int, f.Trunks())
	sources := routing.Adapters.PerSwitch(f)
	most := func(class fabric.Class) bool { return class == fabric.HostAdapter || class == fabric.SwitchPort }
	for _, first := range []bool{true, false} {
		for size := 255; size >= 0; size-- { // switches with most adapters first
			for root := range fabric.NodeID(f.Switches()) {
				if len(f.Attached(root)) != size {
					continue
				}
				hops := hopsTo(f, root)
				for _, id := range f.Attached(root) {
					if e := f.Endpoint(id); most(e.Class) == first {
						for lid := range e.LIDs() {
							twinDestination(f, t.Row(lid), load, sources, hops, e)
						}
					}
				}
			}
		}
	}
	return t
}

func twinDestination(f *fabric.Fabric, row []uint8, load []int, sources []uint32, hops []int, e *fabric.Endpoint) {
	row[e.Switch] = f.LastPort(e)
	sum, out := make([]int, f.Switches()), make([]fabric.ChannelID, f.Switches())
	for far := 1; far < f.Switches(); far++ {
		for s := range fabric.NodeID(f.Switches()) {
			if hops[s] != far {
				continue
			}
			var ways []fabric.ChannelID
			for c, end := f.TrunksFrom(s); c < end; c++ {
				if hops[f.Heads()[c]] == far-1 {
					ways = append(ways, c)
				}
			}
			for i := range ways {
				c := ways[(int(e.Switch)+i)%len(ways)]
				if on := sum[f.Heads()[c]] + load[c]; i == 0 || on < sum[s] {
					sum[s], out[s] = on, c
				}
			}
			row[s] = f.Channel(out[s]).FromPort
		}
	}
	if e.Class == fabric.SwitchPort {
		return
	}
	for s := range fabric.NodeID(f.Switches()) {
		for at := s; at != e.Switch && hops[at] < f.Switches(); at = f.Heads()[out[at]] {
			load[out[at]] += int(sources[s])
		}
	}
}

// doubled is four leaves with three hosts, each with two cables to each of three spines.
func doubled(t *testing.T) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	var sw [7]fabric.Ref
	for i := range sw {
		sw[i] = b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 9}, "")
	}
	for leaf := range 4 {
		for spine := range 3 {
			for k := range 2 {
				b.Cable(sw[leaf], uint8(2*spine+k+1), sw[4+spine], uint8(2*leaf+k+1), fabric.Rate{})
			}
			host := b.Node(fabric.Node{GUID: fabric.GUID(100 + 3*leaf + spine), Kind: fabric.Adapter, Ports: 1}, "")
			b.Cable(host, 1, sw[leaf], uint8(7+spine), fabric.Rate{})
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The paths are the twin's, entry by entry: where many switches have trunks to the same
// others, numbered one after the other or not, and loads on them that stay alike, part or
// never are; and where few do.
func TestTwin(t *testing.T) {
	for _, c := range []struct {
		spec string
		gone int // cables
	}{
		{"xgft:m=4x6,w=4x3,hosts=5", 0},
		{"xgft:m=4x6,w=4x3,hosts=5", 1},
		{"xgft:m=4x6,w=4x3,hosts=5", 9},
		{"xgft:m=4x3,w=1x1,hosts=2", 0},
		{"xgft:m=3x3x3,w=3x3x3,hosts=2", 0},
		{"dragonfly:p=2", 0},
		{"torus:4x4,hosts=2", 0},
		{"kautz:b=3,n=2,hosts=2", 0},
		{"planes:ports=8,groups=3,leaves=3,on=2,tails=2,trunk=2", 0},
		{"planes:ports=8,groups=3,leaves=3,on=2,tails=2,trunk=2", 4},
		{"random:switches=20,links=90,hosts=3,seed=4", 0},
	} {
		f := testnet.Build(t, c.spec)
		if c.gone > 0 {
			loss, err := topology.Damage{Links: c.gone, Seed: 1}.Draw(f)
			if err != nil {
				t.Fatal(err)
			}
			if f, err = loss.Apply(f); err != nil {
				t.Fatal(err)
			}
		}
		compare(t, fmt.Sprintf("%s less %d cables", c.spec, c.gone), f)
	}
	compare(t, "doubled cables", doubled(t))
	several, err := testnet.Build(t, "dragonfly:p=2").WithLMC(1)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "two addresses", several)
}

func compare(t *testing.T, what string, f *fabric.Fabric) {
	t.Helper()
	want := twin(f)
	got, err := sssp.Finder{}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for lid := range f.LIDs() {
		for s := range fabric.NodeID(f.Switches()) {
			if got.Port(s, lid) != want.Port(s, lid) {
				t.Fatalf("%s: LID %d leaves switch %d by port %d, the twin says %d", what, lid, s, got.Port(s, lid), want.Port(s, lid))
			}
		}
	}
}
