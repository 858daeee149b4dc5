package cure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
)

// Maps is the rules of one device as SONiC's maps: a traffic class at the port where packets
// come in, chosen by DSCP, and at the port where they leave a queue and a DSCP by it. So what a
// rule says of interfaces on both sides has to fit into the eight traffic classes.
type Maps struct {
	device ethernet.DeviceID
	c      *Cure
	class  map[[2]int]int    // [link that comes in, None for hosts; mark] its traffic class
	kinds  []kind            // [traffic class]
	ports  []ethernet.LinkID // the links that leave the device
}

// kind is packets of one traffic class, which are treated alike on the way out.
type kind struct {
	mark    uint8   // with which they came
	becomes []uint8 // [place in Maps.ports] the mark that they leave with, or unused; nil: nothing has the traffic class
}

// lossyClass is also the priority group and the queue of lossy packets; no ladder takes it.
const lossyClass = 0

// Sonic puts the rules of a device into maps. The error says why they do not fit.
func (c *Cure) Sonic(d ethernet.DeviceID) (*Maps, error) {
	n := c.Network
	if len(n.TunnelMaps) > 0 {
		return nil, errors.New("devices wrap packets, for which TUNNEL has maps of its own (encap_tc_to_dscp_map and encap_tc_to_queue_map); these are not written")
	}
	first, end := n.LinksFrom(d)
	m := &Maps{device: d, c: c, class: map[[2]int]int{}, kinds: make([]kind, ethernet.MaxPriorities)}
	for l := first; l < end; l++ {
		m.ports = append(m.ports, l)
	}
	lossy := len(n.Priorities.Marks) - 1
	ins := []ethernet.LinkID{ethernet.None} // None: from hosts
	for _, l := range m.ports {
		ins = append(ins, n.Reverse[l])
	}
	for mark := range lossy {
		own := m.priority(uint8(mark))
		for _, in := range ins {
			k := kind{mark: uint8(mark)}
			plain := true // they keep their mark, wherever they leave
			for _, out := range m.ports {
				becomes := n.Priorities.Rules.Becomes(in, out, uint8(mark))
				if in != ethernet.None && out == n.Reverse[in] {
					becomes = unused
				}
				k.becomes = append(k.becomes, becomes)
				plain = plain && (becomes == uint8(mark) || becomes == unused)
			}
			if plain {
				k.becomes = slices.Repeat([]uint8{uint8(mark)}, len(m.ports))
			}
			tc, ok := m.place(k, own, plain)
			if !ok {
				return nil, fmt.Errorf("%s tells apart more kinds of packets than SONiC has traffic classes: %d lossless priorities, and interfaces that take them to other priorities in different ways", n.Names[d], len(n.Priorities.Lossless()))
			}
			m.class[[2]int{int(in), mark}] = tc
		}
	}
	return m, nil
}

// priority is that of a mark, Lossy for the mark of lossy packets.
func (m *Maps) priority(mark uint8) int {
	levels := len(m.c.Ladders[0])
	if int(mark) >= levels*len(m.c.Ladders) {
		return ethernet.Lossy
	}
	return int(m.c.Ladders[int(mark)/levels][int(mark)%levels])
}

// place finds a traffic class for a kind of packets, and puts them into it: their priority (own) if they are plain
// and keep it, or else one that no priority has. It says false if none is left.
func (m *Maps) place(k kind, own int, plain bool) (int, bool) {
	if plain {
		m.kinds[own] = k
		return own, true
	}
	taken := append(slices.Clone(m.c.Network.Priorities.Lossless()), lossyClass)
	free := -1
	for tc := len(m.kinds) - 1; tc > 0; tc-- {
		switch {
		case slices.Contains(taken, tc):
		case m.kinds[tc].becomes == nil:
			if free < 0 {
				free = tc
			}
		case m.kinds[tc].mark == k.mark && m.join(tc, k):
			return tc, true
		}
	}
	if free < 0 {
		return 0, false
	}
	m.kinds[free] = k
	return free, true
}

// unused is in the place of a mark for an interface by which no packet of a kind leaves: the one by which it came.
const unused = 255

// join puts a kind into a traffic class that others have, if they agree where both leave, and says whether it did.
func (m *Maps) join(tc int, k kind) bool {
	joined := slices.Clone(m.kinds[tc].becomes)
	for i, becomes := range k.becomes {
		if becomes != unused && joined[i] != unused && joined[i] != becomes {
			return false
		}
		if becomes != unused {
			joined[i] = becomes
		}
	}
	m.kinds[tc].becomes = joined
	return true
}

