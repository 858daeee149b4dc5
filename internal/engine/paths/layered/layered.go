// Package layered gives the addresses of an endpoint (LMC) different paths on purpose: the
// first address has minimal paths, each further one is a layer of paths that are a hop or
// two longer than minimal, where the network has few minimal paths.
//
// M. Besta et al.: FatPaths: Routing in Supercomputers and Data Centers when Shortest
// Paths Fall Short, SC 2020, has the idea: networks of low diameter have mostly one
// shortest path between two switches, but many that are one hop longer ("almost minimal"),
// and layers, each routed by destination, make them usable. N. Blach et al.: A
// High-Performance Design, Implementation, Deployment, and Evaluation of The Slim Fly
// Network, NSDI 2024 (arXiv 2310.03742), section 4, brings it to InfiniBand, a layer for
// each address, and fills the layers by the heuristic that is followed here. Their OpenSM
// (github.com/spcl/opensm, routing engine lnmp) calls it layered non-minimal paths.
//
// A layer is filled path by path. Sources are taken in the order of how few longer paths
// to the destination they have in the layers before. Each gets the path that fits the
// layer, is a hop longer than minimal, or two, and has the fewest routes on its trunks. It
// fixes the next hop of the switches that it passes, because a layer has one path from
// each switch. A source that finds no such path, because the others have fixed too much, goes the
// shortest way that the layer leaves.
//
// Guarantee: every address is reached from every switch of its part of the network; the
// paths of first addresses are minimal; no path between switches with adapters is longer
// than their diameter and one hop.
// Deadlock-free only together with a lane assigner: hop.Color where no path has more than
// three hops, layer.BreakCycles elsewhere, as in the paper (section 5).
//
// Complexity: for each address but the first, O(S·k^(D-1)) for S switches of k trunks and
// diameter D, at the most; weights cut off most of it. Memory: O(S + trunks).
//
// Deviations from the paper, and from lnmp where the paper leaves things open: destinations are
// taken one after another, all layers of each, instead of all pairs in random order within a
// layer; so who comes first depends on the destination, and not on a seed. A path is longer
// than the minimal one of its pair; lnmp takes paths of 2 to 3 hops, whatever is minimal.
package layered

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/routing"
)

// Finder finds the paths. The zero Finder is ready to use.
type Finder struct{}

// MaxDiameter is the largest diameter, between switches with adapters, that is routed:
// beyond it longer paths are no help, and too many to look at.
const MaxDiameter = 4

var ruleLow = fmt.Sprintf("no two switches with adapters are more than %d hops apart", MaxDiameter)

// Explain implements routing.Explainer.
func (Finder) Explain(f *fabric.Fabric) []routing.Finding {
	hops, from, to := diameter(f)
	why := "all adapters hang on one switch, or on switches without a way between them"
	if hops > 0 {
		why = fmt.Sprintf("from %s to %s it is %d hops, and nowhere more", f.Label(from), f.Label(to), hops)
	}
	return []routing.Finding{{Rule: ruleLow, OK: hops <= MaxDiameter, Why: why}}
}

// diameter is the most hops between two switches with adapters, and the first two that are
// so far apart.
func diameter(f *fabric.Fabric) (most int32, from, to fabric.NodeID) {
	ends := routing.Adapters.Ends(f)
	var d dag.DAG
	for a, end := range ends {
		if !end {
			continue
		}
		dag.Shortest(&d, f, fabric.NodeID(a))
		for _, z := range d.Order {
			if ends[z] && d.Hops[z] > most {
				most, from, to = d.Hops[z], fabric.NodeID(a), z
			}
		}
	}
	return most, from, to
}

// Paths implements routing.PathFinder.
func (Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	far, from, to := diameter(f)
	if far > MaxDiameter {
		return nil, routing.Refuse(f, ruleLow, from, 0, "from here to %s it is %d hops", f.Label(to), far)
	}
	t := routing.NewForwarding(f)
	b := newBuilder(f, far)
	err := dag.ByDestination(ctx, f, dag.Shortest, func(d *dag.DAG, lids []fabric.LID) {
		b.enter(d)
		for _, lid := range lids {
			e := f.Endpoint(f.Owner(lid))
			times := uint64(1)
			if e.Class == fabric.SwitchPort { // routes to switches are no load
				times = 0
			}
			if lid == e.LID { // its first address, which comes before the others
				clear(b.longerPaths)
				b.minimal()
				intree.Write(f, t.Row(lid), lid, d.Order, b.out)
				b.base.Charge(d.Order, b.out, times)
				continue
			}
			b.layer(times)
			intree.Write(f, t.Row(lid), lid, b.order, b.out)
		}
		p.Report(int(d.Root)+1, f.Switches())
	})
	if err != nil {
		return nil, err
	}
	t.Notes = append(t.Notes, b.note(f.Addresses()))
	return t, nil
}

