package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/scramble"
	"github.com/weft-fabric/weft/internal/testnet"
)

// This file checks how folders of lossless Ethernet networks are read: networks are drawn and their folders written as
// FRR and SONiC have them, and weft verify says of each what testdata/ethernetchecker.py says, a reader and judge that
// shares nothing with weft but the files.

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

func (n *drawnFolder) write() {
	mapped := false
	for _, x := range n.routers {
		mapped = mapped || x.sonic
	}
	noMaps := n.one(6)
	for _, x := range n.routers {
		n.put(x, "route", n.routesOf(x))
		if x.sonic {
			n.put(x, "config_db", n.text(n.configOf(x, noMaps)))
		}
		if !x.sonic || n.one(3) {
			n.put(x, "interface", n.text(n.interfacesOf(x)))
		}
		if n.lldp || !x.sonic && (n.numbers == "none" || mapped) {
			n.put(x, "lldp", n.text(n.neighborsOf(x)))
		}
	}
	if n.one(3) || mapped && slices.ContainsFunc(n.routers, func(x *folderRouter) bool { return !x.sonic }) {
		n.files["qos.yaml"] = []string{"lossless: [3, 4]\n", "lossless: [3]\n"}[n.r.IntN(2)]
	}
}

func (n *drawnFolder) text(v any) string {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		panic(err)
	}
	return string(b)
}

// put adds a file of a router.
func (n *drawnFolder) put(x *folderRouter, kind, text string) {
	extension := ".json"
	if kind == "route" && text[0] != '{' {
		extension = ".txt"
	}
	name := filepath.Join(x.name, kind+extension)
	if n.flat {
		name = x.name + "." + kind + extension
	}
	if n.one(12) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := io.WriteString(z, text); err != nil {
			panic(err)
		}
		if err := z.Close(); err != nil {
			panic(err)
		}
		name, text = name+".gz", b.String()
	}
	n.files[name] = text
}

// routesOf is what show ip route says, as JSON or text.
func (n *drawnFolder) routesOf(x *folderRouter) string {
	vrf := n.vrf
	if vrf == "" {
		vrf = "default"
	}
	asText := n.one(4)
	var lines strings.Builder
	lines.WriteString("Codes: K - kernel route, C - connected, S - static, B - BGP,\n       > - selected route, * - FIB route\n\n")
	if n.vrf != "" {
		fmt.Fprintf(&lines, "VRF %s:\n", vrf)
	}
	table := fields{}
	for _, prefix := range slices.Sorted(maps.Keys(x.table)) {
		route := x.table[prefix]
		letter := map[string]string{"connected": "C", "bgp": "B", "static": "S"}[route.protocol]
		begin := letter + ">* " + prefix + " "
		switch route.mark {
		case "failed":
			begin = letter + ">r " + prefix + " "
		case "queued":
			begin = letter + ">q " + prefix + " "
		}
		if route.protocol != "connected" {
			begin += "[20/0] "
		}
		hops := []any{}
		for _, h := range route.hops {
			hop := fields{"fib": true, "active": true, "interfaceName": h.port, "weight": 1}
			what := "is directly connected, " + h.port
			if h.ip != "" {
				hop["ip"] = h.ip
				what = "via " + h.ip + ", " + h.port + ", weight 1"
			} else {
				hop["directlyConnected"] = true
			}
			if route.mark == "labels" {
				hop["labels"] = []any{100}
				what += ", label 100"
			}
			if n.one(20) && h.ip != "" { // resolved by another: the first of the two says how
				hops = append(hops, fields{"fib": true, "active": true, "recursive": true, "ip": "10.99.99.99"})
				lines.WriteString(begin + "via 10.99.99.99 (recursive), weight 1, 00:01:00\n")
				begin = "  *                     "
			}
			hops = append(hops, hop)
			lines.WriteString(begin + what + ", 00:01:00\n")
			begin = "  *                     "
			if route.mark == "failed" {
				begin = "  r                     "
			}
		}
		if route.drops {
			hops = append(hops, fields{"fib": true, "unreachable": true, "blackhole": true})
			lines.WriteString(begin + "unreachable (blackhole), weight 1, 00:01:00\n")
		}
		if n.one(12) && len(x.ports) > 0 && len(hops) > 0 { // one that is not used
			p := x.ports[n.r.IntN(len(x.ports))]
			h := n.hop(p, prefix)
			hops = append(hops, fields{"fib": false, "interfaceName": h.port, "ip": h.ip})
			lines.WriteString("                        via " + h.ip + ", " + h.port + ", weight 1, 00:01:00\n")
		}
		entry := fields{"prefix": prefix, "protocol": route.protocol, "vrfName": vrf, "selected": true, "destSelected": true, "installed": true, "nexthops": hops}
		if route.mark == "failed" || route.mark == "queued" {
			entry[route.mark] = true
		}
		entries := []any{entry}
		if n.one(12) && len(x.ports) > 0 { // another protocol's, which lost
			h := n.hop(x.ports[0], prefix)
			entries = append(entries, fields{"protocol": "ospf", "vrfName": vrf, "nexthops": []any{fields{"interfaceName": h.port, "ip": h.ip, "fib": n.one(2)}}})
			lines.WriteString("O   " + prefix + " [110/20] via " + h.ip + ", " + h.port + ", weight 1, 00:01:00\n")
		}
		table[prefix] = entries
	}
	if !n.one(3) {
		if asText {
			return lines.String()
		}
		return n.text(table)
	}
	other := fields{} // what another VRF does with the same prefixes is not what counts
	lines.WriteString("\nVRF Vrf-other:\n")
	for _, prefix := range slices.Sorted(maps.Keys(x.table)) {
		other[prefix] = []any{fields{"prefix": prefix, "protocol": "static", "vrfName": "Vrf-other", "selected": true, "nexthops": []any{fields{"fib": true, "unreachable": true, "blackhole": true}}}}
		lines.WriteString("S>* " + prefix + " [1/0] unreachable (blackhole), weight 1, 00:01:00\n")
	}
	if asText {
		return lines.String()
	}
	return n.text(fields{vrf: table, "Vrf-other": other})
}

