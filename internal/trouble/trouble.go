// Package trouble is one list of the cables of a fabric that are in trouble, from everything that is known of
// them: errors that ports count and rates of errors, how often a cable went, waiting that routes do not explain,
// links that came up slower or narrower than others of their kind, and cables that are not where they should be.
// Each is there once, with both of its ports, all that speaks against it, what to do and the command for that.
//
// weft watch, weft report, weft compare --measured and weft serve make the same list and show it.
//
// Errors count if they come: more than a limit within the hour, or in the time that was measured where it is
// longer. What was counted at an unknown time, since counters were cleared, may be years old: it speaks against a cable
// only beside other signs, and of all other ports it is told together, with how many they are and the worst. A port counts what it receives, so the errors of both ports are those of one cable; a
// switch passes damaged packets on, so of errors in packets (Damaged) ports behind the cable count as well, and a
// cable of which only that is known is no finding where a port of the switch that feeds it has worse.
package trouble

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/counters"
	"github.com/weft-fabric/weft/internal/counters/explain"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/inspect"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// Evidence is what is known of cables, for Find. What is not known is left out.
type Evidence struct {
	Fabric  *fabric.Fabric
	Planned *fabric.Fabric // the network as it should be cabled; nil: not known
	Limits  Limits

	Counted *counters.Counters // what ports counted; nil: not known
	Time    time.Duration      // in which they did; 0: not known
	Between bool               // they did between two looks, also where the time is not known
	Waiting []explain.Finding  // waiting that routes do not explain

	Beside *result.Trouble // the list of another program that knows more of counters, whose signs are joined to ours; nil: none

	Events []result.Event // those of cables that went count, within Flapping before Now
	Now    time.Time
}

// Flapping is the time within which losses of a cable are counted together.
const Flapping = time.Hour

// The kinds of signs: what speaks against a cable, the worst first. Those of counters are called like the counters.
const (
	Missing     = "missing"     // it should be there, and is not
	Miscabled   = "miscabled"   // it leads elsewhere than it should
	Flaps       = "flaps"       // it goes time and again
	Uncorrected = "uncorrected" // more than error correction mends
	ErrorRate   = "error-rate"  // of its bits, more are wrong than its maker allows
	Symbol      = "symbol"      // these and the next: errors are counted
	Recovered   = "recovered"   //
	Downed      = "downed"      //
	Integrity   = "integrity"   //
	Overrun     = "overrun"     //
	Damaged     = "damaged"     //
	Slow        = "slow-link"   // it runs at a lower rate than others of its kind
	Narrow      = "narrow-link" // it has fewer lanes
	Mixed       = "mixed-rates" // it is slower than others that join the same two nodes
	FECModes    = "fec-modes"   // its ends correct errors in different ways
	Waits       = "waits"       // packets wait for it, and its routes do not explain that
)

// Kinds is all kinds.
var Kinds = []string{Missing, Miscabled, Flaps, Uncorrected, ErrorRate, Symbol, Recovered, Downed, Integrity, Overrun, Damaged, Slow, Narrow, Mixed, FECModes, Waits}

// AboutRate reports whether a sign of this kind is about the rate that a link runs at.
func AboutRate(kind string) bool { return kind == Slow || kind == Narrow || kind == Mixed }

// Element is a cable as events have it.
func Element(c *result.CableInTrouble) *result.Element {
	return &result.Element{Kind: "cable", Name: c.Name, GUID: c.A.GUID, Port: c.A.Port}
}

// Levels of signs.
const (
	Bad     = "error"
	Warning = "warning"
)

// finder makes the list for Find: each of its find methods adds signs of some kinds.
type finder struct {
	Evidence
	list    *result.Trouble
	level   []int32 // [switch] in a tree, see inspect.LevelOf
	index   *names.Index
	old     []oldErrors              // errors over their limits that were counted at an unknown time, by channel
	entryAt map[fabric.ChannelID]int // index in list.Cables, by the cable's channel from A to B
}

