package sssp_test

import (
	"context"
	"math"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/dumped"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Between hosts of a real fabric no trunk carries more routes than the fullest does
// by OpenSM's own sssp, and the routes are spread no less evenly (standard
// deviation). With aggregation nodes it is shown only.
func TestNoWorseThanOpenSM(t *testing.T) {
	for table, name := range map[string]string{"dgx-sssp": "topograph-ndr-dgx-2025", "stage-sssp": "kalcher-stage-2014"} {
		f := testnet.Dump(t, name)
		theirs := dumped.Tables(t, testnet.Corpus(t), table, f)
		ours, err := sssp.Finder{}.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, scope := range []routing.Scope{routing.HCA, routing.Adapters} {
			most, spread := loads(f, ours, scope)
			theirMost, theirSpread := loads(f, theirs.Forwarding, scope)
			t.Logf("%s, endpoints %s: at most %d routes on a trunk, standard deviation %.2f; OpenSM %d and %.2f", name, scope, most, spread, theirMost, theirSpread)
			if scope == routing.HCA && (most > theirMost || spread > theirSpread) {
				t.Errorf("%s: worse than OpenSM", name)
			}
		}
	}
}

// loads is the routes on the fullest trunk, and the standard deviation of the
// routes on the trunks.
func loads(f *fabric.Fabric, fw *routing.Forwarding, scope routing.Scope) (most uint32, spread float64) {
	l := congestion.Count(f, fw, scope)
	sum, squares := 0.0, 0.0
	for _, n := range l.Routes {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	mean := sum / float64(len(l.Routes))
	return l.Max, math.Sqrt(squares/float64(len(l.Routes)) - mean*mean)
}
