package transition_test

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
)

// Two tables of a torus are free of deadlock each. While switches have some entries of the one
// and some of the other they are not: the change has to go in steps.
func ExampleVerify() {
	f, err := topology.Build("torus:4x4,hosts=1")
	if err != nil {
		fmt.Println(err)
		return
	}
	var tables []*routing.Tables
	for _, roots := range [][]fabric.GUID{{f.Node(0).GUID}, {f.Node(10).GUID}} {
		e, err := engines.Named("updn")
		if err != nil {
			fmt.Println(err)
			return
		}
		t, err := e.Route(context.Background(), f, engines.Options{Roots: roots}, routing.Budget{VLs: 1}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		tables = append(tables, t)
	}
	for _, next := range tables {
		v, err := transition.Verify(context.Background(), tables[0], next, deadlock.Options{Contract: routing.Any})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("free:", v.Free(), "with", v.Blocks, "blocks to write")
	}
	// Output:
	// free: true with 0 blocks to write
	// free: false with 14 blocks to write
}
