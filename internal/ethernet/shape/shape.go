// Package shape says what a lossless Ethernet network is made of: the tiers of its devices, how much leads
// up from each, how many next hops routes have, and what is odd: a device with fewer cables or next hops than
// others like it, a cable that is lossless in one direction only.
//
// The tier of a device is how many hops it is from the nearest device with hosts. Devices are alike if
// they are in one tier; routes are alike if they are of devices of one tier, to prefixes that are
// equally many hops away.
package shape

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/hops"
	"github.com/weft-fabric/weft/internal/words"
)

// Tier is the devices that are equally far from hosts.
type Tier struct {
	Devices int
	Hosts   int   // devices of them with hosts; of the first tier only
	Up      int   // cables to the next tier
	Down    int   // to the one before
	Across  int   // within the tier
	Widths  []int // [number of next hops] routes to prefixes with hosts that have so many

	UpMbps, DownMbps int // what the cables up and down carry together; 0: not known of all
}

// Finding is something odd.
type Finding struct {
	Kind   string // one-uplink, uneven-cables, narrow-group, one-way-lossless, slow-cable, speed-differs, no-route or no-cable
	Device ethernet.DeviceID
	Text   string
}

// Shape is what a network is made of.
type Shape struct {
	Level []int32 // [DeviceID] its tier; -1: no hosts can be reached
	Tiers []Tier
	Odd   []Finding // by kind, then by device
}

// Of finds the tiers of a network and what is odd in it, for weft info, weft watch and the page.
func Of(n *ethernet.Network) *Shape {
	s := &Shape{}
	s.levels(n)
	s.cables(n)
	s.routes(n)
	s.lossless(n)
	s.speeds(n)
	slices.SortStableFunc(s.Odd, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Device, b.Device)) })
	return s
}

// odd adds a finding.
func (s *Shape) odd(kind string, d ethernet.DeviceID, format string, args ...any) {
	s.Odd = append(s.Odd, Finding{Kind: kind, Device: d, Text: fmt.Sprintf(format, args...)})
}

// levels finds the tier of each device, and counts the devices of each tier.
func (s *Shape) levels(n *ethernet.Network) {
	var hosts []ethernet.DeviceID
	for i := range n.Classes {
		if n.Classes[i].Hosts {
			hosts = append(hosts, n.Classes[i].At...)
		}
	}
	s.Level = hops.From(n.Cabling, hosts, nil)
	for _, level := range s.Level {
		for int(level) >= len(s.Tiers) {
			s.Tiers = append(s.Tiers, Tier{})
		}
		if level >= 0 {
			s.Tiers[level].Devices++
		}
	}
	if len(s.Tiers) > 0 {
		s.Tiers[0].Hosts = s.Tiers[0].Devices
	}
}

// cables counts those between tiers, and finds devices with others than most of their tier.
func (s *Shape) cables(n *ethernet.Network) {
	up, down := make([]int, len(n.Names)), make([]int, len(n.Names))
	unknown := make([][2]bool, len(s.Tiers)) // up, down
	for l, link := range n.Links {
		a, b := s.Level[link.From], s.Level[link.To]
		mbps := 0
		if n.Speeds != nil {
			mbps = int(min(n.Speeds[l], n.Speeds[n.Reverse[l]]))
		}
		switch {
		case a < 0 || b < 0:
		case a < b:
			up[link.From]++
			s.Tiers[a].Up++
			s.Tiers[a].UpMbps += mbps
			unknown[a][0] = unknown[a][0] || mbps == 0
		case a > b:
			down[link.From]++
			s.Tiers[a].Down++
			s.Tiers[a].DownMbps += mbps
			unknown[a][1] = unknown[a][1] || mbps == 0
		case ethernet.LinkID(l) < n.Reverse[l]:
			s.Tiers[a].Across++
		}
	}
	for i := range s.Tiers {
		if unknown[i][0] {
			s.Tiers[i].UpMbps = 0
		}
		if unknown[i][1] {
			s.Tiers[i].DownMbps = 0
		}
	}
	for d, level := range s.Level {
		first, end := n.LinksFrom(ethernet.DeviceID(d))
		switch {
		case first == end:
			s.odd("no-cable", ethernet.DeviceID(d), "%s has no cable to another device", n.Names[d])
		case level >= 0 && int(level) < len(s.Tiers)-1 && up[d] == 1:
			s.odd("one-uplink", ethernet.DeviceID(d), "%s has one cable up: without it, it is cut off", n.Names[d])
		}
	}
	for level := range s.Tiers {
		s.uneven(n, level, "up", up)
		s.uneven(n, level, "down", down)
	}
}

// uneven finds devices of a tier with other numbers of cables than most.
func (s *Shape) uneven(n *ethernet.Network, level int, way string, cables []int) {
	count := map[int]int{}
	for d, l := range s.Level {
		if int(l) == level {
			count[cables[d]]++
		}
	}
	most, devices := 0, 0
	for cables, c := range count {
		if c > devices {
			most, devices = cables, c
		}
	}
	if devices*2 <= s.Tiers[level].Devices {
		return // none is in the majority
	}
	for d, l := range s.Level {
		if int(l) == level && cables[d] != most {
			s.odd("uneven-cables", ethernet.DeviceID(d), "%s has %s %s, and %d of %d devices of tier %d have %d", n.Names[d], words.Plural(cables[d], "cable"), way, devices, s.Tiers[level].Devices, level, most)
		}
	}
}

