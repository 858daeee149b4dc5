package symmetric

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// network is the switches as neighbours of each other. All cables from one switch to
// another are one link.
type network struct {
	f     *fabric.Fabric
	n     int      // switches
	hosts []uint64 // [switch] adapters and routers on it
	first []int32  // [switch, plus one] into links
	links []link   // by switch, then port
	hops  []uint16 // [to × n + from]; far: there is no path
}

// link is all cables from one switch to another.
type link struct {
	to    fabric.NodeID
	share uint64 // what a route adds to the load of each cable, in units
}

// unit is the load of one route on one cable. Shares of it are rounded down.
const unit = 1 << 16

// far is farther than any path.
const far = 1<<16 - 1

func newNetwork(f *fabric.Fabric) *network {
	n := &network{f: f, n: f.Switches(), hosts: make([]uint64, f.Switches()), first: []int32{0}}
	cables := make([]uint64, f.Switches()) // [switch] to it from the switch at hand
	for s := range fabric.NodeID(n.n) {
		n.hosts[s] = uint64(len(f.Attached(s)) - 1) // less its own port 0
		begin, end := f.TrunksFrom(s)
		for _, to := range f.Heads()[begin:end] {
			cables[to]++
		}
		for _, to := range f.Heads()[begin:end] {
			if cables[to] > 0 {
				n.links = append(n.links, link{to, unit / cables[to]})
				cables[to] = 0
			}
		}
		n.first = append(n.first, int32(len(n.links)))
	}
	return n
}

// of is the links of a switch.
func (n *network) of(s fabric.NodeID) []link { return n.links[n.first[s]:n.first[s+1]] }

// pair is two switches.
type pair struct{ a, b fabric.NodeID }

// pairs is every two switches that a path joins, those of fewest hops first. Of as
// many it deals out pairs to all switches in turn or, regular, those of one switch
// after those of another.
func (n *network) pairs(ctx context.Context, regular bool) ([]pair, error) {
	n.hops = make([]uint16, n.n*n.n)
	most := uint16(0)
	for s := range fabric.NodeID(n.n) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		most = max(most, n.measure(s))
	}
	start := make([]int, int(most)+2) // [hops, plus one]
	n.each(regular, func(p pair, hops uint16) { start[hops+1]++ })
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

// measure finds the hops from every switch to one, and the most of them.
func (n *network) measure(to fabric.NodeID) (most uint16) {
	hops := n.hops[int(to)*n.n:][:n.n]
	for s := range hops {
		hops[s] = far
	}
	hops[to] = 0
	queue := append(make([]fabric.NodeID, 0, n.n), to)
	for i := 0; i < len(queue); i++ {
		most = hops[queue[i]]
		for _, l := range n.of(queue[i]) {
			if hops[l.to] == far {
				hops[l.to] = most + 1
				queue = append(queue, l.to)
			}
		}
	}
	return most
}

// each visits every two switches that a path joins once.
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

// write is the forwarding for the first links of all paths, [to × n + from]. LIDs of a
// switch take turns over the cables of a link.
func (n *network) write(next []uint8) *routing.Forwarding {
	t := routing.NewForwarding(n.f)
	channels, heads := n.f.Channels(), n.f.Heads()
	var lids []fabric.LID
	var ports []uint8
	for to := range fabric.NodeID(n.n) {
		lids = dag.LIDsOn(n.f, to, lids[:0])
		for from := range fabric.NodeID(n.n) {
			i := next[int(to)*n.n+int(from)]
			if i == none {
				continue
			}
			ports = ports[:0]
			begin, end := n.f.TrunksFrom(from)
			for c := begin; c < end; c++ {
				if heads[c] == n.of(from)[i].to {
					ports = append(ports, channels[c].FromPort)
				}
			}
			for turn, lid := range lids {
				t.Row(lid)[from] = ports[turn%len(ports)]
			}
		}
		for _, lid := range lids {
			t.Row(lid)[to] = n.f.LastPort(n.f.Endpoint(n.f.Owner(lid)))
		}
	}
	return t
}
