package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// alarms is what is wrong at a look of InfiniBand, by all else that is filled in; carrySince adds since when. before is
// the look before, or nil; differ is the number of entries that are not as in the tables that are expected.
func alarms(l, before *result.WatchLook, now *Snapshot, differ int) []result.Alarm {
	var all []result.Alarm
	add := func(found bool, kind string, do, what string, args ...any) {
		if found {
			all = append(all, result.Alarm{Kind: kind, What: fmt.Sprintf(what, args...), Do: do})
		}
	}
	again := howToRouteAgain(l)
	add(l.Verdict != result.DeadlockFree, CreditLoop, loopAdvice(l), "packets can deadlock: a credit loop of %d links, of which one is at %s (contract %s)", len(l.Cycle), firstOf(l.Cycle), l.Contract)
	add(l.CutOff > 0, CutOff, again+"; weft verify names them", "%s of %s that cables join are cut off by the tables", words.Plural(int(l.CutOff), "pair"), words.Thousands(l.Pairs))
	if m := l.Multicast; m != nil {
		odd := slices.Concat(m.Circling, m.Split, m.OneSided)
		slices.Sort(odd)
		odd = slices.Compact(odd)
		add(len(odd) > 0, Multicast, again+"; weft verify tells more", "%s of %s circle, are in pieces or lead out of themselves: %s",
			words.Counted(len(odd), "tree", "trees"), words.Counted(m.Groups, "multicast group", "multicast groups"), words.FirstOf(odd))
	}
	add(l.Circles > 0, ForwardingLoop, again, "packets circle for ever from %s (switch, LID)", words.Thousands(l.Circles))
	add(l.Dropped > 0, Dropped, "let OpenSM write SL2VL maps (qos TRUE), or give clients another service level", "packets are dropped at %s: their service level is mapped to no lane", words.Plural(int(l.Dropped), "turn"))
	if n := len(l.Absent); n > 0 && l.Dropped == 0 {
		a := l.Absent[0]
		add(true, Dropped, "let OpenSM write SL2VL maps for the lanes that there are (max_op_vls)", "packets are dropped at %s for want of a lane, first: SL %d takes VL %d on %s, which runs %s",
			words.Plural(n, "port"), a.SL, a.VL, a.From, words.Plural(int(a.DataVLs), "data lane"))
	}
	add(l.Lack != "", SweepFailed, "start the daemon, or read its log (weft status)", "OpenSM has no tables for the network as it is, and those judged are of before: %s", l.Lack)
	if l.Made != nil && l.Asked != "" {
		asked := strings.Split(l.Asked, ",")
		how := "as OpenSM's log says"
		if l.Made.How == "tables" {
			how = fmt.Sprintf("%.1f %% of the entries with a choice are as it makes them", 100*l.Made.Share)
		}
		add(!strings.EqualFold(asked[0], l.Made.Engine), Fallback, "look into OpenSM's log for the reason; no_fallback in routing_engine keeps the tables there are instead",
			"OpenSM was asked for %s, and the tables are those of %s: %s", strings.Join(asked, ", then "), l.Made.Engine, how)
	}
	add(differ > 0, OtherTables, "find out who wrote them; OpenSM's log names the engine", "%s not as in the tables that are expected", words.Counted(differ, "entry is", "entries are"))
	add(len(now.Stale) > 0, StaleTables, again, "tables and network are not of one time: %s", strings.Join(now.Stale, "; "))
	add(now.NoMap != "", NoMap, "let OpenSM write SL2VL maps again (qos TRUE; SIGHUP)", "%s", now.NoMap)
	add(now.NoMap == "" && !now.Maps && lostMaps(before), NoMap, "find out why the file of SL2VL maps is not there any more", "there were SL2VL maps, and there are none now")
	add(len(now.Doubts) > 0, Unproven, "weft verify tells more", "switches may not do what the verdict is about: %s", strings.Join(now.Doubts, "; "))
	if n := len(l.Degraded); n > 0 {
		d := l.Degraded[0]
		add(true, DegradedLink, "reseat or replace the cable; weft info shows all", "%s below others of their kind, the first: %s, %s to %s, %s",
			words.Counted(n, "link is", "links are"), strings.ReplaceAll(d.Kind, "-", " "), d.A, d.B, d.Rate)
	}
	if c := l.Changed; c != nil {
		add(len(c.Recabled) > 0, Recabled, "see whether the cables were meant to be moved", "%s elsewhere than before: %s", words.Counted(len(c.Recabled), "port of a switch leads", "ports of switches lead"), words.FirstOf(portNames(c.Recabled)))
	}
	return all
}

