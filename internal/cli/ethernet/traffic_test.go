package ethernet

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
)

// Where speeds are known, a leaf has as many adapters as its uplinks carry; where one is not, as many as it has uplinks.
func TestAdapters(t *testing.T) {
	var cables []ethernet.Cable
	for _, leaf := range []string{"leaf1", "leaf2", "leaf3"} {
		for _, spine := range []string{"spine1", "spine2"} {
			cables = append(cables, ethernet.Cable{A: ethernet.End{Device: leaf, Interface: spine}, B: ethernet.End{Device: spine, Interface: leaf}})
		}
	}
	c, err := ethernet.NewCabling([]string{"leaf1", "leaf2", "leaf3", "spine1", "spine2"}, cables)
	if err != nil {
		t.Fatal(err)
	}
	n := &ethernet.Network{Cabling: c, Speeds: make([]uint32, len(c.Links)), HostSpeeds: []uint32{100_000, 1_600_000, 100_000, 0, 0}}
	for d := range ethernet.DeviceID(3) {
		n.Classes = append(n.Classes, ethernet.Class{At: []ethernet.DeviceID{d}, Hosts: true})
	}
	for l := range n.Speeds {
		n.Speeds[l] = 400_000
	}
	first, _ := c.LinksFrom(2)
	n.Speeds[first] = 0
	in := &networkInput{Network: n}
	if got := (&trafficFlags{}).adapters(in); !slices.Equal(got, []int{8, 1, 2, 0, 0}) || len(in.Notes) != 2 {
		t.Errorf("%v, %q", got, in.Notes)
	}
	if got := (&trafficFlags{nics: 3}).adapters(in); !slices.Equal(got, []int{3, 3, 3, 0, 0}) || len(in.Notes) != 2 {
		t.Errorf("%v, %q", got, in.Notes)
	}
}

// What pins are tried on does not grow with the network, and leaves no phase out where there are few adapters.
func TestServedPhases(t *testing.T) {
	for _, n := range []int{2, 1024, 2048, 8192, 65536, 1 << 20} {
		all, ofJobs := servedPhases(n)
		for _, phases := range []int{all, ofJobs} {
			if phases < 1 || phases > 1 && phases*n > servedPairs {
				t.Errorf("%d adapters: %d phases, %d pairs", n, phases, phases*n)
			}
		}
		if n <= 2048 && (all != 64 || ofJobs < n/comparedJobs-1) {
			t.Errorf("%d adapters: %d and %d phases", n, all, ofJobs)
		}
	}
}
