// Package between says what differs between two lossless Ethernet networks, such as those of two days, and makes
// the network of all mixtures that there are while the one becomes the other: each device forwards each prefix by
// the next hops of before or by those of after, at any time either. If that has no circle, no mixture has one. It is
// the argument of package deadlock/transition, for sets of next hops.
//
// Mixtures are on the cables of the second network, with its priorities or, by AnyMaps, with any; what of the first leads over cables that are
// gone is left out.
package between

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
)

// Difference is what the second of two networks has otherwise than the first.
type Difference struct {
	DevicesGone, DevicesNew   []string
	CablesGone, CablesNew     []ethernet.Cable // of those with a device that is gone or new too
	Recabled                  []Recabled       // interfaces that lead elsewhere: among the cables that are gone and new too
	PrefixesGone, PrefixesNew []netip.Prefix   // with hosts
	Moved                     []netip.Prefix   // with hosts, behind other devices than before
	Routes                    []Route
	Entries                   int      // pairs of a device and a prefix with other next hops
	Lossless                  []Lane   // directions of cables with other lossless priorities
	Maps                      []string // devices that change the marks of packets otherwise; nil where marks are not comparable
	Marks                     bool     // priorities are told apart by other marks, so that maps cannot be compared one by one
}

// Recabled is an interface with its other end.
type Recabled struct {
	At, Before, After ethernet.End
}

// Route is prefixes that a device forwards otherwise, all from the same next hops to the same.
type Route struct {
	Device        string
	Before, After []ethernet.End // neighbors, with the interfaces of the device; none: no route, or delivered
	Prefixes      []netip.Prefix
}

// Lane is a direction of a cable with its lossless priorities.
type Lane struct {
	From, To      ethernet.End
	Before, After uint16 // a bit for each priority
}

// pair is two networks, and how the numbers of the one are in the other.
type pair struct {
	old, new  *ethernet.Network
	newDevice []ethernet.DeviceID // [DeviceID of old] in new; None: gone
	newLink   []ethernet.LinkID   // [LinkID of old] in new; None: gone
	oldDevice []ethernet.DeviceID // [DeviceID of new] in old; None: it is new
	oldLink   []ethernet.LinkID   // [LinkID of new] in old; None: it is new
	classes   []classPair
}

// classPair is prefixes that are all of one class in the old network, and all of one in the new.
type classPair struct {
	old, new int // None: no route anywhere
	prefixes []netip.Prefix
}

func pairOf(old, new *ethernet.Network) *pair {
	p := &pair{old: old, new: new}
	p.newDevice, p.oldDevice = match(old.Cabling, new.Cabling), match(new.Cabling, old.Cabling)
	p.newLink, p.oldLink = links(old.Cabling, new.Cabling, p.newDevice), links(new.Cabling, old.Cabling, p.oldDevice)
	p.pairClasses()
	return p
}

// match finds the devices of one cabling in another.
func match(from, to *ethernet.Cabling) []ethernet.DeviceID {
	list := make([]ethernet.DeviceID, len(from.Names))
	for d, name := range from.Names {
		list[d] = to.Device(name)
	}
	return list
}

// links finds the links of one cabling in another: those between the same interfaces.
func links(from, to *ethernet.Cabling, device []ethernet.DeviceID) []ethernet.LinkID {
	list := make([]ethernet.LinkID, len(from.Links))
	for l, link := range from.Links {
		list[l] = ethernet.None
		a, b := device[link.From], device[link.To]
		if a == ethernet.None || b == ethernet.None {
			continue
		}
		if there := to.LinkAt(a, link.FromInterface); there != ethernet.None && to.Links[there].To == b && to.Links[there].ToInterface == link.ToInterface {
			list[l] = there
		}
	}
	return list
}

// pairClasses finds the classes in both networks of every prefix of either. A prefix that a network does not have is forwarded
// there as the longest that covers it, by longest match.
func (p *pair) pairClasses() {
	inOld, inNew := byPrefix(p.old), byPrefix(p.new)
	all := maps.Clone(inOld)
	maps.Copy(all, inNew)
	index := map[[2]int]int{}
	for _, prefix := range slices.SortedFunc(maps.Keys(all), netip.Prefix.Compare) {
		key := [2]int{covering(inOld, prefix), covering(inNew, prefix)}
		i, known := index[key]
		if !known {
			i = len(p.classes)
			index[key] = i
			p.classes = append(p.classes, classPair{old: key[0], new: key[1]})
		}
		p.classes[i].prefixes = append(p.classes[i].prefixes, prefix)
	}
}

