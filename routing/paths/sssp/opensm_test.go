package sssp_test

import (
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/format/lft"
	"github.com/weft-fabric/weft/format/subnetlst"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/paths/sssp"
)

// corpus is the folder of real dumps; the test is skipped without OpenSM's tables.
func corpus(t *testing.T) string {
	dir := testnet.Corpus(t)
	if _, err := os.Stat(filepath.Join(dir, "reference", "opensm-tables")); err != nil {
		t.Skip("no tables of OpenSM beside the real dumps")
	}
	return dir
}

func open(t *testing.T, path ...string) io.ReadCloser {
	t.Helper()
	r, err := format.Open(filepath.Join(path...), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// Between hosts of a real fabric no trunk carries more routes than the fullest does
// by OpenSM's own sssp, and the routes are spread no less evenly (standard
// deviation). With aggregation nodes it is shown only.
func TestNoWorseThanOpenSM(t *testing.T) {
	dir := corpus(t)
	for table, name := range map[string]string{"dgx-sssp": "topograph-ndr-dgx-2025", "stage-sssp": "kalcher-stage-2014"} {
		f := testnet.Dump(t, name)
		tables := filepath.Join(dir, "reference", "opensm-tables", table)
		list, err := subnetlst.ReadMap(open(t, tables, "opensm-subnet.lst.gz"), "lst")
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := lft.Read(open(t, tables, "opensm-lfts.dump.gz"), "lfts", f, lft.Join{List: list})
		if err != nil {
			t.Fatal(err)
		}
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
