package result

// Compare is what weft compare prints.
type Compare struct {
	Fabric      Fabric       `json:"fabric"`
	Endpoints   string       `json:"endpoints"`
	Uniform     bool         `json:"uniform_rates"`
	Seed        uint64       `json:"seed"`
	Phases      int          `json:"alltoall_phases"` // counted
	PhasesOfAll int          `json:"alltoall_phases_of"`
	Rows        []CompareRow `json:"rows"`
	AnyRouting  *AnyRouting  `json:"any_routing,omitempty"` // of any routing; left out where it is not known, or links are measured by different rates

	Measured *Measured `json:"measured,omitempty"` // of --measured
	Received *Received `json:"received,omitempty"` // of --measured
	Trouble  *Trouble  `json:"trouble,omitempty"`  // of --measured, --events and --cabling
}

// CompareRow is an engine, or tables that exist. What is not known is left out:
// an engine that refuses has its reason, an adaptive one no tables to count on.
type CompareRow struct {
	Name     string `json:"name"`
	Source   string `json:"source"`           // engine or tables
	Chosen   string `json:"chosen,omitempty"` // by auto: the engine
	Refused  string `json:"refused,omitempty"`
	Verdict  string `json:"verdict,omitempty"`
	Contract string `json:"contract,omitempty"`
	LaneCounts
	VLs         int   `json:"vls,omitempty"`      // as lanes_needed; of tables that exist, as lanes_used
	VLsUsed     int   `json:"vls_used,omitempty"` // as lanes_used
	SLs         int   `json:"sls,omitempty"`
	Pairs       int64 `json:"pairs,omitempty"`
	Unreachable int64 `json:"unreachable"`
	Fit
	Assumed     *Assumed     `json:"assumed,omitempty"` // of tables that exist
	AbsentLanes []AbsentLane `json:"absent_lanes,omitempty"`
	Hops        *Hop         `json:"hops,omitempty"`
	Index       *uint32      `json:"edge_forwarding_index,omitempty"`
	Correlation *float64     `json:"measured_correlation,omitempty"` // of --measured
	EBB         *float64     `json:"ebb,omitempty"`
	StdErr      *float64     `json:"ebb_stderr,omitempty"`
	AllToAll    *float64     `json:"alltoall,omitempty"` // its time by switch and port, 1 without congestion
	Shifts      []Shift      `json:"shifts,omitempty"`
	Traffic     float64      `json:"traffic_time,omitempty"` // of --traffic
	TrafficMean float64      `json:"traffic_mean,omitempty"`
	Seconds     struct {
		Choose   float64 `json:"choose,omitempty"` // of auto: all engines it tried, in place of paths and lanes
		Paths    float64 `json:"paths"`
		Lanes    float64 `json:"lanes"`
		Verify   float64 `json:"verify"`
		Simulate float64 `json:"simulate"`
	} `json:"seconds"`
	Heap int64 `json:"heap_bytes,omitempty"` // what routing added to the heap, at the most

	Complete bool `json:"-"` // every pair has a route that delivers
}
