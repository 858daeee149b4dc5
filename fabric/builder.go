package fabric

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/weft-fabric/weft/internal/nodename"
)

// Ref names a node inside one Builder.
type Ref int

// Builder collects nodes, ports and cables, in any order, and freezes them into a
// Fabric. The zero Builder is ready to use. Build reports what is wrong with the
// network; readers that can name a line check before they add.
type Builder struct {
	// WithoutLIDs lets a network have more endpoints than there are LIDs: none of them has one then, and no engine routes it. It is for
	// networks that do not go by LIDs, such as Ethernet.
	WithoutLIDs bool

	nodes    []builderNode
	cables   []cable
	oneSided []builderPort
	dataVLs  []builderLanes
	warnings []string

	expectLIDs bool
}

// builderPort is a port of a node that was added.
type builderPort struct {
	node Ref
	port uint8
}

// builderLanes is what DataVLs was told of a port.
type builderLanes struct {
	builderPort
	lanes uint8
}

// builderNode is a node as Node added it; assignGUIDs gives it a GUID if it has none.
type builderNode struct {
	Node
	ports map[uint8]Port // [port] what Port was told; nil: nothing
	key   string
}

// Port is what the source says of one port. The zero Port says nothing.
type Port struct {
	GUID GUID  // zero: not known; Build then takes node GUID + port number
	LID  LID   // zero or invalid: Build assigns one
	LMC  uint8 // 0 … 7
}

// cable joins port aPort of node a with port zPort of node z.
type cable struct {
	a, z         Ref
	aPort, zPort uint8
	rate         Rate
}

// Node adds a node. A node without a GUID gets one from Build, in the order of the
// keys, which must then be unique; key is the name of the node in the source.
func (b *Builder) Node(n Node, key string) Ref {
	b.nodes = append(b.nodes, builderNode{Node: n, key: key})
	return Ref(len(b.nodes) - 1)
}

// Port sets what is known of a port of a node; port 0 is the management port of a
// switch.
func (b *Builder) Port(r Ref, port uint8, p Port) {
	n := &b.nodes[r]
	if n.ports == nil {
		n.ports = make(map[uint8]Port, 2)
	}
	n.ports[port] = p
}

// Cable joins two ports, which are numbered from 1.
func (b *Builder) Cable(a Ref, aPort uint8, z Ref, zPort uint8, rate Rate) {
	b.cables = append(b.cables, cable{a: a, z: z, aPort: aPort, zPort: zPort, rate: rate})
}

// OneSided marks the cable in a port as one that the record at its other end does not
// mention, although most cables of the source are in the records of both ends.
func (b *Builder) OneSided(r Ref, port uint8) {
	b.oneSided = append(b.oneSided, builderPort{node: r, port: port})
}

// DataVLs says how many data lanes a port runs. A cable runs as many as both of its ends
// do, or as the one that is known.
func (b *Builder) DataVLs(r Ref, port, lanes uint8) {
	b.dataVLs = append(b.dataVLs, builderLanes{builderPort: builderPort{node: r, port: port}, lanes: lanes})
}

// ExpectLIDs says that the source gives LIDs: a port without one, to which Build gives one,
// is then a warning.
func (b *Builder) ExpectLIDs() { b.expectLIDs = true }

// Warn records an oddity of the source that was resolved, for Fabric.Warnings.
func (b *Builder) Warn(format string, args ...any) {
	b.warnings = append(b.warnings, fmt.Sprintf(format, args...))
}

// Build checks the network and freezes it. It refuses two nodes with one GUID, more
// ports than InfiniBand numbers, a cable at a port that does not exist, two cables in
// one port, and more LIDs than InfiniBand has unless WithoutLIDs is set.
func (b *Builder) Build() (*Fabric, error) {
	f := &Fabric{warnings: slices.Clone(b.warnings)}
	id, err := b.placeNodes(f)
	if err != nil {
		return nil, err
	}
	if err := b.placeChannels(f, id); err != nil {
		return nil, err
	}
	f.indexTrunks()
	b.placeEndpoints(f, id)
	if err := b.assignLIDs(f); err != nil {
		return nil, err
	}
	b.warnUnknownRates(f)
	f.warnClaims()
	return f, nil
}

