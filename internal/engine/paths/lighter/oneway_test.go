package lighter

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/engine/paths/symmetric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// No paths that lead all packets between two switches over the same switches have less than
// oneWay says, and so what is taken is the same whether these are asked or not.
func TestOneWay(t *testing.T) {
	for _, spec := range []string{
		"xgft:m=36,w=18,hosts=18", "xgft:m=4x6,w=4x4,hosts=4", "xgft:m=12,w=6,hosts=6", "torus:4x4x4,hosts=2", "ring:5,hosts=3", "dragonfly:p=3",
		"random:switches=9,links=30,hosts=9,seed=3", "random:switches=2,links=4,hosts=7", "planes:groups=4", "patchwork:8", "patchwork:33", "patchwork:45", "patchwork:13",
	} {
		f := testnet.Build(t, spec)
		for range 2 { // with all cables, then without some
			fw, err := symmetric.Finder{}.Paths(context.Background(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			least, most := oneWay(f), fullest(f, fw)
			if least.fullest > most || least.fullest == 0 {
				t.Errorf("%s: symmetric paths have %d on the fullest trunk, and all of one way at least %d", spec, most, least.fullest)
			}
			if all := phases(f, fw); least.phases() > all || least.phases() == 0 {
				t.Errorf("%s: symmetric paths have phases of %d, and all of one way at least %d", spec, all, least.phases())
			}
			of := []routing.PathFinder{symmetric.Finder{}, sssp.Finder{}}
			asked, err := Finder{Of: of}.Paths(context.Background(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Finder{Of: of, OneWay: true}.Paths(context.Background(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			for lid := range f.LIDs() {
				if !bytes.Equal(asked.Row(lid), got.Row(lid)) {
					t.Fatalf("%s: other paths to LID %d", spec, lid)
				}
			}
			var gone []fabric.ChannelID
			for c := fabric.ChannelID(0); int(c) < f.Trunks(); c += 7 {
				gone = append(gone, c)
			}
			if f, err = f.Without(gone, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// unasked fails.
type unasked struct{}

func (unasked) Paths(context.Context, *fabric.Fabric, routing.Progress) (*routing.Forwarding, error) {
	return nil, errors.New("asked")
}

// On a tree whose leaves have a cable up for each host, the paths of sssp have so short phases that
// none of one way come near. On a torus they have not, nor where nothing is said of the first.
func TestOneWayIsNotAsked(t *testing.T) {
	of := []routing.PathFinder{unasked{}, sssp.Finder{}}
	for spec, asked := range map[string]bool{"xgft:m=8x12,w=8x8,hosts=8": false, "torus:4x4x4,hosts=2": true} {
		f := testnet.Build(t, spec)
		if _, err := (Finder{Of: of, OneWay: true}).Paths(context.Background(), f, nil); (err != nil) != asked {
			t.Errorf("%s: %v", spec, err)
		}
		if _, err := (Finder{Of: of}).Paths(context.Background(), f, nil); err == nil {
			t.Errorf("%s: the first is not asked, whatever it is", spec)
		}
	}
}