// Find makes the list of cables in trouble of all evidence, each with all its signs, what to do and the command.
func Find(e Evidence) *result.Trouble {
	f := e.Fabric
	d := &finder{Evidence: e, level: inspect.LevelOf(f), index: names.New(f), entryAt: map[fabric.ChannelID]int{},
		list: &result.Trouble{Cables: []result.CableInTrouble{}, Notes: []string{}, Looked: len(f.Channels()) / 2, Seconds: e.Time.Seconds(), Limits: e.Limits.texts(), Source: LimitsFrom}}
	d.findMiscabled()
	d.findFlaps()
	d.findErrors()
	d.findSlowLinks()
	d.findWaits()
	d.addOld()
	d.join()
	for i := range d.list.Cables {
		d.settle(&d.list.Cables[i])
	}
	slices.SortStableFunc(d.list.Cables, func(a, b result.CableInTrouble) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(rank(a.Signs[0].Kind), rank(b.Signs[0].Kind)), cmp.Compare(b.Signs[0].Count, a.Signs[0].Count), words.Natural(a.Name, b.Name))
	})
	return d.list
}

// Texts is a sentence for each cable, as alarms and logs have it.
func Texts(l *result.Trouble) (all []string) {
	for i := range l.Cables {
		c := &l.Cables[i]
		text := fmt.Sprintf("cable %s is in trouble: %s; %s", c.Name, c.Signs[0].Text, c.Advice)
		if c.Command != "" {
			text += ": " + c.Command
		}
		all = append(all, text)
	}
	return all
}

// Found reports whether a cable is in trouble by an error, not only by a warning; false for a nil list.
func Found(l *result.Trouble) bool {
	return l != nil && slices.ContainsFunc(l.Cables, func(c result.CableInTrouble) bool { return c.Level == Bad })
}

// rank is the place of a kind in Kinds: 0 is the worst.
func rank(k string) int { return slices.Index(Kinds, k) }

// texts is the limits as ParseLimits reads them.
func (l *Limits) texts() (all []string) {
	for c, v := range l.Errors {
		if v > 0 {
			all = append(all, fmt.Sprintf("%s=%g", counters.Counter(c), v))
		}
	}
	return append(all, fmt.Sprintf("%s=%g", flapsName, l.Flaps), fmt.Sprintf("%s=%g", berName, l.Final.Bad), fmt.Sprintf("%s=%g", resentName, l.Resent.Bad))
}

// fromA is the channel of c's cable that leaves its end A, the one that is named first: a switch before an adapter,
// a lower level before a higher one, then by GUID and port.
func (d *finder) fromA(c fabric.ChannelID) fabric.ChannelID {
	f := d.Fabric
	ch := f.Channel(c)
	a, b := f.Node(ch.From), f.Node(ch.To)
	level := func(n fabric.NodeID) int32 {
		if int(n) < f.Switches() {
			return d.level[n]
		}
		return math.MaxInt32
	}
	if cmp.Or(cmp.Compare(level(ch.From), level(ch.To)), cmp.Compare(a.GUID, b.GUID), cmp.Compare(ch.FromPort, ch.ToPort)) > 0 {
		return ch.Reverse
	}
	return c
}

// entryOf is the entry of a channel's cable in the list, added without signs if it is not there yet; from is the
// end, a or b, that the channel leaves. The pointer holds until the next entry is added.
func (d *finder) entryOf(c fabric.ChannelID) (entry *result.CableInTrouble, from string) {
	toB := d.fromA(c)
	i, ok := d.entryAt[toB]
	if !ok {
		i = len(d.list.Cables)
		d.entryAt[toB] = i
		ch := d.Fabric.Channel(toB)
		d.list.Cables = append(d.list.Cables, result.CableInTrouble{
			Name: events.CableName(d.Fabric, ch), CableEnds: result.CableEnds{A: d.node(ch.From, ch.FromPort), B: d.node(ch.To, ch.ToPort)}, Place: d.place(ch.From, ch.To), Ends: [2]int{int(ch.From), int(ch.To)},
		})
	}
	if from = "b"; c == toB {
		from = "a"
	}
	return &d.list.Cables[i], from
}

