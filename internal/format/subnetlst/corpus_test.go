package subnetlst

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/testnet"
)

// OpenSM's list of a simulated fabric holds the fabric that was simulated, but
// for what ibsim changes: port GUIDs, and speeds it does not know.
func TestRealLists(t *testing.T) {
	dir := testnet.Corpus(t)
	if _, err := os.Stat(filepath.Join(dir, "reference", "opensm-tables")); err != nil {
		t.Skip("no tables of OpenSM beside the real dumps")
	}
	for _, tc := range []struct {
		table, dump string
		rates       bool
	}{
		{"dgx-nue", "topograph-ndr-dgx-2025", false},
		{"x5-updn", "psmn-x5-2020", true},
		{"stage-sssp", "kalcher-stage-2014", true},
	} {
		t.Run(tc.table, func(t *testing.T) {
			read := func(path string, from func(string) (*fabric.Fabric, error)) *fabric.Fabric {
				f, err := from(filepath.Join(dir, path))
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			got := read(filepath.Join("reference", "opensm-tables", tc.table, "opensm-subnet.lst.gz"), func(path string) (*fabric.Fabric, error) {
				r, err := reading.Open(t.Context(), path, nil)
				if err != nil {
					return nil, err
				}
				defer r.Close()
				return Read(r, "lst")
			})
			want := read(filepath.Join("fabrics", tc.dump+".ibnetdiscover"), func(path string) (*fabric.Fabric, error) {
				r, err := reading.Open(t.Context(), path, nil)
				if err != nil {
					return nil, err
				}
				defer r.Close()
				return ibnet.Read(r, "net")
			})
			if got.Count() != want.Count() {
				t.Errorf("counts %+v, want %+v", got.Count(), want.Count())
			}
			for i := range want.Nodes() {
				if a, b := want.Node(fabric.NodeID(i)), got.Node(fabric.NodeID(i)); *a != *b {
					t.Fatalf("node %+v, want %+v", b, a)
				}
			}
			for i := range want.Channels() {
				a, b := *want.Channel(fabric.ChannelID(i)), *got.Channel(fabric.ChannelID(i))
				if !tc.rates {
					a.Rate, b.Rate = fabric.Rate{}, fabric.Rate{}
				}
				if a != b {
					t.Fatalf("channel %+v, want %+v", b, a)
				}
			}
		})
	}
}
