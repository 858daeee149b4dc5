package change_test

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/topology"
)

// A cable is gone: the tables are mended in steps whose every mixture was judged.
func ExampleMend() {
	ctx := context.Background()
	f, err := topology.Build("torus:4x4")
	if err != nil {
		fmt.Println(err)
		return
	}
	was, err := weft.Route(ctx, f, weft.Request{Engine: "weave-any"})
	if err != nil {
		fmt.Println(err)
		return
	}
	live, err := f.Without([]fabric.ChannelID{0}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := change.Mend(ctx, was.Tables, live, change.Options{Contract: was.Contract})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.CutBefore, "pairs of", plan.Pairs, "are cut off")
	for i := range plan.Steps {
		s := &plan.Steps[i]
		fmt.Printf("step %d: every mixture is free of credit loops: %v\n", i+1, s.Union.Free())
	}
	fmt.Println(plan.CutAfter, "are at the end")
	// Output:
	// 16 pairs of 240 are cut off
	// step 1: every mixture is free of credit loops: true
	// 0 are at the end
}
