package alash

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/adaptive/ways"
	"github.com/weft-fabric/weft/routing/paths/dag"
)

// The phases of a packet: only at its source is the trunk fixed.
const (
	atSource = iota
	later
	phases
)

// group is all shortest paths of a pair of switches that begin with one trunk. The
// lanes that its source is allowed to its address are its layers.
type group struct {
	source, dest fabric.NodeID
	address      routing.Address
	trunk        fabric.ChannelID
	turns        int32 // how many they have, all paths together
}

// groups is all groups, on their way into layers.
type groups struct {
	f       *fabric.Fabric
	ends    []bool // [switch]
	t       *routing.Adaptive
	choices *routing.Choices
	layers  *layers
	list    []group // by turns, the most first; then by destination, source and port

	search   search
	progress routing.Progress
}

// newGroups finds the shortest paths and gives out the addresses.
func newGroups(f *fabric.Fabric, ends []bool, p routing.Progress) *groups {
	g := &groups{f: f, ends: ends, layers: newLayers(f), progress: p, search: search{f: f, seen: make([]uint32, f.Trunks())}}
	var d dag.DAG
	addresses := make([]int, f.Switches())
	for s := range addresses {
		if !ends[s] {
			continue
		}
		dag.Shortest(&d, f, fabric.NodeID(s))
		for i, u := range d.Order {
			if ends[u] {
				addresses[s] = max(addresses[s], len(d.Choices(i)))
			}
		}
	}
	g.t = routing.NewAdaptive(f, addresses)
	phase := make([]uint8, f.Trunks())
	for c := range phase {
		phase[c] = later
	}
	g.choices = routing.NewChoices(f, g.t.Addresses(), phases, phase)
	for s := range fabric.NodeID(f.Switches()) {
		if addresses[s] > 0 {
			dag.Shortest(&d, f, s)
			g.address(&d)
			g.listAll(s)
		}
	}
	slices.SortStableFunc(g.list, func(a, b group) int { return cmp.Compare(b.turns, a.turns) })
	return g
}

// address sets up the addresses of a destination: the k-th fixes the k-th of the
// trunks that a source may begin with.
func (g *groups) address(d *dag.DAG) {
	first, end := g.t.AddressesOf(d.Root)
	ways.Shortest(g.choices.Fresh(first, later), d)
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

// listAll lists the groups of a destination.
func (g *groups) listAll(d fabric.NodeID) {
	a, _ := g.t.AddressesOf(d)
	set := g.choices.Set(a, later)
	for s := range fabric.NodeID(g.f.Switches()) {
		if !g.ends[s] || s == d {
			continue
		}
		first, end := g.f.TrunksFrom(s)
		k := routing.Address(0)
		for c := set.Next(first, end); c < end; c = set.Next(c+1, end) {
			x := group{source: s, dest: d, address: a + k, trunk: c}
			x.turns = int32(len(g.turns(&x)))
			g.list = append(g.list, x)
			k++
		}
	}
}

// turns is the turns of all paths of a group, until the next call.
func (g *groups) turns(x *group) []turn {
	return g.search.from(x.trunk, x.dest, g.choices.Set(x.address, later))
}

// put puts a group into the first layer that takes it, out of so many.
func (g *groups) put(x *group, limit int) bool {
	layer, ok := g.layers.first(g.turns(x), limit)
	if ok && layer < routing.MaxDataVLs {
		g.t.AllowedRow(x.address)[x.source] = 1 << layer
	}
	return ok
}

// each calls visit for every group, until it has enough.
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
// depend on each other, so that a group can be tried in all of them at once.
func (g *groups) spread(ctx context.Context, vls int) error {
	g.layers.atLeast(vls)
	return g.each(ctx, func(x *group) bool {
		if row := g.t.AllowedRow(x.address); row[x.source] != 0 {
			row[x.source] |= uint16(g.layers.every(g.turns(x), vls))
		}
		return true
	})
}

// search finds the turns of groups.
type search struct {
	f     *fabric.Fabric
	seen  []uint32 // [trunk] the search that saw it last
	stamp uint32
	queue []fabric.ChannelID
	turns []turn
}

// from is the turns of all paths that begin with trunk c and go on to dest by the
// trunks of a set, until the next call.
func (w *search) from(c fabric.ChannelID, dest fabric.NodeID, set routing.TrunkSet) []turn {
	if w.stamp++; w.stamp == 0 { // wrapped: old marks could look new
		clear(w.seen)
		w.stamp = 1
	}
	heads := w.f.Heads()
	w.turns, w.queue = w.turns[:0], append(w.queue[:0], c)
	for i := 0; i < len(w.queue); i++ {
		in := w.queue[i]
		if heads[in] == dest {
			continue
		}
		first, end := w.f.TrunksFrom(heads[in])
		base := w.f.FirstTurn(in) - int(first)
		for out := set.Next(first, end); out < end; out = set.Next(out+1, end) {
			w.turns = append(w.turns, turn{int32(base + int(out)), in, out})
			if w.seen[out] != w.stamp {
				w.seen[out] = w.stamp
				w.queue = append(w.queue, out)
			}
		}
	}
	return w.turns
}