// byPrefix is the class of each prefix of a network.
func byPrefix(n *ethernet.Network) map[netip.Prefix]int {
	class := map[netip.Prefix]int{}
	for i := range n.Classes {
		for _, prefix := range n.Classes[i].Prefixes {
			class[prefix] = i
		}
	}
	return class
}

// covering is the class of the longest prefix that covers p; None: there is none.
func covering(class map[netip.Prefix]int, p netip.Prefix) int {
	for bits := p.Bits(); bits >= 0; bits-- {
		if i, ok := class[netip.PrefixFrom(p.Addr(), bits).Masked()]; ok {
			return i
		}
	}
	return ethernet.None
}

// ClassOf is the class of the longest prefix of a network that covers another; None: there is none.
func ClassOf(n *ethernet.Network, p netip.Prefix) int { return covering(byPrefix(n), p) }

// row is the next hops of a class of the old network as links of the new. It sets lost, [DeviceID of new] if not nil, for
// the devices that had others besides, by cables that are gone.
func (p *pair) row(class int, lost []bool) ethernet.Row {
	row := p.new.NewRow()
	if class == ethernet.None {
		return row
	}
	for l, there := range p.newLink {
		if !p.old.Has(p.old.Classes[class].Next, ethernet.LinkID(l)) {
			continue
		}
		if there != ethernet.None {
			p.new.Add(row, there)
		} else if d := p.newDevice[p.old.Links[l].From]; d != ethernet.None && lost != nil {
			lost[d] = true
		}
	}
	return row
}

// Differ compares two networks.
func Differ(old, new *ethernet.Network) *Difference {
	p := pairOf(old, new)
	d := &Difference{}
	d.DevicesGone, d.DevicesNew = absent(old.Names, p.newDevice), absent(new.Names, p.oldDevice)
	d.CablesGone, d.CablesNew = cables(old.Cabling, p.newLink), cables(new.Cabling, p.oldLink)
	p.recabled(d)
	p.prefixes(d)
	p.routes(d)
	p.lossless(d)
	p.maps(d)
	return d
}

// Same reports whether nothing differs.
func (d *Difference) Same() bool {
	return len(d.DevicesGone)+len(d.DevicesNew)+len(d.CablesGone)+len(d.CablesNew)+len(d.PrefixesGone)+len(d.PrefixesNew)+len(d.Moved)+len(d.Routes)+len(d.Lossless)+len(d.Maps) == 0 && !d.Marks
}

// absent is the names of devices that are not in the other network; other has their numbers there.
func absent(names []string, other []ethernet.DeviceID) []string {
	list := []string{}
	for d, name := range names {
		if other[d] == ethernet.None {
			list = append(list, name)
		}
	}
	return list
}

// cables is those that are not in the other network; other has the numbers of their links there.
func cables(c *ethernet.Cabling, other []ethernet.LinkID) []ethernet.Cable {
	list := []ethernet.Cable{}
	for l := range ethernet.LinkID(len(c.Links)) {
		if back := c.Reverse[l]; l < back && other[l] == ethernet.None {
			list = append(list, ethernet.Cable{A: c.End(l), B: c.End(back)})
		}
	}
	return list
}

// recabled finds interfaces that are in both networks with other ends.
func (p *pair) recabled(d *Difference) {
	for l, there := range p.newLink {
		from := p.newDevice[p.old.Links[l].From]
		if there != ethernet.None || from == ethernet.None {
			continue
		}
		if now := p.new.LinkAt(from, p.old.Links[l].FromInterface); now != ethernet.None {
			d.Recabled = append(d.Recabled, Recabled{
				At: p.new.End(now), Before: p.old.End(p.old.Reverse[l]), After: p.new.End(p.new.Reverse[now]),
			})
		}
	}
}

// prefixes finds prefixes with hosts that are gone, new or elsewhere.
func (p *pair) prefixes(d *Difference) {
	for i := range p.classes {
		c := &p.classes[i]
		was, is := hosts(p.old, c.old), hosts(p.new, c.new)
		switch {
		case was == nil && is == nil:
		case is == nil:
			d.PrefixesGone = append(d.PrefixesGone, c.prefixes...)
		case was == nil:
			d.PrefixesNew = append(d.PrefixesNew, c.prefixes...)
		case !slices.Equal(was, is):
			d.Moved = append(d.Moved, c.prefixes...)
		}
	}
	for _, list := range [][]netip.Prefix{d.PrefixesGone, d.PrefixesNew, d.Moved} {
		slices.SortFunc(list, netip.Prefix.Compare)
	}
}

