package output

import "regexp"

// The files of an output folder.
const (
	LFTs        = "lfts.dump"
	SL2VL       = "sl2vl.dump"
	PSL         = "paths.psl"
	Certificate = "certificate"
	Summary     = "summary.json"
)

// The files of a folder of steps.
const (
	Plan     = "plan.json"
	PlanText = "plan.txt"
)

// stepFolder is the folders of the steps.
var stepFolder = regexp.MustCompile(`^step-[1-9]\d*$`)
