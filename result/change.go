package result

// GoneParts is parts of a network that are taken away.
type GoneParts struct {
	Switches []string      `json:"switches"`
	Links    []RemovedLink `json:"links"`
	Hosts    []string      `json:"hosts"` // adapters

	SwitchNodes []Node `json:"switch_nodes"`
	HostNodes   []Node `json:"host_nodes"`
}

// WhatIf is what weft what-if prints.
type WhatIf struct {
	Fabric string `json:"fabric"`
	Tables string `json:"tables"`
	Fit
	Contract  string     `json:"contract"`
	Endpoints string     `json:"endpoints"`
	Without   *GoneParts `json:"without"`
	Gone      []Node     `json:"endpoints_gone"` // that go with it
	PairsGone int64      `json:"pairs_gone"`
	Pairs     int64      `json:"pairs"`
	CutNow    int64      `json:"pairs_cut_now"`   // until the first step is written
	CutAfter  int64      `json:"pairs_cut_after"` // after the last
	Apart     int64      `json:"pairs_apart"`     // of these, those that no cable joins
	Least
	CutOff    *CutOff      `json:"cut_off,omitempty"` // who is, until the first step is written
	Steps     []StepOfPlan `json:"steps"`
	Left      []LeftOver   `json:"left"` // destinations that no step mends
	Absent    []AbsentLane `json:"absent_lanes,omitempty"`
	Bandwidth Bandwidths   `json:"bandwidth"`
	Back      struct {
		Steps []StepOfPlan `json:"steps"`
		Left  []LeftOver   `json:"left"`
		HeldBack
		Absent []AbsentLane `json:"absent_lanes,omitempty"`
	} `json:"back"`
	Seconds struct {
		Plan     float64 `json:"plan"`
		Simulate float64 `json:"simulate"`
	} `json:"seconds"`
}

// Drain is what weft drain prints.
type Drain struct {
	Fabric string `json:"fabric"`
	Tables string `json:"tables"`
	Fit
	Contract   string     `json:"contract"`
	Endpoints  string     `json:"endpoints"`
	Drained    *GoneParts `json:"drained"`
	CutAway    int64      `json:"pairs_cut_meanwhile_away"`
	CutBack    int64      `json:"pairs_cut_meanwhile_back"`
	Gone       []Node     `json:"endpoints_on_drained"`
	PairsGone  int64      `json:"pairs_of_drained"`
	Apart      []Node     `json:"endpoints_cut_off"`
	PairsApart int64      `json:"pairs_cut_off"`
	Away       *Plan      `json:"away"`
	Back       *Plan      `json:"back"`
	Bandwidth  Bandwidths `json:"bandwidth"`
}
