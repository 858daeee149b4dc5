package files

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/engine/adaptive/minimal"
	"github.com/weft-fabric/weft/internal/engine/spanning"
	"github.com/weft-fabric/weft/internal/tablefiles"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// A program of others reads what switches choose from, and trees of multicast groups, together with the tables; groups with private tables need the
// file that says who goes by them.
func TestTablesWithGroups(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=1")
	tables := routed.Of(t, f, "updn", routing.Budget{VLs: 1, Contract: routing.Any})
	var err error
	if tables.Multicast, err = spanning.Tree(t.Context(), tables, spanning.Options{Contract: routing.Any, Scope: routing.HCA, SLs: 1}); err != nil {
		t.Fatal(err)
	}
	if tables.Groups, err = minimal.Groups(t.Context(), tables, routing.Any, routing.HCA, nil); err != nil {
		t.Fatal(err)
	}
	written := map[string]string{}
	for _, file := range (&Folder{Tables: tables}).Files() {
		var b bytes.Buffer
		if err := file.Write(&b); err != nil {
			t.Fatal(err)
		}
		written[file.Name] = b.String()
	}
	texts := func(groups string) Texts {
		return Texts{LFTs: Text{"lfts", strings.NewReader(written[tablefiles.ForwardingFile])}, Groups: Text{"far", strings.NewReader(groups)}, Multicast: Text{"trees", strings.NewReader(written[tablefiles.MulticastFile])}}
	}
	read, err := Tables(f, texts(written[tablefiles.GroupsFile]))
	if err != nil {
		t.Fatal(err)
	}
	for lid := range f.LIDs() {
		for s, c := range tables.Groups.Row(0, lid) {
			if got := read.Groups.Row(0, lid)[s]; got.Hashed() != c.Hashed() || (got == routing.NoChoice) != (c == routing.NoChoice) {
				t.Fatalf("LID %d at switch %d: %v, want %v", lid, s, got, c)
			}
		}
	}
	if read.Multicast == nil || read.Multicast.SLs != 1 {
		t.Errorf("trees of multicast groups: %+v", read.Multicast)
	}
	private := strings.Replace(written[tablefiles.GroupsFile], "PLFT_NUM: 0", "PLFT_NUM: 1", 1)
	if _, err := Tables(f, texts(private)); err == nil || !strings.Contains(err.Error(), "private forwarding tables") {
		t.Errorf("private tables of which nobody says who goes by them: %v", err)
	}
}
