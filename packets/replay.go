package packets

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// LoopStep is one step of a credit loop as the judge reports it: a lane of a trunk, and
// a route that holds it and waits for the lane of the next step.
type LoopStep struct {
	Trunk fabric.ChannelID
	VL    uint8
	SL    uint8
	Src   fabric.EndpointID
	Dst   fabric.LID
}

// Replay is traffic made from a credit loop, and its result.
type Replay struct {
	Messages []Message
	Attempt  int // from 1
	Seed     uint64
	Result   *Result
}

// attempts is how often a replay is tried, each time with twice the packets and another
// seed.
const attempts = 8

// Replay sends packets along the routes of a credit loop, with no other traffic, until
// the network deadlocks. It takes routes from different sources where it can, because a
// source that waits for one destination sends nothing to others. Each route gets a
// stream of full packets; from the third attempt on, up to three more sources are added
// at each step. Ports choose requests at random, because endpoints and ports in fixed
// rotation can miss the deadlock for ever. It returns the first attempt that was
// stopped by a deadlock, or else the last.
func (n *Network) Replay(ctx context.Context, loop []LoopStep, seed uint64) (*Replay, error) {
	if n.adaptive != nil || len(loop) == 0 {
		return nil, errors.New("a replay needs tables and a credit loop")
	}
	lottery := *n
	lottery.Config.Lottery = true
	var last *Replay
	for k := range attempts {
		r := &Replay{Attempt: k + 1, Seed: seed + uint64(k)}
		r.Messages = n.streams(n.routesOf(loop, min(k/2, 3)), 250<<k, r.Seed)
		var err error
		if r.Result, err = lottery.Complete(ctx, [][]Message{r.Messages}, r.Seed, 0); err != nil {
			return nil, err
		}
		last = r
		if r.Result.Status != Completed || r.Result.Dropped > 0 {
			break
		}
	}
	return last, nil
}

// On sends the same traffic over another network, with the addresses and service levels
// that its tables give. Messages to multicast groups are left out where it has no trees.
func (r *Replay) On(ctx context.Context, n *Network) (*Result, error) {
	var messages []Message
	for _, m := range r.Messages {
		switch {
		case m.LID < routing.FirstMLID:
			m.LID, m.SL = 0, 0
		case n.tree(m.LID) == nil:
			continue
		}
		messages = append(messages, m)
	}
	lottery := *n
	lottery.Config.Lottery = true
	return lottery.Complete(ctx, [][]Message{messages}, r.Seed, 0)
}

// route is what the packets of a stream have in common.
type route struct {
	src fabric.EndpointID
	lid fabric.LID
	sl  uint8
}

// routesOf is a route for every step and up to more others for each, from different
// sources where possible.
func (n *Network) routesOf(loop []LoopStep, more int) []route {
	taken := map[fabric.EndpointID]bool{}
	scope := routing.HCA
	for _, s := range loop {
		if s.Dst >= routing.FirstMLID {
			continue
		}
		for !scope.Includes(n.Fabric.Endpoint(s.Src).Class) || !scope.Includes(n.Fabric.Endpoint(n.Fabric.Owner(s.Dst)).Class) {
			scope++
		}
	}
	var routes []route
	for i, s := range loop {
		next := loop[(i+1)%len(loop)]
		own := route{src: s.Src, lid: s.Dst, sl: s.SL}
		if s.Dst >= routing.FirstMLID {
			own.src = n.senderLike(s.Src, taken)
		} else if n.Fabric.Endpoint(s.Src).Inject == fabric.None || taken[s.Src] {
			if other := n.sourcesOf(s, next, scope, taken, 1); len(other) > 0 {
				own = other[0]
			}
		}
		taken[own.src] = true
		routes = append(routes, own)
	}
	for i, s := range loop {
		for _, r := range n.sourcesOf(s, loop[(i+1)%len(loop)], scope, taken, more) {
			taken[r.src] = true
			routes = append(routes, r)
		}
	}
	return routes
}

// senderLike is an adapter that is not taken, on the switch of an endpoint that sends to a group: its
// packets go the same ways. Where there is none it is the endpoint.
func (n *Network) senderLike(src fabric.EndpointID, taken map[fabric.EndpointID]bool) fabric.EndpointID {
	if n.Fabric.Endpoint(src).Inject != fabric.None && !taken[src] {
		return src
	}
	for _, e := range n.Fabric.Attached(n.Fabric.Endpoint(src).Switch) {
		if n.Fabric.Endpoint(e).Inject != fabric.None && !taken[e] {
			return e
		}
	}
	return src
}

