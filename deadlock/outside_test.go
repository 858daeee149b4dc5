package deadlock_test

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// What a switch sends into a cable that comes back to it waits there for itself: a verdict that takes
// it for lost says so, whether by an entry or by a port to choose.
func TestPacketsOverSelfCablesAreOutside(t *testing.T) {
	const what = "packets sent by a cable from a switch to itself"
	var b fabric.Builder
	s := b.Node(fabric.Node{GUID: 1, Kind: fabric.Switch, Ports: 4, Name: "sw"}, "")
	for port := range uint8(2) {
		host := b.Node(fabric.Node{GUID: fabric.GUID(2 + port), Kind: fabric.Adapter, Ports: 1}, "")
		b.Cable(host, 1, s, 1+port, fabric.Rate{})
	}
	b.Cable(s, 3, s, 4, fabric.Rate{})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		port   uint8 // of all entries for adapters
		choose uint8
		want   bool
	}{{1, 0, false}, {3, 0, true}, {4, 0, true}, {1, 3, true}} {
		tables := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: routing.OneSL(f, routing.LanePerSL(1))}
		for lid := range f.LIDs() {
			tables.Forwarding.Row(lid)[0] = c.port
		}
		if c.choose > 0 {
			var set routing.PortSet
			set.Add(c.choose)
			tables.Groups = routing.NewGroups(f, 1)
			tables.Groups.Set(0, 0, set)
		}
		v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(v.Outside(), what); got != c.want {
			t.Errorf("entries by port %d, chosen from port %d: %q", c.port, c.choose, v.Outside())
		}
		without := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: tables.Lanes}
		for _, mixed := range [][]*routing.Tables{{tables}, {without, tables}, {tables, without}} { // in whichever they are
			v, err := deadlock.VerifyMixture(t.Context(), mixed, deadlock.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Contains(v.Outside(), what); got != c.want {
				t.Errorf("%d tables, entries by port %d, chosen from port %d: %q", len(mixed), c.port, c.choose, v.Outside())
			}
		}
	}
}
