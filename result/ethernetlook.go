package result

// InfoEthernet is what weft info prints of lossless Ethernet.
type InfoEthernet struct {
	Network    string         `json:"network"`
	Routes     string         `json:"routes"`
	Assumed    []string       `json:"assumed"`
	NotCovered []string       `json:"not_covered"`
	Devices    int            `json:"devices"`
	Cables     int            `json:"cables"`
	Prefixes   int            `json:"prefixes"`
	Hosts      int            `json:"host_prefixes"`
	Classes    int            `json:"classes"`
	Adapters   int            `json:"adapters"`
	Priorities []int          `json:"lossless_priorities"`
	Tiers      []EthernetTier `json:"tiers"`
	Odd        []EthernetOdd  `json:"odd"`
}

// EthernetTier is the devices that are equally far from hosts.
type EthernetTier struct {
	Devices   int             `json:"devices"`
	WithHosts int             `json:"with_hosts"`
	Up        int             `json:"cables_up"`
	Down      int             `json:"cables_down"`
	Across    int             `json:"cables_across"`
	Over      float64         `json:"oversubscription,omitempty"`
	NextHops  []EthernetWidth `json:"next_hops"`
}

// EthernetWidth is how many routes have so many next hops.
type EthernetWidth struct {
	NextHops int `json:"count"`
	Routes   int `json:"routes"`
}

// EthernetOdd is something odd about a device.
type EthernetOdd struct {
	Kind   string `json:"kind"`
	Device string `json:"device"`
	Text   string `json:"text"`
}

// ExplainEthernet is what weft explain prints of lossless Ethernet.
type ExplainEthernet struct {
	Network    string          `json:"network"`
	Routes     string          `json:"routes"`
	Assumed    []string        `json:"assumed"`
	NotCovered []string        `json:"not_covered"`
	To         string          `json:"to"`
	Prefix     string          `json:"prefix"` // that it matches
	Alike      []string        `json:"routed_alike"`
	Hosts      bool            `json:"hosts"`
	At         []string        `json:"leaves_at"`
	From       []string        `json:"from"`
	Ways       string          `json:"ways"`
	Lost       float64         `json:"lost"`
	Circles    bool            `json:"circles"`
	Devices    []EthernetSplit `json:"devices"`
	Links      []EthernetShare `json:"links"`
}

// EthernetSplit is how a device divides packets of a prefix.
type EthernetSplit struct {
	Device   string            `json:"device"`
	Hops     int               `json:"hops"` // to where packets leave the network, at least; -1: they do not arrive
	Share    float64           `json:"share"`
	Delivers bool              `json:"delivers"`
	Wraps    string            `json:"may_wrap_to,omitempty"`
	Next     []EthernetNextHop `json:"next_hops"`
}

// EthernetNextHop is a next hop with its part of the packets of the device.
type EthernetNextHop struct {
	EthernetPort
	Share float64 `json:"share"`
}

// EthernetShare is a link that packets take, with their part of all.
type EthernetShare struct {
	EthernetLink
	Share    float64 `json:"share"`
	Lossless []int   `json:"lossless_priorities"`
}
