package ethernet

import (
	"context"
	"net/netip"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
)

// To compute routes after failures leaves those that were read as they were.
func TestRoutesStayAsRead(t *testing.T) {
	end := func(device, port string) ethernet.End { return ethernet.End{Device: device, Interface: port} }
	c, err := ethernet.NewCabling([]string{"a", "b", "c"}, []ethernet.Cable{
		{A: end("a", "1"), B: end("b", "2")}, {A: end("b", "1"), B: end("c", "2")}, {A: end("c", "1"), B: end("a", "2")},
	})
	if err != nil {
		t.Fatal(err)
	}
	n := &ethernet.Network{Cabling: c, AS: []uint32{1, 2, 3}, Priorities: ethernet.Uniform(c, []uint8{3})}
	for d := range ethernet.DeviceID(3) {
		class := ethernet.Class{Prefixes: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(d), 0}), 24)}, Next: c.NewRow(), At: []ethernet.DeviceID{d}, Hosts: true}
		for from := range ethernet.DeviceID(3) {
			if from != d {
				c.Add(class.Next, c.LinkAt(from, "1")) // all the same way round
			}
		}
		n.Classes = append(n.Classes, class)
	}
	read := make([]ethernet.Row, len(n.Classes))
	for i := range n.Classes {
		read[i] = slices.Clone(n.Classes[i].Next)
	}
	j := &prioritiesJob{o: &prioritiesFlags{}, in: &networkInput{Network: n}}
	if err := j.paths(context.Background()); err != nil || j.options.After == nil {
		t.Fatal("no routes after failures", err)
	}
	for i := range n.Classes {
		if !slices.Equal(read[i], n.Classes[i].Next) {
			t.Errorf("the routes to %s became others", n.Classes[i].Prefix())
		}
	}
}
