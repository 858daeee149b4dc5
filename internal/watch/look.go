package watch

import (
	"time"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Snapshot is what a reader made of the files of a look: what is judged, and compared with that of the next look.
type Snapshot struct {
	Tables *routing.Tables
	SLs    bool     // service levels are known; otherwise they are 0
	Maps   bool     // SL2VL maps are known; otherwise SL n uses lane n
	Stale  []string // sentences: what tables and network do not have in common, and packets suffer from
	NoMap  string   // a sentence about ports without an SL2VL map; empty: all have one
	Doubts []string // sentences: why switches may not do what the tables say

	Ethernet *EthernetSnapshot // of lossless Ethernet, in place of all of this
	loads    *congestion.Loads // set by judge
}

// Reader reads the network in one folder, and the tables in another or the same for it;
// multicast is the service levels of multicast groups, as bits.
type Reader func(network, tables string, multicast uint16) (*Snapshot, error)

// Look is what was seen once and found by it. It is kept in the state folder, and what weft watch --json prints.
type Look struct {
	Number int       `json:"look"`
	At     time.Time `json:"at"`
	Files  []File    `json:"files"`

	// Against is in words what it was held against beside the look before: the engines asked for, the
	// one that OpenSM's log names, the age of the tables expected. If it differs, the same files are judged again.
	Against string `json:"against"`

	Switches int `json:"switches"`
	Hosts    int `json:"hosts"`  // host adapter ports
	Cables   int `json:"cables"` // all of them

	Verdict   string     `json:"verdict"`  // deadlock-free or credit-loop
	Covers    string     `json:"covers"`   // unicast, or unicast and multicast
	Contract  string     `json:"contract"` // of the verdict; if none is set, single:0 where service levels are not known, else honored
	Endpoints string     `json:"endpoints"`
	SLsKnown  bool       `json:"service_levels_known"`
	MapsKnown bool       `json:"sl2vl_known"`
	Lanes     int        `json:"lanes_used"`
	Pairs     int64      `json:"pairs"`
	CutOff    int64      `json:"pairs_cut"`        // pairs that cables join and the tables do not
	Apart     int64      `json:"pairs_apart"`      // pairs that no cables join
	Circles   int64      `json:"forwarding_loops"` // number of (switch, LID) whose packets circle
	Dropped   int64      `json:"dropped_turns"`
	Absent    []Absent   `json:"absent_lanes,omitempty"`
	Cycle     []LoopStep `json:"cycle"`
	Multicast *Trees     `json:"multicast,omitempty"` // nil: there is no file of multicast trees

	MaxLoad uint32    `json:"largest_load"`
	Hot     []HotLink `json:"hot_links"` // the fullest first

	Asked string `json:"engine_asked,omitempty"`
	Made  *Made  `json:"engine_made,omitempty"` // nil: not known

	// HandedOver: by its log OpenSM has written tables since it dumped any, so those of Expect are judged, which weft
	// serve handed over.
	HandedOver bool `json:"handed_over,omitempty"`

	// Lack is why OpenSM has no tables for the network as it is, by its log: those judged were made before it changed.
	Lack string `json:"lack,omitempty"`

	// LogStale: OpenSM's log ends before these tables were made, and says nothing of them.
	LogStale bool `json:"log_stale,omitempty"`

	Missing  []result.MissingElement `json:"missing"`           // parts that went within a week and are not back
	Changed  *Changes                `json:"changed,omitempty"` // since the look before; nil: there is none, or it cannot be read any more
	Degraded []Degraded              `json:"degraded_links"`
	Trouble  *result.Trouble         `json:"trouble,omitempty"` // cables in trouble; only in what --once prints
	Alarms   []Alarm                 `json:"alarms"`
	Seconds  LookSeconds             `json:"seconds"`

	Ethernet *EthernetLook `json:"ethernet,omitempty"` // of lossless Ethernet; switches are devices then
}

// Absent is a lane that a switch maps a service level to, and the cable at its port does not
// run.
type Absent struct {
	From    result.Node `json:"from"`
	SL      uint8       `json:"sl"`
	VL      uint8       `json:"vl"`
	DataVLs uint8       `json:"data_vls"` // that the cable runs
}

// Trees is the trees of multicast groups, and the MLIDs of those that are not as they should
// be; see deadlock.MulticastVerdict.
type Trees struct {
	Groups   int      `json:"groups"`
	Circling []string `json:"circling,omitempty"`
	Split    []string `json:"split,omitempty"`
	OneSided []string `json:"one_sided,omitempty"`
}

// LoopStep is a step of a credit loop: a packet that holds a lane and waits for that of the
// next step, with its source and destination.
type LoopStep struct {
	From result.Node `json:"from"`
	To   result.Node `json:"to"`
	VL   uint8       `json:"vl"`
	SL   uint8       `json:"sl"`
	Src  result.Node `json:"src"`
	Dst  result.Node `json:"dst"`
}

// HotLink is a direction of a cable between switches with the routes over it.
type HotLink struct {
	From   result.Node `json:"from"`
	To     result.Node `json:"to"`
	Routes uint32      `json:"routes"`
}

// LookLink is a cable, or all cables between two switches.
type LookLink struct {
	A result.Node `json:"a"`
	B result.Node `json:"b"`
}

// Degraded is a link that is slower or narrower than others of its kind.
type Degraded struct {
	Kind string `json:"kind"` // slow-link, narrow-link or mixed-rates, as weft info says
	Rate string `json:"rate"`
	LookLink
}

// Made is the engine that made tables, and how that is known.
type Made struct {
	Engine string  `json:"engine"`
	How    string  `json:"how"`             // log or tables
	Share  float64 `json:"share,omitempty"` // by tables: of entries with a choice, those that are the engine's
}

// Changes is the difference from the look before.
type Changes struct {
	Gone     LookParts     `json:"gone"`
	New      LookParts     `json:"new"`
	Recabled []result.Node `json:"recabled"`         // ports of switches whose cable leads elsewhere
	Entries  int           `json:"entries"`          // of forwarding tables, (switch, LID)
	Due      int           `json:"entries_due"`      // of Entries, those that had to change
	Blocks   int           `json:"blocks"`           // of 64 LIDs, with any of Entries
	Touched  int           `json:"switches_written"` // with any of Blocks
	SLs      int64         `json:"sls"`              // (source row, LID) with another service level
	Maps     int           `json:"sl2vl_cells"`      // (switch, in-port, out-port, SL) with another lane

	hops int // sets of next hops, of lossless Ethernet
}

// LookParts is switches, adapters and cables.
type LookParts struct {
	Switches []result.Node `json:"switches"`
	Adapters []result.Node `json:"adapters"`
	Cables   []LookLink    `json:"cables"` // between nodes that both looks have
}

// LookSeconds is the time of the stages of a look, without that in which files had to rest.
type LookSeconds struct {
	Gather  float64 `json:"gather"`
	Read    float64 `json:"read"`
	Judge   float64 `json:"judge"`
	Compare float64 `json:"compare"`
	Total   float64 `json:"total"`
}

// Kind is a kind of alarm.
type Kind string

// The kinds of alarm, the worst first; see the package comment.
const (
	CreditLoop     Kind = result.CreditLoop
	CutOff         Kind = "cut-off"
	Multicast      Kind = "multicast"
	ForwardingLoop Kind = "forwarding-loop"
	Dropped        Kind = "dropped"
	SweepFailed    Kind = "sweep-failed"
	OpenSMGone     Kind = "opensm-gone"
	Fallback       Kind = "fallback"
	OtherTables    Kind = "other-tables"
	StaleTables    Kind = "stale-tables"
	NoMap          Kind = "no-map"
	Unproven       Kind = "unproven"
	DegradedLink   Kind = "degraded-link"
	Recabled       Kind = "recabled"
	CableTrouble   Kind = "cable-trouble"
	Unreadable     Kind = "unreadable"

	// Of lossless Ethernet.
	NextHopsGone    Kind = "next-hops-gone"
	NarrowGroup     Kind = "narrow-group"
	LosslessDiffers Kind = "lossless-differs"
	PinFallback     Kind = "pins-fell-back"
	SilentDevice    Kind = "silent-device"
	PauseStorm      Kind = "pause-storm"
	WatchdogDrops   Kind = "watchdog-drops"
)

// Kinds is all kinds of alarm.
var Kinds = []Kind{CreditLoop, CutOff, Multicast, ForwardingLoop, Dropped, SweepFailed, OpenSMGone, Fallback, OtherTables, StaleTables, NoMap, Unproven, DegradedLink, Recabled, CableTrouble, Unreadable,
	NextHopsGone, NarrowGroup, LosslessDiffers, PinFallback, SilentDevice, PauseStorm, WatchdogDrops}

// Alarm is something that packets suffer from, or will.
type Alarm struct {
	Kind  Kind      `json:"kind"`
	What  string    `json:"what"` // a sentence
	Do    string    `json:"do"`   // what to do about it
	Since time.Time `json:"since"`
}