func (d *finder) node(n fabric.NodeID, port uint8) result.Node {
	return result.Node{Name: d.Fabric.Node(n).Name, GUID: d.Fabric.Node(n).GUID.String(), Port: port}
}

// place says in words what a cable between two nodes joins.
func (d *finder) place(a, b fabric.NodeID) string {
	what := func(n fabric.NodeID) string {
		node := d.Fabric.Node(n)
		if node.Kind != fabric.Switch {
			return "host"
		}
		if l := d.level[n]; l >= 0 {
			return fmt.Sprintf("switch of level %d", l)
		}
		return "switch"
	}
	if x, y := d.Fabric.Node(a).SystemGUID, d.Fabric.Node(b).SystemGUID; x != 0 && x == y && d.Fabric.Node(a).Kind == fabric.Switch && d.Fabric.Node(b).Kind == fabric.Switch {
		return "inside one chassis: " + what(a) + " to " + what(b)
	}
	return what(a) + " to " + what(b)
}

// add adds a sign to a channel's cable. ofPort: it is of the port that the channel leaves, not of both ends.
func (d *finder) add(c fabric.ChannelID, ofPort bool, s result.TroubleSign) {
	entry, from := d.entryOf(c)
	if ofPort {
		s.At = from
	}
	entry.Signs = append(entry.Signs, s)
}

// findErrors finds ports whose errors come faster than their limits, by Counted.
func (d *finder) findErrors() {
	c := d.Counted
	if c == nil {
		return
	}
	hours, full := d.Time.Hours(), c.Stopped // full: number of counters that count no more
	for i := range d.Fabric.Channels() {
		out := fabric.ChannelID(i)
		r, ok := c.Received[out]
		if !ok {
			continue
		}
		for k, n := range r.Errors[:len(d.Limits.Errors)] {
			limit := d.Limits.Errors[k]
			if d.Time == 0 && !d.Between && r.Errors.Full(counters.Counter(k)) {
				full++
			}
			// Within less than an hour the limit of an hour counts; NaN, not counted, is not above 0.
			if limit == 0 || !(n > 0) || n/max(1, hours) < limit || counters.Counter(k) == counters.Damaged && d.passedOn(out, n) {
				continue
			}
			s := result.TroubleSign{Kind: kindOf[k], Level: Bad, Count: n, Limit: limit}
			s.Text = fmt.Sprintf("%s receives %s: %.0f", d.port(out), whatOf[k], n)
			switch {
			case hours > 0:
				perHour := n / hours
				s.PerHour = &perHour
				s.Text += fmt.Sprintf(" in %s, %s an hour; the limit is %g", span(d.Time), words.Thousands(int64(math.Round(perHour))), limit)
			case d.Between:
				s.Text += fmt.Sprintf(" between the two looks; the limit is %g", limit)
			default:
				s.Level = Warning
				s.Text += fmt.Sprintf(" since counters were cleared; the limit is %g", limit)
				d.old = append(d.old, oldErrors{out: out, counter: counters.Counter(k), sign: s})
				continue
			}
			d.add(out, true, s)
		}
		d.findRate(out, r)
	}
	if full > 0 {
		d.list.Notes = append(d.list.Notes, words.Counted(full, "counter stands where it stops and counts", "counters stand where they stop and count")+" no more: clear them (ibqueryerrors -k)")
	}
}

// oldErrors is errors over their limit that a port counted at an unknown time.
type oldErrors struct {
	out     fabric.ChannelID // the channel that leaves the port
	counter counters.Counter
	sign    result.TroubleSign
}

// worstOld is how many of the ports with errors of an unknown time are named.
const worstOld = 3

