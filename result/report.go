package result

// Report is what weft report prints, and all that its page shows. Long lists of numbers are columns: in a list of
// cables all first ends, then all second ends.
type Report struct {
	Title    string           `json:"title"`
	Made     string           `json:"made_by"` // the program and its version
	Networks []*ReportNetwork `json:"networks"`
	Results  []*ReportResult  `json:"results"` // of other commands, which the report was given
}

// ReportNetwork is a fabric with its tables.
type ReportNetwork struct {
	Name     string            `json:"name"`
	Shape    string            `json:"shape"`    // levels, groups, grid, distances or mixed: how the map is laid out
	Found    string            `json:"found_as"` // what the fabric is, in words
	Counts   ReportCounts      `json:"counts"`
	Parts    int               `json:"parts"`
	Levels   []ReportLevel     `json:"levels"` // from the hosts up; one: no tree
	Rates    []string          `json:"rates"`
	Nodes    ReportNodes       `json:"nodes"`
	Ports    ReportEndpoints   `json:"endpoints"`
	Cables   ReportCables      `json:"cables"`
	Odd      []ReportOdd       `json:"odd"`
	Trouble  *Trouble          `json:"trouble,omitempty"` // cables in trouble; absent: nothing is known of them
	Warnings []string          `json:"warnings"`          // oddities of the file that were resolved
	Tables   []*ReportTables   `json:"tables"`
	Against  *ReportDifference `json:"difference,omitempty"` // of the second tables to the first
	Ethernet bool              `json:"ethernet,omitempty"`   // lossless Ethernet: lanes are priorities, cables are at interfaces with names, and there are neither LIDs nor GUIDs
}

