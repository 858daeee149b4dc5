package meter

import (
	"maps"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
)

// Shuffled ports are the same network: who is joined to whom, by how many cables, stays.
func TestShufflePorts(t *testing.T) {
	for _, spec := range []string{"torus:4x4,hosts=3", "deimos", "oft:k=4"} {
		f := testnet.Build(t, spec)
		g, err := shufflePorts(f, 1)
		if err != nil {
			t.Fatal(err)
		}
		if f.Count() != g.Count() {
			t.Errorf("%s: %+v, shuffled %+v", spec, f.Count(), g.Count())
		}
		joined := func(f *fabric.Fabric) map[[2]fabric.NodeID]int {
			m := map[[2]fabric.NodeID]int{}
			for _, c := range f.Channels() {
				m[[2]fabric.NodeID{c.From, c.To}]++
			}
			return m
		}
		if !maps.Equal(joined(f), joined(g)) {
			t.Errorf("%s: other switches are joined", spec)
		}
		for i, e := range f.Endpoints() {
			if h := g.Endpoint(fabric.EndpointID(i)); e.LID != h.LID || e.PortGUID != h.PortGUID {
				t.Fatalf("%s: an endpoint with LID %d has %d", spec, e.LID, h.LID)
			}
		}
		if slices.Equal(f.TailPorts(), g.TailPorts()) {
			t.Errorf("%s: no cable has another port", spec)
		}
	}
}
