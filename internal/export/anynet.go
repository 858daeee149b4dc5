package export

import (
	"bufio"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/result"
)

// writeAnynet writes a line for each switch: the ports of adapters at it, then the
// switches after it that it has a cable to. BookSim2 numbers both from 0 without gaps and
// knows one channel between two routers, so that parallel cables cannot be said.
func writeAnynet(w *bufio.Writer, n *result.ReportNetwork) error {
	switches := int32(len(n.Nodes.X))
	hosts, others := make([][]int, switches), make([][]int32, switches)
	next := 0
	for _, at := range n.Ports.Switch {
		if at >= 0 {
			hosts[at] = append(hosts[at], next)
			next++
		}
	}
	for i := range n.Cables.Trunks {
		a, b := min(n.Cables.A[i], n.Cables.B[i]), max(n.Cables.A[i], n.Cables.B[i])
		switch {
		case a == b: // nothing is routed over it
		case slices.Contains(others[a], b):
			return fmt.Errorf("%s and %s are joined by several cables, and an anynet has one channel between two routers", label(n, a), label(n, b))
		default:
			others[a] = append(others[a], b)
		}
	}
	for s := range switches {
		fmt.Fprintf(w, "router %d", s)
		for _, h := range hosts[s] {
			fmt.Fprintf(w, " node %d", h)
		}
		slices.Sort(others[s])
		for _, t := range others[s] {
			fmt.Fprintf(w, " router %d", t)
		}
		w.WriteString("\n")
	}
	return nil
}