func (n *drawnFolder) interfacesOf(x *folderRouter) any {
	vrf := n.vrf
	if vrf == "" {
		vrf = "default"
	}
	kernel := !x.sonic && slices.ContainsFunc(x.ports, func(p *folderPort) bool { return len(p.members) > 0 }) || n.one(4) && n.vrf == ""
	all, list := fields{}, []any{}
	add := func(name, address, master, kind string, up bool) {
		state := map[bool]string{true: "UP", false: "DOWN"}[up]
		i, _ := all[name].(fields)
		addresses := []any{}
		if i != nil {
			addresses = i["ipAddresses"].([]any)
		}
		if address != "" {
			addresses = append(addresses, fields{"address": address})
		}
		all[name] = fields{"administrativeStatus": "up", "operationalStatus": strings.ToLower(state), "vrfName": vrf, "type": "Ethernet", "ipAddresses": addresses}
		e := fields{"ifname": name, "operstate": state, "link_type": "ether"}
		if address != "" {
			local, length, _ := strings.Cut(address, "/")
			e["addr_info"] = []any{fields{"local": local, "prefixlen": json.Number(length)}}
		}
		if kind == "" && n.vrf != "" {
			master, kind = n.vrf, "vrf"
		}
		if kind != "" {
			e["master"], e["linkinfo"] = master, fields{"info_slave_kind": kind}
		}
		list = append(list, e)
	}
	for _, s := range x.subnets {
		add(s.port, s.address, "", "", true)
	}
	for _, p := range x.ports {
		for i, m := range p.members {
			if kernel {
				add(m, "", p.name, "bond", !p.idle || i > 0)
			} else if x.sonic {
				add(m, "", "", "", (!p.idle || i > 0) && !p.down)
			}
		}
		if p.face != p.name {
			add(p.name, "", "", "", !p.down)
		}
		for _, a := range p.addresses {
			add(p.face, a, "", "", !p.down)
		}
	}
	if !kernel {
		if x.beside != "" {
			all["other0"] = fields{"administrativeStatus": "up", "operationalStatus": "up", "vrfName": "default", "type": "Ethernet", "ipAddresses": []any{fields{"address": x.beside}}}
		}
		return all
	}
	byName := map[string]fields{} // ip says an interface once
	merged := []any{}
	for _, e := range list {
		e := e.(fields)
		name := e["ifname"].(string)
		if before := byName[name]; before != nil {
			more, _ := e["addr_info"].([]any)
			had, _ := before["addr_info"].([]any)
			before["addr_info"] = append(had, more...)
			continue
		}
		byName[name] = e
		merged = append(merged, e, fields{})
	}
	return merged
}

