package hop_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/internal/engine/lanes/hop"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Every pair has a service level: also where all paths have one hop, or none, so that
// any level would do.
func TestEveryPairHasALevel(t *testing.T) {
	for _, spec := range []string{"mesh:1x2,hosts=2", "ring:3", "mesh:1,hosts=3", "ring:4", "random:switches=2,links=3,hosts=2", "dragonfly:p=1"} {
		f := testnet.Build(t, spec)
		fw, err := sssp.Finder{}.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		l, err := hop.DN{}.Lanes(context.Background(), f, fw, routing.Budget{VLs: 8}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range routing.HCA.Endpoints(f) {
			for _, to := range routing.HCA.Endpoints(f) {
				if sl := l.SL(from, f.Endpoint(to).LID); sl >= routing.SLs {
					t.Errorf("%s: from endpoint %d to %d service level %d", spec, from, to, sl)
				}
			}
		}
	}
}
