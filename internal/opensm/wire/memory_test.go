package wire_test

import (
	"io"
	"runtime"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// counting counts what is written.
type counting struct{ n int64 }

func (c *counting) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

var _ io.Writer = (*counting)(nil)

// An answer is made as it is taken: many who take theirs slowly hold no memory by
// the size of the tables.
func TestAnswersTakeLittleMemory(t *testing.T) {
	f := testnet.Build(t, "torus:30x30,hosts=4")
	paths, err := minhop.Finder{}.Paths(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	tables := &routing.Tables{Fabric: f, Forwarding: paths, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
	proof := &deadlock.Certificate{Lanes: 1, Contract: routing.Any, Rank: make([]int32, f.Trunks())}
	q := wire.Of(f, 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var out counting
	if err := wire.WriteTables(&out, q, "minhop", tables, proof); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := int64(after.TotalAlloc - before.TotalAlloc); out.n < 8_000_000 || took > out.n/4 {
		t.Errorf("an answer of %d bytes took %d bytes of memory", out.n, took)
	}
}
