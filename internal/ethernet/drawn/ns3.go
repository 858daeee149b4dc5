package drawn

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/reading"
)

// maxNodes is how many nodes a topology.txt may say that it has: each takes memory before a link is read.
const maxNodes = 1 << 20

// NS3 reads the topology.txt of ns-3 as the HPCC model has it (Y. Li et al., HPCC: High Precision Congestion
// Control, SIGCOMM 2019): the numbers of nodes, switches and links; the numbers of the nodes that are
// switches; and a line for each link, with its ends, its rate, its delay and its error rate. All other nodes
// are hosts. SimAI's has the number of GPUs in a server behind that of nodes, and that of NVSwitches, whose numbers come
// before those of switches, and ends the first line with the type of the GPUs: NVSwitches and their links are inside of
// servers, and left out.
func NS3(r io.Reader, name string) (*Topology, error) {
	t := &Topology{Name: name}
	lines := reading.NewLines(r, name)
	if !nextLine(lines) {
		return nil, ended(lines, "the numbers of nodes, switches and links")
	}
	head, err := readHead(lines)
	if err != nil {
		return nil, err
	}
	nodes, switches, links := head.nodes, head.inside+head.switches, head.links
	isSwitch, inside := make([]bool, nodes), make([]bool, nodes)
	for found := uint64(0); found < switches; {
		if !nextLine(lines) {
			return nil, ended(lines, fmt.Sprintf("%d of %d numbers of switches", switches-found, switches))
		}
		for c := lines.Text(); !c.Empty(); found++ {
			id, ok := c.Uint(math.MaxInt32)
			if !ok || id >= nodes || isSwitch[id] || inside[id] || found == switches {
				return nil, lines.Errorf("%d different numbers of switches are expected, each below %d", switches, nodes)
			}
			if found < head.inside {
				inside[id] = true
				continue
			}
			isSwitch[id] = true
			t.Devices = append(t.Devices, nodeName(id))
		}
	}
	ports := map[uint64]int{}
	between, within := 0, 0
	for found := uint64(0); found < links; found++ {
		if !nextLine(lines) {
			return nil, ended(lines, fmt.Sprintf("%d of %d links", links-found, links))
		}
		c := lines.Text()
		a, okA := c.Uint(math.MaxInt32)
		b, okB := c.Uint(math.MaxInt32)
		if !okA || !okB || a >= nodes || b >= nodes || a == b {
			return nil, lines.Errorf("a link has the numbers of two nodes, below %d", nodes)
		}
		if inside[a] || inside[b] {
			within++
			continue
		}
		ports[a]++
		ports[b]++
		speed := speedOf(c.Word())
		switch {
		case isSwitch[a] && isSwitch[b]:
			t.Cables = append(t.Cables, ethernet.Cable{A: port(a, ports[a]), B: port(b, ports[b])})
			t.Speeds = append(t.Speeds, speed)
		case isSwitch[a]:
			t.Hosts, t.HostSpeeds = append(t.Hosts, nodeName(a)), append(t.HostSpeeds, speed)
		case isSwitch[b]:
			t.Hosts, t.HostSpeeds = append(t.Hosts, nodeName(b)), append(t.HostSpeeds, speed)
		default:
			between++
		}
	}
	if nextLine(lines) {
		return nil, lines.Errorf("a line behind the %d links that the first line says", links)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if within > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("links of NVSwitches, which are inside of servers, and left out: %d", within))
	}
	if between > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("links between hosts, and left out: %d", between))
	}
	return t, nil
}

// dataRate is a rate as ns-3 writes it: 100Gbps, 40000Mbps, 0.4Tb/s.
var dataRate = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([kKMGT]?)(?:bps|b/s)$`)

// speedOf is a rate in Mb/s; 0: it is not known.
func speedOf(rate []byte) uint32 {
	m := dataRate.FindSubmatch(rate)
	if m == nil {
		return 0
	}
	v, err := strconv.ParseFloat(string(m[1]), 64)
	v *= map[string]float64{"": 1e-6, "k": 1e-3, "K": 1e-3, "M": 1, "G": 1e3, "T": 1e6}[string(m[2])]
	if err != nil || v < 1 || v > math.MaxUint32 {
		return 0
	}
	return uint32(v + 0.5)
}

// head is the first line of a topology.txt.
type head struct{ nodes, inside, switches, links uint64 }

// readHead reads the first line, in one of the two forms.
func readHead(lines *reading.Lines) (h head, err error) {
	c := lines.Text()
	var numbers []uint64
	for n, ok := c.Uint(maxNodes); ok; n, ok = c.Uint(maxNodes) {
		numbers = append(numbers, n)
	}
	switch rest := c.Word(); {
	case len(numbers) == 3 && len(rest) == 0:
		return head{nodes: numbers[0], switches: numbers[1], links: numbers[2]}, nil
	case len(numbers) == 5 && len(rest) > 0 && c.Empty():
		return head{nodes: numbers[0], inside: numbers[2], switches: numbers[3], links: numbers[4]}, nil
	}
	return h, lines.Errorf("the first line has the numbers of nodes, switches and links, each up to %d; of SimAI the numbers of nodes, GPUs in a server, NVSwitches, switches and links, and a type of GPUs", maxNodes)
}

// nextLine moves to the next line that is not empty.
func nextLine(lines *reading.Lines) bool {
	for lines.Next() {
		if !lines.Text().Empty() {
			return true
		}
	}
	return false
}

// ended is the error of a file that ends too early.
func ended(lines *reading.Lines, missing string) error {
	if err := lines.Err(); err != nil {
		return err
	}
	return lines.ErrorAt(lines.Number()+1, "the file ends, and %s are missing", missing)
}

// nodeName is the name of what ns-3 calls by a number.
func nodeName(id uint64) string { return "node" + strconv.FormatUint(id, 10) }

// port is an interface of a node; ns-3 counts them from 1, in the order of the links.
func port(id uint64, n int) ethernet.End {
	return ethernet.End{Device: nodeName(id), Interface: "eth" + strconv.Itoa(n)}
}
