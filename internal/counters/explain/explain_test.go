package explain_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/counters/explain"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
)

// counted is the counters of a run of packets, and the loads that its tables predict.
func counted(t *testing.T, f *fabric.Fabric, engine string) (*congestion.Loads, []float64) {
	t.Helper()
	tables := routed.Of(t, f, engine, routing.Budget{VLs: 8})
	hardware, err := packets.PresetNamed("unit")
	if err != nil {
		t.Fatal(err)
	}
	n, err := packets.New(tables, hardware)
	if err != nil {
		t.Fatal(err)
	}
	run, err := n.Measure(t.Context(), packets.Injection{Offered: .2, Placement: routing.HCA.Endpoints(f), Seed: 1}, packets.Window{})
	if err != nil {
		t.Fatal(err)
	}
	bytes := make([]float64, len(f.Channels()))
	for i, u := range run.Channels {
		bytes[i/run.Lanes] += u.Busy * 1e9
	}
	return congestion.Count(f, tables.Forwarding, routing.HCA), bytes
}

// Counters of packets under the tables agree with what these predict, with noise too; each
// fault that is put into them is found, and nothing else.
func TestExplain(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	loads, bytes := counted(t, f, "updn")
	other, _ := counted(t, f, "minhop")
	const unused = fabric.ChannelID(0) // taken for one that no route leads over
	loads.Routes[unused], bytes[unused] = 0, 0
	rng := rand.New(rand.NewPCG(16, 4))
	known, wait := make([]bool, len(bytes)), make([]float64, len(bytes))
	used := fabric.ChannelID(f.Trunks() - 1)
	for c := range fabric.ChannelID(f.Trunks()) {
		known[c] = true
		bytes[c] *= .9 + .2*rng.Float64()
		wait[c] = bytes[c] / 1000 * (.5 + rng.Float64())
	}
	explained := func(l *congestion.Loads, known []bool) *explain.Measured {
		return explain.Trunks(&routing.Tables{Fabric: f}, l, explain.Counted{Bytes: bytes, Wait: wait, Known: known})
	}
	clean := explained(loads, known)
	if clean.Correlation < .9 || len(clean.Findings) > 0 || clean.Trunks != f.Trunks() {
		t.Errorf("without a fault: %+v", clean)
	}
	if stale := explained(other, known); !(stale.Correlation < clean.Correlation) {
		t.Errorf("by other tables the correlation is %.2f, by these %.2f", stale.Correlation, clean.Correlation)
	}
	for _, tc := range []struct {
		kind  explain.Kind
		trunk fabric.ChannelID
		fault func(c fabric.ChannelID)
	}{
		{explain.Waiting, used, func(c fabric.ChannelID) { wait[c] *= 40 }},
		{explain.Hot, used, func(c fabric.ChannelID) { bytes[c], wait[c] = bytes[c]*6, wait[c]*6 }},
		{explain.Idle, used, func(c fabric.ChannelID) { bytes[c], wait[c] = 0, 0 }},
		{explain.Unexpected, unused, func(c fabric.ChannelID) { bytes[c], wait[c] = bytes[used], wait[used] }},
	} {
		b, w := bytes[tc.trunk], wait[tc.trunk]
		tc.fault(tc.trunk)
		m := explained(loads, known)
		if len(m.Findings) != 1 || m.Findings[0].Kind != tc.kind || m.Findings[0].Trunk != tc.trunk {
			t.Errorf("%s on %s: %+v", tc.kind, f.ChannelLabel(tc.trunk), m.Findings)
		}
		bytes[tc.trunk], wait[tc.trunk] = b, w
	}
	if few := explained(loads, make([]bool, len(known))); few.Trunks != 0 || !math.IsNaN(few.Correlation) {
		t.Errorf("of no counters: %+v", few)
	}
}
