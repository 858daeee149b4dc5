package e2e

import (
	"io"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/subnetlst"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// loaded is what OpenSM makes of our tables. With pinned LIDs it uses the
// fabric's; without it assigns its own, in spite of those that the net file says
// the ports have, and must move every entry to them.
func loaded(t testing.TB, net string, f *fabric.Fabric, paths *routing.Forwarding, pinned bool) live.Dumps {
	t.Helper()
	file := written(t, "lfts.dump", func(w io.Writer) error { return lft.Write(w, f, paths, lft.NodePlusPort) })
	// Without no_fallback: with it, OpenSM would try a bad file again and again
	// instead of telling by the name of the engine.
	conf := map[string]string{"routing_engine": "file", "lfts_file": file}
	if pinned {
		return live.OpenSM(t, net, conf, f)
	}
	conf["reassign_lids"] = "TRUE"
	return live.OpenSM(t, net, conf, nil)
}

// tookTheFile ends a test in which OpenSM's tables are not those of the file.
func tookTheFile(t testing.TB, d live.Dumps) {
	t.Helper()
	if d.Engine != "file" {
		t.Fatalf("the tables are by OpenSM's %q, want file: it fell back", d.Engine)
	}
}

// tablesOf reads a forwarding dump of OpenSM with its subnet list.
func tablesOf(t testing.TB, f *fabric.Fabric, d live.Dumps, dump string) *lft.Dump {
	t.Helper()
	list, err := subnetlst.ReadMap(open(t, d.Subnet), "subnet.lst")
	if err != nil {
		t.Fatal(err)
	}
	got, err := lft.Read(open(t, dump), dump, f, lft.Join{List: list})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// OpenSM takes the tables of every engine as they are: same port for every
// switch and every destination, adapters and switches alike, whatever LIDs it
// gives out.
func TestOpenSMLoadsOurTables(t *testing.T) {
	live.Need(t)
	t.Parallel()
	onEach(t, networks, func(t *testing.T, n network, f *fabric.Fabric) {
		net := netFile(t, f)
		for _, group := range byPaths(t, n, f) {
			t.Run(namesOf(group), func(t *testing.T) {
				want := group[0].tables.Forwarding
				d := loaded(t, net, f, want, false)
				tookTheFile(t, d)
				got := tablesOf(t, f, d, d.LFTs)
				if got.Rule != lft.ByList || len(got.NoTable) != 0 || len(got.Unreached) != 0 {
					t.Errorf("joined by %v, %d switches without a table, %d endpoints unreached", got.Rule, len(got.NoTable), len(got.Unreached))
				}
				if !moved(got.LIDs) {
					t.Error("OpenSM gave every port the LID it has in the fabric: nothing had to be moved")
				}
				sameTables(t, f, want, got.Forwarding)
				sameTables(t, f, want, tablesOf(t, f, d, d.FDBs).Forwarding)
				alone, err := lft.Read(open(t, d.LFTs), d.LFTs, f, lft.Join{})
				if err != nil {
					t.Fatalf("without the subnet list: %v", err)
				}
				sameTables(t, f, want, alone.Forwarding)
			})
		}
	})
}

// moved reports whether any destination has another LID in the dump.
func moved(lids []fabric.LID) bool {
	for lid, ours := range lids {
		if ours != 0 && ours != fabric.LID(lid) {
			return true
		}
	}
	return false
}

// The comparison above notices a single entry, changed before OpenSM loads it.
func TestADivertedEntryIsNoticed(t *testing.T) {
	live.Need(t)
	t.Parallel()
	onEach(t, computed, func(t *testing.T, _ network, f *fabric.Fabric) {
		want := route(t, f, engines.All()[0], 1).Forwarding
		changed, said := diverted(t, f, want)
		d := loaded(t, netFile(t, f), f, changed, false)
		for _, dump := range []string{d.LFTs, d.FDBs} {
			got := tablesOf(t, f, d, dump)
			if diff := differences(f, want, got.Forwarding); !slices.Equal(diff, []string{said}) {
				t.Errorf("%s: %d differences, want only %q: %.3q", dump, len(diff), said, diff)
			}
		}
	})
}

// A table that OpenSM does not take makes it fall back to another engine, and
// its log tells.
func TestAFallbackIsNoticed(t *testing.T) {
	live.Need(t)
	t.Parallel()
	f := computed[0].fabric(t)
	changed, _ := diverted(t, f, route(t, f, engines.All()[0], 1).Forwarding)
	// One more than any switch has.
	changed.Row(f.TopLID())[0] = uint8(f.Node(0).Ports + 1)
	if d := loaded(t, netFile(t, f), f, changed, false); d.Engine == "file" {
		t.Errorf("OpenSM took a table with port %d of a switch with %d", f.Node(0).Ports+1, f.Node(0).Ports)
	}
}
