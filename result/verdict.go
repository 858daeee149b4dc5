package result

// The verdicts in words, a contract with programs.
const (
	DeadlockFree = "deadlock-free"
	CreditLoop   = "credit-loop"

	NothingToJudge = "nothing-to-judge" // of lossless Ethernet: no lossless packet crosses a cable, so a proof would say nothing
)

// Claim is a verdict in a word, and what it is about.
type Claim struct {
	Word      string `json:"verdict"`   // DeadlockFree or CreditLoop
	Contract  string `json:"contract"`  // what clients do with service levels
	Endpoints string `json:"endpoints"` // who sends and receives
}

// Free reports whether the verdict is that packets cannot deadlock.
func (c Claim) Free() bool { return c.Word == DeadlockFree }

// Verdict is what the judge says of tables.
type Verdict struct {
	Claim
	NotCovered   []string     `json:"not_covered"`  // by any verdict of these endpoints
	SLs          int          `json:"sls"`          // service levels that the tables give out
	Dependencies int          `json:"dependencies"` // between lanes
	Pairs        int64        `json:"pairs"`        // ordered (source endpoint, destination LID)
	Unreachable  int64        `json:"unreachable"`  // those of them without a route
	Cycle        []Step       `json:"cycle"`        // a shortest credit loop; empty: there is none
	AbsentLanes  []AbsentLane `json:"absent_lanes,omitempty"`
}

// Step is a step of a credit loop.
type Step struct {
	From string `json:"from"` // switch name, out-port
	To   string `json:"to"`   // switch name, in-port
	VL   uint8  `json:"vl"`
	SL   uint8  `json:"sl"`
	Src  string `json:"src"`
	Dst  string `json:"dst"`
	ChannelNodes
	PairNodes
	// SL is the service level of the way back: src answers on a connection that dst opened.
	Answer bool `json:"answer,omitempty"`
	// Ports is what the switch at To chooses from; empty unless it has a choice.
	Ports []int `json:"ports,omitempty"`
}

// AbsentLane is a lane that packets are sent to and a cable does not run.
type AbsentLane struct {
	NamedChannel
	SL      uint8 `json:"sl"`
	VL      uint8 `json:"vl"`
	DataVLs uint8 `json:"data_vls"` // lanes that the cable runs
}