// hosts is the devices that hosts of a class are behind; nil: it has none.
func hosts(n *ethernet.Network, class int) []string {
	if class == ethernet.None || !n.Classes[class].Hosts || len(n.Classes[class].At) == 0 {
		return nil
	}
	var list []string
	for _, at := range n.Classes[class].At {
		list = append(list, n.Names[at])
	}
	return list
}

// routes finds the devices of both networks whose next hops differ, and puts the prefixes of each with the same
// change together.
func (p *pair) routes(d *Difference) {
	type key struct {
		device  ethernet.DeviceID
		was, is string
	}
	found := map[key]*Route{}
	lost := make([]bool, len(p.new.Names))
	for i := range p.classes {
		c := &p.classes[i]
		clear(lost)
		was := p.row(c.old, lost)
		is := p.new.NewRow()
		if c.new != ethernet.None {
			is = p.new.Classes[c.new].Next
		}
		for at := range ethernet.DeviceID(len(p.new.Names)) {
			if p.oldDevice[at] == ethernet.None || !lost[at] && slices.Equal(p.new.Words(was, at), p.new.Words(is, at)) {
				continue
			}
			r := &Route{Device: p.new.Names[at], Before: hops(p.old, c.old, p.oldDevice[at]), After: hops(p.new, c.new, at)}
			k := key{at, joined(r.Before), joined(r.After)}
			if found[k] == nil {
				found[k] = r
				d.Routes = append(d.Routes, Route{}) // filled in below, in order
			}
			found[k].Prefixes = append(found[k].Prefixes, c.prefixes...)
			d.Entries += len(c.prefixes)
		}
	}
	keys := slices.SortedFunc(maps.Keys(found), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.device, b.device), found[a].Prefixes[0].Compare(found[b].Prefixes[0]), cmp.Compare(a.was, b.was), cmp.Compare(a.is, b.is))
	})
	for i, k := range keys {
		slices.SortFunc(found[k].Prefixes, netip.Prefix.Compare)
		d.Routes[i] = *found[k]
	}
}

// hops is the neighbors that a device sends packets of a class to, with the interfaces of the device.
func hops(n *ethernet.Network, class int, d ethernet.DeviceID) []ethernet.End {
	list := []ethernet.End{}
	if class != ethernet.None {
		n.Each(n.Words(n.Classes[class].Next, d), d, func(l ethernet.LinkID) {
			list = append(list, ethernet.End{Device: n.Names[n.Links[l].To], Interface: n.Links[l].FromInterface})
		})
	}
	return list
}

// joined is a key for a list of ends.
func joined(ends []ethernet.End) string {
	s := ""
	for _, e := range ends {
		s += e.Device + "\x00" + e.Interface + "\x00"
	}
	return s
}

// Lossless is the lossless priorities of a link, a bit for each.
func Lossless(n *ethernet.Network, l ethernet.LinkID) (set uint16) {
	for m := range n.Priorities.Marks {
		if lane := n.Priorities.Of(uint8(m), l); lane != ethernet.Lossy {
			set |= 1 << lane
		}
	}
	return set
}

// lossless finds links of both networks whose lossless priorities differ.
func (p *pair) lossless(d *Difference) {
	for l, there := range p.newLink {
		if there == ethernet.None {
			continue
		}
		if was, is := Lossless(p.old, ethernet.LinkID(l)), Lossless(p.new, there); was != is {
			d.Lossless = append(d.Lossless, Lane{From: p.new.End(there), To: p.new.End(p.new.Reverse[there]), Before: was, After: is})
		}
	}
}

// maps finds devices that change marks otherwise.
func (p *pair) maps(d *Difference) {
	a, b := p.old.Priorities, p.new.Priorities
	if !slices.Equal(a.Marks, b.Marks) || a.Start != b.Start {
		d.Marks = true
		return
	}
	for at, was := range p.oldDevice {
		if was == ethernet.None || !a.Rules.Changes(was) && !b.Rules.Changes(ethernet.DeviceID(at)) {
			continue
		}
		if p.mapsOtherwise(ethernet.DeviceID(at)) {
			d.Maps = append(d.Maps, p.new.Names[at])
		}
	}
}

