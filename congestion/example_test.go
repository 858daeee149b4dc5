package congestion_test

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
	"github.com/weft-fabric/weft/traffic"
)

// What random pairs of hosts get of their links: the effective bisection bandwidth.
func ExampleSimulate() {
	f, err := topology.Build("torus:4x4,hosts=2")
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := engines.Named("dor")
	if err != nil {
		fmt.Println(err)
		return
	}
	tables, err := engine.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: 8}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	pattern, err := traffic.Parse("bisect")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := congestion.Simulate(context.Background(), tables, congestion.Options{
		Pattern: pattern, Placement: routing.HCA.Endpoints(f), Runs: 1000, Seed: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f of full, standard error %.3f\n", r.Lambda, r.StdErr)
	fmt.Println("most routes on a channel, all to all:", congestion.Count(f, tables.Forwarding, routing.HCA).Max)
	// Output:
	// 0.78 of full, standard error 0.003
	// most routes on a channel, all to all: 32
}
