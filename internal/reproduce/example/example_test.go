package example

import (
	"context"
	"math"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/traffic"
)

// HOTI 2009, section IV.F: "P-SSSP and P²-SSSP would place all routes between 1 and
// 4,5,6 and between 2 and 4,5,6 on edge (E,D) ... P-SSSP uses the upper path
// (D,C,B,A) for all routes".
func TestFigure6AsPrinted(t *testing.T) {
	for _, line := range []string{PrintedP, TextP} {
		r, err := exampleRoutes(context.Background(), line)
		if err != nil {
			t.Fatal(err)
		}
		for host := 3; host < 6; host++ {
			for pair, want := range map[[2]int]string{
				{0, host}: "ED", {1, host}: "FED", {host, 0}: "DE", {host, 1}: "DEF", {host, 2}: "DCBA", {2, host}: "ABCD",
			} {
				if got := r[pair[0]][pair[1]]; got != want {
					t.Errorf("%s: %d to %d by %s, the paper has %s", line, pair[0]+1, pair[1]+1, got, want)
				}
			}
		}
		if r[4][5] != "D" || r[0][1] != "EF" || r[2][1] != "AF" {
			t.Errorf("%s: routes %v", line, r)
		}
	}
}

// The six routes from 4, 5, 6 to 1 and 2 share (D,E). With the seventh over the lower
// path the index is larger, and pairs (6,3) and (1,2) share (E,F): worked out by hand
// for the pattern 6 to 3, 1 to 2, 4 to 5: 1/2 + 1/2 + 1.
func TestFigure6ByHand(t *testing.T) {
	for line, want := range map[string]struct {
		index int
		gamma float64
	}{TextP: {6, 3}, TextP2: {7, 2}} {
		r, err := exampleRoutes(context.Background(), line)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.index(); got != want.index {
			t.Errorf("%s: edge-forwarding index %d, want %d", line, got, want.index)
		}
		if got := r.bandwidth([][2]int{{5, 2}, {0, 1}, {3, 4}}); got != want.gamma {
			t.Errorf("%s: bandwidth %g, want %g", line, got, want.gamma)
		}
	}
}

// The exact mean agrees with the sampled one of package congestion, and so do the
// forwarding indices.
func TestFigure6AgreesWithSimulation(t *testing.T) {
	f, err := figure6()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sssp", "p2sssp", "minhop"} {
		exact, err := Count(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		e, err := engines.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		routed, err := tables(t.Context(), f, e)
		if err != nil {
			t.Fatal(err)
		}
		r, err := congestion.Simulate(t.Context(), routed, congestion.Options{
			Pattern: traffic.Bisection(), Placement: routing.HCA.Endpoints(f), UniformRates: true, Seed: 3, Runs: 20000,
		})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(r.Lambda-exact.Bandwidth) > 4*r.StdErr {
			t.Errorf("%s: %.4f exactly, %.4f ± %.4f sampled", name, exact.Bandwidth, r.Lambda, r.StdErr)
		}
		loads, err := congestion.CountTables(t.Context(), routed, routing.HCA)
		if err != nil {
			t.Fatal(err)
		}
		if loads.Max != uint32(exact.Index) {
			t.Errorf("%s: index %d, by congestion %d", name, exact.Index, loads.Max)
		}
	}
}
