package result

import "time"

// WatchLook is what was seen once and found by it. It is kept in the state folder, and what weft watch --json prints.
type WatchLook struct {
	Number int        `json:"look"`
	At     time.Time  `json:"at"`
	Files  []LookFile `json:"files"`

	// Against is in words what it was held against beside the look before: the engines asked for, the
	// one that OpenSM's log names, the age of the tables expected. If it differs, the same files are judged again.
	Against string `json:"against"`

	Switches int `json:"switches"`
	Hosts    int `json:"hosts"`  // host adapter ports
	Cables   int `json:"cables"` // all of them

	Verdict   string       `json:"verdict"`  // deadlock-free or credit-loop
	Covers    string       `json:"covers"`   // unicast, or unicast and multicast
	Contract  string       `json:"contract"` // of the verdict; if none is set, single:0 where service levels are not known, else honored
	Endpoints string       `json:"endpoints"`
	SLsKnown  bool         `json:"service_levels_known"`
	MapsKnown bool         `json:"sl2vl_known"`
	Lanes     int          `json:"lanes_used"`
	Pairs     int64        `json:"pairs"`
	CutOff    int64        `json:"pairs_cut"`        // pairs that cables join and the tables do not
	Apart     int64        `json:"pairs_apart"`      // pairs that no cables join
	Circles   int64        `json:"forwarding_loops"` // number of (switch, LID) whose packets circle
	Dropped   int64        `json:"dropped_turns"`
	Absent    []LookAbsent `json:"absent_lanes,omitempty"`
	Cycle     []LookStep   `json:"cycle"`
	Multicast *LookTrees   `json:"multicast,omitempty"` // nil: there is no file of multicast trees

	MaxLoad uint32    `json:"largest_load"`
	Hot     []LookHot `json:"hot_links"` // the fullest first

	Asked string    `json:"engine_asked,omitempty"`
	Made  *LookMade `json:"engine_made,omitempty"` // nil: not known

	// HandedOver: by its log OpenSM has written tables since it dumped any, so those are judged that weft serve
	// handed over.
	HandedOver bool `json:"handed_over,omitempty"`

	// Lack is why OpenSM has no tables for the network as it is, by its log: those judged were made before it changed.
	Lack string `json:"lack,omitempty"`

	// LogStale: OpenSM's log ends before these tables were made, and says nothing of them.
	LogStale bool `json:"log_stale,omitempty"`

	Missing  []MissingElement `json:"missing"`           // parts that went within a week and are not back
	Changed  *LookChanges     `json:"changed,omitempty"` // since the look before; nil: there is none, or it cannot be read any more
	Degraded []LookDegraded   `json:"degraded_links"`
	Trouble  *Trouble         `json:"trouble,omitempty"` // cables in trouble; only in what --once prints
	Alarms   []Alarm          `json:"alarms"`
	Seconds  struct {         // without the time in which files had to rest
		Gather  float64 `json:"gather"`
		Read    float64 `json:"read"`
		Judge   float64 `json:"judge"`
		Compare float64 `json:"compare"`
		Total   float64 `json:"total"`
	} `json:"seconds"`

	Ethernet *LookEthernet `json:"ethernet,omitempty"` // of lossless Ethernet; switches are devices then
}

// LookFile is a file as a look saw it.
type LookFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// LookAbsent is a lane that a switch maps a service level to, and the cable at its port does not
// run.
type LookAbsent struct {
	From    Node  `json:"from"`
	SL      uint8 `json:"sl"`
	VL      uint8 `json:"vl"`
	DataVLs uint8 `json:"data_vls"` // that the cable runs
}

// LookStep is a step of a credit loop: a packet that holds a lane and waits for that of the
// next step, with its source and destination.
type LookStep struct {
	From Node  `json:"from"`
	To   Node  `json:"to"`
	VL   uint8 `json:"vl"`
	SL   uint8 `json:"sl"`
	Src  Node  `json:"src"`
	Dst  Node  `json:"dst"`
}