// addOld adds errors of an unknown time to the signs of cables against which something else speaks, and notes of the
// other ports how many they are, and the worst by the multiple of a limit.
func (d *finder) addOld() {
	if d.Counted == nil || d.Time > 0 || d.Between {
		return
	}
	const howToKnow = "two looks and the time between them say which errors come"
	var ports []oldErrors // the worst of each
	for _, o := range d.old {
		if _, ok := d.entryAt[d.fromA(o.out)]; ok {
			d.add(o.out, true, o.sign)
			continue
		}
		switch last := len(ports) - 1; {
		case last < 0 || ports[last].out != o.out:
			ports = append(ports, o)
		case o.times() > ports[last].times():
			ports[last] = o
		}
	}
	if len(ports) == 0 {
		d.list.Notes = append(d.list.Notes, "when counters were cleared is not known: "+howToKnow)
		return
	}
	slices.SortStableFunc(ports, func(a, b oldErrors) int { return cmp.Compare(b.times(), a.times()) })
	var worst []string
	for _, o := range ports[:min(worstOld, len(ports))] {
		worst = append(worst, fmt.Sprintf("%s (%s %s)", d.port(o.out), words.Thousands(int64(o.sign.Count)), whatOf[o.counter]))
	}
	text := words.Counted(len(ports), "port has", "ports have") + " counted more errors than the limit since counters were cleared, which may be long ago: "
	if len(ports) > len(worst) {
		text += "the worst are "
	}
	d.list.Notes = append(d.list.Notes, text+strings.Join(worst, ", ")+"; "+howToKnow)
}

// times is the multiple of its limit that was counted.
func (o *oldErrors) times() float64 { return o.sign.Count / o.sign.Limit }

// kindOf and whatOf are the kind of sign that a counter makes, and what it counts, in words; [Counter].
var (
	kindOf = [...]string{counters.Symbol: Symbol, counters.Recovered: Recovered, counters.Downed: Downed, counters.Damaged: Damaged, counters.Integrity: Integrity, counters.Overrun: Overrun, counters.Uncorrected: Uncorrected}
	whatOf = [...]string{
		counters.Symbol: "symbol errors", counters.Recovered: "link error recoveries", counters.Downed: "losses of the link", counters.Damaged: "damaged packets",
		counters.Integrity: "local link integrity errors", counters.Overrun: "buffer overruns", counters.Uncorrected: "blocks that FEC cannot mend",
	}
)

// findRate adds signs for the error rates at the port that channel out leaves, which it receives with, and if its
// cable's ends correct errors in different modes.
func (d *finder) findRate(out fabric.ChannelID, r counters.Received) {
	limit, resent := d.Limits.Final, d.Limits.Resent
	if level := r.LevelBy(limit, resent); level != counters.Normal {
		rate, name, bound := r.Symbol, "symbol", limit
		if limit.Level(r.Symbol) < level { // so it is the effective rate that is worst
			if rate, name = r.Effective, "effective"; r.Resends() {
				bound = resent
			}
		}
		s := result.TroubleSign{Kind: ErrorRate, Level: level.String(), Count: rate, Limit: bound.Bad}
		s.Text = fmt.Sprintf("%s receives with an %s error rate of %.1e; the limit is %.0e", d.port(out), name, rate, bound.Bad)
		if name == "symbol" {
			s.Text = strings.Replace(s.Text, "an symbol", "a symbol", 1)
		}
		d.add(out, true, s)
	}
	in := d.Fabric.Channel(out).Reverse
	if far, ok := d.Counted.Received[in]; ok && out < in && r.FEC != "" && far.FEC != "" && !strings.EqualFold(r.FEC, far.FEC) {
		d.add(out, false, result.TroubleSign{Kind: FECModes, Level: Bad, Text: fmt.Sprintf("its ends correct errors in two ways: %s and %s", r.FEC, far.FEC)})
	}
}

// passedOn reports whether the n damaged packets that the port received which channel out leaves came damaged from
// further away: the cable has no errors of its own, and another port of the switch at its far end received
// as many.
func (d *finder) passedOn(out fabric.ChannelID, n float64) bool {
	r := d.Counted.Received[out]
	if r.Errors[counters.Symbol] > 0 || r.Errors[counters.Uncorrected] > 0 || r.Errors[counters.Recovered] > 0 || r.Errors[counters.Integrity] > 0 {
		return false
	}
	f := d.Fabric
	from := f.Channel(out).To // what it receives comes from there
	if int(from) >= f.Switches() {
		return false
	}
	for port := 1; port <= f.Node(from).Ports; port++ {
		at := f.Out(from, uint8(port))
		if at == fabric.None || f.Channel(at).Reverse == out || at == out {
			continue
		}
		if there, ok := d.Counted.Received[at]; ok && there.Errors[counters.Damaged] >= n {
			return true
		}
	}
	return false
}

