package watch

import (
	"strings"
	"testing"

	"github.com/weft-fabric/weft/result"
)

// What is wrong at a look is an alarm of its kind, from the first of its like on, with what it is about and what to do;
// nothing else is an alarm.
func TestOneAlarmForEachThing(t *testing.T) {
	t.Parallel()
	one := result.Node{GUID: "0x1", Name: "leaf", Port: 3}
	with := func(change func(l *result.WatchLook, now *Snapshot)) (*result.WatchLook, *Snapshot) {
		l, now := &result.WatchLook{Pairs: 1234, SLsKnown: true, MapsKnown: true}, &Snapshot{Maps: true}
		l.Verdict = result.DeadlockFree
		change(l, now)
		return l, now
	}
	for _, c := range []struct {
		name   string
		before *result.WatchLook
		differ int
		change func(l *result.WatchLook, now *Snapshot)
		want   string // kind: what; what to do, as far as they are held; empty: no alarm
		do     string
	}{
		{"nothing", nil, 0, func(*result.WatchLook, *Snapshot) {}, "", ""},
		{"a loop", nil, 0, func(l *result.WatchLook, _ *Snapshot) {
			l.Verdict, l.Contract, l.Cycle = result.CreditLoop, "any", []result.LookStep{{From: one}}
		}, "credit-loop: packets can deadlock: a credit loop of 1 links, of which one is at leaf, port 3 (contract any)", "route with an engine that is proven: weft route, weft serve"},
		{"a loop without maps", nil, 0, func(l *result.WatchLook, _ *Snapshot) {
			l.Verdict, l.MapsKnown = result.CreditLoop, false
		}, "credit-loop: packets can deadlock: a credit loop of 0 links, of which one is at no link that is known", "let the look have SL2VL maps (opensm-sl2vl.dump): the loop may not be there"},
		{"a loop without service levels", nil, 0, func(l *result.WatchLook, _ *Snapshot) {
			l.Verdict, l.SLsKnown = result.CreditLoop, false
		}, "credit-loop: ", "route with an engine that is proven: weft route, weft serve"},
		{"a loop without both", nil, 0, func(l *result.WatchLook, _ *Snapshot) {
			l.Verdict, l.SLsKnown, l.MapsKnown = result.CreditLoop, false, false
		}, "credit-loop: ", "if clients use the PathRecord's service level, let the look have service levels and SL2VL maps (paths.psl, opensm-sl2vl.dump): the loop may not be there"},
		{"a pair", nil, 0, func(l *result.WatchLook, _ *Snapshot) { l.CutOff = 1 }, "cut-off: 1 pair of 1,234 that cables join are cut off", "weft verify names them"},
		{"good trees", nil, 0, func(l *result.WatchLook, _ *Snapshot) { l.Multicast = &result.LookTrees{Groups: 1} }, "", ""},
		{"a tree", nil, 0, func(l *result.WatchLook, _ *Snapshot) {
			l.Multicast = &result.LookTrees{Groups: 2, Split: []string{"0xc001"}, Circling: []string{"0xc001"}}
		}, "multicast: 1 tree of 2 multicast groups circle, are in pieces or lead out of themselves: 0xc001", ""},
		{"trees", nil, 0, func(l *result.WatchLook, _ *Snapshot) {
			l.Multicast = &result.LookTrees{Groups: 3, Circling: []string{"0xc002"}, Split: []string{"0xc001"}, OneSided: []string{"0xc002"}}
		}, "multicast: 2 trees of 3 multicast groups circle, are in pieces or lead out of themselves: 0xc001, 0xc002", ""}, // each once
		{"a circle", nil, 0, func(l *result.WatchLook, _ *Snapshot) { l.Circles = 1 }, "forwarding-loop: packets circle for ever from 1 ", "SIGHUP to opensm"},
		{"a turn", nil, 0, func(l *result.WatchLook, _ *Snapshot) { l.Dropped = 1 }, "dropped: packets are dropped at 1 turn: their service level", "let OpenSM write SL2VL maps (qos TRUE)"},
		{"a lane", nil, 0, func(l *result.WatchLook, _ *Snapshot) {
			l.Absent = []result.LookAbsent{{From: one, SL: 2, VL: 5, DataVLs: 4}}
		}, "dropped: packets are dropped at 1 port for want of a lane, first: SL 2 takes VL 5 on leaf, port 3, which runs 4 data lanes", "max_op_vls"},
		{"a turn and a lane", nil, 0, func(l *result.WatchLook, _ *Snapshot) {
			l.Dropped, l.Absent = 1, []result.LookAbsent{{From: one, SL: 2, VL: 5, DataVLs: 4}}
		}, "dropped: packets are dropped at 1 turn", ""}, // once
		{"no tables", nil, 0, func(l *result.WatchLook, _ *Snapshot) { l.Lack = "W001" }, "sweep-failed: OpenSM has no tables for the network as it is, and those judged are of before: W001", ""},
		{"the engine asked for", nil, 0, func(l *result.WatchLook, _ *Snapshot) {
			l.Asked, l.Made = "lash,minhop", &result.LookMade{Engine: "LASH"}
		}, "", ""},
		{"an engine that nobody asked for", nil, 0, func(l *result.WatchLook, _ *Snapshot) { l.Made = &result.LookMade{Engine: "lash"} }, "", ""},
		{"another engine by the log", nil, 0, func(l *result.WatchLook, _ *Snapshot) {
			l.Asked, l.Made = "lash,updn", &result.LookMade{Engine: "updn", How: "log"}
		}, "fallback: OpenSM was asked for lash, then updn, and the tables are those of updn: as OpenSM's log says", ""},
		{"another engine by the tables", nil, 0, func(l *result.WatchLook, _ *Snapshot) {
			l.Asked, l.Made = "lash", &result.LookMade{Engine: "updn", How: "tables", Share: .975}
		}, "fallback: OpenSM was asked for lash, and the tables are those of updn: 97.5 % of the entries with a choice are as it makes them", ""},
		{"an entry", nil, 1, func(*result.WatchLook, *Snapshot) {}, "other-tables: 1 entry is not as in the tables that are expected", ""},
		{"a stale table", nil, 0, func(_ *result.WatchLook, now *Snapshot) { now.Stale = []string{"a"} }, "stale-tables: tables and network are not of one time: a", ""},
		{"a port without a map", &result.WatchLook{MapsKnown: true}, 0, func(_ *result.WatchLook, now *Snapshot) { now.NoMap, now.Maps = "port 3", false }, "no-map: port 3", ""}, // once
		{"no maps, as before", &result.WatchLook{}, 0, func(_ *result.WatchLook, now *Snapshot) { now.Maps = false }, "", ""},
		{"no maps, unlike before", &result.WatchLook{MapsKnown: true}, 0, func(_ *result.WatchLook, now *Snapshot) { now.Maps = false }, "no-map: there were SL2VL maps, and there are none now", ""},
		{"no maps, still", &result.WatchLook{Alarms: []result.Alarm{{Kind: NoMap}}}, 0, func(_ *result.WatchLook, now *Snapshot) { now.Maps = false }, "no-map: there were", ""},
		{"maps again", &result.WatchLook{Alarms: []result.Alarm{{Kind: NoMap}}}, 0, func(*result.WatchLook, *Snapshot) {}, "", ""},
		{"a doubt", nil, 0, func(_ *result.WatchLook, now *Snapshot) { now.Doubts = []string{"a"} }, "unproven: switches may not do what the verdict is about: a", ""},
		{"a slow link", nil, 0, func(l *result.WatchLook, _ *Snapshot) {
			l.Degraded = []result.LookDegraded{{Kind: "slow-link", Rate: "4xEDR", CableEnds: result.CableEnds{A: one, B: result.Node{Name: "spine", Port: 4}}}}
		}, "degraded-link: 1 link is below others of their kind, the first: slow link, leaf, port 3 to spine, port 4, 4xEDR", ""},
		{"nothing moved", nil, 0, func(l *result.WatchLook, _ *Snapshot) { l.Changed = &result.LookChanges{} }, "", ""},
		{"a port moved", nil, 0, func(l *result.WatchLook, _ *Snapshot) {
			l.Changed = &result.LookChanges{Recabled: []result.Node{one}}
		}, "recabled: 1 port of a switch leads elsewhere than before: leaf, port 3", ""},
	} {
		l, now := with(c.change)
		found := alarms(l, c.before, now, c.differ)
		switch {
		case c.want == "" && len(found) > 0 || c.want != "" && len(found) != 1:
			t.Errorf("%s: %+v", c.name, found)
		case c.want != "" && (!strings.HasPrefix(found[0].Kind+": "+found[0].What, c.want) || !strings.Contains(found[0].Do, c.do)):
			t.Errorf("%s: %+v, want %q, %q", c.name, found[0], c.want, c.do)
		case strings.HasPrefix(c.want, CreditLoop) && strings.HasSuffix(found[0].Do, "may not be there") != strings.HasSuffix(c.do, "may not be there"):
			t.Errorf("%s: %s", c.name, found[0].Do)
		}
	}
	l, now := with(func(l *result.WatchLook, _ *Snapshot) {
		l.Verdict, l.Circles, l.MapsKnown = result.CreditLoop, 1, false
	})
	if found := alarms(l, nil, now, 0); len(found) != 2 || !strings.HasPrefix(found[0].Do, "SIGHUP to opensm") {
		t.Errorf("a circle is a loop whatever the maps: %+v", found)
	}
}

// Where OpenSM has no tables since the daemon is dead or refuses, no alarm sends people to OpenSM first.
func TestAdviceWithoutDaemon(t *testing.T) {
	t.Parallel()
	for lack, want := range map[string]string{"": "SIGHUP to opensm", "ERR W001: no tables for sweep 3": "start the daemon"} {
		l := &result.WatchLook{Lack: lack}
		l.Verdict, l.CutOff, l.Circles, l.Multicast = result.CreditLoop, 12, 2, &result.LookTrees{Groups: 3, Split: []string{"0xc001"}}
		found := 0
		for _, a := range alarms(l, nil, &Snapshot{Stale: []string{"a switch has no table"}, Maps: true}, 0) {
			if a.Kind == SweepFailed {
				continue
			}
			found++
			if !strings.HasPrefix(a.Do, want) {
				t.Errorf("%q: %s: %s", lack, a.Kind, a.Do)
			}
		}
		if found != 5 {
			t.Errorf("%q: %d alarms", lack, found)
		}
	}
}