// ReportCounts is how many there are of everything.
type ReportCounts struct {
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

// ReportLevel is the switches of a level of a tree.
type ReportLevel struct {
	Switches int     `json:"switches"`
	Hosts    int     `json:"hosts"`
	Others   int     `json:"others"`
	Down     int     `json:"down"`
	Up       int     `json:"up"`
	Across   int     `json:"across"`
	Free     int     `json:"free"`
	Over     float64 `json:"oversubscription"` // 0: no cables lead up
}

// ReportNodes is the nodes, switches first.
type ReportNodes struct {
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

// ReportEndpoints is the ports that send and receive, without those of switches.
type ReportEndpoints struct {
	Node   []int32  `json:"node"`
	Port   []int32  `json:"port"`
	LID    []int32  `json:"lid"`
	LMC    []int32  `json:"lmc"`
	GUID   []string `json:"guid"`        // of the port
	Class  []int32  `json:"class"`       // 0 host adapter, 1 aggregation node, 2 router
	Switch []int32  `json:"switch"`      // that it is cabled to; -1: none
	At     []int32  `json:"switch_port"` // port of that switch
}

// ReportCables is the cables, those between switches first.
type ReportCables struct {
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

// ReportOdd is something unusual about the fabric.
type ReportOdd struct {
	Kind   string        `json:"kind"`
	What   string        `json:"what"`
	Places []ReportPlace `json:"places"`
}

// ReportPlace is where an oddity is. What does not apply is -1.
type ReportPlace struct {
	Text  string `json:"text"`
	A     int    `json:"a"` // node
	B     int    `json:"b"` // node, of a cable
	Cable int    `json:"cable"`
}

// ReportTables is forwarding tables, service levels and lanes, and what they are worth.
type ReportTables struct {
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

	Cycle []ReportStep `json:"cycle"`
	Lost  []ReportLost `json:"lost"`

	Hops struct {
		Mean  float64 `json:"mean"`
		Most  int     `json:"longest"`
		Pairs []int64 `json:"pairs"` // [hops]
	} `json:"hops"` // how long routes are
	Load      ReportLoads          `json:"load"`
	Tiers     []ReportTier         `json:"tiers"`
	Lanes     []ReportLane         `json:"lanes"`
	Levels    []ReportServiceLevel `json:"service_levels"`
	Bandwidth *ReportFlows         `json:"bandwidth,omitempty"`
	Jobs      []ReportJob          `json:"jobs"`
	Paths     *ReportEntries       `json:"paths,omitempty"`
	Ways      *ReportWays          `json:"ways,omitempty"` // of Ethernet, in place of paths
}

// ReportWays is the next hops of ECMP. A set of next hops is stored once; 0 is the empty set.
type ReportWays struct {
	Class []int32 `json:"class"` // [endpoint] of its address; -1: none
	First []int32 `json:"first"` // [set, plus one] where its ports begin
	Ports []int32 `json:"ports"`
	Set   []int32 `json:"set"` // [class × switches + switch]
}

// ReportStep is a lane of a trunk in a credit loop, and a route that holds it while it
// waits for the next.
type ReportStep struct {
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

// ReportLost is a switch and a destination that its endpoints do not reach.
type ReportLost struct {
	Switch int    `json:"switch"`
	Name   string `json:"name"`
	LID    int    `json:"lid"`
	Dst    string `json:"dst"`
	Why    string `json:"why"`
	Pairs  int64  `json:"pairs"`
}

// ReportLoads is how many routes each cable between switches carries when all endpoints send
// to all, and by which lanes.
type ReportLoads struct {
	Most    uint32      `json:"most"`
	Scale   uint32      `json:"scale"` // load of the last colour: the most, or twice the mean if that is more
	Hottest []ReportHot `json:"hottest"`
	There   []uint32    `json:"there"` // [cable] from end a to end b
	Back    []uint32    `json:"back"`
	LanesA  []int32     `json:"lanes_there"` // [cable] a bit for each lane
	LanesB  []int32     `json:"lanes_back"`
}

// ReportHot is a channel with many routes.
type ReportHot struct {
	Cable   int    `json:"cable"`
	Back    bool   `json:"back"`
	Channel string `json:"channel"`
	Routes  uint32 `json:"routes"`
	Flows   uint32 `json:"flows"` // the most that met on it in a random bisection
	Rate    string `json:"rate"`
}

// ReportTier is the loads of the trunks from one level to another.
type ReportTier struct {
	Name   string  `json:"name"`
	From   int     `json:"from_level"`
	To     int     `json:"to_level"`
	Trunks int     `json:"trunks"`
	Least  uint32  `json:"least"`
	Mean   float64 `json:"mean"`
	Most   uint32  `json:"most"`
	Loads  []int   `json:"loads"` // trunks by load, in tenths of the largest
}

// ReportLane is the load of a lane.
type ReportLane struct {
	VL     int    `json:"vl"`
	Trunks int    `json:"trunks"`
	Hops   int64  `json:"hops"`  // trunks crossed on it, over all routes
	Pairs  int64  `json:"pairs"` // routes that cross a trunk on it; a route counts on each of its lanes
	Most   uint32 `json:"most"`
}

// ReportServiceLevel is how many pairs use a service level.
type ReportServiceLevel struct {
	SL    int   `json:"sl"`
	Pairs int64 `json:"pairs"`
}

// ReportFlows is what random pairs get: the effective bisection bandwidth and how it comes
// about.
type ReportFlows struct {
	Mean       float64 `json:"ebb"`
	StdErr     float64 `json:"ebb_stderr"`
	Runs       int     `json:"runs"`
	Most       int     `json:"most_flows"`
	Congestion []int64 `json:"congestion"`   // [flows on the fullest channel of a route] flows
	Flows      []int64 `json:"flows"`        // by bandwidth, in twentieths of full
	Worst      string  `json:"worst"`        // the flow that gets least
	Least      float64 `json:"worst_of_all"` // what it gets, of full
}

// ReportJob is what the flows of a job get.
type ReportJob struct {
	Name    string  `json:"name"`
	Ranks   int     `json:"ranks"`
	Mean    float64 `json:"ebb"`
	StdErr  float64 `json:"ebb_stderr"`
	Hottest string  `json:"hottest"` // channel
}

// ReportEntries is the forwarding tables themselves, so that a path can be followed.
// Numbers are bytes, in base64.
type ReportEntries struct {
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

// ReportDifference is what changes from some tables to others.
type ReportDifference struct {
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

// ReportResult is what another command found, taken from its JSON.
type ReportResult struct {
	Command string           `json:"command"` // that printed it, such as weft compare
	File    string           `json:"file"`
	Title   string           `json:"title"`
	Facts   []ReportFact     `json:"facts"`
	Tables  []ReportTable    `json:"tables"`
	Curves  []ReportCurves   `json:"curves"`
	Marks   *ReportMarks     `json:"marks,omitempty"`   // on the map
	Loop    []ReportLoopStep `json:"loop"`              // a credit loop
	Network int              `json:"network"`           // that it is about, from 0; -1: none of the report
	Foreign string           `json:"foreign,omitempty"` // why it does not fit the fabrics of the report
}

// ReportFact is a line of a result.
type ReportFact struct {
	What string `json:"what"`
	Text string `json:"text"`
}

// ReportTable has as many cells in each row as there are columns.
type ReportTable struct {
	Title   string     `json:"title"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// ReportCurves is curves of a result over one number.
type ReportCurves struct {
	Title  string        `json:"title"`
	X      string        `json:"x"`
	Y      string        `json:"y"`
	Series []ReportCurve `json:"series"`
}

// ReportCurve is a curve through (X[i], Y[i]).
type ReportCurve struct {
	Name string    `json:"name"`
	X    []float64 `json:"x"`
	Y    []float64 `json:"y"`
}

// ReportMarks is what a result is about: nodes and cables by their numbers in the network.
type ReportMarks struct {
	GoneNodes  []int32 `json:"gone_nodes"`
	GoneCables []int32 `json:"gone_cables"`
	NewNodes   []int32 `json:"new_nodes"`
	NewCables  []int32 `json:"new_cables"`
	BySwitch   []int32 `json:"by_switch"` // [switch] entries that change

	Steps [][]int32 `json:"steps"` // [step][switch] those of each step of a plan
}

// ReportLoopStep is a step of a loop in words.
type ReportLoopStep struct {
	Text string `json:"text"`
}
