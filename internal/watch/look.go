package watch

import (
	"slices"

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

// The kinds of alarm, the worst first; see the package comment.
const (
	CreditLoop     = result.CreditLoop
	CutOff         = "cut-off"
	Multicast      = "multicast"
	ForwardingLoop = "forwarding-loop"
	Dropped        = "dropped"
	SweepFailed    = "sweep-failed"
	OpenSMGone     = "opensm-gone"
	OpenSMStandby  = "opensm-standby"
	NotDumped      = "not-dumped"
	Fallback       = "fallback"
	OtherTables    = "other-tables"
	StaleTables    = "stale-tables"
	NoMap          = "no-map"
	Unproven       = "unproven"
	DegradedLink   = "degraded-link"
	Recabled       = "recabled"
	CableTrouble   = "cable-trouble"
	Unreadable     = "unreadable"

	// Of lossless Ethernet.
	NextHopsGone    = "next-hops-gone"
	NarrowGroup     = "narrow-group"
	LosslessDiffers = "lossless-differs"
	PinFallback     = "pins-fell-back"
	SilentDevice    = "silent-device"
	PauseStorm      = "pause-storm"
	WatchdogDrops   = "watchdog-drops"
)

// besideLooks is the kinds of alarm that no look has: those of the watch.
var besideLooks = []string{OpenSMGone, OpenSMStandby, NotDumped, CableTrouble, Unreadable}

// withBeside is the alarms of a look, and those of besideLooks among others.
func withBeside(l *result.WatchLook, others []result.Alarm) []result.Alarm {
	beside := slices.DeleteFunc(slices.Clone(others), func(a result.Alarm) bool { return !slices.Contains(besideLooks, a.Kind) })
	return slices.Concat(l.Alarms, beside)
}

// Kinds is all kinds of alarm.
var Kinds = []string{CreditLoop, CutOff, Multicast, ForwardingLoop, Dropped, SweepFailed, OpenSMGone, OpenSMStandby, NotDumped, Fallback, OtherTables, StaleTables, NoMap, Unproven, DegradedLink, Recabled, CableTrouble, Unreadable,
	NextHopsGone, NarrowGroup, LosslessDiffers, PinFallback, SilentDevice, PauseStorm, WatchdogDrops}
