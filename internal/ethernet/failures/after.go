package failures

import (
	"context"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
)

// After returns a function that visits the next hops that classes have after each single failure of a kind: those of classes that packets
// of hosts go by, and not where a class only loses some of its next hops. It is what package cure makes rules for; each call of the
// function visits the same.
func After(ctx context.Context, plan *bgp.Plan, n *ethernet.Network, kind Kind) func(visit func(class int, next ethernet.Row)) error {
	t := &trial{plan: plan, n: n, o: Options{Kind: kind}}
	all, _ := t.failures()
	var w *worker
	counts := make([]bool, len(n.Classes)) // hosts send packets for it, or devices wrap them for it
	for i := range n.Classes {
		counts[i] = counts[i] || n.Wanted(i, ethernet.HostScope)
		for _, tunnel := range n.Classes[i].Tunnels {
			counts[tunnel.Into] = true
		}
	}
	return func(visit func(int, ethernet.Row)) error {
		if w == nil {
			if err := t.prepare(ctx); err != nil {
				return err
			}
			w = t.worker()
		}
		for _, f := range all {
			w.fail(f)
			w.recompute(f, true) // pins too
			for _, c := range w.changes {
				if counts[c.Class] {
					visit(c.Class, c.Next)
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	}
}
