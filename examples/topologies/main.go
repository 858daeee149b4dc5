// Command topologies compares networks of about as many hosts: what they cost in switches and
// cables, and what their best proven routing makes of them, whole and with one cable in
// twenty gone.
//
//	go run ./examples/topologies
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"text/tabwriter"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
	"github.com/weft-fabric/weft/traffic"
)

func main() {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "network\thosts\tswitches\tcables\tlanes\thops\tbandwidth\t5 % of cables gone\t")
	for _, spec := range []string{"xgft:m=8x8,w=4x4,hosts=2", "dragonfly:p=2", "torus:4x4x4,hosts=1", "slimfly:q=5,hosts=1", "random:switches=32,links=80,hosts=2"} {
		if err := study(out, spec); err != nil {
			log.Fatalf("%s: %v", spec, err)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

// study prints the row of a network.
func study(out *tabwriter.Writer, spec string) error {
	f, err := topology.Build(spec)
	if err != nil {
		return err
	}
	whole, bandwidth, err := measure(f)
	if err != nil {
		return err
	}
	n := f.Count()
	loss, err := topology.Damage{Links: (n.SwitchCables + 10) / 20, Seed: 1}.Draw(f)
	if err != nil {
		return err
	}
	damaged, err := loss.Apply(f)
	if err != nil {
		return err
	}
	_, less, err := measure(damaged)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d\t%.2f\t%.3f\t%.3f\t\n",
		spec, n.HCA, n.Switches, n.SwitchCables, whole.Tables.Lanes.Needed, whole.Loads.MeanHops(), bandwidth, less)
	return err
}

// measure routes a network by the engine weave-any, whose tables hold whatever service
// levels clients use, and measures what random pairs of hosts get of their links.
func measure(f *fabric.Fabric) (*weft.Result, float64, error) {
	r, err := weft.Route(context.Background(), f, weft.Request{Engine: "weave-any"})
	if err != nil {
		return nil, 0, err
	}
	pattern, err := traffic.Parse("bisect")
	if err != nil {
		return nil, 0, err
	}
	s, err := congestion.Simulate(context.Background(), r.Tables, congestion.Options{
		Pattern: pattern, Placement: routing.HCA.Endpoints(f), UniformRates: true, Runs: 500, Seed: 1,
	})
	if err != nil {
		return nil, 0, err
	}
	return r, s.Lambda, nil
}
