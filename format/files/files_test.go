package files_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
)

// Tables from a file, judged: what they lack is not an error, but a finding.
func ExampleOpenTables() {
	ring, err := topology.Build("ring:4,hosts=1")
	if err != nil {
		log.Fatal(err)
	}
	cluster, err := files.Open("../../examples/cluster.ibnetdiscover")
	if err != nil {
		log.Fatal(err) // says which line is wrong
	}
	for _, f := range []*fabric.Fabric{ring, cluster} {
		t, err := files.OpenTables(f, files.Names{LFTs: "../../docs/scenarios/files/circle.dump"})
		if err != nil {
			fmt.Println(err)
			continue
		}
		v, err := deadlock.Verify(context.Background(), t, deadlock.Options{Contract: routing.Any})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("free of deadlock: %t; %d of %d pairs have no route\n", v.Free(), v.Unreachable, v.Pairs)
	}
	// Output:
	// free of deadlock: false; 2 of 12 pairs have no route
	// ../../docs/scenarios/files/circle.dump:6: LID 5 is that of the port with GUID 0x0002c90200000001 here, and that of sw-4 in the fabric
}

// Tables that were written are those that are read, lanes and service levels too.
func TestTablesComeBack(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	r, err := weft.Route(t.Context(), f, weft.Request{Engine: "lash", Contract: &routing.Directed})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	names := files.Names{LFTs: filepath.Join(dir, "lfts"), SL2VL: filepath.Join(dir, "sl2vl"), PSL: filepath.Join(dir, "psl")}
	for name, write := range map[string]func(*bytes.Buffer) error{
		names.LFTs:  func(b *bytes.Buffer) error { return lft.Write(b, f, r.Tables.Forwarding, lft.PortGUIDs) },
		names.SL2VL: func(b *bytes.Buffer) error { return slvl.Write(b, f, r.Tables.Lanes.SL2VL, slvl.Dump) },
		names.PSL:   func(b *bytes.Buffer) error { return psl.Write(b, r.Tables, psl.Full) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	back, err := files.OpenTables(f, names)
	if err != nil {
		t.Fatal(err)
	}
	again, err := weft.Verify(t.Context(), back, weft.Request{Engine: "lash", Contract: &routing.Directed})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := again.Verdict.Dependencies, r.Verdict.Dependencies; got != want || again.Verdict.VLs != r.Verdict.VLs || want == 0 {
		t.Errorf("%d dependencies on %d lanes, want %d on %d", got, again.Verdict.VLs, want, r.Verdict.VLs)
	}
	for what, n := range map[string]files.Names{"no forwarding tables": {}, "this is a PSL file; forwarding": {LFTs: names.PSL}, "no such file": {LFTs: names.LFTs, List: filepath.Join(dir, "nothing")}} {
		if _, err := files.OpenTables(f, n); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%+v: %v", n, err)
		}
	}
}
