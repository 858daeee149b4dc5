package result

// Measured is what counters of ports say beside what routes predict.
type Measured struct {
	Files    []string          `json:"files"`
	Ports    int               `json:"ports"`  // with counters and a cable
	Trunks   int               `json:"trunks"` // channels between switches among them
	Row      string            `json:"row"`    // whose routes the findings are about
	Findings []MeasuredFinding `json:"findings,omitempty"`
}

// MeasuredFinding is a channel that is otherwise than its routes explain.
type MeasuredFinding struct {
	Kind    string  `json:"kind"`
	Channel string  `json:"channel"`
	Factor  float64 `json:"factor,omitempty"`
	Bytes   float64 `json:"bytes"`
	Routes  uint32  `json:"routes"`
	ChannelNodes
}

// Received is how well ports receive, by the files of --measured.
type Received struct {
	Files    []string       `json:"files"`
	Ports    int            `json:"ports"`              // with a cable, of which something is known
	NoBytes  bool           `json:"no_bytes,omitempty"` // the files say nothing of what ports have sent
	Source   string         `json:"limits_from"`
	Limits   []RateLimit    `json:"limits"`
	Bad      int            `json:"error_ports"`
	Warnings int            `json:"warning_ports"`
	Rates    []ReceivedPort `json:"by_rate,omitempty"`
	FEC      []DifferentFEC `json:"fec_differs,omitempty"`
}

// RateLimit is the values from which on a rate of errors is a warning, and an error.
type RateLimit struct {
	Rate    string  `json:"rate"`
	Resends bool    `json:"resends"` // of links that send again what was wrong
	Warning float64 `json:"warning"`
	Bad     float64 `json:"error"`
}

// ReceivedPort is how well a port receives.
type ReceivedPort struct {
	Level           string   `json:"level,omitempty"`
	Channel         string   `json:"channel"` // that it receives over
	Symbol          *float64 `json:"symbol,omitempty"`
	Effective       *float64 `json:"effective,omitempty"`
	Raw             *float64 `json:"raw,omitempty"`
	SymbolErrors    *float64 `json:"symbol_errors,omitempty"`
	EffectiveErrors *float64 `json:"effective_errors,omitempty"`
	FEC             string   `json:"fec,omitempty"`
	Retransmission  string   `json:"retransmission,omitempty"`
	ChannelNodes
}

// DifferentFEC is a cable whose ends correct errors in two ways.
type DifferentFEC struct {
	Channel string `json:"channel"`
	From    string `json:"from_fec"`
	To      string `json:"to_fec"`
	ChannelNodes
}
