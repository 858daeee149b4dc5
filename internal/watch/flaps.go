package watch

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/counters"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/result"
)

// flaps finds cables that went and came back between two looks, neither of which saw that: ports count how often their
// link went down, and OpenSM's log has a line when a link of a switch or the port of a host changes.
type flaps struct {
	sums   *counters.Counters // by the last look that could read counters; nil: none did
	sumsOf *fabric.Fabric     // the network then

	pending []result.Event // found by counters at the last look: the next one tells, unless it sees something gone

	lines   []notice  // of OpenSM's log, as it was read last
	judged  time.Time // time of the last line that was judged; zero: no look was yet
	changed time.Time // when the last look ended that saw something go or come
}

// settled is how old a line of the log has to be before it is judged: by then looks have seen what it led to.
const settled = ofOneSweep

// byCounters takes over sums, what ports of f have counted at a time, finds from them what went and came back since
// the look before, and returns what it found so at the last call, except where a look has seen something go
// or come since: that is told already.
func (k *flaps) byCounters(sums *counters.Counters, f *fabric.Fabric, at time.Time) (told []result.Event) {
	for _, e := range k.pending {
		if k.changed.Before(e.At) {
			told = append(told, e)
		}
	}
	k.pending = nil
	before, of := k.sums, k.sumsOf
	k.sums, k.sumsOf = sums, f
	if before == nil {
		return told
	}
	came := sums.Since(before.On(of, f)).Received
	for i := range f.Channels() {
		c := fabric.ChannelID(i)
		back := f.Channel(c).Reverse
		if back < c {
			continue
		}
		n := 0.0
		for _, end := range []fabric.ChannelID{c, back} {
			if r, ok := came[end]; ok && !math.IsNaN(r.Errors[counters.Downed]) {
				n = max(n, r.Errors[counters.Downed])
			}
		}
		if n > 0 {
			k.pending = append(k.pending, result.Event{At: at, What: events.Flapped, Part: events.Cable(f, c), Times: int(n), Text: "between two looks, by what its ports count (LinkDownedCounter)"})
		}
	}
	return told
}

// byLog returns what went and came back by the lines of OpenSM's log that it has not judged yet, where no look since
// saw anything go or come. A host's port is named with its cable; of a switch the log names only the
// switch, so its cable is named only if one alone joins the switches that the lines are about.
func (k *flaps) byLog(f *fabric.Fabric, now time.Time) (told []result.Event) {
	if k.judged.IsZero() { // what was before the first look is not news
		k.judged = now
		return nil
	}
	var fresh []notice
	for _, n := range k.lines {
		if n.at.After(k.judged) && now.Sub(n.at) >= settled {
			fresh = append(fresh, n)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	k.judged = fresh[len(fresh)-1].at
	if !k.changed.Before(fresh[0].at) {
		return nil
	}
	ports := map[uint64][2]int{}        // by port GUID: how often it was removed, and found
	switches := map[fabric.NodeID]int{} // number of lines about changes of links
	for _, n := range fresh {
		switch at := f.NodeByGUID(fabric.GUID(n.guid)); {
		case n.what != linkChanged:
			times := ports[n.guid]
			times[n.what-portRemoved]++
			ports[n.guid] = times
		case at != fabric.None && f.Node(at).Kind == fabric.Switch:
			switches[at]++
		}
	}
	flapped := func(part *result.Element, times int, text string) {
		told = append(told, result.Event{At: fresh[0].at, What: events.Flapped, Part: part, Times: times, Text: text})
	}
	const says = "between two looks, by OpenSM's log"
	for i := range f.Endpoints() {
		e := f.Endpoint(fabric.EndpointID(i))
		times := ports[uint64(e.PortGUID)]
		if e.Class == fabric.SwitchPort || min(times[0], times[1]) == 0 {
			continue
		}
		if switches[e.Switch] -= times[0] + times[1]; switches[e.Switch] <= 0 { // what is left is about other cables
			delete(switches, e.Switch)
		}
		if c := f.Out(e.Node, e.Port); c != fabric.None {
			flapped(events.Cable(f, c), min(times[0], times[1]), says)
		}
	}
	var between []fabric.ChannelID
	most := 0
	var names []string
	for at, n := range switches {
		names, most = append(names, f.Label(at)), max(most, n)
		first, end := f.TrunksFrom(at)
		for c := first; c < end; c++ {
			if _, also := switches[f.Channel(c).To]; also && c < f.Channel(c).Reverse {
				between = append(between, c)
			}
		}
	}
	slices.Sort(names)
	times := (most + 1) / 2 // a link changes when it goes and when it is back
	switch {
	case len(names) == 0:
	case len(between) == 1:
		flapped(events.Cable(f, between[0]), times, says)
	default:
		flapped(nil, times, "a cable of "+strings.Join(names, ", ")+", "+says+", which does not name the cable")
	}
	return told
}

// noteFlaps logs what went and came back between looks, as events, and adds it to cables.recent, by which cables
// flap. What counters and log both tell counts once.
func (r *running) noteFlaps(list []result.Event) {
	for _, e := range list {
		if e.Part != nil && slices.ContainsFunc(r.cables.recent, func(o result.Event) bool {
			return o.What == events.Flapped && o.Text != e.Text && *o.Part == *e.Part && o.At.Sub(e.At).Abs() < r.Every+settled+time.Minute
		}) {
			continue
		}
		r.events.Add(e)
		r.Watcher.Log.Warn("flapped", "name", nameOf(e.Part), "times", e.Times, "how", e.Text)
		if e.Part != nil {
			e.From = "watch"
			r.cables.recent = append(r.cables.recent, e)
		}
	}
}

// nameOf is what a part is called in the log; nil: a cable that is not known.
func nameOf(part *result.Element) string {
	if part == nil {
		return "a cable that is not known"
	}
	return part.Name
}
