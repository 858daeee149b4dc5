// Package sonic reads a SONiC switch's config_db.json and minigraph.xml: its name, what is at the other end
// of its cables, and how it maps packets to priority groups and queues.
//
// Every value in config_db.json is a text, or a number that becomes one. Maps are referred to by name, in older files as
// [TABLE|NAME].
package sonic

import (
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/ethernet/lined"
)

// Config is what weft takes from a config_db.json.
type Config struct {
	File      string
	Hostname  string
	AS        uint32 // of BGP; 0: not said
	Neighbors []Neighbor

	NeighborsFile string // that Neighbors are from; empty: File

	Channel   map[string]string // by port: the port channel that it is a member of
	Alias     map[string]string // by alias: the port that has it
	Speed     map[string]uint32 // of a port, in Mb/s
	Addresses []Address
	VRF       map[string]string // the VRF of an interface; none: the default
	Ports     map[string]*QoS   // by port, with all maps resolved
	Tunnel    *Tunnel           // to the peer of a dual-ToR pair; nil: none
	Ignored   []string          // tables about lossless traffic that weft does not know, and what else was left out

	maps []*QoS // those in Ports, each once
}

// Neighbor is a row of DEVICE_NEIGHBOR.
type Neighbor struct {
	Line               int
	Port, Device, Peer string
}

// Address is an address of an interface.
type Address struct {
	Interface string
	Prefix    netip.Prefix // not masked
}

// TCs is how many traffic classes, priority groups and queues a port may have. Dual-ToR switches have
// more than the eight priorities of PFC.
const TCs = 16

// QoS is how a port treats packets: those that come in by it (TC, Group, GroupOf), and those
// that go out by it (Queue, Paused, Remark).
type QoS struct {
	TC        [64]uint8   // by DSCP
	Group     [TCs]uint8  // priority group by traffic class
	Queue     [TCs]uint8  // by traffic class
	Paused    [8]uint8    // queue that PFC of a priority pauses
	PFC       uint8       // priorities with PFC, as bits
	GroupOf   [8]uint8    // priority group that a PFC priority is about
	Remark    *[TCs]uint8 // DSCP of packets that leave, by traffic class; nil: unchanged
	Assumed   bool        // the port has no map of traffic classes to groups or queues, and class n is taken to be n
	NotByDSCP bool        // traffic classes are by the 802.1p tag, not by DSCP, and TC does not tell them

	hasGroups, hasQueues bool // it has maps for Group and Queue
}

// Same reports whether two ports treat packets alike.
func (q *QoS) Same(o *QoS) bool {
	a, b := *q, *o
	a.Remark, b.Remark = nil, nil
	return a == b && (q.Remark == nil) == (o.Remark == nil) && (q.Remark == nil || *q.Remark == *o.Remark)
}

// Plain is a port where DSCP n is traffic class n for lossless priorities n, and 0 for all
// other DSCPs.
func Plain(lossless uint8) *QoS {
	q := &QoS{PFC: lossless}
	for i := range uint8(TCs) {
		q.Group[i], q.Queue[i] = i, i
	}
	for i := range uint8(8) {
		q.Paused[i], q.GroupOf[i] = i, i
		if lossless>>i&1 == 1 {
			q.TC[i] = i
		}
	}
	return q
}

// known is the tables that are read, and those that have nothing to do with losslessness or routes.
var known = map[string]bool{
	"DEVICE_METADATA": true, "DEVICE_NEIGHBOR": true, "PORT": true, "PORTCHANNEL_MEMBER": true, "PORT_QOS_MAP": true,
	"INTERFACE": true, "PORTCHANNEL_INTERFACE": true, "VLAN_SUB_INTERFACE": true, "VRF": true, "VLAN_INTERFACE": true, "LOOPBACK_INTERFACE": true,
	"DSCP_TO_TC_MAP": true, "TC_TO_QUEUE_MAP": true, "TC_TO_PRIORITY_GROUP_MAP": true, "MAP_PFC_PRIORITY_TO_QUEUE": true,
	"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": true, "TC_TO_DSCP_MAP": true, "TUNNEL": true, "PEER_SWITCH": true, "MUX_CABLE": true,
	"BUFFER_PG": true, "BUFFER_QUEUE": true, "BUFFER_PROFILE": true, "BUFFER_POOL": true, "CABLE_LENGTH": true, "PORTCHANNEL": true,
	"DEVICE_NEIGHBOR_METADATA": true, "VLAN": true, "VLAN_MEMBER": true, "BGP_NEIGHBOR": true, "SCHEDULER": true, "QUEUE": true, "WRED_PROFILE": true,
	"PFC_WD": true, "FEATURE": true, "CRM": true, "MGMT_INTERFACE": true, "MGMT_PORT": true, "LLDP": true, "NTP_SERVER": true, "SYSLOG_SERVER": true,
}

