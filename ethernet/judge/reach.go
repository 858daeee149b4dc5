package judge

import (
	"context"

	"github.com/weft-fabric/weft/ethernet"
)

// Lost is a sender and a class whose packets can be lost between them.
type Lost struct {
	Sender ethernet.Sender
	From   ethernet.DeviceID // where they enter the network
	Class  int
	Why    Loss
	Where  ethernet.DeviceID // the device without a next hop, or where the circle begins
	Pairs  int64             // of prefixes that it concerns
}

// Loss is what becomes of packets.
type Loss uint8

// The ways to lose packets.
const (
	NoRoute Loss = iota // a device has no next hop
	Circles             // packets can circle
)

func (l Loss) String() string { return [...]string{"no route", "circles"}[l] }

// Circle is a forwarding loop: links that packets of a class can take round and round.
type Circle struct {
	Class int
	Links []ethernet.LinkID
}

// fate is what becomes at worst of the packets of a class at a device, whatever next hops are chosen.
type fate uint8

const (
	unknown fate = iota // they can get into a circle: no fate was found for them
	arrives
	lost // some choice ends at a device without a next hop
)

// reach fills in the findings of Verify beside deadlocks: pairs whose packets can be lost, and forwarding loops.
func reach(ctx context.Context, n *ethernet.Network, v *Verdict, o Options) error {
	senders := n.Senders(o.Scope)
	r := &reacher{n: n, known: make([][]fate, len(n.Classes)), open: make([]int32, len(n.Names))}
	for class := range n.Classes {
		if n.Wanted(class, o.Scope) && ctx.Err() == nil {
			fates := r.fates(class)
			circling := false
			for i := range senders {
				s := &senders[i]
				pairs := int64(s.Count) * int64(len(n.Classes[class].Prefixes))
				if s.Class == class {
					pairs = int64(s.Count) * int64(s.Count-1)
				}
				if s.Class != ethernet.None && n.Classes[s.Class].Prefix().Addr().Is4() != n.Classes[class].Prefix().Addr().Is4() {
					continue
				}
				v.Pairs += pairs
				cutOff := false
				for _, at := range s.At {
					if fates[at] == arrives || pairs == 0 {
						continue
					}
					circling = circling || fates[at] == unknown
					if cutOff {
						continue
					}
					cutOff = true
					v.Unreachable += pairs
					if o.Most < 0 || len(v.Lost) < o.Most {
						where, why := r.trace(class, at)
						v.Lost = append(v.Lost, Lost{Sender: *s, From: at, Class: class, Why: why, Where: where, Pairs: pairs})
					}
				}
			}
			if circling {
				v.Circles += len(n.Classes[class].Prefixes)
				if o.Most < 0 || len(v.Circling) < o.Most {
					v.Circling = append(v.Circling, Circle{Class: class, Links: r.circle(class, senders)})
				}
			}
		}
	}
	return ctx.Err()
}

// reacher finds the fates of classes.
type reacher struct {
	n     *ethernet.Network
	known [][]fate // [class][DeviceID] as fates returned them, nil for a class that nobody asked for
	open  []int32  // [DeviceID] of fates: next hops whose fate is not found yet
}

// fates is what becomes of packets of a class, [DeviceID]: they arrive if they do by all next hops and tunnels.
// It goes back from the devices without next hops; those that it never comes to keep the fate unknown.
func (r *reacher) fates(class int) []fate {
	if r.known[class] != nil {
		return r.known[class]
	}
	n, c := r.n, &r.n.Classes[class]
	fates := make([]fate, len(n.Names))
	bad := make([]bool, len(n.Names)) // packets can be lost by a choice at or behind the device
	r.known[class] = fates
	for _, t := range c.Tunnels {
		if r.fates(t.Into)[t.Device] != arrives {
			bad[t.Device] = true
		}
	}
	var queue []ethernet.DeviceID
	settle := func(d ethernet.DeviceID) {
		fates[d] = arrives
		if bad[d] {
			fates[d] = lost
		}
		queue = append(queue, d)
	}
	for d := range ethernet.DeviceID(len(n.Names)) {
		r.open[d] = 0
		n.Each(n.Words(c.Next, d), d, func(ethernet.LinkID) { r.open[d]++ })
	}
	for d := range ethernet.DeviceID(len(n.Names)) {
		if r.open[d] == 0 {
			bad[d] = bad[d] || !c.Leaves(d) && !c.Wraps(d)
			settle(d)
		}
	}
	for i := 0; i < len(queue); i++ {
		d := queue[i]
		for l, end := n.LinksFrom(d); l < end; l++ {
			if !n.Has(c.Next, n.Reverse[l]) {
				continue
			}
			sender := n.Links[l].To
			bad[sender] = bad[sender] || fates[d] == lost
			if r.open[sender]--; r.open[sender] == 0 {
				settle(sender)
			}
		}
	}
	return fates
}

// trace follows packets of a class that can be lost from a device, by the worst next hops, into a circle (where is a
// device on it) or else to where they are lost.
func (r *reacher) trace(class int, d ethernet.DeviceID) (where ethernet.DeviceID, why Loss) {
	fates := r.fates(class)
	seen := map[ethernet.DeviceID]bool{}
	for !seen[d] {
		seen[d] = true
		next := r.worst(class, fates, d)
		if next == ethernet.None {
			return d, NoRoute
		}
		d = r.n.Links[next].To
	}
	return d, Circles
}

// worst is the first next hop of a device from which packets may circle, or else the first from
// which they are lost; None if they arrive from all.
func (r *reacher) worst(class int, fates []fate, d ethernet.DeviceID) ethernet.LinkID {
	n := r.n
	next := ethernet.LinkID(ethernet.None)
	n.Each(n.Words(n.Classes[class].Next, d), d, func(l ethernet.LinkID) {
		if to := fates[n.Links[l].To]; to != arrives && (next == ethernet.None || to == unknown && fates[n.Links[next].To] == lost) {
			next = l
		}
	})
	return next
}

// circle is a forwarding loop that packets of some sender to a class get into; nil if there is none.
func (r *reacher) circle(class int, senders []ethernet.Sender) []ethernet.LinkID {
	fates := r.fates(class)
	for i := range senders {
		for _, at := range senders[i].At {
			if fates[at] == arrives {
				continue
			}
			begin, why := r.trace(class, at)
			if why != Circles {
				continue
			}
			var links []ethernet.LinkID
			for d := begin; len(links) == 0 || d != begin; d = r.n.Links[links[len(links)-1]].To {
				links = append(links, r.worst(class, fates, d))
			}
			return links
		}
	}
	return nil
}
