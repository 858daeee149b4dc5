package folder

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
)

func verify(t *testing.T, n *ethernet.Network, scope ethernet.Scope) *judge.Verdict {
	t.Helper()
	v, err := judge.Verify(context.Background(), n, judge.Options{Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// steps is a loop as device, interface and prefix.
func steps(n *ethernet.Network, v *judge.Verdict) string {
	var list []string
	for i, s := range v.Cycle {
		next := v.Cycle[(i+1)%len(v.Cycle)].Link
		list = append(list, fmt.Sprintf("%s priority %d: %s to %s", n.End(s.Link), s.Lane, n.Classes[s.Class].Prefix(), n.Names[n.Links[next].To]))
	}
	return strings.Join(list, "\n")
}

// What FRR says of a Clos that is whole, of one with two links down, and of the same with
// both spines in one AS.
func TestClosOfFRR(t *testing.T) {
	for _, c := range []struct {
		name                string
		cables, unreachable int
		loop                string
	}{
		{"clos-healthy", 8, 0, ""},
		{"clos-two-links-down", 6, 0, `lf3, lf3-sp1 priority 3: 10.1.4.0/24 to lf4
sp1, sp1-lf4 priority 3: 10.1.1.0/24 to sp2
lf4, lf4-sp2 priority 3: 10.1.3.0/24 to lf3
sp2, sp2-lf3 priority 3: 10.1.2.0/24 to sp1`},
		{"clos-two-links-down-same-as", 6, 2, ""},
	} {
		n, err := Read(t.Context(), "../../examples/ethernet/"+c.name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		v := verify(t, n, ethernet.HostScope)
		if n.Cables() != c.cables || v.Free() != (c.loop == "") || steps(n, v) != c.loop || v.Pairs != 12 || v.Unreachable != int64(c.unreachable) {
			t.Errorf("%s: %d cables, %d of %d pairs cut off, a loop:\n%s", c.name, n.Cables(), v.Unreachable, v.Pairs, steps(n, v))
		}
	}
}

// pair is two devices, a and b, with a cable and hosts behind both.
func pair() map[string]string {
	return map[string]string{
		"a.interface.json": interfaces("eth0", "10.0.0.0/31"),
		"b.interface.json": interfaces("eth0", "10.0.0.1/31"),
		"a.route.json":     routes("10.1.0.0/24 vlan1", "10.2.0.0/24 eth0 10.0.0.1", "10.0.0.0/31 eth0"),
		"b.route.json":     routes("10.2.0.0/24 vlan1", "10.1.0.0/24 eth0 10.0.0.0", "10.0.0.0/31 eth0"),
	}
}

func interfaces(pairs ...string) string {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, fmt.Sprintf("%q:{\"administrativeStatus\":\"up\",\"operationalStatus\":\"up\",\"vrfName\":\"default\",\n\"ipAddresses\":[{\"address\":%q}]}", pairs[i], pairs[i+1]))
	}
	return "{\n" + strings.Join(list, ",\n") + "\n}"
}

// routes is what FRR says of routes: prefix, interface and, if there is one, next hop.
func routes(list ...string) string {
	var text []string
	for _, r := range list {
		f := strings.Fields(r)
		protocol := "connected"
		hop := fmt.Sprintf("{\"fib\":true,\"active\":true,\"interfaceName\":%q}", f[1])
		if len(f) > 2 {
			protocol = "bgp"
			hop = fmt.Sprintf("{\"fib\":true,\"active\":true,\"interfaceName\":%q,\"ip\":%q}", f[1], f[2])
		}
		text = append(text, fmt.Sprintf("%q:[\n{\"vrfName\":\"default\",\"protocol\":%q,\"selected\":true,\"destSelected\":true,\"nexthops\":[%s]}]", f[0], protocol, hop))
	}
	return "{\n" + strings.Join(text, ",\n") + "\n}"
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const config = `{"DEVICE_NEIGHBOR":{
"eth0":{"name":"b","port":"%s"}},
"PORT_QOS_MAP":{"eth0":{"dscp_to_tc_map":"AZURE","pfc_enable":"%s"}},
"DSCP_TO_TC_MAP":{"AZURE":{
"3":"3",
"%s":"4"}},
"ACL_TABLE":{}}`

const qos = "lossless: [3, 4]\n"

// Mistakes are refused by file and line, or by device; with Partial what can be is noted.
func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  map[string]string // files in place of those of pair; empty: left out
		want    string            // in the error
		partial string            // in the notes with Partial; empty: refused still
	}{
		{"nothing", map[string]string{"a.interface.json": "", "b.interface.json": "", "a.route.json": "", "b.route.json": ""}, "has no file such as", ""},
		{"no routes", map[string]string{"b.route.json": ""}, "no routes of b", "no routes of b"},
		{"no cables", map[string]string{"a.interface.json": "", "b.interface.json": ""}, "no cable of a, b is known", "no cable of a, b"},
		{"not JSON", map[string]string{"a.route.json": "{\n\"10.0.0.0/8\": [,]}"}, "a.route.json:2: not JSON", "a.route.json:2: not JSON"},
		{"cut", map[string]string{"a.route.json": "{\n\"10.0.0.0/8\": [\n"}, "a.route.json:3: the JSON ends in the middle", "a.route.json:3: the JSON ends in the middle"},
		{"bad prefix", map[string]string{"a.route.json": routes("10.1.0.0/24 vlan1", "10.1.0.0 vlan1")}, `a.route.json:4: "10.1.0.0" is not a prefix`, `a.route.json:4: "10.1.0.0" is not a prefix`},
		{"bits", map[string]string{"a.route.json": routes("10.1.0.1/24 vlan1")}, "10.1.0.1/24 has bits behind its length: 10.1.0.0/24", "10.1.0.1/24 has bits behind its length: 10.1.0.0/24"},
		{"twice", map[string]string{"a.route.json": routes("10.1.0.0/24 vlan1", "10.1.0.0/24 vlan1")}, `a.route.json:4: "10.1.0.0/24" a second time: it is in line 2 too`, `a.route.json:4: "10.1.0.0/24" a second time: it is in line 2 too`},
		{"nowhere", map[string]string{"a.route.json": routes("10.2.0.0/24 eth0 10.0.0.1", "10.9.0.0/24 eth7 10.7.0.1")}, "a.route.json:5: a sends 10.9.0.0/24 to 10.7.0.1 by eth7: no cable of it is known", "no cable of it is known"},
		{"wrong hop", map[string]string{"a.route.json": routes("10.2.0.0/24 eth0 10.0.0.7")}, "a.route.json:3: a sends 10.2.0.0/24 to 10.0.0.7 by eth0: the address of b, eth0 there is 10.0.0.1", "the address of b"},
		{"three ends", map[string]string{"c.interface.json": interfaces("eth0", "10.0.0.1/31"), "c.route.json": routes("10.3.0.0/24 vlan1")}, "3 interfaces have addresses in 10.0.0.0/31: a, eth0, b, eth0, c, eth0", "3 interfaces"},
		{"two cables", map[string]string{"a.lldp.json": `{"lldp":{"interface":[` + "\n" + `{"eth0":{"chassis":{"b":{}},"port":{"id":{"value":"eth5"}}}}]}}`}, "two cables at a, eth0: LLDP has it go to b, eth5, and the subnet 10.0.0.0/31 to b, eth0", "two cables"},
		{"two neighbors", map[string]string{"qos.yaml": qos, "a.config_db.json": fmt.Sprintf(config, "eth9", "3,4", "4"), "a.lldp.json": `{"lldp":{"interface":{"eth0":{"chassis":{"b":{}},"port":{"id":{"value":"eth0"}}}}}}`}, "a.config_db.json:2: two cables at a, eth0: LLDP has it go to b, eth0, and DEVICE_NEIGHBOR to b, eth9", "two cables"},
		{"same device", map[string]string{"a.lldp.json": `{"lldp":{"interface":[` + "\n" + `{"eth7":{"chassis":{"a":{}},"port":{"id":{"value":"eth8"}}}}]}}`}, "a.lldp.json:2: a cable from a, eth7 to eth8, on the same device, by LLDP", "on the same device"},
		{"same subnet", map[string]string{"a.interface.json": interfaces("eth0", "10.0.0.0/31", "vlan1", "10.1.0.1/24", "eth7", "10.7.0.0/31", "eth8", "10.7.0.1/31")}, "a cable from a, eth7 to eth8, on the same device, by the subnet 10.7.0.0/31", "on the same device"},
		{"DSCP", map[string]string{"qos.yaml": qos, "a.config_db.json": fmt.Sprintf(config, "eth0", "3,4", "64")}, `a.config_db.json:6: DSCP_TO_TC_MAP|AZURE: "64" is out of range, which is 0 to 63`, `a.config_db.json:6: DSCP_TO_TC_MAP|AZURE: "64" is out of range, which is 0 to 63`},
		{"PFC", map[string]string{"qos.yaml": qos, "a.config_db.json": fmt.Sprintf(config, "eth0", "3,8", "4")}, `pfc_enable "3,8": priorities are 0 to 7`, `pfc_enable "3,8": priorities are 0 to 7`},
		{"half mapped", map[string]string{"a.config_db.json": fmt.Sprintf(config, "eth0", "3,4", "4")}, "no PORT_QOS_MAP of b", "no PORT_QOS_MAP of b"},
		{"settings", map[string]string{"qos.yaml": "lossles: [3]\n"}, "qos.yaml:1: not as expected: field lossles not found", ""},
		{"priority 9", map[string]string{"qos.yaml": "lossless: [9]\n"}, "lossless priority 9; priorities are 0 to 7", ""},
	} {
		files := pair()
		for name, text := range c.change {
			files[name] = text
			if text == "" {
				delete(files, name)
			}
		}
		dir := write(t, files)
		if _, err := Read(t.Context(), dir, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		n, err := Read(t.Context(), dir, Options{Partial: true})
		switch {
		case c.partial == "" && err == nil:
			t.Errorf("%s: read with --partial", c.name)
		case c.partial != "" && err != nil:
			t.Errorf("%s, with --partial: %v", c.name, err)
		case c.partial != "" && !slices.ContainsFunc(n.Gaps, func(s string) bool { return strings.Contains(s, c.partial) }):
			t.Errorf("%s: gaps %q", c.name, n.Gaps)
		}
	}
}

// Ports for management are in the default VRF of Containerlab's, SONiC's and EOS' devices. Hosts are not behind them, a default
// route by them brings packets nowhere, and LLDP hears all devices there.
func TestManagement(t *testing.T) {
	for _, c := range []struct {
		name, port string
		change     map[string]string
	}{
		{"Containerlab", "eth0", nil},
		{"EOS", "Management0", nil},
		{"SONiC", "eth0", map[string]string{
			"a.config_db.json": `{"MGMT_INTERFACE":{"eth0|172.20.0.2/24":{"gwaddr":"172.20.0.1"}}}`,
			"b.config_db.json": `{"MGMT_INTERFACE":{"eth0|172.21.0.3/24":{"gwaddr":"172.21.0.1"}}}`,
			"b.interface.json": interfaces("eth1", "10.0.0.1/31", "eth0", "172.21.0.3/24"),
			"a.lldp.json":      `{"lldp":{"interface":[{"eth0":{"chassis":{"b":{}},"port":{"id":{"value":"eth0"}}}},{"eth0":{"chassis":{"c":{}},"port":{"id":{"value":"eth0"}}}}]}}`,
		}},
	} {
		files := map[string]string{
			"a.interface.json": interfaces("eth1", "10.0.0.0/31", c.port, "172.20.0.2/24"),
			"b.interface.json": interfaces("eth1", "10.0.0.1/31", c.port, "172.20.0.3/24"),
			"a.route.json":     routes("10.1.0.0/24 vlan1", "10.0.0.0/31 eth1", "172.20.0.0/24 "+c.port, "0.0.0.0/0 "+c.port+" 172.20.0.1"),
			"b.route.json":     routes("10.2.0.0/24 vlan1", "10.1.0.0/24 eth1 10.0.0.0", "10.0.0.0/31 eth1", "172.20.0.0/24 "+c.port, "0.0.0.0/0 "+c.port+" 172.20.0.1"),
		}
		maps.Copy(files, c.change)
		n, err := Read(t.Context(), write(t, files), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		v := verify(t, n, ethernet.HostScope)
		if n.HostPrefixes() != 2 || v.Pairs != 2 || v.Unreachable != 1 {
			t.Errorf("%s: %d prefixes with hosts, %d of %d pairs cut off, want 2, 1 of 2", c.name, n.HostPrefixes(), v.Unreachable, v.Pairs)
		}
	}
}

// eth0 is a port like others where routes lead by it to devices of the folder, and where no other device is in its subnet.
func TestNotForManagement(t *testing.T) {
	for name, c := range map[string]struct {
		subnet string // of eth0 of a
		hosts  int
	}{
		"a subnet of its own": {"10.3.0.0/24", 4},
		"a way to a device":   {"10.4.0.0/24", 3},
	} {
		files := map[string]string{
			"a.interface.json": interfaces("eth1", "10.0.0.0/31", "eth0", strings.Replace(c.subnet, "0/24", "2/24", 1)),
			"b.interface.json": interfaces("eth1", "10.0.0.1/31", "eth0", "10.4.0.3/24"),
			"a.route.json":     routes("10.1.0.0/24 vlan1", "10.0.0.0/31 eth1", c.subnet+" eth0"),
			"b.route.json":     routes("10.2.0.0/24 vlan1", "10.1.0.0/24 eth0 10.4.0.2", "10.0.0.0/31 eth1", "10.4.0.0/24 eth0"),
		}
		n, err := Read(t.Context(), write(t, files), Options{Partial: true})
		if err != nil {
			t.Fatal(err)
		}
		if n.HostPrefixes() != c.hosts {
			t.Errorf("%s: %d prefixes with hosts, want %d", name, n.HostPrefixes(), c.hosts)
		}
	}
}

// Port channels of Linux are one link: their members are named by the kernel; where only FRR is asked, LLDP of members makes no
// cables beside that of the subnet. A port channel is up without one of its members.
func TestBonds(t *testing.T) {
	heard := func(device string) string {
		return `{"lldp":{"interface":[{"swp1":{"chassis":{"` + device + `":{}},"port":{"id":{"value":"swp1"}}}},{"swp2":{"chassis":{"` + device + `":{}},"port":{"id":{"value":"swp2"}}}}]}}`
	}
	kernel := func(address string) string {
		return `[{"ifname":"bond1","operstate":"UP","addr_info":[{"local":"` + address + `","prefixlen":31}]},` +
			`{"ifname":"swp1","operstate":"UP","master":"bond1","linkinfo":{"info_slave_kind":"bond"}},{"ifname":"swp2","operstate":"DOWN","master":"bond1","linkinfo":{"info_slave_kind":"bond"}}]`
	}
	asked := func(address string) string {
		return `{"bond1":{"operationalStatus":"up","ipAddresses":[{"address":"` + address + `/31"}]},` +
			`"swp1":{"operationalStatus":"up","interfaceSlaveType":"Bond"},"swp2":{"operationalStatus":"down","interfaceSlaveType":"Bond"}}`
	}
	const channel = `{"PORTCHANNEL_MEMBER":{"bond1|swp1":{},"bond1|swp2":{}}}`
	for name, interfaces := range map[string]func(string) string{"kernel": kernel, "FRR": asked, "SONiC": asked} {
		configs := "{}"
		if name == "SONiC" {
			configs = channel
		}
		n, err := Read(t.Context(), write(t, map[string]string{
			"qos.yaml": qos, "a.config_db.json": configs, "b.config_db.json": configs,
			"a.interface.json": interfaces("10.0.0.0"), "b.interface.json": interfaces("10.0.0.1"), "a.lldp.json": heard("b"), "b.lldp.json": heard("a"),
			"a.route.json": routes("10.1.0.0/24 vlan1", "10.2.0.0/24 bond1 10.0.0.1", "10.0.0.0/31 bond1"),
			"b.route.json": routes("10.2.0.0/24 vlan1", "10.1.0.0/24 bond1 10.0.0.0", "10.0.0.0/31 bond1"),
		}), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		left := slices.ContainsFunc(n.Notes, func(s string) bool { return strings.Contains(s, "ip -j -d address show") })
		v := verify(t, n, ethernet.HostScope)
		if n.Cables() != 1 || v.Unreachable != 0 || left != (name == "FRR") {
			t.Errorf("%s: %d cables, %d pairs cut off, notes %q", name, n.Cables(), v.Unreachable, n.Notes)
		}
	}
}

// Without a subnet the cable of a port channel that nobody names is not known, and what would tell it is said.
func TestBondsWithoutSubnet(t *testing.T) {
	files := map[string]string{"a.route.json": routes("10.1.0.0/24 vlan1"), "b.route.json": routes("10.2.0.0/24 vlan1")}
	for device, other := range map[string]string{"a": "b", "b": "a"} {
		files[device+".interface.json"] = `{"swp1":{"operationalStatus":"up","interfaceSlaveType":"Bond"}}`
		files[device+".lldp.json"] = `{"lldp":{"interface":[{"swp1":{"chassis":{"` + other + `":{}},"port":{"id":{"value":"swp1"}}}}]}}`
	}
	if _, err := Read(t.Context(), write(t, files), Options{}); err == nil || !strings.Contains(err.Error(), "no cable of a, b is known: give NAME.interface.json from ip -j -d address show") {
		t.Error(err)
	}
}

// What configurations have beside what is read is said once where they have the same.
func TestIgnoredTables(t *testing.T) {
	files := pair()
	for name, text := range files {
		files[name] = strings.ReplaceAll(text, "eth0", "Ethernet0")
	}
	files["qos.yaml"] = qos
	files["a.config_db.json"] = `{"WARM_RESTART":{},"ACL_TABLE":{}}`
	files["b.config_db.json"] = `{"ACL_TABLE":{},"WARM_RESTART":{}}`
	n, err := Read(t.Context(), write(t, files), Options{})
	if err != nil {
		t.Fatal(err)
	}
	notes := slices.DeleteFunc(n.Notes, func(s string) bool { return !strings.Contains(s, "ACL_TABLE") })
	if len(notes) != 1 || !strings.Contains(notes[0], "a.config_db.json, and of 1 more configuration like it that were not read: ACL_TABLE, WARM_RESTART") {
		t.Errorf("notes %q", notes)
	}
}

// What can be told in several ways is read the same.
func TestDialects(t *testing.T) {
	lldp := func(port string) string {
		return `{"lldp":{"interface":[{"eth0":{"via":"LLDP","chassis":{"b":{"id":{"type":"mac","value":"aa"}}},"port":{"id":{"type":"ifname","value":"` + port + `"}}}}]}}`
	}
	inFolder := map[string]string{}
	for name, text := range pair() {
		inFolder[strings.Replace(name, ".", "/", 1)] = text
	}
	vrf := pair()
	vrf["a.route.json"] = `{"default":` + vrf["a.route.json"] + `,"mgmt":{"0.0.0.0/0":[{"vrfName":"mgmt","selected":true,"nexthops":[{"fib":true,"interfaceName":"mgmt0","ip":"10.8.0.1"}]}]}}`
	byLLDP := map[string]string{"a.route.json": pair()["a.route.json"], "b.route.json": pair()["b.route.json"], "a.lldp.json": lldp("eth0")}
	json0 := map[string]string{"a.route.json": pair()["a.route.json"], "b.route.json": pair()["b.route.json"],
		"a.lldp.json": `{"lldp":[{"interface":[{"name":"eth0","chassis":[{"name":[{"value":"b"}]}],"port":[{"id":[{"type":"ifname","value":"eth0"}]}]}]}]}`}
	recursive := pair()
	recursive["a.route.json"] = strings.Replace(recursive["a.route.json"], `[{"fib":true,"active":true,"interfaceName":"eth0","ip":"10.0.0.1"}]`,
		`[{"recursive":true,"active":true,"ip":"10.9.9.9"},{"fib":true,"resolver":true,"interfaceName":"eth0","ip":"10.0.0.1"}]`, 1)
	for name, files := range map[string]map[string]string{"files": pair(), "folders": inFolder, "VRFs": vrf, "LLDP": byLLDP, "json0": json0, "recursive": recursive} {
		n, err := Read(t.Context(), write(t, files), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		v := verify(t, n, ethernet.HostScope)
		if n.Cables() != 1 || v.Pairs != 2 || !v.Free() || !v.Complete() {
			t.Errorf("%s: %d cables, %+v", name, n.Cables(), v)
		}
	}
}

// A blackhole for a part of a prefix loses the part; a part that is routed another way is
// followed by its own route.
func TestLongestMatch(t *testing.T) {
	files := pair()
	files["a.route.json"] = routes("10.1.0.0/24 vlan1", "10.2.0.0/16 eth0 10.0.0.1", "10.0.0.0/31 eth0")
	files["a.route.json"] = strings.Replace(files["a.route.json"], "{\n", `{"10.2.0.128/25":[{"selected":true,"nexthops":[{"fib":true,"blackhole":true}]}],`+"\n", 1)
	n, err := Read(t.Context(), write(t, files), Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := verify(t, n, ethernet.HostScope)
	if v.Unreachable == 0 || n.Names[v.Lost[0].Where] != "a" || n.Classes[v.Lost[0].Class].Prefix().String() != "10.2.0.128/25" {
		t.Fatalf("%+v", v)
	}
}

// Weights of next hops are kept where they differ, and only there.
func TestWeights(t *testing.T) {
	files := map[string]string{
		"a.interface.json": interfaces("eth0", "10.0.0.0/31", "eth1", "10.0.0.2/31"), "b.interface.json": interfaces("eth0", "10.0.0.1/31", "eth1", "10.0.0.3/31"),
		"b.route.json": routes("10.2.0.0/24 vlan1", "10.3.0.0/24 vlan2", "10.0.0.0/31 eth0", "10.0.0.2/31 eth1"),
		"a.route.json": `{"10.2.0.0/24":[{"selected":true,"protocol":"bgp","nexthops":[{"fib":true,"interfaceName":"eth0","ip":"10.0.0.1","weight":1},{"fib":true,"interfaceName":"eth1","ip":"10.0.0.3","weight":3}]}],
"10.3.0.0/24":[{"selected":true,"protocol":"bgp","nexthops":[{"fib":true,"interfaceName":"eth0","ip":"10.0.0.1","weight":5},{"fib":true,"interfaceName":"eth1","ip":"10.0.0.3","weight":5}]}]}`,
	}
	n, err := Read(t.Context(), write(t, files), Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := n.Device("a")
	want := map[string]map[ethernet.LinkID]uint16{"10.2.0.0/24": {n.LinkAt(a, "eth0"): 1, n.LinkAt(a, "eth1"): 3}, "10.3.0.0/24": nil}
	for i := range n.Classes {
		if c := &n.Classes[i]; c.Hosts && !maps.Equal(c.Weights, want[c.Prefix().String()]) {
			t.Errorf("%s: %v", c.Prefix(), c.Weights)
		}
	}
}

// Traffic classes and priority groups go to 15, and a lane is called by the priority that pauses it.
func TestGroupsBeyondSeven(t *testing.T) {
	files := pair()
	for _, d := range []string{"a", "b"} {
		files[d+".config_db.json"] = `{"PORT_QOS_MAP|eth0":{"dscp_to_tc_map":"M","tc_to_queue_map":"M","tc_to_pg_map":"M","pfc_to_pg_map":"M","pfc_to_queue_map":"M","pfc_enable":"3"},
"DSCP_TO_TC_MAP|M":{"3":"9"},"TC_TO_QUEUE_MAP|M":{"9":"12"},"TC_TO_PRIORITY_GROUP_MAP|M":{"9":"15"},"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|M":{"3":"15"},"MAP_PFC_PRIORITY_TO_QUEUE|M":{"3":"12"}}`
	}
	n, err := Read(t.Context(), write(t, files), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Priorities.Lossless(); !slices.Equal(got, []int{3}) || len(n.Priorities.Marks) != 2 {
		t.Fatalf("lossless %v, marks %v", got, n.Priorities.Marks)
	}
	if v := verify(t, n, ethernet.HostScope); len(v.Lanes) != 1 || !v.Free() {
		t.Fatalf("%+v", v)
	}
}

// SONiC's dual ToR has a loop until what is tunnelled gets queues of its own.
func TestDualToR(t *testing.T) {
	for name, want := range map[string]string{"dual-tor": `leaf-1, PortChannel101 priority 3: 192.168.0.2/32 to leaf-1
tor-a, PortChannel101 priority 3: 10.1.0.33/32 to tor-b
leaf-1, PortChannel102 priority 3: 192.168.0.2/32 to leaf-1
tor-b, PortChannel101 priority 3: 10.1.0.32/32 to tor-a`, "dual-tor-remapped": ""} {
		n, err := Read(t.Context(), "../../examples/ethernet/"+name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		v := verify(t, n, ethernet.HostScope)
		if got := steps(n, v); got != want || v.Free() != (want == "") || !v.Complete() {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// What maps do to the lanes of a link: priority groups that share a queue which is paused are
// one, and lossy packets in such a queue wait with them.
func TestMaps(t *testing.T) {
	files := pair()
	config := func(queues, groups, paused string) string {
		return `{"PORT_QOS_MAP":{"eth0":{"dscp_to_tc_map":"M","tc_to_queue_map":"M","tc_to_pg_map":"M","pfc_to_queue_map":"M","pfc_enable":"3,4"}},
"MAP_PFC_PRIORITY_TO_QUEUE":{"M":{` + paused + `}},
"DSCP_TO_TC_MAP":{"M":{"3":"3","4":"4","5":"5"}},"TC_TO_QUEUE_MAP":{"M":{` + queues + `}},"TC_TO_PRIORITY_GROUP_MAP":{"M":{` + groups + `}}}`
	}
	for _, c := range []struct {
		queues, groups string
		lanes          [4]int8 // of DSCP 0, 3, 4 and 5
		paused         string  // queues by the priority that pauses them
	}{
		{"", `"5":"0"`, [4]int8{-1, 3, 4, -1}, ""},
		{`"4":"3"`, `"5":"0"`, [4]int8{-1, 3, 3, -1}, ""},         // one queue, paused by both
		{`"5":"3"`, `"5":"0"`, [4]int8{-1, 3, 4, 3}, ""},          // lossy, in a queue that is paused
		{"", `"5":"0","4":"3"`, [4]int8{-1, 3, 3, -1}, ""},        // one group
		{"", `"5":"3"`, [4]int8{-1, 3, 4, 3}, ""},                 // in a queue that nothing pauses
		{`"3":"1"`, `"5":"0"`, [4]int8{-1, 3, 4, -1}, ""},         // the same
		{`"3":"4","4":"3"`, `"5":"0"`, [4]int8{-1, 3, 3, -1}, ""}, // crosswise: either pause stops the other
		{"", `"5":"0"`, [4]int8{-1, 3, 3, -1}, `"3":"4","4":"3"`}, // each pause stops the other's queue
		{"", `"5":"0"`, [4]int8{-1, 3, 4, 4}, `"4":"5"`},          // lossy packets in a queue that is paused
	} {
		for _, d := range []string{"a", "b"} {
			files[d+".config_db.json"] = config(c.queues, c.groups, c.paused)
		}
		n, err := Read(t.Context(), write(t, files), Options{})
		if err != nil {
			t.Fatal(err)
		}
		mark := func(dscp int) uint8 {
			for m, name := range n.Priorities.Marks {
				for part := range strings.SplitSeq(strings.TrimPrefix(name, "DSCP "), ", ") {
					from, to := 0, 0
					if k, _ := fmt.Sscanf(part, "%d-%d", &from, &to); k == 1 {
						to = from
					}
					if from <= dscp && dscp <= to {
						return uint8(m)
					}
				}
			}
			t.Fatalf("no mark has DSCP %d: %q", dscp, n.Priorities.Marks)
			return 0
		}
		for i, dscp := range []int{0, 3, 4, 5} {
			if lane := n.Priorities.Of(mark(dscp), 0); lane != c.lanes[i] {
				t.Errorf("queues %s, groups %s: DSCP %d is in lane %d, not %d", c.queues, c.groups, dscp, lane, c.lanes[i])
			}
		}
	}
}

// Whatever is in a folder, reading it ends with a network or an error, never in a panic; and a
// network that was read without Partial can be judged.
func TestSpoiled(t *testing.T) {
	originals := map[string]string{}
	for _, dir := range []string{"clos-two-links-down", "dual-tor-remapped"} {
		err := filepath.WalkDir("../../examples/ethernet/"+dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			originals[strings.TrimPrefix(path, "../../examples/ethernet/")] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(11, 11))
	junk := []string{"", "}", "\"", "null", "[]", "{}", "-1", "64", "true", "0.0.0.0/0", "lf1-sp1", "10.255.1.0", "fe80::1", "Ethernet0", "\x00", "tor-a"}
	read := 0
	for i := range 120 {
		files := map[string]string{}
		dir := []string{"clos-two-links-down/", "dual-tor-remapped/"}[i%2]
		for name, text := range originals {
			if !strings.HasPrefix(name, dir) {
				continue
			}
			if r.IntN(6) == 0 {
				at := r.IntN(len(text))
				text = text[:at] + junk[r.IntN(len(junk))] + text[min(len(text), at+r.IntN(20)):]
			}
			files[strings.TrimPrefix(name, dir)] = text
		}
		n, err := Read(t.Context(), write(t, files), Options{Partial: i%3 == 0})
		if err == nil {
			read++
			verify(t, n, ethernet.Scope(i%2))
		}
	}
	if read < 5 {
		t.Fatalf("%d of 120 were read", read)
	}
}

// IPv6 beside IPv4, over link-local next hops, and prefixes of each family for themselves.
func TestBothFamilies(t *testing.T) {
	files := pair()
	files["a.route6.json"] = routes("2001:db8:1::/64 vlan1", "2001:db8:2::/64 eth0 fe80::2", "fe80::/64 eth0")
	files["b.route6.json"] = routes("2001:db8:2::/64 vlan1", "2001:db8:1::/64 eth0 fe80::1", "fe80::/64 eth0")
	n, err := Read(t.Context(), write(t, files), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := verify(t, n, ethernet.HostScope); v.Pairs != 4 || !v.Free() || !v.Complete() {
		t.Fatalf("%+v", v)
	}
}
