package page

import "github.com/weft-fabric/weft/result"

// Data is all that a report shows. Long lists of numbers are columns: in a list of
// cables all first ends, then all second ends.
type Data struct {
	Title    string     `json:"title"`
	Made     string     `json:"made_by"` // the program and its version
	Networks []*Network `json:"networks"`
	Results  []*Result  `json:"results"` // of other commands, which the report was given
}

// Network is a fabric with its tables.
type Network struct {
	Name     string          `json:"name"`
	Shape    string          `json:"shape"`    // levels, groups, grid, distances or mixed: how the map is laid out
	Found    string          `json:"found_as"` // what the fabric is, in words
	Counts   NetworkCounts   `json:"counts"`
	Parts    int             `json:"parts"`
	Levels   []NetworkLevel  `json:"levels"` // from the hosts up; one: no tree
	Rates    []string        `json:"rates"`
	Nodes    NodeColumns     `json:"nodes"`
	Ports    EndpointColumns `json:"endpoints"`
	Cables   CableColumns    `json:"cables"`
	Odd      []Oddity        `json:"odd"`
	Trouble  *result.Trouble `json:"trouble,omitempty"` // cables in trouble; absent: nothing is known of them
	Warnings []string        `json:"warnings"`          // oddities of the file that were resolved
	Tables   []*TableSet     `json:"tables"`
	Against  *Difference     `json:"difference,omitempty"` // of the second tables to the first
	Ethernet bool            `json:"ethernet,omitempty"`   // lossless Ethernet: lanes are priorities, cables are at interfaces with names, and there are neither LIDs nor GUIDs
}

// NetworkCounts is how many there are of everything.
type NetworkCounts struct {
	Switches      int `json:"switches"`
	Adapters      int `json:"adapters"`
	Routers       int `json:"routers"`
	HostPorts     int `json:"host_ports"`
	Aggregation   int `json:"aggregation_nodes"`
	RouterPorts   int `json:"router_ports"`
	SwitchCables  int `json:"switch_cables"`
	AdapterCables int `json:"adapter_cables"`
	SelfCables    int `json:"self_cables"`
	Free          int `json:"free_switch_ports"`
}

// NetworkLevel is the switches of a level of a tree.
type NetworkLevel struct {
	Switches int     `json:"switches"`
	Hosts    int     `json:"hosts"`
	Others   int     `json:"others"`
	Down     int     `json:"down"`
	Up       int     `json:"up"`
	Across   int     `json:"across"`
	Free     int     `json:"free"`
	Over     float64 `json:"oversubscription"` // 0: no cables lead up
}

// NodeColumns is the nodes, switches first.
type NodeColumns struct {
	Name  []string  `json:"name"`
	Short []string  `json:"short"` // its short name, or its description, or its GUID
	GUID  []string  `json:"guid"`
	Ports []int32   `json:"ports"`
	LID   []int32   `json:"lid"`   // [switch] of its port 0; 0: none
	Kind  []int32   `json:"kind"`  // 0 switch, 1 adapter, 2 router
	X     []float64 `json:"x"`     // [switch] place on the map
	Y     []float64 `json:"y"`     // [switch] downwards
	Level []int32   `json:"level"` // [switch] -1: no host can be reached
	Group []int32   `json:"group"` // [switch] pod or group; -1: none
}

// EndpointColumns is the ports that send and receive, without those of switches.
type EndpointColumns struct {
	Node   []int32  `json:"node"`
	Port   []int32  `json:"port"`
	LID    []int32  `json:"lid"`
	LMC    []int32  `json:"lmc"`
	GUID   []string `json:"guid"`        // of the port
	Class  []int32  `json:"class"`       // 0 host adapter, 1 aggregation node, 2 router
	Switch []int32  `json:"switch"`      // that it is cabled to; -1: none
	At     []int32  `json:"switch_port"` // port of that switch
}

// CableColumns is the cables, those between switches first.
type CableColumns struct {
	Trunks int     `json:"between_switches"` // how many
	A      []int32 `json:"a"`                // node
	APort  []int32 `json:"a_port"`
	B      []int32 `json:"b"`
	BPort  []int32 `json:"b_port"`
	Rate   []int32 `json:"rate"` // in rates
	Odd    []int32 `json:"odd"`  // 1 + the oddity that names it; 0: none

	AName []string `json:"a_interface,omitempty"` // of Ethernet: [cable between switches] the interface at end a
	BName []string `json:"b_interface,omitempty"`
}

// Oddity is something unusual about the fabric.
type Oddity struct {
	Kind   string     `json:"kind"`
	What   string     `json:"what"`
	Places []OddPlace `json:"places"`
}

