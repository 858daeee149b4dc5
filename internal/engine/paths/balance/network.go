package balance

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/grid"
	"github.com/weft-fabric/weft/internal/par"
)

// network is what all trials share and none changes.
type network struct {
	f *fabric.Fabric

	weight []int64 // [EndpointID] traffic it sends and receives
	counts []int64 // [EndpointID] weight of its routes: that, less for hosts that are slow
	src    []int64 // [switch] sum of those on it
	square []int64 // [switch] sum of their squares

	inverse  []int64 // [trunk] time that a packet takes, in sixteenths of the fastest trunk's
	end      []int64 // [EndpointID] the same for its link; 0 without
	turnBase []int32 // [trunk] see trial.both
	tier     []uint8 // [trunk] order in which to take directions in a grid; nil in other networks

	roots  []root
	dests  []dest
	hosts  []fabric.EndpointID // those with weight
	looked int64               // trunks that a pass looks at
	placed int64               // of them, those that it charges: on its trees
	rounds int                 // most destinations on a switch

	orders   []order // of ranks; nil: no aim needs them
	shift    uint    // see flows
	width    int32   // see flows
	copies   int32   // orders that are counted as one, see countOnce
	fits     bool    // flows fit in memory
	counted  int64   // words of cells that a pass for shifts looks at, about
	ordinary int64   // mean weight of hosts
	tree     *tree   // whose ways up and then down are taken; nil: all shortest ways
	levelled bool    // all ways go up and then down
	direct   bool    // most shortest paths pass switches with hosts
}

// root is a switch with destinations, and the ways to it, all equally long from one switch. Switches are
// named by their position in breadth-first order; the root is at 0.
type root struct {
	order []fabric.NodeID // [position]
	at    []int32         // [switch] position, 0 also where there is no path
	first []int32         // [position, plus one at the end] into ways
	ways  []way           // the trunks that each switch may take, by port
	dests []int32         // on this switch
}

// way is a trunk and the position of the switch that it leads to.
type way struct {
	trunk fabric.ChannelID
	head  int32
}

// dest is an address of a host adapter.
type dest struct {
	lid    fabric.LID
	root   int32
	shift  int32 // where to begin among equal ways: differs from root to root and by address
	weight int64
}

func newNetwork(ctx context.Context, f *fabric.Fabric, fd Finder) (*network, error) {
	n := &network{
		f: f, copies: 1,
		weight: make([]int64, len(f.Endpoints())), counts: make([]int64, len(f.Endpoints())), src: make([]int64, f.Switches()), square: make([]int64, f.Switches()),
		inverse: make([]int64, f.Trunks()), end: make([]int64, len(f.Endpoints())), turnBase: make([]int32, f.Trunks()),
	}
	n.capacities(fd.Uniform)
	if err := n.weigh(fd); err != nil {
		return nil, err
	}
	for c := range n.turnBase {
		first, _ := f.TrunksFrom(f.Channel(fabric.ChannelID(c)).From)
		n.turnBase[c] = int32(f.FirstTurn(f.Reverses()[c])) - int32(first)
	}
	n.dimensions()
	n.destinations()
	if err := n.layRanks(fd); err != nil {
		return nil, err
	}
	if err := n.graphs(ctx, dag.Shortest); err != nil {
		return nil, err
	}
	if fd.Aim.phases() && !fd.shortest {
		n.tree = n.findTree(ctx)
	}
	if n.tree != nil {
		if err := n.graphs(ctx, n.tree.Wide(n.tree.narrow)); err != nil {
			return nil, err
		}
	}
	n.fits = n.layOut()
	n.countOnce()
	return n, ctx.Err()
}

