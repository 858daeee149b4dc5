package drawn

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
)

const hpcc = `6 3 6
3 4
5
0 3 100Gbps 1000ns 0
1 3 100Gbps 1000ns 0
2 4 100Gbps 0.001ms 0.000000

3 5 400Gbps 1000ns 0
4 5 400Gbps 1000ns 0
3 4 400Gbps 1000ns 0
`

func TestNS3(t *testing.T) {
	top, err := NS3(strings.NewReader(hpcc), "f")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(top.Devices, top.Hosts, top.Cables, top.Speeds, top.HostSpeeds), "[node3 node4 node5] [node3 node3 node4] [{node3, eth3 node5, eth1} {node4, eth2 node5, eth2} {node3, eth4 node4, eth3}] [400000 400000 400000] [100000 100000 100000]"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	for _, c := range []struct{ old, new, want string }{
		{hpcc, "", "f:1: the file ends, and the numbers of nodes, switches and links are missing"},
		{"6 3 6", "6 3", "f:1: the first line has the numbers"},
		{"6 3 6", "6 3 6 8", "f:1: the first line has the numbers"},
		{"6 3 6", "6 1 1 3 6", "f:1: the first line has the numbers"},
		{"6 3 6", "6 1 1 3 6 H100 8", "f:1: the first line has the numbers"},
		{"6 3 6", "9999999 3 6", "f:1: the first line has the numbers"},
		{"3 4\n", "3 3\n", "f:2: 3 different numbers of switches"},
		{"5\n0", "6\n0", "f:3: 3 different numbers of switches"},
		{"5\n0", "5 2\n0", "f:3: 3 different numbers of switches"},
		{"1 3 100", "1 1 100", "f:5: a link has the numbers of two nodes, below 6"},
		{"3 4 400Gbps 1000ns 0\n", "", "f:10: the file ends, and 1 of 6 links are missing"},
		{"6 3 6", "6 3 5", "f:10: a line behind the 5 links"},
	} {
		if _, err := NS3(strings.NewReader(strings.Replace(hpcc, c.old, c.new, 1)), "f"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.new, err)
		}
	}
}

func TestSpeeds(t *testing.T) {
	t.Parallel()
	for rate, want := range map[string]uint32{"100Gbps": 100_000, "0.4Tb/s": 400_000, "40000Mbps": 40_000, "25.78125Gbps": 25_781, "9600kbps": 10, "1000000bps": 1, "fast": 0, "": 0, "100": 0, "1bps": 0, "99999999Tbps": 0} {
		if got := speedOf([]byte(rate)); got != want {
			t.Errorf("%s: %d", rate, got)
		}
	}
}

// SimAI's has NVSwitches too, each with the GPUs of a server.
func TestSimAI(t *testing.T) {
	t.Parallel()
	const text = `9 2 2 3 10 H100
4 5 6 7 8
0 4 2880Gbps 0.000025ms 0
1 4 2880Gbps 0.000025ms 0
2 5 2880Gbps 0.000025ms 0
3 5 2880Gbps 0.000025ms 0
0 6 400Gbps 0.0005ms 0
1 7 400Gbps 0.0005ms 0
2 6 400Gbps 0.0005ms 0
3 7 400Gbps 0.0005ms 0
6 8 400Gbps 0.0005ms 0
7 8 400Gbps 0.0005ms 0
`
	top, err := NS3(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(top.Devices, top.Hosts, top.Cables, top.Notes),
		"[node6 node7 node8] [node6 node7 node6 node7] [{node6, eth3 node8, eth1} {node7, eth3 node8, eth2}] [links of NVSwitches, which are inside of servers, and left out: 4]"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if _, err := NS3(strings.NewReader(strings.Replace(text, "4 5 6", "4 4 6", 1)), "f"); err == nil || !strings.Contains(err.Error(), "f:2: 5 different numbers of switches") {
		t.Error(err)
	}
}

func FuzzNS3(f *testing.F) {
	for _, text := range scramble.Of(hpcc, "2 1 1\n0\n0 1\n", "0 0 0\n") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		top, err := NS3(strings.NewReader(text), "f")
		var at *format.ParseError
		if err != nil && !errors.As(err, &at) {
			t.Fatalf("an error without a line: %v", err)
		}
		if err == nil {
			if _, err := ethernet.NewCabling(top.Devices, top.Cables); err != nil {
				t.Fatal(err)
			}
		}
	})
}
