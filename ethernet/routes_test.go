package ethernet_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
)

// TestClassesOfManyDevices has one prefix that ends at device 256, and one that device 1
// wraps: written as numbers without their count, the two look alike.
func TestClassesOfManyDevices(t *testing.T) {
	names := make([]string, 257)
	for i := range names {
		names[i] = fmt.Sprintf("d%03d", i)
	}
	c, err := ethernet.NewCabling(names, nil)
	if err != nil {
		t.Fatal(err)
	}
	tables := make([][]ethernet.Route, len(names))
	tables[256] = []ethernet.Route{{Prefix: netip.MustParsePrefix("10.0.0.0/24"), Deliver: ethernet.ToItself}}
	tables[1] = []ethernet.Route{{Prefix: netip.MustParsePrefix("10.0.1.0/24"), Wraps: true}}
	classes, err := c.Classify(tables)
	if err != nil {
		t.Fatal(err)
	}
	if len(classes) != 2 {
		t.Errorf("%d classes, want 2: %+v", len(classes), classes)
	}
}
