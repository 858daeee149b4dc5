package packets_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/dumped"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// stepsOf is a credit loop as packets takes it.
func stepsOf(v *deadlock.Verdict) []packets.LoopStep {
	steps := make([]packets.LoopStep, len(v.Cycle))
	for i, s := range v.Cycle {
		steps[i] = packets.LoopStep{Trunk: s.Trunk, VL: s.VL, SL: s.SL, Src: s.Src, Dst: s.Dst}
	}
	return steps
}

// route is tables by an engine, nil if it refuses.
func route(t testing.TB, f *fabric.Fabric, engine string, vls int) *routing.Tables {
	t.Helper()
	e, err := engines.Named(engine)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := e.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: vls, Scope: routing.Adapters}, nil)
	if err != nil {
		t.Logf("%s refuses: %v", engine, err)
		return nil
	}
	return tables
}

func network(t testing.TB, tables *routing.Tables) *packets.Network {
	t.Helper()
	c, err := packets.PresetNamed("ib-hdr")
	if err != nil {
		t.Fatal(err)
	}
	n, err := packets.New(tables, c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func judged(t testing.TB, tables *routing.Tables) *deadlock.Verdict {
	t.Helper()
	v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: routing.Directed, Scope: routing.Adapters})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Each network stops under the traffic of its credit loop, in the buffers that the
// judge named, and the same traffic drains under every routing that is proven.
func TestLoopsStopAndProvenRoutingsDrain(t *testing.T) {
	for _, c := range []struct{ name, spec, engine string }{
		{"HOTI 2016, figure 1", "ring:4", "clockwise"},
		{"IPDPS 2011, figure 2", "ring:5", "sssp"},
		{"torus 5x5", "torus:5x5", "minhop"},
		{"torus 4x4x4", "torus:4x4x4", "minhop"},
		{"Slim Fly q=5, HOTI 2016, figure 7", "slimfly:q=5,hosts=2", "sssp"},
		{"Slim Fly q=7, HOTI 2016, figure 7", "slimfly:q=7,hosts=2", "sssp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := testnet.Build(t, c.spec)
			tables := clockwise(f)
			if c.engine != "clockwise" {
				tables = route(t, f, c.engine, 1)
			}
			stopsAndDrains(t, tables)
		})
	}
}

// The fat tree of a DGX cluster under OpenSM's minhop, with the aggregation nodes in
// its spine switches sending too.
func TestRealFabricStops(t *testing.T) {
	f := testnet.Dump(t, "topograph-ndr-dgx-2025")
	stopsAndDrains(t, dumped.Tables(t, testnet.Corpus(t), "dgx-minhop", f))
}

func stopsAndDrains(t *testing.T, tables *routing.Tables) {
	t.Helper()
	v := judged(t, tables)
	if v.Free() {
		t.Fatal("the judge finds no credit loop")
	}
	r, err := network(t, tables).Replay(context.Background(), stepsOf(v), 1)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Result.Deadlock
	if r.Result.Status != packets.Deadlocked {
		t.Fatalf("%s after %d packets in %d attempts", r.Result.Status, r.Result.Arrived, r.Attempt)
	}
	t.Logf("stopped after %.1f us, attempt %d: %s; the judge's loop: %v (%d steps)", float64(d.Closed)/1e6, r.Attempt, d, d.Matches(stepsOf(v)), len(v.Cycle))
	onLoop(t, tables, d)
	for _, engine := range []string{"lash", "dfsssp", "df-dn", "updn", "nue"} {
		proven := route(t, tables.Fabric, engine, 8)
		if proven == nil {
			continue
		}
		if !judged(t, proven).Free() {
			t.Fatalf("%s is not proven", engine)
		}
		other, err := r.On(context.Background(), network(t, proven))
		if err != nil {
			t.Fatal(err)
		}
		if other.Status != packets.Completed || other.Arrived != other.Created || other.Created != int64(len(r.Messages)) {
			t.Errorf("%s: %s, %d of %d packets arrived", engine, other.Status, other.Arrived, len(r.Messages))
		}
	}
}

// onLoop checks that every buffer of a deadlock is full for what heads it, and that
// its head goes on to the next.
func onLoop(t *testing.T, tables *routing.Tables, d *packets.Deadlock) {
	t.Helper()
	f := tables.Fabric
	for i, b := range d.Cycle {
		next := d.Cycle[(i+1)%len(d.Cycle)]
		head := b.Packets[0]
		at := f.Channel(b.Channel).To
		if f.Out(at, tables.Forwarding.Port(at, head.LID)) != next.Channel {
			t.Errorf("the head of buffer %d does not go on to the next", i)
		}
		if free := 8192/packets.Block - b.Used; free >= (head.Bytes+packets.Block-1)/packets.Block {
			t.Errorf("buffer %d has %d blocks free", i, free)
		}
	}
}

// clockwise sends everything round a ring by one direction: port 2 of a switch
// whose host is on port 1.
func clockwise(f *fabric.Fabric) *routing.Tables {
	paths := routing.NewForwarding(f)
	for lid, e := range f.LIDs() {
		row := paths.Row(lid)
		for s := range row {
			row[s] = 2
		}
		ep := f.Endpoint(e)
		row[ep.Switch] = 0
		if ep.Deliver != fabric.None {
			row[ep.Switch] = f.Channel(ep.Deliver).FromPort
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: paths, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
}
