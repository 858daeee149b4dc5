package result

// Degrade is the output of weft degrade --json.
type Degrade struct {
	Fabric  string `json:"fabric"`
	Seed    uint64 `json:"seed"`
	Output  string `json:"output"`
	Removed struct {
		Switches []string      `json:"switches"`
		Links    []RemovedLink `json:"links"`
		Adapters []string      `json:"adapters"`

		SwitchNodes  []Node `json:"switch_nodes"`
		AdapterNodes []Node `json:"adapter_nodes"`
	} `json:"removed"`
	Left struct {
		Switches int `json:"switches"`
		Links    int `json:"links"` // between switches
		Adapters int `json:"adapters"`
		Parts    int `json:"parts"`
	} `json:"left"`
	LanesLeftOut int `json:"cables_with_lanes_left_out,omitempty"` // of those left
}

// Topology is a family of computed networks in the output of weft topologies --json.
type Topology struct {
	Name    string            `json:"name"`
	Summary string            `json:"summary"`
	Example string            `json:"example"`
	Keys    map[string]string `json:"keys"`
}
