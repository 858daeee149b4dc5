package result

// Trouble is the list of cables in trouble, the worst first.
type Trouble struct {
	Cables  []CableInTrouble `json:"cables"`
	Looked  int              `json:"cables_looked_at"`
	Seconds float64          `json:"seconds,omitempty"` // in which errors were counted; absent: not known
	Limits  []string         `json:"limits"`
	Source  string           `json:"limits_from"` // where the limits are from that nobody set
	Notes   []string         `json:"notes"`       // what is not known, and how it could be
}

// CableInTrouble is a cable in trouble.
type CableInTrouble struct {
	Name string `json:"name"` // as people call it: the two ends with their ports
	CableEnds
	Place   string        `json:"place"` // what it joins
	Level   string        `json:"level"` // error or warning
	Signs   []TroubleSign `json:"signs"` // the worst first
	Do      string        `json:"do"`    // reseat, replace, move or look
	Advice  string        `json:"advice"`
	Command string        `json:"command"` // with which it can be pulled; of a host that has no other, by the scheduler
	Then    string        `json:"then"`    // when it is done

	Ends [2]int `json:"-"` // fabric.NodeID of A and B; -1: not in the fabric
	Gone bool   `json:"-"` // it is not there
}

// TroubleSign is something that speaks against a cable.
type TroubleSign struct {
	Kind    string   `json:"kind"`         // such as missing, flaps or symbol
	At      string   `json:"at,omitempty"` // a or b: the port that counts it; absent: both
	Level   string   `json:"level"`        // error or warning
	Count   float64  `json:"count,omitempty"`
	PerHour *float64 `json:"per_hour,omitempty"` // absent: the time is not known
	Limit   float64  `json:"limit,omitempty"`
	Text    string   `json:"text"` // a sentence
}
