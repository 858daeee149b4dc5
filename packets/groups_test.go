package packets_test

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/adaptive/minimal"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
)

// Groups that the judge proves never stop a network, whatever the load; every packet arrives; and
// more of a fat tree's bandwidth is used than by the static ports. All ports of a torus that lead
// nearer, whether proven or not, stop it.
func TestGroupsChoose(t *testing.T) {
	load := packets.Injection{Offered: .95, Seed: 3}
	accepted := func(tables *routing.Tables) *packets.Result {
		n, err := packets.New(tables, packets.Presets()[0].Config)
		if err != nil {
			t.Fatal(err)
		}
		load.Placement = routing.HCA.Endpoints(tables.Fabric)
		r, err := n.Measure(t.Context(), load, packets.Window{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, spec := range []string{"xgft:m=4x4,w=2x4,hosts=4", "torus:4x4,hosts=2"}[:testnet.Of(2, 1)] {
		static := *spanned(t, spec)
		static.Multicast = nil
		wide := static
		var err error
		if wide.Groups, err = minimal.Groups(t.Context(), &static, routing.Any, routing.HCA, nil); err != nil {
			t.Fatal(err)
		}
		a, b := accepted(&static), accepted(&wide)
		if b.Deadlock != nil || b.Accepted < a.Accepted*.98 || b.Accepted == a.Accepted {
			t.Errorf("%s: %.3f accepted by static ports, %.3f by groups; %v", spec, a.Accepted, b.Accepted, b.Deadlock)
		}
	}
	loops := *spanned(t, "torus:5x5,hosts=2")
	loops.Multicast, loops.Groups = nil, routing.NewGroups(loops.Fabric, 1)
	f := loops.Fabric
	for lid, owner := range f.LIDs() {
		hops := f.Hops(f.Endpoint(owner).Switch)
		for s := range fabric.NodeID(f.Switches()) {
			var ports routing.PortSet
			first, end := f.TrunksFrom(s)
			for c := first; c < end; c++ {
				if ch := f.Channel(c); hops[ch.To] < hops[s] {
					ports.Add(ch.FromPort)
				}
			}
			if ports.Len() > 0 {
				number := int(lid)
				loops.Groups.Set(s, number, ports)
				loops.Groups.Row(0, lid)[s] = routing.ChoiceOf(number, false)
				loops.Forwarding.Row(lid)[s] = slices.Collect(ports.All())[0]
			}
		}
	}
	if r := accepted(&loops); r.Deadlock == nil {
		t.Errorf("all ports of a torus that lead nearer: %s", r.Status)
	}
}
