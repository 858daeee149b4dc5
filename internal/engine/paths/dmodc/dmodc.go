// Package dmodc routes fat trees by a formula that stays the same when cables and
// switches fail: Dmodc.
//
// J. Gliksberg, A. Capra, A. Louvet, P. J. García, D. Sohier: High-Quality
// Fault-Resiliency in Fat-Tree Networks, Hot Interconnects 2019 and IEEE Micro 40(1),
// 2020 (arXiv 2211.11817 and 2211.13101), for parallel generalized fat trees (PGFT) of
// which some is missing. It extends d-mod-k, the closed form of complete trees. Where
// ftree gives every destination one way down and repairs what does not fit, here every
// switch computes its port from what it sees:
//
//   - The cost from a switch to a leaf is the hops of the shortest way up, then down.
//   - The port groups of a switch are the cables to one other switch, by port; groups are
//     in the order of GUIDs. C is those towards a switch with a lower cost to the leaf of
//     the destination (equation 1).
//   - The divider Π of a switch is the product of the numbers of groups up on the way from
//     a leaf to it, of several ways the largest; 1 at a leaf.
//   - The topological number t of a destination counts the hosts, leaf by leaf: first those
//     of the first leaf by GUID and of all leaves that are nearest to it, then those of the
//     first leaf that is left and of the nearest to it among the rest, and so on. So
//     hosts of a subtree have numbers in a row, whatever their GUIDs.
//   - The group is number ⌊t/Π⌋ mod #C of C (equation 2), and the port of that group is
//     number ⌊t/(Π·#C)⌋ mod its ports (equation 3).
//
// In a complete tree with leaves numbered in order this is d-mod-k: phases of a shift
// meet nowhere. No load is counted, so a fault changes few entries, and destinations are
// independent of each other: they are routed on all cores.
//
// Guarantee: deadlock-free on one lane, whatever service level a client uses; connected
// for all host adapters; shortest among the ways up and then down. What has no such way
// is joined by turns from down to up (package levels), where the paper calls the routing
// invalid; where they would close a cycle, some destinations are routed anew (package regrow).
//
// Complexity: O(S·(S + C) + D·S) for S switches, C trunks and D destination LIDs, and
// O(G·(S + C)) to number hosts that are in G subtrees.
//
// What is the paper's and what is not: the formulas above are its equations and its
// algorithms for costs, dividers and numbers as they are known to us, from memory and
// without its text at hand; that of several dividers the largest counts, and how ties are
// broken, may differ from it. These are ours:
//   - Levels are found from the cables (package levels), as for ftree; the paper takes
//     switches with hosts as leaves and the distance from them as level.
//   - A switch that can go down to the destination does so, even if a neighbour below had a lower
//     cost by going up again: that would be a turn from down to up.
//   - Where several groups lead down, as from a top that reaches a leaf by several switches of
//     its pod, which is no PGFT, the group is number t mod #C. At a top Π is so large that
//     ⌊t/Π⌋ is the same for all hosts of a pod, and all would come down by one switch. If
//     switches without a way up and down cannot be joined to these paths, equation 2 is taken there, too.
//   - Addresses that are not those of hosts are numbered after them, in the same order of
//     switches; further addresses of a port (LMC) after all others.
//
// It refuses what ftree refuses.
package dmodc

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// Finder is Dmodc. The zero Finder is ready to use.
type Finder struct{}

// Paths implements routing.PathFinder. It refuses what is not a tree with
// *routing.Refusal.
func (Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	l, refusal := levels.Find(f)
	if refusal != nil {
		return nil, refusal
	}
	o := orient.New(f, l.Order)
	n := &network{f: f, o: o, links: dag.NewLinks(f), spread: true}
	n.divide()
	n.number(l)
	err := n.route(ctx, l.Join, p)
	if routing.Refused(err) {
		n.spread = false
		err = n.route(ctx, l.Complete, p)
	}
	if err != nil {
		return nil, err
	}
	return n.t, nil
}

