package cli

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
)

// This file draws networks of lossless Ethernet for TestFoldersReadBack: routers and cables, routes, and how ports treat packets.

type fields = map[string]any

// folderRouter is a router as it was drawn.
type folderRouter struct {
	name    string
	called  string // by its neighbors
	sonic   bool
	tier    int
	ports   []*folderPort
	subnets []folderSubnet
	beside  string // an address in another VRF, where it means something else
	table   map[string]*folderRoute
	extra   fields // tables of config_db.json besides the usual ones
}

type folderSubnet struct {
	prefix, port, address string // the address has a length
}

// folderPort is one end of a cable, or of several that are a port channel.
type folderPort struct {
	at        *folderRouter
	other     *folderPort
	name      string   // of the port or port channel
	face      string   // of the interface with the addresses: a VLAN of the port, or the port
	members   []string // of a port channel
	idle      bool     // one of the members is down
	addresses []string // with lengths
	policy    int
	down      bool
}

// folderRoute is a route of a table.
type folderRoute struct {
	protocol string
	hops     []folderHop
	drops    bool
	mark     string // failed, queued or labels
}

type folderHop struct{ port, ip string }

// drawnFolder is a network with the dialect of its folder.
type drawnFolder struct {
	r          *rand.Rand
	routers    []*folderRouter
	vrf        string
	numbers    string // how cables are numbered: 31, 30, 127, none
	six        bool   // hosts have IPv6 too
	lldp, flat bool
	policies   []fields // of ports, by SONiC
	tables     fields
	files      map[string]string
}

func (n *drawnFolder) one(of int) bool { return n.r.IntN(of) == 0 }

func drawFolder(r *rand.Rand) *drawnFolder {
	n := &drawnFolder{r: r, files: map[string]string{}, tables: fields{}}
	n.flat, n.lldp, n.six = n.one(2), n.one(3), n.one(4)
	n.numbers = []string{"31", "31", "30", "127", "none"}[r.IntN(5)]
	if n.one(5) {
		n.vrf = "Vrf-roce"
	}
	n.drawShape([]string{"frr", "sonic", "sonic", "both"}[r.IntN(4)])
	n.drawSubnets()
	for _, a := range n.routers {
		for _, p := range a.ports {
			p.down = p.down || p.other.down
		}
	}
	if !slices.ContainsFunc(n.routers, func(x *folderRouter) bool { return !x.sonic }) && n.vrf == "" && n.numbers != "127" && n.one(4) {
		n.drawDualToR()
	}
	if n.vrf != "" && n.numbers != "none" {
		for _, x := range n.routers {
			if y := n.routers[n.r.IntN(len(n.routers))]; n.one(2) && len(y.ports) > 0 {
				x.beside = y.ports[n.r.IntN(len(y.ports))].addresses[0]
			}
		}
	}
	n.computeRoutes()
	if n.one(3) {
		for range 1 + r.IntN(3) {
			n.spoilRoute()
		}
	}
	n.drawPolicies()
	n.write()
	return n
}

