package wire_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

func FuzzRequest(f *testing.F) {
	var b bytes.Buffer
	if err := wire.Of(testnet.Build(f, "ring:n=3"), 1).Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	b.Reset()
	q := wire.Of(testnet.Build(f, "ring:n=3"), 1)
	q.InUse, q.Blocks = 5, blocks(2, 0)
	if err := q.Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, in []byte) {
		q, err := wire.ReadRequest(bytes.NewReader(in))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := q.Write(&again); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(q, throughWire(t, q)); d != "" {
			t.Fatal(d)
		}
		g, err := q.Fabric()
		if err != nil {
			return
		}
		if n := q.Lanes(); n < 1 || n > routing.MaxDataVLs || len(g.Nodes()) != len(q.Nodes) {
			t.Fatalf("%d lanes, %d nodes", n, len(g.Nodes()))
		}
	})
}

func FuzzAnswer(f *testing.F) {
	net := testnet.Build(f, "ring:n=3")
	q := wire.Of(net, 1)
	q.InUse = 3
	for _, engine := range []string{"dfsssp", "df-dn"} {
		tables, proof := routed(f, net, engine)
		var b bytes.Buffer
		if err := wire.WriteTables(&b, q, engine, tables, proof); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
		b.Reset()
		if err := wire.WriteStep(&b, q, engine, tables, proof, wire.Step{More: 1}); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		a, err := wire.ReadAnswer(bytes.NewReader(in), q)
		if err != nil || a.Refusal != "" {
			return
		}
		if len(a.OutPorts) != a.Switches*a.LIDs || len(a.SLs) != len(a.OutPorts) || len(a.Maps) == 0 {
			t.Fatalf("an answer out of shape: %+v", a)
		}
	})
}

// A length that promises much takes no memory by itself.
func TestPromises(t *testing.T) {
	h := append([]byte{'W', 'E', 'F', 'T', wire.Version, 0, 1, 0}, 0, 0, 0, 3, 0, 0, 0, 0)
	var got error
	bytesUsed := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, got = wire.ReadRequest(io.MultiReader(bytes.NewReader(h), strings.NewReader("x")))
		}
	}).AllocedBytesPerOp()
	if !errors.Is(got, io.ErrUnexpectedEOF) || bytesUsed > 2<<20 {
		t.Errorf("%d bytes for a message of none, %v", bytesUsed, got)
	}
}