func (n *drawnFolder) neighborsOf(x *folderRouter) any {
	json0, list := n.one(3), []any{}
	for _, p := range x.ports {
		ports, others := p.members, p.other.members
		if len(ports) == 0 {
			ports, others = []string{p.name}, []string{p.other.name}
		}
		for i, port := range ports {
			if n.lldp && n.numbers != "none" && n.one(6) {
				continue // the other end or the subnet says it
			}
			called := p.other.at.called
			if json0 {
				list = append(list, fields{
					"name": port, "chassis": []any{fields{"id": []any{fields{"type": "mac", "value": "aa:bb"}}, "name": []any{fields{"value": called}}}},
					"port": []any{fields{"id": []any{fields{"type": "ifname", "value": others[i]}}, "descr": []any{fields{"value": "x"}}}},
				})
				continue
			}
			list = append(list, fields{port: fields{"via": "LLDP", "chassis": fields{called: fields{"id": fields{"type": "mac", "value": "aa:bb"}}}, "port": fields{"id": fields{"type": "ifname", "value": others[i]}, "descr": "x"}}})
		}
	}
	if n.one(3) {
		list = append(list, fields{"mgmt7": fields{"chassis": fields{"oob-switch": fields{}}, "port": fields{"id": fields{"value": "e1"}}}})
	}
	if json0 {
		return fields{"lldp": []any{fields{"interface": list}}}
	}
	return fields{"lldp": fields{"interface": list}}
}

func (n *drawnFolder) configOf(x *folderRouter, noMaps bool) fields {
	c := fields{"DEVICE_METADATA": fields{"localhost": fields{"hostname": x.name, "bgp_asn": "65000"}}}
	for k, v := range n.tables {
		c[k] = v
	}
	for k, v := range x.extra {
		c[k] = v
	}
	port, channel, channels, qos, neighbors := fields{}, fields{}, fields{}, fields{}, fields{}
	plain, vlan, sub, loop := fields{}, fields{}, fields{}, fields{}
	name := func(table fields, face, address string) {
		if n.vrf != "" {
			table[face] = fields{"vrf_name": n.vrf}
		}
		if !strings.HasPrefix(address, "fe80") {
			table[face+"|"+address] = fields{}
		}
	}
	for _, p := range x.ports {
		members := p.members
		if len(members) == 0 {
			members = []string{p.name}
		}
		for i, m := range members {
			port[m] = fields{"alias": "Eth" + strings.TrimPrefix(m, "Ethernet") + "/1", "speed": "100000"}
			qos[m] = n.policies[p.policy]
			if len(p.members) > 0 {
				channel[p.name+"|"+m] = fields{}
			}
			if n.numbers == "none" || n.one(2) {
				other := p.other.name
				if len(p.other.members) > 0 {
					other = p.other.members[i]
				}
				neighbors[m] = fields{"name": p.other.at.name, "port": other}
			}
		}
		for _, a := range p.addresses {
			switch {
			case p.face != p.name:
				name(sub, p.face, a)
			case len(p.members) > 0:
				name(channels, p.face, a)
			default:
				name(plain, p.face, a)
			}
		}
	}
	for _, s := range x.subnets {
		switch {
		case strings.HasPrefix(s.port, "Vlan"):
			name(vlan, s.port, s.address)
		case strings.HasPrefix(s.port, "Loopback"):
			name(loop, s.port, s.address)
		default:
			name(plain, s.port, s.address)
		}
	}
	if x.beside != "" {
		plain["other0|"+x.beside] = fields{}
	}
	qos["Ethernet800"] = n.policies[0]
	if n.one(4) {
		qos["global"] = fields{"dscp_to_tc_map": "MAP0"}
	}
	if n.one(4) && len(x.ports) > 0 && len(x.ports[0].members) == 0 { // two ports in one row
		for _, k := range slices.Sorted(maps.Keys(qos)) {
			v := qos[k]
			if k != "global" && k != "Ethernet800" && maps.EqualFunc(v.(fields), n.policies[0], func(a, b any) bool { return a == b }) {
				delete(qos, k)
				delete(qos, "Ethernet800")
				qos[k+", Ethernet800"] = v
				break
			}
		}
	}
	c["PORT"], c["PORTCHANNEL_MEMBER"], c["DEVICE_NEIGHBOR"] = port, channel, neighbors
	c["INTERFACE"], c["VLAN_INTERFACE"], c["VLAN_SUB_INTERFACE"], c["LOOPBACK_INTERFACE"], c["PORTCHANNEL_INTERFACE"] = plain, vlan, sub, loop, channels
	if !noMaps {
		c["PORT_QOS_MAP"] = qos
	}
	if n.one(3) { // management, which carries no traffic
		plain["eth0|192.0.2.7/24"] = fields{}
	}
	if !n.one(4) {
		return c
	}
	dump := fields{} // of the database
	for _, table := range slices.Sorted(maps.Keys(c)) {
		rows := c[table].(fields)
		for _, key := range slices.Sorted(maps.Keys(rows)) {
			row := rows[key]
			if n.one(2) {
				row = fields{"type": "hash", "value": row}
			}
			dump[table+"|"+key] = row
		}
	}
	return dump
}

