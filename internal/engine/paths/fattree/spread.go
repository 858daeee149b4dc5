package fattree

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/marks"
	"github.com/weft-fabric/weft/routing"
)

// spreader gives destinations their ways, one after the other.
type spreader struct {
	f     *fabric.Fabric
	w     *ways
	stems []uint32     // [down trunk] destinations whose stem comes down by it
	sent  []uint32     // [trunk] destinations that its switch sends by it
	seen  [classes]int // [class] destinations routed so far
	load  *load        // routes on every trunk; nil in a regular tree, where all meet the stem

	// Scratch, for one destination.
	cost     []uint64           // [switch] of the cheapest stem from here up
	next     []fabric.ChannelID // [switch] first trunk of that stem; None at its top
	out      []fabric.ChannelID // [switch] the trunk it takes
	met      *marks.Set         // switches known to meet the stem
	list     []fabric.NodeID    // the stem, then all that meet it
	divisors []uint64           // [hops from the destination] how many destinations in a row go by one trunk up: the product of the numbers of choices below
}

// classes of endpoints are counted apart, so that the n-th host gets the n-th way
// whether or not there are aggregation nodes.
const classes = int(fabric.SwitchPort) + 1

func newSpreader(f *fabric.Fabric, w *ways) *spreader {
	n := f.Switches()
	sp := &spreader{
		f: f, w: w,
		stems: make([]uint32, f.Trunks()),
		sent:  make([]uint32, f.Trunks()),
		cost:  make([]uint64, n),
		next:  make([]fabric.ChannelID, n),
		out:   make([]fabric.ChannelID, n),
		met:   marks.New(n),
	}
	if !w.regular {
		sp.load = newLoad(f)
	}
	return sp
}