// mapsOtherwise reports whether a device of the new network, which the old one has too, changes marks otherwise than there
// between two of its links that both networks have.
func (p *pair) mapsOtherwise(at ethernet.DeviceID) bool {
	first, end := p.new.LinksFrom(at)
	for out := first; out < end; out++ {
		for from := first - 1; from < end; from++ {
			in, before := ethernet.LinkID(ethernet.None), ethernet.LinkID(ethernet.None) // from hosts, at first-1
			if from >= first {
				if in = p.new.Reverse[from]; p.oldLink[in] == ethernet.None {
					continue
				}
				before = p.oldLink[in]
			}
			if p.oldLink[out] == ethernet.None {
				continue
			}
			for mark := range uint8(len(p.new.Priorities.Marks)) {
				if p.old.Priorities.Rules.Becomes(before, p.oldLink[out], mark) != p.new.Priorities.Rules.Becomes(in, out, mark) {
					return true
				}
			}
		}
	}
	return false
}

// Mixture is the network of all next hops that there can be while the old network becomes the new one, with the
// priorities of the new.
func Mixture(old, new *ethernet.Network) *ethernet.Network { return pairOf(old, new).mixture(false) }

// AnyMaps is Mixture for any maps of priorities, at any device: all packets that are lossless in either network are of one
// priority on a link that has a lossless one in either. A circle of lanes is one of links, so if this has none, no
// mixture of next hops and of maps has one; if it has, nothing follows.
func AnyMaps(old, new *ethernet.Network) *ethernet.Network {
	p := pairOf(old, new)
	n := p.mixture(true)
	all := &ethernet.Priorities{Marks: []string{"any priority"}, Start: 1, Lane: make([]int8, len(n.Links))}
	for l := range n.Links {
		set := Lossless(new, ethernet.LinkID(l))
		if before := p.oldLink[l]; before != ethernet.None {
			set |= Lossless(old, before)
		}
		if set == 0 {
			all.Lane[l] = ethernet.Lossy
		}
	}
	n.Priorities = all
	for i := range n.TunnelMaps {
		n.TunnelMaps[i] = []uint64{1}
	}
	return n
}

// mixture makes the network of Mixture. anyMaps says that the caller replaces its priorities, so that tunnels of the old
// network count even where its marks are others.
func (p *pair) mixture(anyMaps bool) *ethernet.Network {
	old, new := p.old, p.new
	n := *new
	n.Classes, n.TunnelMaps = nil, slices.Concat(new.TunnelMaps, old.TunnelMaps)
	class := map[netip.Prefix]int{} // of the mixture
	for i := range p.classes {
		for _, prefix := range p.classes[i].prefixes {
			class[prefix] = i
		}
	}
	sameMarks := anyMaps || slices.Equal(old.Priorities.Marks, new.Priorities.Marks)
	for i := range p.classes {
		c := ethernet.Class{Prefixes: p.classes[i].prefixes, Next: p.row(p.classes[i].old, nil)}
		if k := p.classes[i].new; k != ethernet.None {
			is := &new.Classes[k]
			for w, bits := range is.Next {
				c.Next[w] |= bits
			}
			c.At, c.Hosts = slices.Clone(is.At), is.Hosts
			for _, t := range is.Tunnels {
				t.Into = class[new.Classes[t.Into].Prefix()]
				c.Tunnels = append(c.Tunnels, t)
			}
		}
		if k := p.classes[i].old; k != ethernet.None {
			was := &old.Classes[k]
			c.Hosts = c.Hosts || was.Hosts
			for _, d := range was.At {
				if p.newDevice[d] != ethernet.None {
					c.At = append(c.At, p.newDevice[d])
				}
			}
			for _, t := range was.Tunnels {
				if p.newDevice[t.Device] != ethernet.None && sameMarks {
					c.Tunnels = append(c.Tunnels, ethernet.Tunnel{Device: p.newDevice[t.Device], Into: class[old.Classes[t.Into].Prefix()], Map: len(new.TunnelMaps) + t.Map})
				}
			}
		}
		slices.Sort(c.At)
		c.At = slices.Compact(c.At)
		n.Classes = append(n.Classes, c)
	}
	return &n
}
