package frr

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
)

// seeds adds files of the examples, and parts of them.
func seeds(f *testing.F, names ...string) {
	f.Helper()
	for _, name := range names {
		text, err := os.ReadFile("../../../examples/ethernet/clos-two-links-down/" + name)
		if err != nil {
			f.Fatal(err)
		}
		for _, text := range scramble.Of(string(text)) {
			f.Add(text)
		}
	}
}

// located fails a test if an error does not say the line.
func located(t *testing.T, err error) {
	t.Helper()
	var at *format.ParseError
	if err != nil && !errors.As(err, &at) {
		t.Fatalf("an error without a line: %v", err)
	}
}

func FuzzReadRoutes(f *testing.F) {
	seeds(f, "lf1.route.json")
	f.Add(`{"default":{"10.0.0.0/8":[{"selected":true,"nexthops":[{"fib":true,"recursive":true},{"fib":true,"interfaceName":"e","ip":"fe80::1","labels":[3]}]}]}}`)
	f.Add(`{"10.0.0.0/8":[{"destSelected":true,"queued":true,"vrfName":"red","nexthops":[{"blackhole":true}]}]}`)
	for _, text := range scramble.Of(shown, eos, nvueRoutes) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		list, err := ReadRoutes(strings.NewReader(text), "f", "default", seen)
		located(t, err)
		known := map[netip.Prefix]bool{}
		for _, r := range list {
			if !r.Prefix.IsValid() || r.Prefix != r.Prefix.Masked() || r.Line < 1 || !seen["default"] {
				t.Fatalf("%+v", r)
			}
			known[r.Prefix] = true
			for _, h := range r.Hops {
				if h.Interface == "" {
					t.Fatalf("%+v", r)
				}
			}
		}
		if err == nil && len(list) > 0 && len(known) == 0 {
			t.Fatal("routes without prefixes")
		}
	})
}

// shown is the routes of one router as text.
const shown = `lf1# show ip route
Codes: K - kernel route, C - connected, S - static, R - RIP,
       > - selected route, * - FIB route, q - queued, r - rejected, b - backup

B   10.0.0.0/31 [20/0] via 10.0.0.1, lf1-sp1 inactive, weight 1, 00:00:07
C>* 10.0.0.0/31 is directly connected, lf1-sp1, 00:00:17
B>* 10.1.2.0/24 [20/0] via 10.0.0.1, lf1-sp1, weight 1, 00:00:07
  *                    via 10.0.0.5, lf1-sp2, weight 3, 00:00:07
S>  10.3.0.0/24 [1/0] via 10.1.2.9 (recursive), weight 1, 00:00:07
  *                     via 10.0.0.1, lf1-sp1, weight 1, 00:00:07
S>* 10.4.0.0/24 [1/0] unreachable (blackhole), weight 1, 00:00:07
B>r 10.5.0.0/24 [20/0] via 10.0.0.1, lf1-sp1, weight 1, 00:00:07
B>  10.6.0.0/24 [20/0] via 10.0.0.1 inactive, weight 1, 00:00:07
B>* 10.7.0.0/24 [20/0] via 10.0.0.1, lf1-sp1, label 17, weight 1, 00:00:07

VRF red:
S>* 10.8.0.0/24 [1/0] via 10.0.0.1, lf1-sp1, weight 1, 00:00:07
`

const eos = `{"vrfs":{"default":{"routes":{
"10.0.0.0/31":{"routeType":"connected","routeAction":"forward","hardwareProgrammed":true,"vias":[{"interface":"lf1-sp1"}]},
"10.1.2.0/24":{"routeType":"eBGP","routeAction":"forward","hardwareProgrammed":true,"vias":[{"nexthopAddr":"10.0.0.1","interface":"lf1-sp1"},{"nexthopAddr":"10.0.0.5","interface":"lf1-sp2","weight":3}]},
"10.4.0.0/24":{"routeType":"static","routeAction":"drop","vias":[]},
"10.5.0.0/24":{"routeType":"eBGP","routeAction":"forward","hardwareProgrammed":false,"vias":[{"nexthopAddr":"10.0.0.1","interface":"lf1-sp1"}]},
"10.7.0.0/24":{"routeType":"eBGP","routeAction":"forward","vias":[{"vtepAddr":"10.9.9.9","vni":5}]}}},"red":{"routes":{"10.8.0.0/24":{"vias":[]}}}}}`