// Mapped is the network of a cure with what the maps of its devices do in place of the rules, which must not be worse: weft
// priorities has it judged. maps has all devices whose Maps are written.
func Mapped(c *Cure, maps []*Maps) *ethernet.Network {
	n := *c.Network
	p := *n.Priorities
	p.Rules = ethernet.NewRules(n.Cabling, len(p.Marks))
	for _, m := range maps {
		for from, tc := range m.class {
			for i, out := range m.ports {
				becomes := m.kinds[tc].becomes[i]
				if becomes == unused {
					becomes = uint8(len(p.Marks) - 1) // lossy, as outgoing has it
				}
				p.Rules.Set(ethernet.LinkID(from[0]), out, uint8(from[1]), becomes)
			}
		}
	}
	n.Priorities = &p
	return &n
}

// Write writes the maps as tables of config_db.json.
func (m *Maps) Write(w io.Writer) error {
	n := m.c.Network
	t := map[string]map[string]map[string]string{}
	// put adds a map to a table, unless one with the same entries is there, and returns its name.
	put := func(table, name string, entries map[string]string) string {
		if t[table] == nil {
			t[table] = map[string]map[string]string{}
		}
		for other, have := range t[table] {
			if strings.HasPrefix(other, "WEFT") && maps.Equal(have, entries) {
				return other
			}
		}
		t[table][name] = entries
		return name
	}
	var pfc []string
	identity := map[string]string{}
	for p := range ethernet.MaxPriorities {
		identity[strconv.Itoa(p)] = strconv.Itoa(p)
	}
	for _, p := range n.Priorities.Lossless() {
		pfc = append(pfc, strconv.Itoa(p))
	}
	paused := put("MAP_PFC_PRIORITY_TO_QUEUE", "WEFT", identity)
	for i, port := range m.ports {
		name := "WEFT_" + n.Links[port].FromInterface
		in := n.Reverse[port]
		dscp, group := m.incoming(in)
		queue, remark := m.outgoing(i)
		ports := map[string]string{
			"dscp_to_tc_map":   put("DSCP_TO_TC_MAP", name, dscp),
			"tc_to_pg_map":     put("TC_TO_PRIORITY_GROUP_MAP", name, group),
			"tc_to_queue_map":  put("TC_TO_QUEUE_MAP", name, queue),
			"tc_to_dscp_map":   put("TC_TO_DSCP_MAP", name, remark),
			"pfc_to_queue_map": paused,
			"pfc_enable":       strings.Join(pfc, ","),
		}
		put("PORT_QOS_MAP", n.Links[port].FromInterface, ports)
	}
	hosts, _ := m.incoming(ethernet.None)
	put("DSCP_TO_TC_MAP", "WEFT_HOSTS", hosts) // for ports with hosts, which only the operator knows
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(t)
}

// incoming is the maps of a port for packets that come in: every DSCP to a traffic class, and every
// traffic class to a priority group.
func (m *Maps) incoming(in ethernet.LinkID) (dscp, group map[string]string) {
	dscp, group = map[string]string{}, map[string]string{}
	for d := range ethernet.MaxMarks {
		dscp[strconv.Itoa(d)] = strconv.Itoa(lossyClass)
	}
	for tc := range m.kinds {
		group[strconv.Itoa(tc)] = strconv.Itoa(lossyClass)
	}
	for mark := range len(m.c.Network.Priorities.Marks) - 1 {
		tc := m.class[[2]int{int(in), mark}]
		priority := strconv.Itoa(m.priority(uint8(mark)))
		dscp[priority] = strconv.Itoa(tc)
		group[strconv.Itoa(tc)] = priority
	}
	return dscp, group
}

// outgoing is the maps of a port, by its place in m.ports, for packets that leave: every traffic class to a queue and a
// DSCP, which have the number of the priority.
func (m *Maps) outgoing(port int) (queue, dscp map[string]string) {
	queue, dscp = map[string]string{}, map[string]string{}
	for tc := range m.kinds {
		priority := strconv.Itoa(lossyClass)
		if b := m.kinds[tc].becomes; b != nil && b[port] != unused {
			if p := m.priority(b[port]); p != ethernet.Lossy {
				priority = strconv.Itoa(p)
			}
		}
		queue[strconv.Itoa(tc)], dscp[strconv.Itoa(tc)] = priority, priority
	}
	return queue, dscp
}
