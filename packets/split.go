package packets

import "github.com/weft-fabric/weft/fabric"

const (
	regionSize  = 8192 // buffers, about: of the order of what the cache of a core holds
	mostRegions = 250
)

// split divides the switches into about count regions; 0: as many as are fastest, which
// is one for all but large networks. The result of a run does not depend on it. Each
// region grows from one switch, always by the neighbour with the largest share of its
// cables inside, so that few cables cross.
func (n *Network) split(count int) {
	if n.Config.Flits {
		count = 1
	}
	if count == 0 {
		if count = int(n.channels) << n.shift / regionSize; count < 4 {
			count = 1
		}
	}
	f := n.Fabric
	count = max(1, min(count, mostRegions, f.Switches()))
	n.regions, n.regionOf = 1, make([]uint8, f.Switches())
	if count == 1 {
		return
	}
	g := grower{n: n, inside: make([]int32, f.Switches()), taken: make([]bool, f.Switches())}
	share := (int(n.channels) + count - 1) / count
	size := 0
	for s := g.next(); s >= 0; s = g.next() {
		if first, end := f.TrunksFrom(s); size > 0 && size+int(end-first) > share && n.regions < count {
			n.regions++
			size = 0
			g.leave()
		}
		n.regionOf[s] = uint8(n.regions - 1)
		first, end := f.TrunksFrom(s)
		size += 2*len(f.Attached(s)) + int(end-first)
		g.take(s)
	}
}

// grower is the state of Network.split.
type grower struct {
	n      *Network
	inside []int32         // [switch] number of cables into the current region
	taken  []bool          // [switch] belongs to some region
	edge   []fabric.NodeID // switches not taken with cables into the region
	first  fabric.NodeID   // all switches before it are taken
}

// next is the switch with the largest share of its cables inside, the first of equals;
// if the region has no neighbour, the first switch that is not taken; -1 if all are.
func (g *grower) next() fabric.NodeID {
	best := fabric.NodeID(-1)
	cables := func(s fabric.NodeID) (inside, all int64) {
		first, end := g.n.Fabric.TrunksFrom(s)
		return int64(g.inside[s]), int64(end - first)
	}
	for _, s := range g.edge {
		if g.taken[s] {
			continue
		}
		if best < 0 {
			best = s
			continue
		}
		in, all := cables(s)
		bestIn, bestAll := cables(best)
		if a, b := in*bestAll, bestIn*all; a > b || a == b && s < best {
			best = s
		}
	}
	if best >= 0 {
		return best
	}
	for ; int(g.first) < len(g.taken); g.first++ {
		if !g.taken[g.first] {
			return g.first
		}
	}
	return -1
}

// take puts a switch into the current region.
func (g *grower) take(s fabric.NodeID) {
	g.taken[s] = true
	f := g.n.Fabric
	for c, end := f.TrunksFrom(s); c < end; c++ {
		to := f.Channel(c).To
		if g.inside[to]++; g.inside[to] == 1 {
			g.edge = append(g.edge, to)
		}
	}
}

// leave begins the next region.
func (g *grower) leave() {
	clear(g.inside)
	g.edge = g.edge[:0]
}

// regionsOf is the regions of the near and the far end of a port.
func (n *Network) regionsOf(port int32) (from, to uint8) {
	if n.isSource(port) {
		home := n.regionOfNode(n.Fabric.Endpoint(fabric.EndpointID(port - n.ports)).Switch)
		return home, home
	}
	c := n.Fabric.Channel(fabric.ChannelID(port % n.channels))
	from, to = n.regionOfNode(c.From), n.regionOfNode(c.To)
	switch {
	case port >= n.channels || n.Fabric.Node(c.To).Kind != fabric.Switch:
		to = from
	case n.Fabric.Node(c.From).Kind != fabric.Switch:
		from = to
	}
	return from, to
}

// regionOfNode is 0 for adapters.
func (n *Network) regionOfNode(s fabric.NodeID) uint8 {
	if s < 0 || int(s) >= len(n.regionOf) {
		return 0
	}
	return n.regionOf[s]
}

// inOneRegion is a copy of the network that is not divided.
func (n *Network) inOneRegion() *Network {
	whole := *n
	const regions = 1
	whole.split(regions)
	return &whole
}