// ethernetChecker is testdata/ethernetchecker.py at work.
type ethernetChecker struct {
	in  io.WriteCloser
	out *bufio.Scanner
}

func startEthernetChecker(t *testing.T) *ethernetChecker {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 (on Debian: apt-get install python3)")
	}
	cmd := exec.Command(python, "testdata/ethernetchecker.py", "--jobs")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("ethernetchecker.py: %v", err)
		}
	})
	return &ethernetChecker{in: in, out: bufio.NewScanner(out)}
}

// folderVerdict is what either says of a folder: members of weft verify --json, and the exit code.
type folderVerdict struct {
	Exit         int
	Verdict      string
	Devices      int
	Cables       int
	Prefixes     int
	HostPrefixes int `json:"host_prefixes"`
	Pairs        int
	Unreachable  int
	Loops        int `json:"forwarding_loops"`
	Dependencies int
	Priorities   []int `json:"lossless_priorities"`
}

// ask is what the checker says, why it refuses the folder, and whether buffers can wait for each other in a circle.
func (c *ethernetChecker) ask(t *testing.T, dir, vrf, endpoints string) (v folderVerdict, why string, buffers bool) {
	t.Helper()
	if err := json.NewEncoder(c.in).Encode(map[string]string{"folder": dir, "vrf": vrf, "endpoints": endpoints}); err != nil {
		t.Fatal(err)
	}
	if !c.out.Scan() {
		t.Fatal("ethernetchecker.py ended", c.out.Err())
	}
	var more struct {
		Why     string
		Buffers bool
	}
	if err := json.Unmarshal(c.out.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(c.out.Bytes(), &more); err != nil {
		t.Fatal(err)
	}
	return v, more.Why, more.Buffers
}

// readByWeft is what weft verify says, and its error.
func readByWeft(t *testing.T, dir, vrf, endpoints string) (v folderVerdict, why string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"verify", dir, "--json", "--vrf", vrf, "--endpoints", endpoints}, strings.NewReader(""), &out, &errs)
	if code == exit.BadInput {
		return folderVerdict{Exit: code, Verdict: "refused"}, errs.String()
	}
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatalf("%v: %s%s", err, out.String(), errs.String())
	}
	v.Exit = code
	return v, ""
}

// save writes files in place of those that a folder had.
func save(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// damage changes a folder: parts are missing, or say something else.
func (n *drawnFolder) damage() string {
	r := n.r
	names := slices.Sorted(maps.Keys(n.files))
	plain := slices.DeleteFunc(slices.Clone(names), func(s string) bool { return !strings.HasSuffix(s, ".json") && !strings.HasSuffix(s, ".txt") })
	if len(plain) == 0 {
		return "nothing"
	}
	name := plain[r.IntN(len(plain))]
	switch r.IntN(6) {
	case 0: // a device is missing
		device := name[:strings.IndexAny(name, "/.")]
		maps.DeleteFunc(n.files, func(file, _ string) bool {
			return strings.HasPrefix(file, device+".") || strings.HasPrefix(file, device+"/")
		})
		return "without " + device
	case 1:
		delete(n.files, name)
		return "without " + name
	case 2: // as of another device, or before something happened
		other := plain[r.IntN(len(plain))]
		n.files[name], n.files[other] = n.files[other], n.files[name]
		return "exchanged " + name + " and " + other
	case 3:
		n.files[name] = scramble.Of(n.files[name])[1+r.IntN(60)]
		return "scrambled " + name
	}
	var v any
	d := json.NewDecoder(strings.NewReader(n.files[name]))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return "nothing"
	}
	what := ""
	for range 1 + r.IntN(3) {
		what += " " + n.spoil(v)
	}
	n.files[name] = n.text(v)
	return name + what
}

