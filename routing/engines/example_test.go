package engines_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
)

func torus() *fabric.Fabric {
	f, err := topology.Build("torus:4x4")
	if err != nil {
		panic(err)
	}
	return f
}

// An engine routes as asked or refuses and says why.
func ExampleEngine_Route() {
	f := torus()
	for _, name := range []string{"updn", "ftree"} {
		e, err := engines.Named(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		t, err := e.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: 4}, nil)
		if refusal := (*routing.Refusal)(nil); errors.As(err, &refusal) {
			fmt.Printf("%s refuses, for %s\n", name, refusal.Rule)
			continue
		}
		fmt.Println(name, "needs", t.Lanes.Needed, "lanes")
	}
	// Output:
	// updn needs 1 lanes
	// ftree refuses, for every cable joins switches of neighbouring levels, counted from the switches with hosts
}

// Every path finder goes with every lane assigner.
func ExamplePair() {
	paths, err := engines.FinderNamed("minhop")
	if err != nil {
		fmt.Println(err)
		return
	}
	lanes, err := engines.AssignerNamed("first-fit")
	if err != nil {
		fmt.Println(err)
		return
	}
	e := engines.Pair(paths, lanes)
	t, err := e.Route(context.Background(), torus(), engines.Options{}, routing.Budget{VLs: 8}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := deadlock.Verify(context.Background(), t, deadlock.Options{Contract: e.Contract})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Name, "is free of deadlock:", v.Free())
	// Output:
	// minhop+first-fit is free of deadlock: true
}
