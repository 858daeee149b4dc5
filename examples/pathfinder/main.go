// Command pathfinder has a path finder of its own, of shortest paths drawn by lot, and puts it to
// work like any of weft's: with lanes of an assigner by name, proven by the judge, and
// beside an engine that balances.
//
//	go run ./examples/pathfinder torus:5x5,hosts=2
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
)

// lottery sends each destination's packets by a shortest path, drawn anew at every switch.
type lottery struct{ seed uint64 }

// Paths implements routing.PathFinder.
func (l lottery) Paths(ctx context.Context, f *fabric.Fabric, _ routing.Progress) (*routing.Forwarding, error) {
	t := routing.NewForwarding(f)
	for lid, owner := range f.LIDs() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := f.Endpoint(owner)
		if to.Switch == fabric.None {
			continue // cabled to an adapter, and to no switch
		}
		hops, row := f.Hops(to.Switch), t.Row(lid)
		draw := rand.New(rand.NewPCG(l.seed, uint64(lid)))
		for s := range fabric.NodeID(f.Switches()) {
			if s == to.Switch {
				row[s] = f.LastPort(to)
				continue
			}
			nearer := 0
			for first, end := f.TrunksFrom(s); first < end; first++ {
				if c := f.Channel(first); hops[c.To] != fabric.None && hops[c.To] == hops[s]-1 {
					if nearer++; draw.IntN(nearer) == 0 {
						row[s] = c.FromPort
					}
				}
			}
		}
	}
	return t, nil
}

func main() {
	spec := "torus:5x5,hosts=2"
	if len(os.Args) > 1 {
		spec = os.Args[1]
	}
	f, err := topology.Build(spec)
	if err != nil {
		log.Fatal(err)
	}
	lanes, err := engines.AssignerNamed("break-cycles")
	if err != nil {
		log.Fatal(err)
	}
	mine := engines.Pair(engines.Finder{
		Name: "lottery", Summary: "shortest paths drawn by lot",
		New: func(o engines.Options) routing.PathFinder { return lottery{o.Seed} },
	}, lanes)
	balanced, err := engines.Named("sssp+break-cycles")
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range []engines.Engine{mine, balanced} {
		r, err := weft.Route(context.Background(), f, weft.Request{Custom: &e, Contract: &routing.Directed})
		if err != nil {
			log.Fatal(err) // a refusal, or a credit loop
		}
		fmt.Printf("%-20s %d lanes, %d dependencies ranked, %.2f hops, %d routes on the fullest channel\n",
			e.Name, r.Tables.Lanes.Needed, r.Verdict.Dependencies, r.Loads.MeanHops(), r.Loads.Max)
	}
}
