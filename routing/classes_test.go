package routing_test

import (
	"errors"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Every class has the lanes of the one that there was, moved up by as many as that had.
func TestInClasses(t *testing.T) {
	f := testnet.Mesh(t, 3)
	perPort := routing.LanePerSL(2).PerPort(f)
	perPort.Set(1, 1, 2, 0, 1)
	perPort.Set(1, 2, 1, 1, 15) // carries no data
	for name, m := range map[string]*routing.SL2VL{"uniform": routing.LanePerSL(2), "by port": perPort} {
		lanes := routing.NewLanes(f, m)
		lanes.Needed = 2
		lanes.SLRow(5)[2], lanes.SLRow(5)[1] = 1, routing.NoSL
		before := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: lanes}
		after, err := before.InClasses(3)
		if err != nil {
			t.Fatal(err)
		}
		l := after.Lanes
		if l.Classes != 3 || l.ClassLevels != 2 || l.Needed != 6 || before.Lanes.Classes != 0 || before.Lanes.Needed != 2 {
			t.Errorf("%s: %d classes of %d levels, %d lanes needed; before %d, %d", name, l.Classes, l.ClassLevels, l.Needed, before.Lanes.Classes, before.Lanes.Needed)
		}
		for s := range fabric.NodeID(f.Switches()) {
			for in := range uint8(f.Node(s).Ports + 1) {
				for out := range uint8(f.Node(s).Ports + 1) {
					for sl := range uint8(routing.SLs) {
						want := m.VL(s, in, out, sl%2)
						if want != 15 {
							want += sl / 2 % 3 * 2
						}
						if got := l.SL2VL.VL(s, in, out, sl); got != want {
							t.Fatalf("%s: switch %d, port %d to %d, SL %d: VL %d, want %d", name, s, in, out, sl, got, want)
						}
					}
				}
			}
		}
		if got := l.Class(2, lanes.SLRow(5)[2]); got != 5 {
			t.Errorf("%s: class 2 of SL 1 is SL %d, want 5", name, got)
		}
		if got := l.Class(2, lanes.SLRow(5)[1]); got != routing.NoSL {
			t.Errorf("%s: class 2 of no service level is SL %d", name, got)
		}
		if got := after.Levels(); got != 0b111111 {
			t.Errorf("%s: service levels %b", name, got)
		}
	}
}

// More classes than InfiniBand has lanes or service levels for are refused.
func TestTooManyClasses(t *testing.T) {
	f := testnet.Mesh(t, 3)
	with := func(lanes, top int) *routing.Tables {
		l := routing.NewLanes(f, routing.LanePerSL(lanes))
		l.SLRow(5)[2] = uint8(top)
		return &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: l}
	}
	few, levels := (*routing.TooFewLanes)(nil), (*routing.TooFewLevels)(nil)
	if _, err := with(5, 4).InClasses(4); !errors.As(err, &few) || few.Need != 20 || few.Have != 15 {
		t.Errorf("4 classes of 5 lanes: %v", err)
	}
	if _, err := with(5, 4).InClasses(3); err != nil {
		t.Errorf("3 classes of 5 lanes: %v", err)
	}
	if _, err := with(1, 5).InClasses(3); !errors.As(err, &levels) || levels.Need != 18 || levels.Have != 16 {
		t.Errorf("3 classes of 6 service levels: %v", err)
	}
}
