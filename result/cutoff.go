package result

// CutOff is which pairs are cut off under some tables, and where their routes end.
type CutOff struct {
	Places    []CutPlace    `json:"places"`
	Endpoints []CutEndpoint `json:"endpoints"`

	// Merged is the places, with those as one whose switches lack entries for the same destinations, as all switches
	// do for a new host.
	Merged []CutPlace `json:"-"`
}

// CutPlace is a place where routes end too early.
type CutPlace struct {
	Switch       string   `json:"switch"`
	SwitchNode   Node     `json:"switch_node"`    // and the port
	Port         uint8    `json:"port,omitempty"` // out-port of the entry; 0: there is no entry, or it names the switch itself
	Why          string   `json:"why"`
	Pairs        int64    `json:"pairs"`
	Sources      int      `json:"sources"` // number of endpoints in scope on from_switches
	Switches     []string `json:"from_switches"`
	Destinations []string `json:"to"`

	On     string `json:"-"` // the switch of all destinations; empty: they are on several
	Others int    `json:"-"` // of CutOff.Merged: further switches with such a place
}

// CutEndpoint is an endpoint that some pairs have lost.
type CutEndpoint struct {
	Endpoint     string `json:"endpoint"`
	EndpointNode Node   `json:"endpoint_node"`
	Switch       string `json:"switch"`
	SwitchNode   Node   `json:"switch_node"`
	From         int64  `json:"not_reached_by"`    // lost pairs (source, LID of this one)
	FromOf       int64  `json:"not_reached_by_of"` // of so many
	To           int64  `json:"cannot_reach"`      // LIDs of others that are lost to it
	ToOf         int64  `json:"cannot_reach_of"`   // of so many
}
