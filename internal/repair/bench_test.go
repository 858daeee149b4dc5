package repair_test

import (
	"testing"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
)

func BenchmarkMend(b *testing.B) {
	for _, spec := range []string{"torus:6x5x5,hosts=7", "dragonfly:p=4", "xgft:m=8x12,w=8x8,hosts=8", testnet.Grown} {
		b.Run(spec, func(b *testing.B) {
			f := testnet.Build(b, spec)
			was, contract := route(b, f, "weave-any")
			live, err := f.Without([]fabric.ChannelID{fabric.ChannelID(f.Trunks() / 2)}, nil)
			if err != nil {
				b.Fatal(err)
			}
			before, err := transition.On(live, was, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := repair.Mend(b.Context(), before, was, repair.Options{Contract: contract}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
