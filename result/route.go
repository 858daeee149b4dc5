package result

// Route is what weft route and weft repair print, and summary.json of the folder that they write.
type Route struct {
	Fabric Fabric `json:"fabric"`
	Engine string `json:"engine"`
	Paths  string `json:"paths"`
	Lanes  string `json:"lanes"`
	LaneCounts
	VLs          int `json:"vls"`                            // lanes_needed once more, by its name of before
	VLsUsed      int `json:"vls_used"`                       // lanes_used, the same
	VLsAvailable int `json:"vls_available"`                  // lanes_available, the same
	Classes      int `json:"classes,omitempty"`              // of --classes: of traffic, each with a copy of the lanes
	ClassLevels  int `json:"class_service_levels,omitempty"` // service levels of each class
	Verdict
	AllAdapters    string        `json:"verdict_all_adapters,omitempty"`     // with aggregation nodes and routers, where there are any
	AllUnreachable int64         `json:"unreachable_all_adapters,omitempty"` // pairs without a path then
	Hops           Hop           `json:"hops"`
	MaxLoad        uint32        `json:"max_load"`
	MaxLoadOn      string        `json:"max_load_channel,omitempty"`
	MaxLoadNodes   *ChannelNodes `json:"max_load_nodes,omitempty"`  // of that channel
	Apart          []Part        `json:"apart,omitempty"`           // the parts of a network that has fallen apart, but the largest
	Groups         *Group        `json:"adaptive_groups,omitempty"` // of --adaptive
	Multicast      *Tree         `json:"multicast,omitempty"`       // of --multicast-sl
	Notes          []string      `json:"notes,omitempty"`
	Warnings       []string      `json:"warnings,omitempty"`
	Auto           *Auto         `json:"auto,omitempty"`     // where the engine was chosen
	Compared       []*Candidate  `json:"seeds,omitempty"`    // of --survive: tables that were compared, of other seeds at first
	Survival       []*Survival   `json:"survival,omitempty"` // of --survive: repairs of single failures
	Seconds        StageSeconds  `json:"seconds"`
	PeakRSS        int64         `json:"peak_rss_bytes"`
	Files          []string      `json:"files,omitempty"`
	Install        *Installation `json:"install,omitempty"` // how OpenSM takes what was written
	Kept           *Plan         `json:"kept,omitempty"`    // of weft repair: what changes
}

// Fabric names a network and counts what is in it.
type Fabric struct {
	Name      string `json:"name"`
	Switches  int    `json:"switches"`
	Endpoints int    `json:"endpoints"` // adapter and router ports with a cable
	Links     int    `json:"links"`     // all cables
}

// Part is a part of a network that no cable joins to others.
type Part struct {
	Switches  []string `json:"switches"`
	Endpoints []string `json:"endpoints"` // in scope
}

// Hop is how many trunks paths have, in the mean and at most.
type Hop struct {
	Mean float64 `json:"mean"`
	Max  int     `json:"max"`
}

// StageSeconds is the time of each stage of routing, by the clock.
type StageSeconds struct {
	Read      float64 `json:"read"`
	Choose    float64 `json:"choose,omitempty"` // of auto: all engines it tried, in place of paths and lanes
	Paths     float64 `json:"paths"`
	Lanes     float64 `json:"lanes"`
	Verify    float64 `json:"verify"`
	Multicast float64 `json:"multicast,omitempty"` // of --multicast-sl
	Repairs   float64 `json:"repairs,omitempty"`   // of --survive
	Write     float64 `json:"write"`

	Tried map[string]float64 `json:"tried,omitempty"` // of auto: by engine
}

// Tree is the spanning tree for multicast, or why there is none.
type Tree struct {
	SLs  []int  `json:"sls"`            // service levels of groups that it is proven for
	None string `json:"none,omitempty"` // why there is no tree; empty: there is one
	Loop []Step `json:"loop,omitempty"` // the credit loop that the shortest tree would close
}

// Installation is how to get tables into an OpenSM.
type Installation struct {
	By       string   `json:"by"`                // file, policy, plugin or none
	Lines    []string `json:"lines,omitempty"`   // of opensm.conf
	Command  string   `json:"command,omitempty"` // of weft, to run first
	Contract string   `json:"contract"`          // under which they are proven, installed so
	Why      string   `json:"why,omitempty"`     // why not an easier way
}
