package folder

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/sonic"
)

// tunnelMaps numbers the maps of tunnels, one for each device that wraps (Tunnel.Map), and finds for each which
// DSCPs the outer header can have (m.outer), and which occur in outer headers at all (m.outerUsed).
func (m *mapping) tunnelMaps() {
	n := m.n
	index := map[ethernet.DeviceID]int{}
	for i := range n.Classes {
		for t := range n.Classes[i].Tunnels {
			tunnel := &n.Classes[i].Tunnels[t]
			at, ok := index[tunnel.Device]
			if !ok {
				at = len(m.outer)
				index[tunnel.Device] = at
				m.outer = append(m.outer, m.outerDSCPs(tunnel.Device))
			}
			tunnel.Map = at
		}
	}
	for i := range m.outer {
		for _, set := range &m.outer[i] {
			m.outerUsed |= set
		}
	}
	m.outerUsed = m.remarked(m.outerUsed)
}

// occurs reports whether there can be packets with a header. Hosts send with every DSCP; outer headers have
// those that some device wraps packets with, and what others change them to.
func (m *mapping) occurs(header int) bool {
	return header < dscps || m.outerUsed>>(header-dscps)&1 == 1
}

// remarked is a set of DSCPs with all that ports change them to, at one device after the other.
func (m *mapping) remarked(set uint64) uint64 {
	for {
		before := set
		for d := range m.n.Names {
			ways, out := m.remarks(ethernet.DeviceID(d))
			for _, in := range ways {
				for _, q := range out {
					for rest := before; rest != 0; rest &= rest - 1 {
						dscp := bits.TrailingZeros64(rest)
						set |= 1 << remark(q, in.TC[dscp], dscp)
					}
				}
			}
		}
		if set == before {
			return set
		}
	}
}

// outerDSCPs is the DSCPs that a device which wraps can give the outer header, as bits, by that of the inner one:
// whatever port packets came by.
func (m *mapping) outerDSCPs(d ethernet.DeviceID) (sets [dscps]uint64) {
	t := m.tunnel(d)
	for _, in := range m.inMaps[d] {
		for dscp := range sets {
			sets[dscp] |= 1 << outerDSCP(t, in.TC[dscp], dscp)
		}
	}
	return sets
}

// merge makes one mark of headers that are in the same lanes everywhere and stay alike where
// they are changed: it begins with one mark for all, and divides marks by key until none divides further. It sets m.mark,
// and Priorities and TunnelMaps of the network.
func (m *mapping) merge() error {
	marks := 0
	for {
		index := map[string]uint8{}
		var divided [2 * dscps]uint8
		for header := range m.headers {
			key := m.key(header)
			if _, ok := index[key]; !ok {
				index[key] = uint8(len(index))
			}
			divided[header] = index[key]
		}
		m.mark = divided
		if len(index) == marks {
			break
		}
		marks = len(index)
	}
	if marks > ethernet.MaxMarks {
		return fmt.Errorf("devices tell %d kinds of packets apart, inside tunnels and outside; no more than %d are followed", marks, ethernet.MaxMarks)
	}
	p := &ethernet.Priorities{Marks: make([]string, marks), Lane: make([]int8, 0, marks*len(m.n.Links))}
	for mark := range p.Marks {
		var plain, wrapped []int
		for header := range m.headers {
			switch {
			case int(m.mark[header]) != mark:
			case header < dscps:
				plain = append(plain, header)
			default:
				wrapped = append(wrapped, header-dscps)
			}
		}
		var names []string
		if len(plain) > 0 {
			names = append(names, "DSCP "+ranges(plain))
			p.Start |= 1 << mark
			p.Lane = append(p.Lane, m.lane[plain[0]]...)
		} else {
			p.Lane = append(p.Lane, m.lane[dscps+wrapped[0]]...)
		}
		if len(wrapped) > 0 {
			names = append(names, "outer DSCP "+ranges(wrapped))
		}
		p.Marks[mark] = strings.Join(names, ", ")
	}
	for i := range m.outer {
		becomes := make([]uint64, marks)
		for dscp, set := range &m.outer[i] {
			for ; set != 0; set &= set - 1 {
				becomes[m.mark[dscp]] |= 1 << m.mark[dscps+bits.TrailingZeros64(set)]
			}
		}
		m.n.TunnelMaps = append(m.n.TunnelMaps, becomes)
	}
	m.n.Priorities = p
	return nil
}

