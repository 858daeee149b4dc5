package change_test

import (
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// route routes a fabric.
func route(t *testing.T, f *fabric.Fabric, engine string) *routing.Tables {
	t.Helper()
	e, err := engines.Named(engine)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := e.Route(t.Context(), f, engines.Options{}, routing.Budget{VLs: 8, Contract: e.Contract}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// Hops is as many as a packet that starts at the worst switch passes.
func TestHops(t *testing.T) {
	for _, spec := range []string{"ring:7", "torus:4x4", "xgft:m=4x4,w=2x2", "mesh:1x5"} {
		f := testnet.Build(t, spec)
		tables := route(t, f, "updn")
		most := 0
		for lid, owner := range f.LIDs() {
			for s := range fabric.NodeID(f.Switches()) {
				n := 1 // the last switch delivers
				for at := s; at != f.Endpoint(owner).Switch; n++ {
					c := f.Out(at, tables.Forwarding.Port(at, lid))
					if n > f.Switches() || c == fabric.None {
						n = 0 // circles or is dropped: not delivered
						break
					}
					at = f.Channel(c).To
				}
				most = max(most, n)
			}
		}
		if got := change.Hops(tables); got != most || spec == "mesh:1x5" && got != 5 {
			t.Errorf("%s: %d switches, want %d", spec, got, most)
		}
	}
}

// Packets that are dropped on their way, or whose destination is gone, count as far as they go.
func TestHopsOfDroppedPackets(t *testing.T) {
	f := testnet.Build(t, "mesh:1x5,hosts=1")
	tables := route(t, f, "updn")
	for lid, owner := range f.LIDs() {
		tables.Forwarding.Row(lid)[f.Endpoint(owner).Switch] = routing.NoPort
	}
	if got := change.Hops(tables); got != 4 {
		t.Errorf("%d switches, want 4", got)
	}
}
