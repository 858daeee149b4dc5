package conformance

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/routing"
)

var (
	contracts = []routing.Contract{routing.Honored, routing.Directed, routing.Any, routing.Single(0), routing.Single(3), routing.Single(15)}
	scopes    = []routing.Scope{routing.HCA, routing.Adapters, routing.All}
)

// garbage draws tables that may do anything: loop, end at dead ports, deliver to
// the wrong node, drop by VL 15, or even work.
func garbage(t *rapid.T, f *fabric.Fabric) *routing.Tables {
	fw, err := sssp.Finder{}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := chance(t, "tables")
	wrong := rapid.SampledFrom([]int{0, 1, 4, 20}).Draw(t, "wrong entries in 20")
	for lid := range f.TopLID() + 1 {
		for s, row := 0, fw.Row(lid); s < len(row); s++ {
			if rng.IntN(20) >= wrong {
				continue
			}
			switch rng.IntN(8) {
			case 0:
				row[s] = routing.NoPort
			case 1:
				row[s] = uint8(rng.IntN(256))
			default:
				row[s] = uint8(rng.IntN(f.Node(fabric.NodeID(s)).Ports + 2))
			}
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: garbageLanes(t, f, rng)}
}

func garbageLanes(t *rapid.T, f *fabric.Fabric, rng *rand.Rand) *routing.Lanes {
	lanes := rapid.SampledFrom([]int{1, 2, 4, 15}).Draw(t, "lanes")
	drops := rapid.Bool().Draw(t, "drops")
	vl := func() uint8 {
		if drops && rng.IntN(10) == 0 {
			return 15
		}
		return uint8(rng.IntN(lanes))
	}
	var uniform [routing.SLs]uint8
	for sl := range uniform {
		uniform[sl] = vl()
	}
	m := routing.UniformSL2VL(uniform)
	if rapid.Bool().Draw(t, "maps by port") {
		m = m.PerPort(f)
		if rapid.Bool().Draw(t, "that differ") {
			eachEntry(f, func(s fabric.NodeID, in, out, sl uint8) { m.Set(s, in, out, sl, vl()) })
		}
	}
	l := routing.NewLanes(f, m)
	switch rapid.IntRange(0, 2).Draw(t, "rows") {
	case 0:
		return routing.OneSL(f, m)
	case 1: // a row for every endpoint
		row := make([]int32, len(f.Endpoints()))
		for i := range row {
			row[i] = int32(i)
		}
		l = routing.NewLanesByRow(f, m, row, len(row))
	}
	silent := rapid.SampledFrom([]int{0, 2, 9}).Draw(t, "LIDs not to be used in 10")
	for lid := range f.TopLID() + 1 {
		for i, row := 0, l.SLRow(lid); i < len(row); i++ {
			row[i] = uint8(rng.IntN(routing.SLs))
			if rng.IntN(10) < silent {
				row[i] = routing.NoSL
			}
		}
	}
	return l
}

func eachEntry(f *fabric.Fabric, visit func(s fabric.NodeID, in, out, sl uint8)) {
	for s := range fabric.NodeID(f.Switches()) {
		ports := uint8(f.Node(s).Ports)
		for in := range ports + 1 {
			for out := range ports + 1 {
				for sl := range uint8(routing.SLs) {
					visit(s, in, out, sl)
				}
			}
		}
	}
}

// The judge agrees with its twin on any tables, however wrong.
func TestJudgeAgreesOnGarbage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := mustBuild(t, recipes(6).Draw(t, "network"))
		tables := garbage(t, f)
		contract := rapid.SampledFrom(contracts).Draw(t, "contract")
		scope := rapid.SampledFrom(scopes).Draw(t, "scope")
		v, _, err := verify(tables, contract, scope)
		if err != nil {
			t.Fatal(err)
		}
		// The number of cores changes nothing.
		for _, cores := range []int{1, 5} {
			before := runtime.GOMAXPROCS(cores)
			again, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: contract, Scope: scope})
			runtime.GOMAXPROCS(before)
			if err != nil || !cmp.Equal(v, again, cmp.AllowUnexported(routing.Contract{})) {
				t.Fatalf("on %d cores: %+v, %v, not %+v", cores, again, err, v)
			}
		}
	})
}

// A certificate does not survive that tables are changed so that a dependency
// arises against it.
func TestCertificateRefusesOtherTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := mustBuild(t, recipes(6).Draw(t, "network"))
		a, b := garbage(t, f), garbage(t, f)
		scope := rapid.SampledFrom(scopes).Draw(t, "scope")
		v, err := deadlock.Verify(context.Background(), a, deadlock.Options{Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		if !v.Free() {
			return
		}
		c := v.Certificate
		rises := true
		for e := range judge(b, routing.Honored, scope).edges {
			from, to := int(e.from.trunk)*c.Lanes+int(e.from.vl), int(e.to.trunk)*c.Lanes+int(e.to.vl)
			if int(e.from.vl) >= c.Lanes || int(e.to.vl) >= c.Lanes || c.Rank[from] == deadlock.Unused || c.Rank[from] >= c.Rank[to] {
				rises = false
			}
		}
		if _, err := deadlock.CheckCertificate(context.Background(), b, c, nil); err == nil && !rises {
			t.Fatal("the certificate of other tables passes")
		}
	})
}