// end is a port as events name it, by its node; port 0 is the adapter of a host as a whole.
type end struct {
	guid string
	port uint8
}

// findFlaps finds cables that went as often as the limit within Flapping before Now, without their switch. Those that are
// gone at the moment get entries of their own.
func (d *finder) findFlaps() {
	if d.Limits.Flaps == 0 {
		return
	}
	went := map[string]map[end]int{} // number of times by who saw it: two daemons see the same
	parts := map[end]*result.Element{}
	for i := range d.Events {
		e := &d.Events[i]
		if e.What != events.Gone && e.What != events.Flapped || e.Part == nil || e.Part.With != "" || e.Part.Kind == "switch" || e.At.After(d.Now) || d.Now.Sub(e.At) > Flapping {
			continue
		}
		if went[e.From] == nil {
			went[e.From] = map[end]int{}
		}
		at := end{guid: e.Part.GUID, port: e.Part.Port}
		went[e.From][at] += max(1, e.Times)
		parts[at] = e.Part
	}
	times := func(at end) (n int) {
		for _, seen := range went {
			n = max(n, seen[at])
		}
		return n
	}
	f := d.Fabric
	there := map[end]bool{} // ends of cables that are there now
	for i := range f.Channels() {
		c := fabric.ChannelID(i)
		ch := f.Channel(c)
		a, b := d.endsOf(ch.From, ch.FromPort), d.endsOf(ch.To, ch.ToPort)
		n := 0
		for _, at := range append(a, b...) {
			n, there[at] = max(n, times(at)), true
		}
		if c == d.fromA(c) && float64(n) >= d.Limits.Flaps {
			d.add(c, false, d.flap(n))
		}
	}
	var gone []end
	for at := range parts {
		if !there[at] && float64(times(at)) >= d.Limits.Flaps {
			gone = append(gone, at)
		}
	}
	slices.SortFunc(gone, func(a, b end) int { return cmp.Or(cmp.Compare(a.guid, b.guid), cmp.Compare(a.port, b.port)) })
	for _, at := range gone {
		d.list.Cables = append(d.list.Cables, d.goneNow(at, parts[at], times(at)))
	}
}

// flap is the sign of a cable that went n times.
func (d *finder) flap(n int) result.TroubleSign {
	perHour := float64(n) / Flapping.Hours()
	return result.TroubleSign{Kind: Flaps, Level: Bad, Count: float64(n), PerHour: &perHour, Limit: d.Limits.Flaps,
		Text: fmt.Sprintf("it went %d times within %s; the limit is %g", n, span(Flapping), d.Limits.Flaps)}
}

// endsOf is how events may name the cable at a port: by the port, and if it is an adapter's only cable, by the
// adapter.
func (d *finder) endsOf(n fabric.NodeID, port uint8) []end {
	guid := d.Fabric.Node(n).GUID.String()
	all := []end{{guid: guid, port: port}}
	if d.Fabric.Node(n).Kind != fabric.Switch && cabled(d.Fabric, n) == 1 {
		all = append(all, end{guid: guid})
	}
	return all
}

// goneNow is the entry of a cable that went n times and is not there at the moment, named as its events name it.
func (d *finder) goneNow(at end, e *result.Element, n int) result.CableInTrouble {
	c := result.CableInTrouble{Name: e.Name, CableEnds: result.CableEnds{A: result.Node{Name: e.Name, GUID: at.guid, Port: at.port}}, Place: e.Kind + " that is gone", Signs: []result.TroubleSign{d.flap(n)}, Ends: [2]int{-1, -1}, Gone: true}
	if a, b, ok := strings.Cut(e.Name, " – "); ok {
		c.A.Name, c.B = portOf(a).Name, portOf(b)
	}
	return c
}

