package drawn

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/reading"
)

// maxNodes is how many nodes a topology.txt may say that it has: each takes memory before a link is read.
const maxNodes = 1 << 20

// NS3 reads the topology.txt of ns-3 as the HPCC model has it (Y. Li et al., HPCC: High Precision Congestion
// Control, SIGCOMM 2019): the numbers of nodes, switches and links; the numbers of the nodes that are
// switches; and a line for each link, with its ends, its rate, its delay and its error rate. All other nodes
// are hosts.
func NS3(r io.Reader, name string) (*Topology, error) {
	t := &Topology{Name: name}
	lines := reading.NewLines(r, name)
	var nodes, switches, links uint64
	if !nextLine(lines) {
		return nil, ended(lines, "the numbers of nodes, switches and links")
	}
	head := lines.Text()
	for _, to := range [...]*uint64{&nodes, &switches, &links} {
		n, ok := head.Uint(maxNodes)
		if !ok {
			return nil, lines.Errorf("the first line has the numbers of nodes, switches and links, each up to %d", maxNodes)
		}
		*to = n
	}
	if !head.Empty() {
		return nil, lines.Errorf("the first line has more than the numbers of nodes, switches and links: only the form of HPCC is read")
	}
	isSwitch := make([]bool, nodes)
	for found := uint64(0); found < switches; {
		if !nextLine(lines) {
			return nil, ended(lines, fmt.Sprintf("%d of %d numbers of switches", switches-found, switches))
		}
		for c := lines.Text(); !c.Empty(); found++ {
			id, ok := c.Uint(math.MaxInt32)
			if !ok || id >= nodes || isSwitch[id] || found == switches {
				return nil, lines.Errorf("%d different numbers of switches are expected, each below %d", switches, nodes)
			}
			isSwitch[id] = true
			t.Devices = append(t.Devices, nodeName(id))
		}
	}
	ports := map[uint64]int{}
	between := 0
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
		ports[a]++
		ports[b]++
		switch {
		case isSwitch[a] && isSwitch[b]:
			t.Cables = append(t.Cables, ethernet.Cable{A: port(a, ports[a]), B: port(b, ports[b])})
		case isSwitch[a]:
			t.Hosts = append(t.Hosts, nodeName(a))
		case isSwitch[b]:
			t.Hosts = append(t.Hosts, nodeName(b))
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
	if between > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("links between hosts, and left out: %d", between))
	}
	return t, nil
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
