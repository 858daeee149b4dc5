package conformance

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// The engines for networks of low diameter on networks that they are for, with the addresses
// that they need, while these fall apart. The suite has all other networks.
func TestEnginesForLowDiameter(t *testing.T) {
	for i, c := range []struct {
		spec, engine string
		lmc          uint8
		failures     int // it must route after so many
	}{
		{"slimfly:q=4,hosts=1", "fatpaths", 2, 0}, {"polarfly:q=4,hosts=1", "fatpaths", 2, 0}, {"hyperx:5x4,hosts=1", "fatpaths", 1, 0},
		{"slimfly:q=3,hosts=1", "layered+break-cycles", 1, 0}, {"oft:k=3", "fatpaths", 2, 0},
		{"hyperx:5x4,hosts=1", "parx", 2, 1}, {"hyperx:3x3x2,hosts=1", "parx", 2, 0}, {"hyperx:4x4,hosts=2", "parx", 3, 0},
		{"dragonfly:p=2", "dla", 0, 0}, {"dragonfly:p=2,g=4", "d3r", 1, 0}, {"dragonfly:p=3,g=5,global=random", "dla", 0, 0}, {"hyperx:5x4,hosts=1", "d3r", 0, 0},
	} {
		t.Run(c.spec+" "+c.engine, func(t *testing.T) {
			t.Parallel()
			e, err := engines.Named(c.engine)
			if err != nil {
				t.Fatal(err)
			}
			f, err := testnet.Build(t, c.spec).WithLMC(c.lmc)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(uint64(i), 5))
			for step := range 6 {
				tried, scope := newSubject(f), scopes[step%len(scopes)]
				if err := tried.check(e, scope); err != nil {
					t.Fatalf("after %d failures: %v", step, err)
				}
				if _, err := tried.route(e, scope, e.Contract); step <= c.failures && err != nil && errors.As(err, new(*routing.Refusal)) {
					t.Errorf("it refuses after %d failures: %v", step, err)
				}
				if f, err = fail(f, rng); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
