package choose_test

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/choose"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
)

// The engine auto: the best of those that are proven for a network.
func ExampleBest() {
	f, err := topology.Torus{Dims: []int{4, 4}}.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	best, err := choose.Best(context.Background(), f, choose.Wish{
		Contract: routing.Any,
		Budget:   routing.Budget{VLs: 2},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("proven:", best.Verdict.Free())
	for _, t := range best.Trials {
		if t.Engine == "minhop" || t.Engine == "ftree" {
			fmt.Println(t.Engine+":", t.Outcome)
		}
	}
	// Output:
	// proven: true
	// ftree: refused
	// minhop: credit-loop
}
