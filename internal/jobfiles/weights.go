package jobfiles

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/names"
)

// The weight of a host is how much it sends and receives, relative to other hosts.
const (
	MaxWeight = 100
	ordinary  = 10 // of a host that is not named
)

// Weighting gives a weight to the hosts whose names match a pattern.
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

// Weigh is the weight of every endpoint [EndpointID], or nil if none is given. unknown
// lists names that match no host: mistakes, or hosts that are down.
func Weigh(index *names.Index, f *fabric.Fabric, all []Weighting) (weights []uint8, unknown []error) {
	if len(all) == 0 {
		return nil, nil
	}
	weights = make([]uint8, len(f.Endpoints()))
	of := make([][]fabric.EndpointID, len(f.Nodes())) // [NodeID] the endpoints of a host
	for i := range weights {
		// Endpoints that belong to no host are routed after the hosts, and have no weight.
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
