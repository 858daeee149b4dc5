package result

// Auto is how an engine was chosen.
type Auto struct {
	Why        string      `json:"why"`
	Aim        string      `json:"aim"`
	Tried      []Trial     `json:"tried"`
	InForce    []InForce   `json:"in_force,omitempty"`    // tables of --tables
	AnyRouting *AnyRouting `json:"any_routing,omitempty"` // of any routing
	// LimitReached says that the clock ended the search, so that another run may
	// choose otherwise.
	LimitReached bool `json:"limit_reached"`
}

// AnyRouting is what no routing can do better, all links being alike; weft bound says which cables are why.
type AnyRouting struct {
	Lambda float64 `json:"ebb"`                             // at most
	Shifts []Shift `json:"shifts"`                          // at least
	Index  int64   `json:"edge_forwarding_index,omitempty"` // at least; of weft compare
}

// Trial is an engine that was tried.
type Trial struct {
	Engine  string  `json:"engine"`
	Outcome string  `json:"outcome"`
	Why     string  `json:"why,omitempty"`
	VLs     int     `json:"vls,omitempty"` // as lanes_needed
	Needed  int     `json:"lanes_needed,omitempty"`
	SLs     int     `json:"sls,omitempty"`
	Lambda  float64 `json:"ebb,omitempty"`
	Shifts  []Shift `json:"shifts,omitempty"`
	MaxLoad uint32  `json:"max_load,omitempty"`
	Traffic float64 `json:"traffic_time,omitempty"` // of --traffic
	Mean    float64 `json:"traffic_mean,omitempty"`
}

// InForce is tables in force beside what auto tried.
type InForce struct {
	Name        string `json:"name"`
	Verdict     string `json:"verdict"`
	Used        int    `json:"lanes_used"`
	Unreachable int64  `json:"unreachable"`
	Fit
	Lambda  float64 `json:"ebb"`
	Shifts  []Shift `json:"shifts"`
	MaxLoad uint32  `json:"max_load"`
	Traffic float64 `json:"traffic_time,omitempty"` // of --traffic
	Mean    float64 `json:"traffic_mean,omitempty"`

	AbsentLanes []AbsentLane `json:"absent_lanes,omitempty"`
}

// Shift is how long all to all in phases takes with the ranks in an order.
type Shift struct {
	Order string  `json:"order"`
	Time  float64 `json:"time,omitempty"` // 1 without congestion; left out where a pair has no route
}
