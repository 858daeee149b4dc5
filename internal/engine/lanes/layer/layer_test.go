package layer_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/layer"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// With lanes to spare all are used, about alike, and the proof holds.
func TestSpreadUsesAllLanes(t *testing.T) {
	f := testnet.Build(t, "torus:5x5,hosts=2")
	fw := paths(t, f, sssp.Finder{})
	need := assign(t, f, fw, layer.BreakCycles{Unbalanced: true}, 8).Needed
	for vls := need; vls <= routing.MaxDataVLs; vls++ {
		l := assign(t, f, fw, layer.BreakCycles{}, vls)
		if l.Needed != need {
			t.Errorf("with %d lanes it needs %d, not %d", vls, l.Needed, need)
		}
		// How many pairs ride each lane.
		count := make([]int, vls)
		for _, src := range f.Endpoints() {
			for lid, to := range f.LIDs() {
				dest := f.Endpoint(to)
				if routing.HCA.Includes(src.Class) && routing.HCA.Includes(dest.Class) && src.Switch != dest.Switch {
					count[l.SL(f.Attached(src.Switch)[1], lid)]++
				}
			}
		}
		for lane, n := range count {
			if n == 0 {
				t.Errorf("of %d lanes, lane %d carries nothing", vls, lane)
			}
		}
		if v := verdict(t, f, fw, l); !v.Free() || v.VLs != vls {
			t.Errorf("with %d lanes: free %v on %d lanes", vls, v.Free(), v.VLs)
		}
	}
}

// Balancing evens the layers out and never needs more of them.
func TestBalanceEvensLayersOut(t *testing.T) {
	f := testnet.Build(t, "torus:5x5,hosts=2")
	fw := paths(t, f, sssp.Finder{})
	var apart [2]int
	for i, unbalanced := range []bool{true, false} {
		l := assign(t, f, fw, layer.FirstFit{Unbalanced: unbalanced}, 8)
		count := make([]int, l.Needed)
		for lid, to := range f.LIDs() {
			for _, src := range f.Endpoints() {
				if routing.HCA.Includes(src.Class) && routing.HCA.Includes(f.Endpoint(to).Class) {
					count[l.SL(f.Attached(src.Switch)[1], lid)]++
				}
			}
		}
		most, least := count[0], count[0]
		for _, n := range count {
			most, least = max(most, n), min(least, n)
		}
		apart[i] = most - least
		if !verdict(t, f, fw, l).Free() {
			t.Errorf("unbalanced %v: a credit loop", unbalanced)
		}
	}
	if apart[1] >= apart[0] {
		t.Errorf("the fullest and the emptiest layer are %d pairs apart, unbalanced %d", apart[1], apart[0])
	}
}

// A refusal says how many lanes are needed; with these it works, with one fewer
// it is the same refusal.
func TestRefusalSaysHowMany(t *testing.T) {
	f := testnet.Build(t, "torus:6x6")
	fw := paths(t, f, sssp.Finder{})
	for name, a := range assigners {
		var few *routing.TooFewLanes
		if _, err := a.Lanes(ctx, f, fw, routing.Budget{VLs: 1, Contract: routing.Directed}, nil); !errors.As(err, &few) || few.Have != 1 || few.Need < 2 || few.AtLeast {
			t.Fatalf("%s with one lane: %v", name, err)
		}
		need := few.Need
		if l := assign(t, f, fw, a, need); l.Needed != need || !verdict(t, f, fw, l).Free() {
			t.Errorf("%s with the %d lanes it asked for: needs %d", name, need, l.Needed)
		}
		if _, err := a.Lanes(ctx, f, fw, routing.Budget{VLs: need - 1, Contract: routing.Directed}, nil); !errors.As(err, &few) || few.Need != need || few.Have != need-1 {
			t.Errorf("%s with %d lanes: %v", name, need-1, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	f := testnet.Build(t, "torus:4x4")
	fw := paths(t, f, sssp.Finder{})
	done, cancel := context.WithCancel(ctx)
	cancel()
	for name, a := range assigners {
		if _, err := a.Lanes(done, f, fw, routing.Budget{VLs: 8}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every bundle takes the lane of its layer with the fewest paths so far, the first of
// several, also where bundles are of many sizes.
func TestSpreadTakesTheEmptiestLane(t *testing.T) {
	for _, f := range []*fabric.Fabric{unevenRing(t, 3, 1, 5, 2, 4), unevenRing(t, 9, 1, 1, 20, 2, 6, 3), testnet.Build(t, "torus:4x4,hosts=2"), testnet.Build(t, "random:switches=20,links=40,hosts=3,seed=5")} {
		fw := paths(t, f, sssp.Finder{})
		for _, contract := range []routing.Contract{routing.Directed, routing.Honored} {
			all := bundles(f, fw, contract)
			for vls := 4; vls <= routing.MaxDataVLs; vls += 3 {
				var by [2]*routing.Lanes
				for i := range by {
					var err error
					if by[i], err = (layer.BreakCycles{Unbalanced: i == 0}).Lanes(ctx, f, fw, routing.Budget{VLs: vls, Contract: contract}, nil); err != nil {
						t.Fatal(err)
					}
				}
				lanesOf := make([][]int, by[0].Needed)
				pairs, weight := make([]int, by[0].Needed), make([]int, vls)
				for l := range lanesOf {
					lanesOf[l] = []int{l}
				}
				for i := range all {
					pairs[layerOf(f, by[0], &all[i])] += all[i].weight
				}
				for spare := by[0].Needed; spare < vls; spare++ {
					fullest := 0
					for l := range lanesOf {
						if pairs[l]*len(lanesOf[fullest]) > pairs[fullest]*len(lanesOf[l]) {
							fullest = l
						}
					}
					lanesOf[fullest] = append(lanesOf[fullest], spare)
				}
				for i := range all {
					lanes := lanesOf[layerOf(f, by[0], &all[i])]
					want := slices.MinFunc(lanes, func(a, b int) int { return weight[a] - weight[b] })
					weight[want] += all[i].weight
					if got := layerOf(f, by[1], &all[i]); got != want {
						t.Fatalf("%d switches, %s, %d lanes: bundle %d of %d in lane %d, want %d of %v", f.Switches(), contract, vls, i, len(all), got, want, lanes)
					}
				}
			}
		}
	}
}
