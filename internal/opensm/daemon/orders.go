package daemon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/jobfiles"
	nodenames "github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/traffic"
)

// orderItems is the orders of the configuration, by name or, with brackets, as lists of
// hosts: commas within brackets part no orders.
func (s *settings) orderItems() []string {
	if len(s.RankOrder) == 0 {
		return nil
	}
	return nodenames.SplitList(s.RankOrder.String())
}

// settleOrders checks rank_order.
func (s *settings) settleOrders() error {
	for _, item := range s.orderItems() {
		if slices.Contains(traffic.Orders, item) {
			continue
		}
		if !strings.Contains(item, "[") {
			return fmt.Errorf("no order of ranks is called %q; there are %s, and lists of hosts such as node[001-128]",
				item, strings.Join(traffic.Orders, ", "))
		}
		if _, err := nodenames.Expand(item); err != nil {
			return err
		}
	}
	return s.checkHeeded(option.Orders, len(s.RankOrder) > 0)
}

// orders is the orders of the ranks of jobs on a fabric, and what is named and not there,
// since it may be down. nil: none is set, or of none there are two hosts left.
func (s *settings) orders(index *nodenames.Index, f *fabric.Fabric) (orders []engines.RankOrder, unknown []error) {
	hosts := routing.HCA.Endpoints(f)
	for _, item := range s.orderItems() {
		if slices.Contains(traffic.Orders, item) {
			ranks, err := traffic.Place(item, f, hosts, 0)
			if err != nil { // there are no hosts
				unknown = append(unknown, err)
				continue
			}
			orders = append(orders, engines.RankOrder{Name: item, Ranks: ranks})
			continue
		}
		ranks, missing := listed(index, hosts, item)
		unknown = append(unknown, missing...)
		if len(ranks) < 2 {
			unknown = append(unknown, fmt.Errorf("%s: %d of these host adapters are there; it takes two to talk", item, len(ranks)))
			continue
		}
		orders = append(orders, engines.RankOrder{Name: item, Ranks: ranks})
	}
	return orders, unknown
}

// listed is the adapters of a list of hosts, in its order and each once, and an error for each host that is not there.
func listed(index *nodenames.Index, hosts []fabric.EndpointID, item string) (ranks traffic.Placement, missing []error) {
	among, err := index.Endpoints(hosts)
	if err != nil {
		return nil, []error{err}
	}
	all, err := nodenames.Expand(item)
	if err != nil {
		return nil, []error{err}
	}
	for _, name := range all {
		on, err := among.Host(name)
		if err != nil {
			missing = append(missing, err)
		}
		ranks = append(ranks, on...)
	}
	return jobfiles.Once(ranks), missing
}
