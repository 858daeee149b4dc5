package ethernet

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
)

// Routes are computed as devices take them: t takes from b what s announced, whose AS number is its own, where its
// configuration says so of the VRF.
func TestOwnAS(t *testing.T) {
	cable := func(a, b string) ethernet.Cable {
		return ethernet.Cable{A: ethernet.End{Device: a, Interface: b}, B: ethernet.End{Device: b, Interface: a}}
	}
	c, err := ethernet.NewCabling([]string{"a", "b", "c", "s", "t"}, []ethernet.Cable{cable("a", "s"), cable("s", "b"), cable("b", "t"), cable("t", "c")})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"": "", "neighbor b allowas-in": "b", "neighbor b allowas-in 1": "b", "neighbor b allowas-in origin": "",
		"exit\nrouter bgp 9 vrf red\n neighbor b allowas-in 1": "",
		"address-family ipv6 unicast\n  neighbor b allowas-in": "", "neighbor b allowas-in 11": "allowas-in 11",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "t.frr.conf"), []byte("router bgp 65000\n "+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		n := &ethernet.Network{Cabling: c, AS: []uint32{1, 2, 3, 65000, 65000}, Priorities: ethernet.Uniform(c, []uint8{3})}
		for d := range ethernet.DeviceID(3) {
			prefix := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(d), 0}), 24)
			n.Classes = append(n.Classes, ethernet.Class{Prefixes: []netip.Prefix{prefix}, Next: c.NewRow(), At: []ethernet.DeviceID{d}, Hosts: true})
		}
		in := &networkInput{Network: n}
		if err := in.readConfs(t.Context(), dir, ""); err != nil {
			if want == "" || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "t.frr.conf:2: ") {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if _, err := (&networkFlags{}).computeInstead(in); err != nil {
			t.Fatal(err)
		}
		by := ""
		at := c.Device("t")
		c.Each(c.Words(in.Classes[0].Next, at), at, func(l ethernet.LinkID) { by += c.Names[c.Links[l].To] })
		if by != want {
			t.Errorf("%q: t sends to a by %q, want %q", text, by, want)
		}
	}
}
