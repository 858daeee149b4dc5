package result

import (
	"time"

	"github.com/weft-fabric/weft/fabric"
)

// Location is a part that is drained: a switch, or the cable at a port of one.
type Location struct {
	GUID fabric.GUID `json:"guid"`
	Port uint8       `json:"port,omitempty"` // 0: the whole switch
}

// Status is how the daemon is: what weft status prints.
type Status struct {
	Version     string    `json:"version"`
	PID         int       `json:"pid"`
	Since       time.Time `json:"since"`
	Socket      string    `json:"socket"`
	Engines     []string  `json:"engines"` // wanted, in order
	Contract    string    `json:"contract"`
	Endpoints   string    `json:"endpoints"`
	NotCovered  []string  `json:"not_covered"` // by any proof for these endpoints
	VLs         int       `json:"vls"`         // at most; 0: as many as the fabric has
	Keep        string    `json:"keep"`        // least, balanced or never
	Sweeps      int64     `json:"sweeps"`
	Refused     int64     `json:"refused"`
	Cached      int64     `json:"cached"` // answered from memory
	ReloadError string    `json:"reload_error,omitempty"`
	StateFolder
	Last      *StatusSweep     `json:"last,omitempty"`      // the last request
	LastGood  *StatusSweep     `json:"last_good,omitempty"` // the last that got tables
	Plan      *Progress        `json:"plan,omitempty"`      // of several steps, or the last that is done
	Settled   bool             `json:"settled"`             // no step follows, all switches have confirmed the last, and packets of those before are gone
	OpenSM    bool             `json:"opensm"`              // it has a question open, as its plugin does as long as it runs
	Start     bool             `json:"starting,omitempty"`  // it began just now, and does not know yet what is drained
	Drained   []Drained        `json:"drained"`             // parts that are kept free of traffic, or are to be
	Forgotten []Drained        `json:"forgotten,omitempty"` // parts whose drain a restart forgot, since the state folder could not be written
	Missing   []MissingElement `json:"missing"`             // parts that went within a week and are not back
	Trouble   *Trouble         `json:"trouble,omitempty"`   // cables in trouble; absent: no network was seen yet
	Watch     []Doubt          `json:"watch,omitempty"`     // alarms of weft watch, if it is asked
	Search    *Search          `json:"search,omitempty"`    // the last that went on when tables were handed over
}

// StateFolder is how the state folder is, for the status.
type StateFolder struct {
	StateError   string     `json:"state_error,omitempty"`       // of the last write, or that one hangs; empty once one succeeded
	StateSince   *time.Time `json:"state_error_since,omitempty"` // since when there is an error
	StateWaiting int        `json:"state_waiting"`               // tables and refusals to be written
	StateDropped int64      `json:"state_dropped,omitempty"`     // refusals that made room for newer ones
	StateAside   string     `json:"state_put_aside,omitempty"`   // folder, in the state folder, of what could not be believed or used, the last time
	StateWhy     string     `json:"state_put_aside_why,omitempty"`
}

// StatusSweep is a request of OpenSM's, and what came of it.
type StatusSweep struct {
	Sweep          uint64        `json:"sweep"` // OpenSM's number
	At             time.Time     `json:"at"`
	OpenSM         string        `json:"opensm"`
	Switches       int           `json:"switches"`
	Endpoints      int           `json:"endpoints"`
	Links          int           `json:"links"`
	Wanted         []string      `json:"engines_wanted"`
	Engine         string        `json:"engine,omitempty"` // the one used
	Tried          []Attempt     `json:"tried"`
	Verdict        string        `json:"verdict"` // deadlock-free, or refused
	Refusal        string        `json:"refusal,omitempty"`
	Missing        []string      `json:"missing,omitempty"` // what the settings name and the fabric has not
	Contract       string        `json:"contract"`
	Scope          string        `json:"scope"`
	VLsNeeded      int           `json:"vls_needed,omitempty"`    // as lanes_needed
	VLsAvailable   int           `json:"vls_available"`           // as lanes_available
	Covers         string        `json:"covers,omitempty"`        // unicast and multicast, or unicast
	MulticastSLs   []int         `json:"multicast_sls,omitempty"` // service levels of multicast groups that it covers
	NoTree         string        `json:"no_tree,omitempty"`       // why multicast is not covered, where it was wanted
	LanesNeeded    int           `json:"lanes_needed,omitempty"`  // by the proof
	LanesUsed      int           `json:"lanes_used,omitempty"`    // with paths spread over spare ones
	LanesAvailable int           `json:"lanes_available"`         // of the fabric and the settings
	MaxLoad        uint32        `json:"max_load"`
	ChangedEntries int64         `json:"changed_entries"`    // of forwarding tables, against those handed over before
	ChangedSLs     int64         `json:"changed_sls"`        // by source switch and destination
	Change         *StatusChange `json:"change,omitempty"`   // how they replace the tables in use; absent: there were none
	Cached         bool          `json:"cached"`             // answered from memory
	SoFar          bool          `json:"so_far"`             // the best so far: the search for better tables went on
	Again          bool          `json:"again,omitempty"`    // a question for better tables than those handed over so far
	Restored       bool          `json:"restored,omitempty"` // read back from the state folder after a restart, and proven again
	Key            string        `json:"key,omitempty"`      // names fabric and settings: under the same key tables are the same
	Seconds        struct {      // that its stages took; those of a cached one are 0
		Read   float64 `json:"read"`
		Route  float64 `json:"route"`
		Verify float64 `json:"verify"`
		Answer float64 `json:"answer"`
		Total  float64 `json:"total"`
	} `json:"seconds"`
}

