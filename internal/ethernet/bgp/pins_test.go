package bgp

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
)

// AS numbers that break pins are refused by the names of the devices.
func TestPinsAreRefused(t *testing.T) {
	p := testcables.Devices(4) // two leaves, two spines
	for leaf := range 2 {
		p.Join(leaf, 2)
		p.Join(leaf, 3)
	}
	c := p.Cabling(t)
	for why, as := range map[string][]uint32{"": {1, 2, 3, 3}, "both with hosts, are AS 1": {1, 1, 3, 3}, "pins need one AS": {1, 2, 3, 4}} {
		classes := Subnets(c, []int{1, 1, 0, 0})
		plan, err := NewPlan(c, Leaves(classes), BGP, as)
		if err != nil {
			t.Fatal(err)
		}
		pin := func(last byte, up ethernet.DeviceID) Pin {
			return Pin{Prefix: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, last}), 32), Up: []ethernet.DeviceID{up}}
		}
		classes, err = plan.SetPins(classes, []Pin{pin(1, 2), pin(2, 3), pin(3, 2)})
		if (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%v: %v", as, err)
		}
		if err == nil && (len(classes) != 4 || len(classes[2].Prefixes) != 2 || plan.ClassOf(2) != 2 || plan.ClassOf(1) != 3) {
			t.Errorf("pins with one way are not one class: %+v", classes)
		}
	}
}