// weigh settles the weights. Without wishes a host adapter weighs MaxWeight and
// what else is no switch weighs 1, so that it fills gaps and moves nothing. For the aims
// about phases routes of a host at half the rate count half where random pairs meet: one
// other flow does not slow it down, and two of its kind fit side by side. Bisection would
// gain little by that, and have more routes on its fullest trunk.
func (n *network) weigh(fd Finder) error {
	wishes, byRate := fd.Weights, fd.Weights == nil && fd.Aim.phases()
	if wishes != nil && len(wishes) != len(n.weight) {
		return fmt.Errorf("%d weights for %d endpoints; give one for each, by EndpointID", len(wishes), len(n.weight))
	}
	for i := range n.weight {
		e := n.f.Endpoint(fabric.EndpointID(i))
		switch {
		case e.Switch == fabric.None || e.Class == fabric.SwitchPort:
			continue
		case wishes != nil && wishes[i] > MaxWeight:
			return fmt.Errorf("endpoint %d has weight %d; the most is %d", i, wishes[i], MaxWeight)
		case wishes != nil:
			n.weight[i] = int64(wishes[i])
		case e.Class == fabric.HostAdapter:
			n.weight[i] = MaxWeight
		default:
			n.weight[i] = 1
		}
		w := n.weight[i]
		if byRate && e.Class == fabric.HostAdapter {
			w = max(1, w*unit/max(unit, n.end[i]))
		}
		n.counts[i] = w
		n.src[e.Switch] += w
		n.square[e.Switch] += w * w
		if e.Class == fabric.HostAdapter && n.weight[i] > 0 {
			n.hosts = append(n.hosts, fabric.EndpointID(i))
		}
	}
	return nil
}

// layRanks prepares the orders of ranks, if the aim needs them.
func (n *network) layRanks(fd Finder) (err error) {
	if !fd.Aim.phases() {
		return nil
	}
	sum := int64(0)
	for _, e := range n.hosts {
		sum += n.weight[e]
	}
	n.ordinary = max(1, sum/int64(max(1, len(n.hosts))))
	n.orders, err = newOrders(n, fd.Orders)
	return err
}

// unit is the inverse of the fastest trunk.
const unit = 16

// capacities settles how long a packet takes by trunk and at the ends. A link of
// unknown rate is taken for one as fast as the fastest trunk; none is taken for
// slower than a 64th of that.
func (n *network) capacities(uniform bool) {
	fastest := 0
	for c := range n.inverse {
		fastest = max(fastest, n.f.Channel(fabric.ChannelID(c)).Rate.Mbps())
	}
	inverse := func(c fabric.ChannelID) int64 {
		if rate := n.f.Channel(c).Rate.Mbps(); rate > 0 && fastest > 0 && !uniform {
			return min(int64((fastest*unit+rate/2)/rate), 64*unit)
		}
		return unit
	}
	for c := range n.inverse {
		n.inverse[c] = inverse(fabric.ChannelID(c))
	}
	for i := range n.end {
		if e := n.f.Endpoint(fabric.EndpointID(i)); e.Inject != fabric.None {
			n.end[i] = max(1, inverse(e.Inject))
		}
	}
}

// Ordered reports whether a fabric has dimensions, so that Finder.Regular changes its
// paths.
func Ordered(f *fabric.Fabric) bool {
	_, err := grid.FindAll(f, nil, nil)
	return err == nil
}

// dimensions finds the dimension of every trunk, if the network is a grid.
func (n *network) dimensions() {
	grids, err := grid.FindAll(n.f, nil, nil)
	if err != nil {
		return
	}
	n.tier = make([]uint8, n.f.Trunks())
	for _, g := range grids {
		for point := range g.Switch {
			for r := range grid.Dir(2 * len(g.Dims)) {
				for _, c := range g.Links(point, r) {
					n.tier[c] = tier(g, point, r)
				}
			}
		}
	}
}

// tier ranks the directions from a point of a grid: a lower dimension first; and
// halfway round a ring up from even coordinates and down from odd ones, which
// loads both ways alike and takes fewer turns than either.
func tier(g *grid.Grid, point int, r grid.Dir) uint8 {
	even := g.Coordinate(point, r.Dim())%2 == 0
	if even == (r == grid.Up(r.Dim())) {
		return uint8(2 * r.Dim())
	}
	return uint8(2*r.Dim() + 1)
}

