package changes

import (
	"fmt"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// checkRestored refuses a plan that does not end with the tables of --restore.
func (j *repairJob) checkRestored() error {
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
		why = fmt.Sprintf("no safe steps were found that bring %s to the rows of %s: %s", words.Counted(len(left), "destination", "destinations"), j.o.restore, leftText(left))
		if !j.o.drops {
			next = dropsInstead + "weft diff says whether all can be written at once."
		}
	default:
		return nil
	}
	return j.Refuse(j.o.asJSON, result.Refusal{Engine: keptName, Refused: why, Fits: []result.FittingEngine{}, Left: left}, "%s cannot be changed into %s: %s.\nNothing was written. %s", j.source, j.o.restore, why, next)
}
