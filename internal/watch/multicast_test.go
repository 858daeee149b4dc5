package watch

import (
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// A ring of trees is a credit loop with multicast packets in it, and an alarm by itself; so
// is a tree that leads out of itself.
func TestMulticastAlarms(t *testing.T) {
	t.Parallel()
	w := newScene(t, Config{Contract: "any"})
	f := testnet.Build(t, "ring:n=5,hosts=1")
	tables := *tablesBy(t, f, "updn", 1)
	tree := func(leaveOut fabric.NodeID, open bool) *Snapshot {
		now := tables
		m := routing.MulticastTree{MLID: routing.FirstMLID}
		for s := range fabric.NodeID(f.Switches()) {
			n := routing.TreeNode{Switch: s}
			for port := 1; port <= f.Node(s).Ports; port++ {
				c := f.Out(s, uint8(port))
				between := c != fabric.None && (f.Channel(c).To == 0 && s == 4 || f.Channel(c).To == 4 && s == 0)
				if c != fabric.None && !(open && between) {
					n.Ports.Add(uint8(port))
				}
			}
			if s != leaveOut {
				m.Nodes = append(m.Nodes, n)
			}
		}
		now.Multicast = &routing.Multicast{SLs: 1, Trees: []routing.MulticastTree{m}}
		return &Snapshot{Tables: &now}
	}
	if l := w.show(tree(fabric.None, true)); slices.Contains(kindsOf(l.Alarms), Multicast) || l.Covers != "unicast and multicast" || l.Multicast.Groups != 1 {
		t.Errorf("a tree: %+v, %+v", l.Alarms, l.Multicast)
	}
	l := w.show(tree(fabric.None, false))
	if got := kindsOf(l.Alarms); !slices.Equal(got, []string{CreditLoop, Multicast}) || len(l.Multicast.Circling) != 1 {
		t.Errorf("a ring: %+v", l.Alarms)
	}
	if !slices.ContainsFunc(l.Cycle, func(s result.LookStep) bool { return strings.HasPrefix(s.Dst.String(), "multicast group 0xc000") }) {
		t.Errorf("a ring: %+v", l.Cycle)
	}
	l = w.show(tree(2, true))
	if got := kindsOf(l.Alarms); !slices.Contains(got, Multicast) || len(l.Multicast.OneSided) != 1 {
		t.Errorf("a switch without the tree: %+v", l.Alarms)
	}
	if l := w.show(&Snapshot{Tables: &tables, Doubts: []string{"one", "two"}}); !slices.Equal(kindsOf(l.Alarms), []string{Unproven}) || l.Covers != "unicast" {
		t.Errorf("doubts: %+v", l.Alarms)
	}
}