// builder finds the trees of one destination after another.
type builder struct {
	f     *fabric.Fabric
	heads []fabric.NodeID
	far   int32         // the diameter
	base  *intree.Loads // routes to first addresses
	rest  []uint64      // [trunk] routes to further addresses

	d           *dag.DAG           // to the destination at hand
	near        []fabric.ChannelID // the trunks switch by switch, those first whose heads are nearest to the root; TrunksFrom says where those of a switch are
	longerPaths []uint8            // [switch] how many paths longer than minimal fix has given it to the endpoint at hand
	hadLonger   []uint8            // [switch] scratch: longerPaths before the layer at hand
	senders     []fabric.NodeID    // scratch: the switches with sending endpoints, in the order in which they get paths

	// The tree at hand.
	out   []fabric.ChannelID // [switch] the trunk it forwards to
	hops  []int32            // [switch] of its path; dag.NoPath: it has none yet
	order []fabric.NodeID    // the switches of the tree, the root first, each behind the one it forwards to
	sum   []uint64           // [switch] routes on its path
	added []uint64           // [switch] scratch of charge: routes that begin there or pass it
	fixed []bool             // [switch] it had its path before fill, by fix, or is the root

	search search // scratch of detour, in search.go

	pairs uint64 // of a source switch and a further address
	found uint64 // of these, those with a longer path than minimal
}

func newBuilder(f *fabric.Fabric, far int32) *builder {
	n := f.Switches()
	return &builder{
		f: f, heads: f.Heads(), far: far, base: intree.NewLoads(f), rest: make([]uint64, f.Trunks()),
		near: make([]fabric.ChannelID, f.Trunks()), longerPaths: make([]uint8, n), hadLonger: make([]uint8, n),
		out: make([]fabric.ChannelID, n), hops: make([]int32, n), sum: make([]uint64, n), added: make([]uint64, n), fixed: make([]bool, n),
	}
}

// enter prepares for the destinations on a switch.
func (b *builder) enter(d *dag.DAG) {
	b.d = d
	for _, u := range d.Order {
		first, end := b.f.TrunksFrom(u)
		near := b.near[first:end]
		for i := range near {
			near[i] = first + fabric.ChannelID(i)
		}
		slices.SortFunc(near, func(x, y fabric.ChannelID) int {
			return cmp.Or(cmp.Compare(d.Hops[b.heads[x]], d.Hops[b.heads[y]]), cmp.Compare(x, y))
		})
	}
}

// minimal sets out to the tree of a first address: the shortest paths that are the lightest by the
// routes to first addresses.
func (b *builder) minimal() {
	d := b.d
	b.sum[d.Root] = 0
	for i := 1; i < len(d.Order); i++ {
		u := d.Order[i]
		b.out[u] = fabric.None
		choices := d.Choices(i)
		for j := range choices {
			c := choices[(j+int(d.Root))%len(choices)] // so that ties differ from root to root
			if sum := b.sum[b.heads[c]] + b.base.On[c]; b.out[u] == fabric.None || sum < b.sum[u] {
				b.out[u], b.sum[u] = c, sum
			}
		}
	}
}

// layer makes the tree of a further address, in out and order, and charges its routes times over: once, or not at
// all (0) to a switch itself. No sender may have a path longer than the diameter and one hop, and none gets one by its own
// detour; but if that is of two hops, a switch filled in behind it may. Then the tree is made again with
// detours of one hop only, with which none is.
func (b *builder) layer(times uint64) {
	b.orderSenders()
	copy(b.hadLonger, b.longerPaths)
	b.grow(2, times) // with detours of at most two hops
	if slices.ContainsFunc(b.senders, func(s fabric.NodeID) bool { return b.hops[s] > b.far+1 }) {
		b.charge(func(fabric.NodeID) bool { return true }, -times) // takes all routes of the tree back
		copy(b.longerPaths, b.hadLonger)
		b.grow(1, times)
	}
	for _, s := range b.senders {
		b.pairs++
		if b.hops[s] > b.d.Hops[s] {
			b.found++
		}
	}
}

