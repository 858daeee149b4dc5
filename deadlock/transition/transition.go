// Package transition judges a change: it says what happens to packets while a
// subnet manager replaces some tables by others, and what that costs.
//
// A subnet manager writes switch by switch and block by block. Until it is done,
// packets meet any mixture of old and new entries. Each of the two tables may be free
// of deadlock while the change between them is not: packets sent under the old tables
// hold lanes and wait for packets that the new tables sent another way.
//
// # What is judged
//
// Verify asks the judge (deadlock.VerifyMixture) about all mixtures at once, on the
// cables that are live during the change: those of the new tables' fabric. An old entry
// for a cable that is gone drops its packets. Plans of several steps rely on the
// following facts; a property test checks each.
//
//   - If some new tables have an acyclic union with the old ones, then so have the
//     same forwarding tables with the old service levels and SL2VL maps, for the pairs
//     that the old tables deliver. So a plan may keep these levels and maps, and the
//     PathRecords that clients keep stay right.
//   - An acyclic union has no forwarding loop for the traffic in scope: packets that
//     circle come back to a lane that they hold.
//   - If the only entries that change are dead (their packets are dropped, since the cable
//     is gone), the union is the graph of the new tables alone.
//   - A union is symmetric: undoing a change is as safe as the change.
//
// The union covers two tables, not three. Before the next change begins, packets sent under
// the tables that the last change replaced must be gone: that takes a barrier (every switch
// has confirmed the new tables) and then a wait for the lifetime of a packet.
//
// Sources: J. Duato, O. Lysne, R. Pang, T. M. Pinkston: A Theory for Deadlock-Free
// Dynamic Network Reconfiguration, IEEE TPDS 16(5), 2005; O. Lysne et al.: An
// Efficient and Deadlock-Free Network Reconfiguration Protocol, IEEE Trans. Computers
// 57(6), 2008; F. O. Sem-Jacobsen, O. Lysne: Topology Agnostic Dynamic Quick
// Reconfiguration for Large-Scale Interconnection Networks, CCGrid 2012.
package transition

import (
	"context"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/routing"
)

// Verdict is what happens to packets during a change, and what the change costs.
type Verdict struct {
	*deadlock.MixtureVerdict // tables 0 are the old ones, 1 the new
	Cost
}

// CutBefore counts the pairs that the old tables do not deliver on the live cables.
func (v *Verdict) CutBefore() int64 { return v.Cut[0] }

// CutAfter counts the pairs that the new tables do not deliver.
func (v *Verdict) CutAfter() int64 { return v.Cut[1] }

// Verify judges the change from old tables to new, with their multicast trees and adaptive
// groups. The new tables' fabric is what is live during the change; the old tables may be
// for another fabric (see On). The error is for what is not a verdict, such as a cancelled
// context.
func Verify(ctx context.Context, old, next *routing.Tables, o deadlock.Options) (*Verdict, error) {
	before, err := On(next.Fabric, old, next) // a switch that the old tables do not know begins with the new SL2VL map
	if err != nil {
		return nil, err
	}
	v, err := deadlock.VerifyMixture(ctx, []*routing.Tables{before, next}, o)
	if err != nil {
		return nil, err
	}
	return &Verdict{v, CostOf(before, next)}, nil
}