// assignedGUID is the first GUID for nodes without one: an OUI with the "locally
// administered" bit, so that it cannot be a vendor's.
const assignedGUID GUID = 0x0200_0000_0000_0100

// placeNodes puts the nodes into f in their order, counts its switches and names them, and returns the NodeID of each
// node of the Builder, [Ref].
func (b *Builder) placeNodes(f *Fabric) ([]NodeID, error) {
	b.assignGUIDs()
	order := make([]Ref, len(b.nodes))
	for i := range order {
		order[i] = Ref(i)
	}
	slices.SortFunc(order, func(x, y Ref) int {
		return cmp.Or(cmp.Compare(b.nodes[x].Kind, b.nodes[y].Kind), cmp.Compare(b.nodes[x].GUID, b.nodes[y].GUID))
	})
	id := make([]NodeID, len(order))
	f.nodes = make([]Node, len(order))
	f.byGUID = make(map[GUID]NodeID, len(order))
	f.sameName = make(map[string]int, len(order))
	for i, r := range order {
		n := &b.nodes[r].Node
		if n.Ports < 0 || n.Ports > MaxPorts {
			return nil, fmt.Errorf("%s %q has %d ports; InfiniBand numbers at most %d", n.Kind, n.Name, n.Ports, MaxPorts)
		}
		if other, ok := f.byGUID[n.GUID]; ok {
			return nil, fmt.Errorf("GUID %s names two nodes, %q and %q", n.GUID, f.nodes[other].Name, n.Name)
		}
		id[r] = NodeID(i)
		f.nodes[i] = *n
		f.nodes[i].Name = printable(n.Name)
		f.byGUID[n.GUID] = NodeID(i)
		f.sameName[f.nodes[i].Name]++
		if n.Kind == Switch {
			f.switches++
		}
	}
	f.nameShortly()
	return id, nil
}

// nameShortly finds the names of switches for Label.
func (f *Fabric) nameShortly() {
	called := map[string]NodeID{} // [short name] the only switch it fits; None: it must not be used
	for s := range NodeID(f.switches) {
		for i, name := range nodename.OfSwitch(f.nodes[s].Name) {
			if _, taken := called[name]; taken || f.sameName[name] > 0 {
				called[name] = None
			} else if called[name] = s; i > 0 {
				called[name] = None // a unit of a director, whose name is longer
			}
		}
	}
	f.short = map[NodeID]string{}
	for name, s := range called {
		if s != None {
			f.short[s] = name
		}
	}
}

// printable is a node description as it is shown everywhere: any host sets its own, and
// terminals, tables and programs would obey control characters in it, among them those that
// change the direction of writing. They become blanks; what is not UTF-8, question marks.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(name, "\ufffd", "?"), "?"))
}

// assignGUIDs gives GUIDs to nodes without one, in the order of kind and key. They are
// 0x100 apart, more than a node has ports, so that port GUIDs are unique too.
func (b *Builder) assignGUIDs() {
	taken := make(map[GUID]bool, len(b.nodes))
	var without []Ref
	for i := range b.nodes {
		if b.nodes[i].GUID == 0 {
			without = append(without, Ref(i))
		}
		taken[b.nodes[i].GUID] = true
	}
	slices.SortFunc(without, func(x, y Ref) int {
		return cmp.Or(cmp.Compare(b.nodes[x].Kind, b.nodes[y].Kind), strings.Compare(b.nodes[x].key, b.nodes[y].key))
	})
	next := assignedGUID
	for _, r := range without {
		for taken[next] {
			next += 0x100
		}
		b.nodes[r].GUID = next
		next += 0x100
	}
}

