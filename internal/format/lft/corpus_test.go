package lft

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/subnetlst"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// corpus is the folder of real dumps; the test is skipped without OpenSM's tables.
func corpus(t testing.TB) string {
	dir := testnet.Corpus(t)
	if _, err := os.Stat(filepath.Join(dir, "reference", "opensm-tables")); err != nil {
		t.Skip("no tables of OpenSM beside the real dumps")
	}
	return dir
}

func open(t testing.TB, path ...string) io.Reader {
	t.Helper()
	r, err := reading.Open(t.Context(), filepath.Join(path...), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// same tells whether two dumps say the same of the fabric's LIDs.
func same(f *fabric.Fabric, a, b *routing.Forwarding) bool {
	for lid := range f.LIDs() {
		if !slices.Equal(a.Row(lid), b.Row(lid)) {
			return false
		}
	}
	return true
}

// Every table that OpenSM dumped joins with and without its subnet list, in
// either dialect, with the same outcome, and survives Write and Read.
func TestOpenSMTablesJoin(t *testing.T) {
	dir := corpus(t)
	fabrics := map[string]string{"stage": "kalcher-stage-2014", "x5": "psmn-x5-2020", "dgx": "topograph-ndr-dgx-2025"}
	tables, err := filepath.Glob(filepath.Join(dir, "reference", "opensm-tables", "*"))
	if err != nil || len(tables) < 8 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	for _, table := range tables {
		t.Run(filepath.Base(table), func(t *testing.T) {
			name, _, _ := strings.Cut(filepath.Base(table), "-")
			f := testnet.Dump(t, fabrics[name])
			list, err := subnetlst.ReadMap(open(t, table, "opensm-subnet.lst.gz"), "lst")
			if err != nil {
				t.Fatal(err)
			}
			want, err := Read(open(t, table, "opensm-lfts.dump.gz"), "lfts", f, Join{List: list})
			if err != nil {
				t.Fatal(err)
			}
			if want.Rule != ByList || len(want.NoTable) != 0 || len(want.Unreached) != 0 {
				t.Errorf("joined by %v, %d switches without a table, %d endpoints unreached", want.Rule, len(want.NoTable), len(want.Unreached))
			}
			wantRule := ByPortGUID
			if name == "dgx" {
				wantRule = ByNodeGUID
			}
			for _, other := range []struct {
				file string
				join Join
				rule Rule
			}{
				{"opensm-lfts.dump.gz", Join{}, wantRule},
				{"opensm.fdbs.gz", Join{List: list}, ByList},
				{"opensm.fdbs.gz", Join{}, ByLID},
			} {
				got, err := Read(open(t, table, other.file), other.file, f, other.join)
				if err != nil {
					t.Fatalf("%s: %v", other.file, err)
				}
				if got.Rule != other.rule || !same(f, want.Forwarding, got.Forwarding) || !slices.Equal(want.LIDs, got.LIDs) {
					t.Errorf("%s joined by %v gives other tables than lfts and subnet list", other.file, got.Rule)
				}
			}
			var text bytes.Buffer
			if err := Write(&text, f, want.Forwarding, PortGUIDs); err != nil {
				t.Fatal(err)
			}
			again, err := Read(&text, "again", f, Join{})
			if err != nil || !same(f, want.Forwarding, again.Forwarding) {
				t.Errorf("does not survive Write and Read: %v", err)
			}
		})
	}
}

// What Write prints of OpenSM's own tables is, byte for byte, what OpenSM
// prints, where the fabric has OpenSM's LIDs, but for the last line of each table.
func TestWriteIsOpenSMsForm(t *testing.T) {
	dir := corpus(t)
	f := testnet.Dump(t, "kalcher-stage-2014")
	raw, err := io.ReadAll(open(t, dir, "reference", "opensm-tables", "stage-sssp", "opensm-lfts.dump.gz"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Read(bytes.NewReader(raw), "lfts", f, Join{})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := Write(&text, f, d.Forwarding, NodePlusPort); err != nil {
		t.Fatal(err)
	}
	want, got := sortedTables(raw), sortedTables(text.Bytes())
	if !slices.Equal(want, got) {
		for i := range want {
			if want[i] != got[i] {
				t.Fatalf("table %d differs:\n%.300s\n%.300s", i, want[i], got[i])
			}
		}
	}
}

// sortedTables is the tables of a dump without their last lines, sorted: OpenSM's order is by port GUID.
func sortedTables(text []byte) []string {
	tables := regexp.MustCompile(`(?m)^\d+ (valid )?lids dumped\n`).Split(string(text), -1)
	slices.Sort(tables)
	return tables
}

func BenchmarkReadDGX(b *testing.B) {
	dir := corpus(b)
	f := testnet.Dump(b, "topograph-ndr-dgx-2025")
	raw, err := io.ReadAll(open(b, dir, "reference", "opensm-tables", "dgx-nue", "opensm-lfts.dump.gz"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := Read(bytes.NewReader(raw), "lfts", f, Join{}); err != nil {
			b.Fatal(err)
		}
	}
}
