package traffic

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/fabric/names"
)

// Weights of hosts: how much they send and receive, relative to each other.
const (
	MaxWeight = 100
	ordinary  = 10 // of a host that is not named
)

// Weighting is the name of a host, or a pattern of them, and its weight.
type Weighting struct {
	Name   string
	Weight uint8
}

// ParseWeighting reads NAME=WEIGHT.
func ParseWeighting(text string) (Weighting, error) {
	i := strings.LastIndex(text, "=")
	w, err := strconv.ParseUint(text[i+1:], 10, 8)
	if i < 0 || err != nil || w > MaxWeight {
		return Weighting{}, fmt.Errorf("%q: it is NAME=WEIGHT with a weight from 0 to %d; * in the name is any text", text, MaxWeight)
	}
	return Weighting{text[:i], uint8(w)}, nil
}

// Weigh is the weight of every endpoint [EndpointID], or nil if none is given. Names
// that are no host's are mistakes, or hosts that are down.
func Weigh(index *names.Index, f *fabric.Fabric, all []Weighting) (weights []uint8, unknown []error) {
	if len(all) == 0 {
		return nil, nil
	}
	weights = make([]uint8, len(f.Endpoints()))
	of := make([][]fabric.EndpointID, len(f.Nodes())) // [NodeID] those that hosts send from
	for i := range weights {
		// What is no host's is routed when the hosts are done, and has no weight.
		if e := f.Endpoint(fabric.EndpointID(i)); e.Class == fabric.HostAdapter {
			weights[i] = ordinary
			of[e.Node] = append(of[e.Node], fabric.EndpointID(i))
		}
	}
	for _, w := range all {
		adapters, err := index.Adapters(w.Name)
		hosts := 0
		for _, n := range adapters {
			for _, e := range of[n] {
				weights[e] = w.Weight
				hosts++
			}
		}
		if err == nil && hosts == 0 {
			err = fmt.Errorf("%q is no host, and only hosts have weights", w.Name)
		}
		if err != nil {
			unknown = append(unknown, err)
		}
	}
	return weights, unknown
}