// sourcesOf is up to so many routes, from sources not in taken, that hold the lane of
// one step and go on to that of the next.
func (n *Network) sourcesOf(hold, want LoopStep, scope routing.Scope, taken map[fabric.EndpointID]bool, most int) []route {
	f := n.Fabric
	if hold.Dst >= routing.FirstMLID {
		return nil
	}
	in, out := f.Channel(hold.Trunk), f.Channel(want.Trunk)
	var found []route
	for lid, owner := range f.LIDs() {
		row := n.tables.Forwarding.Row(lid)
		if e := f.Endpoint(owner); len(found) == most || !scope.Includes(e.Class) || e.Deliver == fabric.None ||
			row[in.From] != in.FromPort || row[out.From] != out.FromPort {
			continue
		}
		for src := range fabric.EndpointID(len(f.Endpoints())) {
			e := f.Endpoint(src)
			if len(found) == most {
				break
			}
			if taken[src] || src == owner || e.Inject == fabric.None || !scope.Includes(e.Class) {
				continue
			}
			sl := n.tables.Lanes.SL(src, lid)
			if r := (route{src: src, lid: lid, sl: sl}); sl != routing.NoSL && n.makes(r, hold, want) {
				found = append(found, r)
				taken[src] = true
			}
		}
	}
	for _, r := range found {
		delete(taken, r.src) // the caller decides which to use
	}
	return found
}

// makes reports whether a route goes from the lane of one step to the lane of another.
func (n *Network) makes(r route, hold, want LoopStep) bool {
	f := n.Fabric
	at, in := f.Endpoint(r.src).Switch, f.Channel(f.Endpoint(r.src).Inject).ToPort
	held, lane := false, n.firstLane(f.Endpoint(r.src), r.sl)
	for range f.Switches() {
		c := f.Trunk(at, n.tables.Forwarding.Port(at, r.lid))
		if c == fabric.None {
			return false
		}
		ch := f.Channel(c)
		vl := n.tables.Lanes.SL2VL.Next(at, in, ch.FromPort, r.sl, lane)
		if held {
			return c == want.Trunk && vl == want.VL
		}
		held = c == hold.Trunk && vl == hold.VL
		at, in, lane = ch.To, ch.ToPort, vl
	}
	return false
}

// streams is so many full packets along each route. A source with several routes
// alternates between them, and each source starts at a random time.
func (n *Network) streams(routes []route, packets int, seed uint64) []Message {
	r := traffic.Stream(seed, 1)
	start := map[fabric.EndpointID]Time{}
	for _, way := range routes {
		if _, ok := start[way.src]; !ok {
			inject := n.Fabric.Endpoint(way.src).Inject
			start[way.src] = Time(r.Int64N(1 + 4*int64(serial(n.Config.wire(int64(n.Config.MTU)), n.kindAt(int32(inject)).perByte))))
		}
	}
	list := make([]Message, 0, packets*len(routes))
	for range packets {
		for _, way := range routes {
			m := Message{At: start[way.src], From: way.src, To: n.Fabric.Owner(way.lid), LID: way.lid, SL: way.sl}
			if way.lid >= routing.FirstMLID {
				m.To = m.From
			}
			list = append(list, m)
		}
	}
	return list
}

// Matches reports whether a deadlock is the credit loop: the same lanes of the same
// channels, whatever the first of either.
func (d *Deadlock) Matches(loop []LoopStep) bool {
	if len(d.Cycle) != len(loop) {
		return false
	}
	for shift := range loop {
		same := true
		for i, b := range d.Cycle {
			s := loop[(i+shift)%len(loop)]
			same = same && b.Channel == s.Trunk && b.VL == s.VL
		}
		if same {
			return true
		}
	}
	return false
}

// String describes the deadlock in a sentence.
func (d *Deadlock) String() string {
	return fmt.Sprintf("%d buffers in a circle, closed at %d ps; %d packets in %d buffers will never move", len(d.Cycle), d.Closed, d.Packets, d.Buffers)
}