// LookTrees is the trees of multicast groups, and the MLIDs of those that are not as they should
// be.
type LookTrees struct {
	Groups   int      `json:"groups"`
	Circling []string `json:"circling,omitempty"`
	Split    []string `json:"split,omitempty"`
	OneSided []string `json:"one_sided,omitempty"`
}

// LookHot is a direction of a cable between switches with the routes over it.
type LookHot struct {
	From   Node   `json:"from"`
	To     Node   `json:"to"`
	Routes uint32 `json:"routes"`
}

// CableEnds is the ends of a cable, or of all cables between two switches.
type CableEnds struct {
	A Node `json:"a"`
	B Node `json:"b"`
}

// LookDegraded is a link that is slower or narrower than others of its kind.
type LookDegraded struct {
	Kind string `json:"kind"` // slow-link, narrow-link or mixed-rates, as weft info says
	Rate string `json:"rate"`
	CableEnds
}

// LookMade is the engine that made tables, and how that is known.
type LookMade struct {
	Engine string  `json:"engine"`
	How    string  `json:"how"`             // log or tables
	Share  float64 `json:"share,omitempty"` // by tables: of entries with a choice, those that are the engine's
}

// LookChanges is the difference from the look before.
type LookChanges struct {
	Gone     LookParts `json:"gone"`
	New      LookParts `json:"new"`
	Recabled []Node    `json:"recabled"`         // ports of switches whose cable leads elsewhere
	Entries  int       `json:"entries"`          // of forwarding tables, (switch, LID)
	Due      int       `json:"entries_due"`      // of Entries, those that had to change
	Blocks   int       `json:"blocks"`           // of 64 LIDs, with any of Entries
	Touched  int       `json:"switches_written"` // with any of Blocks
	SLs      int64     `json:"sls"`              // (source row, LID) with another service level
	Maps     int       `json:"sl2vl_cells"`      // (switch, in-port, out-port, SL) with another lane
}

// LookParts is switches, adapters and cables.
type LookParts struct {
	Switches []Node      `json:"switches"`
	Adapters []Node      `json:"adapters"`
	Cables   []CableEnds `json:"cables"` // between nodes that both looks have
}

// LookEthernet is what a look saw of a lossless Ethernet network, beside what it says of any network.
type LookEthernet struct {
	VRF          string               `json:"vrf,omitempty"`
	Lossless     []int                `json:"lossless_priorities,omitempty"` // as set, where no configuration says so
	Prefixes     int                  `json:"host_prefixes"`
	NextHops     int                  `json:"next_hops"` // of all devices, to prefixes with hosts
	Nothing      string               `json:"nothing_because,omitempty"`
	Gaps         []string             `json:"not_covered"`
	Cycle        []EthernetStep       `json:"cycle"`
	Narrow       []string             `json:"narrow_groups"`
	OneWay       []string             `json:"one_way_lossless"`
	Slow         []string             `json:"slow_cables"`
	Pins         int                  `json:"pins"`
	Fallbacks    []string             `json:"pins_fallen_back"` // prefixes
	Silent       []string             `json:"silent_devices"`
	CollectError string               `json:"collect_error,omitempty"`
	Changed      *LookEthernetChanges `json:"changed,omitempty"`
	Paused       []PausedPort         `json:"paused_ports"` // the most paused first
}

// LookEthernetChanges is the difference from the look before.
type LookEthernetChanges struct {
	DevicesGone  []string `json:"devices_gone"`
	DevicesNew   []string `json:"devices_new"`
	CablesGone   []string `json:"cables_gone"`
	CablesNew    []string `json:"cables_new"`
	Recabled     []string `json:"recabled"`
	PrefixesGone []string `json:"prefixes_gone"`
	Entries      int      `json:"entries"`        // sets of next hops of a prefix at a device
	Lost         []string `json:"next_hops_gone"` // sentences: next hops that are gone though their cables are there, and the neighbors have the route as before
	Lossless     []string `json:"lossless"`       // sentences: directions of cables with other lossless priorities
}

