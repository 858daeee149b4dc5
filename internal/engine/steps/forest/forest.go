package forest

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// None is the absent hop.
const None = -1

// Forest is all paths as a forest of hops. A hop is a trunk with all that follows it to the
// End: paths share a hop if they agree from there on, and one trunk is as many hops as there
// are different ways on from it. Hops are numbered End by End; within an End Next[h] < h,
// and hops that a later LID needs first have higher numbers.
//
// Whatever holds for a path holds for every tail of it, so most assigners look at Leaves
// only (nothing to do with leaf switches): the paths that are no tail of a longer one.
type Forest struct {
	*Paths
	Trunk  []fabric.ChannelID // [hop]
	Next   []int32            // [hop] the hop after it; None: it leads to the End
	Leaves []int32            // the first hops of the paths that are no tail of a longer one, ascending

	first []int32 // [end, plus one at the end] its first hop
}

// Grow reads the paths into a forest. It refuses as Check does.
//
// Complexity: as Each. Memory: 8 bytes a hop, and as much while it is made. There are S²
// hops where all LIDs of a switch are reached alike, D·S at most.
func (p *Paths) Grow(ctx context.Context, report routing.Progress) (*Forest, error) {
	growers := newGrowers(p)
	parts := make([]endHops, len(p.Ends)) // [end]
	err := p.Each(ctx, report, func(worker, end int, t *InTree) {
		g := growers[worker]
		for t.Next() {
			g.add(t)
		}
		parts[end] = endHops{trunk: slices.Clone(g.trunk), next: slices.Clone(g.next)}
		g.reset()
	})
	if err != nil {
		return nil, err
	}
	return p.join(parts), nil
}

// endHops is the hops of one End.
type endHops struct {
	trunk []fabric.ChannelID
	next  []int32 // counted within the End
}

// join makes a Forest of the hops of every End, [end], and clears those.
func (p *Paths) join(parts []endHops) *Forest {
	f := &Forest{Paths: p, first: make([]int32, len(parts)+1)}
	for i := range parts {
		f.first[i+1] = f.first[i] + int32(len(parts[i].trunk))
	}
	hops := f.first[len(parts)]
	f.Trunk, f.Next = make([]fabric.ChannelID, 0, hops), make([]int32, 0, hops)
	leaf := make([]bool, hops)
	for i := range parts {
		f.Trunk = append(f.Trunk, parts[i].trunk...)
		for _, next := range parts[i].next {
			leaf[len(f.Next)] = true
			if next != None {
				next += f.first[i]
				leaf[next] = false // marked before: Next[h] < h
			}
			f.Next = append(f.Next, next)
		}
		parts[i] = endHops{}
	}
	for n, isLeaf := range leaf {
		if isLeaf {
			f.Leaves = append(f.Leaves, int32(n))
		}
	}
	return f
}

// Range is the hops [first, end) of the paths to Ends[i].
func (f *Forest) Range(i int) (first, end int32) { return f.first[i], f.first[i+1] }

// Hops counts the trunks of the path that begins with a hop.
func (f *Forest) Hops(n int32) int {
	hops := 0
	for ; n != None; n = f.Next[n] {
		hops++
	}
	return hops
}

// AppendTurns appends the turns of the path that begins with a hop.
func (f *Forest) AppendTurns(turns []acyclic.Turn, n int32) []acyclic.Turn {
	for next := f.Next[n]; next != None; n, next = next, f.Next[next] {
		in, out := f.Trunk[n], f.Trunk[next]
		turns = append(turns, acyclic.Turn{ID: int32(f.Fabric.Turn(in, out)), In: in, Out: out})
	}
	return turns
}

// EachLID calls visit for every LID with its in-tree and the hop of every switch in it,
// [switch], valid for those in t.Order and during the call. As Each, it uses several cores:
// the LIDs of one End come one after another, those of different Ends at the same time.
func (f *Forest) EachLID(ctx context.Context, visit func(t *InTree, hop []int32)) error {
	growers := newGrowers(f.Paths)
	return f.Each(ctx, nil, func(worker, i int, t *InTree) {
		g := growers[worker]
		first, end := f.Range(i)
		for n := first; n < end; n++ {
			next := f.Next[n]
			if next != None {
				next -= first
			}
			g.put(f.Trunk[n], next)
		}
		for t.Next() {
			g.add(t)
			for _, s := range t.Order {
				g.hop[s] += first // add writes it anew for the next LID, from the End outwards
			}
			visit(t, g.hop)
		}
		g.reset()
	})
}

// grower collects the hops of the paths to one End after another.
type grower struct {
	heads []fabric.NodeID
	hop   []int32 // [switch in the in-tree at hand] its hop

	trunk  []fabric.ChannelID // [hop]
	next   []int32            // [hop]
	older  []int32            // [hop] the one made before it over the same trunk; None
	newest []int32            // [trunk] the hop over it that was made last; None
}

func newGrowers(p *Paths) []*grower {
	growers := make([]*grower, par.Workers(len(p.Ends)))
	for w := range growers {
		growers[w] = &grower{heads: p.Fabric.Heads(), hop: make([]int32, p.Fabric.Switches()), newest: slices.Repeat([]int32{None}, p.Fabric.Trunks())}
	}
	return growers
}

// add finds or makes the hops of an in-tree, and sets hop of its switches.
func (g *grower) add(t *InTree) {
	for _, s := range t.Order {
		out, next := t.Out[s], int32(None)
		if head := g.heads[out]; head != t.End.Switch {
			next = g.hop[head]
		}
		g.hop[s] = g.find(out, next)
	}
}

// find is the hop over trunk out with the given one after it, made if there is none.
func (g *grower) find(out fabric.ChannelID, next int32) int32 {
	for n := g.newest[out]; n != None; n = g.older[n] {
		if g.next[n] == next {
			return n
		}
	}
	return g.put(out, next)
}

// put makes a hop, and returns its number within the End.
func (g *grower) put(out fabric.ChannelID, next int32) int32 {
	n := int32(len(g.trunk))
	g.trunk, g.next, g.older = append(g.trunk, out), append(g.next, next), append(g.older, g.newest[out])
	g.newest[out] = n
	return n
}

// reset forgets the hops.
func (g *grower) reset() {
	for _, c := range g.trunk {
		g.newest[c] = None
	}
	g.trunk, g.next, g.older = g.trunk[:0], g.next[:0], g.older[:0]
}
