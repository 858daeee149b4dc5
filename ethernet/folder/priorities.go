package folder

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"net/netip"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/sonic"
	"github.com/weft-fabric/weft/format"
)

// prioritize finds the lane of every mark on every link.
func (r *reading) prioritize(n *ethernet.Network) error {
	var without []string
	mapped := false
	for _, name := range r.names {
		if config := r.c.devices[name].config; config != nil && len(config.Ports) > 0 {
			mapped = true
		} else {
			without = append(without, name)
		}
		if config := r.c.devices[name].config; config != nil && len(config.Ignored) > 0 {
			r.note("tables of %s that were not read: %s", format.Printable(config.File), few(config.Ignored))
		}
	}
	lossless := r.o.Lossless
	if r.c.settings != nil && len(lossless) == 0 {
		lossless = r.c.settings.Lossless
	}
	if !mapped {
		if len(lossless) == 0 {
			lossless = []uint8{3}
			r.note("assumed: priority 3 is lossless on every link (qos.yaml or --lossless-priorities says otherwise)")
		}
		n.Priorities = ethernet.Uniform(n.Cabling, lossless)
		return nil
	}
	if len(without) > 0 && len(lossless) == 0 {
		if err := r.gap(fmt.Errorf("ethernet: no PORT_QOS_MAP of %s: give NAME.config_db.json, or qos.yaml with lossless: [3, 4] for those without", few(without))); err != nil {
			return err
		}
	}
	m := &mapping{r: r, n: n, plain: sonic.Plain(0)}
	for _, p := range lossless {
		m.plain.PFC |= 1 << p
	}
	m.plain = sonic.Plain(m.plain.PFC)
	return m.build()
}

// dscps is how many there are.
const dscps = 64

// mapping is DSCPs on their way to marks.
type mapping struct {
	r     *reading
	n     *ethernet.Network
	plain *sonic.QoS
	lane  [dscps][]int8 // [DSCP][LinkID]
	group [dscps]uint8  // the mark of a DSCP
}

// qos is the maps of an interface: its own, those of a member of the port channel, or what
// the settings say.
func (m *mapping) qos(d ethernet.DeviceID, port string) *sonic.QoS {
	dev := m.r.c.devices[m.n.Names[d]]
	if dev.config == nil || len(dev.config.Ports) == 0 {
		return m.plain
	}
	if q := dev.config.Ports[port]; q != nil {
		return q
	}
	var members []string
	for member, channel := range dev.config.Channel {
		if channel == port && dev.config.Ports[member] != nil {
			members = append(members, member)
		}
	}
	if len(members) > 0 {
		return dev.config.Ports[slices.Min(members)]
	}
	return sonic.Plain(0) // a port without maps has no PFC
}

// edge is the maps of ports where hosts are, of which a device can have several.
func (m *mapping) edge(d ethernet.DeviceID) []*sonic.QoS {
	dev := m.r.c.devices[m.n.Names[d]]
	if dev.config == nil || len(dev.config.Ports) == 0 {
		return []*sonic.QoS{m.plain}
	}
	var list []*sonic.QoS
	for _, port := range slices.Sorted(maps.Keys(dev.config.Ports)) {
		q := dev.config.Ports[port]
		if m.n.LinkAt(d, dev.port(port)) == ethernet.None && !slices.Contains(list, q) {
			list = append(list, q)
		}
	}
	return list
}

func (m *mapping) build() error {
	n := m.n
	for dscp := range m.lane {
		m.lane[dscp] = make([]int8, len(n.Links))
	}
	ignoring := map[string]bool{}
	for l := range n.Links {
		m.link(ethernet.LinkID(l), ignoring)
	}
	if len(ignoring) > 0 {
		m.r.note("pauses that nobody hears, so that packets are dropped there: %s", few(slices.Sorted(maps.Keys(ignoring))))
	}
	m.tunnelMaps()
	m.merge()
	return m.rules()
}

