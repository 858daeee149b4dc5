package result

import "github.com/weft-fabric/weft/fabric"

// Info is what weft info prints.
type Info struct {
	Name      string `json:"name"`
	Switches  int    `json:"switches"`
	Adapters  int    `json:"adapters"`
	Routers   int    `json:"routers"`
	Endpoints struct {
		HCA         int `json:"hca"`
		Aggregation int `json:"aggregation"`
		Router      int `json:"router"`
	} `json:"endpoints"`
	Links struct {
		Switch  int `json:"switch"`  // between switches
		Adapter int `json:"adapter"` // to adapters
		Self    int `json:"self"`    // from a node to itself
	} `json:"links"`
	Rates    map[string]int `json:"rates"`              // cables by rate
	Lanes    map[string]int `json:"data_vls,omitempty"` // cables by the data lanes that they run, where these are stated
	Parts    int            `json:"parts"`
	Diameter int            `json:"diameter"` // hops between switches, within a part
	Hosts    struct {       // as far as adapters name them
		Count      int         `json:"count"`
		ByAdapters map[int]int `json:"by_adapters"` // number of hosts by their number of adapters
	} `json:"hosts"`
	Rails  []Rail      `json:"rails"`
	Levels []TreeLevel `json:"levels"` // from the hosts up; one: no tree
	LIDs   struct {
		Used int        `json:"used"`
		Top  fabric.LID `json:"top"`
	} `json:"lids"`
	Odd      []Odd    `json:"odd"`
	Warnings []string `json:"warnings"`
}

// Rail is a rail; its number, from 1, is what --rail takes.
type Rail struct {
	Rail     int      `json:"rail"`
	Adapters []string `json:"adapters"`
	Port     uint8    `json:"port"`
	Hosts    int      `json:"hosts"`
}

// TreeLevel is the switches of a level of a tree, and the cables at them.
type TreeLevel struct {
	Level    int     `json:"level"`
	Switches int     `json:"switches"`
	Hosts    int     `json:"host_cables"`
	Others   int     `json:"other_cables"` // to aggregation nodes and routers
	Down     int     `json:"cables_down"`
	Up       int     `json:"cables_up"`
	Across   int     `json:"cables_across"`
	Free     int     `json:"free_ports"`
	NoUp     int     `json:"switches_without_up"` // with something below, and no cable up: they count for Over, not for Least and Most
	Over     float64 `json:"oversubscription"`    // of all its switches together; 0: no cables lead up
	Least    float64 `json:"oversubscription_least"`
	Most     float64 `json:"oversubscription_most"`
}

// Odd is something odd about a network, and where it is.
type Odd struct {
	Kind  string    `json:"kind"`
	What  string    `json:"what"`
	Links []OddLink `json:"links,omitempty"`
	Nodes []Node    `json:"nodes,omitempty"`
	Hosts []OddHost `json:"hosts,omitempty"`
}

// OddLink is a cable, or those between two switches.
type OddLink struct {
	From   Node   `json:"from"`
	To     Node   `json:"to"`
	Rate   string `json:"rate,omitempty"` // of one cable
	Cables int    `json:"cables"`
}

// OddHost is a host with its adapters.
type OddHost struct {
	Name     string `json:"name"`
	Adapters []Node `json:"adapters"`
}
