package packets_test

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
)

// One configuration, measured, and its saturation throughput.
func Example() {
	f, err := topology.Build("torus:4x4")
	if err != nil {
		panic(err)
	}
	engine, err := engines.Named("dfsssp")
	if err != nil {
		panic(err)
	}
	tables, err := engine.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: 2}, nil)
	if err != nil {
		panic(err)
	}
	hardware, err := packets.PresetNamed("unit")
	if err != nil {
		panic(err)
	}
	network, err := packets.New(tables, hardware)
	if err != nil {
		panic(err)
	}
	load := packets.Injection{Offered: 0.3, Placement: routing.HCA.Endpoints(f), Seed: 1}
	r, err := network.Measure(context.Background(), load, packets.Window{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s: accepted %.1f of %.1f\n", r.Status, r.Accepted, r.Offered)
	s, err := network.Saturation(context.Background(), load, packets.Window{}, 0.3, 1, 0.05)
	if err != nil {
		panic(err)
	}
	fmt.Println("more is possible:", s.Accepted > 0.5)
	// Output:
	// steady: accepted 0.3 of 0.3
	// more is possible: true
}
