package placement_test

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/internal/placement"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
	"github.com/weft-fabric/weft/traffic"
)

// The ranks of a job that were dealt out at random are put where their neighbours are near.
func ExampleImprove() {
	f, err := topology.Build("torus:4x4")
	if err != nil {
		fmt.Println(err)
		return
	}
	routed, err := weft.Route(context.Background(), f, weft.Request{Engine: "dor"})
	if err != nil {
		fmt.Println(err)
		return
	}
	pattern, err := traffic.Parse("neighbour2d")
	if err != nil {
		fmt.Println(err)
		return
	}
	ranks, err := traffic.Place("random", f, routing.HCA.Endpoints(f), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := placement.Improve(context.Background(), routed.Tables, placement.Options{Pattern: pattern, Ranks: ranks, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("the job takes %.1f times as long as each flow alone, and took %.1f times\n", r.After.Slowdown(), r.Before.Slowdown())
	// Output:
	// the job takes 4.0 times as long as each flow alone, and took 5.0 times
}