// placeChannels makes two channels of each cable, in their final order, and the index of them by port (f.portChan). Then it
// sets what the source says of single ports: their data lanes, and which cables are one-sided. id is the NodeID of each
// Ref.
func (b *Builder) placeChannels(f *Fabric, id []NodeID) error {
	f.portFirst = make([]int32, len(f.nodes)+1)
	for i := range f.nodes {
		f.portFirst[i+1] = f.portFirst[i] + int32(f.nodes[i].Ports) + 1
	}
	f.portChan = slices.Repeat([]ChannelID{None}, int(f.portFirst[len(f.nodes)]))
	f.channels = make([]Channel, 0, 2*len(b.cables))
	for i := range b.cables {
		k := &b.cables[i]
		from, to := id[k.a], id[k.z]
		if err := f.plug(from, k.aPort, to, k.zPort); err != nil {
			return err
		}
		f.channels = append(f.channels,
			Channel{From: from, FromPort: k.aPort, To: to, ToPort: k.zPort, Rate: k.rate},
			Channel{From: to, FromPort: k.zPort, To: from, ToPort: k.aPort, Rate: k.rate})
	}
	slices.SortFunc(f.channels, func(x, y Channel) int {
		return cmp.Or(cmp.Compare(f.tier(&x), f.tier(&y)), cmp.Compare(x.From, y.From), cmp.Compare(x.FromPort, y.FromPort))
	})
	for i := range f.channels {
		c := &f.channels[i]
		f.portChan[f.portFirst[c.From]+int32(c.FromPort)] = ChannelID(i)
		if f.tier(c) == 0 {
			f.trunks++
		}
	}
	for i := range f.channels {
		c := &f.channels[i]
		c.Reverse = f.Out(c.To, c.ToPort)
	}
	for _, p := range b.dataVLs {
		c := f.Out(id[p.node], p.port)
		if c == None || p.lanes == 0 {
			continue
		}
		for _, way := range [2]*Channel{&f.channels[c], &f.channels[f.channels[c].Reverse]} {
			if way.DataVLs == 0 || p.lanes < way.DataVLs {
				way.DataVLs = p.lanes
			}
		}
	}
	for _, p := range b.oneSided {
		if c := f.Out(id[p.node], p.port); c != None {
			f.oneSided = append(f.oneSided, c)
		}
	}
	slices.Sort(f.oneSided)
	return nil
}

// plug marks two ports as taken, and refuses ports that do not exist or are taken.
func (f *Fabric) plug(from NodeID, fromPort uint8, to NodeID, toPort uint8) error {
	const taken = 0 // any channel: placeChannels puts the real one there when they are sorted
	for _, end := range [2]struct {
		n    NodeID
		port uint8
	}{{from, fromPort}, {to, toPort}} {
		if n := &f.nodes[end.n]; end.port == 0 || int(end.port) > n.Ports {
			return fmt.Errorf("%s has no port %d (it has ports 1 to %d)", f.Label(end.n), end.port, n.Ports)
		}
		slot := &f.portChan[f.portFirst[end.n]+int32(end.port)]
		if *slot != None {
			return fmt.Errorf("%s port %d has two cables; one of them joins %s port %d and %s port %d",
				f.Label(end.n), end.port, f.Label(from), fromPort, f.Label(to), toPort)
		}
		*slot = taken
	}
	return nil
}

// tier orders channels: trunks, then channels at adapters, then those that cannot carry
// traffic.
func (f *Fabric) tier(c *Channel) int {
	from, to := f.nodes[c.From].Kind, f.nodes[c.To].Kind
	switch {
	case c.From == c.To || (from != Switch && to != Switch):
		return 2
	case from != Switch || to != Switch:
		return 1
	}
	return 0
}

