package result

import "time"

// Event is something that happened.
type Event struct {
	At      time.Time  `json:"at"`
	From    string     `json:"from"` // serve or watch
	What    string     `json:"what"` // such as gone, came or repair
	Part    *Element   `json:"part,omitempty"`
	Text    string     `json:"text,omitempty"`
	By      string     `json:"by,omitempty"`      // who ordered it, or who changed tables
	Until   *time.Time `json:"until,omitempty"`   // of drain: when the part comes back by itself; nil: not at all
	Entries int        `json:"entries,omitempty"` // of forwarding tables, that were changed
	Cut     int64      `json:"pairs_cut,omitempty"`
	Seconds float64    `json:"seconds,omitempty"` // for which they were cut
	Times   int        `json:"times,omitempty"`   // that it went and came back
	Also    []string   `json:"also,omitempty"`    // who else noted it, of events of several logs
}

// Element is a cable, a switch or a host.
type Element struct {
	Kind string `json:"kind"` // cable, switch or host
	Name string `json:"name"` // as people call it, the two ends of a cable with their ports
	GUID string `json:"guid"` // of the node, or of the node at the first end
	Port uint8  `json:"port,omitempty"`
	With string `json:"with,omitempty"` // of a host: the switch that went or came with it

	Drained bool `json:"drained,omitempty"` // of what went: it was drained, and free of traffic
}

// MissingElement is a part that went and has not come back.
type MissingElement struct {
	Element
	Since time.Time `json:"since"`
}

// Events is what weft events prints.
type Events struct {
	Events  []Event `json:"events"`  // the oldest first
	Damaged int     `json:"damaged"` // lines that are none
}
