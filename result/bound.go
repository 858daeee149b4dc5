package result

// Bound is what weft bound prints.
type Bound struct {
	Name    string        `json:"name"`   // the fabric, as it was given
	Hosts   int           `json:"hosts"`  // adapter ports
	Phases  []PhasesBound `json:"phases"` // a row an order of ranks
	Fullest FullestBound  `json:"fullest"`
	Pairs   PairsBound    `json:"random_pairs"`

	RatesDiffer bool `json:"rates_differ"` // of cables: at their rates a routing may take less, since the bounds are for links alike
}

// PhasesBound is how long all to all takes in phases, links alike, for one order of ranks.
type PhasesBound struct {
	Order string     `json:"order"` // of ranks: switch, name or random
	Time  float64    `json:"time"`  // at least, a multiple of the time without other flows
	Cuts  []BoundCut `json:"cuts"`  // that decide phases, those that decide most first
}

// FullestBound is how many routes the fullest channel between switches carries when all hosts send to all.
type FullestBound struct {
	Routes int64     `json:"routes"`        // at least
	By     string    `json:"by"`            // "cut", or "lengths": a dual solution of the linear program of fractional flow
	Cut    *BoundCut `json:"cut,omitempty"` // that carries them
}

// PairsBound is the bandwidth of hosts that are paired at random.
type PairsBound struct {
	Lambda float64    `json:"lambda"` // at most, a fraction of full
	Cuts   []BoundCut `json:"cuts"`   // that let through less than all, the worst first
}

// BoundCut is switches, and the cables that lead out of them, which all that leaves them has to share.
type BoundCut struct {
	Switches []string `json:"switches"`         // names
	Hosts    int      `json:"hosts"`            // adapter ports on these
	Cables   int      `json:"cables"`           // that leave them
	Phases   int      `json:"phases,omitempty"` // that it decides
}
