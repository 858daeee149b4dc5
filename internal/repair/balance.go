package repair

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

const (
	balanceSteps = 4    // at most
	uneven       = 1.10 // by how much the sum of the squared loads may grow before anything is done
	fewEntries   = 8    // nor is it done if the steps of a plan together change less than one entry in so many
)

// balance adds steps to p that spread the pairs over the trunks again. Mend calls it when a plan leaves no
// destination; it does something only if the plan rebuilt rows, changed many entries and left the loads
// uneven, since it changes further entries. In each row it gives a switch another
// entry if the sum of the squared loads falls by that; the union of the step has to allow it, as always.
// Steps end when this sum is what it was before the failure, so that no more entries change than
// bandwidth needs.
func (p *Plan) balance(ctx context.Context, in *problem, tables *routing.Tables) error {
	if in.was.tables == nil || p.entries() < in.entries/fewEntries || !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Rebuilt }) {
		return nil
	}
	load, err := loads(ctx, in.was.tables, in.o)
	if err != nil {
		return err
	}
	enough := intree.Squares(load)
	for i := range balanceSteps {
		a := in.newAttempt(p.end(tables))
		if err := a.derive(ctx); err != nil {
			return err
		}
		b := newBalancer(a, enough)
		if i == 0 && b.sum <= uneven*enough {
			break
		}
		if err := in.eachInScope(ctx, b.destination); err != nil || a.step.Mended == 0 {
			return err
		}
		a.step.Rebuilt, a.step.Balanced = true, true
		p.Steps = append(p.Steps, a.step)
	}
	return nil
}

// loads is the pairs in scope that pass each trunk, [trunk]. It asks for no graph, since the
// tables before a failure may have a loop that the failure broke.
func loads(ctx context.Context, tables *routing.Tables, o Options) ([]int64, error) {
	n := packetset.NewCounter(packetset.NewSources(tables, o.Contract, o.Scope, 0))
	load := make([]int64, tables.Fabric.Trunks())
	for lid := range o.Scope.LIDs(tables.Fabric) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n.Count(tables.Forwarding.Row(lid), lid, 1, nil, load)
	}
	return load, nil
}

// balancer gives switches entries over less loaded paths, in one step.
type balancer struct {
	a            *attempt
	sum          float64       // of the squared loads of a.load
	enough       float64       // the sum with which balancing ends
	passing      []int64       // [switch] pairs to the destination that pass it, or begin there
	alternatives []alternative // scratch
}

// alternative is a trunk by which a switch could forward, at a price.
type alternative struct {
	trunk fabric.ChannelID
	price int64
}

func newBalancer(a *attempt, enough float64) *balancer {
	return &balancer{a: a, sum: intree.Squares(a.load), enough: enough, passing: make([]int64, a.f.Switches())}
}

// destination changes entries of a LID's row as lighten does, at every switch that its packets pass.
func (b *balancer) destination(lid fabric.LID) {
	if b.sum <= b.enough {
		return
	}
	a, counter := b.a, b.a.problem.counter
	a.inForce(lid)
	counter.Count(a.old(lid), lid, 0, nil, nil)
	for s := range b.passing {
		b.passing[s] = counter.Pairs(fabric.NodeID(s))
	}
	for at := range a.dist {
		if s := fabric.NodeID(at); s != a.packets.Home && b.passing[s] > 0 && a.dist[s] != unknown {
			b.lighten(s)
		}
	}
	a.step.Mended += a.write(a.row(lid))
}

// lighten gives a switch the entry of the least price that the union and Slack allow, if it is less than the
// price of its own.
func (b *balancer) lighten(s fabric.NodeID) {
	a := b.a
	pairs, has := b.passing[s], a.packets.Entry[s]
	b.shift(s, -pairs)
	own, _ := b.price(s, has, pairs, int32(a.f.Switches())) // a longer path than Slack allows may be given up, too
	b.alternatives = b.alternatives[:0]
	first, end := a.f.TrunksFrom(s)
	for c := first; c < end; c++ {
		if price, ok := b.price(s, c, pairs, a.best[s]+int32(a.problem.o.Slack)); ok && price < own {
			b.alternatives = append(b.alternatives, alternative{trunk: c, price: price})
		}
	}
	slices.SortFunc(b.alternatives, func(x, y alternative) int {
		return cmp.Or(cmp.Compare(x.price, y.price), cmp.Compare(x.trunk, y.trunk))
	})
	for _, o := range b.alternatives {
		if a.take(s, o.trunk) {
			break
		}
	}
	b.shift(s, pairs)
}

// shift adds so many pairs, or takes them away if negative, along the path from a switch to the destination: to
// load, passing and sum.
func (b *balancer) shift(s fabric.NodeID, pairs int64) {
	a := b.a
	for s != a.packets.Home {
		c := a.packets.Last(s)
		b.sum += float64(float64(pairs) * float64(2*a.load[c]+pairs)) // not fused with the sum, as in intree.Squares
		a.load[c] += pairs
		s = a.f.Heads()[c]
		b.passing[s] += pairs
	}
}

// price is by how much the sum of the squared loads grows for each of some pairs if a switch
// sends them by trunk c. It fails where they would not arrive, or only by more than most trunks.
func (b *balancer) price(s fabric.NodeID, c fabric.ChannelID, pairs int64, most int32) (price int64, ok bool) {
	a := b.a
	price = 2*a.load[c] + pairs
	at := a.f.Heads()[c]
	for hops := int32(1); at != a.packets.Home; hops++ {
		if at == s || a.dist[at] == unknown || hops >= most {
			return 0, false
		}
		c = a.packets.Last(at)
		price += 2*a.load[c] + pairs
		at = a.f.Heads()[c]
	}
	return price, true
}
