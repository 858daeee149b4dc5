package turnlanes

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/acyclic"
)

// none is the absent hop or turn.
const none = -1

// Paths is the paths of a forwarding between the endpoints of a scope, as a
// forest: a node is a hop, its parent the hop after it. Paths to one switch that
// agree from a hop on share what follows. What admits a path admits all parts of
// it, so only the leaves count, the paths that no other continues.
//
// Under contract honored that is so on one service level only. With several, all paths
// between two switches, both ways, share one: they are a bundle.
type Paths struct {
	Change Change // when packets may change lanes; Assign goes by it

	f       *fabric.Fabric
	fw      *routing.Forwarding
	sources []bool // [switch] it has endpoints in scope
	lids    []fabric.LID

	trunk  []fabric.ChannelID // [node]
	parent []int32            // [node] none: the last hop
	leaves []int32            // by hops, those with most first; of as many by destination
	hops   int                // of the longest path
	turns  []bool             // [turn] some path takes it

	both    bool     // bundles count
	rootEnd []int32  // [switch] the hops that lead to it end here, and begin where those to the one before end
	bundles *bundles // nil until they are asked for
}

// Gather collects the paths between the endpoints in scope. A path that circles or
// ends elsewhere is refused with *routing.Refusal, one that is missing is left out.
//
// Complexity: O(D·S) for D destination LIDs and S switches. Memory: 8 bytes for
// every different hop of the paths to a switch, S² where all addresses of a switch
// are reached alike.
func Gather(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, p routing.Progress) (*Paths, error) {
	all := &Paths{f: f, fw: fw, sources: b.Scope.Ends(f), turns: make([]bool, f.Turns()), both: b.Contract.EitherWay()}
	g := gatherer{Paths: all, newest: make([]int32, f.Switches()), node: make([]int32, f.Switches()), needed: make([]bool, f.Switches())}
	for i := range g.newest {
		g.newest[i] = none
	}
	for root := range fabric.NodeID(f.Switches()) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, e := range f.Attached(root) {
			ep := f.Endpoint(e)
			if !b.Scope.Includes(ep.Class) {
				continue
			}
			for l := range fabric.LID(1) << ep.LMC {
				if err := g.add(root, ep.LID+l); err != nil {
					return nil, err
				}
				all.lids = append(all.lids, ep.LID+l)
			}
		}
		g.closeRoot()
		p.Report(int(root)+1, f.Switches())
	}
	all.sortLeaves(g.leaves)
	return all, nil
}

// gatherer builds the forest, one destination switch after another.
type gatherer struct {
	*Paths
	tree   routing.Tree
	newest []int32 // [switch] its newest hop to the root at hand; none
	node   []int32 // [switch] its hop to the LID at hand
	needed []bool  // [switch] a path to the LID at hand begins there or behind
	// Of the hops to the root at hand, from first on, [node - first]:
	first  int
	older  []int32 // another hop of the same switch; none
	inner  []bool  // it continues another
	leaves [][]int32
}

// add adds the paths to a LID on switch root.
func (g *gatherer) add(root fabric.NodeID, lid fabric.LID) error {
	row := g.fw.Row(lid)
	g.tree.Build(g.f, row, root)
	clear(g.needed)
	heads := g.f.Heads()
	for i := len(g.tree.Order) - 1; i > 0; i-- {
		s := g.tree.Order[i]
		if g.needed[s] = g.needed[s] || g.sources[s]; g.needed[s] {
			g.needed[heads[g.tree.Out[s]]] = true
		}
	}
	for s, sends := range g.sources {
		if sends && row[s] != routing.NoPort && fabric.NodeID(s) != root && !g.needed[s] {
			return routing.Refuse(g.f, ruleArrive, fabric.NodeID(s), row[s], "its packets to LID %d never arrive", lid)
		}
	}
	for _, s := range g.tree.Order {
		if s == root {
			g.node[s] = none
		} else if g.needed[s] {
			g.node[s] = g.hop(s, g.tree.Out[s], g.node[heads[g.tree.Out[s]]])
		}
	}
	return nil
}

// ruleArrive is the one rule that paths must keep.
const ruleArrive = "every packet arrives"

// hop is the hop of switch s by a trunk to the next hop.
func (g *gatherer) hop(s fabric.NodeID, out fabric.ChannelID, next int32) int32 {
	for n := g.newest[s]; n != none; n = g.older[int(n)-g.first] {
		if g.trunk[n] == out && g.parent[n] == next {
			return n
		}
	}
	n := int32(len(g.trunk))
	g.trunk, g.parent = append(g.trunk, out), append(g.parent, next)
	g.older, g.inner = append(g.older, g.newest[s]), append(g.inner, false)
	g.newest[s] = n
	if next != none {
		g.inner[int(next)-g.first] = true
		g.turns[g.f.Turn(out, g.trunk[next])] = true
	}
	return n
}

// closeRoot sorts out the leaves of the hops to a root.
func (g *gatherer) closeRoot() {
	for i, inner := range g.inner {
		n := int32(g.first + i)
		g.newest[g.f.Channel(g.trunk[n]).From] = none
		if inner {
			continue
		}
		hops := 0
		for at := n; at != none; at = g.parent[at] {
			hops++
		}
		for len(g.leaves) <= hops {
			g.leaves = append(g.leaves, nil)
		}
		g.leaves[hops] = append(g.leaves[hops], n)
	}
	g.first = len(g.trunk)
	g.rootEnd = append(g.rootEnd, int32(g.first))
	g.older, g.inner = g.older[:0], g.inner[:0]
}

func (p *Paths) sortLeaves(byHops [][]int32) {
	p.hops = max(0, len(byHops)-1)
	for h := p.hops; h > 1; h-- { // one hop has no turn
		p.leaves = append(p.leaves, byHops[h]...)
	}
}

// steps appends the turns of the path that begins with a hop.
func (p *Paths) steps(steps []acyclic.Turn, n int32) []acyclic.Turn {
	for next := p.parent[n]; next != none; n, next = next, p.parent[next] {
		in, out := p.trunk[n], p.trunk[next]
		steps = append(steps, acyclic.Turn{ID: int32(p.f.Turn(in, out)), In: in, Out: out})
	}
	return steps
}

// eachTurn calls visit for every trunk that some path takes next after another.
func (p *Paths) eachTurn(in int, visit func(out int)) {
	c := fabric.ChannelID(in)
	first, end := p.f.TrunksFrom(p.f.Heads()[c])
	turn := p.f.FirstTurn(c)
	for out := first; out < end; out++ {
		if p.turns[turn] {
			visit(int(out))
		}
		turn++
	}
}

// Len counts the paths that no other continues and that have a turn.
func (p *Paths) Len() int { return len(p.leaves) }

// LIDs is the destinations, by switch.
func (p *Paths) LIDs() []fabric.LID { return p.lids }