// key is equal for headers that may still be one mark: in the same lanes, and with the marks found so far they become
// the same ones in tunnels and where ports change them.
func (m *mapping) key(header int) string {
	b := make([]byte, 0, len(m.n.Links)+64)
	for _, lane := range m.lane[header] {
		b = append(b, byte(lane))
	}
	for i := range m.outer {
		var marks [2]uint64
		if header < dscps {
			for set := m.outer[i][header]; set != 0; set &= set - 1 {
				mark := m.mark[dscps+bits.TrailingZeros64(set)]
				marks[mark/64] |= 1 << (mark % 64)
			}
		}
		b = binary.LittleEndian.AppendUint64(b, marks[0])
		b = binary.LittleEndian.AppendUint64(b, marks[1])
	}
	dscp := header % dscps
	for d := range m.n.Names {
		ways, out := m.remarks(ethernet.DeviceID(d))
		for _, in := range ways {
			for _, q := range out {
				b = append(b, m.mark[remark(q, in.TC[dscp], dscp)+header-dscp])
			}
		}
	}
	return string(binary.LittleEndian.AppendUint16(b, uint16(m.mark[header])))
}

// remarks is the maps of the ports of a device that changes DSCPs: where packets come in, and
// where they leave changed.
func (m *mapping) remarks(d ethernet.DeviceID) (in, out []*sonic.QoS) {
	for l, end := m.n.LinksFrom(d); l < end; l++ {
		if q := m.maps[l]; q.Remark != nil && !slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return m.inMaps[d], out
}

// rules sets the Rules of the network: what ports make of marks by SONiC's TC_TO_DSCP_MAP.
func (m *mapping) rules() error {
	n := m.n
	var rules *ethernet.Rules
	for out := range n.Links {
		d := n.Links[out].From
		near := m.maps[out]
		if near.Remark == nil {
			continue
		}
		if m.tunnel(d) != nil {
			if err := m.r.gap(fmt.Errorf("%s changes DSCPs (TC_TO_DSCP_MAP) and wraps packets: what is changed first is not known", n.End(ethernet.LinkID(out)))); err != nil {
				return err
			}
		}
		if rules == nil {
			rules = ethernet.NewRules(n.Cabling, len(n.Priorities.Marks))
		}
		set := func(in ethernet.LinkID, q *sonic.QoS) {
			for header := range m.headers {
				dscp := header % dscps
				rules.Set(in, ethernet.LinkID(out), m.mark[header], m.mark[remark(near, q.TC[dscp], dscp)+header-dscp])
			}
		}
		edge := m.edge(d)
		for _, q := range edge {
			if q.TC != edge[0].TC {
				return fmt.Errorf("%s changes DSCPs, and its ports to hosts map them differently: this is not understood", n.Names[d])
			}
			set(ethernet.None, q)
		}
		for l, end := n.LinksFrom(d); l < end; l++ {
			set(n.Reverse[l], m.maps[l])
		}
	}
	n.Priorities.Rules = rules
	return nil
}

// ranges is numbers for people: 0-2, 5.
func ranges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		switch j {
		case i:
			parts = append(parts, fmt.Sprint(list[i]))
		case i + 1:
			parts = append(parts, fmt.Sprint(list[i]), fmt.Sprint(list[j]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", list[i], list[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// tunnels fills in Into of all tunnels, the class of the address where they end, and takes out those that cannot be
// followed, each a gap. No packet is followed once it has been unwrapped, so the device that does it must be one that
// delivers it, and nobody may wrap it twice.
func (r *gathering) tunnels(n *ethernet.Network) error {
	class := map[netip.Prefix]int{}
	for i := range n.Classes {
		for _, p := range n.Classes[i].Prefixes {
			class[p] = i
		}
	}
	for i := range n.Classes {
		c := &n.Classes[i]
		followed := c.Tunnels[:0]
		for _, t := range c.Tunnels {
			peer := r.c.devices[n.Names[t.Device]].config.Tunnel.Peer
			var why string
			t.Into = classAt(class, peer)
			forwards := func(d ethernet.DeviceID) bool { return !c.Leaves(d) }
			switch {
			case t.Into == ethernet.None || len(n.Classes[t.Into].At) == 0:
				why = "there is no route to it"
			case len(n.Classes[t.Into].Tunnels) > 0:
				why = "those are wrapped once more"
			case slices.ContainsFunc(n.Classes[t.Into].At, forwards):
				at := n.Classes[t.Into].At
				why = fmt.Sprintf("%s, where that ends, does not deliver them", n.Names[at[slices.IndexFunc(at, forwards)]])
			default:
				followed = append(followed, t)
				continue
			}
			if err := r.gap(fmt.Errorf("%s sends packets for %s through a tunnel to %s, and %s", n.Names[t.Device], c.Prefix(), peer, why)); err != nil {
				return err
			}
		}
		c.Tunnels = followed
	}
	return nil
}

// classAt is the class of an address, None if there is none.
func classAt(class map[netip.Prefix]int, a netip.Addr) int {
	for length := a.BitLen(); length >= 0; length-- {
		if i, ok := class[netip.PrefixFrom(a, length).Masked()]; ok {
			return i
		}
	}
	return ethernet.None
}