// lostMaps reports whether there were SL2VL maps at a look, or it was an alarm that they are
// missing.
func lostMaps(before *result.WatchLook) bool {
	return before != nil && (before.MapsKnown || slices.ContainsFunc(before.Alarms, func(a result.Alarm) bool { return a.Kind == NoMap }))
}

// howToRouteAgain is the advice how OpenSM is made to route again. Where it asks weft's daemon in vain a signal changes
// nothing.
func howToRouteAgain(l *result.WatchLook) string {
	if l.Lack != "" {
		return "start the daemon, or see why it refuses (weft status): before, OpenSM has no tables, and SIGHUP to it changes nothing"
	}
	return "SIGHUP to opensm makes it route again"
}

// loopAdvice is what to do about a credit loop, which may be for want of files only.
func loopAdvice(l *result.WatchLook) string {
	do := "route with an engine that is proven: weft route, weft serve"
	switch {
	case l.Circles > 0:
		return howToRouteAgain(l)
	case !l.SLsKnown && !l.MapsKnown:
		do += "; if clients use the PathRecord's service level, let the look have service levels and SL2VL maps (paths.psl, opensm-sl2vl.dump): the loop may not be there"
	case !l.MapsKnown:
		do += "; let the look have SL2VL maps (opensm-sl2vl.dump): the loop may not be there"
	}
	return do
}

// firstOf names the first link of a credit loop.
func firstOf(cycle []result.LookStep) string {
	if len(cycle) == 0 {
		return "no link that is known"
	}
	return cycle[0].From.String()
}

func portNames(ports []result.Node) []string { return list.Of(ports, result.Node.String) }

// carrySince sets Since of the alarms of a look: an alarm goes on if one of its kind is among there, those of the status,
// which may be of a look that could not be kept. before is the last look that was kept, or nil. Cables that
// lead elsewhere than at the look before are new each time.
func carrySince(l, before *result.WatchLook, there []result.Alarm) {
	for i := range l.Alarms {
		a := &l.Alarms[i]
		a.Since = sinceWhen(there, a.Kind, l.At)
		if a.Kind == Recabled && before != nil && !a.Since.After(before.At) { // that was another time
			a.Since = l.At
		}
	}
}

// sinceWhen is since when an alarm of a kind is among those that are there; now, if it is not, or the
// clock was set back.
func sinceWhen(there []result.Alarm, kind string, now time.Time) time.Time {
	for _, a := range there {
		if a.Kind == kind && a.Since.Before(now) {
			return a.Since
		}
	}
	return now
}

// hasKind reports whether some alarms have one of a kind.
func hasKind(all []result.Alarm, kind string) bool {
	return slices.ContainsFunc(all, func(a result.Alarm) bool { return a.Kind == kind })
}

// differing is the number of forwarding entries at a look that are as in none of the tables that are expected, which
// have the fabric of the look; 0 if none are expected.
func differing(now *Snapshot, expected []*routing.Tables) int {
	if len(expected) == 0 {
		return 0
	}
	f, n := now.Tables.Fabric, 0
	for lid := range f.LIDs() {
		row := now.Tables.Forwarding.Row(lid)
		for s, port := range row {
			if !slices.ContainsFunc(expected, func(t *routing.Tables) bool { return t.Forwarding.Row(lid)[s] == port }) {
				n++
			}
		}
	}
	return n
}
