package result

// Adaptive is the result of weft route with an adaptive engine, for
// programs: the fields of Route that make sense.
type Adaptive struct {
	Fabric   Fabric `json:"fabric"`
	Engine   string `json:"engine"`
	Adaptive bool   `json:"adaptive"`
	LaneCounts
	VLs          int            `json:"vls"`
	VLsUsed      int            `json:"vls_used"`
	Verdict      string         `json:"verdict"`
	Endpoints    string         `json:"endpoints"`
	Minimal      bool           `json:"minimal"`
	MaxHops      int            `json:"max_hops"`
	Pairs        int64          `json:"pairs"` // of switches with endpoints
	Unreachable  int64          `json:"unreachable"`
	Dependencies int            `json:"dependencies"`
	Cycle        []AdaptiveStep `json:"cycle,omitempty"`
	Notes        []string       `json:"notes,omitempty"`
	Seconds      StageSeconds   `json:"seconds"`
	PeakRSS      int64          `json:"peak_rss_bytes"`
}

// AdaptiveStep is a step of a credit loop among switches that choose.
type AdaptiveStep struct {
	From string `json:"from"`
	To   string `json:"to"`
	VL   uint8  `json:"vl"`
	Kind string `json:"kind"`
	Src  string `json:"src"` // a switch
	ChannelNodes
	SrcNode Node `json:"src_node"`
}
