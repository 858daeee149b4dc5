package folder

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Speeds are those of interfaces, by SONiC's configuration where there is one; the members of a port channel that are up add up.
// What is a member is told.
func TestSpeeds(t *testing.T) {
	dir := t.TempDir()
	port := func(name, address, speed string) string {
		return `"` + name + `": {"administrativeStatus": "up", "operationalStatus": "up", "speed": ` + speed + `, "ipAddresses": [{"address": "` + address + `"}]}`
	}
	for name, text := range map[string]string{
		"a.route.json":     `{"10.1.0.0/24": [{"selected": true, "protocol": "connected", "nexthops": [{"fib": true, "interfaceName": "lan"}]}]}`,
		"b.route.json":     `{"10.2.0.0/24": [{"selected": true, "protocol": "connected", "nexthops": [{"fib": true, "interfaceName": "lan"}]}]}`,
		"a.interface.json": "{" + port("x", "10.9.0.0/31", "100000") + "," + port("y", "10.9.0.2/31", "4294967295") + "," + port("lan", "10.1.0.1/24", "0") + "}",
		"b.interface.json": "{" + port("x", "10.9.0.1/31", "100000") + "," + port("PortChannel1", "10.9.0.3/31", "7") + `,"Ethernet8": {"administrativeStatus": "up", "operationalStatus": "down", "ipAddresses": []},` + port("lan", "10.2.0.1/24", "0") + "}",
		"b.config_db.json": `{"PORT": {"Ethernet0": {"speed": "40000"}, "Ethernet4": {"speed": "40000"}, "Ethernet8": {"speed": "40000"}}, "PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}, "PortChannel1|Ethernet4": {}, "PortChannel1|Ethernet8": {}}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n, err := Read(context.Background(), dir, Options{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	for end, want := range map[string]uint32{"a, x": 100_000, "a, y": 0, "b, x": 100_000, "b, PortChannel1": 80_000} {
		for l := range n.Links {
			if n.End(n.LinkAt(n.Links[l].From, n.Links[l].FromInterface)).String() == end && n.Speeds[l] != want {
				t.Errorf("%s has %d Mb/s, want %d", end, n.Speeds[l], want)
			}
		}
	}
	channel := n.Members[n.LinkAt(n.Device("b"), "PortChannel1")]
	if !slices.Equal(channel, []string{"Ethernet0", "Ethernet4", "Ethernet8"}) || n.Members[n.LinkAt(n.Device("b"), "x")] != nil {
		t.Errorf("members %v", n.Members)
	}
	if len(n.Links) != 4 {
		t.Errorf("%d links", len(n.Links))
	}
}