// spread routes every LID by the ways of w.
func spread(ctx context.Context, f *fabric.Fabric, w *ways, p routing.Progress) (*routing.Forwarding, error) {
	sp := newSpreader(f, w)
	t := routing.NewForwarding(f)
	err := dag.ByDestination(ctx, f, w.Legal, func(d *dag.DAG, lids []fabric.LID) {
		slices.SortStableFunc(lids, func(a, b fabric.LID) int {
			return int(f.Endpoint(f.Owner(a)).Class) - int(f.Endpoint(f.Owner(b)).Class)
		})
		sp.countDivisors(d)
		rounds := sp.fullRounds(d.Root, lids)
		for i, lid := range lids {
			sp.destination(t.Row(lid), d, f.Endpoint(f.Owner(lid)), i < rounds)
		}
		p.Report(int(d.Root)+1, f.Switches())
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// fullRounds is how many of the LIDs on a switch, hosts first, get a stem. Where
// hosts are more than the trunks that come down to them, the hosts beyond the
// last full round would make some of the trunks carry a destination more than
// others; they get none.
func (sp *spreader) fullRounds(s fabric.NodeID, lids []fabric.LID) int {
	trunks := len(sp.w.climbFrom(s))
	hosts := 0
	for hosts < len(lids) && sp.f.Endpoint(sp.f.Owner(lids[hosts])).Class == fabric.HostAdapter {
		hosts++
	}
	if sp.w.idle[s] {
		return 0
	}
	if trunks == 0 || hosts < trunks || hosts%trunks == 0 {
		return len(lids)
	}
	return hosts - hosts%trunks
}

// countDivisors prepares the divisors of d-mod-k for destinations on a switch: at
// every hop up, the destinations are dealt out round robin over the choices there, and
// move on to the next choice one hop further up after a full round.
func (sp *spreader) countDivisors(d *dag.DAG) {
	sp.divisors = append(sp.divisors[:0], 1)
	for _, s := range d.Order {
		hops := int(d.Hops[s])
		if hops+1 == len(sp.divisors) {
			k := max(1, len(sp.w.climbFrom(s)))
			sp.divisors = append(sp.divisors, sp.divisors[hops]*uint64(k)%(1<<48))
		}
		if hops+1 > len(sp.divisors) {
			return
		}
	}
}

// destination fills the row of an endpoint on d.Root: with stem, the way down first, then everybody who
// can climb to it, then the rest; without, by load (scatter). A switch with fewer cables to one parent
// than to another does not meet the stem where that would leave it out of balance.
func (sp *spreader) destination(row []uint8, d *dag.DAG, e *fabric.Endpoint, stem bool) {
	charge := uint32(1)
	if e.Class == fabric.SwitchPort {
		charge = 0 // management traffic only, which counts nowhere
	}
	sp.met.Empty()
	if stem || charge == 0 && !sp.w.idle[d.Root] {
		sp.stem(d, sp.seen[e.Class], charge)
		sp.gather(d)
		sp.settle(d)
		if sp.load != nil && charge > 0 {
			sp.load.Charge(d.Order, sp.out, 1)
		}
	} else {
		sp.load.scatter(d, sp.out)
	}
	sp.seen[e.Class]++
	channels := sp.f.Channels()
	row[d.Root] = sp.f.LastPort(e)
	for i := 1; i < len(d.Order); i++ {
		s := d.Order[i]
		sp.sent[sp.out[s]] += charge
		row[s] = channels[sp.out[s]].FromPort
	}
}

// stem chooses the one way down to a destination, number index of its class: the
// cheapest from its switch up, as few other destinations as possible coming down
// by the same trunks; of equal ones that of d-mod-k. It sets out, met and list for its switches.
func (sp *spreader) stem(d *dag.DAG, index int, charge uint32) {
	heads, reverse := sp.f.Heads(), sp.f.Reverses()
	last := 0 // of those who can go down all the way
	for last+1 < len(d.Order) && !sp.w.Up[d.Out[d.First[last+1]]] {
		last++
	}
	for i := last; i >= 0; i-- {
		s := d.Order[i]
		sp.cost[s], sp.next[s] = 0, fabric.None
		up := sp.w.climbFrom(s)
		if len(up) == 0 {
			continue
		}
		start := 0
		if h := int(d.Hops[s]); h < len(sp.divisors) {
			start = int(uint64(index) / max(1, sp.divisors[h]) % uint64(len(up)))
		}
		for j := range up {
			c := up[(start+j)%len(up)]
			if d.Hops[heads[c]] != d.Hops[s]+1 {
				continue
			}
			cost := sp.cost[heads[c]] + uint64(sp.stems[reverse[c]])
			if sp.next[s] == fabric.None || cost < sp.cost[s] {
				sp.cost[s], sp.next[s] = cost, c
			}
		}
	}
	sp.met.Add(int(d.Root))
	sp.list = append(sp.list[:0], d.Root)
	for s := d.Root; sp.next[s] != fabric.None; {
		c := sp.next[s]
		s = heads[c]
		sp.out[s] = reverse[c]
		sp.stems[reverse[c]] += charge
		sp.met.Add(int(s))
		sp.list = append(sp.list, s)
	}
}

// settle sets out for switches that do not meet the stem, or should not.
func (sp *spreader) settle(d *dag.DAG) {
	if sp.load != nil {
		sp.load.way[d.Root] = onWay{}
	}
	for i := 1; i < len(d.Order); i++ {
		s := d.Order[i]
		met := sp.met.Has(int(s))
		switch {
		case !met && sp.load != nil:
			sp.out[s] = sp.load.lightest(d, i)
		case !met || sp.w.uneven[s] && sp.w.Up[sp.out[s]]:
			out := d.Choices(i)
			least := dag.LeastUsed(out, sp.sent, int(s)%len(out))
			if !met || sp.sent[sp.out[s]] > sp.sent[least]+1 {
				sp.out[s] = least
			}
		}
		if sp.load != nil {
			sp.load.way[s] = sp.load.onWayBy(sp.out[s])
		}
	}
}

// gather adds to met and list every switch that meets the stem on a shortest way, and sets its out to
// the trunk on such a way that it used least.
func (sp *spreader) gather(d *dag.DAG) {
	heads, reverse := sp.f.Heads(), sp.f.Reverses()
	for i := 0; i < len(sp.list); i++ {
		s := sp.list[i]
		for _, c := range sp.w.downFrom(s) {
			v := heads[c]
			if d.Hops[v] != d.Hops[s]+1 {
				continue
			}
			up := reverse[c]
			if sp.met.Add(int(v)) {
				sp.out[v] = up
				sp.list = append(sp.list, v)
			} else if sp.sent[up] < sp.sent[sp.out[v]] {
				sp.out[v] = up
			}
		}
	}
}
