package result

import (
	"github.com/weft-fabric/weft/fabric"
)

// StepOfPlan is a step of a change, by what is written in it.
type StepOfPlan struct {
	Mended   int   `json:"entries_mended"`      // for packets in scope
	Follow   int   `json:"entries_that_follow"` // that no packet in scope uses
	Dropped  int   `json:"entries_dropped"`     // removed for this step only, so that the next one is safe
	Rebuilt  bool  `json:"rebuilt"`             // it moves destinations that lost nothing
	Balanced bool  `json:"balanced"`            // it spreads the load again
	Due      int   `json:"entries_due"`         // of all that change, those that led into nothing
	Blocks   int   `json:"blocks"`              // of 64 LIDs, that have to be written
	Touched  int   `json:"switches"`            // that have to be written to
	Cut      int64 `json:"pairs_cut_after"`

	NotCovered []string `json:"not_covered"` // by the proof of the step

	BySwitch []SwitchEntries `json:"by_switch"`
}

// Least is what any one step has to write at least so that endpoints reach every LID
// again that cables join; none where nobody is cut off.
type Least struct {
	LeastEntries int `json:"least_entries"`
	LeastBlocks  int `json:"least_blocks"`
}

// HeldBack is the endpoints that are back and whose links have to stay down until so many
// steps are confirmed.
type HeldBack struct {
	Waiting []string `json:"waiting"`
	Waits   int      `json:"waiting_steps"`
}

// SwitchEntries is a row of a plan: a switch and its entries that differ between the tables.
type SwitchEntries struct {
	Switch  Node `json:"switch"`
	Entries int  `json:"entries"`
}

// LeftOver is a destination that no step mends.
type LeftOver struct {
	LID      fabric.LID `json:"lid"`
	Endpoint string     `json:"endpoint"`
	Node     Node       `json:"endpoint_node"`
}

// MovedEndpoint is an endpoint of a fabric that the fabric before had elsewhere, with other LIDs, or not at all.
type MovedEndpoint struct {
	Endpoint     Node       `json:"endpoint"`
	LID          fabric.LID `json:"lid"`
	LIDBefore    fabric.LID `json:"lid_before"` // 0: it was not there
	Switch       string     `json:"switch"`
	SwitchBefore string     `json:"switch_before"` // empty: it was not there

	Text string `json:"-"` // it, and what is other than before
}

// Plan is a change in steps for programs, and plan.json.
type Plan struct {
	Fabric  string     `json:"fabric"`
	Without *GoneParts `json:"without,omitempty"` // of weft repair: parts of the fabric that are taken away
	Tables  string     `json:"tables"`
	Fit
	Contract  string `json:"contract"`
	Endpoints string `json:"endpoints"`
	Pairs     int64  `json:"pairs"`
	CutNow    int64  `json:"pairs_cut_now"`
	CutAfter  int64  `json:"pairs_cut_after"`
	Apart     int64  `json:"pairs_apart"`
	Least
	Steps []PlanStep `json:"steps"`
	HeldBack
	AbsentLanes []AbsentLane    `json:"absent_lanes,omitempty"`
	Moved       []MovedEndpoint `json:"moved,omitempty"`    // since the fabric that the tables are for
	Anew        []Node          `json:"ask_anew,omitempty"` // those of moved that have to ask for their paths anew
}

// PlanStep is a step of a Plan, with the time that has to pass before the next: that of so many hops.
type PlanStep struct {
	Folder string `json:"folder"`
	StepOfPlan
	WaitHops    int     `json:"wait_hops"`
	WaitSeconds float64 `json:"wait_seconds"`
}