// joiner completes the paths of a forwarding that go up and then down, or refuses.
type joiner func(context.Context, *orient.Orientation, *routing.Forwarding) error

// route fills n.t anew for all destinations, and has it completed.
func (n *network) route(ctx context.Context, join joiner, p routing.Progress) error {
	n.t = routing.NewForwarding(n.f)
	switches := n.f.Switches()
	routers := make([]router, par.Workers(switches))
	err := par.For(ctx, switches, func(worker, root int) {
		routers[worker].route(n, fabric.NodeID(root))
		if worker == 0 {
			p.Report(root, switches)
		}
	})
	if err != nil {
		return err
	}
	p.Report(switches, switches)
	return join(ctx, n.o, n.t)
}

// Explain implements routing.Explainer.
func (o Finder) Explain(f *fabric.Fabric) []routing.Finding { return levels.Explain(f, o) }

// network is what the formula needs to know.
type network struct {
	f       *fabric.Fabric
	o       *orient.Orientation
	links   *dag.Links // port groups
	divider []uint32   // [switch] Π
	nid     []uint32   // [LID] t
	spread  bool       // among groups that lead down the number is t mod #C
	t       *routing.Forwarding
}

// most is a divider above all numbers of destinations, which are fewer than twice the
// LIDs there are: whatever is divided by it is 0.
const most = 1 << 17

// divide computes the dividers, from the lowest switch up.
func (n *network) divide() {
	n.divider = make([]uint32, n.f.Switches())
	for i := range n.divider {
		n.divider[i] = 1
	}
	for i := len(n.o.Order) - 1; i >= 0; i-- {
		s := n.o.Order[i]
		groups := uint32(0)
		for g := n.links.First[s]; g < n.links.First[s+1]; g++ {
			if n.up(g) {
				groups++
			}
		}
		for g := n.links.First[s]; g < n.links.First[s+1]; g++ {
			if above := &n.divider[n.links.To[g]]; n.up(g) {
				*above = max(*above, min(most, n.divider[s]*groups))
			}
		}
	}
}

// up reports whether a port group, a link of n.links, leads up.
func (n *network) up(group int32) bool { return n.o.Up[n.links.Cables(group)[0]] }

// number sets nid: every LID gets its topological number.
func (n *network) number(l *levels.Levels) {
	n.nid = make([]uint32, int(n.f.TopLID())+1)
	order := n.leaves(l)
	next := uint32(0)
	count := func(switches []fabric.NodeID, address int, hosts bool) {
		for _, s := range switches {
			for _, id := range n.f.Attached(s) {
				e := n.f.Endpoint(id)
				if (e.Class == fabric.HostAdapter) == hosts && address < 1<<e.LMC {
					n.nid[int(e.LID)+address] = next
					next++
				}
			}
		}
	}
	all := fabric.All[fabric.NodeID](n.f.Switches())
	for address := range n.f.Addresses() {
		count(order, address, true)
		count(all, address, false)
	}
}

// leaves is the switches with hosts in the order in which their hosts are numbered.
func (n *network) leaves(l *levels.Levels) (order []fabric.NodeID) {
	var left []fabric.NodeID // by GUID, as switches are
	for s, hosts := range l.Hosts {
		if hosts > 0 {
			left = append(left, fabric.NodeID(s))
		}
	}
	var cost dag.DAG
	for len(left) > 0 {
		n.o.Legal(&cost, n.f, left[0])
		nearest := int32(dag.NoPath)
		for _, s := range left[1:] {
			if h := cost.Hops[s]; h != dag.NoPath && (nearest == dag.NoPath || h < nearest) {
				nearest = h
			}
		}
		rest := left[:0]
		for i, s := range left {
			if h := cost.Hops[s]; i == 0 || h != dag.NoPath && h <= nearest {
				order = append(order, s)
			} else {
				rest = append(rest, s)
			}
		}
		left = rest
	}
	return order
}
