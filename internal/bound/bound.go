// Package bound proves how good any routing of a network can be at best, so that one sees
// what no routing can mend. Links are all alike, and hosts are in one part of the network.
//
// A cut is some switches and the cables that leave them. What the hosts on these switches
// send to others has to pass those cables, whatever the routing, so:
//
//   - Phases. In a phase of all to all n of the hosts inside send to hosts outside, each one
//     flow; on m cables some cable carries ⌈n/m⌉ of them, and the phase takes at least that
//     many times as long as a flow alone. A phase takes what the worst of all cuts says, and
//     all phases their mean.
//   - AllToAll to everybody. Of h·(N-h) routes out of the cut some cable carries the m-th
//     part. In small networks a dual solution of the linear program of fractional flow says
//     more: any length for every channel gives a bound, since each route is at least as long
//     as the shortest way; the sum of these, divided by the length of all channels, is a mean
//     of loads. Lengths are improved by multiplicative weights (N. Garg, J. Könemann, SIAM
//     Journal on Computing 37(2), 2007); however good they are, the bound holds.
//   - Random pairs. The flows that leave a cut get no more than its cables have, whatever
//     share each gets. That is weak: a flow that shares a cable with others while a
//     neighbour is idle gets less.
//
// Cuts that are looked at: every switch with hosts; what is joined below each level of a
// tree; what is within some hops of a switch. Of all cuts around the same hosts that with
// fewest cables is taken (maximum flow), where the network is not too large. There may be
// better cuts than these; the bound says which it is made of, and Check reads nothing else.
//
// Complexity: O(Σ h²) for the cuts with h hosts, and a maximum flow for each.
package bound

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// Cut is some switches, and what of the bound it decides.
type Cut struct {
	Switches []fabric.NodeID // by number
	Hosts    int             // adapters on them
	Cables   int             // that leave them
	Phases   int             // phases that it decides
}

// Phases is the bound for all to all in phases with ranks in an order.
type Phases struct {
	Time float64 // mean over all phases, 1 if no flow has to meet another
	Cuts []Cut   // that decide phases longer than 1, those that decide most first
}

// Routes is the bound for everybody to everybody: what the fullest channel between
// switches carries at least.
type Routes struct {
	Most int64
	Cut  Cut // nil Switches: no route leaves a switch

	// Lengths is a dual solution that says more than the cut, [trunk]; nil: none does.
	Lengths []int64
}

// Pairs is an upper bound of what random pairs get, as a fraction of full.
type Pairs struct {
	Lambda float64
	Cuts   []Cut // hosts are in one of them each; those that lose most first
}

// Network is a network with its cuts, which weft bound asks for its bounds.
type Network struct {
	f       *fabric.Fabric
	hosts   []fabric.EndpointID
	hostsOn []int // [switch] number of hosts
	cuts    []Cut
	tiers   [][]int // sets of cuts, as indices into cuts, no two with a host in common; first the single switches
}

// New finds the cuts of a network. It refuses one whose hosts are in several connected components, where
// some pairs have no route at all.
func New(ctx context.Context, f *fabric.Fabric) (*Network, error) {
	n := &Network{f: f, hosts: routing.HCA.Endpoints(f), hostsOn: make([]int, f.Switches())}
	part, first := f.PartOf(f.Parts()), int32(-1)
	for _, e := range n.hosts {
		s := f.Endpoint(e).Switch
		if s == fabric.None || first >= 0 && part[s] != first {
			return nil, fmt.Errorf("the hosts are in several parts of the network: pairs without a route take forever")
		}
		first = part[s]
		n.hostsOn[s]++
	}
	n.findCuts()
	return n, n.tighten(ctx)
}

// Phases is the bound for all to all in phases: in phase k, from 1, rank i sends to rank i+k. ranks says where each
// runs.
func (n *Network) Phases(ctx context.Context, ranks []fabric.EndpointID) (Phases, error) {
	if len(ranks) < 2 {
		return Phases{Time: 1}, ctx.Err()
	}
	type worst struct{ takes, cut []int32 }        // [phase less 1] how long it takes at least, and the cut that says so
	all := make([]worst, par.Workers(len(n.cuts))) // [worker]
	err := par.For(ctx, len(n.cuts), func(worker, i int) {
		w := &all[worker]
		if w.takes == nil {
			*w = worst{takes: make([]int32, len(ranks)-1), cut: make([]int32, len(ranks)-1)}
		}
		for k, out := range n.leaving(&n.cuts[i], ranks) {
			takes := int32(ceil(int64(out), int64(n.cuts[i].Cables)))
			// The first of equals, whoever worked on it.
			if takes > w.takes[k] || takes == w.takes[k] && int32(i) < w.cut[k] {
				w.takes[k], w.cut[k] = takes, int32(i)
			}
		}
	})
	if err != nil {
		return Phases{}, err
	}
	decides := make([]int, len(n.cuts)) // [cut] phases
	sum := int64(0)
	for k := range len(ranks) - 1 {
		takes, cut := int32(1), int32(fabric.None)
		for _, w := range all {
			if w.takes != nil && (w.takes[k] > takes || w.takes[k] == takes && cut >= 0 && w.cut[k] < cut) {
				takes, cut = w.takes[k], w.cut[k]
			}
		}
		sum += int64(takes)
		if cut >= 0 {
			decides[cut]++
		}
	}
	p := Phases{Time: float64(sum) / float64(len(ranks)-1)}
	for i, phases := range decides {
		if phases > 0 {
			c := n.cuts[i]
			c.Phases = phases
			p.Cuts = append(p.Cuts, c)
		}
	}
	slices.SortStableFunc(p.Cuts, func(a, b Cut) int { return cmp.Compare(b.Phases, a.Phases) })
	return p, nil
}

