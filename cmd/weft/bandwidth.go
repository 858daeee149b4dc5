package main

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/cmd/weft/internal/exit"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// bandwidths is effective bisection bandwidth before and after a change, as parts of
// full; nil: fewer than two endpoints.
type bandwidths struct {
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
}

// text is the two for people.
func (b *bandwidths) text(among string) string {
	if b.Before == nil || b.After == nil {
		return "there are fewer than two " + among
	}
	return fmt.Sprintf("%.3f of full before, %.3f after, random pairs of the %s", *b.Before, *b.After, among)
}

// bisection is the effective bisection bandwidth of tables among those endpoints in
// scope that another fabric has too, with a cable.
func bisection(ctx context.Context, t *routing.Tables, other *fabric.Fabric, scope routing.Scope, seed uint64, precision float64) (*float64, error) {
	f := t.Fabric
	var ranks traffic.Placement
	for _, e := range scope.Endpoints(f) {
		if alsoIn(other, f, e) {
			ranks = append(ranks, e)
		}
	}
	if len(ranks) < 2 {
		return nil, nil
	}
	r, err := congestion.Simulate(ctx, t, congestion.Options{Pattern: traffic.Bisection(), Placement: ranks, Seed: seed, Precision: precision})
	if err != nil {
		return nil, err
	}
	return &r.Lambda, nil
}

// alsoIn says whether another fabric has an endpoint too, with a cable.
func alsoIn(other, f *fabric.Fabric, e fabric.EndpointID) bool {
	ep := f.Endpoint(e)
	n := other.NodeByGUID(f.Node(ep.Node).GUID)
	return n != fabric.None && (ep.Class == fabric.SwitchPort || other.Out(n, ep.Port) != fabric.None)
}

// contractOf is the contract that a flag says, or else what the tables are made for:
// any where service levels make no difference to them.
func contractOf(flag string, tables ...*routing.Tables) (routing.Contract, error) {
	if flag != "" {
		c, err := routing.ParseContract(flag)
		if err != nil {
			return c, exit.Usage("%w", err)
		}
		return c, nil
	}
	for _, t := range tables {
		if !t.Lanes.SL2VL.IgnoresSL() {
			return routing.Honored, nil
		}
	}
	return routing.Any, nil
}
