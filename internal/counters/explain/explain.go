// Package explain compares counters of ports with the routes of tables: which trunks carry or
// wait for what their routes do not explain.
package explain

import (
	"cmp"
	"math"
	"slices"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Measured is what counters say beside what routes predict, trunk by trunk. The
// prediction assumes that all endpoints send alike to all others; where a few jobs do all the
// talking, trunks differ for that reason too, and the correlation is low.
type Measured struct {
	Trunks      int       // that counters are known of
	Correlation float64   // of bytes and routes (Pearson); not a number where one of them is the same everywhere
	Findings    []Finding // the worst first
}

// Counted is the counters of ports, indexed by the ChannelID of the channel that a port sends into.
type Counted struct {
	Bytes, Wait []float64 // wait in ticks
	Known       []bool

	// Seconds is the time in which they were counted, and Tick the seconds of a tick; 0: not
	// known, and nothing is said of what counts by time.
	Seconds, Tick float64
}

// Finding is a trunk that is otherwise than its routes explain.
type Finding struct {
	Trunk  fabric.ChannelID
	Kind   Kind
	Factor float64 // how many times as much as is usual, 0 where nothing says what is usual; of Slow, for which share of the time others wait
	Bytes  float64
	Routes uint32
}

// Kind is what is odd about a trunk.
type Kind uint8

// The kinds.
const (
	Slow       Kind = iota // packets to the switches at its ends wait, those that go out of these do not, and no cable is full: a slow cable, or a wrong rate
	Waiting                // waits more for each byte than trunks that as many routes lead over: a slow cable further on the way, or a wrong rate
	Unexpected             // carries traffic though no route leads over it: switches have other tables
	Idle                   // carries nothing though routes lead over it: switches have other tables, or nobody there talks
	Hot                    // carries more than its routes explain
)

func (k Kind) String() string {
	return [...]string{"slow", "waits", "no route", "idle", "hot"}[k]
}

// The limits of what is usual. Traffic of real jobs is uneven, so only what sticks out by
// far is a finding.
const (
	hotFactor  = 3.0
	waitFactor = 5.0
	idleShare  = 0.001 // of what the routes of a trunk predict
	fewTrunks  = 8     // with fewer nothing is usual
	slowShare  = 0.15  // of the time, for which what comes to a switch waits
	fullShare  = 0.6   // of what a cable can carry: where traffic is enough to make others wait
)

// Trunks compares counters with the routes of tables and their loads (congestion.CountTables). With counters of
// fewer than fewTrunks trunks it finds nothing.
func Trunks(t *routing.Tables, l *congestion.Loads, counted Counted) *Measured {
	f := t.Fabric
	bytes, wait, known := counted.Bytes, counted.Wait, counted.Known
	m := &Measured{Correlation: math.NaN()}
	var trunks []fabric.ChannelID
	sumBytes, sumRoutes := 0.0, 0.0
	for c := range fabric.ChannelID(f.Trunks()) {
		if known[c] {
			trunks = append(trunks, c)
			sumBytes += bytes[c]
			sumRoutes += float64(l.Routes[c])
		}
	}
	m.Trunks = len(trunks)
	if len(trunks) < fewTrunks || sumBytes == 0 || sumRoutes == 0 {
		return m
	}
	m.Correlation = correlation(trunks, func(c fabric.ChannelID) (float64, float64) { return bytes[c], float64(l.Routes[c]) })
	perRoute := medianOf(trunks, func(c fabric.ChannelID) (float64, bool) {
		return bytes[c] / float64(l.Routes[c]), l.Routes[c] > 0 && bytes[c] > 0
	})
	mean := sumBytes / float64(len(trunks))
	for _, c := range trunks {
		expected := perRoute * float64(l.Routes[c])
		found := Finding{Trunk: c, Bytes: bytes[c], Routes: l.Routes[c]}
		switch {
		case l.Routes[c] == 0 && bytes[c] > mean/100:
			found.Kind = Unexpected
		case l.Routes[c] > 0 && bytes[c] < idleShare*expected:
			found.Kind = Idle
		case l.Routes[c] > 0 && bytes[c] > hotFactor*expected && bytes[c] > mean:
			found.Kind, found.Factor = Hot, bytes[c]/expected
		default:
			continue
		}
		m.Findings = append(m.Findings, found)
	}
	timed := newTimed(t, counted)
	m.Findings = append(m.Findings, timed.slow()...)
	for _, found := range waiting(l, trunks, bytes, wait) {
		if !timed.explains(found.Trunk) { // no cable is full, and it waits for a noticeable part of the time
			m.Findings = append(m.Findings, found)
		}
	}
	slices.SortStableFunc(m.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Factor, a.Factor), cmp.Compare(b.Bytes, a.Bytes))
	})
	return m
}

