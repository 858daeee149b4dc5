package alash

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/choices"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/marks"
	"github.com/weft-fabric/weft/routing"
)

// The phases of a packet: only at its source is the trunk fixed.
const (
	atSource = iota
	later
	phases
)

// group is all shortest paths of a pair of switches that begin with one trunk. Its layers are the
// lanes that its source is allowed to its address (adaptive.Tables.AllowedRow).
type group struct {
	source, dest fabric.NodeID
	address      adaptive.Address // of dest
	trunk        fabric.ChannelID // the first
	turns        int32            // how many different turns its paths make
}

// groups is all groups, on their way into layers.
type groups struct {
	f       *fabric.Fabric
	ends    []bool // [switch] it sends and receives
	t       *adaptive.Tables
	choices *adaptive.Choices // of every lane
	count   int               // groups, listed or not

	// oneLayer says that there is no circle in all groups together. Then one
	// layer takes them all, in whatever order, and they are not listed.
	oneLayer bool
	list     []group // by turns, the most first; then by destination, source and port
	layers   *acyclic.Layers

	counter  counter
	search   search
	progress routing.Progress
}

// newGroups finds the shortest paths and gives out the addresses.
func newGroups(ctx context.Context, f *fabric.Fabric, ends []bool, p routing.Progress) (*groups, error) {
	g := &groups{
		f: f, ends: ends, layers: acyclic.NewLayers(f), progress: p,
		counter: counter{f: f}, search: search{f: f, seen: marks.New(f.Trunks())},
	}
	var d dag.DAG
	addresses := make([]int, f.Switches())
	all := newUnion(f)
	for s, end := range ends {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.Report(s, 2*len(ends))
		if !end {
			continue
		}
		dag.Shortest(&d, f, fabric.NodeID(s))
		for i, u := range d.Order {
			if ends[u] {
				addresses[s] = max(addresses[s], len(d.Choices(i)))
				g.count += len(d.Choices(i))
			}
		}
		all.add(&d, ends)
	}
	g.oneLayer = !all.circles()
	g.t = adaptive.New(f, addresses)
	phase := slices.Repeat([]uint8{later}, f.Trunks())
	g.choices = adaptive.NewChoices(f, g.t.Addresses(), phases, phase)
	for s, n := range addresses {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.Report(len(ends)+s, 2*len(ends))
		if n > 0 {
			dag.Shortest(&d, f, fabric.NodeID(s))
			g.address(&d)
			if !g.oneLayer {
				g.listAll(&d)
			}
		}
	}
	slices.SortStableFunc(g.list, func(a, b group) int { return cmp.Compare(b.turns, a.turns) })
	return g, nil
}

// address sets up the addresses of a destination: the k-th fixes the k-th of the
// trunks that a source may begin with.
func (g *groups) address(d *dag.DAG) {
	first, end := g.t.AddressesOf(d.Root)
	choices.Add(g.choices.Fresh(first, later), d)
	for a := first; a < end; a++ {
		g.choices.Share(a, later, first)
		set := g.choices.Fresh(a, atSource)
		for i, u := range d.Order {
			if open, k := d.Choices(i), int(a-first); g.ends[u] && k < len(open) {
				set.Add(open[k])
			}
		}
	}
}

// listAll adds the groups to a destination, whose addresses are set up, to the list.
func (g *groups) listAll(d *dag.DAG) {
	a, _ := g.t.AddressesOf(d.Root)
	set := g.choices.Set(a, later)
	heads := g.f.Heads()
	g.counter.begin(d)
	for s := range fabric.NodeID(g.f.Switches()) {
		if !g.ends[s] || s == d.Root {
			continue
		}
		first, end := g.f.TrunksFrom(s)
		k := adaptive.Address(0)
		for c := set.Next(first, end); c < end; c = set.Next(c+1, end) {
			g.list = append(g.list, group{source: s, dest: d.Root, address: a + k, trunk: c, turns: g.counter.after(heads[c])})
			k++
		}
	}
}

