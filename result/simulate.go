package result

// Simulate is what weft simulate prints: the bandwidth that flows get which start together.
type Simulate struct {
	Fabric    string  `json:"fabric"`  // its name
	Tables    string  `json:"tables"`  // which engine made them, or which files they are
	Pattern   string  `json:"pattern"` // which rank sends to which, as --pattern has it
	Ranks     int     `json:"ranks"`
	Endpoints string  `json:"endpoints"`       // which count: a scope
	Model     string  `json:"model"`           // how flows share channels
	Uniform   bool    `json:"uniform_rates"`   // all links were treated alike, asked for or not
	Split     bool    `json:"split,omitempty"` // flows are split evenly where switches choose
	LinkMbps  int     `json:"link_mbps"`       // of the fastest link, Mbit/s; 0: not known
	Seed      uint64  `json:"seed"`
	EBB       float64 `json:"ebb"`        // mean bandwidth of flows, a fraction of full
	StdErr    float64 `json:"ebb_stderr"` // standard error of that, over runs
	Runs      int     `json:"runs"`       // of a random pattern
	Phases    int     `json:"phases"`
	Flows     int64   `json:"flows"`   // with a route, in all runs
	Local     int64   `json:"local"`   // pairs on one endpoint, which cross no network
	NoRoute   int64   `json:"noroute"` // pairs without a route

	Fit                           // of the tables
	NoRoutePairs  []Pair          `json:"noroute_pairs,omitempty"`    // each once, the first of them
	Histogram     []Congestion    `json:"histogram"`                  // by flows that meet, the fewest first
	Bandwidth     []int64         `json:"bandwidth_histogram"`        // flows by bandwidth, in equal bins from 0 to full
	MaxCongestion int             `json:"max_congestion"`             // flows on the fullest channel of all
	Slowdown      float64         `json:"slowdown,omitempty"`         // time of the pattern, without other flows 1; 0 if it never ends
	Seconds       float64         `json:"transfer_seconds,omitempty"` // that the pattern takes; 0: not known
	Traffic       *TrafficTime    `json:"traffic,omitempty"`          // of a file
	Worst         *WorstFlow      `json:"worst_flow,omitempty"`
	Hot           []HotChannel    `json:"hot_channels"`          // those with most flows, the fullest first
	Index         uint32          `json:"edge_forwarding_index"` // routes of all pairs over the fullest trunk
	IndexOn       string          `json:"edge_forwarding_channel,omitempty"`
	IndexNodes    *ChannelNodes   `json:"edge_forwarding_nodes,omitempty"` // of that channel
	Tiers         []TierLoad      `json:"tiers"`
	Lanes         []LaneLoad      `json:"lanes"`
	Spent         SimulateSeconds `json:"seconds"`
	PeakRSS       int64           `json:"peak_rss_bytes"` // memory at the peak
}

// Congestion is the flows that meet so many on the fullest channel of
// their route, themselves included.
type Congestion struct {
	Congestion int   `json:"congestion"`
	Flows      int64 `json:"flows"`
}

// TrafficTime is how long the traffic of a file takes, if every channel is busy all the
// time.
type TrafficTime struct {
	Time    float64       `json:"time"` // of the fullest channel; 1 is the fullest link of a host
	Mean    float64       `json:"mean"` // over bytes, of the fullest channel on their way
	Fullest string        `json:"fullest_channel"`
	Nodes   *ChannelNodes `json:"fullest_nodes"`
	Bytes   float64       `json:"fullest_bytes"` // over that channel
}

// WorstFlow is the flow with the least bandwidth.
type WorstFlow struct {
	Pair
	Bandwidth float64    `json:"bandwidth"` // a fraction of full
	Run       int        `json:"run"`       // from 0
	Phase     int        `json:"phase"`     // from 0, of that run
	Route     []HopFlows `json:"route"`     // its channels, in order
}

// HopFlows is a channel on the way of a flow, and how many flows meet there, parts included.
type HopFlows struct {
	NamedChannel
	Flows float64 `json:"flows"`           // that meet on it
	Share float64 `json:"share,omitempty"` // of the flow on this channel, where switches choose
}

// HotChannel is one of the channels with the most flows.
type HotChannel struct {
	NamedChannel
	Mean float64 `json:"mean_flows"` // in a phase
	Most float64 `json:"max_flows"`  // in the fullest phase
}

// TierLoad is the channels that lead from one level of switches to another: how many routes of all pairs
// cross them, and what they leave the flows of the pattern.
type TierLoad struct {
	From   int     `json:"from_level"` // hops of its switches from the nearest endpoint's switch
	To     int     `json:"to_level"`
	Trunks int     `json:"channels"`
	Least  uint32  `json:"min_load"`
	Mean   float64 `json:"mean_load"`
	Most   uint32  `json:"max_load"`  // routes over the fullest of these channels
	Loads  []int   `json:"histogram"` // channels by load, in equal bins from 0 to the edge-forwarding index
	Flows  int64   `json:"flows"`     // of the pattern, over it
	Share  float64 `json:"share"`     // of full, that it leaves them
}

// LaneLoad is what a lane carries of the routes of all pairs.
type LaneLoad struct {
	VL       uint8  `json:"vl"`       // its number
	Hops     int64  `json:"hops"`     // of all routes together
	Channels int    `json:"channels"` // trunks that some route takes on it
	Most     uint32 `json:"max_load"` // routes over the fullest of these channels
}

// SimulateSeconds is how long the stages took.
type SimulateSeconds struct {
	Read     float64 `json:"read"`
	Choose   float64 `json:"choose,omitempty"` // of auto: all engines it tried, in place of paths and lanes
	Paths    float64 `json:"paths"`
	Lanes    float64 `json:"lanes"`
	Simulate float64 `json:"simulate"`
}
