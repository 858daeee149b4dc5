package watch

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/counters"
	"github.com/weft-fabric/weft/internal/events"
)

// flaps finds cables that went and came back between two looks, neither of which saw that: ports count how often their
// link went down, and OpenSM's log has a line when a link of a switch or the port of a host changes.
type flaps struct {
	sums *counters.Counters // of the last look that could read counters; nil: none did
	of   *fabric.Fabric     // that they are of

	counted []events.Event // that the next look is to tell, unless it sees the cable gone

	seen    []notice  // of OpenSM's log
	judged  time.Time // the last of them that was judged; zero: none was yet
	changed time.Time // when the last look ended that saw something go or come
}

// settled is how old a line of the log is that looks have had the time to see the effect of.
const settled = ofOneSweep

// countedBy takes over what ports have counted, and returns what went and came back since the look before, as far as
// the look after that did not see it gone.
func (k *flaps) countedBy(sums *counters.Counters, f *fabric.Fabric, at time.Time) (told []events.Event) {
	for _, e := range k.counted {
		if k.changed.Before(e.At) {
			told = append(told, e)
		}
	}
	k.counted = nil
	before, of := k.sums, k.of
	k.sums, k.of = sums, f
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
			k.counted = append(k.counted, events.Event{At: at, What: events.Flapped, Part: events.Cable(f, c), Times: int(n), Text: "between two looks, by what its ports count (LinkDownedCounter)"})
		}
	}
	return told
}

// logged returns what went and came back by OpenSM's log, where no look since saw anything go or come.
func (k *flaps) logged(f *fabric.Fabric, now time.Time) (told []events.Event) {
	if k.judged.IsZero() { // what was before the first look is not news
		k.judged = now
		return nil
	}
	var fresh []notice
	for _, n := range k.seen {
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
	ports, switches := map[uint64][2]int{}, map[fabric.NodeID]int{}
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
	flapped := func(part *events.Element, times int, text string) {
		told = append(told, events.Event{At: fresh[0].at, What: events.Flapped, Part: part, Times: times, Text: text})
	}
	const says = "between two looks, by OpenSM's log"
	for i := range f.Endpoints() {
		e := f.Endpoint(fabric.EndpointID(i))
		times := ports[uint64(e.PortGUID)]
		if e.Class == fabric.SwitchPort || min(times[0], times[1]) == 0 {
			continue
		}
		if switches[e.Switch] -= times[0] + times[1]; switches[e.Switch] <= 0 { // of other cables
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

// noteFlaps tells what went and came back between looks, and remembers it, by which cables flap. Counters and log may
// both have it.
func (r *running) noteFlaps(list []events.Event) {
	for _, e := range list {
		if e.Part != nil && slices.ContainsFunc(r.cables.recent, func(o events.Event) bool {
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

func nameOf(part *events.Element) string {
	if part == nil {
		return "a cable that is not known"
	}
	return part.Name
}