// PausedPort is what a port counted of pauses of a priority since the look before, and where they come from.
type PausedPort struct {
	Device    string   `json:"device"`
	Interface string   `json:"interface"`
	Priority  uint8    `json:"priority"`
	Received  uint64   `json:"pause_frames_received"`
	Sent      uint64   `json:"pause_frames_sent"`
	Storms    uint64   `json:"storms"`
	Dropped   uint64   `json:"packets_dropped"`
	InStorm   bool     `json:"in_storm"` // a storm goes on
	PerSecond float64  `json:"received_per_second"`
	Prefixes  int      `json:"host_prefixes"` // whose packets go by the port
	Way       []string `json:"pauses_come_by"`
	Circle    bool     `json:"pauses_circle"`
}

// Alarm is something that packets suffer from, or will.
type Alarm struct {
	Kind  string    `json:"kind"`
	What  string    `json:"what"` // a sentence
	Do    string    `json:"do"`   // what to do about it
	Since time.Time `json:"since"`
}

// WatchStatus is how a watch is, beside its looks: what status.json has, and what weft status and /status show.
type WatchStatus struct {
	Version string           `json:"version"`
	PID     int              `json:"pid"`
	Every   string           `json:"every"`
	At      time.Time        `json:"at"`                // of the last look, also one that saw nothing new
	Look    int              `json:"look"`              // number of the last one kept
	Same    int              `json:"same"`              // number of looks since that saw nothing new
	Failed  int              `json:"failed"`            // number of looks that failed, in a row up to the last; 0: the last did not
	Error   string           `json:"error,omitempty"`   // why the last look failed
	Alarms  []Alarm          `json:"alarms"`            // that are there now
	Trouble *Trouble         `json:"trouble,omitempty"` // cables in trouble; absent: there was no look
	Missing []MissingElement `json:"missing"`           // parts that went within a week and are not back

	OpenSM *OpenSMProcess `json:"opensm,omitempty"` // absent: none was seen on this host
	Log    *OpenSMLog     `json:"log,omitempty"`    // absent: no log is looked at

	ReloadError string `json:"reload_error,omitempty"` // why the last reload was refused: the settings before it stand
}

// OpenSMLog is what OpenSM's log said, which holds until it says otherwise: one that was rotated says nothing at first.
type OpenSMLog struct {
	Path   string    `json:"path"`
	Engine string    `json:"engine,omitempty"` // whose tables it says were written last; empty: it does not say
	Failed []string  `json:"failed,omitempty"` // engines that made none since
	At     time.Time `json:"at"`               // when it was last written to
	Given  time.Time `json:"given,omitzero"`   // when tables of weft's were used last, by the line's own time; zero: it does not say
	Exact  bool      `json:"exact,omitempty"`  // of Given: it has microseconds
	Lack   string    `json:"lack,omitempty"`   // why OpenSM has no tables for the network as it is, by its last sweep; empty: it does not say so

	Swept   time.Time `json:"swept,omitzero"`   // when a heavy sweep ended last, by the line's own time; zero: it does not say
	Standby time.Time `json:"standby,omitzero"` // since when it is on standby, and another routes; zero: it is not, or does not say so
}

// OpenSMProcess is the OpenSM whose dumps or log are looked at, where it runs on this host, by its process.
type OpenSMProcess struct {
	PID  int        `json:"pid"`            // of the process that was seen last
	Gone *time.Time `json:"gone,omitempty"` // since when there is none; nil: it runs
}

// WatchLog is the looks that are kept, and how the watch is.
type WatchLog struct {
	Status *WatchStatus `json:"status,omitempty"` // absent: it never finished a look
	Looks  []*WatchLook `json:"looks"`            // the oldest first

	Damaged []string `json:"damaged,omitempty"` // sentences: looks, or the status, that are kept and cannot be read
}
