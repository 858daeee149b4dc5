package deadlock

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// aloneWalker follows each address by itself.
type aloneWalker struct{ *walker }

func (w aloneWalker) destination(lid fabric.LID) {
	w.kept.root = fabric.None
	w.walker.destination(lid)
}

// What is kept of one address for the next on its switch changes nothing, whatever the tables: of engines,
// with a few entries and service levels that are others, or with many.
func TestAddressesByThemselves(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	short := 0
	for _, spec := range []string{"xgft:m=4x4,w=4x4,hosts=4", "dragonfly:p=2", "torus:4x4,hosts=3", "random:switches=12,links=30,hosts=3,seed=1"} {
		for _, engine := range []string{"sssp", "dfsssp", "lash", "updn", "weave-any"} {
			made := routed.By(t, spec, engine)
			for round := range 24 {
				tables := *made
				tables.Forwarding, tables.Lanes = made.Forwarding.Clone(), damaged(rng, made, round)
				for lid := range tables.Fabric.LIDs() {
					row := tables.Forwarding.Row(lid)
					for n := rng.IntN(1 + round%8*round%3); n > 0; n-- {
						s := rng.IntN(len(row))
						row[s] = uint8(rng.IntN(2 + tables.Fabric.Node(fabric.NodeID(s)).Ports))
					}
				}
				short += sameAlone(t, &tables, Options{Contract: []routing.Contract{routing.Honored, routing.Directed, routing.Any}[round%3], Lost: round})
			}
		}
	}
	if short < 1000 {
		t.Errorf("%d addresses were followed by what was known of others: too few to say anything", short)
	}
}

// damaged is lanes with some service levels that are others, or none.
func damaged(rng *rand.Rand, t *routing.Tables, round int) *routing.Lanes {
	if round%4 == 0 {
		return t.Lanes
	}
	l := routing.NewLanesByRow(t.Fabric, t.Lanes.SL2VL, t.Lanes.Row, t.Lanes.Rows)
	levels := []uint8{0, 1, 2, routing.NoSL}
	if t.Lanes.SLRow(0) == nil {
		levels = []uint8{0, routing.NoSL} // all packets stay on one lane
	}
	for lid := range t.Fabric.LIDs() {
		row := l.SLRow(lid)
		copy(row, t.Lanes.SLRow(lid))
		for n := rng.IntN(1 + round%5); n > 0; n-- {
			row[rng.IntN(len(row))] = levels[rng.IntN(len(levels))]
		}
	}
	return l
}

// sameAlone compares what is derived with and without anything kept, and counts the addresses for which something was.
func sameAlone(t *testing.T, tables *routing.Tables, o Options) (short int) {
	t.Helper()
	derived := func(start func(d *derivation) routeFollower) (*derivation, *Verdict) {
		d, err := newDerivation([]*routing.Tables{tables}, false, o)
		if err != nil {
			t.Fatal(err)
		}
		if d.isRelation() {
			t.Skip("not followed by walkers")
		}
		parts, err := partsOf(context.Background(), d, start)
		if err != nil {
			t.Fatal(err)
		}
		v, sls := &Verdict{}, uint16(0)
		for _, p := range parts {
			v.add(p.verdict)
			sls |= p.sls
		}
		d.merge(parts)
		v.finish(d.inUse, sls, o.maxLost())
		return d, v
	}
	d, v := derived(func(d *derivation) routeFollower { return countingWalker{newWalker(d), &short} })
	twin, w := derived(func(d *derivation) routeFollower { return aloneWalker{newWalker(d)} })
	if !reflect.DeepEqual(v, w) || !reflect.DeepEqual(d.inUse, twin.inUse) || !reflect.DeepEqual(d.same, twin.same) || !reflect.DeepEqual(d.matrix, twin.matrix) {
		t.Fatalf("%+v\nby themselves %+v", v, w)
	}
	return short
}

// countingWalker counts the addresses for which something is known.
type countingWalker struct {
	*walker
	n *int
}

func (w countingWalker) destination(lid fabric.LID) {
	if w.kept.root == w.f.Endpoint(w.f.Owner(lid)).Switch {
		*w.n++
	}
	w.walker.destination(lid)
}
