package main

import (
	"path"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/fabric"
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

// weighting is a pattern of host names and their weight.
type weighting struct {
	pattern string
	weight  uint8
}

// parseWeights reads the flags --weight.
func parseWeights(texts []string) ([]weighting, error) {
	var all []weighting
	for _, text := range texts {
		pattern, number, ok := cutLast(text, "=")
		w, err := strconv.ParseUint(number, 10, 8)
		if !ok || err != nil || w > balance.MaxWeight {
			return nil, usage("--weight %q: it is NAME=WEIGHT with a weight from 0 to %d; * in the name is any text", text, balance.MaxWeight)
		}
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, usage("--weight %q: %w", text, err)
		}
		all = append(all, weighting{pattern, uint8(w)})
	}
	return all, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// weigh is the weight of every endpoint, or nil if none was given. A pattern that
// fits no host is a mistake.
func weigh(f *fabric.Fabric, all []weighting) ([]uint8, error) {
	if len(all) == 0 {
		return nil, nil
	}
	weights := make([]uint8, len(f.Endpoints()))
	fits := make([]int, len(all))
	for i := range weights {
		e := f.Endpoint(fabric.EndpointID(i))
		if e.Class != fabric.HostAdapter {
			continue // routed when the hosts are done
		}
		weights[i] = ordinary
		for k, w := range all {
			if ok, _ := path.Match(w.pattern, f.Node(e.Node).Name); ok || w.pattern == f.Node(e.Node).GUID.String() {
				weights[i] = w.weight
				fits[k]++
			}
		}
	}
	for k, n := range fits {
		if n == 0 {
			return nil, usage("--weight: no host is called %s", all[k].pattern)
		}
	}
	return weights, nil
}