// leaving is the number of flows out of a cut in each phase, [phase less 1].
func (n *Network) leaving(c *Cut, ranks []fabric.EndpointID) []int {
	inside := make([]bool, n.f.Switches())
	for _, s := range c.Switches {
		inside[s] = true
	}
	var in, out []int // ranks; the fewer of them are looked at, as many come in as go out
	for i, e := range ranks {
		if inside[n.f.Endpoint(e).Switch] {
			in = append(in, i)
		} else {
			out = append(out, i)
		}
	}
	if len(out) < len(in) {
		in = out
	}
	flows := slices.Repeat([]int{len(in)}, len(ranks)-1)
	for _, i := range in {
		for _, k := range in {
			if d := (k - i + len(ranks)) % len(ranks); d > 0 {
				flows[d-1]--
			}
		}
	}
	return flows
}

// Check is nil if a cut has the hosts and cables that it says, counted anew from the cables alone; tests and
// readers of a bound need trust nothing else.
func Check(f *fabric.Fabric, c Cut) error {
	inside := make([]bool, f.Switches())
	for _, s := range c.Switches {
		if s < 0 || int(s) >= f.Switches() || inside[s] {
			return fmt.Errorf("%d is no switch, or is listed twice", s)
		}
		inside[s] = true
	}
	cables, hosts := 0, 0
	for _, ch := range f.Channels() {
		from, to := f.Node(ch.From).Kind == fabric.Switch, f.Node(ch.To).Kind == fabric.Switch
		if from && to && inside[ch.From] && !inside[ch.To] {
			cables++
		}
	}
	for _, e := range f.Endpoints() {
		if e.Class == fabric.HostAdapter && e.Switch != fabric.None && inside[e.Switch] {
			hosts++
		}
	}
	if cables != c.Cables || hosts != c.Hosts {
		return fmt.Errorf("%d hosts and %d cables out, not %d and %d", hosts, cables, c.Hosts, c.Cables)
	}
	return nil
}

// Random is the upper bound of what random pairs get: the least of the bounds by each tier that has all hosts in
// its cuts. In a tier no flow leaves two cuts, so what gets past each can be added up.
func (n *Network) Random() Pairs {
	best := Pairs{Lambda: 1}
	flows := len(n.hosts) / 2
	if flows == 0 {
		return best
	}
	for _, tier := range n.tiers {
		sum, rest := 0.0, len(n.hosts)
		type loss struct {
			cut   Cut
			flows float64
		}
		var losses []loss
		for _, i := range tier {
			c := n.cuts[i]
			got, all := passed(len(n.hosts), c.Hosts, c.Cables)
			sum, rest = sum+got, rest-c.Hosts
			if all > got*(1+1e-12) { // more than rounding
				losses = append(losses, loss{cut: c, flows: all - got})
			}
		}
		if rest != 0 || sum/float64(flows) >= best.Lambda {
			continue
		}
		best = Pairs{Lambda: sum / float64(flows)}
		slices.SortStableFunc(losses, func(a, b loss) int { return cmp.Compare(b.flows, a.flows) })
		for _, l := range losses {
			best.Cuts = append(best.Cuts, l.cut)
		}
	}
	return best
}

// passed is for a cut with so many of the hosts inside and so many cables that leave it, in the mean over all ways to
// pair up hosts at random: how many flows hosts inside send (all), and as many as get to their receivers at most
// (got), those of pairs inside and of the others one for each cable. A draw puts the hosts into places: half are
// senders, each with the place of its receiver; of an odd number one is idle.
func passed(hosts, inside, cables int) (got, all float64) {
	flows, odd := hosts/2, hosts%2
	log := func(n int) float64 { v, _ := math.Lgamma(float64(n) + 1); return v }
	choose := log(hosts) - log(inside) - log(hosts-inside)
	for idle := 0; idle <= min(odd, inside); idle++ {
		for both := 0; 2*both+idle <= inside; both++ {
			single := inside - idle - 2*both // places of pairs whose other end is outside
			if both+single > flows {
				continue
			}
			for out := 0; out <= single; out++ {
				p := math.Exp(log(flows) - log(out) - log(single-out) - log(both) - log(flows-single-both) - choose)
				got += p * float64(both+min(out, cables))
				all += p * float64(both+out)
			}
		}
	}
	return got, all
}

// ceil is a by b, rounded up; 0 for b = 0: a cut that no cable leaves says nothing.
func ceil(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return (a + b - 1) / b
}
