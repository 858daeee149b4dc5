package pauses

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
)

const frames = `Last cached time was 2026-11-23T10:00:00
  Port Rx    PFC0    PFC3       PFC4
---------  ------  ------  ---------
Ethernet0       0   1,234          5
Ethernet4     N/A       0          0

  Port Tx    PFC0    PFC3    PFC4
---------  ------  ------  ------
Ethernet0       0       7       0
`

const stormy = `       QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP    TX LAST OK/DROP    RX LAST OK/DROP
------------  -----------  -------------------------  ------------  ------------  -----------------  -----------------
 Ethernet0:3  operational                        2/2         10/30          5/12               0/30               0/12
 Ethernet4:4      stormed                        1/0           0/0           0/0                0/0                0/0
`

func TestRead(t *testing.T) {
	list, err := Read(strings.NewReader(frames), "leaf1.pfc.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(list[1], list[2], len(list)); got != "{Ethernet0 3 1234 7 0 0 false} {Ethernet0 4 5 0 0 0 false} 6" {
		t.Error(got)
	}
	dog, err := ReadWatchdog(strings.NewReader(stormy), "leaf1.pfcwd.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := Merge(list, dog)
	if got := fmt.Sprint(all[1], all[5]); got != "{Ethernet0 3 1234 7 2 42 false} {Ethernet4 4 0 0 1 0 true}" {
		t.Error(got)
	}
	later := Merge(all, []Counter{{Interface: "Ethernet0", Priority: 3, Received: 6}})
	later[2].Received = 1 // was set to zero
	if d := Since(later, all); d[1].Received != 6 || d[1].Dropped != 0 || d[2].Received != 1 {
		t.Errorf("%v", d)
	}
	for text, why := range map[string]string{
		"":                                   "f:1: no table",
		"Port Rx PFC0 PFC8\n":                "f:1: \"PFC8\" is not a priority",
		"Port Rx PFC0\nEthernet0 1 2\n":      "f:2: 3 columns",
		"Port Rx PFC0\n\nEthernet0 one\n":    "f:3: \"one\" is not a number",
		"Port Rx PFC0\nEthernet0 -1\n":       "not a number",
		"Port Rx PFC0\nEthernet0 \x1b[31m\n": "is not a number",
	} {
		if _, err := Read(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, why := range map[string]string{
		"QUEUE STATUS\nEthernet0 operational 1/1 1/1 1/1\n":   "not a port and a priority",
		"QUEUE STATUS\nEthernet0:9 operational 1/1 1/1 1/1\n": "not a port and a priority",
		"QUEUE STATUS\nEthernet0:3 operational 1/1\n":         "f:2: 3 columns",
		"QUEUE STATUS\nEthernet0:3 operational 1/1 7 1/1\n":   "two numbers",
		"nothing\n": "no table",
	} {
		if _, err := ReadWatchdog(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(frames)
	f.Add(stormy)
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func() ([]Counter, error){
			func() ([]Counter, error) { return Read(strings.NewReader(text), "f") },
			func() ([]Counter, error) { return ReadWatchdog(strings.NewReader(text), "f") },
		} {
			list, err := read()
			if err != nil && list != nil {
				t.Error("an error, and counters")
			}
			for _, c := range list {
				if c.Priority >= Priorities || c.Interface == "" {
					t.Errorf("%+v", c)
				}
			}
		}
	})
}

// Pauses are followed where the packets go, and round a circle.
func TestFollow(t *testing.T) {
	p := testcables.Devices(4)
	for i := range 4 {
		p.Join(i, (i+1)%4)
	}
	c := p.Cabling(t)
	n := &ethernet.Network{Cabling: c, Classes: []ethernet.Class{{Next: c.NewRow(), Hosts: true}}}
	paused := make(Paused, len(c.Links)*Priorities)
	var round []ethernet.LinkID
	for l, link := range c.Links {
		if int(link.To) == (int(link.From)+1)%4 {
			n.Add(n.Classes[0].Next, ethernet.LinkID(l))
			round = append(round, ethernet.LinkID(l))
		}
	}
	for _, l := range round[:3] {
		paused[int(l)*Priorities+3] = 5
	}
	if way, circle := Follow(n, paused, round[0], 3); circle || len(way) != 3 {
		t.Errorf("%v, %v", way, circle)
	}
	paused[int(round[3])*Priorities+3] = 5
	if way, circle := Follow(n, paused, round[0], 3); !circle || len(way) != 4 {
		t.Errorf("%v, %v", way, circle)
	}
	if way, _ := Follow(n, paused, round[0], 4); len(way) != 1 {
		t.Errorf("another priority: %v", way)
	}
}
