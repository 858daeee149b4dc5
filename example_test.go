package weft_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
)

// From what ibnetdiscover prints to tables that are proven.
func Example() {
	text, err := os.ReadFile("examples/cluster.ibnetdiscover")
	if err != nil {
		log.Fatal(err)
	}
	f, err := ibnet.Read(bytes.NewReader(text), "cluster.ibnetdiscover")
	if err != nil {
		log.Fatal(err) // says which line is wrong
	}
	r, err := weft.Route(context.Background(), f, weft.Request{})
	if err != nil {
		log.Fatal(err) // says why nothing is proven, never with something weaker in its place
	}
	fmt.Printf("%s, contract %s: %d lane, %d routes on the fullest channel\n", r.Engine.Name, r.Contract, r.Tables.Lanes.Needed, r.Loads.Max)
	fmt.Printf("%s sends to LID 33 by port %d\n", f.Label(0), r.Tables.Forwarding.Port(0, 33))
	// Output:
	// weave-any, contract any: 1 lane, 240 routes on the fullest channel
	// sw-0 sends to LID 33 by port 6
}

// An engine by name, and what its errors are.
func ExampleRoute() {
	f, err := topology.Build("torus:5x5")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, engine := range []string{"lash", "minhop", "ftree"} {
		r, err := weft.Route(context.Background(), f, weft.Request{Engine: engine, VLs: 1})
		few, rule, loop := (*routing.TooFewLanes)(nil), (*routing.Refusal)(nil), (*weft.CreditLoop)(nil)
		switch {
		case errors.As(err, &few):
			fmt.Println(engine, "needs", few.Need, "lanes")
		case errors.As(err, &rule):
			fmt.Println(engine, "refuses:", rule.Rule)
		case errors.As(err, &loop):
			fmt.Println(engine, "has a credit loop of", len(loop.Verdict.Cycle), "links")
		case err != nil:
			fmt.Println(err)
		default:
			fmt.Println(engine, "is proven under contract", r.Contract)
		}
	}
	// Output:
	// lash needs 2 lanes
	// minhop has a credit loop of 4 links
	// ftree refuses: every cable joins switches of neighbouring levels, counted from the switches with hosts
}