// drawShape draws routers and cables.
func (n *drawnFolder) drawShape(style string) {
	r := n.r
	names := [][3]string{{"leaf%02d", "spine%02d", "top%d"}, {"TOR-%d", "agg-%d", "core-%d"}, {"r%03d", "q%03d", "p%03d"}}[r.IntN(3)]
	domain := ""
	if n.one(4) {
		domain = ".dc1.example.com"
	}
	count := [3]int{}
	add := func(tier int) *folderRouter {
		x := &folderRouter{name: fmt.Sprintf(names[tier], count[tier]), tier: tier, sonic: style == "sonic" || style == "both" && n.one(2), table: map[string]*folderRoute{}, extra: fields{}}
		x.called = x.name + domain
		count[tier]++
		n.routers = append(n.routers, x)
		return x
	}
	channels, vlans := n.one(3), n.one(6)
	used, link := map[*folderRouter]int{}, 0
	cable := func(a, b *folderRouter) {
		ends := [2]*folderPort{{at: a}, {at: b}}
		channel := channels && n.one(2)
		for i, p := range ends {
			next := func() string {
				used[p.at]++
				if p.at.sonic {
					return fmt.Sprintf("Ethernet%d", used[p.at]*4)
				}
				return fmt.Sprintf("swp%d", used[p.at])
			}
			p.name = next()
			if channel {
				p.members, p.idle = []string{p.name, next()}, n.one(5)
				p.name = fmt.Sprintf("PortChannel%d", 100+used[p.at])
			}
			p.face = p.name
			if vlans {
				p.face = p.name + ".7"
			}
			switch n.numbers {
			case "31":
				p.addresses = []string{fmt.Sprintf("10.255.%d.%d/31", link/64, link%64*2+i)}
			case "30":
				p.addresses = []string{fmt.Sprintf("10.255.%d.%d/30", link/64, link%64*4+i+1)}
			case "127":
				p.addresses = []string{fmt.Sprintf("fd00:ffff::%x/127", link*2+i)}
			}
			if n.six && n.numbers != "127" && n.numbers != "none" {
				p.addresses = append(p.addresses, fmt.Sprintf("fd00:ffff::%x/127", link*2+i))
			}
			p.addresses = append(p.addresses, fmt.Sprintf("fe80::%x:%x/64", link+1, i+1))
			p.other = ends[1-i]
			p.at.ports = append(p.at.ports, p)
		}
		ends[0].down = n.one(9)
		link++
	}
	join := func(a, b *folderRouter) {
		switch r.IntN(9) {
		case 0:
		case 1:
			cable(a, b)
			cable(a, b)
		default:
			cable(a, b)
		}
	}
	switch r.IntN(5) {
	case 0, 1:
		var spines []*folderRouter
		for range 1 + r.IntN(3) {
			spines = append(spines, add(1))
		}
		for range 2 + r.IntN(4) {
			l := add(0)
			for _, s := range spines {
				join(l, s)
			}
		}
	case 2:
		var tops []*folderRouter
		for range 1 + r.IntN(2) {
			tops = append(tops, add(2))
		}
		for range 2 {
			var leaves []*folderRouter
			for range 1 + r.IntN(3) {
				leaves = append(leaves, add(0))
			}
			for range 1 + r.IntN(2) {
				s := add(1)
				for _, x := range slices.Concat(leaves, tops) {
					join(s, x)
				}
			}
		}
	case 3:
		first := add(0)
		at := first
		for range 2 + r.IntN(4) {
			next := add(0)
			cable(at, next)
			at = next
		}
		cable(at, first)
	default:
		for range 2 + r.IntN(5) {
			add(0)
		}
		for range len(n.routers) + r.IntN(5) {
			if a, b := n.routers[r.IntN(len(n.routers))], n.routers[r.IntN(len(n.routers))]; a != b {
				cable(a, b)
			}
		}
	}
}

// drawSubnets puts hosts behind leaves, some behind two.
func (n *drawnFolder) drawSubnets() {
	for i, x := range n.routers {
		if n.numbers != "127" {
			x.subnets = append(x.subnets, folderSubnet{fmt.Sprintf("10.0.0.%d/32", i), x.loopback(), fmt.Sprintf("10.0.0.%d/32", i)})
		}
		if x.tier > 0 {
			continue
		}
		for k := range n.r.IntN(3) {
			port := fmt.Sprintf("Vlan%d", 10+k)
			if n.numbers != "127" {
				x.subnets = append(x.subnets, folderSubnet{fmt.Sprintf("10.%d.%d.0/24", 1+k, i), port, fmt.Sprintf("10.%d.%d.1/24", 1+k, i)})
			}
			if n.six || n.numbers == "127" {
				x.subnets = append(x.subnets, folderSubnet{fmt.Sprintf("fd01:%x:%x::/64", k, i), port, fmt.Sprintf("fd01:%x:%x::1/64", k, i)})
			}
		}
		if n.one(6) && n.numbers != "127" { // a subnet for each host
			for k := range 2 {
				x.subnets = append(x.subnets, folderSubnet{fmt.Sprintf("10.9.%d.%d/31", i, 2*k), fmt.Sprintf("Ethernet%d", 400+k), fmt.Sprintf("10.9.%d.%d/31", i, 2*k)})
			}
		}
		if i > 0 && n.one(6) && n.numbers != "127" { // behind the one before too
			for _, y := range n.routers[i-1 : i+1] {
				y.subnets = append(y.subnets, folderSubnet{fmt.Sprintf("10.8.%d.0/24", i), "Vlan99", fmt.Sprintf("10.8.%d.1/24", i)})
			}
		}
	}
}

func (x *folderRouter) loopback() string {
	if x.sonic {
		return "Loopback0"
	}
	return "lo"
}

