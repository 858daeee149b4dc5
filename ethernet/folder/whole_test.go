package folder

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
)

// files is the dumps of a network, to be changed by tests before they are written.
type files map[string]any

type object = map[string]any

// ring is four devices whose routes all go the same way round: a credit loop of four steps, which no
// way of telling it may hide.
func ring() files {
	f := files{}
	for i := range 4 {
		table := object{}
		route := func(prefix, protocol, port, ip string) {
			hop := object{"fib": true, "active": true, "interfaceName": port}
			if ip != "" {
				hop["ip"] = ip
			}
			table[prefix] = []any{object{"vrfName": "default", "protocol": protocol, "selected": true, "destSelected": true, "nexthops": []any{hop}}}
		}
		link := func(i int) string { return fmt.Sprintf("10.255.%d", (i+4)%4) }
		route(fmt.Sprintf("10.1.%d.0/24", i), "connected", "hosts", "")
		route(link(i)+".0/31", "connected", "right", "")
		route(link(i-1)+".0/31", "connected", "left", "")
		for j := range 4 {
			if j != i {
				route(fmt.Sprintf("10.1.%d.0/24", j), "static", "right", link(i)+".1")
			}
		}
		f[fmt.Sprintf("s%d.route.json", i)] = table
		f[fmt.Sprintf("s%d.interface.json", i)] = object{
			"hosts": port(fmt.Sprintf("10.1.%d.1/24", i)), "right": port(link(i) + ".0/31"), "left": port(link(i-1) + ".1/31"),
		}
	}
	return f
}

func port(address string) object {
	return object{"administrativeStatus": "up", "operationalStatus": "up", "vrfName": "default", "ipAddresses": []any{object{"address": address}}}
}

func (f files) port(device int, name string) object {
	return f[fmt.Sprintf("s%d.interface.json", device)].(object)[name].(object)
}

func (f files) table(device int) object { return f[fmt.Sprintf("s%d.route.json", device)].(object) }

// eachEntry changes every route of a device that has a next hop.
func (f files) eachEntry(device int, change func(entry, hop object)) {
	for _, prefix := range slices.Sorted(maps.Keys(f.table(device))) {
		entry := f.table(device)[prefix].([]any)[0].(object)
		if hop := entry["nexthops"].([]any)[0].(object); hop["ip"] != nil {
			change(entry, hop)
		}
	}
}

// rename gives routes to a prefix the name of another, at all devices.
func (f files) rename(from, to string) {
	for i := range 4 {
		t := f.table(i)
		if t[from] != nil {
			t[to] = t[from]
			delete(t, from)
		}
	}
}

// sonic gives every device a configuration with lossless priorities 3 and 4.
func (f files) sonic(change func(config object)) {
	for i := range 4 {
		same, dscp := object{}, object{"3": "3", "4": "4"}
		for k := range 8 {
			same[fmt.Sprint(k)] = fmt.Sprint(k)
		}
		ports := object{}
		for _, p := range [...]string{"hosts", "left", "right"} {
			ports[p] = object{"dscp_to_tc_map": "A", "tc_to_pg_map": "A", "tc_to_queue_map": "A", "pfc_to_queue_map": "A", "pfc_enable": "3,4"}
		}
		config := object{
			"DSCP_TO_TC_MAP": object{"A": dscp}, "TC_TO_PRIORITY_GROUP_MAP": object{"A": same}, "TC_TO_QUEUE_MAP": object{"A": same},
			"MAP_PFC_PRIORITY_TO_QUEUE": object{"A": same}, "PORT_QOS_MAP": ports,
		}
		change(config)
		f[fmt.Sprintf("s%d.config_db.json", i)] = config
	}
}