// OddPlace is where an oddity is. What does not apply is -1.
type OddPlace struct {
	Text  string `json:"text"`
	A     int    `json:"a"` // node
	B     int    `json:"b"` // node, of a cable
	Cable int    `json:"cable"`
}

// TableSet is forwarding tables, service levels and lanes, and what they are worth.
type TableSet struct {
	Name         string   `json:"name"`
	Source       string   `json:"source"` // the engine with its paper, or the file
	Contract     string   `json:"contract"`
	Endpoints    string   `json:"endpoints"`
	Verdict      string   `json:"verdict"` // deadlock-free or credit-loop
	Why          []string `json:"why"`     // what the verdict says, in sentences
	NotCovered   []string `json:"not_covered"`
	Next         []string `json:"next"` // what to do about findings
	Notes        []string `json:"notes"`
	Dependencies int      `json:"dependencies"`
	Needed       int      `json:"lanes_needed"` // 0: not known
	Used         int      `json:"lanes_used"`
	Available    int      `json:"lanes_available"` // 0: not known
	SLs          int      `json:"sls"`
	Pairs        int64    `json:"pairs"`
	Unreachable  int64    `json:"unreachable"`
	Apart        int64    `json:"pairs_apart"` // of these, pairs that no cable joins
	Circling     int64    `json:"forwarding_loops"`
	Dropped      int64    `json:"dropped_turns"`
	Absent       int      `json:"absent_lanes,omitempty"`

	Cycle []CycleStep `json:"cycle"`
	Lost  []LostPairs `json:"lost"`

	Hops      HopCounts     `json:"hops"`
	Load      CableLoads    `json:"load"`
	Tiers     []TierLoads   `json:"tiers"`
	Lanes     []LaneUse     `json:"lanes"`
	Levels    []LevelUse    `json:"service_levels"`
	Bandwidth *FlowCounts   `json:"bandwidth,omitempty"`
	Jobs      []JobFlows    `json:"jobs"`
	Paths     *EntryColumns `json:"paths,omitempty"`
	Ways      *WayColumns   `json:"ways,omitempty"` // of Ethernet, in place of paths
}

// WayColumns is the next hops of ECMP. A set of next hops is stored once; 0 is the empty set.
type WayColumns struct {
	Class []int32 `json:"class"` // [endpoint] of its address; -1: none
	First []int32 `json:"first"` // [set, plus one] where its ports begin
	Ports []int32 `json:"ports"`
	Set   []int32 `json:"set"` // [class × switches + switch]
}

// Number is the number of a set of ports, which is added if it is new; sets has those that there are.
func (w *WayColumns) Number(sets map[string]int32, ports []byte) int32 {
	if i, known := sets[string(ports)]; known {
		return i
	}
	i := int32(len(w.First) - 1)
	sets[string(ports)] = i
	for _, p := range ports {
		w.Ports = append(w.Ports, int32(p))
	}
	w.First = append(w.First, int32(len(w.Ports)))
	return i
}

// LaneName is what a lane is called.
func (n *Network) LaneName() string {
	if n.Ethernet {
		return "priority"
	}
	return "VL"
}

// CycleStep is a lane of a trunk in a credit loop, and a route that holds it while it
// waits for the next.
type CycleStep struct {
	Cable  int    `json:"cable"`
	Back   bool   `json:"back"` // from end b to end a
	From   string `json:"from"` // switch and port
	To     string `json:"to"`
	VL     int    `json:"vl"`
	SL     int    `json:"sl"`
	Src    int    `json:"src"` // endpoint; -1: port 0 of a switch
	Dst    int    `json:"dst"`
	LID    int    `json:"lid"`
	By     string `json:"by"` // the route in words
	Answer bool   `json:"answer"`
}

// LostPairs is a switch and a destination that its endpoints do not reach.
type LostPairs struct {
	Switch int    `json:"switch"`
	Name   string `json:"name"`
	LID    int    `json:"lid"`
	Dst    string `json:"dst"`
	Why    string `json:"why"`
	Pairs  int64  `json:"pairs"`
}

// HopCounts is how long routes are.
type HopCounts struct {
	Mean  float64 `json:"mean"`
	Most  int     `json:"longest"`
	Pairs []int64 `json:"pairs"` // [hops]
}

