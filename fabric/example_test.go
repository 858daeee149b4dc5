package fabric_test

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
)

// A network made by hand: two switches, joined by a cable, with a host each.
func ExampleBuilder() {
	var b fabric.Builder
	hdr := fabric.Rate{Width: 4, Speed: fabric.HDR}
	var switches []fabric.Ref
	for i := range 2 {
		s := b.Node(fabric.Node{Kind: fabric.Switch, Ports: 3, Name: fmt.Sprintf("switch-%d", i)}, fmt.Sprintf("s%d", i))
		h := b.Node(fabric.Node{Kind: fabric.Adapter, Ports: 1, Name: fmt.Sprintf("host-%d HCA-1", i)}, fmt.Sprintf("h%d", i))
		b.Cable(s, 1, h, 1, hdr)
		switches = append(switches, s)
	}
	b.Cable(switches[0], 2, switches[1], 2, hdr)
	f, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range f.Endpoints() {
		fmt.Printf("LID %d: %s\n", e.LID, f.Label(e.Node))
	}
	for _, c := range f.Channels()[:f.Trunks()] {
		fmt.Printf("%s, port %d → %s, port %d\n", f.Label(c.From), c.FromPort, f.Label(c.To), c.ToPort)
	}
	// Output:
	// LID 1: switch-0
	// LID 2: switch-1
	// LID 3: host-0 HCA-1
	// LID 4: host-1 HCA-1
	// switch-0, port 2 → switch-1, port 2
	// switch-1, port 2 → switch-0, port 2
}