func (f files) write(t *testing.T) string {
	t.Helper()
	text := map[string]string{}
	for name, v := range f {
		s, ok := v.(string)
		if !ok {
			b, err := json.MarshalIndent(v, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			s = string(b)
		}
		text[name] = s
	}
	return write(t, text)
}

func heard(port, device, theirs string) string {
	return fmt.Sprintf(`{"lldp":{"interface":[{%q:{"chassis":{%q:{"id":{"type":"mac","value":"aa"}}},"port":{"id":{"type":"ifname","value":%q}}}}]}}`, port, device, theirs)
}

// However the ring is told, its loop is found, or what hides it is refused.
func TestNothingHidesALoop(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(files)
		want   string // in the error; empty: the loop is found
	}{
		{"as it is", func(files) {}, ""},
		{"routes out of an interface", func(f files) {
			for i := range 4 {
				f.eachEntry(i, func(_, hop object) { delete(hop, "ip") })
			}
		}, ""},
		{"default routes", func(f files) {
			for i := range 4 {
				own := fmt.Sprintf("10.1.%d.0/24", i)
				for j := range 4 {
					if p := fmt.Sprintf("10.1.%d.0/24", j); p != own {
						f.table(i)["0.0.0.0/0"] = f.table(i)[p]
						delete(f.table(i), p)
					}
				}
			}
		}, ""},
		{"a blackhole behind", func(f files) {
			for i := range 4 {
				f.table(i)["0.0.0.0/0"] = []any{object{"selected": true, "nexthops": []any{object{"fib": true, "unreachable": true, "blackhole": true}}}}
			}
		}, ""},
		{"a subnet for each host", func(f files) {
			for i := range 4 {
				f.rename(fmt.Sprintf("10.1.%d.0/24", i), fmt.Sprintf("10.1.%d.0/31", i))
				f.port(i, "hosts")["ipAddresses"] = []any{object{"address": fmt.Sprintf("10.1.%d.0/31", i)}}
			}
		}, ""},
		{"hosts that speak LLDP", func(f files) {
			for i := range 4 {
				f[fmt.Sprintf("s%d.lldp.json", i)] = heard("hosts", "gpu-1", "eth0")
			}
		}, ""},
		{"names with a domain", func(f files) {
			for i := range 4 {
				f[fmt.Sprintf("s%d.lldp.json", i)] = heard("right", fmt.Sprintf("s%d.example.com", (i+1)%4), "left")
			}
		}, ""},
		{"VLANs of a port", func(f files) {
			for i := range 4 {
				interfaces := f[fmt.Sprintf("s%d.interface.json", i)].(object)
				for name, at := range map[string][2]int{"right": {i, 0}, "left": {(i + 3) % 4, 1}} {
					interfaces[name+".1"] = port(fmt.Sprintf("10.255.%d.%d/31", at[0], at[1]))
					interfaces[name+".2"] = port(fmt.Sprintf("10.254.%d.%d/31", at[0], at[1]))
					delete(interfaces, name)
				}
				for p, name := range map[string]string{fmt.Sprintf("10.255.%d.0/31", i): "right.1", fmt.Sprintf("10.255.%d.0/31", (i+3)%4): "left.1"} {
					f.table(i)[p].([]any)[0].(object)["nexthops"].([]any)[0].(object)["interfaceName"] = name
				}
				hops := 0
				f.eachEntry(i, func(_, hop object) {
					hops++
					hop["interfaceName"], hop["ip"] = fmt.Sprintf("right.%d", 1+hops%2), fmt.Sprintf("10.25%d.%d.1", 5-hops%2, i)
				})
			}
		}, ""},
		{"an address that the device has in another VRF too", func(f files) {
			f["s1.interface.json"].(object)["a0"] = port("10.255.0.1/31")
			f.port(1, "a0")["vrfName"] = "red"
		}, ""},
		{"a mark of the byte order", func(f files) {
			b, _ := json.Marshal(f["s1.route.json"])
			f["s1.route.json"] = "\ufeff" + string(b)
		}, ""},
		{"lines of Windows", func(f files) {
			b, _ := json.MarshalIndent(f["s1.route.json"], "", " ")
			f["s1.route.json"] = strings.ReplaceAll(string(b), "\n", "\r\n")
		}, ""},

		{"no route of the dump is selected", func(f files) { f["s1.route.json"] = object{} }, "no routes of s1"},
		{"over a subnet of hosts", func(f files) {
			for i := range 4 {
				f.port(i, "hosts")["ipAddresses"] = []any{object{"address": fmt.Sprintf("10.9.0.%d/16", i+1)}}
				f.eachEntry(i, func(_, hop object) { hop["interfaceName"], hop["ip"] = "hosts", fmt.Sprintf("10.9.0.%d", (i+1)%4+1) })
			}
		}, "s0 sends 10.1.1.0/24 to 10.9.0.2 by hosts: that is s1, hosts, and the cable to it is not known"},
		{"into another VRF", func(f files) {
			f["s0.lldp.json"] = heard("right", "s1", "left")
			f.port(1, "left")["vrfName"] = "red"
		}, "s1, left is in VRF red there"},
		{"into another VRF of a VLAN", func(f files) {
			f["s1.interface.json"].(object)["left.7"] = port("10.255.0.1/31")
			delete(f["s1.interface.json"].(object), "left")
			f["s0.lldp.json"] = heard("right", "s1", "left")
			f.port(1, "left.7")["vrfName"] = "red"
		}, "s1, left.7 is in VRF red there"},
		{"labels", func(f files) { f.eachEntry(0, func(_, hop object) { hop["labels"] = []any{100} }) }, "MPLS labels"},
		{"not in the FIB", func(f files) { f.eachEntry(1, func(_, hop object) { hop["fib"] = false }) }, "none of its next hops is in the FIB"},
		{"not installed", func(f files) { f.eachEntry(1, func(e, _ object) { e["failed"] = true }) }, "could not be installed"},
		{"on its way", func(f files) { f.eachEntry(1, func(e, _ object) { e["queued"] = true }) }, "take the dump again"},
		{"over a cable that is down", func(f files) { f.port(1, "left")["operationalStatus"] = "down" }, "s0 sends 10.1.1.0/24 to 10.255.0.1 by right: its cable is down"},
		{"out of an unknown interface", func(f files) {
			f.eachEntry(1, func(_, hop object) {
				hop["interfaceName"] = "eth9"
				delete(hop, "ip")
			})
		}, "s1 sends 10.1.0.0/24 out by eth9: no cable of it is known"},
		{"to the device itself", func(f files) { f.eachEntry(0, func(_, hop object) { hop["ip"] = "10.255.0.0" }) }, "the address of s1, left there is 10.255.0.1"},
		{"to a device that the cable does not lead to", func(f files) {
			f.port(1, "left")["ipAddresses"] = []any{}
			f["s0.lldp.json"] = heard("right", "s1", "left")
			f.eachEntry(0, func(_, hop object) { hop["ip"] = "10.255.1.1" })
		}, "the cable leads to s1, left, and the address is that of s2, left"},
		{"to an address that nobody has", func(f files) {
			f.port(1, "left")["ipAddresses"] = []any{}
			f["s0.lldp.json"] = heard("right", "s1", "left")
		}, "the cable leads to s1, left, which has no such address"},
		{"two files of a device", func(f files) { f["s0/interface.json"] = object{} }, "interfaces of s0 twice"},
		{"two files of a kind", func(f files) { f["s0.ip-route.json"] = object{} }, "IPv4 routes of s0 twice"},
		{"a switch between", func(f files) { f["s0.lldp.json"] = heard("right", "bridge-1", "e1") }, "two cables at s0, right: LLDP has bridge-1 there, which is not in the folder, and the subnet 10.255.0.0/31 has it go to s1, left"},
		{"LLDP that knows better than subnets", func(f files) { f["s0.lldp.json"] = "\n" + heard("right", "s2", "left") }, "s0.lldp.json:2: two cables at s0, right: LLDP has it go to s2, left, and the subnet 10.255.0.0/31 to s1, left"},
		{"a name that clears the screen", func(f files) { f["s0.lldp.json"] = strings.Replace(heard("rightX", "s1", "e7"), "X", `\u001b[2J`, 1) }, `the name "right\x1b[2J" (of "s0") has characters that cannot be printed`},
		{"a device that clears the screen", func(f files) { f["\x1b[2J.route.json"] = f["s0.route.json"] }, `the name "\x1b[2J" of a device has characters that cannot be printed`},
		{"a neighbor that clears the screen", func(f files) { f["s0.lldp.json"] = strings.Replace(heard("right", "sX", "e7"), "X", `\u001b[2J`, 1) }, "LLDP has s [2J there"},
		{"two sets of settings", func(f files) { f["qos.yaml"], f["weft.yml"] = "lossless: [3]\n", "lossless: [4]\n" }, "and there are other settings in"},
		{"two documents", func(f files) { f["qos.yaml"] = "lossless: [3]\n---\nlossless: [4]\n" }, "qos.yaml:1: more than one YAML document"},
		{"half a priority", func(f files) { f["qos.yaml"] = "lossless:\n  - 3.5\n" }, `qos.yaml:2: "3.5" is not a priority`},
		{"a priority as text", func(f files) { f["qos.yaml"] = "lossless: ['3']\n" }, `qos.yaml:1: "3" is not a priority`},
		{"not YAML", func(f files) { f["qos.yaml"] = "lossless: [3\n" }, "qos.yaml:1: not as expected"},

		{"maps", func(f files) { f.sonic(func(object) {}) }, ""},
		{"ports with blanks between", func(f files) {
			f.sonic(func(c object) {
				ports := c["PORT_QOS_MAP"].(object)
				c["PORT_QOS_MAP"] = object{"hosts, left , right": ports["left"]}
			})
		}, ""},
		{"pauses that lead to another queue", func(f files) {
			f.sonic(func(c object) { c["MAP_PFC_PRIORITY_TO_QUEUE"] = object{"A": object{"3": "7"}} })
		}, ""},
		{"queues by the port that packets come by, of packets that are lossless at one device only", func(f files) {
			device := 0
			f.sonic(func(c object) {
				c["DSCP_TO_TC_MAP"] = object{"A": object{fmt.Sprint(5 + device): "3"}, "B": object{fmt.Sprint(5 + device): "4"}}
				c["PORT_QOS_MAP"].(object)["hosts"].(object)["dscp_to_tc_map"] = "B"
				device++
			})
		}, ""},
		{"a map of the switch behind one of the port", func(f files) {
			f.sonic(func(c object) {
				c["DSCP_TO_TC_MAP"].(object)["B"] = object{"3": "0", "4": "0", "5": "3"}
				c["PORT_QOS_MAP"].(object)["global"] = object{"dscp_to_tc_map": "B", "pfc_enable": "3,4"}
			})
		}, ""},
		{"tags", func(f files) {
			f.sonic(func(c object) {
				for _, row := range c["PORT_QOS_MAP"].(object) {
					delete(row.(object), "dscp_to_tc_map")
					row.(object)["dot1p_to_tc_map"] = "A"
				}
			})
		}, "ports of s0, s1, s2, s3 map packets by dot1p_to_tc_map"},
		{"a port that has no row", func(f files) { f.sonic(func(c object) { delete(c["PORT_QOS_MAP"].(object), "left") }) }, "PORT_QOS_MAP of s0 has no row for left"},
		{"members of a port channel", func(f files) {
			f.sonic(func(c object) {
				ports := c["PORT_QOS_MAP"].(object)
				other := maps.Clone(ports["right"].(object))
				other["pfc_enable"] = ""
				ports["Ethernet0"], ports["Ethernet4"] = other, ports["right"]
				delete(ports, "right")
				c["PORTCHANNEL_MEMBER"] = object{"right|Ethernet0": object{}, "right|Ethernet4": object{}}
			})
		}, "members of one port channel have different maps: s0, right"},
	} {
		f := ring()
		c.change(f)
		dir := f.write(t)
		n, err := Read(t.Context(), dir, Options{})
		switch {
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", c.name, err)
		case err == nil && c.want != "":
			t.Errorf("%s: read", c.name)
		case err == nil:
			if v := verify(t, n, ethernet.HostScope); v.Free() || len(v.Cycle) != 4 || len(n.Gaps) > 0 {
				t.Errorf("%s: %+v, gaps %q", c.name, v, n.Gaps)
			}
		}
	}
}

