package daemon

import (
	"bytes"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// A switch has not confirmed a step when a second fault comes, and OpenSM dies while it writes the
// repair of that: the OpenSM after it knows nothing of that switch, and the proof is about what it
// had all the same.
func TestUnconfirmedBeforeTheLastStep(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "torus:3x3,hosts=1")
	tried := 0
	for c := range f.Trunks() {
		r := start(t, Config{Engine: Names{"updn"}})
		ask := func(on *fabric.Fabric, sweep, inUse uint64, blocks ...wire.Block) (*handed, bool) {
			q := wire.Of(on, sweep)
			q.InUse, q.Improves, q.Blocks, q.Filled = inUse, true, blocks, inUse == 0 && sweep > 1
			a := r.ask(q)
			if a.Refusal != "" {
				t.Fatal(a.Refusal)
			}
			return r.keeper.find(a.Number), a.Step
		}
		without := func(cables ...fabric.ChannelID) *fabric.Fabric {
			less, err := f.Without(cables, nil)
			if err != nil {
				t.Fatal(err)
			}
			return less
		}
		first, _ := ask(f, 1, 0)
		cut, both := without(fabric.ChannelID(c)), without(fabric.ChannelID(c), fabric.ChannelID((c+5)%f.Trunks()))
		second, _ := ask(cut, 2, first.number)
		// A switch forwards some LID as neither the tables in use do nor those before.
		at, port := fabric.NodeID(c%9), uint8(0)
		far := f.Endpoint(fabric.EndpointID(len(f.Endpoints()) - 1 - c%3))
		if far.Switch == at {
			continue
		}
		for p := uint8(1); int(p) <= f.Node(at).Ports; p++ {
			if trunk := both.Out(at, p); trunk != fabric.None && int(trunk) < both.Trunks() && p != second.tables.Forwarding.Port(at, far.LID) && p != first.tables.Forwarding.Port(at, far.LID) {
				port = p
			}
		}
		block := wire.Block{Switch: int(at), Number: int(far.LID) / 64, Ports: bytes.Repeat([]byte{routing.NoPort}, 64)}
		block.Ports[far.LID%64] = port
		third, _ := ask(both, 3, second.number, block)
		if third.number == second.number {
			continue
		}
		fourth, step := ask(both, 4, 0)
		if !step {
			continue // which tells that nothing is proven about the time until it is written
		}
		odd := second.tables.Forwarding.Clone()
		odd.Row(far.LID)[at] = port
		had, err := transition.On(fourth.tables.Fabric, &routing.Tables{Fabric: second.tables.Fabric, Forwarding: odd, Lanes: second.tables.Lanes}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := deadlock.CheckMixture(t.Context(), []*routing.Tables{had, fourth.tables}, fourth.verdict.Certificate, nil); err != nil {
			t.Errorf("with what switch %d had: %v", at, err)
		}
		tried++
	}
	if t.Logf("%d tried", tried); tried < 4 {
		t.Error("the trial is one-sided")
	}
}
