package balance

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
)

// Order is how the ranks of a job sit on the hosts.
type Order struct {
	Name  string
	Ranks []fabric.EndpointID // [rank] host adapters, each once
}

// order is an Order as the search uses it.
type order struct {
	Order
	rank []int32 // [EndpointID] its rank; None without
	runs [][]run // [switch] the ranks on it
	base int32   // where its cells begin in a row of flows
}

// run is ranks in a row.
type run struct{ first, count int32 }

// newOrders checks orders and prepares them. Without any it is by switch and port. Hosts
// without weight and what has no cable have no rank.
func newOrders(n *network, given []Order) ([]order, error) {
	if len(given) == 0 {
		given = []Order{{Name: "switch", Ranks: n.f.ByPort(n.hosts)}}
	}
	orders := make([]order, len(given))
	for i := range given {
		o := &orders[i]
		o.Order = Order{Name: given[i].Name}
		o.rank, o.runs = make([]int32, len(n.f.Endpoints())), make([][]run, n.f.Switches())
		for e := range o.rank {
			o.rank[e] = fabric.None
		}
		for _, e := range given[i].Ranks {
			if e < 0 || int(e) >= len(o.rank) {
				return nil, fmt.Errorf("rank order %s: endpoint %d; the fabric has %d", o.Name, e, len(o.rank))
			}
			end := n.f.Endpoint(e)
			if n.weight[e] == 0 || end.Class != fabric.HostAdapter {
				continue
			}
			if o.rank[e] != fabric.None {
				return nil, fmt.Errorf("rank order %s: endpoint %d has two ranks", o.Name, e)
			}
			o.add(e, end.Switch)
		}
	}
	return orders, nil
}

// add gives an endpoint the next rank.
func (o *order) add(e fabric.EndpointID, s fabric.NodeID) {
	rank := int32(len(o.Ranks))
	o.rank[e] = rank
	o.Ranks = append(o.Ranks, e)
	if k := len(o.runs[s]) - 1; k >= 0 && o.runs[s][k].first+o.runs[s][k].count == rank {
		o.runs[s][k].count++
	} else {
		o.runs[s] = append(o.runs[s], run{rank, 1})
	}
}
