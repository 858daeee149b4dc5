// Package inspect describes a fabric and finds anomalies in it: the levels of a tree
// with their oversubscription, links that are slower than similar ones, trunks with
// cables missing, names that several nodes have, hosts that lack adapters.
//
// Cables are similar if they join the same levels and models of switches, or lead to
// the same model of adapter. A property that most similar cables have is expected of
// all; if there is no majority, nothing is expected.
package inspect

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Level is the switches of one level of a tree: those of level 0 have hosts, those of
// level 1 are a hop away, and so on. A network with hosts on all switches has one
// level. Switches on no shortest path between hosts are in none, and cables to them count
// for none: an unused line card of a director would be a level above its spines.
type Level struct {
	Switches int
	Hosts    int   // cables to host adapters
	Others   int   // cables to aggregation nodes and routers
	Down, Up int   // cables to switches of the level below, and of the level above
	Across   int   // cables within the level
	Free     int   // ports without a cable
	NoUp     int   // switches that have something below, but no cable up
	Over     Ratio // of all its switches together, those without a cable up too
	Least    Ratio // of the switch with the smallest ratio of those with cables up
	Most     Ratio // of the switch with the largest
}

// Ratio is an oversubscription: the bandwidth of the cables to hosts and lower levels,
// and that of the cables up, in Mbit/s. If any rate in the fabric is not known, each
// cable counts as 1.
type Ratio struct{ Below, Above int64 }

// Value is Below divided by Above; 0 if there are no cables up.
func (r Ratio) Value() float64 {
	if r.Above == 0 {
		return 0
	}
	return float64(r.Below) / float64(r.Above)
}

// fewHosts is the ratio above which a switch with hosts is not taken for a leaf: when
// the switches it is cabled to have on average (over its cables) more than fewHosts
// times its hosts. So a spine with a server or two stays a spine, and a leaf with few
// hosts a leaf.
const fewHosts = 4

// survey is a fabric with what the anomalies are found from.
type survey struct {
	*fabric.Fabric
	host  []bool  // [ChannelID] leads from a switch to a host adapter
	level []int32 // [switch] its level; None if no host can be reached
	aside []bool  // [switch] no hosts, and on no shortest path between switches with hosts
	rated bool    // the rates of all cables that carry traffic are known
}

// newSurvey finds all that a survey says.
func newSurvey(f *fabric.Fabric) *survey {
	s := &survey{Fabric: f, host: make([]bool, len(f.Channels())), rated: true}
	hosts := make([]int, f.Switches()) // [switch] host adapters there
	ends := make([]bool, f.Switches()) // [switch] has these, or routers
	for i := range f.Endpoints() {
		if e := f.Endpoint(fabric.EndpointID(i)); (e.Class == fabric.HostAdapter || e.Class == fabric.RouterPort) && e.Deliver != fabric.None {
			ends[e.Switch] = true
			if e.Class == fabric.HostAdapter {
				s.host[e.Deliver] = true
				hosts[e.Switch]++
			}
		}
	}
	for i := range f.Channels() {
		c := f.Channel(fabric.ChannelID(i))
		s.rated = s.rated && (c.Rate.Known() || c.From == c.To)
	}
	s.findLevels(hosts)
	s.findAside(ends)
	return s
}

// findAside sets s.aside from which switches have hosts or routers, [switch]. Where fewer than two have, there are no paths, and
// nothing is aside.
func (s *survey) findAside(ends []bool) {
	s.aside = make([]bool, s.Switches())
	left := 0 // switches of which nothing is known yet
	for v, has := range ends {
		if s.aside[v] = !has; !has {
			left++
		}
	}
	if s.Switches()-left < 2 {
		clear(s.aside)
		return
	}
	hops := make([]int32, s.Switches())
	on := make([]bool, s.Switches()) // on a shortest path from the switch at hand to another with hosts
	for from, has := range ends {
		if !has || left == 0 {
			continue
		}
		for i := range hops {
			hops[i] = fabric.None
		}
		reached := s.AddHops(hops, fabric.NodeID(from))
		for _, v := range slices.Backward(reached) { // the farthest first
			on[v] = ends[v]
			for _, next := range s.Neighbours(v) {
				on[v] = on[v] || hops[next] > hops[v] && on[next]
			}
			if on[v] && s.aside[v] {
				s.aside[v] = false
				left--
			}
		}
	}
}

// findLevels sets s.level from the number of hosts on every switch, [switch].
func (s *survey) findLevels(hosts []int) {
	var leaves []fabric.NodeID
	for v := range hosts {
		around := 0 // hosts of the switches that it is cabled to, counted for each cable
		first, end := s.TrunksFrom(fabric.NodeID(v))
		for c := first; c < end; c++ {
			around += hosts[s.Heads()[c]]
		}
		if hosts[v] > 0 && around <= fewHosts*hosts[v]*int(end-first) {
			leaves = append(leaves, fabric.NodeID(v))
		}
	}
	s.level = s.Hops(leaves...)
}

// Levels is the levels of a fabric, the one with the hosts first. Switches that cannot
// reach a host are in none.
func Levels(f *fabric.Fabric) []Level {
	s := newSurvey(f)
	top := int32(fabric.None)
	for v, at := range s.level {
		if !s.aside[v] {
			top = max(top, at)
		}
	}
	levels := make([]Level, top+1)
	for v, at := range s.level {
		if at >= 0 && !s.aside[v] {
			s.addSwitch(&levels[at], fabric.NodeID(v))
		}
	}
	for i := range levels {
		levels[i].Across /= 2 // each cable was counted at both ends
	}
	return levels
}

// LevelOf is the level of every switch, [switch], also of those aside; fabric.None where no host can be reached.
func LevelOf(f *fabric.Fabric) []int32 { return newSurvey(f).level }

// addSwitch counts switch v, its cables and its ratio in its level l. Cables within the level come in twice, from both ends.
func (s *survey) addSwitch(l *Level, v fabric.NodeID) {
	var r Ratio // of the switch
	l.Switches++
	for p := 1; p <= s.Node(v).Ports; p++ {
		c := s.Out(v, uint8(p))
		if c == fabric.None {
			l.Free++
			continue
		}
		ch := s.Channel(c)
		width := int64(1)
		if s.rated {
			width = int64(ch.Rate.Mbps())
		}
		switch {
		case ch.To == v, s.Node(ch.To).Kind == fabric.Switch && s.aside[ch.To]: // it belongs to no level
		case s.host[c]:
			l.Hosts++
			r.Below += width
		case s.Node(ch.To).Kind != fabric.Switch:
			l.Others++
		case s.level[ch.To] > s.level[v]:
			l.Up++
			r.Above += width
		case s.level[ch.To] < s.level[v]:
			l.Down++
			r.Below += width
		default:
			l.Across++
		}
	}
	l.Over.Below += r.Below
	l.Over.Above += r.Above
	if r.Above == 0 {
		if r.Below > 0 {
			l.NoUp++
		}
		return
	}
	if l.Least.Above == 0 || r.Value() < l.Least.Value() {
		l.Least = r
	}
	if r.Value() > l.Most.Value() {
		l.Most = r
	}
}