// drawDualToR makes two leaves the switches of hosts that have a cable to each.
func (n *drawnFolder) drawDualToR() {
	var pair []*folderRouter
	for _, x := range n.routers {
		if x.tier == 0 {
			pair = append(pair, x)
		}
	}
	if len(pair) < 2 {
		return
	}
	n.r.Shuffle(len(pair), func(i, j int) { pair[i], pair[j] = pair[j], pair[i] })
	for i, x := range pair[:2] {
		peer := pair[1-i]
		x.subnets = append(x.subnets, folderSubnet{"192.168.0.0/24", "Vlan1000", "192.168.0.1/24"})
		own, _ := x.ownAddress()
		to, _ := peer.ownAddress()
		x.extra["PEER_SWITCH"] = fields{peer.name: fields{"address_ipv4": to}}
		x.extra["MUX_CABLE"] = fields{"Ethernet800": fields{"server_ipv4": "192.168.0.2/32", "state": "auto"}}
		tunnel := fields{"src_ip": to, "dst_ip": own, "dscp_mode": []string{"uniform", "pipe"}[n.r.IntN(2)], "tunnel_type": "IPINIP"}
		for _, field := range [...]string{"encap_tc_to_dscp_map", "encap_tc_to_queue_map", "decap_dscp_to_tc_map", "decap_tc_to_pg_map"} {
			if n.one(2) {
				tunnel[field] = "TUNNEL"
			}
		}
		x.extra["TUNNEL"] = fields{"MuxTunnel0": tunnel}
	}
}

func (x *folderRouter) ownAddress() (string, bool) {
	for _, s := range x.subnets {
		if s.port == x.loopback() {
			address, _, _ := strings.Cut(s.address, "/")
			return address, true
		}
	}
	return "", false
}

// computeRoutes gives every router its own subnets, and all shortest ways to others.
func (n *drawnFolder) computeRoutes() {
	oneWay := n.one(5) // on rings: as someone wrote static routes
	for _, x := range n.routers {
		for _, s := range x.subnets {
			x.table[s.prefix] = &folderRoute{protocol: "connected", hops: []folderHop{{s.port, ""}}}
		}
		for _, p := range x.ports {
			for _, a := range p.addresses {
				if at := netip.MustParsePrefix(a); !at.Addr().IsLinkLocalUnicast() && !p.down {
					x.table[at.Masked().String()] = &folderRoute{protocol: "connected", hops: []folderHop{{p.face, ""}}}
				}
			}
		}
	}
	for _, owner := range n.routers {
		for _, s := range owner.subnets {
			away := map[*folderRouter]int{}
			var queue []*folderRouter
			for _, x := range n.routers {
				if slices.ContainsFunc(x.subnets, func(o folderSubnet) bool { return o.prefix == s.prefix }) {
					away[x] = 1
					queue = append(queue, x)
				}
			}
			for ; len(queue) > 0; queue = queue[1:] {
				for _, p := range queue[0].ports {
					if !p.down && away[p.other.at] == 0 {
						away[p.other.at] = away[queue[0]] + 1
						queue = append(queue, p.other.at)
					}
				}
			}
			for _, x := range n.routers {
				if away[x] < 2 {
					continue
				}
				route := &folderRoute{protocol: "bgp"}
				for _, p := range x.ports {
					if !p.down && away[p.other.at] < away[x] {
						route.hops = append(route.hops, n.hop(p, s.prefix))
					}
				}
				if oneWay && len(x.ports) > 1 && !x.ports[1].down {
					route.protocol, route.hops = "static", []folderHop{n.hop(x.ports[1], s.prefix)}
				}
				x.table[s.prefix] = route
			}
		}
	}
}

// hop is a next hop by a port, for a prefix.
func (n *drawnFolder) hop(p *folderPort, prefix string) folderHop {
	six := strings.Contains(prefix, ":")
	for _, a := range p.other.addresses {
		address, _, _ := strings.Cut(a, "/")
		ip := netip.MustParseAddr(address)
		if ip.Is6() == six && !ip.IsLinkLocalUnicast() && !(six && n.one(2)) {
			return folderHop{p.face, address}
		}
	}
	address, _, _ := strings.Cut(p.other.addresses[len(p.other.addresses)-1], "/")
	return folderHop{p.face, address}
}

