package minimal_test

import (
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/adaptive/minimal"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// widened is the tables of a network by an engine, with groups.
func widened(t *testing.T, spec, engine string, c routing.Contract) *routing.Tables {
	t.Helper()
	f := testnet.Build(t, spec)
	tables := routed.Of(t, f, engine, routing.Budget{VLs: 8, Contract: c})
	var err error
	if tables.Groups, err = minimal.Groups(t.Context(), tables, c, routing.HCA, nil); err != nil {
		t.Fatal(err)
	}
	return tables
}

// The judge finds no loop over all choices, everything arrives, and where the static
// ports are shortest every group is of shortest ways.
func TestProven(t *testing.T) {
	for _, tc := range []struct {
		spec, engine string
		contract     routing.Contract
		share        float64 // of entries on trunks with another port nearer, that have a choice
	}{
		{"xgft:m=4x4,w=2x2,hosts=4", "ftree", routing.Any, 1},
		{"xgft:m=4x4x2,w=2x2x2,hosts=2", "updn", routing.Any, .99},
		{"torus:4x4x2,hosts=1", "weave-any", routing.Any, .2},
		{"torus:4x4,hosts=1", "lash", routing.Honored, .05},
		{"dragonfly:p=2", "nue", routing.Honored, .02},
		{testnet.Small, "updn", routing.Any, .5},
		{testnet.SmallWide, "dfsssp", routing.Honored, .3},
	} {
		tables := widened(t, tc.spec, tc.engine, tc.contract)
		v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: tc.contract})
		if err != nil {
			t.Fatal(err)
		}
		if !v.Free() || !v.Complete() {
			t.Errorf("%s %s: free %v, complete %v: %+v", tc.spec, tc.engine, v.Free(), v.Complete(), v.Lost)
		}
		could, do := nearer(tables)
		if share := float64(do) / float64(could); share < tc.share {
			t.Errorf("%s %s: %d of %d entries choose, a share of %.2f; want %.2f", tc.spec, tc.engine, do, could, share, tc.share)
		} else {
			t.Logf("%s %s: %d of %d entries choose", tc.spec, tc.engine, do, could)
		}
	}
}

// nearer counts the entries that a switch has two ports or more for that lead nearer to
// the destination, and those of them with a group.
func nearer(t *routing.Tables) (could, do int) {
	f := t.Fabric
	for lid, e := range routing.HCA.LIDs(f) {
		hops := f.Hops(f.Endpoint(e).Switch)
		for s, c := range t.Groups.Row(0, lid) {
			near := 0
			first, end := f.TrunksFrom(fabric.NodeID(s))
			for o := first; o < end; o++ {
				if hops[f.Channel(o).To] < hops[s] {
					near++
				}
			}
			if near > 1 {
				could++
				if c != routing.NoChoice {
					do++
				}
			}
		}
	}
	return could, do
}

// With a port less in the graph than the judge sees, or one more admitted, this fails: a
// greedy set is largest when no port can be added.
func TestNothingFits(t *testing.T) {
	tables := widened(t, "torus:4x4,hosts=1", "weave-any", routing.Any)
	f, g := tables.Fabric, tables.Groups
	added := 0
	for lid, e := range routing.HCA.LIDs(f) {
		hops := f.Hops(f.Endpoint(e).Switch)
		row := g.Row(0, lid)
		for s := range fabric.NodeID(f.Switches()) {
			var ports routing.PortSet
			if row[s] != routing.NoChoice {
				ports = g.Sets(s)[row[s].Group()]
			}
			ports.Add(tables.Forwarding.Port(s, lid))
			first, end := f.TrunksFrom(s)
			for c := first; c < end; c++ {
				port := f.Channel(c).FromPort
				if hops[f.Channel(c).To] >= hops[s] || ports.Has(port) || added == 40 {
					continue
				}
				added++
				was, more := row[s], ports
				more.Add(port)
				n := len(g.Sets(s))
				g.Set(s, n, more)
				row[s] = routing.ChoiceOf(n, false)
				v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any, NoCycle: true})
				if err != nil {
					t.Fatal(err)
				}
				if v.Free() && v.Complete() {
					t.Errorf("%s could also send LID %d by port %d", f.Label(s), lid, port)
				}
				row[s] = was
			}
		}
	}
	if added == 0 {
		t.Error("nothing was tried")
	}
}
