package e2e

import (
	"io"
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// draws is how many service levels and lanes are drawn for a network.
const draws = 24

// Service levels drawn for every pair of nodes, and lanes for every in-port,
// out-port and service level, mean nothing, but both judges must make the same of
// them. An engine's lanes never vary by port, so only this tries that they may.
func TestIbdmchkAgreesOnRandomLanes(t *testing.T) {
	live.Need(t)
	t.Parallel()
	sssp := named(t, "sssp")
	onEach(t, []network{
		{name: "ring", spec: "ring:5,hosts=2"},
		{name: "random", spec: "random:switches=10,links=14,hosts=2,seed=3"},
		{name: "torus", spec: "torus:4x4"},
	}, func(t *testing.T, _ network, f *fabric.Fabric) {
		tables := route(t, f, sssp, 1)
		d := loaded(t, netFile(t, f), f, tables.Forwarding, true)
		found := map[live.Verdict]int{}
		for seed := uint64(0); seed < draws; seed += uint64(testnet.Of(1, 3)) { // a sample of them has few lanes and many, too
			// Few lanes loop often and many seldom.
			tables.Lanes = randomLanes(f, seed, 1+int(seed/2)%routing.DefaultVLs)
			for form := range slvl.Lines + 1 {
				in := withLanes(t, d, tables, form)
				sameRouting(t, tables, in.read(t, f))
				found[in.agreed(t, f, routing.Adapters)]++
			}
			if t.Failed() {
				t.Fatalf("with the lanes of seed %d", seed)
			}
		}
		t.Log(found)
		if found[live.Loop] == 0 || found[live.NoLoop] == 0 || len(found) != 2 {
			t.Errorf("verdicts %v: the draws try one side only", found)
		}
	})
}

// randomLanes draws lanes by port, and the service level of every pair of nodes,
// or of everything on a switch and a node.
func randomLanes(f *fabric.Fabric, seed uint64, vls int) *routing.Lanes {
	draw := rand.New(rand.NewPCG(seed, 0x6c616e6573)) // "lanes"
	m := routing.LanePerSL(routing.DefaultVLs).PerPort(f)
	for s := range fabric.NodeID(f.Switches()) {
		ports := uint8(f.Node(s).Ports)
		for in := range ports + 1 {
			for out := range ports + 1 {
				for sl := range uint8(routing.DefaultVLs) {
					m.Set(s, in, out, sl, uint8(draw.IntN(vls)))
				}
			}
		}
	}
	lanes := routing.NewLanes(f, m) // as engines do: what hangs on a switch goes together
	if seed%2 == 1 {
		lanes = laneByEndpoint(f, m)
	}
	for lid := range f.LIDs() {
		row := lanes.SLRow(lid)
		for i := range row {
			row[i] = uint8(draw.IntN(routing.DefaultVLs))
		}
	}
	return lanes
}

// laneByEndpoint is Lanes with a row for every endpoint.
func laneByEndpoint(f *fabric.Fabric, m *routing.SL2VL) *routing.Lanes {
	row := make([]int32, len(f.Endpoints()))
	for e := range row {
		row[e] = int32(e)
	}
	return routing.NewLanesByRow(f, m, row, len(row))
}

// The comparisons of verdicts notice lanes and service levels that only one judge
// was given.
func TestOtherLanesAreNoticed(t *testing.T) {
	live.Need(t)
	t.Parallel()
	lash := named(t, "lash")
	f := computed[0].fabric(t)
	tables := route(t, f, lash, routing.DefaultVLs)
	d := loaded(t, netFile(t, f), f, tables.Forwarding, true)
	right := withLanes(t, d, tables, slvl.Lines)
	oneLane, oneLevel := right, right
	oneLane.slvl = withLanes(t, d, onFewerLanes(tables, 1), slvl.Lines).slvl
	oneLevel.psl = written(t, "psl", func(w io.Writer) error {
		same := *tables
		same.Lanes = routing.OneSL(f, tables.Lanes.SL2VL)
		return psl.Write(w, &same, psl.Full)
	})
	ours := right.ours(t, f, routing.Adapters)
	for name, other := range map[string]files{"one lane": oneLane, "one service level": oneLevel} {
		if theirs, _ := other.theirs(t, routing.Adapters); theirs == ours {
			t.Errorf("%s instead of what lash assigned: still %v", name, ours)
		}
		if again := other.ours(t, f, routing.Adapters); again == ours {
			t.Errorf("%s instead of what lash assigned: weft still finds %v", name, ours)
		}
	}
}