// grow makes the tree with detours of so many hops at the most, and charges its routes.
func (b *builder) grow(most int32, times uint64) {
	for s := range b.hops {
		b.hops[s] = dag.NoPath
	}
	b.hops[b.d.Root] = 0
	for _, s := range b.senders {
		if b.hops[s] == dag.NoPath {
			if path := b.detour(s, most); path != nil {
				b.fix(path, times)
			}
		}
	}
	b.fill()
	b.charge(func(s fabric.NodeID) bool { return !b.fixed[s] }, times)
}

// orderSenders sets senders: first the switches that have the fewest longer paths; of several, by number from
// the root's on.
func (b *builder) orderSenders() {
	d, n := b.d, b.f.Switches()
	b.senders = b.senders[:0]
	for i := 1; i < n; i++ {
		s := fabric.NodeID((int(d.Root) + i) % n)
		if b.base.Sources[s] > 0 && d.Hops[s] != dag.NoPath {
			b.senders = append(b.senders, s)
		}
	}
	slices.SortStableFunc(b.senders, func(x, y fabric.NodeID) int { return cmp.Compare(b.longerPaths[x], b.longerPaths[y]) })
}

// fix gives the switches of a path, which leads to a switch with a path, their next hops, charges
// what they send all the way to the root, and counts in longerPaths those whose paths are longer than minimal.
func (b *builder) fix(path []fabric.ChannelID, times uint64) {
	end := b.heads[path[len(path)-1]]
	hops := b.hops[end] + int32(len(path))
	sources := uint64(0)
	for _, c := range path {
		s := b.f.Channel(c).From
		b.out[s], b.hops[s] = c, hops
		if hops > b.d.Hops[s] {
			b.longerPaths[s]++
		}
		hops--
		sources += uint64(b.base.Sources[s])
		b.rest[c] += sources * times
	}
	for s := end; s != b.d.Root; s = b.heads[b.out[s]] {
		b.rest[b.out[s]] += sources * times
	}
}

// weight is the routes on a trunk, to all addresses.
func (b *builder) weight(c fabric.ChannelID) uint64 { return b.base.On[c] + b.rest[c] }

// fill gives the switches without a path the shortest that there is into the tree, of
// several the lightest, and sets order to the whole tree.
func (b *builder) fill() {
	d := b.d
	for _, s := range d.Order {
		b.fixed[s] = b.hops[s] != dag.NoPath
	}
	b.order = append(b.order[:0], d.Root)
	b.sum[d.Root] = 0
	for level, from := int32(1), 0; len(b.order) < len(d.Order); level++ {
		last := len(b.order)
		for _, s := range d.Order {
			if b.fixed[s] && b.hops[s] == level {
				b.sum[s] = b.sum[b.heads[b.out[s]]] + b.weight(b.out[s])
				b.order = append(b.order, s)
			}
		}
		for _, v := range b.order[from:last] {
			b.join(v, level)
		}
		from = last
	}
}

// join offers the way through switch v, which has a hop less than level, to neighbours that are not fixed.
func (b *builder) join(v fabric.NodeID, level int32) {
	reverses := b.f.Reverses()
	for back, end := b.f.TrunksFrom(v); back < end; back++ {
		c, u := reverses[back], b.heads[back]
		if b.fixed[u] || b.hops[u] != dag.NoPath && b.hops[u] != level {
			continue
		}
		sum := b.sum[v] + b.weight(c)
		if b.hops[u] == dag.NoPath {
			b.hops[u] = level
			b.order = append(b.order, u)
		} else if sum > b.sum[u] || sum == b.sum[u] && c > b.out[u] {
			continue
		}
		b.out[u], b.sum[u] = c, sum
	}
}

// charge adds the routes of some of the switches in the tree, those that counts names, times over.
func (b *builder) charge(counts func(fabric.NodeID) bool, times uint64) {
	for _, s := range b.order {
		b.added[s] = 0
		if counts(s) {
			b.added[s] = uint64(b.base.Sources[s])
		}
	}
	for i := len(b.order) - 1; i > 0; i-- {
		s := b.order[i]
		c := b.out[s]
		b.rest[c] += b.added[s] * times
		b.added[b.heads[c]] += b.added[s]
	}
}

// note says what came of the layers.
func (b *builder) note(addresses int) string {
	if b.pairs == 0 {
		return "each endpoint has one address, so all paths are minimal: several addresses (--lmc 2) make layers of longer ones"
	}
	return fmt.Sprintf("%d layers, one for each address: minimal paths, and beside them longer ones for %.0f %% of switches and further addresses",
		addresses, 100*float64(b.found)/float64(b.pairs))
}
