// Package weave assigns lanes turn by turn: for every service level it gives every
// turn, a pair of in-port and out-port at a switch, a lane of its own.
//
// That is all that InfiniBand tables can express. The published assigners use the
// two ends of it: a path keeps to one lane (LASH, DFSSSP: package layer) or changes
// to a higher one at every hop (DF-DN: package hop). Here a path stays on its lane
// as long as no cycle closes there, and changes to a higher one where that saves
// dependencies. Package internal/engine/steps/turnlanes says how, and docs/weave.md why.
//
// Guarantee: free of deadlock for any paths that arrive, under contract honored, or
// directed if that was asked for; under contract any where one service level was enough.
// Lanes never fall along a path, and the turns taken within a lane close no cycle.
// Refuses paths that do not arrive with *routing.Refusal, and for want of lanes with
// *routing.TooFewLanes.
//
// Lanes needed: found out by doing, never more than DF-DN's where its service levels
// suffice and seldom more than 3. Complexity: that of a round of package
// internal/engine/steps/turnlanes, up to 32 times for each number of lanes and service levels tried.
package weave

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/turnlanes"
	"github.com/weft-fabric/weft/routing"
)

// Change says when packets change lanes.
type Change = turnlanes.Change

// The rules: where it serves; never, which makes the layers of LASH; at every turn,
// as DF-DN does.
const (
	Free   = turnlanes.Free
	Never  = turnlanes.Never
	Always = turnlanes.Always
)

// Assigner is the lane assigner. The zero Assigner is ready to use.
type Assigner struct {
	Change Change // Free is what one wants; the others are there to compare with
}

// Lanes implements routing.LaneAssigner.
func (o Assigner) Lanes(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	paths, err := turnlanes.Gather(ctx, f, fw, b, p)
	if err != nil {
		return nil, err
	}
	paths.Change = o.Change
	l, err := paths.Fewest(ctx, b.VLs)
	if err != nil {
		return nil, err
	}
	if l == nil {
		return nil, &routing.TooFewLanes{Need: b.VLs + 1, AtLeast: true, Have: b.VLs}
	}
	return l.Tables(fw, paths.LIDs(), b.Contract.EitherWay()), nil
}
