package page

import (
	"context"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Compare adds what changes from the first tables of the network to the second, and
// whether packets can deadlock while it does.
func Compare(ctx context.Context, n *result.ReportNetwork, old, next *routing.Tables, o deadlock.Options) error {
	v, err := transition.Verify(ctx, old, next, o)
	if err != nil {
		return err
	}
	d := &result.ReportDifference{
		From: n.Tables[0].Name, To: n.Tables[1].Name, Verdict: result.DeadlockFree,
		Entries: v.Entries, Blocks: v.Blocks, Switches: v.Switches, SLs: v.SLs, Maps: v.Cost.Maps, Exposed: v.Exposed,
	}
	if !v.Free() {
		d.Verdict = result.CreditLoop
	}
	for _, entries := range v.BySwitch {
		d.BySwitch = append(d.BySwitch, int32(entries))
	}
	n.Against = d
	return nil
}
