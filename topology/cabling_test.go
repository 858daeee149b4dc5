package topology

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
)

// TestDeimos: what the two papers say of the machine, and that what they leave
// open is dealt out evenly.
func TestDeimos(t *testing.T) {
	f := build(t, "deimos")
	const leaves, crossbars, outer = 24, 36, 12
	var cross [3][3]int
	for _, c := range f.Channels()[:f.Trunks()] {
		cross[int(c.From)/crossbars][int(c.To)/crossbars]++
	}
	if want := [3][3]int{{576, 30, 0}, {30, 576, 30}, {0, 30, 576}}; cross != want {
		t.Errorf("trunks between directors: %v, want %v", cross, want)
	}
	for director, open := range []int{258, 228, 258} {
		hosts, fewest, most, free := 0, outer, 0, 0
		for leaf := range leaves {
			v := fabric.NodeID(director*crossbars + leaf)
			n := len(f.Attached(v)) - 1
			hosts, fewest, most = hosts+n, min(fewest, n), max(most, n)
			first, end := f.TrunksFrom(v)
			free += f.Node(v).Ports - int(end-first)
			if f.Node(v).SystemGUID != f.Node(fabric.NodeID(director*crossbars)).GUID {
				t.Errorf("%s is not a part of director %d", f.Label(v), director)
			}
		}
		if free != open || hosts != deimosHosts[director] || most-fewest > 1 {
			t.Errorf("director %d: %d ports without a cross cable (want %d), %d hosts, %d to %d on a leaf", director, free, open, hosts, fewest, most)
		}
	}
}

// What the papers leave open of Deimos can be packed: the cross cables of a director on
// as few leaves as they fit on, and likewise the hosts.
func TestDeimosPacked(t *testing.T) {
	const leaves, crossbars, outer = 24, 36, 12
	count := func(spec string) (crossLeaves, fullLeaves int) {
		f := build(t, spec)
		across := map[fabric.NodeID]bool{}
		for _, c := range f.Channels()[:f.Trunks()] {
			if int(c.From)/crossbars != int(c.To)/crossbars {
				across[c.From] = true
			}
		}
		for s := range fabric.NodeID(3 * crossbars) {
			if int(s)%crossbars < leaves && len(f.Attached(s))-1 == outer {
				fullLeaves++
			}
		}
		return len(across), fullLeaves
	}
	// 30 cables on 12 outer ports of a leaf need 3 leaves, 60 need 5. Behind packed ones 258
	// ports are left for 251 hosts on 6 and 21 × 12, 228 for 222.
	for spec, want := range map[string][2]int{
		"deimos":                            {72, 0},
		"deimos:cables=packed":              {3 + 5 + 3, 14 + 13 + 14}, // the last round of hosts leaves 7, 6 and 7 ports free
		"deimos:cables=packed,hosts=packed": {3 + 5 + 3, 20 + 18 + 20},
	} {
		a, b := count(spec)
		if got := [2]int{a, b}; got != want {
			t.Errorf("%s: cross cables on %d leaves, %d leaves full of hosts, want %v", spec, a, b, want)
		}
	}
	if a, b := portsOf(build(t, "deimos:cables=drawn,seed=1")), portsOf(build(t, "deimos:cables=drawn,seed=2")); a == b {
		t.Error("two seeds draw the same cables")
	}
}

// portsOf is the ports of all cables.
func portsOf(f *fabric.Fabric) string {
	var b strings.Builder
	for _, c := range f.Channels() {
		fmt.Fprintln(&b, c.From, c.FromPort, c.To, c.ToPort)
	}
	return b.String()
}
