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

// tunnelMaps is the DSCPs that the outer header can have by that of the inner one, for each
// device with a tunnel.
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
				m.outer = append(m.outer, m.outerOf(tunnel.Device))
			}
			tunnel.Map = at
		}
	}
	for i := range m.outer {
		for _, set := range &m.outer[i] {
			m.wrapped |= set
		}
	}
	m.wrapped = m.remarked(m.wrapped)
}

// occurs says whether there can be packets with a header. Hosts send with every DSCP; outside a tunnel
// are those that some device wraps packets with, and what others change them to.
func (m *mapping) occurs(header int) bool {
	return header < dscps || m.wrapped>>(header-dscps)&1 == 1
}

// remarked adds to DSCPs what ports change them to.
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

// outerOf is the DSCPs of the outer header by that of the inner one, whatever port packets came by.
func (m *mapping) outerOf(d ethernet.DeviceID) (sets [dscps]uint64) {
	t := m.tunnel(d)
	for _, in := range m.in[d] {
		for dscp := range sets {
			sets[dscp] |= 1 << outside(t, in.TC[dscp], dscp)
		}
	}
	return sets
}

// merge makes one mark of headers that are in the same lanes everywhere and stay alike where
// they are changed.
func (m *mapping) merge() error {
	marks := 0
	for {
		index := map[string]uint8{}
		var next [2 * dscps]uint8
		for header := range m.headers {
			key := m.key(header)
			if _, ok := index[key]; !ok {
				index[key] = uint8(len(index))
			}
			next[header] = index[key]
		}
		m.group = next
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
			case int(m.group[header]) != mark:
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
				becomes[m.group[dscp]] |= 1 << m.group[dscps+bits.TrailingZeros64(set)]
			}
		}
		m.n.TunnelMaps = append(m.n.TunnelMaps, becomes)
	}
	m.n.Priorities = p
	return nil
}

// key is equal for headers that may be one mark, as far as is known.
func (m *mapping) key(header int) string {
	b := make([]byte, 0, len(m.n.Links)+64)
	for _, lane := range m.lane[header] {
		b = append(b, byte(lane))
	}
	for i := range m.outer {
		var marks [2]uint64
		if header < dscps {
			for set := m.outer[i][header]; set != 0; set &= set - 1 {
				mark := m.group[dscps+bits.TrailingZeros64(set)]
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
				b = append(b, m.group[remark(q, in.TC[dscp], dscp)+header-dscp])
			}
		}
	}
	return string(binary.LittleEndian.AppendUint16(b, uint16(m.group[header])))
}

// remarks is the maps of the ports of a device that changes DSCPs: where packets come in, and
// where they leave changed.
func (m *mapping) remarks(d ethernet.DeviceID) (in, out []*sonic.QoS) {
	for l, end := m.n.LinksFrom(d); l < end; l++ {
		if q := m.at[l]; q.Remark != nil && !slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return m.in[d], out
}

// rules is the marks that ports change by SONiC's TC_TO_DSCP_MAP.
func (m *mapping) rules() error {
	n := m.n
	var rules *ethernet.Rules
	for out := range n.Links {
		d := n.Links[out].From
		near := m.at[out]
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
				rules.Set(in, ethernet.LinkID(out), m.group[header], m.group[remark(near, q.TC[dscp], dscp)+header-dscp])
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
			set(n.Reverse[l], m.at[l])
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

// tunnels joins the routes that a device may wrap to the class of the outer header. No packet is followed
// once it has been unwrapped, so the device that does it must be one that delivers it.
func (r *gathering) tunnels(n *ethernet.Network) error {
	class := map[netip.Prefix]int{}
	for i := range n.Classes {
		for _, p := range n.Classes[i].Prefixes {
			class[p] = i
		}
	}
	for i := range n.Classes {
		c := &n.Classes[i]
		kept := c.Tunnels[:0]
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
				kept = append(kept, t)
				continue
			}
			if err := r.gap(fmt.Errorf("%s sends packets for %s through a tunnel to %s, and %s", n.Names[t.Device], c.Prefix(), peer, why)); err != nil {
				return err
			}
		}
		c.Tunnels = kept
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