// allowAll lets every source use all its groups on some lanes, given as bits.
func (g *groups) allowAll(lanes uint16) {
	for a := range adaptive.Address(g.t.Addresses()) {
		row, set := g.t.AllowedRow(a), g.choices.Set(a, atSource)
		for s := range row {
			if first, end := g.f.TrunksFrom(fabric.NodeID(s)); set.Next(first, end) < end {
				row[s] = lanes
			}
		}
	}
}

// turns is the turns of all paths of a group, until the next call.
func (g *groups) turns(x *group) []acyclic.Turn {
	return g.search.from(x.trunk, x.dest, g.choices.Set(x.address, later))
}

// put puts a group into the first layer, out of so many, that takes it, and reports whether there is
// one. Layers beyond what tables can hold are counted only.
func (g *groups) put(x *group, limit int) bool {
	layer, ok := g.layers.First(g.turns(x), limit)
	if ok && layer < routing.MaxDataVLs {
		g.t.AllowedRow(x.address)[x.source] = 1 << layer
	}
	return ok
}

// each calls visit for every group of the list, until it has enough.
func (g *groups) each(ctx context.Context, visit func(x *group) (more bool)) error {
	for i := range g.list {
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			g.progress.Report(i, len(g.list))
		}
		if !visit(&g.list[i]) {
			return nil
		}
	}
	g.progress.Report(len(g.list), len(g.list))
	return nil
}

// putAll puts every group without a layer into the first that takes it, out of so
// many. It counts those that it finds no layer for, and gives up at the first
// unless they may be left out.
func (g *groups) putAll(ctx context.Context, limit int, leaveOut bool) (left int, err error) {
	err = g.each(ctx, func(x *group) bool {
		if g.t.Allowed(x.source, x.address) == 0 && !g.put(x, limit) {
			left++
		}
		return left == 0 || leaveOut
	})
	return left, err
}

// putOneOfEachPair puts one group of every pair into a layer: its smallest, or
// else any that fits. It counts the pairs of which none does.
func (g *groups) putOneOfEachPair(ctx context.Context, limit int) (apart int, err error) {
	n := g.f.Switches()
	pair := func(x *group) int { return int(x.dest)*n + int(x.source) }
	smallest := make([]*group, n*n) // [pair]; the last of the list
	served := make([]bool, n*n)     // [pair]
	for i := range g.list {
		smallest[pair(&g.list[i])] = &g.list[i]
	}
	err = g.each(ctx, func(x *group) bool {
		if smallest[pair(x)] == x {
			served[pair(x)] = g.put(x, limit)
		}
		return true
	})
	for i := len(g.list) - 1; i >= 0 && err == nil; i-- {
		if x := &g.list[i]; !served[pair(x)] {
			served[pair(x)] = g.put(x, limit)
		}
	}
	for p := range served {
		if smallest[p] != nil && !served[p] {
			apart++
		}
	}
	return apart, err
}

// spread is step 4: every group goes into every layer that takes it. Layers do not
// depend on each other, so that a group can be tried in all of them at once; and
// those in which there is nothing yet all end up alike, so that one of them is
// enough to know the others.
func (g *groups) spread(ctx context.Context, vls int) error {
	empty := g.layers.Len()
	distinct := min(empty+1, vls)
	alike := uint16(1)<<vls - uint16(1)<<(distinct-1) // the last of distinct, and those after it
	g.layers.AtLeast(distinct)
	return g.each(ctx, func(x *group) bool {
		row := g.t.AllowedRow(x.address)
		if row[x.source] == 0 {
			return true
		}
		if row[x.source] |= uint16(g.layers.Every(g.turns(x), distinct)); row[x.source]>>(distinct-1)&1 == 1 && distinct > empty {
			row[x.source] |= alike
		}
		return true
	})
}
