package congestion

import (
	"context"
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/fan"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// CountTables counts the routes on every trunk as Count does; where switches choose, routes are
// split as flows are, and the numbers rounded, to 1 where there is any part of a route.
func CountTables(ctx context.Context, t *routing.Tables, scope routing.Scope) (*Loads, error) {
	if t.Groups == nil {
		return Count(t.Fabric, t.Forwarding, scope), nil
	}
	n, err := countSplit(ctx, t, scope)
	if err != nil {
		return nil, err
	}
	trunks := t.Fabric.Trunks()
	l := &Loads{Routes: make([]uint32, trunks), Hottest: fabric.None, Pairs: rounded(n.delivered), MaxHops: n.most}
	hops := uint64(0)
	for c := range trunks {
		units := uint64(0)
		for vl := range routing.MaxDataVLs {
			units += n.units[vl*trunks+c]
		}
		hops += units
		if l.Routes[c] = uint32(rounded(units)); l.Routes[c] > l.Max {
			l.Max, l.Hottest = l.Routes[c], fabric.ChannelID(c)
		}
	}
	l.Hops = rounded(hops)
	return l, nil
}

// countLanesSplit is CountLanes where switches choose.
func countLanesSplit(ctx context.Context, t *routing.Tables, scope routing.Scope) (*LaneRoutes, error) {
	n, err := countSplit(ctx, t, scope)
	if err != nil {
		return nil, err
	}
	r := &LaneRoutes{Trunks: t.Fabric.Trunks(), Routes: make([]uint32, len(n.units)), Pairs: make([]int64, len(n.come))}
	for i, units := range n.units {
		r.Routes[i] = uint32(rounded(units))
	}
	for vl, units := range n.come {
		r.Pairs[vl] = rounded(units)
	}
	return r, nil
}

// splitCount is what all routes come to when every endpoint in scope sends to every address of
// every other that it may use, and switches choose.
type splitCount struct {
	units     []uint64 // [VL × trunks + trunk]
	come      []uint64 // [VL] units that come to it from another lane, or from a source
	delivered uint64   // units that arrived
	most      int      // hops of the longest route

	sl []uint8 // [group of senders] scratch: the service level to the LID at hand
}

// placeSender is a group of endpoints whose packets do the same.
type placeSender struct {
	place    int32             // of the fan, where their packets enter
	row      int32             // of Lanes.Row
	endpoint fabric.EndpointID // one of them
	count    uint64
}

// sendersIn groups the endpoints in scope by their places and rows of service levels.
func sendersIn(n *fan.Fan, scope routing.Scope) (list []placeSender) {
	f := n.Tables.Fabric
	type key struct{ place, row int32 }
	number := map[key]int{}
	for _, id := range scope.Endpoints(f) {
		k := key{n.Source(f.Endpoint(id)), n.Tables.Lanes.Row[id]}
		i, ok := number[k]
		if !ok {
			i = len(list)
			number[k] = i
			list = append(list, placeSender{place: k.place, row: k.row, endpoint: id})
		}
		list[i].count++
	}
	return list
}

// rounded is units as a number of routes, 0 only if there are none.
func rounded(units uint64) int64 {
	if units == 0 {
		return 0
	}
	return int64(max(1, (units+splitUnits/2)/splitUnits))
}

// countSplit counts the routes of all tables. It takes O(D·h·T) for D destination LIDs, h hops and T
// trunks that lead nearer: all sources of a LID are followed together.
func countSplit(ctx context.Context, t *routing.Tables, scope routing.Scope) (*splitCount, error) {
	f, n := t.Fabric, fan.New(t)
	senders := sendersIn(n, scope)
	lids := lidsIn(f, scope)
	counts := make([]splitCount, par.Workers(len(lids)))
	sprays := make([]*spray, len(counts))
	for i := range counts {
		counts[i] = splitCount{units: make([]uint64, routing.MaxDataVLs*f.Trunks()), come: make([]uint64, routing.MaxDataVLs), sl: make([]uint8, len(senders))}
		sprays[i] = newSpray(n)
	}
	err := par.For(ctx, len(lids), func(worker, i int) {
		counts[worker].add(sprays[worker], lids[i], senders)
	})
	if err != nil {
		return nil, err
	}
	all := &counts[0]
	for _, w := range counts[1:] {
		for i, units := range w.units {
			all.units[i] += units
		}
		for vl, units := range w.come {
			all.come[vl] += units
		}
		all.delivered += w.delivered
		all.most = max(all.most, w.most)
	}
	return all, nil
}

// add counts the routes to a LID.
func (n *splitCount) add(p *spray, lid fabric.LID, senders []placeSender) {
	sls := uint16(0)
	for i, s := range senders {
		if n.sl[i] = p.Tables.Lanes.SL(s.endpoint, lid); n.sl[i] != routing.NoSL {
			sls |= 1 << n.sl[i]
		}
	}
	f := p.Tables.Fabric
	owner := f.Owner(lid)
	to := f.Endpoint(owner)
	home, row := p.Source(to), p.Tables.Lanes.Row[owner]
	for ; sls != 0; sls &= sls - 1 {
		sl := uint8(bits.TrailingZeros16(sls))
		for i, s := range senders {
			count := s.count
			if s.place == home && s.row == row {
				count-- // itself
			}
			if n.sl[i] == sl && count > 0 {
				p.add(s.place, fromSource, count*splitUnits)
			}
		}
		n.follow(p, lid, to, sl)
	}
}

// follow counts the routes of what was added to the spray, for a LID on a service level.
func (n *splitCount) follow(p *spray, lid fabric.LID, to *fabric.Endpoint, sl uint8) {
	trunks := p.Tables.Fabric.Trunks()
	for hops := 0; p.hop(lid, to, sl) && hops <= p.Tables.Fabric.Switches(); hops++ {
		if p.delivered > 0 {
			n.delivered += p.delivered
			n.most = max(n.most, hops)
		}
		for _, m := range p.moves {
			n.units[int(m.vl)*trunks+int(m.trunk)] += m.units
			if m.vl != m.came {
				n.come[m.vl] += m.units
			}
		}
	}
	p.drop()
}
