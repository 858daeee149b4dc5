package main

import (
	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/cmd/weft/internal/exit"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/fabric/names"
	"github.com/weft-fabric/weft/routing/paths/balance"
	"github.com/weft-fabric/weft/traffic"
)

// balanceFlags adds what balance, and weave and weave-any after it, can be told.
func balanceFlags(c *cobra.Command, o *routeFlags) {
	f := c.Flags()
	f.StringVar(&o.aim, "aim", balance.Bisection.String(), "what balance is good for: bisection (pairs at random) or alltoall (the fullest channel)")
	f.StringArrayVar(&o.weights, "weight", nil, "traffic of hosts by name, as 'storage-*=40', 0 to 100; others have 10; the last that fits counts")
}

// parseWeights reads the flags --weight.
func parseWeights(texts []string) ([]traffic.Weighting, error) {
	var all []traffic.Weighting
	for _, text := range texts {
		w, err := traffic.ParseWeighting(text)
		if err != nil {
			return nil, exit.Usage("--weight %w", err)
		}
		all = append(all, w)
	}
	return all, nil
}

// weigh is the weight of every endpoint, or nil if none was given. A name of no host
// is a mistake.
func weigh(f *fabric.Fabric, all []traffic.Weighting) ([]uint8, error) {
	weights, unknown := traffic.Weigh(names.New(f), f, all)
	if len(unknown) > 0 {
		return nil, exit.Usage("--weight: %w", unknown[0])
	}
	return weights, nil
}
