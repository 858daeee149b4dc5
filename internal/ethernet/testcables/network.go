package testcables

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/hops"
)

// Network is a few devices with any cables, next hops, priorities, rules and tunnels,
// sensible or not.
func Network(t testing.TB, r *rand.Rand) *ethernet.Network {
	t.Helper()
	devices := 2 + r.IntN(5)
	p := Devices(devices)
	p.Draw(r, 1+r.IntN(2*devices))
	c := p.Cabling(t)
	n := &ethernet.Network{Cabling: c}
	toward := r.IntN(2) == 0 // next hops are nearer to the end, as sensible routes are
	for i := range 1 + r.IntN(4) {
		n.Classes = append(n.Classes, randomClass(r, n, i, toward))
	}
	n.Priorities = randomPriorities(r, c)
	if r.IntN(3) == 0 {
		randomTunnels(r, n)
	}
	if c := &n.Classes[r.IntN(len(n.Classes))]; r.IntN(4) == 0 { // hosts of it are behind another device too
		c.At = append(c.At, ethernet.DeviceID(r.IntN(devices)))
		slices.Sort(c.At)
		c.At = slices.Compact(c.At)
	}
	return n
}

func randomClass(r *rand.Rand, n *ethernet.Network, i int, toward bool) ethernet.Class {
	class := ethernet.Class{Next: n.NewRow(), Hosts: r.IntN(5) > 0}
	for k := range 1 + r.IntN(2) {
		class.Prefixes = append(class.Prefixes, netip.MustParsePrefix(fmt.Sprintf("10.%d.%d.0/24", i, k)))
	}
	end := ethernet.DeviceID(r.IntN(len(n.Names)))
	class.At = append(class.At, end)
	distance := hops.From(n.Cabling, class.At, nil)
	for l, link := range n.Links {
		nearer := distance[link.To] < distance[link.From]
		if link.From != end && (toward && nearer && r.IntN(8) > 0 || !toward && r.IntN(3) == 0 || r.IntN(12) == 0) {
			n.Add(class.Next, ethernet.LinkID(l))
		}
	}
	return class
}

func randomPriorities(r *rand.Rand, c *ethernet.Cabling) *ethernet.Priorities {
	marks := 1 + r.IntN(3)
	p := &ethernet.Priorities{Marks: make([]string, marks), Start: 1 + r.Uint64N(1<<marks-1)}
	plain := r.IntN(2) == 0
	for m := range marks {
		for range c.Links {
			lane := int8(m)
			if !plain {
				lane = int8(r.IntN(4)) - 1
			}
			p.Lane = append(p.Lane, lane)
		}
	}
	if r.IntN(2) == 0 {
		p.Rules = ethernet.NewRules(c, marks)
		for out := range c.Links {
			from := c.Links[out].From
			for l, end := c.LinksFrom(from); l <= end; l++ {
				in := ethernet.LinkID(ethernet.None)
				if l < end {
					in = c.Reverse[l]
				}
				if r.IntN(3) == 0 {
					p.Rules.Set(in, ethernet.LinkID(out), uint8(r.IntN(marks)), uint8(r.IntN(marks)))
				}
			}
		}
	}
	return p
}

func randomTunnels(r *rand.Rand, n *ethernet.Network) {
	m := make([]uint64, len(n.Priorities.Marks))
	for i := range m {
		for range 2 {
			m[i] |= 1 << r.IntN(len(m))
		}
	}
	n.TunnelMaps = [][]uint64{m}
	into := r.IntN(len(n.Classes))
	for i := range n.Classes {
		if i != into && r.IntN(2) == 0 {
			n.Classes[i].Tunnels = []ethernet.Tunnel{{Device: ethernet.DeviceID(r.IntN(len(n.Names))), Into: into}}
		}
	}
}
