package counters

import (
	"bytes"
	"math"
	"strings"
)

// Counter is a counter of errors that a port has; what it counts is of the cable, as the port receives it.
type Counter uint8

// The counters, as the InfiniBand Architecture Specification (volume 1, 16.1.3.5, PortCounters) and
// NVIDIA's tools name them.
const (
	Symbol      Counter = iota // SymbolErrorCounter: symbols that were wrong in the end
	Recovered                  // LinkErrorRecoveryCounter: the link trained again, and came back
	Downed                     // LinkDownedCounter: the link trained again, and was down for it
	Damaged                    // PortRcvErrors: packets with an error
	Integrity                  // LocalLinkIntegrityErrors: more errors than the port puts up with
	Overrun                    // ExcessiveBufferOverrunErrors: flow control did not work, time and again
	Uncorrected                // PortFECUncorrectableBlockCounter: blocks that forward error correction could not mend
	Effective                  // errors behind forward error correction, of an ibdiagnet2.net_dump_ext
	numCounters                // how many there are
)

func (c Counter) String() string {
	return [...]string{"symbol", "recovered", "downed", "damaged", "integrity", "overrun", "uncorrected", "effective"}[c]
}

// mostCounted is the number at which a counter of PortCounters stops; 0: it has 32 bits or more, and does not get there.
var mostCounted = [numCounters]float64{Symbol: 1<<16 - 1, Recovered: 1<<8 - 1, Downed: 1<<8 - 1, Damaged: 1<<16 - 1, Integrity: 1<<4 - 1, Overrun: 1<<4 - 1}

// Errors is what a port has counted, [Counter]; NaN is not known.
type Errors [numCounters]float64

// noErrors is errors of which none is known.
func noErrors() (e Errors) {
	for i := range e {
		e[i] = math.NaN()
	}
	return e
}

// Full reports whether a counter stands where it stops, so that it says nothing any more.
func (e *Errors) Full(c Counter) bool { return mostCounted[c] > 0 && e[c] == mostCounted[c] }

// stopped is how many counters stand where they stop.
func (e *Errors) stopped() (n int) {
	for c := range e {
		if e.Full(Counter(c)) {
			n++
		}
	}
	return n
}

// since is what came since an earlier count; NaN where that is not known, or the counter stopped. A number that is less
// than before was cleared in between, and all of it came since.
func (e Errors) since(before *Errors) Errors {
	for c := range e {
		switch {
		case math.IsNaN(before[c]) || e.Full(Counter(c)) && e[c] == before[c]:
			e[c] = math.NaN()
		case e[c] >= before[c]:
			e[c] -= before[c]
		}
	}
	return e
}

// errorNames is names of counters in small letters, without what stands between words and without Ext or Extended behind
// them. FEC counts by lane where it does not count by port.
var errorNames = map[string]Counter{
	"symbolerrorcounter": Symbol, "symbolerror": Symbol,
	"linkerrorrecoverycounter": Recovered, "linkerrorrecovery": Recovered,
	"linkdownedcounter": Downed, "linkdowncounter": Downed, "linkdowned": Downed,
	"portrcverrors": Damaged, "receiveerrors": Damaged,
	"locallinkintegrityerrors":     Integrity,
	"excessivebufferoverrunerrors": Overrun, "excessivebuffererrors": Overrun,
	"portfecuncorrectableblockcounter": Uncorrected, "fecuncorrectableblockcounter": Uncorrected,
	"portfecuncorrectableblockctr": Uncorrected, // perfquery -T of a port with RS-FEC
}

// separators removes what stands between the words of a name.
var separators = strings.NewReplacer("_", "", "[", "", "]", "")

// laneNames is what stands before the number of a lane in names, in small letters and without separators: Ctr in
// perfquery, Counter in ibdiagnet.
var laneNames = [...]string{"fecuncorrectableblockctrlane", "fecuncorrectableblockcounterlane", "fecuncorrectableblockcountrlane"}

// errorNamed is the counter that a name stands for; lane is 0 for one of the whole port, else one more than the
// lane.
func errorNamed(name []byte) (c Counter, lane int, ok bool) {
	plain := strings.ToLower(string(bytes.TrimSpace(name)))
	plain = separators.Replace(plain)
	for _, before := range laneNames {
		rest, ok := strings.CutPrefix(plain, before)
		if !ok || len(rest) == 0 || len(rest) > 2 {
			continue
		}
		n := 0
		for _, d := range rest {
			if d < '0' || d > '9' {
				return 0, 0, false
			}
			n = 10*n + int(d-'0')
		}
		return Uncorrected, n + 1, true
	}
	for _, end := range []string{"", "extended", "ext"} {
		if c, ok := errorNames[strings.TrimSuffix(plain, end)]; ok {
			return c, 0, true
		}
	}
	return 0, 0, false
}

// named is what errorNamed says of a name.
type named struct {
	counter Counter
	lane    int
	ok      bool
}

// errorNamed is the function errorNamed with a memory: files have few names, in each of many blocks.
func (p *parser) errorNamed(name []byte) (c Counter, lane int, ok bool) {
	if n, known := p.names[string(name)]; known {
		return n.counter, n.lane, n.ok
	}
	c, lane, ok = errorNamed(name)
	if len(p.names) < 1000 { // more names has no file of counters
		p.names[string(name)] = named{counter: c, lane: lane, ok: ok}
	}
	return c, lane, ok
}

// countError notes what a counter of the port at hand has counted. Of counters of several widths the largest number
// stands; those of lanes (errorNamed) are added up.
func (p *parser) countError(c Counter, lane int, v float64) {
	r, ok := p.c.Received[p.at]
	if !ok {
		r = Unknown()
	}
	e := &r.Errors[c]
	switch {
	case math.IsNaN(*e):
		*e = v
	case lane > 0:
		*e += v
	default:
		*e = max(*e, v)
	}
	p.c.Received[p.at] = r
}
