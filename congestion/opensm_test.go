package congestion_test

import (
	"context"
	"math"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/dumped"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// orcs is what ORCS 2.0 found for OpenSM's tables: effective bisection bandwidth
// with all links alike.
var orcs = []struct {
	fabric, tables string
	lambda         float64
}{
	{"psmn-x5-2020", "x5-minhop", .725},
	{"psmn-x5-2020", "x5-updn", .607},
	{"kalcher-stage-2014", "stage-minhop", .556},
	{"kalcher-stage-2014", "stage-sssp", .554},
	{"topograph-ndr-dgx-2025", "dgx-minhop", .710},
	{"topograph-ndr-dgx-2025", "dgx-updn", .656},
	{"topograph-ndr-dgx-2025", "dgx-sssp", .758},
	{"topograph-ndr-dgx-2025", "dgx-nue", .748},
}

func TestAgreesWithORCS(t *testing.T) {
	for _, c := range orcs {
		tables := dumped.Tables(t, testnet.Corpus(t), c.tables, testnet.Dump(t, c.fabric))
		r := simulate(t, tables, congestion.Options{
			Pattern: pattern(t, "bisect"), Placement: hosts(t, tables.Fabric), UniformRates: true, Seed: 1,
		})
		t.Logf("%-12s %s: %.4f ± %.4f in %d runs, ORCS %.3f", c.tables, c.fabric, r.Lambda, r.StdErr, r.Runs, c.lambda)
		if math.Abs(r.Lambda-c.lambda) > 0.01 {
			t.Errorf("%s: %.4f, ORCS has %.3f", c.tables, r.Lambda, c.lambda)
		}
		if r.Lost != 0 {
			t.Errorf("%s: %d pairs have no route", c.tables, r.Lost)
		}
	}
}

func pattern(t testing.TB, spec string) traffic.Pattern {
	t.Helper()
	p, err := traffic.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// hosts puts a rank on every host adapter.
func hosts(t testing.TB, f *fabric.Fabric) traffic.Placement {
	t.Helper()
	var among []fabric.EndpointID
	for e := range f.Endpoints() {
		if ep := f.Endpoint(fabric.EndpointID(e)); ep.Class == fabric.HostAdapter && ep.Switch != fabric.None {
			among = append(among, fabric.EndpointID(e))
		}
	}
	p, err := traffic.Place("all", f, among, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func simulate(t testing.TB, tables *routing.Tables, o congestion.Options) *congestion.Result {
	t.Helper()
	r, err := congestion.Simulate(context.Background(), tables, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
