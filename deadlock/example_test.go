package deadlock_test

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
)

// tables is a network routed by an engine.
func tables(spec, engine string) *routing.Tables {
	f, err := topology.Build(spec)
	if err != nil {
		panic(err)
	}
	e, err := engines.Named(engine)
	if err != nil {
		panic(err)
	}
	t, err := e.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: routing.DefaultVLs}, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// OpenSM's default routing of a ring has a credit loop.
func ExampleVerify() {
	t := tables("ring:5", "minhop")
	v, err := deadlock.Verify(context.Background(), t, deadlock.Options{Contract: routing.Any})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("free:", v.Free())
	for _, step := range v.Cycle {
		c := t.Fabric.Channel(step.Trunk)
		fmt.Printf("%s → %s, VL %d\n", t.Fabric.Label(c.From), t.Fabric.Label(c.To), step.VL)
	}
	// Output:
	// free: false
	// sw-0 → sw-1, VL 0
	// sw-1 → sw-2, VL 0
	// sw-2 → sw-3, VL 0
	// sw-3 → sw-4, VL 0
	// sw-4 → sw-0, VL 0
}

// A certificate is checked without looking for cycles: every dependency of the
// tables must lead to a higher rank. One of other tables does not pass.
func ExampleCheckCertificate() {
	t := tables("ring:5", "dfsssp")
	v, err := deadlock.Verify(context.Background(), t, deadlock.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = deadlock.CheckCertificate(context.Background(), t, v.Certificate, nil)
	fmt.Println(err)
	_, err = deadlock.CheckCertificate(context.Background(), tables("ring:5", "minhop"), v.Certificate, nil)
	fmt.Println(err != nil)
	// Output:
	// <nil>
	// true
}
