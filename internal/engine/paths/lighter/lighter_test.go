package lighter_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/lighter"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/engine/paths/symmetric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// takes is which of the finders' paths were taken; -1: of none.
func takes(t *testing.T, f *fabric.Fabric, of ...routing.PathFinder) int {
	t.Helper()
	got, err := lighter.Finder{Of: of}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range of {
		fw, err := p.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		same := true
		for lid := range f.LIDs() {
			same = same && bytes.Equal(fw.Row(lid), got.Row(lid))
		}
		if same {
			return i
		}
	}
	return -1
}

func TestTakesTheLighter(t *testing.T) {
	for _, c := range []struct {
		spec string
		of   []routing.PathFinder
		want int
	}{
		// On a tree sssp spreads the hosts of a leaf: 630 routes against 972.
		{"xgft:m=36,w=18,hosts=18", []routing.PathFinder{symmetric.Finder{}, sssp.Finder{}}, 1},
		// 236 against 220: not an eighth less, so the first.
		{"torus:4x4x4,hosts=2", []routing.PathFinder{symmetric.Finder{}, sssp.Finder{}}, 0},
		{"torus:4x4x4,hosts=2", []routing.PathFinder{sssp.Finder{}, symmetric.Finder{}}, 0},
		{"torus:4x4x4,hosts=2", []routing.PathFinder{symmetric.Finder{Regular: true}, symmetric.Finder{}}, 1},
		// As much on the fullest, 450 routes, and phases of half the time.
		{"patchwork:8", []routing.PathFinder{symmetric.Finder{}, sssp.Finder{}}, 1},
		{"patchwork:8", []routing.PathFinder{sssp.Finder{}, symmetric.Finder{}}, 0},
		// Half the time, but a quarter more on the fullest.
		{"patchwork:seed=8,pods=3", []routing.PathFinder{symmetric.Finder{}, minhop.Finder{}}, 0},
		// A quarter shorter: not enough.
		{"torus:6x5x5", []routing.PathFinder{symmetric.Finder{}, sssp.Finder{}}, 0},
	} {
		if got := takes(t, testnet.Build(t, c.spec), c.of...); got != c.want {
			t.Errorf("%s, %T: took %d, want %d", c.spec, c.of, got, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	f := testnet.Build(t, "ring:4")
	if _, err := (lighter.Finder{}).Paths(context.Background(), f, nil); err == nil {
		t.Error("no finder, and no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (lighter.Finder{Of: []routing.PathFinder{sssp.Finder{}}}).Paths(ctx, f, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and the error is %v", err)
	}
}
