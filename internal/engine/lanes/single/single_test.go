package single_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/single"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
)

// Everything has SL 0, and the map stays what it is by default.
func TestEverythingOnOneLane(t *testing.T) {
	f, err := topology.Build("ring:4")
	if err != nil {
		t.Fatal(err)
	}
	for vls := 1; vls <= routing.MaxDataVLs; vls++ {
		l, err := single.Assigner{}.Lanes(context.Background(), f, routing.NewForwarding(f), routing.Budget{VLs: vls}, nil)
		if err != nil {
			t.Fatal(err)
		}
		lane, uniform := l.SL2VL.Uniform()
		if l.Needed != 1 || !uniform || lane[0] != 0 || int(lane[vls-1]) != vls-1 {
			t.Errorf("%d lanes: %d needed, map %v", vls, l.Needed, lane)
		}
		for e := range f.Endpoints() {
			for lid := range f.TopLID() + 1 {
				if sl := l.SL(fabric.EndpointID(e), lid); sl != 0 {
					t.Fatalf("endpoint %d sends to LID %d on SL %d", e, lid, sl)
				}
			}
		}
	}
}
