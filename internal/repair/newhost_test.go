package repair_test

import (
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// A host that is new has no entry anywhere: its row, and no other, grows from its
// switch outwards.
func TestNewHost(t *testing.T) {
	for _, spec := range testnet.First([]string{"xgft:m=4x4,w=4x4,hosts=2", "torus:4x4x4,hosts=2", "dragonfly:p=2", "random:switches=32,links=96,hosts=64,seed=3"}, 1) {
		f := testnet.Build(t, spec)
		tables, contract := route(t, f, "weave-any")
		if tables == nil {
			t.Fatalf("%s: refused", spec)
		}
		hosts := routing.HCA.Endpoints(f)
		for _, e := range []fabric.EndpointID{hosts[0], hosts[len(hosts)/2], hosts[len(hosts)-1]} {
			lid := f.Endpoint(e).LID
			without := routing.NewForwarding(f)
			for l := range f.TopLID() + 1 {
				if l != lid {
					copy(without.Row(l), tables.Forwarding.Row(l))
				}
			}
			o, err := mended(&routing.Tables{Fabric: f, Forwarding: without, Lanes: tables.Lanes}, f, contract, t)
			if err != nil {
				t.Fatal(err)
			}
			if o.left > 0 || o.steps != 1 || o.changed > f.Switches() {
				t.Errorf("%s, LID %d: %+v", spec, lid, *o)
			}
		}
	}
}
