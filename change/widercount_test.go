package change

import (
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Of five new entries packets pass one before the step, one after it and two both times; the other follows. So does one that
// is taken out, which packets passed.
func TestCountFor(t *testing.T) {
	f := testnet.Build(t, "xgft:m=3,w=4,hosts=1")
	var leaves, spines []fabric.NodeID
	for s := range fabric.NodeID(f.Switches()) {
		if len(f.Attached(s)) > 1 { // beside port 0
			leaves = append(leaves, s)
		} else {
			spines = append(spines, s)
		}
	}
	port := func(from, to fabric.NodeID) uint8 {
		for c, end := f.TrunksFrom(from); c < end; c++ {
			if f.Heads()[c] == to {
				return f.Channel(c).FromPort
			}
		}
		t.Fatalf("no cable from switch %d to %d", from, to)
		return 0
	}
	from, other, to := leaves[0], leaves[1], leaves[2]
	host := f.Attached(to)[len(f.Attached(to))-1]
	lid := f.Endpoint(host).LID
	tables := func(by, otherBy fabric.NodeID, entries ...uint8) *routing.Tables {
		w := routing.NewForwarding(f)
		row := w.Row(lid)
		row[from], row[other], row[to] = port(from, by), port(other, otherBy), f.LastPort(f.Endpoint(host))
		for i, e := range entries {
			row[spines[i]] = e
		}
		return &routing.Tables{Fabric: f, Forwarding: w}
	}
	const none = routing.NoPort
	before := tables(spines[0], spines[3], port(spines[0], to), none, none, port(spines[3], to))
	after := tables(spines[1], spines[1], port(spines[0], from), port(spines[1], to), port(spines[2], to), none)
	plan := &repair.Plan{Steps: []repair.Step{{Tables: after, Mended: 2, Follow: 4}}}
	countFor(routing.HCA, before, plan)
	if s := plan.Steps[0]; s.Mended != 4 || s.Follow != 2 {
		t.Errorf("%d entries for packets of hosts and %d that follow, want 4 and 2", s.Mended, s.Follow)
	}
}
