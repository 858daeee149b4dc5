package folder

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/sonic"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
)

// prioritize sets Priorities and TunnelMaps of a network: by SONiC's maps where devices have them, by the lossless
// priorities of Options or qos.yaml for the others. Read calls it last, when classes have their tunnels.
func (r *gathering) prioritize(n *ethernet.Network) error {
	var without []string
	mapped := false
	for _, name := range r.names {
		if config := r.c.devices[name].config; config != nil && len(config.Ports) > 0 {
			mapped = true
		} else {
			without = append(without, name)
		}
	}
	r.ignored()
	lossless := r.o.Lossless
	if r.c.settings != nil && len(lossless) == 0 {
		lossless = r.c.settings.list
	}
	if !mapped {
		if len(lossless) == 0 {
			lossless = []uint8{3}
			r.note("assumed: priority 3 is lossless on every link (qos.yaml or --lossless-priorities says otherwise)")
		}
		if !slices.ContainsFunc(n.Classes, func(c ethernet.Class) bool { return len(c.Tunnels) > 0 }) {
			n.Priorities = ethernet.Uniform(n.Cabling, lossless)
			return nil
		}
	}
	if len(without) > 0 && len(lossless) == 0 {
		if err := r.gap(fmt.Errorf("no PORT_QOS_MAP of %s: give NAME.config_db.json, or qos.yaml with lossless: [3, 4] for those without", few(without))); err != nil {
			return err
		}
	}
	var pfc uint8 // as bits; 0: not known for devices without maps
	for _, p := range lossless {
		pfc |= 1 << p
	}
	m := &mapping{r: r, n: n, plain: sonic.Plain(pfc)}
	return m.build()
}

// ignored notes which tables of configurations were not read, once for all that lack the same.
func (r *gathering) ignored() {
	var lists []string
	files := map[string][]string{}
	for _, name := range r.names {
		config := r.c.devices[name].config
		if config == nil || len(config.Ignored) == 0 {
			continue
		}
		list := few(slices.Sorted(slices.Values(config.Ignored)))
		if files[list] == nil {
			lists = append(lists, list)
		}
		files[list] = append(files[list], config.File)
	}
	for _, list := range lists {
		like := ""
		if more := len(files[list]) - 1; more > 0 {
			like = fmt.Sprintf(", and of %s like it", words.Plural(more, "more configuration"))
		}
		r.note("tables of %s%s that were not read: %s", reading.Printable(files[list][0]), like, list)
	}
}

// dscps is how many DSCPs there are: they have six bits.
const dscps = 64

// mapping is headers on their way to marks. A header is a DSCP, or with dscps added the DSCP of the outer header of a
// packet in a tunnel, which the switch at its end looks at in another way. Networks without tunnels
// have DSCPs only.
type mapping struct {
	r       *gathering
	n       *ethernet.Network
	plain   *sonic.QoS        // of devices without SONiC's maps; with PFC 0 nothing is known of them
	maps    []*sonic.QoS      // [LinkID] maps of the port that it leaves
	inMaps  [][]*sonic.QoS    // [DeviceID] maps of the ports by which packets come, from hosts too
	headers int               // dscps, or twice that where there are tunnels
	lane    [2 * dscps][]int8 // [header][LinkID]
	mark    [2 * dscps]uint8  // [header]

	outer     [][dscps]uint64 // [Tunnel.Map][DSCP of the inner header] DSCPs that the outer header can have, as bits
	outerUsed uint64          // DSCPs that occur in outer headers, as bits
}

// rows is the rows of PORT_QOS_MAP for a port: its own, or those of the members of the port channel.
// mapped says whether the device has such a table.
func (m *mapping) rows(d ethernet.DeviceID, port string) (rows []*sonic.QoS, mapped bool) {
	dev := m.r.c.devices[m.n.Names[d]]
	if dev.config == nil || len(dev.config.Ports) == 0 {
		return nil, false
	}
	if q := dev.config.Ports[port]; q != nil {
		return []*sonic.QoS{q}, true
	}
	for _, member := range slices.Sorted(maps.Keys(dev.config.Channel)) {
		if q := dev.config.Ports[member]; q != nil && dev.config.Channel[member] == port {
			rows = append(rows, q)
		}
	}
	return rows, true
}

// qos is the maps of a port, or what the settings say.
func (m *mapping) qos(d ethernet.DeviceID, port string) *sonic.QoS {
	rows, mapped := m.rows(d, port)
	switch {
	case !mapped:
		return m.plain
	case len(rows) == 0:
		return sonic.Plain(0) // a port without maps has no PFC
	}
	return rows[0]
}

