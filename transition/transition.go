// Package transition judges a change: it says what happens to packets while a
// subnet manager replaces some tables by others, and what that costs.
//
// A subnet manager writes switch by switch and block by block. Until it is done,
// packets meet any mixture of old entries and new. Each of the two tables may be
// free of deadlock and the change between them not: what was sent under the old
// holds lanes and waits for packets that the new ones sent the other way.
//
// # What is judged
//
// Verify asks the judge (deadlock.VerifyMixture) about all mixtures at once, on the
// cables that are live while the change goes on: those of the new tables' fabric. An
// old entry that leads into a cable that is gone drops its packets. The following
// facts carry plans of several changes (package comments of those who make them say
// how); each is held by a property test.
//
//   - If some new tables have an acyclic union with the old ones, so do the same
//     forwarding tables with the old service levels and SL2VL maps, for what the old
//     tables deliver. So a plan may leave both alone, and what clients remember of
//     PathRecords stays right.
//   - A union that is acyclic has no forwarding loop for the traffic in scope: what
//     circles comes back to a lane that it holds.
//   - If only entries change that lead into nothing (they drop what they get), the
//     union is the graph of the new tables alone.
//   - A union is symmetric: to undo a change is as safe as the change.
//
// The union covers two tables, not three. Before the next change begins, the packets
// of the tables before the last must be gone: a barrier (every switch has confirmed
// the last tables), then a wait as long as a packet may live.
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

// Verdict is what becomes of packets during a change, and what the change costs.
type Verdict struct {
	*deadlock.MixtureVerdict // tables 0 are the old ones, 1 the new
	Cost
}

// CutBefore counts the pairs that the old tables do not deliver on the cables that
// are live.
func (v *Verdict) CutBefore() int64 { return v.Cut[0] }

// CutAfter counts the pairs that the new tables do not deliver.
func (v *Verdict) CutAfter() int64 { return v.Cut[1] }

// Verify judges the change from old tables to new. The new tables' fabric is what is
// live while it goes on; the old tables may be for another (see On). The error is for
// what is not a verdict.
func Verify(ctx context.Context, old, next *routing.Tables, o deadlock.Options) (*Verdict, error) {
	before, err := On(next.Fabric, old, next)
	if err != nil {
		return nil, err
	}
	v, err := deadlock.VerifyMixture(ctx, []*routing.Tables{before, next}, o)
	if err != nil {
		return nil, err
	}
	return &Verdict{v, CostOf(before, next)}, nil
}
