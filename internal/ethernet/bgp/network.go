package bgp

import (
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weft-fabric/weft/ethernet"
)

// Subnets gives each device with hosts a prefix of its own, 10.0.0.0/24 and so on; hosts is
// the number of hosts of each device, [DeviceID].
func Subnets(c *ethernet.Cabling, hosts []int) []ethernet.Class {
	var classes []ethernet.Class
	for d, count := range hosts {
		if count > 0 {
			i := len(classes)
			p := netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(10 + i>>16), byte(i >> 8), byte(i), 0}), 24)
			classes = append(classes, ethernet.Class{Prefixes: []netip.Prefix{p}, At: []ethernet.DeviceID{ethernet.DeviceID(d)}, Hosts: true})
		}
	}
	return classes
}

// Leaves is the devices where packets of some class with hosts leave, ascending.
func Leaves(classes []ethernet.Class) []ethernet.DeviceID {
	var list []ethernet.DeviceID
	for i := range classes {
		if classes[i].Hosts {
			list = append(list, classes[i].At...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Fill computes the next hops of all classes of the plan (Class.Next), with all links up.
func (p *Plan) Fill(classes []ethernet.Class) {
	down := make([]bool, len(p.Cabling.Links))
	var taken atomic.Int64 // classes
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			c := NewComputer(p)
			for {
				i := int(taken.Add(1)) - 1
				if i >= len(classes) {
					return
				}
				classes[i].Next = p.Cabling.NewRow()
				c.Class(i, classes[i].At, down, classes[i].Next)
			}
		})
	}
	wg.Wait()
}

// HostClasses is the classes of a network with hosts, one for each set of devices and tunnels
// that they are behind, without next hops, and behind them the classes that tunnels lead to.
func HostClasses(n *ethernet.Network) []ethernet.Class {
	var list []ethernet.Class
	var into []int // classes of the network that tunnels lead to; in list they come after those with hosts, in this order
	for i := range n.Classes {
		c := &n.Classes[i]
		if !c.Hosts || len(c.At) == 0 {
			continue
		}
		alike := slices.IndexFunc(list, func(o ethernet.Class) bool { return slices.Equal(o.At, c.At) && slices.Equal(o.Tunnels, c.Tunnels) })
		if alike < 0 {
			alike = len(list)
			list = append(list, ethernet.Class{At: c.At, Hosts: true, Tunnels: slices.Clone(c.Tunnels)})
		}
		list[alike].Prefixes = append(list[alike].Prefixes, c.Prefixes...)
		for _, t := range c.Tunnels {
			if !slices.Contains(into, t.Into) {
				into = append(into, t.Into)
			}
		}
	}
	hosts := len(list)
	for i := range list {
		for t := range list[i].Tunnels {
			list[i].Tunnels[t].Into = hosts + slices.Index(into, list[i].Tunnels[t].Into)
		}
	}
	for _, i := range into {
		list = append(list, ethernet.Class{Prefixes: n.Classes[i].Prefixes, At: n.Classes[i].At})
	}
	return list
}