// CableLoads is how many routes each cable between switches carries when all endpoints send
// to all, and by which lanes.
type CableLoads struct {
	Most    uint32    `json:"most"`
	Scale   uint32    `json:"scale"` // load of the last colour: the most, or twice the mean if that is more
	Hottest []HotSpot `json:"hottest"`
	There   []uint32  `json:"there"` // [cable] from end a to end b
	Back    []uint32  `json:"back"`
	LanesA  []int32   `json:"lanes_there"` // [cable] a bit for each lane
	LanesB  []int32   `json:"lanes_back"`
}

// HotSpot is a channel with many routes.
type HotSpot struct {
	Cable   int    `json:"cable"`
	Back    bool   `json:"back"`
	Channel string `json:"channel"`
	Routes  uint32 `json:"routes"`
	Flows   uint32 `json:"flows"` // the most that met on it in a random bisection
	Rate    string `json:"rate"`
}

// TierLoads is the loads of the trunks from one level to another.
type TierLoads struct {
	Name   string  `json:"name"`
	From   int     `json:"from_level"`
	To     int     `json:"to_level"`
	Trunks int     `json:"trunks"`
	Least  uint32  `json:"least"`
	Mean   float64 `json:"mean"`
	Most   uint32  `json:"most"`
	Loads  []int   `json:"loads"` // trunks by load, in tenths of the largest
}

// LaneUse is the load of a lane.
type LaneUse struct {
	VL     int    `json:"vl"`
	Trunks int    `json:"trunks"`
	Hops   int64  `json:"hops"`  // trunks crossed on it, over all routes
	Pairs  int64  `json:"pairs"` // routes that cross a trunk on it; a route counts on each of its lanes
	Most   uint32 `json:"most"`
}

// LevelUse is how many pairs use a service level.
type LevelUse struct {
	SL    int   `json:"sl"`
	Pairs int64 `json:"pairs"`
}

// FlowCounts is what random pairs get: the effective bisection bandwidth and how it comes
// about.
type FlowCounts struct {
	Mean       float64 `json:"ebb"`
	StdErr     float64 `json:"ebb_stderr"`
	Runs       int     `json:"runs"`
	Most       int     `json:"most_flows"`
	Congestion []int64 `json:"congestion"`   // [flows on the fullest channel of a route] flows
	Flows      []int64 `json:"flows"`        // by bandwidth, in twentieths of full
	Worst      string  `json:"worst"`        // the flow that gets least
	Least      float64 `json:"worst_of_all"` // what it gets, of full
}

// JobFlows is what the flows of a job get.
type JobFlows struct {
	Name    string  `json:"name"`
	Ranks   int     `json:"ranks"`
	Mean    float64 `json:"ebb"`
	StdErr  float64 `json:"ebb_stderr"`
	Hottest string  `json:"hottest"` // channel
}

// EntryColumns is the forwarding tables themselves, so that a path can be followed.
// Numbers are bytes, in base64.
type EntryColumns struct {
	LIDs     []int32 `json:"lids"` // destinations that are there
	Of       int     `json:"lids_of"`
	Switches int     `json:"switches"`
	Ports    []byte  `json:"ports"` // [destination × switches + switch] out-port; 255: none

	Row    []int32 `json:"row"` // [endpoint] row of its service levels
	Rows   int     `json:"rows"`
	Levels []byte  `json:"levels,omitempty"` // [destination × rows + row] service level, 255: not to be used; absent: 0 everywhere

	Same     []int32 `json:"lane_of_sl,omitempty"` // [service level] lane, where all ports have the same map
	SLs      []int32 `json:"sls,omitempty"`        // service levels in Maps
	InFirst  []int32 `json:"in_first,omitempty"`   // [switch] where its ports begin in in_class
	InClass  []int32 `json:"in_class,omitempty"`   // [port 0 … of each switch] its list of maps
	Outs     []int32 `json:"outs,omitempty"`       // [switch] where its out-ports begin in out_port
	OutPort  []int32 `json:"out_port,omitempty"`   // out-ports to switches, ascending
	MapFirst []int32 `json:"map_first,omitempty"`  // [switch] where its maps begin
	Maps     []byte  `json:"maps,omitempty"`       // [class × out-ports × service levels] lane
}

// Difference is what changes from some tables to others.
type Difference struct {
	From     string  `json:"from"`
	To       string  `json:"to"`
	Verdict  string  `json:"verdict"` // of every mixture while they are written
	Entries  int     `json:"entries"`
	Blocks   int     `json:"blocks"`
	Switches int     `json:"switches"`
	SLs      int64   `json:"sls"`
	Maps     int     `json:"sl2vl_cells"`
	Exposed  int64   `json:"pairs_cut_meanwhile"`
	BySwitch []int32 `json:"by_switch"` // [switch] entries
}
