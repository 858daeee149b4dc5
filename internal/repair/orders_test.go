package repair_test

import (
	"os"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// After some failures one step reaches all destinations if those come first that another order
// leaves. In the order of their LIDs, 25 of these 36 take one.
func TestThoseLeftComeFirst(t *testing.T) {
	was, contract := routeAsUsual(t, "dragonfly:p=2")
	f := was.Fabric
	one := 0
	for s := range fabric.NodeID(f.Switches()) {
		if mendingSteps(t, was, contract, nil, []fabric.NodeID{s}) == 1 {
			one++
		}
	}
	if one < 33 {
		t.Errorf("one step does after %d of %d switches", one, f.Switches())
	}
}

// The same after failures of large trees in planes: of one destination after the cables, of 8 and
// in a second order of 8 more after the switches. The last takes one step because the spare entries
// of spines lead past it.
func TestThoseLeftComeFirstOnPlanes(t *testing.T) {
	testnet.OnlyWhole(t)
	failures := map[string][][]string{"planes:ports=20,groups=10,leaves=8,planes=14,on=7,up=8": {{"sw-l0-3-1", "sw-l1-3-8"}}}
	if os.Getenv("WEFT_THOROUGH") != "" {
		failures[testnet.Grown] = [][]string{{"sw-l0-3-5", "sw-l1-3-9"}, {"sw-l1-5-12"}, {"sw-l1-1-9"}, {"sw-l1-8-8"}}
	}
	for spec, list := range failures {
		was, contract := routeAsUsual(t, spec)
		f := was.Fabric
		for _, names := range list {
			nodes := make([]fabric.NodeID, len(names))
			for i, name := range names {
				nodes[i] = labelled(t, f, name)
			}
			var cables []fabric.ChannelID
			if len(nodes) == 2 {
				cables, nodes = []fabric.ChannelID{trunk(t, f, nodes[0], nodes[1])}, nil
			}
			if n := mendingSteps(t, was, contract, cables, nodes); n != 1 {
				t.Errorf("%s without %v takes %d steps", spec, names, n)
			}
		}
	}
}

// usual is the tables of routeAsUsual: several tests repair those of one network.
var usual = map[string]*routing.Tables{}

// routeAsUsual is weave-any's tables as weft.Route makes them without further options.
func routeAsUsual(t *testing.T, spec string) (*routing.Tables, routing.Contract) {
	t.Helper()
	e, err := engines.Named("weave-any")
	if err != nil {
		t.Fatal(err)
	}
	if tables := usual[spec]; tables != nil {
		return tables, e.Contract
	}
	tables, err := e.Route(t.Context(), testnet.Build(t, spec), engines.Options{Seed: 1}, routing.Budget{VLs: 8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	usual[spec] = tables
	return tables, e.Contract
}

// mendingSteps is how many steps mend tables where some parts are gone.
func mendingSteps(t *testing.T, was *routing.Tables, c routing.Contract, cables []fabric.ChannelID, nodes []fabric.NodeID) (n int) {
	t.Helper()
	live, err := was.Fabric.Without(cables, nodes)
	if err != nil {
		t.Fatal(err)
	}
	before, err := transition.On(live, was, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := repair.Mend(t.Context(), before, was, repair.Options{Contract: c})
	if err != nil || len(plan.Left) > 0 {
		t.Fatalf("%v, %v left", err, plan.Left)
	}
	for _, s := range plan.Steps {
		if s.Mended > 0 {
			n++
		}
	}
	return n
}

// labelled is the switch with a label.
func labelled(t *testing.T, f *fabric.Fabric, label string) fabric.NodeID {
	t.Helper()
	for s := range fabric.NodeID(f.Switches()) {
		if f.Label(s) == label {
			return s
		}
	}
	t.Fatalf("there is no switch %s", label)
	return fabric.None
}

// trunk is the first trunk from one switch to another.
func trunk(t *testing.T, f *fabric.Fabric, from, to fabric.NodeID) fabric.ChannelID {
	t.Helper()
	for c, end := f.TrunksFrom(from); c < end; c++ {
		if f.Heads()[c] == to {
			return c
		}
	}
	t.Fatalf("no cable joins %s and %s", f.Label(from), f.Label(to))
	return fabric.None
}

// Where the spines that are left to some leaves send packets back to them, no first step serves all
// these leaves: in some mixture of the entries packets would circle. So it is with most destinations
// that the first step leaves here.
//
// Look for switches among which packets stay: by each trunk of one with hosts whose entry is dead,
// and by the entry of each other. Suppose that a step gives all with hosts a path. Then those whose
// entries are dead have new ones, and by these and the entries from before packets never leave.
func TestNoStepServesAllLeaves(t *testing.T) {
	testnet.OnlyWhole(t)
	failures := map[string]string{"planes:ports=20,groups=10,leaves=8,planes=14,on=7,up=8": "sw-l1-0-6"}
	for spec, name := range failures {
		was, contract := routeAsUsual(t, spec)
		f := was.Fabric
		live, err := f.Without(nil, []fabric.NodeID{labelled(t, f, name)})
		if err != nil {
			t.Fatal(err)
		}
		before, err := transition.On(live, was, nil)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := repair.Mend(t.Context(), before, was, repair.Options{Contract: contract})
		if err != nil || len(plan.Left) > 0 {
			t.Fatalf("%v, %v left", err, plan.Left)
		}
		left, lost := 0, 0
		for lid, owner := range routing.HCA.LIDs(live) {
			home, after := live.Endpoint(owner).Switch, plan.Steps[0].Tables.Forwarding.Row(lid)
			served := true
			for s, sends := range routing.HCA.Ends(live) {
				served = served && (!sends || arrives(live, after, fabric.NodeID(s), home))
			}
			if !served {
				left++
			}
			if circling(live, before.Forwarding.Row(lid), home) {
				if lost++; served {
					t.Errorf("%s without %s: the first step serves all to LID %d, and none can", spec, name, lid)
				}
			}
		}
		if lost == 0 || 2*lost < left {
			t.Errorf("%s without %s: the first step leaves %d destinations, of which none serves %d", spec, name, left, lost)
		}
	}
}

// circling reports whether packets of some switch with hosts whose path to another is broken never
// leave some switches, whichever new entries those have whose entries are dead.
func circling(f *fabric.Fabric, row []uint8, home fabric.NodeID) bool {
	ends, stay := routing.HCA.Ends(f), make([]bool, f.Switches())
	trunks := func(s fabric.NodeID) []fabric.NodeID {
		if c := f.Out(s, row[s]); c != fabric.None && int(c) < f.Trunks() {
			return []fabric.NodeID{f.Heads()[c]}
		}
		if !ends[s] {
			return []fabric.NodeID{home} // it need not have an entry
		}
		return f.Neighbours(s)
	}
	for s := range stay {
		stay[s] = fabric.NodeID(s) != home
	}
	for again := true; again; {
		again = false
		for s := range stay {
			if stay[s] && slices.ContainsFunc(trunks(fabric.NodeID(s)), func(u fabric.NodeID) bool { return !stay[u] }) {
				stay[s], again = false, true
			}
		}
	}
	for s, sends := range ends {
		if sends && stay[s] {
			return true
		}
	}
	return false
}
