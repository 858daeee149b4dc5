package result

// Diff is what weft diff prints.
type Diff struct {
	Old         DiffSide    `json:"old"`
	New         DiffSide    `json:"new"`
	Gone        Parts       `json:"gone"`
	Added       Parts       `json:"added"`
	Readdressed []Node      `json:"readdressed"` // ports that both fabrics have, with other LIDs
	Change      *Transition `json:"change,omitempty"`
	Seconds     DiffSeconds `json:"seconds"`
}

// DiffSide is one of two fabrics with its tables.
type DiffSide struct {
	Fabric  string `json:"fabric"`
	Tables  string `json:"tables,omitempty"`
	Verdict string `json:"verdict,omitempty"` // of the tables by themselves
	Fit
	AbsentLanes []AbsentLane `json:"absent_lanes,omitempty"`
}

// Parts is what one of two fabrics has and the other has not.
type Parts struct {
	Switches []Node        `json:"switches"`
	Hosts    []Node        `json:"hosts"`
	Links    []RemovedLink `json:"links"`
}

// Transition is a change from some tables to others, written switch by switch.
type Transition struct {
	Claim
	Dependencies int       `json:"dependencies"`
	Cycle        []Mixture `json:"cycle,omitempty"`
	Entries      int       `json:"entries"`
	Due          int       `json:"entries_due"`
	Least
	Blocks    int        `json:"blocks"`
	Touched   int        `json:"switches"`
	SLs       int64      `json:"sls"`
	Maps      int        `json:"sl2vl_cells"`
	Choices   int        `json:"choices,omitempty"` // entries of adaptive routing that let packets choose from other ports
	Pairs     int64      `json:"pairs"`
	CutBefore int64      `json:"pairs_cut_before"`
	Exposed   int64      `json:"pairs_cut_meanwhile"` // pairs that may have no path while the change is written
	CutAfter  int64      `json:"pairs_cut_after"`
	Circles   int64      `json:"destinations_circled"`
	Outside   []string   `json:"not_covered"` // by the verdict
	Bandwidth Bandwidths `json:"bandwidth"`

	BySwitch []SwitchEntries `json:"by_switch"`
}

// Mixture is a step of a credit loop in a mixture of old and new tables.
type Mixture struct {
	Step
	Way []Choice `json:"way"`
}

// Choice is by which of the tables a switch forwards.
type Choice struct {
	Switch Node   `json:"switch"`
	Entry  string `json:"entry"` // old, new, or same
	Map    string `json:"map"`   // old, where both agree too, or new
}

// DiffSeconds is the time of each stage of a comparison.
type DiffSeconds struct {
	Read     float64 `json:"read"`
	Verify   float64 `json:"verify"`
	Simulate float64 `json:"simulate"`
}
