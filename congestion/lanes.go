package congestion

import (
	"context"
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/fan"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// sender is a group of endpoints that share all their routes and lanes.
type sender struct {
	endpoint fabric.EndpointID // one of them
	in       uint8             // the in-port of the switch for their packets
	count    uint32
}

// LaneRoutes is how many routes every trunk carries on each lane when every endpoint in
// scope sends to every address of every other that it may use.
type LaneRoutes struct {
	Trunks int
	Routes []uint32 // [VL × Trunks + trunk]
	Pairs  []int64  // [VL] routes that cross a trunk on it
}

// CountLanes counts the routes on the lanes. It takes O(s·D·h) for s groups of senders
// (one for each switch, unless the SL2VL maps distinguish in-ports), D destination LIDs and
// routes of h hops. Packets that are dropped because their lane is VL 15 are not counted. Where
// switches choose, it is as in CountTables, and Pairs counts routes where they come to a lane.
func CountLanes(ctx context.Context, t *routing.Tables, scope routing.Scope) (*LaneRoutes, error) {
	if t.Groups != nil {
		return countLanesSplit(ctx, t, scope)
	}
	f := t.Fabric
	senders := sendersOf(t, scope)
	lids := lidsIn(f, scope)
	counts := make([]LaneRoutes, par.Workers(len(lids))) // [worker]
	trees := make([]routing.Tree, len(counts))
	for i := range counts {
		counts[i] = LaneRoutes{Trunks: f.Trunks(), Routes: make([]uint32, routing.MaxDataVLs*f.Trunks()), Pairs: make([]int64, routing.MaxDataVLs)}
	}
	err := par.For(ctx, len(lids), func(worker, i int) {
		counts[worker].add(t, &trees[worker], lids[i], senders)
	})
	if err != nil {
		return nil, err
	}
	all := &counts[0]
	for _, w := range counts[1:] {
		for i, n := range w.Routes {
			all.Routes[i] += n
		}
		for vl, n := range w.Pairs {
			all.Pairs[vl] += n
		}
	}
	return all, nil
}

// lidsIn is the LIDs in scope, which workers share among them.
func lidsIn(f *fabric.Fabric, scope routing.Scope) (lids []fabric.LID) {
	for lid := range scope.LIDs(f) {
		lids = append(lids, lid)
	}
	return lids
}

// sendersOf groups the endpoints in scope; where SL2VL maps are the same at all ports, in-ports do not
// count, and in is 0.
func sendersOf(t *routing.Tables, scope routing.Scope) []sender {
	f := t.Fabric
	_, uniform := t.Lanes.SL2VL.Uniform()
	type key struct {
		sw  fabric.NodeID
		row int32
		in  uint8
	}
	number := map[key]int{}
	var senders []sender
	for _, id := range scope.Endpoints(f) {
		e := f.Endpoint(id)
		k := key{sw: e.Switch, row: t.Lanes.Row[id]}
		if !uniform {
			k.in = f.LastPort(e)
		}
		n, ok := number[k]
		if !ok {
			n = len(senders)
			number[k] = n
			senders = append(senders, sender{endpoint: id, in: k.in})
		}
		senders[n].count++
	}
	return senders
}

// add counts the routes to a LID.
func (r *LaneRoutes) add(t *routing.Tables, tree *routing.Tree, lid fabric.LID, senders []sender) {
	f := t.Fabric
	to, row := f.Endpoint(f.Owner(lid)), t.Forwarding.Row(lid)
	root := to.Switch
	if row[root] != f.LastPort(to) {
		return
	}
	tree.Build(f, row, root)
	for _, s := range senders {
		at, sl := f.Endpoint(s.endpoint).Switch, t.Lanes.SL(s.endpoint, lid)
		if tree.Depth(at) < 0 || sl == routing.NoSL {
			continue
		}
		in, lane := s.in, routing.SourceLane(fan.LanesAt(f, at, s.in), sl)
		var used uint16 // lanes, a bit each
		for at != root {
			c := tree.Out[at]
			ch := f.Channel(c)
			vl := t.Lanes.SL2VL.Next(at, in, ch.FromPort, sl, lane)
			if int(vl) >= routing.MaxDataVLs {
				break
			}
			r.Routes[int(vl)*r.Trunks+int(c)] += s.count
			used |= 1 << vl
			at, in, lane = ch.To, ch.ToPort, vl
		}
		for ; used != 0; used &= used - 1 {
			r.Pairs[bits.TrailingZeros16(used)] += int64(s.count)
		}
	}
}