// link finds the lane of each DSCP on a link: the priority group at the receiving port,
// joined with others that share a queue at the sending port which one of them pauses.
// Packets that are lossless behind the link, from a queue that nothing pauses, count as if they
// were paused: whether they are dropped or wait depends on how full the buffer is.
func (m *mapping) link(l ethernet.LinkID, ignoring map[string]bool) {
	n := m.n
	link := n.Links[l]
	near, far := m.qos(link.From, link.FromInterface), m.qos(link.To, link.ToInterface)
	var groups [16]uint8 // [queue at the sender] lossless groups that pause it, and of packets in it, as bits
	var queues [dscps]uint16
	var lossless uint8
	for p := range 8 {
		if far.PFC>>p&1 == 0 {
			continue
		}
		lossless |= 1 << far.GroupOf[p]
		if near.PFC>>p&1 == 1 {
			groups[near.Paused[p]] |= 1 << far.GroupOf[p]
		} else {
			ignoring[fmt.Sprintf("priority %d at %s", p, n.End(l))] = true
		}
	}
	for _, in := range m.incoming(link.From) {
		for dscp := range dscps {
			tc := in.TC[dscp]
			leaves := remark(near, tc, dscp)
			queues[leaves] |= 1 << near.Queue[tc]
		}
	}
	group := func(dscp int) uint8 { return 1 << far.Group[far.TC[dscp]] }
	for dscp, q := range queues {
		for ; q != 0; q &= q - 1 {
			if queue := bits.TrailingZeros16(q); groups[queue] != 0 {
				groups[queue] |= group(dscp) & lossless
			}
		}
	}
	lane := together(groups)
	for dscp := range dscps {
		m.lane[dscp][l] = ethernet.Lossy
		if g := group(dscp) & lossless; g != 0 {
			m.lane[dscp][l] = lane[bits.TrailingZeros8(g)]
			continue
		}
		for q := queues[dscp]; q != 0; q &= q - 1 {
			if g := groups[bits.TrailingZeros16(q)]; g != 0 { // lossy behind the link, but paused before it
				m.lane[dscp][l] = lane[bits.TrailingZeros8(g)]
			}
		}
	}
}

// incoming is the maps of the ports by which packets come to a device.
func (m *mapping) incoming(d ethernet.DeviceID) []*sonic.QoS {
	list := m.edge(d)
	for l, end := m.n.LinksFrom(d); l < end; l++ {
		if q := m.qos(d, m.n.Links[l].FromInterface); !slices.Contains(list, q) {
			list = append(list, q)
		}
	}
	return list
}

func remark(out *sonic.QoS, tc uint8, dscp int) int {
	if out.Remark != nil {
		return int(out.Remark[tc])
	}
	return dscp
}

// together is the lane of each priority group: the lowest of those that are paused together
// because they share queues.
func together(groups [16]uint8) (lane [8]int8) {
	sets := [8]uint8{}
	for g := range sets {
		sets[g] = 1 << g
	}
	for range sets {
		for _, shared := range groups {
			var all uint8
			for g := shared; g != 0; g &= g - 1 {
				all |= sets[bits.TrailingZeros8(g)]
			}
			for g := all; g != 0; g &= g - 1 {
				sets[bits.TrailingZeros8(g)] |= all
			}
		}
	}
	for g := range lane {
		lane[g] = int8(bits.TrailingZeros8(sets[g]))
	}
	return lane
}

// tunnelMaps is the DSCP of the outer header by that of the inner one, for each device with
// a tunnel; the entries are DSCPs until merge makes marks of them.
func (m *mapping) tunnelMaps() {
	n := m.n
	n.TunnelMaps = make([][]uint8, 0, len(n.Names))
	index := map[ethernet.DeviceID]int{}
	for i := range n.Classes {
		for t := range n.Classes[i].Tunnels {
			tunnel := &n.Classes[i].Tunnels[t]
			at, ok := index[tunnel.Device]
			if !ok {
				at = len(n.TunnelMaps)
				index[tunnel.Device] = at
				n.TunnelMaps = append(n.TunnelMaps, m.outer(tunnel.Device))
			}
			tunnel.Map = at
		}
	}
}

// outer is the DSCP of the outer header by that of the inner one, for packets that came by a
// cable.
func (m *mapping) outer(d ethernet.DeviceID) []uint8 {
	n := m.n
	list := make([]uint8, dscps)
	for dscp := range list {
		list[dscp] = uint8(dscp)
	}
	to := m.r.c.devices[n.Names[d]].config.Tunnel.DSCP
	first, end := n.LinksFrom(d)
	if to == nil || first == end {
		return list
	}
	in := m.qos(d, n.Links[first].FromInterface)
	for l := first + 1; l < end; l++ {
		if other := m.qos(d, n.Links[l].FromInterface); other.TC != in.TC {
			m.r.note("%s: %s and %s map DSCPs differently, and tunnels are judged by the first", n.Names[d], n.Links[first].FromInterface, n.Links[l].FromInterface)
		}
	}
	for dscp := range list {
		list[dscp] = to[in.TC[dscp]]
	}
	return list
}