// destinations lists the addresses of host adapters by switch, those with most of
// them first. The first addresses of all come before the second ones, since
// clients may use those alone.
func (n *network) destinations() {
	var switches []fabric.NodeID
	lids := make([][]fabric.LID, n.f.Switches())
	for s := range lids {
		for _, lid := range dag.LIDsOn(n.f, fabric.NodeID(s), nil) {
			if n.f.Endpoint(n.f.Owner(lid)).Class == fabric.HostAdapter {
				lids[s] = append(lids[s], lid)
			}
		}
		if len(lids[s]) > 0 {
			switches = append(switches, fabric.NodeID(s))
		}
		n.rounds = max(n.rounds, len(lids[s]))
		slices.SortStableFunc(lids[s], func(a, b fabric.LID) int { return cmp.Compare(n.f.Address(a), n.f.Address(b)) })
	}
	slices.SortStableFunc(switches, func(a, b fabric.NodeID) int { return cmp.Compare(len(lids[b]), len(lids[a])) })
	for _, s := range switches {
		r := root{order: []fabric.NodeID{s}}
		for _, lid := range lids[s] {
			r.dests = append(r.dests, int32(len(n.dests)))
			n.dests = append(n.dests, dest{lid, int32(len(n.roots)), int32(int(s) + n.f.Address(lid)), n.counts[n.f.Owner(lid)]})
		}
		n.roots = append(n.roots, r)
	}
}

// ways builds the graph of all ways to a root that paths may take.
func (n *network) ways() dag.Builder {
	if n.tree != nil {
		return n.tree.Legal
	}
	return dag.Shortest
}

// graphs builds the ways to every root.
func (n *network) graphs(ctx context.Context, build dag.Builder) error {
	n.looked, n.placed = 0, 0
	scratch := make([]dag.DAG, par.Workers(len(n.roots)))
	err := par.For(ctx, len(n.roots), func(worker, i int) {
		build(&scratch[worker], n.f, n.roots[i].order[0])
		n.roots[i].fill(&scratch[worker])
	})
	if err != nil {
		return err
	}
	on := make([]int, n.f.Switches()) // [switch] hosts
	for _, e := range n.hosts {
		on[n.f.Endpoint(e).Switch]++
	}
	passing, all := 0.0, 0.0 // pairs whose paths pass a switch with hosts, and all of more than a hop
	for i := range n.roots {
		r := &n.roots[i]
		n.looked += int64(len(r.ways)) * int64(len(r.dests))
		n.placed += int64(len(r.order)) * int64(len(r.dests))
		by, of := n.byHosts(r, on)
		passing, all = passing+by, all+of
	}
	n.direct = 2*passing > all
	return nil
}

// byHosts is how many pairs have paths to a root of more than a hop, by weight, and how
// many of them first pass a switch with hosts, if every way is as likely: with half as many
// as any has, not the few at the top of many trees.
func (n *network) byHosts(r *root, on []int) (by, of float64) {
	most := slices.Max(on)
	for i, u := range r.order {
		ways := r.ways[r.first[i]:r.first[i+1]]
		if len(ways) == 0 || ways[0].head == 0 {
			continue
		}
		pairs := float64(n.src[u] * int64(len(r.dests)))
		for _, w := range ways {
			if 2*on[r.order[w.head]] >= most {
				by += pairs / float64(len(ways))
			}
		}
		of += pairs
	}
	return by, of
}

// fill copies a graph, naming switches by position.
func (r *root) fill(d *dag.DAG) {
	r.order, r.first = append(r.order[:0], d.Order...), append(r.first[:0], d.First...)
	if cap(r.at) < len(d.Hops) {
		r.at = make([]int32, len(d.Hops))
	}
	if cap(r.ways) < len(d.Out) {
		r.ways = make([]way, len(d.Out)) // of memory that is new, nothing has to be cleared, as slices.Grow does
	}
	r.at, r.ways = r.at[:len(d.Hops)], r.ways[:len(d.Out)]
	clear(r.at)
	for i, u := range r.order {
		r.at[u] = int32(i)
	}
	for i, c := range d.Out {
		r.ways[i] = way{c, r.at[d.Head[i]]}
	}
}