const nvueRoutes = `{"10.0.0.0/31":{"route-entry":{"1":{"protocol":"bgp","flags":{},"via":{}},"2":{"protocol":"connected","flags":{"selected":{},"installed":{}},"via-entry":{"lf1-sp1":{"type":"interface"}}}}},
"10.1.2.0/24":{"route-entry":{"1":{"protocol":"bgp","flags":{"selected":{}},"via":{"10.0.0.1":{"type":"ip-address","interface":"lf1-sp1"},"10.0.0.5":{"interface":"lf1-sp2","weight":3}}}}},
"10.4.0.0/24":{"route-entry":{"1":{"protocol":"static","flags":{"selected":{}},"via":{"blackhole":{"type":"blackhole"}}}}},
"10.5.0.0/24":{"route-entry":{"1":{"protocol":"bgp","flags":{"selected":{},"failed":{}},"via":{"10.0.0.1":{"interface":"lf1-sp1"}}}}},
"10.7.0.0/24":{"route-entry":{"1":{"protocol":"bgp","flags":{"selected":{}},"via":{"10.0.0.1":{"interface":"lf1-sp1","label":17}}}}}}`

// What routers say in other words than FRR's JSON is read like it: which routes count, by which next
// hops, and which do not tell where packets go.
func TestDialects(t *testing.T) {
	column := strings.ReplaceAll(regexp.MustCompile(`(?m)^([BCS ][> ][*r ]) `).ReplaceAllString(shown, "$1  "), "B>r  10.5", "B>*# 10.5") // as Broadcom's SONiC has
	for name, text := range map[string]string{"text": shown, "text with a column more": column, "EOS": eos, "NVUE": nvueRoutes} {
		seen := map[string]bool{}
		list, err := ReadRoutes(strings.NewReader(text), "f", "default", seen)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := map[string]string{}
		for _, r := range list {
			hops := r.Protocol
			for _, h := range r.Hops {
				hops += " " + h.Interface
				if h.IP.IsValid() {
					hops += "/" + h.IP.String()
				}
				if h.Weight > 1 {
					hops += "*" + strconv.Itoa(int(h.Weight))
				}
			}
			if r.Unknown != "" {
				hops = "?"
			}
			got[r.Prefix.String()] = strings.Replace(hops, "eBGP", "bgp", 1)
		}
		want := map[string]string{"10.0.0.0/31": "connected lf1-sp1", "10.1.2.0/24": "bgp lf1-sp1/10.0.0.1 lf1-sp2/10.0.0.5*3", "10.4.0.0/24": "static", "10.5.0.0/24": "?", "10.7.0.0/24": "?"}
		if strings.HasPrefix(name, "text") {
			want["10.3.0.0/24"], want["10.6.0.0/24"] = "static lf1-sp1/10.0.0.1", "?"
		}
		if !maps.Equal(got, want) || name != "NVUE" && !seen["red"] {
			t.Errorf("%s: %v, VRFs %v", name, got, seen)
		}
	}
	red, err := ReadRoutes(strings.NewReader(shown), "f", "red", map[string]bool{})
	if err != nil || len(red) != 1 || red[0].Prefix.String() != "10.8.0.0/24" {
		t.Errorf("VRF red: %+v, %v", red, err)
	}
}