// edge is the maps of the ports of a device without a cable to another device, where hosts can be: each once.
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

// build goes from the maps of ports to lanes by header and link, and from there to marks and rules.
func (m *mapping) build() error {
	n := m.n
	for l := range n.Links {
		m.maps = append(m.maps, m.qos(n.Links[l].From, n.Links[l].FromInterface))
	}
	for l := range n.Links { // a device whose maps are missing is taken to treat packets as its neighbors do
		if m.maps[l] == m.plain && m.plain.PFC == 0 {
			m.maps[l] = m.maps[n.Reverse[l]]
		}
	}
	for d := range n.Names {
		m.inMaps = append(m.inMaps, m.incoming(ethernet.DeviceID(d)))
	}
	if err := m.check(); err != nil {
		return err
	}
	m.headers = dscps
	for i := range n.Classes {
		if len(n.Classes[i].Tunnels) > 0 {
			m.headers = 2 * dscps
		}
	}
	for header := range m.headers {
		m.lane[header] = make([]int8, len(n.Links))
	}
	m.tunnelMaps()
	ignoring := map[string]bool{}
	for l := range n.Links {
		m.link(ethernet.LinkID(l), ignoring)
	}
	if len(ignoring) > 0 {
		m.r.note("pauses that nobody hears, so that packets are dropped there: %s", few(slices.Sorted(maps.Keys(ignoring))))
	}
	if err := m.merge(); err != nil {
		return err
	}
	return m.rules()
}

// check makes gaps and notes of what the maps of ports leave open or have otherwise than is followed here.
func (m *mapping) check() error {
	n := m.n
	var assumed, tags, members []string
	for l, link := range n.Links {
		end := n.End(ethernet.LinkID(l)).String()
		rows, mapped := m.rows(link.From, link.FromInterface)
		if far := m.maps[n.Reverse[l]]; mapped && len(rows) == 0 && far.PFC != 0 {
			err := m.r.gap(fmt.Errorf("the cable between %s and %s has PFC at the latter only: PORT_QOS_MAP of %s has no row for %s",
				end, n.End(n.Reverse[l]), n.Names[link.From], link.FromInterface))
			if err != nil {
				return err
			}
		}
		for _, q := range rows {
			if !q.Same(rows[0]) && !slices.Contains(members, end) {
				members = append(members, end)
			}
		}
	}
	for d, name := range n.Names {
		list := m.inMaps[d]
		if slices.ContainsFunc(list, func(q *sonic.QoS) bool { return q.Assumed && q.PFC != 0 }) {
			assumed = append(assumed, name)
		}
		if slices.ContainsFunc(list, func(q *sonic.QoS) bool { return q.NotByDSCP }) {
			tags = append(tags, name)
		}
	}
	if len(assumed) > 0 {
		m.r.note("assumed: traffic class n is priority group n and queue n where a port has no map of it: %s", few(assumed))
	}
	if len(members) > 0 {
		if err := m.r.gap(fmt.Errorf("members of one port channel have different maps: %s", few(members))); err != nil {
			return err
		}
	}
	if len(tags) > 0 {
		return m.r.gap(fmt.Errorf("ports of %s map packets by dot1p_to_tc_map and not by DSCP, and 802.1p tags are not followed", few(tags)))
	}
	return nil
}

// link finds the lane of each header on a link (m.lane): the priority group at the receiving port,
// joined with others that share a queue at the sending port which one of them pauses. ignoring gets the
// priorities that the receiving port pauses and the sending port does not heed.
// Packets that are lossless behind the link, from a queue that nothing pauses, count as if they
// were paused: whether they are dropped or wait depends on how full the buffer is.
func (m *mapping) link(l ethernet.LinkID, ignoring map[string]bool) {
	n := m.n
	link := n.Links[l]
	near, far := m.maps[l], m.maps[n.Reverse[l]]
	groups := make([]uint16, sonic.TCs) // [queue at the sender] lossless groups that pause it, and of packets in it, as bits
	var lossless uint16
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
	queues := m.queues(link.From, near)
	var inGroups [2 * dscps]uint16 // [header] lossless groups that its packets can be in
	for header := range m.headers {
		if !m.occurs(header) {
			continue
		}
		inGroups[header] = m.groups(header, link.To, far) & lossless
		for q := queues[header]; q != 0; q &= q - 1 {
			if queue := bits.TrailingZeros16(q); groups[queue] != 0 {
				groups[queue] |= inGroups[header]
			}
		}
	}
	for header := range m.headers {
		if inGroups[header] != 0 {
			continue
		}
		for q := queues[header]; q != 0; q &= q - 1 {
			inGroups[header] |= groups[bits.TrailingZeros16(q)] // lossy behind the link, but paused before it, in whatever queue
		}
	}
	lane := groupLanes(append(groups, inGroups[:]...), far)
	for header := range m.headers {
		m.lane[header][l] = ethernet.Lossy
		if g := inGroups[header]; g != 0 {
			m.lane[header][l] = lane[bits.TrailingZeros16(g)]
		}
	}
}

