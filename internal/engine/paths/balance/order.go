package balance

import (
	"fmt"
	"slices"

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
	rank   []int32 // [EndpointID] its rank; None without
	stride int32   // how far the ranks on a switch are apart, most of them
	runs   [][]run // [switch] the ranks on it
	column int32   // offsets that are equal modulo stride; they have cells in a row
	base   int32   // where its cells begin in a row of flows
}

// run is ranks that are a stride apart.
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
			o.rank[e] = int32(len(o.Ranks))
			o.Ranks = append(o.Ranks, e)
		}
		o.findRuns(n)
	}
	return orders, nil
}

// findRuns settles the stride and the runs of all switches. By switch the ranks on one are in a row; by name,
// where each host has adapters on several switches (rails), as far apart as a host has adapters:
//
//	ranks   host 1: 0 1   host 2: 2 3   host 3: 4 5     on the first switch 0, 2, 4, on the second 1, 3, 5
//
// Offsets of routes from one switch to a destination are that far apart then, too, and shall have cells
// in a row, for time and since those that share a cell shall be those of the same routes.
func (o *order) findRuns(n *network) {
	on := make([][]int32, n.f.Switches()) // [switch] ranks, rising
	for rank, e := range o.Ranks {
		s := n.f.Endpoint(e).Switch
		on[s] = append(on[s], int32(rank))
	}
	o.stride = commonest(on)
	o.column = (int32(len(o.Ranks)) + o.stride - 1) / o.stride
	for s, ranks := range on {
		for _, rank := range ranks {
			next := func(r run) bool { return r.first+r.count*o.stride == rank }
			if k := slices.IndexFunc(o.runs[s], next); k >= 0 {
				o.runs[s][k].count++
			} else {
				o.runs[s] = append(o.runs[s], run{rank, 1})
			}
		}
	}
}

// commonest is the distance that most ranks on a switch have to another one there, of those among the
// nearest; of several the least, and 1 if there is none.
func commonest(on [][]int32) int32 {
	const nearest = 8
	pairs := map[int32]int{} // [distance]
	for _, ranks := range on {
		for i, rank := range ranks {
			for _, before := range ranks[max(0, i-nearest):i] {
				pairs[rank-before]++
			}
		}
	}
	best := int32(1)
	for distance, n := range pairs {
		if n > pairs[best] || n == pairs[best] && distance < best {
			best = distance
		}
	}
	return best
}

// cells is how many cells an order has if each is for one offset. A few may be for none.
func (o *order) cells() int32 { return o.stride * o.column }

// cell is that of an offset.
func (o *order) cell(offset int32) int32 { return offset%o.stride*o.column + offset/o.stride }

// unused reports whether a cell is for no offset.
func (o *order) unused(cell int32) bool {
	return cell%o.column*o.stride+cell/o.column >= int32(len(o.Ranks))
}
