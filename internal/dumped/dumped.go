// Package dumped reads tables that OpenSM made, of a real fabric or of one that ran in
// a test, for tests that compare ours with them.
package dumped

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/subnetlst"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

// Tables is a set of tables in the corpus (testnet.Corpus), by the name of its
// folder: those of a real fabric, on one lane. The test is skipped if there are none.
func Tables(t testing.TB, corpus, name string, f *fabric.Fabric) *routing.Tables {
	t.Helper()
	all := filepath.Join(corpus, "reference", "opensm-tables")
	if _, err := os.Stat(all); err != nil {
		t.Skip("no tables of OpenSM beside the real dumps")
	}
	dir := filepath.Join(all, name)
	return Read(t, f, filepath.Join(dir, "opensm-subnet.lst.gz"), filepath.Join(dir, "opensm-lfts.dump.gz"))
}

// Read reads a subnet list and the forwarding tables dumped with it. Everything is
// on one lane.
func Read(t testing.TB, f *fabric.Fabric, subnet, lfts string) *routing.Tables {
	t.Helper()
	list, err := subnetlst.ReadMap(open(t, subnet), subnet)
	if err != nil {
		t.Fatal(err)
	}
	dump, err := lft.Read(open(t, lfts), lfts, f, lft.Join{List: list})
	if err != nil {
		t.Fatal(err)
	}
	return &routing.Tables{Fabric: f, Forwarding: dump.Forwarding, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
}

// open opens and decompresses a file, and closes it when the test ends.
func open(t testing.TB, path string) io.Reader {
	t.Helper()
	r, err := reading.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
