package updown

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// The estimate is what comes of sending each pair's route along all legal paths, a fair share
// by each trunk.
func TestFullestTrunkByPairs(t *testing.T) {
	for _, spec := range []string{"karytree:k=3,n=3", "patchwork:10", "patchwork:22", "random:switches=10,links=14,hosts=2,seed=1", "mesh:3x3"} {
		f := testnet.Build(t, spec)
		for _, roots := range [][]fabric.NodeID{orient.Centres(f), levels.Tops(f)} {
			if len(roots) == 0 {
				continue
			}
			o := orient.New(f, orient.ByRank(f, roots))
			routes := make([]float64, f.Trunks())
			pairs, without := 0., 0.
			var d dag.DAG
			var send func(u fabric.NodeID, share float64)
			send = func(u fabric.NodeID, share float64) {
				trunks := d.Choices(slices.Index(d.Order, u))
				for _, c := range trunks {
					routes[c] += share / float64(len(trunks))
					send(f.Channel(c).To, share/float64(len(trunks)))
				}
			}
			hosts := routing.HCA.PerSwitch(f)
			for root := range fabric.NodeID(f.Switches()) {
				o.Legal(&d, f, root)
				for s := range fabric.NodeID(f.Switches()) {
					n := float64(hosts[s]) * float64(hosts[root])
					switch pairs += n; {
					case n == 0:
					case d.Hops[s] == dag.NoPath:
						without += n
					default:
						send(s, n)
					}
				}
			}
			most, apart := fullest(f, o)
			if want := slices.Max(routes); math.Abs(most-want) > 1e-6*want || math.Abs(apart-without/pairs) > 1e-9 {
				t.Errorf("%s from %d roots: %v on the fullest trunk, %v apart, not %v and %v", spec, len(roots), most, apart, want, without/pairs)
			}
		}
	}
}

// A switch alone and a tree with one top have one orientation to try, by which every pair has a legal path.
func TestOneOrientation(t *testing.T) {
	for _, f := range []*fabric.Fabric{testnet.Mesh(t, 1), testnet.Build(t, "xgft:m=4,w=1,hosts=2")} {
		if all := candidates(f); len(all) != 1 || !all[0].joins {
			t.Errorf("%d switches: tries %v", f.Switches(), all)
		}
	}
}

// directors is three directors of two spines and four leaves, two of them for the cables to the others.
func directors(t *testing.T) *fabric.Fabric {
	var b fabric.Builder
	var boards [2][]fabric.Ref
	for d := range 3 {
		var spines []fabric.Ref
		for i := range 2 {
			spines = append(spines, b.Node(fabric.Node{GUID: fabric.GUID(10*d + i + 1), Ports: 4}, ""))
		}
		for i := range 4 {
			leaf := b.Node(fabric.Node{GUID: fabric.GUID(10*d + i + 3), Ports: 6}, "")
			for k, s := range spines {
				b.Cable(leaf, uint8(k+1), s, uint8(i+1), fabric.Rate{})
			}
			if i >= 2 {
				for k, other := range boards[i-2] {
					b.Cable(leaf, uint8(k+3), other, uint8(d+2), fabric.Rate{})
				}
				boards[i-2] = append(boards[i-2], leaf)
				continue
			}
			for k := range uint8(2) {
				h := b.Node(fabric.Node{GUID: fabric.GUID(100*d + 10*i + int(k) + 100), Kind: fabric.Adapter, Ports: 1}, "")
				b.Cable(leaf, k+3, h, 1, fabric.Rate{})
			}
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Where a central switch, the tops or levels differ as much as in machine rooms, what is taken has
// about as few routes on its fullest trunk as the best of them.
func TestTakesTheOrderWithLeastOnItsFullestTrunk(t *testing.T) {
	orders := map[string]int{}
	networks := map[string]*fabric.Fabric{"directors": directors(t)}
	for _, spec := range []string{"patchwork:4", "patchwork:7", "patchwork:10", "patchwork:29", "patchwork:47", "patchwork:51", "patchwork:59", "karytree:k=3,n=3"} {
		networks[spec] = testnet.Build(t, spec)
	}
	for spec, f := range networks {
		tried := map[string][]fabric.NodeID{"centre": orient.ByRank(f, orient.Centres(f)), "height": byHeight(f)}
		if tops := levels.Tops(f); len(tops) > 0 {
			tried["tops"], tried["highest"] = orient.ByRank(f, tops), orient.ByRank(f, highest(f, tops))
		}
		if l, refusal := levels.Find(f); refusal == nil {
			tried["levels"] = l.Order
		}
		taken, err := Finder{}.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := congestion.Count(f, taken, routing.HCA).Max
		for by, order := range tried {
			fw, err := byOrder(context.Background(), f, order, "", nil)
			if err != nil {
				continue
			}
			if most := congestion.Count(f, fw, routing.HCA).Max; 8*got > 9*most {
				t.Errorf("%s: %d routes on the fullest trunk, %d by %s", spec, got, most, by)
			} else if most > 2*got {
				orders[by]++
			}
		}
	}
	if orders["centre"] == 0 || orders["tops"] == 0 {
		t.Errorf("%v orders are far behind: no test", orders)
	}
}

// The spines of two directors are tops, too, but no roots: from these, no leaf of one director has a legal
// path to one of the other, and what stays apart would count for nothing.
func TestSpinesOfDirectorsAreNoRoots(t *testing.T) {
	var b fabric.Builder
	var sw []fabric.Ref // leaves 0 and 1 with spine 4, 2 and 3 with spine 5; 6 and 7 between leaves of both, 8 above these
	for i := range 9 {
		sw = append(sw, b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 3}, ""))
	}
	for leaf := range 4 {
		h := b.Node(fabric.Node{GUID: fabric.GUID(100 + leaf), Kind: fabric.Adapter, Ports: 1}, "")
		b.Cable(sw[leaf], 1, h, 1, fabric.Rate{})
		b.Cable(sw[leaf], 2, sw[4+leaf/2], uint8(1+leaf%2), fabric.Rate{})
		b.Cable(sw[leaf], 3, sw[6+leaf%2], uint8(1+leaf/2), fabric.Rate{})
	}
	b.Cable(sw[6], 3, sw[8], 1, fabric.Rate{})
	b.Cable(sw[7], 3, sw[8], 2, fabric.Rate{})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	tops := levels.Tops(f)
	if high := highest(f, tops); len(tops) != 3 || len(high) != 1 || f.Node(high[0]).GUID != 9 {
		t.Fatalf("tops %v, the highest %v", tops, high)
	}
	for _, c := range candidates(f) {
		if c.note == "roots: "+name(f, tops) {
			t.Errorf("tries %s", c.note)
		}
	}
}

// Aggregation nodes reach each other, where that costs no more than worthAll times as much on the fullest trunk.
func TestAggregationNodesReachEachOther(t *testing.T) {
	apart := 0
	for _, seed := range []string{"10", "17", "23"} {
		f := testnet.Build(t, "patchwork:"+seed+",sharp=100,pods=4,leaves=6")
		fw, err := Finder{}.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if adaptersApart(f, fw) {
			t.Errorf("patchwork:%s: some are apart", seed)
		}
		c := candidates(f)[0]
		if first, err := route(context.Background(), f, c.Orientation, c.Legal, "", nil); err == nil && adaptersApart(f, first) {
			apart++
		}
	}
	if apart == 0 {
		t.Error("the first candidate leaves none apart: no test")
	}
}
