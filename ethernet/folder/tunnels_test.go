package folder

import (
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
)

// example is the files of a folder of examples.
func example(t *testing.T, name string) map[string]string {
	t.Helper()
	list := map[string]string{}
	paths, err := filepath.Glob("../../examples/ethernet/" + name + "/*/*")
	if err != nil || len(paths) == 0 {
		t.Fatal("no files", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list[filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))] = string(text)
	}
	return list
}

// What is wrapped gets to a lossless queue and group of its own only where all maps of the tunnel see
// to it; and whatever leads packets into tunnels counts.
func TestTunnelMaps(t *testing.T) {
	routed := func(port string) string {
		return `{"fc02::/64":[{"protocol":"bgp","selected":true,"nexthops":[` + port + `]}],"fc09::/64":[{"protocol":"bgp","selected":true,"nexthops":[{"fib":true,"interfaceName":"PortChannel103","ip":"fe80::9"}]}]}`
	}
	hop := func(port string) string { return `{"fib":true,"interfaceName":"` + port + `","ip":"fe80::9"}` }
	six := func(own, other string, ports ...string) string {
		var hops []string
		for _, p := range ports {
			hops = append(hops, hop(p))
		}
		return `{"` + own + `":[{"protocol":"connected","selected":true,"nexthops":[{"fib":true,"interfaceName":"Vlan1000"}]}],
"` + other + `":[{"protocol":"bgp","selected":true,"nexthops":[` + strings.Join(hops, ",") + `]}]}`
	}
	for _, c := range []struct {
		name, example string
		files         map[string]string // more of them
		from, to      string            // a change in all configurations
		loop          bool
		want          string // in the error
	}{
		{name: "as it should be", example: "dual-tor-remapped"},
		{name: "wrapped packets keep their queue", example: "dual-tor-remapped", from: `, "encap_tc_to_queue_map": "AZURE_TUNNEL"`, loop: true},
		{name: "wrapped packets keep their DSCP", example: "dual-tor-remapped", from: `"encap_tc_to_dscp_map": "AZURE_TUNNEL", `, loop: true},
		{name: "packets to be unwrapped share a group with those that came plain", example: "dual-tor-remapped", from: `"decap_tc_to_pg_map": "AZURE_TUNNEL", `, loop: true},
		{name: "the maps for unwrapping do as those of the port", example: "dual-tor-remapped", from: `"decap_dscp_to_tc_map": "AZURE_TUNNEL", "decap_tc_to_pg_map": "AZURE_TUNNEL", `},
		{name: "packets to be unwrapped have a group of others", example: "dual-tor-remapped", from: `{"0": "0", "1": "0", "2": "0", "3": "2"`, to: `{"0": "0", "1": "0", "2": "0", "3": "3"`, loop: true},
		{name: "a map that is not there", example: "dual-tor-remapped", from: `"decap_tc_to_pg_map": "AZURE_TUNNEL"`, to: `"decap_tc_to_pg_map": "AZURE_DECAP"`, want: "TC_TO_PRIORITY_GROUP_MAP has no map of that name"},
		{name: "priorities of the settings", example: "dual-tor", files: map[string]string{"qos.yaml": "lossless: [3]\n"}, from: `"PORT_QOS_MAP"`, to: `"PORT_QOS_MAP_OFF"`, loop: true},
		{name: "priorities that are assumed", example: "dual-tor", from: `"PORT_QOS_MAP"`, to: `"PORT_QOS_MAP_OFF"`, loop: true},
		{name: "servers of IPv6", example: "dual-tor", from: `"server_ipv4": "192.168.0.2/32"`, to: `"server_ipv6": "fc02::2/128"`, loop: true, files: map[string]string{
			"leaf-1/route6.json": routed(hop("PortChannel101") + "," + hop("PortChannel102")), "leaf-2/route6.json": routed(hop("PortChannel101") + "," + hop("PortChannel102")),
			"tor-a/route6.json": six("fc02::/64", "fc09::/64", "PortChannel101", "PortChannel102"), "tor-b/route6.json": six("fc02::/64", "fc09::/64", "PortChannel101", "PortChannel102"),
			"tor-c/route6.json": six("fc09::/64", "fc02::/64", "PortChannel101", "PortChannel102"),
		}},
		{name: "a tunnel in a tunnel", example: "dual-tor", from: `"server_ipv4": "192.168.0.2/32"`, to: `"server_ipv4": "10.1.0.33/32"`, want: "those are wrapped once more"},
		{name: "a peer that routes the packets back", example: "dual-tor-remapped", from: `"server_ipv4": "192.168.0.2/32"`, to: `"server_ipv4": "192.168.9.2/32"`, want: "tor-b, where that ends, does not deliver them", files: map[string]string{
			"tor-b/config_db.json": strings.ReplaceAll(example(t, "dual-tor-remapped")["tor-b/config_db.json"], "MUX_CABLE", "MUX_CABLE_OFF"),
		}},
		{name: "a part of a server's prefix is routed on its own", example: "dual-tor", from: `"server_ipv4": "192.168.0.2/32"`, to: `"server_ipv4": "192.168.0.2/31"`, loop: true, files: map[string]string{
			"tor-c/route6.json": `{"192.168.0.3/32":[{"protocol":"static","selected":true,"nexthops":[` + hop("PortChannel101") + `]}]}`,
		}},
		{name: "a tunnel behind a change of DSCPs", example: "dual-tor-remapped", from: `"pfc_enable": "2,3,4,6"`, to: `"pfc_enable": "2,3,4,6", "tc_to_dscp_map": "AZURE_TUNNEL"`, want: "wraps packets: what is changed first is not known"},
	} {
		files := example(t, c.example)
		for name, text := range files {
			if filepath.Base(name) == "config_db.json" && (c.to == "" || strings.HasPrefix(name, "tor-a") || strings.HasPrefix(name, "tor-b")) && c.from != "" {
				files[name] = strings.ReplaceAll(text, c.from, c.to)
			}
		}
		if strings.Contains(c.to, "_OFF") {
			for name, text := range files {
				files[name] = strings.ReplaceAll(text, c.from, c.to)
			}
		}
		for name, text := range c.files {
			files[name] = text
		}
		n, err := Read(t.Context(), write(t, files), Options{})
		switch {
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", c.name, err)
		case err == nil && c.want != "":
			t.Errorf("%s: read", c.name)
		case err == nil:
			if v := verify(t, n, ethernet.HostScope); v.Free() == c.loop {
				t.Errorf("%s: %s", c.name, steps(n, v))
			}
		}
	}
}

// Ports whose maps differ can give packets of one DSCP several outer ones: 48 is in class 6 where hosts
// are, and in class 7 where leaves are.
func TestOuterHeaders(t *testing.T) {
	n, err := Read(t.Context(), "../../examples/ethernet/dual-tor-remapped", Options{})
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for _, becomes := range n.TunnelMaps {
		for _, set := range becomes {
			most = max(most, bits.OnesCount64(set))
		}
	}
	if most != 2 {
		t.Errorf("up to %d kinds of packets outside for one inside", most)
	}
}