// queues is the queues of a port, with the maps near, that packets leave device d by, as bits, by the header that they
// leave with.
func (m *mapping) queues(d ethernet.DeviceID, near *sonic.QoS) (queues [2 * dscps]uint16) {
	for _, in := range m.inMaps[d] {
		for header := range m.headers {
			if !m.occurs(header) {
				continue
			}
			dscp := header % dscps
			tc := in.TC[dscp]
			queues[remark(near, tc, dscp)+header-dscp] |= 1 << near.Queue[tc]
		}
		t := m.tunnel(d)
		if t == nil || m.headers == dscps {
			continue
		}
		for dscp := range dscps {
			tc := in.TC[dscp]
			queue := near.Queue[tc]
			if t.Queue != nil {
				queue = t.Queue[tc]
			}
			queues[dscps+outerDSCP(t, tc, dscp)] |= 1 << queue
		}
	}
	return queues
}

// groups is the priority groups that device d counts packets with a header in, as bits, at a port with the maps far.
// A device with tunnels can end that of a packet or pass it on, with other maps.
func (m *mapping) groups(header int, d ethernet.DeviceID, far *sonic.QoS) uint16 {
	dscp := header % dscps
	set := uint16(1) << far.Group[far.TC[dscp]]
	t := m.tunnel(d)
	if header < dscps || t == nil {
		return set
	}
	tc := far.TC[dscp]
	if t.TC != nil {
		tc = t.TC[dscp]
	}
	if t.Group != nil {
		return set | 1<<t.Group[tc]
	}
	return set | 1<<far.Group[tc]
}

// tunnel is the tunnel of a device; nil if it has none.
func (m *mapping) tunnel(d ethernet.DeviceID) *sonic.Tunnel {
	if config := m.r.c.devices[m.n.Names[d]].config; config != nil {
		return config.Tunnel
	}
	return nil
}

// outerDSCP is the DSCP that a tunnel gives the outer header of a packet with a traffic class and a DSCP.
func outerDSCP(t *sonic.Tunnel, tc uint8, dscp int) int {
	if t.DSCP != nil {
		return int(t.DSCP[tc])
	}
	return dscp
}

// incoming is the maps of the ports by which packets come to a device.
func (m *mapping) incoming(d ethernet.DeviceID) []*sonic.QoS {
	list := m.edge(d)
	for l, end := m.n.LinksFrom(d); l < end; l++ {
		if q := m.maps[l]; !slices.Contains(list, q) {
			list = append(list, q)
		}
	}
	return list
}

// remark is the DSCP with which a packet leaves a port with the maps out.
func remark(out *sonic.QoS, tc uint8, dscp int) int {
	if out.Remark != nil {
		return int(out.Remark[tc])
	}
	return dscp
}

// groupLanes is the lane of each priority group of a port with the maps far, ethernet.Lossy for lossy ones. together
// has sets of groups that are paused together, as bits; the lane is the lowest priority of PFC that pauses the group or
// one that is, over several such sets, paused with it.
func groupLanes(together []uint16, far *sonic.QoS) (lane [sonic.TCs]int8) {
	sets := [sonic.TCs]uint16{} // [group] groups known to be paused with it
	for g := range sets {
		sets[g] = 1 << g
	}
	for range sets {
		for _, shared := range together {
			var all uint16
			for g := shared; g != 0; g &= g - 1 {
				all |= sets[bits.TrailingZeros16(g)]
			}
			for g := all; g != 0; g &= g - 1 {
				sets[bits.TrailingZeros16(g)] |= all
			}
		}
	}
	for g := range lane {
		lane[g] = ethernet.Lossy
		for p := len(far.GroupOf) - 1; p >= 0; p-- {
			if far.PFC>>p&1 == 1 && sets[g]>>far.GroupOf[p]&1 == 1 {
				lane[g] = int8(p)
			}
		}
	}
	return lane
}
