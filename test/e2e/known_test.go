package e2e

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/subnetlst"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// known is what the corpus says of tables that OpenSM made for real fabrics on
// one lane: whether they are free of credit loops with all adapters as endpoints,
// and with host adapters alone.
var known = []struct {
	table     string
	network   network
	all, host bool
}{
	{"stage-minhop", stage, true, true},
	{"stage-sssp", stage, true, true},
	{"x5-minhop", x5, true, true},
	{"x5-updn", x5, true, true},
	{"dgx-minhop", dgx, false, true},
	{"dgx-updn", dgx, false, true},
	{"dgx-sssp", dgx, false, true},
	{"dgx-nue", dgx, true, true},
}

// The judge finds what is known, from either dump, with the subnet list and
// without.
func TestKnownVerdicts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testnet.Corpus(t), "reference", "opensm-tables")
	present, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(present) != len(known) {
		t.Errorf("%d sets of tables (%v), known are %d", len(present), err, len(known))
	}
	for _, k := range known {
		t.Run(k.table, func(t *testing.T) {
			t.Parallel()
			f := k.network.fabric(t)
			list, err := subnetlst.ReadMap(open(t, dir, k.table, "opensm-subnet.lst.gz"), "opensm-subnet.lst")
			if err != nil {
				t.Fatal(err)
			}
			for _, dump := range []string{"opensm-lfts.dump.gz", "opensm.fdbs.gz"} {
				for _, join := range []lft.Join{{List: list}, {}} {
					got, err := lft.Read(open(t, dir, k.table, dump), dump, f, join)
					if err != nil {
						t.Errorf("list %t: %v", join.List != nil, err)
						continue
					}
					tables := &routing.Tables{Fabric: f, Forwarding: got.Forwarding, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
					for scope, free := range map[routing.Scope]bool{routing.Adapters: k.all, routing.HCA: k.host} {
						v := judged(t, tables, scope)
						if v.Free() != free || !v.Complete() {
							t.Errorf("%s joined by %v, scope %s: free %t, want %t; %d pairs unreachable", dump, got.Rule, scope, v.Free(), free, v.Unreachable)
						}
					}
				}
			}
		})
	}
}

// ibdmchk finds the same in them.
func TestIbdmchkAgreesOnKnownTables(t *testing.T) {
	live.Need(t)
	t.Parallel()
	dir := filepath.Join(testnet.Corpus(t), "reference", "opensm-tables")
	for _, k := range known {
		t.Run(k.table, func(t *testing.T) {
			t.Parallel()
			unzipped := func(name string) string {
				return written(t, name, func(w io.Writer) error {
					_, err := io.Copy(w, open(t, dir, k.table, name+".gz"))
					return err
				})
			}
			d := live.Dumps{Subnet: unzipped("opensm-subnet.lst"), FDBs: unzipped("opensm.fdbs")}
			want := live.Loop
			if k.all {
				want = live.NoLoop
			}
			if got := (files{dumps: d}).agreed(t, k.network.fabric(t), routing.Adapters); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}
