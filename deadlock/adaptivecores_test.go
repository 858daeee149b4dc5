package deadlock_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
)

// However many cores share the destinations out among them, the verdict is the
// same: its counts, which lost flows it lists, its proof, and its cycle.
func TestAdaptiveJudgeOnAnyCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	family, err := topology.Parse("random:switches=70,links=140,seed=5")
	if err != nil {
		t.Fatal(err)
	}
	f, err := family.Build()
	if err != nil {
		t.Fatal(err)
	}
	sound := everyShortest(f, 3, all(3), own)
	withEscape(sound, false)
	spoilt := everyShortest(f, 3, all(3), own)
	rng := rand.New(rand.NewPCG(1, 2))
	for a := range routing.Address(spoilt.Addresses()) {
		row := spoilt.AllowedRow(a)
		row[rng.IntN(len(row))] = 0
		row[rng.IntN(len(row))] = 5
		if a%5 == 0 { // ways that end nowhere or lead back
			randomSet(f, spoilt.Lanes[0].Choices.Fresh(a, 0), spoilt.Destination(a), rng, 2, 10)
		}
	}
	for name, routed := range map[string]*routing.Adaptive{"sound": sound, "spoilt": spoilt} {
		for _, s := range []deadlock.Switching{deadlock.CutThrough, deadlock.Wormhole} {
			runtime.GOMAXPROCS(1)
			want := judgeAdaptive(t, routed, s)
			if name == "spoilt" && (want.Free() || want.Astray <= int64(len(want.Lost)) || want.Lost[len(want.Lost)-1].Dest == want.Lost[0].Dest) {
				t.Errorf("%s: not spoilt enough: %+v", s, want)
			}
			for _, cores := range []int{2, 3, 4} {
				runtime.GOMAXPROCS(cores)
				if got := judgeAdaptive(t, routed, s); !reflect.DeepEqual(got, want) {
					t.Errorf("%s, %s, %d cores: %+v, on one %+v", name, s, cores, got, want)
				}
			}
		}
	}
}

// A cancelled context ends the work on every core.
func TestAdaptiveJudgeCancelled(t *testing.T) {
	family, err := topology.Parse("random:switches=70,links=140,seed=5")
	if err != nil {
		t.Fatal(err)
	}
	f, err := family.Build()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	routed := everyShortest(f, 2, all(2), own)
	_, err = deadlock.VerifyAdaptive(ctx, routed, deadlock.AdaptiveOptions{Progress: func(done, total int) {
		if stop(); total != f.Switches() {
			t.Errorf("%d of %d done", done, total)
		}
	}})
	if err != context.Canceled {
		t.Errorf("error is %v", err)
	}
}