// Attempt is an engine that was tried, with what came of it.
type Attempt struct {
	Engine     string `json:"engine"`
	Refused    string `json:"refused,omitempty"` // empty: its tables were handed over
	CreditLoop bool   `json:"credit_loop"`
}

// StatusChange says how tables replace those in use.
type StatusChange struct {
	Kind      string  `json:"kind"`               // same, repair, return, or full: routed anew
	Why       string  `json:"why,omitempty"`      // for full: why the tables in use were not kept
	Proven    bool    `json:"proven"`             // nothing can deadlock while it is written; for full, where not, only entries are counted
	Entries   int     `json:"entries"`            // number of entries of forwarding tables that differ
	Due       int     `json:"due"`                // number of these that had to change
	Blocks    int     `json:"blocks"`             // number of blocks of 64 LIDs that OpenSM writes
	Switches  int     `json:"switches"`           // number of switches with such a block
	CutBefore int64   `json:"cut_before"`         // pairs that the tables in use do not deliver
	CutAfter  int64   `json:"cut_after"`          // pairs that these tables do not deliver
	Step      int     `json:"step"`               // which of its plan, from 1
	More      int     `json:"more"`               // steps that follow, at least
	NewTree   bool    `json:"new_tree,omitempty"` // the tree for multicast is another, and nothing is proven about multicast until all is written
	Wait      float64 `json:"wait_seconds"`       // before the next, from when all switches have confirmed this one until earlier packets are gone
}

// Progress is the progress of a plan of several steps.
type Progress struct {
	Kind  string     `json:"kind"`
	Began time.Time  `json:"began"`
	Ended *time.Time `json:"ended,omitempty"` // nil: it goes on
	Steps int        `json:"steps"`           // handed over so far
	// Confirmed is of them those of which OpenSM has said, in the question of a later sweep, that all
	// switches have confirmed them.
	Confirmed int     `json:"confirmed_steps"`
	More      int     `json:"more"`           // that follow, at least
	Entries   int     `json:"entries"`        // changed so far
	Due       int     `json:"due"`            // of them, those that had to
	Wait      float64 `json:"wait_seconds"`   // before the next step
	CutPairs  int64   `json:"cut_pairs"`      // that were cut, at most
	CutFor    float64 `json:"cut_seconds"`    // from OpenSM's question to the answer that mends the last of them
	CutNow    int64   `json:"cut_now"`        // by the step handed over last
	Left      int     `json:"left,omitempty"` // destinations that no safe step brings back
}

// Search is the search for better tables than those that were handed over as the
// best so far.
type Search struct {
	Began      time.Time  `json:"began"`
	Ended      *time.Time `json:"ended,omitempty"` // nil: it goes on
	Given      string     `json:"given"`           // engine of the tables handed over meanwhile
	Engine     string     `json:"engine,omitempty"`
	Better     bool       `json:"better"`               // Engine's tables are better than those handed over
	Awaited    bool       `json:"awaited"`              // OpenSM waits for them, and routes again
	Unfinished string     `json:"unfinished,omitempty"` // why it was not carried through
	Seconds    float64    `json:"seconds,omitempty"`    // from its beginning to its end, also where the clock was set meanwhile
}

// Drained is a switch or a cable that is to be kept free of traffic, by an order.
type Drained struct {
	Part  string     `json:"part"` // as people call it
	Kind  string     `json:"kind"` // switch or cable
	Place Location   `json:"place"`
	By    string     `json:"by"`              // who ordered it
	At    time.Time  `json:"at"`              // when
	After time.Time  `json:"after"`           // from when on it is to be free
	Until *time.Time `json:"until,omitempty"` // when it comes back by itself; nil: not at all
	Cut   []string   `json:"cut,omitempty"`   // endpoints that are cut off when it is pulled

	Order  string    `json:"order,omitempty"`  // its ID, by which it can be taken back
	Before []Drained `json:"before,omitempty"` // the orders that it took the place of, the last first

	State string   `json:"state,omitempty"` // how far that is: later, waiting, leaving, free or still used
	Why   string   `json:"why,omitempty"`   // of still used
	Over  []string `json:"over,omitempty"`  // of still used: endpoints to which packets lead over it
	Gone  bool     `json:"gone,omitempty"`  // the network does not have it; when it is back it stays drained
}