// Read reads a config_db.json.
func Read(r io.Reader, file string) (*Config, error) {
	v, err := lined.Read(r, file)
	if err != nil {
		return nil, err
	}
	if err := v.Want(lined.Object, "config_db.json"); err != nil {
		return nil, err
	}
	if v, err = tables(v); err != nil {
		return nil, err
	}
	asTexts(v)
	c := &Config{File: file, Channel: map[string]string{}, Alias: map[string]string{}, Speed: map[string]uint32{}, Ports: map[string]*QoS{}, VRF: map[string]string{}}
	for i := range v.Members {
		m := &v.Members[i]
		if m.Value.Kind == lined.String && !known[m.Name] {
			continue // about the machine: sonic-cfggen prints platform, onie_version and so on beside the tables
		}
		if m.Value.Kind != lined.Object {
			return nil, m.Value.Errorf("table %s is %s, not an object", m.Name, m.Value.Kind)
		}
		if !known[m.Name] {
			c.Ignored = append(c.Ignored, m.Name)
		}
	}
	for _, read := range [...]func(*lined.Value) error{c.readNames, c.readChannels, c.readAddresses, c.readPorts, c.readTunnel} {
		if err := read(v); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// tables is a dump of the database, whose keys are TABLE|KEY, as the tables of config_db.json. Dumps have
// the hash of a key as it is, or as the value of an object that says its type. Lists of the database
// have an @ behind their name.
func tables(v *lined.Value) (*lined.Value, error) {
	isFlat := func(m lined.Member) bool { return strings.Contains(m.Name, "|") }
	if !slices.ContainsFunc(v.Members, isFlat) {
		return v, nil
	}
	out := &lined.Value{File: v.File, Line: v.Line, Kind: lined.Object}
	index := map[string]int{}
	for i := range v.Members {
		m := v.Members[i]
		table, key, flat := strings.Cut(m.Name, "|")
		if !flat {
			if _, ok := index[m.Name]; ok {
				return nil, m.Value.Errorf("%s is a table here, and above in keys such as %[1]s|…", m.Name)
			}
			if m.Value.Kind == lined.Object && m.Value.Get("type") == nil {
				return nil, m.Value.Errorf("%s is a table, and other keys are of the form TABLE|KEY: is this two dumps in one?", m.Name)
			}
			continue // such as CONFIG_DB_INITIALIZED
		}
		row := m.Value
		if hash := row.Get("value"); hash != nil && row.Get("type") != nil && hash.Kind == lined.Object {
			row = *hash
		}
		if err := row.Want(lined.Object, m.Name); err != nil {
			return nil, err
		}
		row.Members = slices.Clone(row.Members)
		for j := range row.Members {
			row.Members[j].Name = strings.TrimSuffix(row.Members[j].Name, "@")
		}
		at, ok := index[table]
		if !ok {
			at = len(out.Members)
			index[table] = at
			out.Members = append(out.Members, lined.Member{Name: table, Value: lined.Value{File: v.File, Line: row.Line, Kind: lined.Object}})
		}
		t := &out.Members[at].Value
		t.Members = append(t.Members, lined.Member{Name: key, Value: row})
	}
	return out, nil
}

// asTexts makes of the values in rows what a switch makes of them when it loads the file: numbers, as people
// write them, are texts, and what is null is not there.
func asTexts(v *lined.Value) {
	for i := range v.Members {
		rows := v.Members[i].Value.Members
		for j := range rows {
			row := &rows[j].Value
			row.Members = slices.DeleteFunc(row.Members, func(m lined.Member) bool { return m.Value.Kind == lined.Null })
			for k := range row.Members {
				if m := &row.Members[k].Value; m.Kind == lined.Number {
					m.Kind = lined.String
				}
			}
		}
	}
}

// each calls visit for every row of a table of the configuration v.
func each(v *lined.Value, table string, visit func(key string, row *lined.Value) error) error {
	t := v.Get(table)
	if t == nil {
		return nil
	}
	for i := range t.Members {
		row := &t.Members[i].Value
		if err := row.Want(lined.Object, table+"|"+t.Members[i].Name); err != nil {
			return err
		}
		if err := visit(t.Members[i].Name, row); err != nil {
			return err
		}
	}
	return nil
}

// readNames reads what the switch, its ports and its neighbors are called.
func (c *Config) readNames(v *lined.Value) error {
	err := each(v, "DEVICE_METADATA", func(key string, row *lined.Value) (err error) {
		if key != "localhost" {
			return nil
		}
		if c.Hostname, err = row.String("hostname"); err != nil {
			return err
		}
		asn, err := row.String("bgp_asn")
		if n, bad := strconv.ParseUint(asn, 10, 32); bad == nil {
			c.AS = uint32(n)
		}
		return err
	})
	if err != nil {
		return err
	}
	err = each(v, "PORT", func(port string, row *lined.Value) error {
		alias, err := row.String("alias")
		if alias != "" && alias != port {
			c.Alias[alias] = port
		}
		if err != nil {
			return err
		}
		speed, err := row.String("speed")
		if n, bad := strconv.ParseUint(speed, 10, 32); bad == nil {
			c.Speed[port] = uint32(n)
		}
		return err
	})
	if err != nil {
		return err
	}
	return each(v, "DEVICE_NEIGHBOR", func(port string, row *lined.Value) error {
		n := Neighbor{Line: row.Line, Port: port}
		var err error
		if n.Device, err = row.String("name"); err != nil {
			return err
		}
		if n.Peer, err = row.String("port"); err != nil {
			return err
		}
		if n.Device == "" || n.Peer == "" {
			return row.Errorf("DEVICE_NEIGHBOR|%s lacks a name or a port", port)
		}
		c.Neighbors = append(c.Neighbors, n)
		return nil
	})
}

func (c *Config) readChannels(v *lined.Value) error {
	return each(v, "PORTCHANNEL_MEMBER", func(key string, row *lined.Value) error {
		channel, port, ok := strings.Cut(key, "|")
		if !ok {
			return row.Errorf("PORTCHANNEL_MEMBER|%s: want PORTCHANNEL|PORT", key)
		}
		if before := c.Channel[port]; before != "" {
			return row.Errorf("port %s is a member of %s and of %s", port, before, channel)
		}
		c.Channel[port] = channel
		return nil
	})
}

func (c *Config) readAddresses(v *lined.Value) error {
	for _, table := range [...]string{"INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_SUB_INTERFACE", "VLAN_INTERFACE", "LOOPBACK_INTERFACE"} {
		err := each(v, table, func(key string, row *lined.Value) error {
			name, address, ok := strings.Cut(key, "|")
			if !ok {
				vrf, err := row.String("vrf_name")
				if vrf != "" {
					c.VRF[key] = vrf
				}
				return err
			}
			prefix, err := netip.ParsePrefix(address)
			if err != nil {
				return row.Errorf("%s|%s: %q is not an address such as 10.0.0.0/31", table, key, address)
			}
			c.Addresses = append(c.Addresses, Address{name, prefix})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readPorts resolves PORT_QOS_MAP into c.Ports: the row global is what the rows of ports begin with.
func (c *Config) readPorts(v *lined.Value) error {
	var global *QoS
	err := each(v, "PORT_QOS_MAP", func(key string, row *lined.Value) (err error) {
		if key == "global" {
			global, err = qosOf(v, row, Plain(0))
		}
		return err
	})
	if err != nil {
		return err
	}
	if global == nil {
		global = Plain(0)
	}
	return each(v, "PORT_QOS_MAP", func(key string, row *lined.Value) error {
		if key == "global" {
			return nil
		}
		q, err := qosOf(v, row, global)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(c.maps, q.Same); i >= 0 {
			q = c.maps[i] // ports that are alike share their maps
		} else {
			c.maps = append(c.maps, q)
		}
		for i := range row.Members {
			if field := row.Members[i].Name; !knownField[field] {
				c.ignore("PORT_QOS_MAP: " + field)
			}
		}
		for port := range strings.SplitSeq(key, ",") {
			port = strings.TrimSpace(port)
			if c.Ports[port] != nil {
				return row.Errorf("PORT_QOS_MAP has port %s twice", port)
			}
			c.Ports[port] = q
		}
		return nil
	})
}

// knownField is the fields of PORT_QOS_MAP that are read, and those that have nothing to do with the
// question.
var knownField = map[string]bool{
	"dscp_to_tc_map": true, "tc_to_pg_map": true, "tc_to_queue_map": true, "pfc_to_queue_map": true, "pfc_to_pg_map": true,
	"tc_to_dscp_map": true, "dot1p_to_tc_map": true, "tc_to_dot1p_map": true, "pfc_enable": true, "pfcwd_sw_enable": true, "scheduler": true,
}

// ignore notes something that was left out, once.
func (c *Config) ignore(what string) {
	if !slices.Contains(c.Ignored, what) {
		c.Ignored = append(c.Ignored, what)
	}
}

// qosOf is a row of PORT_QOS_MAP; what it does not say is as in the base.
func qosOf(v, row *lined.Value, base *QoS) (*QoS, error) {
	q, plain := *base, Plain(0)
	for _, m := range [...]struct {
		field, table string
		to, plain    []uint8
	}{
		{"dscp_to_tc_map", "DSCP_TO_TC_MAP", q.TC[:], plain.TC[:]},
		{"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", q.Group[:], plain.Group[:]},
		{"tc_to_queue_map", "TC_TO_QUEUE_MAP", q.Queue[:], plain.Queue[:]},
		{"pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", q.Paused[:], plain.Paused[:]},
		{"pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", q.GroupOf[:], plain.GroupOf[:]},
	} {
		if row.Get(m.field) != nil {
			copy(m.to, m.plain) // a map of the port replaces that of the switch, with its gaps
		}
		if err := fill(v, row, m.field, m.table, m.to, TCs-1); err != nil {
			return nil, err
		}
	}
	q.hasGroups = q.hasGroups || row.Get("tc_to_pg_map") != nil
	q.hasQueues = q.hasQueues || row.Get("tc_to_queue_map") != nil
	q.Assumed = !q.hasGroups || !q.hasQueues
	switch {
	case row.Get("dscp_to_tc_map") != nil:
		q.NotByDSCP = false
	case row.Get("dot1p_to_tc_map") != nil:
		q.NotByDSCP = true
	}
	if row.Get("tc_to_dscp_map") != nil {
		q.Remark = &[TCs]uint8{}
		if err := fill(v, row, "tc_to_dscp_map", "TC_TO_DSCP_MAP", q.Remark[:], 63); err != nil {
			return nil, err
		}
	}
	list, err := row.String("pfc_enable")
	if err != nil || list == "" {
		return &q, err
	}
	q.PFC = 0
	for text := range strings.SplitSeq(list, ",") {
		priority, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || priority < 0 || priority > 7 {
			return nil, row.Get("pfc_enable").Errorf("pfc_enable %q: priorities are 0 to 7, with commas between", list)
		}
		q.PFC |= 1 << priority
	}
	return &q, nil
}

// fill reads the map of a table that a field of a row names into to, of which it has the length; values are up to top. Entries that
// the map lacks stay as they are.
func fill(v, row *lined.Value, field, table string, to []uint8, top int) error {
	ref := row.Get(field)
	if ref == nil {
		return nil
	}
	if err := ref.Want(lined.String, field); err != nil {
		return err
	}
	name := strings.TrimSuffix(strings.TrimPrefix(ref.Text, "["+table+"|"), "]")
	var m *lined.Value
	if t := v.Get(table); t != nil {
		m = t.Get(name)
	}
	if m == nil {
		return ref.Errorf("%s is %s, and %s has no map of that name", field, name, table)
	}
	if err := m.Want(lined.Object, table+"|"+name); err != nil {
		return err
	}
	for i := range m.Members {
		key, value := m.Members[i].Name, &m.Members[i].Value
		from, err := strconv.Atoi(key)
		if err != nil || from < 0 || from >= len(to) {
			return value.Errorf("%s|%s: %q is out of range, which is 0 to %d", table, name, key, len(to)-1)
		}
		becomes, err := strconv.Atoi(value.Text)
		if err != nil || becomes < 0 || becomes > top || value.Kind != lined.String {
			return value.Errorf("%s|%s: %q → %q is out of range, which is 0 to %d", table, name, key, value.Text, top)
		}
		to[from] = uint8(becomes)
	}
	return nil
}
