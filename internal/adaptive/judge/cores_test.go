package judge_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/adaptive/judge"
	"github.com/weft-fabric/weft/internal/testnet"
)

// bigRing is a ring of enough switches to be shared out, on which packets take
// shortest ways, and some, at random, others or none.
func bigRing(t *testing.T, lanes, spoilt int) *adaptive.Tables {
	t.Helper()
	f := testnet.Build(t, "ring:70")
	n := f.Switches()
	one := make([]int, n)
	for s := range one {
		one[s] = 1
	}
	apart := func(x, y fabric.NodeID) int { return min((int(x-y)+n)%n, (int(y-x)+n)%n) }
	rng := rand.New(rand.NewPCG(1, 2))
	a := adaptive.New(f, one)
	choices := adaptive.NewChoices(f, n, 1, make([]uint8, f.Trunks()))
	for x := range adaptive.Address(n) {
		set, d := choices.Fresh(x, 0), a.Destination(x)
		for c, ch := range f.Channels()[:f.Trunks()] {
			if apart(ch.To, d) < apart(ch.From, d) != (rng.IntN(1000) < spoilt) {
				set.Add(fabric.ChannelID(c))
			}
		}
		row := a.AllowedRow(x)
		for s := range row {
			if rng.IntN(1000) >= spoilt {
				row[s] = 1 + uint16(rng.IntN(1<<lanes-1))
			}
		}
	}
	for l := range lanes {
		a.Lanes = append(a.Lanes, adaptive.Lane{Choices: choices, Next: 1<<lanes - 1, Rely: 1 << l})
	}
	return a
}

// However many cores share the destinations out among them, the verdict is the
// same: its counts, which lost flows it lists, its proof or its cycle.
func TestAdaptiveJudgeOnAnyCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	proven := bigRing(t, 1, 0)
	withEscape(proven, false)
	circling, spoilt := bigRing(t, 3, 0), bigRing(t, 3, 5)
	for _, s := range []judge.Switching{judge.CutThrough, judge.Wormhole} {
		for i, routed := range []*adaptive.Tables{proven, circling, spoilt} {
			var first *judge.Verdict
			for cores := 1; cores <= 4; cores++ {
				runtime.GOMAXPROCS(cores)
				v, err := judge.Verify(context.Background(), routed, judge.Options{Switching: s})
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = v
				}
				if !reflect.DeepEqual(v, first) {
					t.Errorf("%s, routing %d, %d cores: %+v, on one %+v", s, i, cores, v, first)
				}
			}
			if first.Free() != (routed == proven) || (first.MayNotArrive > int64(len(first.Lost))) != (routed == spoilt) {
				t.Errorf("%s, routing %d: free %v, %d astray, %d of them listed", s, i, first.Free(), first.MayNotArrive, len(first.Lost))
			}
		}
	}
}

// A cancelled context ends the work, and is no verdict.
func TestAdaptiveJudgeCancelled(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	_, err := judge.Verify(ctx, bigRing(t, 2, 0), judge.Options{Progress: func(int, int) { stop() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
