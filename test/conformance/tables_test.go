package conformance

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

var update = flag.Bool("update", false, "write testdata/tables.txt anew")

// tabled is networks of every kind that are large enough for engines to differ.
var tabled = []string{
	"torus:4x4,hosts=2", "torus:6x5x5", "mesh:5x4,hosts=2", "hypercube:4", "ring:8,hosts=2",
	"xgft:m=3x4,w=2x2,hosts=3", "fattree:ports=6,hosts=4,leaves=4", testnet.Small,
	"dragonfly:p=2", "dragonfly:p=3", "slimfly:q=5", "kautz:b=3,n=3,hosts=2", "random:switches=40,links=100,hosts=2,seed=5",
}

// few is those of tabled whose tables a sample looks at: the rest take most of the time.
var few = []string{"torus:4x4,hosts=2", "xgft:m=3x4,w=2x2,hosts=3", "fattree:ports=6,hosts=4,leaves=4", "ring:8,hosts=2", "kautz:b=3,n=3,hosts=2"}

// digest is the first bytes of a SHA-256 over all that is installed: ports, service
// levels, and the lane of every turn at every service level.
func digest(t *routing.Tables) string {
	h := sha256.New()
	f := t.Fabric
	for lid := range f.TopLID() + 1 {
		h.Write(t.Forwarding.Row(lid))
		h.Write(t.Lanes.SLRow(lid))
	}
	var lanes []byte // of a switch: a hash is quicker with many bytes at a time
	for s := range fabric.NodeID(f.Switches()) {
		lanes = lanes[:0]
		ports := uint8(f.Node(s).Ports)
		for in := range ports + 1 {
			for out := range ports {
				for sl := range uint8(routing.SLs) {
					lanes = append(lanes, t.Lanes.SL2VL.VL(s, in, out+1, sl))
				}
			}
		}
		h.Write(lanes)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:6])
}

// tablesOf says in a line for each contract what an engine installs on a network.
func tablesOf(spec string, f *fabric.Fabric, e engines.Engine, o engines.Options) string {
	var b strings.Builder
	for _, contract := range promised(e) {
		var said string
		t, err := e.Route(context.Background(), f, o, routing.Budget{VLs: routing.MaxDataVLs, Scope: routing.HCA, Contract: contract}, nil)
		var no *routing.Refusal
		var few *routing.TooFewLanes
		switch {
		case errors.As(err, &no), errors.As(err, &few):
			said = "refused"
		case err != nil:
			said = err.Error()
		default:
			said = fmt.Sprintf("%s %d", digest(t), t.Lanes.Needed)
		}
		fmt.Fprintf(&b, "%s %s %s %s\n", spec, e.Name, contract, said)
	}
	return b.String()
}

// Every engine's tables are byte for byte what they were when testdata/tables.txt was
// written: a change there is a change of what users install, and a commit says why.
// Each line is network, engine, contract, digest of the tables, lanes needed.
func TestTablesAreAsTheyWere(t *testing.T) {
	if testing.Short() {
		t.Skip("routes with every engine")
	}
	list := tabled
	if !testnet.Whole() && !*update {
		list = few
	}
	parts := make([]string, len(list))
	var wait sync.WaitGroup
	for i, spec := range list {
		f, o := testnet.Build(t, spec), engines.Options{}.Sharing() // the digests were taken without
		wait.Go(func() {
			for _, e := range engines.All() {
				parts[i] += tablesOf(spec, f, e, o)
			}
		})
	}
	wait.Wait()
	got := strings.Join(parts, "")
	const file, head = "testdata/tables.txt", "# network, engine, contract, digest of tables, lanes: go test ./test/conformance -run TablesAre -update\n"
	if *update {
		if err := os.WriteFile(file, []byte(head+got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{} // lines by network
	for line := range strings.Lines(strings.TrimPrefix(string(text), head)) {
		spec, _, _ := strings.Cut(line, " ")
		of[spec] += line
	}
	want := ""
	for _, spec := range list {
		want += of[spec]
		delete(of, spec)
	}
	for spec := range of {
		if !slices.Contains(tabled, spec) {
			t.Errorf("%s has tables of %s, which is not among the networks", file, spec)
		}
	}
	if want != got {
		t.Errorf("tables changed (-was +are); if that is meant, run with -update:\n%s", cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
	}
}