// routes counts next hops, and finds devices with fewer than others like them.
func (s *Shape) routes(n *ethernet.Network) {
	type alike struct{ level, distance int32 }
	narrow := map[[3]int]int{}          // by device, its next hops, and those of others: prefixes
	lost := make([]int, len(n.Names))   // [DeviceID] prefixes without a next hop
	widths := make([]int, len(n.Names)) // [DeviceID] next hops to the class at hand
	for i := range n.Classes {
		c := &n.Classes[i]
		if !c.Hosts || len(c.At) == 0 || c.Prefix().Bits() == 0 {
			continue
		}
		distance := hops.To(n, c)
		widest := map[alike]int{}
		for d := range ethernet.DeviceID(len(n.Names)) {
			widths[d] = 0
			if s.Level[d] < 0 || distance[d] == 0 {
				continue
			}
			for _, w := range n.Words(c.Next, d) {
				widths[d] += bits.OnesCount64(w)
			}
			if widths[d] == 0 {
				lost[d] += len(c.Prefixes)
				continue
			}
			t := &s.Tiers[s.Level[d]]
			for widths[d] >= len(t.Widths) {
				t.Widths = append(t.Widths, 0)
			}
			t.Widths[widths[d]] += len(c.Prefixes)
			k := alike{s.Level[d], distance[d]}
			widest[k] = max(widest[k], widths[d])
		}
		for d, w := range widths {
			if most := widest[alike{s.Level[d], distance[d]}]; w > 0 && w < most {
				narrow[[3]int{d, w, most}] += len(c.Prefixes)
			}
		}
	}
	for k, prefixes := range narrow {
		s.odd("narrow-group", ethernet.DeviceID(k[0]), "%s has %s to %s, and others of its tier as far away have up to %d", n.Names[k[0]], words.Plural(k[1], "next hop"), words.Counted(prefixes, "prefix", "prefixes"), k[2])
	}
	slices.SortFunc(s.Odd, func(a, b Finding) int { return cmp.Compare(a.Text, b.Text) }) // maps have no order
	for d, prefixes := range lost {
		if prefixes > 0 {
			s.odd("no-route", ethernet.DeviceID(d), "%s has no route to %s with hosts", n.Names[d], words.Counted(prefixes, "prefix", "prefixes"))
		}
	}
}

// speeds finds cables whose ends have other speeds, and those that are slower than most between their tiers.
func (s *Shape) speeds(n *ethernet.Network) {
	if n.Speeds == nil {
		return
	}
	type tiers [2]int32
	between := func(l ethernet.LinkID) tiers {
		a, b := s.Level[n.Links[l].From], s.Level[n.Links[l].To]
		return tiers{min(a, b), max(a, b)}
	}
	count := map[tiers]map[uint32]int{} // cables by speed
	for l := range ethernet.LinkID(len(n.Links)) {
		back := n.Reverse[l]
		a, b := n.Speeds[l], n.Speeds[back]
		switch {
		case l > back || a == 0 || b == 0:
		case a != b:
			s.odd("speed-differs", n.Links[l].From, "%s has %d Mb/s, and %s at the other end %d", n.End(l), a, n.End(back), b)
		default:
			if count[between(l)] == nil {
				count[between(l)] = map[uint32]int{}
			}
			count[between(l)][a]++
		}
	}
	for l := range ethernet.LinkID(len(n.Links)) {
		back, speed := n.Reverse[l], n.Speeds[l]
		most, cables := uint32(0), 0
		for other, c := range count[between(l)] {
			if c > cables || c == cables && other > most {
				most, cables = other, c
			}
		}
		if l < back && speed > 0 && speed == n.Speeds[back] && speed < most {
			s.odd("slow-cable", n.Links[l].From, "from %s to %s %d Mb/s, and %d of the cables between these tiers have %d", n.End(l), n.End(back), speed, cables, most)
		}
	}
}

// lossless finds cables whose two directions have different lossless priorities.
func (s *Shape) lossless(n *ethernet.Network) {
	if n.Priorities == nil {
		return
	}
	priorities := func(l ethernet.LinkID) (set uint16) {
		for m := range n.Priorities.Marks {
			if lane := n.Priorities.Of(uint8(m), l); lane != ethernet.Lossy {
				set |= 1 << lane
			}
		}
		return set
	}
	for l := range ethernet.LinkID(len(n.Links)) {
		back := n.Reverse[l]
		if a, b := priorities(l), priorities(back); l < back && a != b {
			s.odd("one-way-lossless", n.Links[l].From, "from %s to %s %s, and back %s", n.End(l), n.End(back), losslessText(a), losslessText(b))
		}
	}
}

// losslessText says which priorities of a set of bits are lossless.
func losslessText(set uint16) string {
	if set == 0 {
		return "nothing is lossless"
	}
	text := ""
	for ; set != 0; set &= set - 1 {
		text += fmt.Sprintf(", %d", bits.TrailingZeros16(set))
	}
	return "the lossless priorities are " + text[2:]
}
