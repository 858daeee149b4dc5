package hop_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/internal/engine/lanes/hop"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

func BenchmarkDN(b *testing.B) {
	for _, spec := range []string{"dragonfly:p=4", "dragonfly:p=6", "dragonfly:p=8", "torus:6x5x5,hosts=7", "random:switches=128,links=256,hosts=16,seed=1"} {
		b.Run(spec, func(b *testing.B) {
			f := testnet.Build(b, spec)
			fw := paths(b, f, sssp.Finder{})
			b.ReportAllocs()
			for b.Loop() {
				l, err := hop.DN{}.Lanes(context.Background(), f, fw, routing.Budget{VLs: routing.DefaultVLs}, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(l.Needed), "lanes")
			}
		})
	}
}
