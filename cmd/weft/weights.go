package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/fabric/names"
	"github.com/weft-fabric/weft/routing/paths/balance"
)

// ordinary is the weight of a host adapter that --weight does not name.
const ordinary = 10

// balanceFlags adds what balance, and weave and weave-any after it, can be told.
func balanceFlags(c *cobra.Command, o *routeFlags) {
	f := c.Flags()
	f.StringVar(&o.aim, "aim", balance.Bisection.String(), "what balance is good for: bisection (pairs at random) or alltoall (the fullest channel)")
	f.StringArrayVar(&o.weights, "weight", nil, "traffic of hosts by name, as 'storage-*=40', 0 to 100; others have 10; the last that fits counts")
}

// weighting is the name of a host, or a pattern of them, and its weight.
type weighting struct {
	name   string
	weight uint8
}

// parseWeights reads the flags --weight.
func parseWeights(texts []string) ([]weighting, error) {
	var all []weighting
	for _, text := range texts {
		name, number, ok := cutLast(text, "=")
		w, err := strconv.ParseUint(number, 10, 8)
		if !ok || err != nil || w > balance.MaxWeight {
			return nil, usage("--weight %q: it is NAME=WEIGHT with a weight from 0 to %d; * in the name is any text", text, balance.MaxWeight)
		}
		all = append(all, weighting{name, uint8(w)})
	}
	return all, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// weigh is the weight of every endpoint, or nil if none was given. A name of no host
// is a mistake.
func weigh(f *fabric.Fabric, all []weighting) ([]uint8, error) {
	if len(all) == 0 {
		return nil, nil
	}
	weights := make([]uint8, len(f.Endpoints()))
	of := make([][]fabric.EndpointID, len(f.Nodes())) // [NodeID] those that hosts send from
	for i := range weights {
		// What is no host's is routed when the hosts are done, and has no weight.
		if e := f.Endpoint(fabric.EndpointID(i)); e.Class == fabric.HostAdapter {
			weights[i] = ordinary
			of[e.Node] = append(of[e.Node], fabric.EndpointID(i))
		}
	}
	index := names.New(f)
	for _, w := range all {
		adapters, err := index.Adapters(w.name)
		if err != nil {
			return nil, usage("--weight: %w", err)
		}
		hosts := 0
		for _, n := range adapters {
			for _, e := range of[n] {
				weights[e] = w.weight
				hosts++
			}
		}
		if hosts == 0 {
			return nil, usage("--weight: %q is no host, and only hosts have weights", w.name)
		}
	}
	return weights, nil
}
