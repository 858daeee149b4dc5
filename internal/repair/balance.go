package repair

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

const (
	balanceSteps = 4    // at most
	uneven       = 1.10 // by how much the sum of the squared loads may grow before anything is done
	fewEntries   = 8    // nor is it done if the steps of a plan together change less than one entry in so many
)

// balance adds steps that spread the pairs over the trunks again, if a plan that chose many rows
// anew has left them uneven: a few entries are not worth more that change. Each destination in turn gives a switch another
// entry if the trunks of the new path have less load together than those of its own; the union
// of the step has to allow it, as always. Steps end when the sum of the squared loads is what it
// was before the failure, so that no more entries change than bandwidth needs.
func (p *Plan) balance(ctx context.Context, sh *shared, tables *routing.Tables) error {
	if sh.was.tables == nil || p.entries() < sh.entries/fewEntries || !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Rebuilt }) {
		return nil
	}
	load, err := loads(ctx, sh.was.tables, sh.o)
	if err != nil {
		return err
	}
	enough := squares(load)
	for i := range balanceSteps {
		s := sh.newStep(p.end(tables))
		if err := s.derive(ctx); err != nil {
			return err
		}
		b := balancer{mender: newMender(s), sum: squares(s.load), enough: enough}
		if i == 0 && b.sum <= uneven*enough {
			break
		}
		if err := s.eachInScope(ctx, b.destination); err != nil || s.Mended == 0 {
			return err
		}
		s.Rebuilt, s.Balanced = true, true
		p.Steps = append(p.Steps, s.Step)
	}
	return nil
}

// loads is the pairs in scope that pass each trunk, [trunk]. It asks for no graph, since the
// tables before a failure may have a loop that the failure broke.
func loads(ctx context.Context, tables *routing.Tables, o Options) ([]int64, error) {
	w := newFlow(tables.Fabric, tables.Lanes.SL2VL, newLevels(tables, o))
	load := make([]int64, tables.Fabric.Trunks())
	for lid := range o.Scope.LIDs(tables.Fabric) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.begin(tables.Forwarding.Row(lid), lid)
		w.addLoad(load, 1)
	}
	return load, nil
}

// squares is the sum of squared loads. It is least for short paths that share no trunk.
func squares(load []int64) float64 {
	sum := 0.
	for _, pairs := range load {
		sum += float64(pairs) * float64(pairs)
	}
	return sum
}

// balancer gives switches entries over less loaded paths.
type balancer struct {
	*mender
	sum    float64 // of the squared loads
	enough float64 // which it need not be less than
	others []other // scratch
}

// other is a trunk by which a switch could forward.
type other struct {
	trunk fabric.ChannelID
	price int64
}

// destination changes entries of a row.
func (b *balancer) destination(lid fabric.LID) {
	if b.sum <= b.enough {
		return
	}
	f := b.flow
	b.inForce(lid)
	f.addLoad(b.load, 0) // for under
	for at := range b.dist {
		if s := fabric.NodeID(at); s != f.home && f.under[s] > 0 && b.dist[s] != unknown {
			b.lighten(s)
		}
	}
	b.Mended += b.write(b.Tables.Forwarding.Row(lid))
}

// lighten gives a switch the path of the least price that the union and Slack allow, if it is
// less than that of its own.
func (b *balancer) lighten(s fabric.NodeID) {
	pairs, has := b.flow.under[s], b.flow.cur[s]
	b.shift(s, -pairs)
	own, _ := b.price(s, has, pairs, int32(b.f.Switches())) // a longer path than Slack allows may be given up, too
	b.others = b.others[:0]
	first, end := b.f.TrunksFrom(s)
	for c := first; c < end; c++ {
		if price, ok := b.price(s, c, pairs, b.best[s]+int32(b.o.Slack)); ok && price < own {
			b.others = append(b.others, other{c, price})
		}
	}
	slices.SortFunc(b.others, func(x, y other) int { return cmp.Or(cmp.Compare(x.price, y.price), cmp.Compare(x.trunk, y.trunk)) })
	for _, o := range b.others {
		if b.takeSafely(s, o.trunk) {
			break
		}
	}
	b.shift(s, pairs)
}

// on is the trunk by which a switch forwards after the step.
func (b *balancer) on(s fabric.NodeID) fabric.ChannelID {
	if c := b.flow.next[s]; c != fabric.None {
		return c
	}
	return b.flow.cur[s]
}

// shift counts pairs from a switch to the destination by times more.
func (b *balancer) shift(s fabric.NodeID, by int64) {
	for s != b.flow.home {
		c := b.on(s)
		b.sum += float64(by) * float64(2*b.load[c]+by)
		b.load[c] += by
		s = b.f.Heads()[c]
		b.flow.under[s] += by
	}
}

// price is by how much the sum of the squared loads grows for each of some pairs that a switch
// sends by a trunk. It fails where they do not arrive, or by more than most trunks.
func (b *balancer) price(s fabric.NodeID, c fabric.ChannelID, pairs int64, most int32) (price int64, ok bool) {
	price = 2*b.load[c] + pairs
	at := b.f.Heads()[c]
	for hops := int32(1); at != b.flow.home; hops++ {
		if at == s || b.dist[at] == unknown || hops >= most {
			return 0, false
		}
		c = b.on(at)
		price += 2*b.load[c] + pairs
		at = b.f.Heads()[c]
	}
	return price, true
}
