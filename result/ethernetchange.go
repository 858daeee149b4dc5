package result

// DiffEthernet is what weft diff prints of lossless Ethernet.
type DiffEthernet struct {
	Old        string        `json:"old"`
	New        string        `json:"new"`
	Assumed    []string      `json:"assumed"`
	NotCovered []string      `json:"not_covered"`
	Same       bool          `json:"same"`
	Parts      EthernetParts `json:"parts"`
	Prefixes   struct {      // with hosts, that are in one of both only, or behind other devices
		Gone  []string `json:"gone"`
		New   []string `json:"new"`
		Moved []string `json:"moved"`
	} `json:"prefixes"`
	Entries  int                `json:"entries"`
	Routes   []EthernetReroute  `json:"routes"`
	Lossless []EthernetLossless `json:"lossless"`
	Maps     []string           `json:"maps"`
	Change   EthernetChange     `json:"change"`
	Seconds  VerifyStageTime    `json:"seconds"`
}

// WhatIfEthernet is what weft what-if prints of lossless Ethernet.
type WhatIfEthernet struct {
	Network    string         `json:"network"`
	Routes     string         `json:"routes"`
	Differ     []string       `json:"differ"`
	Assumed    []string       `json:"assumed"`
	NotCovered []string       `json:"not_covered"`
	Without    EthernetParts  `json:"without"`
	Gone       []string       `json:"prefixes_gone"`
	Entries    int            `json:"entries"`
	Devices    int            `json:"devices_rerouted"`
	Apart      int64          `json:"pairs_apart"`
	Change     EthernetChange `json:"change"`
	Least      struct {       // the leaf with the smallest part of its cables left
		Device string `json:"device"` // empty: all have all
		Cables int    `json:"cables"`
		Of     int    `json:"of"`
	} `json:"narrowest"`
	Bandwidth []EthernetBandwidth `json:"bandwidth"`
	Seconds   DiffSeconds         `json:"seconds"`
}

// EthernetParts is devices and cables that are in one of two networks only.
type EthernetParts struct {
	DevicesGone []string           `json:"devices_gone"`
	DevicesNew  []string           `json:"devices_new"`
	CablesGone  []EthernetCable    `json:"cables_gone"`
	CablesNew   []EthernetCable    `json:"cables_new"`
	Recabled    []EthernetRecabled `json:"recabled"`
}

// EthernetCable is a cable by its two ends.
type EthernetCable struct {
	A          string `json:"a"`
	AInterface string `json:"a_interface"`
	B          string `json:"b"`
	BInterface string `json:"b_interface"`
}

// EthernetRecabled is an interface that leads elsewhere than before.
type EthernetRecabled struct {
	EthernetPort
	Before string `json:"was"` // device and interface that it led to
	After  string `json:"is"`
}

// EthernetReroute is prefixes that a device forwards otherwise than before.
type EthernetReroute struct {
	Device   string         `json:"device"`
	Before   []EthernetPort `json:"was"`
	After    []EthernetPort `json:"is"`
	Prefixes []string       `json:"prefixes"`
	Text     string         `json:"-"` // what changes, in a sentence
}

// EthernetPort is an interface of a device, as of a next hop.
type EthernetPort struct {
	Device    string `json:"device"`
	Interface string `json:"interface"`
}

// EthernetLossless is a direction of a cable with other lossless priorities than before.
type EthernetLossless struct {
	EthernetLink
	Before []int `json:"was"`
	After  []int `json:"is"`
}

// EthernetChange is what becomes of packets before, while and after one network becomes another.
type EthernetChange struct {
	Verdict     string         `json:"verdict"`
	Nothing     string         `json:"nothing_because,omitempty"`
	Before      string         `json:"verdict_before"`
	After       string         `json:"verdict_after"`
	Cycle       []EthernetStep `json:"cycle"`
	Pairs       int64          `json:"pairs"`
	CutBefore   int64          `json:"cut_before"`
	CutBetween  int64          `json:"cut_between"`
	CutAfter    int64          `json:"cut_after"`
	Circles     int            `json:"circles_after"`
	Lost        []EthernetLost `json:"lost"`
	OneMapsOnly bool           `json:"maps_of_new_only"`
	AnyMaps     bool           `json:"any_maps"`
}

// EthernetBandwidth is how long random pairs take in one way before and after, in terms of that in which nobody is in
// another's way.
type EthernetBandwidth struct {
	Way          string  `json:"way"`
	QueuePairs   int     `json:"queue_pairs"`
	Before       float64 `json:"time_before"`
	BeforeStdErr float64 `json:"time_before_stderr,omitempty"`
	After        float64 `json:"time_after"`
	AfterStdErr  float64 `json:"time_after_stderr,omitempty"`
	Lost         int64   `json:"noroute_after"`
}
