package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// This file writes drawn networks as folders, as FRR and SONiC have them.

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
