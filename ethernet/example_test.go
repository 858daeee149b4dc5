package ethernet_test

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
)

// Three switches in a ring that all send clockwise pause each other for ever.
func ExampleNetwork() {
	names := []string{"a", "b", "c"}
	var cables []ethernet.Cable
	for i, from := range names {
		cables = append(cables, ethernet.Cable{
			A: ethernet.End{Device: from, Interface: "next"}, B: ethernet.End{Device: names[(i+1)%3], Interface: "last"},
		})
	}
	c, err := ethernet.NewCabling(names, cables)
	if err != nil {
		fmt.Println(err)
		return
	}
	tables := make([][]ethernet.Route, len(names))
	for d := range tables {
		for i := range names {
			r := ethernet.Route{Prefix: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i), 0}), 24)}
			if i == d {
				r.Deliver = ethernet.ToHosts
			} else {
				r.Via = []ethernet.LinkID{c.LinkAt(ethernet.DeviceID(d), "next")}
			}
			tables[d] = append(tables[d], r)
		}
	}
	classes, err := c.Classify(tables)
	if err != nil {
		fmt.Println(err)
		return
	}
	n := &ethernet.Network{Cabling: c, Classes: classes, Priorities: ethernet.Uniform(c, []uint8{3})}
	v, err := judge.Verify(context.Background(), n, judge.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("free:", v.Free(), "complete:", v.Complete())
	for _, step := range v.Cycle {
		fmt.Println(c.Names[c.Links[step.Link].From], "to", c.Names[c.Links[step.Link].To])
	}
	// Output:
	// free: false complete: true
	// a to b
	// b to c
	// c to a
}