// waiting finds trunks that wait much longer for each byte than those over which at least as many routes lead: load is
// no reason for that.
func waiting(l *congestion.Loads, trunks []fabric.ChannelID, bytes, wait []float64) []Finding {
	byRoutes := slices.Clone(trunks)
	slices.SortStableFunc(byRoutes, func(a, b fabric.ChannelID) int { return cmp.Compare(l.Routes[b], l.Routes[a]) })
	ratio := func(c fabric.ChannelID) (float64, bool) { return wait[c] / bytes[c], bytes[c] > 0 }
	usual := medianOf(trunks, func(c fabric.ChannelID) (float64, bool) { return wait[c] / bytes[c], bytes[c] > 0 && wait[c] > 0 })
	var found []Finding
	var above []float64 // ratios of the trunks so far, those before c in byRoutes and c, sorted
	for i, c := range byRoutes {
		r, ok := ratio(c)
		if !ok {
			continue
		}
		at, _ := slices.BinarySearch(above, r)
		above = slices.Insert(above, at, r)
		if i+1 < fewTrunks {
			continue
		}
		if like := max(above[len(above)*3/4], usual); like > 0 && r > waitFactor*like {
			found = append(found, Finding{Trunk: c, Kind: Waiting, Factor: r / like, Bytes: bytes[c], Routes: l.Routes[c]})
		}
	}
	return append(found, fullest(l, byRoutes, usual, ratio, bytes)...)
}

// fullest finds trunks that wait much longer than usual among the few that most routes lead over (first in byRoutes). There
// are none with as many routes to compare them with, so they are compared with what is usual for all, and must exceed it
// twice as far.
func fullest(l *congestion.Loads, byRoutes []fabric.ChannelID, usual float64, ratio func(fabric.ChannelID) (float64, bool), bytes []float64) []Finding {
	var found []Finding
	for _, c := range byRoutes[:min(fewTrunks-1, len(byRoutes))] {
		if r, ok := ratio(c); ok && usual > 0 && r > 2*waitFactor*usual {
			found = append(found, Finding{Trunk: c, Kind: Waiting, Factor: r / usual, Bytes: bytes[c], Routes: l.Routes[c]})
		}
	}
	return found
}

// medianOf is the median of the values of trunks that have one; 0 if none has.
func medianOf(trunks []fabric.ChannelID, value func(fabric.ChannelID) (float64, bool)) float64 {
	var all []float64
	for _, c := range trunks {
		if v, ok := value(c); ok {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// correlation is Pearson's correlation of two values of trunks; NaN where one of them is the same for all.
func correlation(trunks []fabric.ChannelID, value func(fabric.ChannelID) (x, y float64)) float64 {
	var x, y float64
	for _, c := range trunks {
		a, b := value(c)
		x, y = x+a, y+b
	}
	n := float64(len(trunks))
	x, y = x/n, y/n
	var xx, yy, xy float64
	for _, c := range trunks {
		a, b := value(c)
		xx, yy, xy = xx+(a-x)*(a-x), yy+(b-y)*(b-y), xy+(a-x)*(b-y)
	}
	return xy / math.Sqrt(xx*yy)
}