// spoilRoute changes a route of some router.
func (n *drawnFolder) spoilRoute() {
	r := n.r
	x := n.routers[r.IntN(len(n.routers))]
	var up []*folderPort
	for _, p := range x.ports {
		if !p.down {
			up = append(up, p)
		}
	}
	var far []string
	for _, prefix := range slices.Sorted(maps.Keys(x.table)) {
		if x.table[prefix].protocol != "connected" {
			far = append(far, prefix)
		}
	}
	if len(up) == 0 || len(far) == 0 {
		return
	}
	prefix := far[r.IntN(len(far))]
	route := x.table[prefix]
	hop := func(prefix string) folderHop { return n.hop(up[r.IntN(len(up))], prefix) }
	within := func(bits int) string {
		p, _ := netip.MustParsePrefix(prefix).Addr().Prefix(bits)
		return p.String()
	}
	all := "0.0.0.0/0"
	if strings.Contains(prefix, ":") {
		all = "::/0"
	}
	switch r.IntN(9) {
	case 0:
		delete(x.table, prefix)
	case 1:
		if h := hop(prefix); !slices.Contains(route.hops, h) {
			route.hops = append(route.hops, h)
		}
	case 2:
		route.hops = []folderHop{hop(prefix)}
	case 3: // a default route in place of all others
		for _, p := range far {
			if strings.Contains(p, ":") == strings.Contains(prefix, ":") {
				delete(x.table, p)
			}
		}
		x.table[all] = &folderRoute{protocol: "static", hops: []folderHop{hop(prefix)}}
	case 4:
		x.table[all] = &folderRoute{protocol: "static", drops: true}
	case 5:
		x.table[prefix] = &folderRoute{protocol: "static", drops: true}
	case 6: // all that begins alike
		if bits := netip.MustParsePrefix(prefix).Bits(); bits > 16 {
			x.table[within(16)] = &folderRoute{protocol: "bgp", hops: []folderHop{hop(prefix)}}
		}
	case 7: // a host's own route, or half of the subnet's
		p := netip.MustParsePrefix(prefix)
		bits := p.Bits() + 1
		if n.one(2) {
			bits = p.Addr().BitLen()
		}
		if bits <= p.Addr().BitLen() && bits > p.Bits() {
			x.table[within(bits)] = &folderRoute{protocol: "static", hops: []folderHop{hop(prefix)}}
		}
	default:
		if n.one(3) {
			route.mark = []string{"failed", "queued", "labels"}[r.IntN(3)]
		}
	}
}

// drawPolicies draws how the ports of SONiC treat packets: mostly in one way that all share.
func (n *drawnFolder) drawPolicies() {
	r := n.r
	number := func(below int) string { return fmt.Sprint(r.IntN(below)) }
	identity := func() fields {
		m := fields{}
		for i := range 8 {
			m[fmt.Sprint(i)] = fmt.Sprint(i)
		}
		return m
	}
	mostly := func(chance int, below int) fields {
		m := identity()
		for i := range 8 {
			if n.one(chance) {
				m[fmt.Sprint(i)] = number(below)
			}
		}
		return m
	}
	named := func(table, name string, m fields) {
		if n.tables[table] == nil {
			n.tables[table] = fields{}
		}
		n.tables[table].(fields)[name] = m
	}
	kinds := 1
	if n.one(2) {
		kinds = 2 + r.IntN(2)
	}
	plain := n.one(2)
	reference := func(table, name string) string {
		if n.one(5) {
			return "[" + table + "|" + name + "]"
		}
		return name
	}
	for k := range kinds {
		name := fmt.Sprintf("MAP%d", k)
		dscp := fields{"3": "3", "4": "4"}
		if !plain {
			for range r.IntN(6) {
				dscp[number(64)] = number(8)
			}
		}
		policy := fields{"dscp_to_tc_map": reference("DSCP_TO_TC_MAP", name), "pfc_enable": []string{"3,4", "3,4", "3", "4", "2,3,4,6", ""}[r.IntN(6)*min(1, k+r.IntN(2))]}
		named("DSCP_TO_TC_MAP", name, dscp)
		for _, of := range [...][2]string{{"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"}, {"tc_to_queue_map", "TC_TO_QUEUE_MAP"}, {"pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE"}, {"pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"}} {
			field, table := of[0], of[1]
			m := identity()
			if !plain && n.one(3) {
				m = mostly(3, 8)
			}
			named(table, name, m)
			if field != "pfc_to_pg_map" || n.one(3) {
				policy[field] = reference(table, name)
			}
		}
		named("TC_TO_DSCP_MAP", name, fields{"3": "4", "4": []string{"4", "3", "2"}[r.IntN(3)], "2": "3", "6": "3"})
		if !plain && n.one(4) {
			policy["tc_to_dscp_map"] = name
		}
		n.policies = append(n.policies, policy)
	}
	for table, m := range map[string]fields{
		"TC_TO_DSCP_MAP": {"3": "2", "4": "6"}, "TC_TO_QUEUE_MAP": {"3": "2", "4": "6"},
		"DSCP_TO_TC_MAP": {"2": "3", "6": "4", "3": "3", "4": "4"}, "TC_TO_PRIORITY_GROUP_MAP": {"3": "2", "4": "6"},
	} {
		named(table, "TUNNEL", m)
	}
	for _, x := range n.routers {
		for _, p := range x.ports {
			if kinds > 1 && n.one(3) {
				p.policy = r.IntN(kinds)
				if !n.one(4) {
					p.other.policy = p.policy
				}
			}
		}
	}
}
