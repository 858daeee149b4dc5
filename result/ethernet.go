package result

// VerifyEthernet is the output of weft verify --json, of lossless Ethernet.
type VerifyEthernet struct {
	Verdict      string           `json:"verdict"`
	Nothing      string           `json:"nothing_because,omitempty"` // why there is nothing to judge
	Endpoints    string           `json:"endpoints"`
	Assumed      []string         `json:"assumed"`     // what was assumed, and left out
	NotCovered   []string         `json:"not_covered"` // by any verdict
	Devices      int              `json:"devices"`
	Cables       int              `json:"cables"`
	Prefixes     int              `json:"prefixes"`
	Hosts        int              `json:"host_prefixes"`
	Routes       string           `json:"routes"` // as read, or how they were computed
	Classes      int              `json:"classes"`
	Priorities   []int            `json:"lossless_priorities"`
	Dependencies int              `json:"dependencies"`
	Pairs        int64            `json:"pairs"`
	Unreachable  int64            `json:"unreachable"`
	Lost         []EthernetLost   `json:"lost,omitempty"`
	Circles      int              `json:"forwarding_loops"`
	Circling     []EthernetCircle `json:"circling,omitempty"`
	Cycle        []EthernetStep   `json:"cycle"`
	Next         string           `json:"next,omitempty"`
	Rechecked    bool             `json:"certificate_checked"`
	Proof        *Proof           `json:"proof_checker,omitempty"`
	Seconds      VerifyStageTime  `json:"seconds"`
}

// EthernetLink is one direction of a cable.
type EthernetLink struct {
	From          string `json:"from"`
	FromInterface string `json:"from_interface"`
	To            string `json:"to"`
	ToInterface   string `json:"to_interface"`
}

// EthernetStep is a step of a credit loop: packets that hold a priority of a link and wait
// for that of the next.
type EthernetStep struct {
	EthernetLink
	Priority int      `json:"priority"`
	Mark     string   `json:"mark"`
	Prefix   string   `json:"prefix"`
	Next     string   `json:"next_hop"`
	Tunnel   string   `json:"tunnel_to,omitempty"`
	Path     []string `json:"path"` // devices, from where the packets enter the network
}

// EthernetLost is prefixes that cannot be reached from others.
type EthernetLost struct {
	From   string `json:"from"`
	Device string `json:"device"`
	To     string `json:"to"`
	Why    string `json:"why"`
	Where  string `json:"where"`
	Pairs  int64  `json:"pairs"`
}

// EthernetCircle is a forwarding loop.
type EthernetCircle struct {
	Prefix string         `json:"prefix"`
	Links  []EthernetLink `json:"links"`
}

// Priorities is the output of weft priorities --json.
type Priorities struct {
	Before       string         `json:"before"`
	Verdict      string         `json:"verdict"`
	Routes       string         `json:"routes"`
	Assumed      []string       `json:"assumed"`
	NotCovered   []string       `json:"not_covered"`
	Paths        string         `json:"paths"`
	Lossless     int            `json:"lossless"`
	Needed       int            `json:"lossless_needed"`
	Ladders      [][]int        `json:"ladders"`
	Order        string         `json:"order"`
	Turns        int            `json:"turns"`
	Lossy        int            `json:"lossy_turns"`
	PerDevice    int            `json:"most_rules_per_device"`
	Rules        []PriorityRule `json:"rules"`
	Dependencies int            `json:"dependencies"`
	Sonic        string         `json:"sonic,omitempty"`
	Out          string         `json:"out,omitempty"`
	Seconds      struct {
		Read   float64 `json:"read"`
		Rules  float64 `json:"rules"`
		Verify float64 `json:"verify"`
	} `json:"seconds"`
}

// ReplayEthernet is the output of weft packets --replay-cycle --json, of lossless Ethernet.
type ReplayEthernet struct {
	Verdict   string         `json:"verdict"`
	Cycle     []EthernetStep `json:"cycle"`
	Preset    string         `json:"preset"`
	Headroom  int            `json:"headroom_bytes"`
	Flows     int            `json:"flows"`
	Attempt   int            `json:"attempt,omitempty"`
	Run       *EthernetRun   `json:"run,omitempty"`
	WithRules *EthernetRun   `json:"with_rules,omitempty"`
	Rules     int            `json:"rules"`
	NoRules   string         `json:"no_rules,omitempty"`
}

// EthernetRun counts packets, of all flows together.
type EthernetRun struct {
	Status    string         `json:"status"`
	Sent      int            `json:"sent"`
	Delivered int            `json:"delivered"`
	Dropped   int            `json:"dropped"`
	Overflows int            `json:"beyond_headroom"`
	Stuck     int            `json:"stuck"`
	End       float64        `json:"end_ns"`
	Held      []EthernetHeld `json:"held,omitempty"`
}

// EthernetHeld is a priority of a link that is paused for ever.
type EthernetHeld struct {
	EthernetLink
	Priority int `json:"priority"`
	Packets  int `json:"packets"`
}

// EthernetFailures is the output of weft verify --failures --json.
type EthernetFailures struct {
	Failures   string            `json:"failures"`
	Converging bool              `json:"converging"`
	Routes     string            `json:"routes"`                  // how they were computed
	Differ     []string          `json:"routes_differ,omitempty"` // devices whose routes were read and are computed otherwise
	Assumed    []string          `json:"assumed"`
	NotCovered []string          `json:"not_covered"`
	Before     bool              `json:"loop_before"` // before anything fails; failures that leave it there count in Loops
	Tried      int               `json:"tried"`       // failures
	Of         int               `json:"of"`          // failures there are; more than Tried where pairs of cables were drawn
	Loops      int               `json:"open_a_loop"` // failures after which there is a loop
	Cuts       int               `json:"cut_a_pair"`  // failures that cut pairs, not the pairs
	Findings   []EthernetFailure `json:"findings"`    // the worst first
	Seconds    struct {
		Read     float64 `json:"read"`
		Failures float64 `json:"failures"`
	} `json:"seconds"`
}

// EthernetFailure is a failure of a device, or of one or two cables, that opens a loop or
// cuts pairs.
type EthernetFailure struct {
	Device string         `json:"device,omitempty"`
	Cables []EthernetLink `json:"cables,omitempty"`
	Loop   bool           `json:"opens_a_loop"`
	Cut    int64          `json:"pairs_cut"`       // pairs (from, to) of prefixes that had a route and have none
	Cycle  []EthernetStep `json:"cycle,omitempty"` // of the first findings only
}

// PriorityRule is a rule for packets that cross a device, with the names of its interfaces.
type PriorityRule struct {
	Device   string   `json:"device"`
	In       []string `json:"in"`  // interfaces by which packets come
	Out      []string `json:"out"` // interfaces by which they leave
	Priority uint8    `json:"priority"`
	Becomes  string   `json:"becomes"` // a priority, or lossy
}
