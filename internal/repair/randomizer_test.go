package repair

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// A randomizer that is to change all entries sends packets of most leaves by another spine than before, of others only
// where that would close a cycle, but by none without a path. It gives no entry to a spine that no packet passes, and none
// to the destination's switch.
func TestRandomizer(t *testing.T) {
	f := testnet.Build(t, "xgft:m=4,w=4,hosts=1")
	fw, err := minhop.Finder{}.Paths(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
	lid := f.Endpoint(routing.HCA.Endpoints(f)[0]).LID
	row, home := fw.Row(lid), f.Endpoint(f.Owner(lid)).Switch
	leaf := func(s fabric.NodeID) bool { return len(f.Attached(s)) > 1 } // beside port 0
	unused := fabric.NodeID(f.Switches() - 1)
	passed := map[fabric.NodeID]bool{}
	for s := range fabric.NodeID(f.Switches()) {
		if leaf(s) && s != home {
			passed[f.Heads()[f.Trunk(s, row[s])]] = true
		}
	}
	for leaf(unused) || passed[unused] {
		unused--
	}
	row[unused] = routing.NoPort
	leaves := 0 // with another entry
	for seed := range uint64(20) {
		in := newProblem(before, nil, Options{Contract: routing.Any})
		a := in.newAttempt(before)
		if err := a.derive(t.Context()); err != nil {
			t.Fatal(err)
		}
		d := randomizer{a: a, rng: rand.New(rand.NewPCG(seed, 0)), share: 1}
		d.destination(lid)
		changed := 0
		for s, port := range a.row(lid) {
			at := fabric.NodeID(s)
			if port == row[s] {
				continue
			}
			changed++
			switch {
			case at == home, at == unused:
				t.Errorf("seed %d: %s has another entry", seed, f.Label(at))
			case f.Heads()[f.Trunk(at, port)] == unused:
				t.Errorf("seed %d: %s sends packets to %s, which has no path", seed, f.Label(at), f.Label(unused))
			case leaf(at):
				leaves++
			}
		}
		if a.step.Mended != changed {
			t.Errorf("seed %d: %d entries are other, and %d are counted", seed, changed, a.step.Mended)
		}
	}
	if leaves <= 50 {
		t.Errorf("leaves have another entry %d times of 60", leaves)
	}
}
