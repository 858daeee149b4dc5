package ethernet

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
)

// Delivery says what a device does with packets of a route besides sending them to next hops.
type Delivery uint8

// The kinds of delivery. Of several the last counts.
const (
	Forwarded Delivery = iota // nothing else
	ToItself                  // an address of the device, or of a cable's end
	ToHosts                   // hosts are behind one of its interfaces
	Outside                   // next hops outside the devices that were read
)

// Route is a line of a device's forwarding table. A route without delivery and next hops
// drops packets.
type Route struct {
	Prefix  netip.Prefix
	Deliver Delivery
	Via     []LinkID // next hops by the links that lead there
	Weights []uint16 // [as Via] their shares of the flows; nil: all alike
	Wraps   bool     // the device may also wrap the packets: see Class.Tunnels
}

// Classify sorts the prefixes of all devices into classes. tables is the forwarding table of
// each device, one route a prefix. Each prefix of any table is looked up in all of them, by
// longest match; prefixes that are wholly covered by longer ones carry no packets of their
// own and are left out. Tunnels have their device only: the caller says where they lead.
func (c *Cabling) Classify(tables [][]Route) ([]Class, error) {
	byPrefix := make([]map[netip.Prefix]*Route, len(tables))
	all := map[netip.Prefix]bool{}
	for d, table := range tables {
		byPrefix[d] = make(map[netip.Prefix]*Route, len(table))
		for i := range table {
			r := &table[i]
			if byPrefix[d][r.Prefix] != nil {
				return nil, fmt.Errorf("%s has two routes to %s", c.Names[d], r.Prefix)
			}
			byPrefix[d][r.Prefix] = r
			all[r.Prefix] = true
		}
	}
	var classes []Class
	index := map[string]int{}
	for _, p := range carrying(all) {
		class := c.classOf(p, byPrefix)
		key := class.key()
		if i, ok := index[key]; ok {
			classes[i].Prefixes = append(classes[i].Prefixes, p)
			continue
		}
		index[key] = len(classes)
		classes = append(classes, class)
	}
	return classes, nil
}

// classOf makes a class of one prefix, looked up at every device; routes is by DeviceID.
func (c *Cabling) classOf(p netip.Prefix, routes []map[netip.Prefix]*Route) Class {
	class := Class{Prefixes: []netip.Prefix{p}, Next: c.NewRow()}
	for d := range routes {
		r := longest(p, routes[d])
		if r == nil {
			continue
		}
		for _, l := range r.Via {
			c.Add(class.Next, l)
		}
		class.weigh(r)
		if r.Wraps {
			class.Tunnels = append(class.Tunnels, Tunnel{Device: DeviceID(d), Into: None})
		}
		if r.Deliver != Forwarded {
			class.At = append(class.At, DeviceID(d))
			class.Hosts = class.Hosts || r.Deliver != ToItself
		}
	}
	return class
}

// weigh adds the weights of a route's next hops to the class, unless they are all alike. Those of several next
// hops by one link add up.
func (c *Class) weigh(r *Route) {
	if len(r.Weights) == 0 {
		return
	}
	sum := map[LinkID]uint32{}
	for i, l := range r.Via {
		sum[l] += uint32(max(r.Weights[i], 1))
	}
	alike := true
	for _, l := range r.Via {
		alike = alike && sum[l] == sum[r.Via[0]]
	}
	if alike {
		return
	}
	if c.Weights == nil {
		c.Weights = map[LinkID]uint16{}
	}
	for l, w := range sum {
		c.Weights[l] = uint16(min(w, math.MaxUint16))
	}
}

// longest is the route of the longest prefix that covers p; nil if none does.
func longest(p netip.Prefix, table map[netip.Prefix]*Route) *Route {
	for length := p.Bits(); length >= 0; length-- {
		if r := table[netip.PrefixFrom(p.Addr(), length).Masked()]; r != nil {
			return r
		}
	}
	return nil
}

// carrying is the prefixes that are not wholly covered by longer ones, in order.
func carrying(all map[netip.Prefix]bool) []netip.Prefix {
	list := slices.SortedFunc(maps.Keys(all), netip.Prefix.Compare)
	var carry []netip.Prefix
	for i, p := range list {
		inside := list[i+1:] // prefixes within p come right after it
		n := 0
		for n < len(inside) && p.Contains(inside[n].Addr()) {
			n++
		}
		if !covered(p, inside[:n]) {
			carry = append(carry, p)
		}
	}
	return carry
}

// covered reports whether prefixes, in order and all inside p, make up all of p. As they are
// nested or apart, their addresses add up: it follows p from its first address.
func covered(p netip.Prefix, parts []netip.Prefix) bool {
	next := p.Addr()
	for _, q := range parts {
		if q.Addr() != next {
			if q.Addr().Compare(next) < 0 {
				continue // inside one that was counted
			}
			return false
		}
		last := lastAddress(q)
		if last == lastAddress(p) {
			return true
		}
		next = last.Next()
	}
	return false
}

func lastAddress(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < 8*len(b); i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// key is equal for two classes of one prefix each if these belong into one class: same family, next hops, weights,
// tunnels and deliveries.
func (c *Class) key() string {
	var b []byte
	if c.Prefix().Addr().Is4() {
		b = append(b, 4)
	}
	if c.Hosts {
		b = append(b, 1)
	}
	b = append(b, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.At))) // with the length of the whole, it says where each list ends
	for _, d := range c.At {
		b = binary.LittleEndian.AppendUint32(b, uint32(d))
	}
	for _, t := range c.Tunnels {
		b = binary.LittleEndian.AppendUint32(b, uint32(t.Device))
	}
	for _, w := range c.Next {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	for _, l := range slices.Sorted(maps.Keys(c.Weights)) {
		b = binary.LittleEndian.AppendUint32(b, uint32(l))
		b = binary.LittleEndian.AppendUint16(b, c.Weights[l])
	}
	return string(b)
}
