package weave_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/weave"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Where few packets turn upwards at leaves, as between 4 of 66 pairs of groups here, which have no
// plane in common, they do so from some planes to the others only: turns back, and among either, are
// left for repairs. Entries that no packet uses, as those of spines by which none of their leaves
// goes, mostly lead past the plane of those that are.
func TestTurnsAtLeavesLeadFromEarlyPlanes(t *testing.T) {
	if testing.Short() {
		t.Skip("balanced paths take some seconds")
	}
	f := testnet.Build(t, "planes:ports=24,groups=12,leaves=10,planes=16,on=8,up=8,hosts=900")
	tables, _ := route(t, f, anySL, routing.Any, routing.Budget{VLs: 8})
	group, plane, leaves := make([]int, f.Switches()), make([]int, f.Switches()), map[int][]fabric.NodeID{}
	for s := range plane {
		plane[s] = -1
		name := f.Label(fabric.NodeID(s))
		if n, _ := fmt.Sscanf(name, "sw-l1-%d-%d", &group[s], &plane[s]); n == 0 {
			if n, _ := fmt.Sscanf(name, "sw-l0-%d-", &group[s]); n == 1 {
				leaves[group[s]] = append(leaves[group[s]], fabric.NodeID(s))
			}
		}
	}
	from, to := turnsAtLeaves(f, tables, plane)
	spare, past, behind, pastBehind := 0, 0, 0, 0 // behind: to tails, which hang on a leaf
	for lid, owner := range routing.HCA.LIDs(f) {
		home, row := f.Endpoint(owner).Switch, tables.Forwarding.Row(lid)
		next := func(s fabric.NodeID) fabric.NodeID { return f.Heads()[f.Out(s, row[s])] }
		for s := range plane {
			if plane[s] < 0 || group[s] == group[home] {
				continue
			}
			all := -1 // the plane by which all leaves go
			for _, leaf := range leaves[group[s]] {
				switch p := plane[next(leaf)]; {
				case all == -1:
					all = p
				case all != p:
					all = -2
				}
			}
			if all < 0 || all == plane[s] {
				continue
			}
			spare++
			at := fabric.NodeID(s)
			for at != home && plane[at] != all {
				at = next(at)
			}
			if at == home {
				past++
			}
			if strings.HasPrefix(f.Label(home), "sw-tail-") {
				behind++
				if at == home {
					pastBehind++
				}
			}
		}
	}
	if both := common(from, to); len(both) > 0 {
		t.Errorf("packets turn both from planes %v and to them", both)
	}
	if len(from) == 0 || tables.Lanes.Needed != 1 {
		t.Errorf("no packet turns at a leaf, or %d lanes", tables.Lanes.Needed)
	}
	if t.Logf("%d of %d spare entries lead past the plane of the others", past, spare); past < spare*2/3 {
		t.Errorf("%d of %d spare entries lead past the plane of the others", past, spare)
	}

	if pastBehind < behind*4/5 {
		t.Errorf("%d of %d spare entries to tails lead past the plane of the others", pastBehind, behind)
	}

	tables, _ = route(t, f, weave.Any{Paths: balanced, Bandwidth: true}, routing.Any, routing.Budget{VLs: 8})
	if from, to := turnsAtLeaves(f, tables, plane); len(common(from, to)) == 0 {
		t.Error("bandwidth first, and packets still turn from some planes to the others only")
	}
}

// turnsAtLeaves is the planes from which and to which packets of hosts turn at leaves; plane is
// that of each switch, or -1.
func turnsAtLeaves(f *fabric.Fabric, tables *routing.Tables, plane []int) (from, to map[int]bool) {
	ends := routing.HCA.Ends(f)
	from, to = map[int]bool{}, map[int]bool{}
	for lid, owner := range routing.HCA.LIDs(f) {
		home, row := f.Endpoint(owner).Switch, tables.Forwarding.Row(lid)
		next := func(s fabric.NodeID) fabric.NodeID { return f.Heads()[f.Out(s, row[s])] }
		for s, sends := range ends {
			if !sends || fabric.NodeID(s) == home {
				continue
			}
			for a, leaf := fabric.NodeID(s), next(fabric.NodeID(s)); leaf != home; a, leaf = leaf, next(leaf) {
				if b := next(leaf); plane[a] >= 0 && ends[leaf] && plane[b] >= 0 {
					from[plane[a]], to[plane[b]] = true, true
				}
			}
		}
	}
	return from, to
}

// common is what two sets of planes have in common.
func common(a, b map[int]bool) (list []int) {
	for p := range a {
		if b[p] {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}
