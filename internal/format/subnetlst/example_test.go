package subnetlst_test

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/internal/format/subnetlst"
)

// A cable between a host and a switch, as OpenSM lists it, and whose LID 3 is.
func Example() {
	const list = `{ CA Ports:01 SystemGUID:0002c90300000010 NodeGUID:0002c90300000010 PortGUID:0002c90300000011 VenID:000002C9 DevID:101B0000 Rev:00000000 {host-1 HCA-1} LID:0003 PN:01 } { SW Ports:28 SystemGUID:0002c90200000001 NodeGUID:0002c90200000001 PortGUID:0002c90200000001 VenID:000002C9 DevID:D2F00000 Rev:00000000 {leaf-1} LID:0002 PN:0A } PHY=4x LOG=ACT SPD=50
`
	f, err := subnetlst.Read(strings.NewReader(list), "opensm-subnet.lst")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range f.Channels() {
		fmt.Printf("%s, port %d → %s, port %d\n", f.Label(c.From), c.FromPort, f.Label(c.To), c.ToPort)
	}
	m, err := subnetlst.ReadMap(strings.NewReader(list), "opensm-subnet.lst")
	if err != nil {
		fmt.Println(err)
		return
	}
	port, _, _ := m.ByLID(3)
	fmt.Println("LID 3:", f.Label(f.NodeByGUID(port.Node)), "port", port.Number)
	// Output:
	// leaf-1, port 10 → host-1 HCA-1, port 1
	// host-1 HCA-1, port 1 → leaf-1, port 10
	// LID 3: host-1 HCA-1 port 1
}