// With Partial a device whose maps are missing is taken to treat packets as its neighbors do, so that the
// loop through it is found.
func TestMissingMaps(t *testing.T) {
	f := ring()
	f.sonic(func(object) {})
	delete(f, "s2.config_db.json")
	n, err := Read(t.Context(), f.write(t), Options{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	if v := verify(t, n, ethernet.HostScope); v.Free() || len(v.Cycle) != 4 || len(n.Gaps) != 1 {
		t.Fatalf("%+v, gaps %q", v, n.Gaps)
	}
}

// With Partial a file that cannot be read is told, and its device is as without it: packets are not said to arrive by routes
// that nobody knows.
func TestBrokenFile(t *testing.T) {
	f := ring()
	b, err := json.MarshalIndent(f["s1.route.json"], "", " ")
	if err != nil {
		t.Fatal(err)
	}
	f["s1.route.json"] = string(b[:len(b)/2])
	n, err := Read(t.Context(), f.write(t), Options{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	if v := verify(t, n, ethernet.HostScope); v.Complete() || len(n.Gaps) != 2 || !strings.Contains(n.Gaps[0], "s1.route.json:") || !strings.Contains(n.Gaps[1], "no routes of s1") {
		t.Fatalf("%+v, gaps %q", v, n.Gaps)
	}
}

// What many routes have in common is told once.
func TestGapsAreFew(t *testing.T) {
	f := ring()
	f.eachEntry(1, func(_, hop object) { hop["labels"] = []any{100} })
	n, err := Read(t.Context(), f.write(t), Options{Partial: true})
	if err != nil || len(n.Gaps) != 1 || !strings.HasSuffix(n.Gaps[0], ", and 2 more routes like it") {
		t.Fatalf("%v, gaps %q", err, n.Gaps)
	}
}

// A folder of a device without a file that is known is told, and a subnet of two addresses that
// nobody has a route to is no subnet of hosts.
func TestOddFolders(t *testing.T) {
	f := ring()
	f["s9/routes.txt"] = "x"
	for i := range 4 {
		f[fmt.Sprintf("s%d.interface.json", i)].(object)["wan"] = port(fmt.Sprintf("172.16.%d.0/31", i))
		f.table(i)[fmt.Sprintf("172.16.%d.0/31", i)] = []any{object{"selected": true, "protocol": "connected", "nexthops": []any{object{"fib": true, "interfaceName": "wan"}}}}
	}
	dir := f.write(t)
	n, err := Read(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [...]string{"s9/ (the folder has no file of a device)", "no hosts are behind 4 subnets of two addresses"} {
		if !slices.ContainsFunc(n.Notes, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("notes %q lack %q", n.Notes, want)
		}
	}
	if n.HostPrefixes() != 4 {
		t.Errorf("%d prefixes with hosts", n.HostPrefixes())
	}
}
