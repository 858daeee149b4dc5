package changes

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// checkRestored refuses a plan that does not end with the tables of --restore.
func (j *repairJob) checkRestored(ctx context.Context) error {
	cost := transition.CostOf(j.plan.After, j.target)
	left := outputs.Left(j.plan)
	var why, next string
	switch {
	case cost.SLs > 0 || cost.Maps > 0:
		if j.o.before == "" {
			next = "--before names the fabric of the tables in force, if some of its ports had no cable: their maps are free."
		}
		why = fmt.Sprintf("%s and %s of %s are others, and steps leave these as they are", words.Counted(int(cost.SLs), "service level", "service levels"), words.Counted(cost.Maps, "SL2VL cell", "SL2VL cells"), j.o.restore)
	case cost.Entries > 0:
		v, err := deadlock.Verify(ctx, j.target, deadlock.Options{Contract: j.contract, Scope: j.o.scope, NoCycle: true})
		if err != nil {
			return err
		}
		if !v.Free() {
			return j.targetLoops()
		}
		why = fmt.Sprintf("no safe steps were found that bring %s to the rows of %s: %s", words.Counted(len(left), "destination", "destinations"), j.o.restore, leftText(left))
		if !j.o.drops {
			next = dropsInstead + "weft diff says whether all can be written at once."
		}
	default:
		return nil
	}
	return j.notRestored(why, next, left)
}

// targetLoops refuses tables of --restore that have a credit loop: no safe steps end with them.
func (j *repairJob) targetLoops() error {
	why := fmt.Sprintf("%s has a credit loop under contract %s, endpoints %s", j.o.restore, j.contract, j.o.scope)
	return j.notRestored(why, "weft verify shows the loop; under other --contract or --endpoints it may have none.", []result.LeftOver{})
}

// notRestored is the answer where the tables of --restore cannot be had by safe steps.
func (j *repairJob) notRestored(why, next string, left []result.LeftOver) error {
	return j.Refuse(j.o.asJSON, result.Refusal{Engine: keptName, Refused: why, Fits: []result.FittingEngine{}, Left: left}, "%s cannot be changed into %s: %s.\nNothing was written. %s", j.source, j.o.restore, why, next)
}
