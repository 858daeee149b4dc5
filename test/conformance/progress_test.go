package conformance

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Whoever reports progress counts up to the whole, and never beyond.
func TestProgressEndsAtTheWhole(t *testing.T) {
	for _, spec := range []string{"torus:4x4,hosts=2", "karytree:k=3,n=2"} {
		f := testnet.Build(t, spec)
		for _, finder := range engines.Finders() {
			last, total, calls := 0, 0, 0
			_, err := finder.New(engines.Options{}).Paths(context.Background(), f, routing.Progress(func(done, of int) {
				if calls++; done < last || done > of || calls > 1 && of != total {
					t.Errorf("%s on %s: %d of %d after %d of %d", finder.Name, spec, done, of, last, total)
				}
				last, total = done, of
			}))
			if err == nil && (calls == 0 || last != total) {
				t.Errorf("%s on %s: ends at %d of %d after %d reports", finder.Name, spec, last, total, calls)
			}
		}
	}
}