// merge makes one mark of DSCPs that are in the same lanes everywhere and stay alike where
// they are changed.
func (m *mapping) merge() {
	marks := 0
	for {
		index := map[string]uint8{}
		var next [dscps]uint8
		for dscp := range dscps {
			key := m.key(dscp)
			if _, ok := index[key]; !ok {
				index[key] = uint8(len(index))
			}
			next[dscp] = index[key]
		}
		m.group = next
		if len(index) == marks {
			break
		}
		marks = len(index)
	}
	p := &ethernet.Priorities{Marks: make([]string, marks), Lane: make([]int8, 0, marks*len(m.n.Links))}
	for mark := range p.Marks {
		var members []int
		for dscp := range dscps {
			if int(m.group[dscp]) == mark {
				members = append(members, dscp)
			}
		}
		p.Marks[mark] = "DSCP " + ranges(members)
		p.Lane = append(p.Lane, m.lane[members[0]]...)
		p.Start |= 1 << mark
	}
	for i, outer := range m.n.TunnelMaps {
		becomes := make([]uint8, marks)
		for dscp, to := range outer {
			becomes[m.group[dscp]] = m.group[to]
		}
		m.n.TunnelMaps[i] = becomes
	}
	m.n.Priorities = p
}

// key is equal for DSCPs that may be one mark, as far as is known.
func (m *mapping) key(dscp int) string {
	b := make([]byte, 0, len(m.n.Links)+64)
	for _, lane := range m.lane[dscp] {
		b = append(b, byte(lane))
	}
	for _, outer := range m.n.TunnelMaps {
		b = append(b, m.group[outer[dscp]])
	}
	for d := range m.n.Names {
		ways, out := m.remarks(ethernet.DeviceID(d))
		for _, in := range ways {
			for _, q := range out {
				b = append(b, m.group[remark(q, in.TC[dscp], dscp)])
			}
		}
	}
	return string(binary.LittleEndian.AppendUint16(b, uint16(m.group[dscp])))
}

// remarks is the maps of the ports of a device that changes DSCPs: where packets come in, and
// where they leave changed.
func (m *mapping) remarks(d ethernet.DeviceID) (in, out []*sonic.QoS) {
	for l, end := m.n.LinksFrom(d); l < end; l++ {
		if q := m.qos(d, m.n.Links[l].FromInterface); q.Remark != nil && !slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return m.incoming(d), out
}

// rules is the marks that ports change by SONiC's TC_TO_DSCP_MAP.
func (m *mapping) rules() error {
	n := m.n
	var rules *ethernet.Rules
	for out := range n.Links {
		near := m.qos(n.Links[out].From, n.Links[out].FromInterface)
		if near.Remark == nil {
			continue
		}
		if rules == nil {
			rules = ethernet.NewRules(n.Cabling, len(n.Priorities.Marks))
		}
		set := func(in ethernet.LinkID, q *sonic.QoS) {
			for dscp := range dscps {
				rules.Set(in, ethernet.LinkID(out), m.group[dscp], m.group[remark(near, q.TC[dscp], dscp)])
			}
		}
		edge := m.edge(n.Links[out].From)
		for _, q := range edge {
			if q.TC != edge[0].TC {
				return fmt.Errorf("ethernet: %s changes DSCPs, and its ports to hosts map them differently: this is not understood", n.Names[n.Links[out].From])
			}
			set(ethernet.None, q)
		}
		for l, end := n.LinksFrom(n.Links[out].From); l < end; l++ {
			set(n.Reverse[l], m.qos(n.Links[l].From, n.Links[l].FromInterface))
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

// tunnels joins the routes that a device may wrap to the class of the outer header.
func (r *reading) tunnels(n *ethernet.Network) error {
	class := map[netip.Prefix]int{}
	for i := range n.Classes {
		for _, p := range n.Classes[i].Prefixes {
			class[p] = i
		}
	}
	for _, w := range r.wraps {
		inner, outer := class[w.prefix], ethernet.None
		for length := w.peer.BitLen(); length >= 0 && outer == ethernet.None; length-- {
			if i, ok := class[netip.PrefixFrom(w.peer, length).Masked()]; ok {
				outer = i
			}
		}
		if outer == ethernet.None || len(n.Classes[outer].At) == 0 {
			if err := r.gap(fmt.Errorf("ethernet: %s sends packets for %s through a tunnel to %s, and there is no route to it", n.Names[w.device], w.prefix, w.peer)); err != nil {
				return err
			}
			n.Classes[inner].Tunnels = slices.DeleteFunc(n.Classes[inner].Tunnels, func(t ethernet.Tunnel) bool { return t.Device == w.device })
			continue
		}
		for i := range n.Classes[inner].Tunnels {
			if t := &n.Classes[inner].Tunnels[i]; t.Device == w.device {
				t.Into = outer
			}
		}
	}
	return nil
}