// Older versions of FRR say the routes of all VRFs as an object for each, in which VRFs but the default one are known by
// their number; and tools that gather dumps quote slashes a second time.
func TestObjectForEachVRF(t *testing.T) {
	entry := func(prefix, more string) string {
		return fmt.Sprintf(`{%q:[{"prefix":"10.0.0.0","protocol":"static",%s"selected":true,"nexthops":[{"fib":true,"interfaceName":"e1"}]}]}`, prefix, more) + "\n"
	}
	first, second, red := entry("10.0.0.0/8", ""), entry(`11.0.0.0\/8`, ""), entry("10.0.0.0/8", `"vrfId":9,`)
	for _, c := range []struct {
		text, vrf string
		want      []string
	}{
		{first, "default", []string{"10.0.0.0/8"}},
		{red, "default", nil},
		{red + first + second, "default", []string{"10.0.0.0/8", "11.0.0.0/8"}},
		{first + red, "number 9", []string{"10.0.0.0/8"}},
	} {
		list, err := ReadRoutes(strings.NewReader(c.text), "f", c.vrf, map[string]bool{})
		var got []string
		for _, r := range list {
			got = append(got, r.Prefix.String())
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("VRF %s of %s: %v, %v", c.vrf, c.text, got, err)
		}
	}
	for text, want := range map[string]string{
		first + first: "f:2: 10.0.0.0/8 is selected a second time: line 1 too",
		first + "{":   "f:2: the JSON ends in the middle",
		first + "}":   "f:2: not JSON",
	} {
		if _, err := ReadRoutes(strings.NewReader(text), "f", "default", map[string]bool{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A text that is none of show ip route is refused by its line.
func TestOtherTexts(t *testing.T) {
	for text, want := range map[string]string{
		"VRF: default\n": `f:1: "VRF: default" is not a line of show ip route of FRR; of EOS give show ip route | json`,
		"C>* 10.0.0.1/31 is directly connected, e\n":                  "f:1: 10.0.0.1/31 has bits behind its length",
		"B>* 10.0.0.0/8 [20/0] via 10.0.0.1, weight 1, 00:00:07\n":    "f:1: a next hop in the FIB without an interface",
		"B>* 10.0.0.0/8 [20/0] via x, e0, weight 1, 00:00:07\n":       `f:1: the next hop "x" is not an IP address`,
		"O E2 10.0.0.0/8 [110/20] via 10.0.0.1, 00:01, Ethernet0/0\n": "is not a line of show ip route",
		"10.0.0.0/24, ubest/mbest: 1/0\n":                             "f:1: ",
		"\n\nIP Route Table for VRF\n":                                `f:3: "IP Route Table for VRF" is not a line`,
	} {
		if list, err := ReadRoutes(strings.NewReader(text), "f", "default", map[string]bool{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", text, list, err)
		}
	}
}

func FuzzReadInterfaces(f *testing.F) {
	seeds(f, "lf1.interface.json")
	f.Add(addresses)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ReadInterfaces(strings.NewReader(text), "f")
		located(t, err)
		for _, in := range list {
			for _, a := range in.Addresses {
				if !a.IsValid() {
					t.Fatalf("%+v", in)
				}
			}
		}
	})
}

func FuzzReadAS(f *testing.F) {
	for _, text := range scramble.Of("hostname lf1\nrouter bgp 65101\n bgp router-id 8.8.8.1\n", "router bgp 65001\r\nrouter bgp 65002 vrf red\n") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := ReadAS(strings.NewReader(text), "f", "")
		located(t, err)
	})
}

// An AS number that nobody can mean is refused, with its line.
func TestReadAS(t *testing.T) {
	for text, want := range map[string]uint32{"router bgp 65001\r\n": 65001, "!\nrouter bgp 65001 vrf red\n": 0, "": 0} {
		if as, err := ReadAS(strings.NewReader(text), "f", ""); as != want || err != nil {
			t.Errorf("%q: AS %d, %v", text, as, err)
		}
	}
	for text, want := range map[string]uint32{
		"router bgp 65001\nrouter bgp 65002 vrf red\n": 65002, "router bgp 65002 vrf red\nrouter bgp 65001\n": 65002, "router bgp 65001\nrouter bgp 65003 vrf blue\n": 65001,
		"router bgp 1.10 vrf red\n": 1<<16 | 10, "router bgp 64999 as-notation dot vrf red\n": 64999, "router bgp 65003 vrf blue\n": 0,
	} {
		if as, err := ReadAS(strings.NewReader(text), "f", "red"); as != want || err != nil {
			t.Errorf("VRF red of %q: AS %d, %v", text, as, err)
		}
	}
	if _, err := ReadAS(strings.NewReader("!\nrouter bgp 4294967296\n"), "f", ""); err == nil || !strings.HasPrefix(err.Error(), "f:2: ") {
		t.Error(err)
	}
}

// addresses is ip -j -d address show, with what it leaves out as {}.
const addresses = `[{},{"ifname":"lo","link_type":"loopback","operstate":"UNKNOWN","addr_info":[{"local":"10.9.0.1","prefixlen":32}]},
{"ifname":"eth0","address":"52:54:00:00:00:01","operstate":"UP","addr_info":[{},{"local":"10.0.0.0","prefixlen":31},{"local":"fe80::1","prefixlen":64}]},
{"ifname":"eth1","operstate":"DOWN","master":"red","linkinfo":{"info_slave_kind":"vrf"}}]`

// Interfaces are read as the kernel says them, where FRR does not.
func TestKernelInterfaces(t *testing.T) {
	list, err := ReadInterfaces(strings.NewReader(addresses), "f")
	if err != nil || len(list) != 3 {
		t.Fatalf("%v %+v", err, list)
	}
	lo, up, red := list[0], list[1], list[2]
	if !lo.Loopback || !lo.Up || !up.Up || up.Loopback || len(up.Addresses) != 2 || up.Addresses[0].String() != "10.0.0.0/31" || up.MAC == "" || red.Up || red.VRF != "red" {
		t.Errorf("%+v", list)
	}
	for _, text := range []string{`[1]`, `[{"ifname":1}]`, `[{"operstate":"UP"}]`, `[{"ifname":"e","addr_info":[{"local":"x"}]}]`, `[{"ifname":"e","addr_info":1}]`} {
		if _, err := ReadInterfaces(strings.NewReader(text), "f"); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

func FuzzReadNeighbors(f *testing.F) {
	for _, text := range scramble.Of(`[{"dst":"10.1.0.7","dev":"vlan1","lladdr":"52:54:00:00:00:07","state":["REACHABLE"]},{"dst":"10.1.0.8","dev":"vlan1","state":["FAILED"]}]`) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ReadNeighbors(strings.NewReader(text), "f")
		located(t, err)
		for _, n := range list {
			if !n.IP.IsValid() || n.Interface == "" || n.MAC == "" {
				t.Fatalf("%+v", n)
			}
		}
	})
}