// indexTrunks builds the adjacency of switches and numbers the turns, of the sorted channels: the trunks are the first of
// them, those of one switch side by side.
func (f *Fabric) indexTrunks() {
	f.firstTrunk = make([]ChannelID, f.switches+1)
	f.heads = make([]NodeID, f.trunks)
	f.tailPorts = make([]uint8, f.trunks)
	f.reverse = make([]ChannelID, f.trunks)
	for c := range f.trunks {
		ch := &f.channels[c]
		f.heads[c], f.tailPorts[c], f.reverse[c] = ch.To, ch.FromPort, ch.Reverse
		f.firstTrunk[ch.From+1]++
	}
	for s := range f.switches {
		f.firstTrunk[s+1] += f.firstTrunk[s]
	}
	f.firstTurn = make([]int32, f.trunks+1)
	for c := range f.trunks {
		first, end := f.TrunksFrom(f.heads[c])
		f.firstTurn[c+1] = f.firstTurn[c] + int32(end-first)
	}
}

// placeEndpoints lists the endpoints, in the order of nodes and ports, and attaches them to their switches (f.attached). They
// have the LIDs that the source gives; assignLIDs sees to the others.
func (b *Builder) placeEndpoints(f *Fabric, id []NodeID) {
	ports := make([]map[uint8]Port, len(f.nodes))
	for r := range b.nodes {
		ports[id[r]] = b.nodes[r].ports
	}
	for n := range f.nodes {
		node := &f.nodes[n]
		if node.Kind == Switch {
			f.addEndpoint(NodeID(n), 0, ports[n][0], Endpoint{Class: SwitchPort, Switch: NodeID(n), Inject: None, Deliver: None})
			continue
		}
		for p := 1; p <= node.Ports; p++ {
			c := f.Out(NodeID(n), uint8(p))
			if c == None {
				continue
			}
			e := Endpoint{Class: classOf(node), Switch: None, Inject: None, Deliver: None}
			if ch := &f.channels[c]; f.nodes[ch.To].Kind == Switch {
				e.Switch, e.Inject, e.Deliver = ch.To, c, ch.Reverse
			}
			f.addEndpoint(NodeID(n), uint8(p), ports[n][uint8(p)], e)
		}
	}
	f.attachedFirst = make([]int32, f.switches+1)
	for i := range f.endpoints {
		if s := f.endpoints[i].Switch; s != None {
			f.attachedFirst[s+1]++
		}
	}
	for s := range f.switches {
		f.attachedFirst[s+1] += f.attachedFirst[s]
	}
	f.attached = make([]EndpointID, f.attachedFirst[f.switches])
	next := slices.Clone(f.attachedFirst)
	for i := range f.endpoints {
		if s := f.endpoints[i].Switch; s != None {
			f.attached[next[s]] = EndpointID(i)
			next[s]++
		}
	}
}

// addEndpoint appends e, to which it adds where it is and what the source says of that port.
func (f *Fabric) addEndpoint(n NodeID, port uint8, p Port, e Endpoint) {
	e.Node, e.Port, e.PortGUID, e.LID, e.LMC = n, port, p.GUID, p.LID, p.LMC
	if e.PortGUID == 0 {
		e.PortGUID = f.nodes[n].GUID + GUID(port)
	}
	f.endpoints = append(f.endpoints, e)
}

// warnUnknownRates warns once for each unknown speed, with the number of cables.
func (b *Builder) warnUnknownRates(f *Fabric) {
	count := map[string]int{}
	for i := range f.channels {
		if c := &f.channels[i]; c.Reverse > ChannelID(i) && c.Rate != (Rate{}) && !c.Rate.Known() {
			count[c.Rate.String()]++
		}
	}
	for _, rate := range slices.Sorted(maps.Keys(count)) {
		cables, their := "1 cable runs", "its"
		if n := count[rate]; n > 1 {
			cables, their = fmt.Sprintf("%d cables run", n), "their"
		}
		f.warnings = append(f.warnings, fmt.Sprintf("%s at %s, a speed weft does not know; %s rate counts as unknown", cables, rate, their))
	}
}