// spoil takes something out of a value of JSON, or gives it another.
func (n *drawnFolder) spoil(v any) string {
	type place struct {
		in  any
		key string
	}
	var places []place
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case fields:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				places = append(places, place{v, k})
				walk(v[k])
			}
		case []any:
			for i := range v {
				places = append(places, place{v, strconv.Itoa(i)})
				walk(v[i])
			}
		}
	}
	walk(v)
	if len(places) == 0 {
		return ""
	}
	p, q := places[n.r.IntN(len(places))], places[n.r.IntN(len(places))]
	get := func(p place) any {
		if list, ok := p.in.([]any); ok {
			i, _ := strconv.Atoi(p.key)
			return list[i]
		}
		return p.in.(fields)[p.key]
	}
	put := func(p place, v any) {
		if list, ok := p.in.([]any); ok {
			i, _ := strconv.Atoi(p.key)
			list[i] = v
			return
		}
		p.in.(fields)[p.key] = v
	}
	switch old, list := get(p), p.in; {
	case n.one(3):
		if _, ok := list.([]any); !ok {
			delete(list.(fields), p.key)
			return "without " + p.key
		}
		put(p, fields{})
	case n.one(2): // of the same kind, from elsewhere
		b, _ := json.Marshal(get(q))
		var other any
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if d.Decode(&other) == nil && reflect.TypeOf(other) == reflect.TypeOf(old) {
			put(p, other)
		}
	default:
		switch old := old.(type) {
		case bool:
			put(p, !old)
		case string:
			put(p, []string{"", "0", "7", "8", "3", "4", "down", "10.0.0.1", "default", "Ethernet4", old + ".7"}[n.r.IntN(11)])
		case json.Number:
			put(p, json.Number("9"))
		default:
			put(p, nil)
		}
	}
	return "other " + p.key
}

// weft verify says of drawn folders what the checker does, and of damaged ones nothing better.
func TestFoldersReadBack(t *testing.T) {
	c := startEthernetChecker(t)
	seed, networks, damages := uint64(20261127), testnet.Of(30, 4), testnet.Of(2, 1)
	if s, err := strconv.ParseUint(os.Getenv("WEFT_SEED"), 10, 64); err == nil {
		seed = s
	}
	if os.Getenv("WEFT_THOROUGH") != "" {
		networks, damages = 2000, 200
	}
	kinds := map[string]int{}
	dir := filepath.Join(t.TempDir(), "folder")
	compare := func(n *drawnFolder, endpoints, what string, damaged bool) {
		save(t, dir, n.files)
		vrf := cmp.Or(n.vrf, "default")
		want, refused, buffers := c.ask(t, dir, vrf, endpoints)
		got, why := readByWeft(t, dir, vrf, endpoints)
		alike := reflect.DeepEqual(got, want) && !(buffers && got.Verdict == "deadlock-free")
		kind := fmt.Sprintf("%s, exit code %d", want.Verdict, want.Exit)
		if damaged {
			// weft may refuse what the checker does not look at.
			alike = alike || got.Exit == exit.BadInput
			kind = "damaged: " + kind
		}
		if !alike {
			t.Errorf("%s: weft %+v %s\nchecker %+v %s, buffers in a circle %v", what, got, why, want, refused, buffers)
			if keep := os.Getenv("WEFT_KEEP"); keep != "" {
				save(t, filepath.Join(keep, fmt.Sprint(len(kinds), "-", strings.ReplaceAll(what, "/", " "))), n.files)
			}
		}
		kinds[kind]++
	}
	real, err := filepath.Glob(filepath.Join(cmp.Or(os.Getenv("WEFT_CORPUS"), "../../../shared"), "ethernet", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Glob("../../examples/ethernet/*")
	if err != nil || len(examples) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range real {
		examples = append(examples, filepath.Dir(file))
	}
	slices.Sort(examples)
	for i, example := range slices.Compact(examples) {
		for _, endpoints := range [...]string{"hosts", "all"} {
			n := &drawnFolder{r: rand.New(rand.NewPCG(seed, uint64(i))), files: map[string]string{}}
			if err := filepath.WalkDir(example, func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				text, err := os.ReadFile(path)
				n.files[strings.TrimPrefix(path, example+"/")] = string(text)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			compare(n, endpoints, example, false)
			for range damages {
				n := &drawnFolder{r: n.r, files: maps.Clone(n.files)}
				what := n.damage()
				compare(n, endpoints, example+", "+what, true)
			}
		}
	}
	for i := range networks {
		n := drawFolder(rand.New(rand.NewPCG(seed, uint64(i))))
		endpoints := []string{"hosts", "hosts", "all"}[i%3]
		compare(n, endpoints, fmt.Sprintf("network %d", i), false)
		compare(n, endpoints, fmt.Sprintf("network %d, %s", i, n.damage()), true)
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%s: %d folders", kind, kinds[kind])
	}
	for _, kind := range [...]string{"deadlock-free, exit code 0", "deadlock-free, exit code 1", "credit-loop, exit code 1", "refused, exit code 3", "damaged: credit-loop, exit code 1"} {
		if kinds[kind] < max(1, networks/30) {
			t.Errorf("%s: %d folders, which tests little", kind, kinds[kind])
		}
	}
}
