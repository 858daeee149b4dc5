package result

// SimulateEthernet is what weft simulate prints of lossless Ethernet.
type SimulateEthernet struct {
	Network    string        `json:"network"`
	Routes     string        `json:"routes"`
	Assumed    []string      `json:"assumed"`
	NotCovered []string      `json:"not_covered"`
	Adapters   int           `json:"adapters"`
	Pattern    string        `json:"pattern"`
	Ranks      int           `json:"ranks"`
	Seed       uint64        `json:"seed"`
	Ways       []EthernetWay `json:"ways"`
	Hot        []EthernetHot `json:"hot_links"`
	Advice     []string      `json:"advice"`
	Seconds    struct {
		Read     float64 `json:"read"`
		Simulate float64 `json:"simulate"`
	} `json:"seconds"`
}

// EthernetHot is a direction of a cable that much goes over, by the first way.
type EthernetHot struct {
	EthernetLink
	Mean float64 `json:"mean_flows"`
	Most float64 `json:"max_flows"`
}

// CompareEthernet is what weft compare prints of lossless Ethernet.
type CompareEthernet struct {
	Network    string            `json:"network"`
	Routes     string            `json:"routes"`
	Assumed    []string          `json:"assumed"`
	NotCovered []string          `json:"not_covered"`
	Adapters   int               `json:"adapters"`
	Seed       uint64            `json:"seed"`
	Traffic    []EthernetTraffic `json:"traffic"`
	Advice     []string          `json:"advice"`
}

// EthernetTraffic is traffic, and how each way of routing does under it.
type EthernetTraffic struct {
	Name string        `json:"name"`
	Ways []EthernetWay `json:"ways"`
}

// EthernetWay is how long traffic takes in one way.
type EthernetWay struct {
	Way        string  `json:"way"`              // hashed, polarized, sprayed or pinned
	QueuePairs int     `json:"queue_pairs"`      // of hashed and polarized; 0: does not matter
	Engine     string  `json:"engine,omitempty"` // of pinned
	Refused    string  `json:"refused,omitempty"`
	Time       float64 `json:"time"`                  // 1: nobody is in another's way
	StdErr     float64 `json:"time_stderr,omitempty"` // where it is known
	Worst      float64 `json:"time_worst,omitempty"`
	Bound      float64 `json:"time_bound"` // no ways are quicker
	Runs       int     `json:"runs"`
	Phases     int     `json:"phases"`
	Flows      int64   `json:"flows"`
	Local      int64   `json:"local"`
	Lost       int64   `json:"noroute"`
}

// Pins is what weft route --pin prints, of lossless Ethernet.
type Pins struct {
	Network    string            `json:"network"`
	Routes     string            `json:"routes"`
	Assumed    []string          `json:"assumed"`
	NotCovered []string          `json:"not_covered"`
	Differ     []string          `json:"routes_differ,omitempty"`
	Engine     string            `json:"engine"`
	Tried      []TriedPins       `json:"tried"`
	Traffic    []EthernetTraffic `json:"traffic"`
	Advice     []string          `json:"advice"`
	Verdict    string            `json:"verdict"`
	Failures   int               `json:"failures"`
	Loops      int               `json:"open_a_loop"`
	Cuts       int               `json:"cut_a_pair"`
	Roots      int               `json:"several_roots"`
	Adapters   int               `json:"adapters"`
	Addresses  int               `json:"addresses"`
	Pins       []Pin             `json:"pins"`
	Entries    []int             `json:"most_entries_by_tier"`
	Lines      int               `json:"most_lines,omitempty"`
	Changed    int               `json:"changed,omitempty"`
	Leaves     []string          `json:"changed_leaves,omitempty"`
	NotRead    []string          `json:"configurations_not_read"`
	Out        string            `json:"out,omitempty"`
}

// TriedPins is pins by an engine, and how long traffic takes with them.
type TriedPins struct {
	Engine  string    `json:"engine"`
	Refused string    `json:"refused,omitempty"`
	Times   []float64 `json:"times,omitempty"` // of each of the traffics
}

// Pin is an address of an adapter with its way.
type Pin struct {
	Name   string   `json:"name"`
	Prefix string   `json:"prefix"`
	Leaf   string   `json:"leaf"`
	Up     []string `json:"up"`
}
