package sssp_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/paths/sssp"
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

// The paths are the twin's, entry by entry: where many switches have trunks to the same
// others, numbered one after the other or not, and where few do.
func TestTwin(t *testing.T) {
	for _, spec := range []string{
		"xgft:m=4x6,w=4x3,hosts=5", "dragonfly:p=2", "torus:4x4,hosts=2", "kautz:b=3,n=2,hosts=2",
		"planes:ports=8,groups=3,leaves=3,on=2,tails=2,trunk=2", "random:switches=20,links=90,hosts=3,seed=4",
	} {
		f := testnet.Build(t, spec)
		want := twin(f)
		got, err := sssp.Finder{}.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for lid := range f.LIDs() {
			for s := range fabric.NodeID(f.Switches()) {
				if got.Port(s, lid) != want.Port(s, lid) {
					t.Fatalf("%s: LID %d leaves switch %d by port %d, the twin says %d", spec, lid, s, got.Port(s, lid), want.Port(s, lid))
				}
			}
		}
	}
}