// portOf is a node and its port by its name in an event, as leaf-1:7.
func portOf(text string) result.Node {
	i := strings.LastIndexByte(text, ':')
	port, err := strconv.ParseUint(text[i+1:], 10, 8)
	if i < 0 || err != nil {
		return result.Node{Name: text}
	}
	return result.Node{Name: text[:i], Port: uint8(port)}
}

// cabled is the number of cables at a node.
func cabled(f *fabric.Fabric, n fabric.NodeID) (cables int) {
	for port := range f.Node(n).Ports {
		if f.Out(n, uint8(port+1)) != fabric.None {
			cables++
		}
	}
	return cables
}

// findSlowLinks finds links that are slower or narrower than others of their kind.
func (d *finder) findSlowLinks() {
	f := d.Fabric
	for _, a := range inspect.Anomalies(f) {
		kind, ok := map[inspect.Kind]string{inspect.SlowLink: Slow, inspect.NarrowLink: Narrow, inspect.MixedRates: Mixed}[a.Kind]
		if !ok {
			continue
		}
		best := map[[2]fabric.NodeID]int{} // of cables that join two nodes, Mbit/s
		pair := func(k inspect.Link) [2]fabric.NodeID { return [2]fabric.NodeID{min(k.A, k.B), max(k.A, k.B)} }
		for _, k := range a.Links {
			best[pair(k)] = max(best[pair(k)], k.Rate.Mbps())
		}
		for _, k := range a.Links {
			text := "it runs at " + k.Rate.String() + ", others of its kind faster"
			switch {
			case kind == Mixed && k.Rate.Mbps() == best[pair(k)]:
				continue
			case kind == Mixed:
				text = "it runs at " + k.Rate.String() + ", others between the same two nodes faster"
			case kind == Narrow:
				text = "it runs at " + k.Rate.String() + ", others of its kind with more lanes"
			}
			d.add(f.Out(k.A, k.APort), false, result.TroubleSign{Kind: kind, Level: Bad, Text: text})
		}
	}
}

// findWaits finds a cable that packets wait for though its routes do not explain it. A cable at which they wait need
// not be at fault: what is further on may be. So one is named only if waiting ends at it, which is known where the
// time is (explain.Slow), or if it is the only one with waiting.
func (d *finder) findWaits() {
	var waiting []explain.Finding
	for _, found := range d.Waiting {
		switch found.Kind {
		case explain.Slow:
			d.add(found.Trunk, false, result.TroubleSign{Kind: Waits, Level: Bad, Count: found.Factor,
				Text: fmt.Sprintf("waiting ends at it, for %.0f %% of the time, and no cable is full: it is slower than its rate says", 100*found.Factor)})
			return // the others wait for it
		case explain.Waiting:
			waiting = append(waiting, found)
		}
	}
	switch len(waiting) {
	case 0:
	case 1:
		d.add(waiting[0].Trunk, true, result.TroubleSign{Kind: Waits, Level: Warning, Count: waiting[0].Factor,
			Text: fmt.Sprintf("%s waits %.0f times as long for each byte as cables with as many routes", d.port(waiting[0].Trunk), waiting[0].Factor)})
	default:
		d.list.Notes = append(d.list.Notes, fmt.Sprintf("%d cables wait longer than their routes explain; the one that they wait for is named where the time between two looks and the length of a tick of PortXmitWait are known", len(waiting)))
	}
}

// port is the name of the port that a channel leaves, as leaf-1:7.
func (d *finder) port(c fabric.ChannelID) string {
	ch := d.Fabric.Channel(c)
	return fmt.Sprintf("%s:%d", d.Fabric.Label(ch.From), ch.FromPort)
}

// span is a time in words, such as "20 minutes".
func span(d time.Duration) string {
	if d >= time.Hour && d%time.Hour == 0 {
		if d == time.Hour {
			return "an hour"
		}
		return fmt.Sprintf("%.0f hours", d.Hours())
	}
	if n := math.Round(d.Minutes()); n >= 2 {
		return fmt.Sprintf("%.0f minutes", n)
	}
	if d >= time.Minute {
		return "a minute"
	}
	return d.Round(time.Second).String()
}
