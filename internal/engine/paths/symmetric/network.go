package symmetric

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/routing"
)

// network is what all passes share.
type network struct {
	*dag.Links
	f     *fabric.Fabric
	n     int      // switches
	hosts []uint32 // [switch] adapters and routers on it
	share []uint64 // [link] what a route adds to the load of each of its cables, in units
	back  []int32  // [link] the other direction
	hops  []uint16 // [to × n + from]; far: there is no path
	only  []bool   // [to × n + from] there is but one shortest path
	first []uint8  // [to × n + from] the first link of that, counted at from; else none
}

// unit is the load of one route on one cable. Shares of it are rounded down.
const unit = 1 << 16

// far is farther than any path.
const far = 1<<16 - 1

func newNetwork(f *fabric.Fabric) *network {
	n := &network{Links: dag.NewLinks(f), f: f, n: f.Switches(), hosts: routing.Adapters.PerSwitch(f)}
	for l := range n.To {
		cables := n.Cables(int32(l))
		n.share = append(n.share, unit/uint64(len(cables)))
		n.back = append(n.back, n.Of[f.Reverses()[cables[0]]])
	}
	return n
}

// neighbours is those of a switch, by link.
func (n *network) neighbours(s fabric.NodeID) []fabric.NodeID { return n.To[n.First[s]:n.First[s+1]] }

type pair struct{ a, b fabric.NodeID }

// pairs is every two switches that a path joins, those of fewest hops first. Among those of
// as many hops, all switches have a pair before one has its next; in the regular order, all
// pairs of a switch with those before it follow each other.
func (n *network) pairs(ctx context.Context, regular bool) ([]pair, error) {
	n.hops, n.only, n.first = make([]uint16, n.n*n.n), make([]bool, n.n*n.n), slices.Repeat([]uint8{none}, n.n*n.n)
	start := make([]int, 2) // [hops, plus one] how many pairs there are
	var d dag.DAG
	for to := range fabric.NodeID(n.n) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		dag.Shortest(&d, n.f, to)
		n.findOnly(&d)
		for range int(d.Hops[d.Order[len(d.Order)-1]]) + 2 - len(start) {
			start = append(start, 0)
		}
		for from, hops := range d.Hops {
			n.hops[int(to)*n.n+from] = uint16(hops) // far, if dag.NoPath
			if hops != dag.NoPath && fabric.NodeID(from) < to {
				start[hops+1]++
			}
		}
	}
	// Counting sort. From here on [hops] where the next goes.
	most := len(start) - 2
	for h := range most {
		start[h+1] += start[h]
	}
	pairs := make([]pair, start[most]+start[most+1])
	n.each(regular, func(p pair, hops uint16) {
		pairs[start[hops]] = p
		start[hops]++
	})
	return pairs, nil
}

// findOnly notes the paths to a switch that are the only shortest ones.
func (n *network) findOnly(d *dag.DAG) {
	only, first := n.only[int(d.Root)*n.n:][:n.n], n.first[int(d.Root)*n.n:][:n.n]
	only[d.Root] = true
	for i, from := range d.Order[1:] {
		out, heads := d.Out[d.First[i+1]], d.Head[d.First[i+1]:d.First[i+2]]
		alone := only[heads[0]]
		for _, head := range heads[1:] {
			alone = alone && head == heads[0]
		}
		if alone {
			only[from], first[from] = true, uint8(n.Of[out]-n.Links.First[from])
		}
	}
}

// each visits every two switches that a path joins once, in one of the orders of pairs.
func (n *network) each(regular bool, visit func(p pair, hops uint16)) {
	see := func(a, b int) {
		if hops := n.hops[b*n.n+a]; hops != far {
			visit(pair{fabric.NodeID(a), fabric.NodeID(b)}, hops)
		}
	}
	if regular {
		for b := range n.n {
			for a := range b {
				see(a, b)
			}
		}
		return
	}
	for apart := 1; 2*apart <= n.n; apart++ {
		for a := range n.n {
			if b := (a + apart) % n.n; 2*apart < n.n || a < b {
				see(a, b)
			}
		}
	}
}

// write is the forwarding for the first links of all paths, [to × n + from] by number at the
// switch. The LIDs of a switch are spread over the cables of a link, round robin.
func (n *network) write(next []uint8) *routing.Forwarding {
	t := routing.NewForwarding(n.f)
	var lids []fabric.LID
	var several []fabric.NodeID // switches whose link has several cables
	for to := range fabric.NodeID(n.n) {
		lids = dag.LIDsOn(n.f, to, lids[:0])
		if len(lids) == 0 {
			continue
		}
		row, paths := t.Row(lids[0]), next[int(to)*n.n:][:n.n]
		several = several[:0]
		for from, i := range paths {
			if i == none {
				continue
			}
			cables := n.Cables(n.First[from] + int32(i))
			if row[from] = n.f.TailPorts()[cables[0]]; len(cables) > 1 {
				several = append(several, fabric.NodeID(from))
			}
		}
		for _, lid := range lids[1:] {
			copy(t.Row(lid), row)
		}
		for _, from := range several {
			n.Deal(t, lids, n.First[from]+int32(paths[from]))
		}
		dag.Deliver(n.f, t, lids)
	}
	return t
}
