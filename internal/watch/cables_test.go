package watch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/result"
)

// errorsOf is what ibqueryerrors says of one port.
func errorsOf(f *fabric.Fabric, symbols int) string {
	return fmt.Sprintf("Errors for \"x\"\n   GUID %s port 3: [SymbolErrorCounter == %d] [PortXmitData == 9 (1 B)] [PortXmitWait == 0]\n\n## Summary: 1\n", f.Node(0).GUID, symbols)
}

// Errors that come are an alarm, by name and with what to do; those that came long ago are none; and a restart
// forgets neither.
func TestErrorsCome(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:n=5,hosts=2")
	good := &Snapshot{Tables: tablesBy(t, f, "updn", 1)}
	file, state := filepath.Join(t.TempDir(), "counters"), filepath.Join(t.TempDir(), "state")
	count := func(w *scene, symbols int, at time.Time) []result.Alarm {
		t.Helper()
		if err := os.WriteFile(file, []byte(errorsOf(f, symbols)), 0o600); err != nil {
			t.Fatal(err)
		}
		w.checkCables(context.Background(), at)
		w.status.Trouble = w.cables.list
		w.status.Alarms = w.withCableAlarms(nil, at)
		w.metrics.note(&w.status, nil)
		return w.status.Alarms
	}
	if err := os.WriteFile(file, []byte(errorsOf(f, 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newScene(t, Config{State: state, Counters: []string{file}})
	w.show(good)
	begin := time.Now().Add(-3 * time.Hour)
	w.cables.readings = nil
	for i, c := range []struct {
		minutes, symbols int
		bad              bool
	}{{0, 1000, false}, {1, 1005, false}, {10, 1050, true}, {30, 1050, true}, {69, 1050, true}, {85, 1050, false}, {86, 1070, true}, {120, 20, true}, {125, 20, false}} {
		if c.minutes == 120 { // it was cleared: nothing is known of the time before, and the rest came since
			w.cables.readings = nil
			c.bad = false
		}
		alarms := count(w, c.symbols, begin.Add(time.Duration(c.minutes)*time.Minute))
		if got := slices.Contains(kindsOf(alarms), CableTrouble); got != c.bad {
			t.Errorf("%d: after %d minutes, %d errors: %+v", i, c.minutes, c.symbols, alarms)
		}
		if c.minutes == 30 {
			list := w.cables.list
			if len(list.Cables) != 1 || list.Cables[0].Signs[0].Kind != trouble.Symbol || *list.Cables[0].Signs[0].PerHour != 100 || !strings.Contains(alarms[0].Do, "weft drain --live") {
				t.Errorf("%+v, %+v", list, alarms)
			}
			families, err := w.metrics.registry.Gather()
			text := fmt.Sprint(families)
			if err != nil || !strings.Contains(text, "weft_watch_cable_trouble") || !strings.Contains(text, `value:"symbol"`) {
				t.Errorf("%v: %s", err, text)
			}
			if got := w.troubles(); len(got) != 1 || !strings.Contains(got[0], "is in trouble") {
				t.Errorf("%q", got)
			}
		}
	}

	// After a restart errors are counted from before it.
	w.cables.readings = nil
	count(w, 2000, time.Now().Add(-30*time.Minute))
	endWhole(w.running)
	again := newScene(t, Config{State: state, Counters: []string{file}})
	again.before, again.last = good, &result.WatchLook{Number: 1}
	again.resumeCables()
	if len(again.cables.readings) != 1 {
		t.Fatalf("%+v", again.cables.readings)
	}
	if alarms := count(again, 2020, time.Now()); !slices.Contains(kindsOf(alarms), CableTrouble) {
		t.Errorf("%+v", alarms)
	}
	endWhole(again.running)
	all, _, err := events.Read(state)
	in, out := 0, 0
	for _, e := range all {
		switch e.What {
		case events.InTrouble:
			in++
		case events.OutOfTrouble:
			out++
		}
	}
	if err != nil || in != 3 || out != 2 {
		t.Errorf("%v: %d in trouble, %d out of it: %+v", err, in, out, all)
	}

	// What cannot be read is told.
	if err := os.WriteFile(file, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	again.checkCables(context.Background(), time.Now())
	if alarms := again.withCableAlarms(nil, time.Now()); !slices.Contains(kindsOf(alarms), Unreadable) {
		t.Errorf("%+v", alarms)
	}
}

// Cables that went three times are flapping, and those that lead elsewhere than planned are in trouble from the first look.
func TestFlapsAndPlan(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "torus:4x4,hosts=1")
	whole := &Snapshot{Tables: tablesBy(t, f, "updn", 1)}
	less, err := f.Without([]fabric.ChannelID{0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	without := &Snapshot{Tables: tablesBy(t, less, "updn", 1)}
	w := newScene(t, Config{Cabling: "/plan"})
	w.ReadFabric = func(string) (*fabric.Fabric, error) { return f, nil }
	w.show(whole)
	if len(w.cables.list.Cables) > 0 {
		t.Errorf("%+v", w.cables.list.Cables)
	}
	for i := range 3 {
		w.show(without)
		if len(w.cables.list.Cables) == 0 || w.cables.list.Cables[0].Signs[0].Kind != trouble.Missing {
			t.Errorf("%d: %+v", i, w.cables.list.Cables)
		}
		w.show(whole)
	}
	if l := w.cables.list.Cables; len(l) != 1 || l[0].Signs[0].Kind != trouble.Flaps || l[0].Name != events.CableName(f, f.Channel(0)) || !slices.Contains(kindsOf(w.status.Alarms), CableTrouble) {
		t.Errorf("%+v, %+v", l, w.status.Alarms)
	}
	var page bytes.Buffer
	for _, text := range w.troubles() {
		page.WriteString(text)
	}
	if !strings.Contains(page.String(), "it went 3 times within an hour") {
		t.Error(page.String())
	}
}

// Errors count that came within the hour, also where counters were cleared since, also more than once, and where
// ibqueryerrors lists the port no more; over a restart too.
func TestCountersAreCleared(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:n=5,hosts=2")
	good := &Snapshot{Tables: tablesBy(t, f, "updn", 1)}
	file, state := filepath.Join(t.TempDir(), "counters"), filepath.Join(t.TempDir(), "state")
	begin := time.Now().Add(-80 * time.Minute)
	write := func(symbols int) {
		t.Helper()
		text := "\n## Summary: 3 nodes checked, 0 bad nodes found\n"
		if symbols > 0 {
			text = errorsOf(f, symbols)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(100)
	w := newScene(t, Config{State: state, Counters: []string{file}})
	w.show(good)
	w.cables = cabling{}
	for _, c := range []struct {
		minutes, symbols int
		count            float64 // since the reading an hour ago, one of which is kept every five minutes; 0: no alarm
	}{{0, 100, 0}, {1, 150, 50}, {2, 2, 52}, {3, 9, 59}, {4, 0, 59}, {5, 0, 59}, {6, 7, 66}, {7, 3, 69}, {60, 3, 69}, {75, 3, 0}, {76, 30, 37}, {77, 4, 41}} {
		if c.minutes == 5 || c.minutes == 77 {
			endWhole(w.running)
			w = newScene(t, Config{State: state, Counters: []string{file}})
			w.before, w.last = good, &result.WatchLook{Number: 1}
			w.resumeCables()
		}
		write(c.symbols)
		at := begin.Add(time.Duration(c.minutes) * time.Minute)
		w.checkCables(context.Background(), at)
		got := 0.0
		if l := w.cables.list.Cables; len(l) > 0 {
			got = l[0].Signs[0].Count
		}
		if got != c.count || slices.Contains(kindsOf(w.withCableAlarms(nil, at)), CableTrouble) != (c.count > 0) {
			t.Errorf("after %d minutes, at %d: %v in trouble, want %v: %+v", c.minutes, c.symbols, got, c.count, w.cables.list.Cables)
		}
	}
}

// Counters of ports that the network does not have are left out, with a note; the others count.
func TestCountersOfOthers(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:n=5,hosts=2")
	file := filepath.Join(t.TempDir(), "counters")
	w := newScene(t, Config{State: t.TempDir(), Counters: []string{file}})
	w.show(&Snapshot{Tables: tablesBy(t, f, "updn", 1)})
	w.cables = cabling{}
	for i, symbols := range []int{100, 300} {
		text := strings.Replace(errorsOf(f, symbols), "\n\n", "\n   GUID 0x77 port 2: [SymbolErrorCounter == 1]\n\n", 1)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w.checkCables(context.Background(), time.Now().Add(time.Duration(i)*time.Minute))
		if notes := fmt.Sprint(w.cables.list.Notes); !strings.Contains(notes, "1 port that the network does not have is left out: "+file+":3: the fabric has no node with GUID 0x0000000000000077") {
			t.Errorf("%d: %s", i, notes)
		}
	}
	if got := w.cables.list.Cables; len(got) != 1 || len(w.cables.failed) > 0 {
		t.Errorf("%+v, %v", got, w.cables.failed)
	}
}

// While counters cannot be read the cables in trouble are those of before, and no event says otherwise; everything
// that cannot be read is told.
func TestCountersCannotBeRead(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:n=5,hosts=2")
	file, state := filepath.Join(t.TempDir(), "counters"), filepath.Join(t.TempDir(), "state")
	w := newScene(t, Config{State: state, Counters: []string{file}, Cabling: "/plan"})
	w.ReadFabric = func(string) (*fabric.Fabric, error) { return nil, fmt.Errorf("no plan") }
	if err := os.WriteFile(file, []byte(errorsOf(f, 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.show(&Snapshot{Tables: tablesBy(t, f, "updn", 1)})
	w.cables = cabling{}
	begin := time.Now().Add(-time.Hour)
	for i, text := range []string{errorsOf(f, 100), errorsOf(f, 200), "half", "", errorsOf(f, 201)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		at := begin.Add(time.Duration(i) * time.Minute)
		w.checkCables(context.Background(), at)
		alarms := w.withCableAlarms(nil, at)
		if got := slices.Contains(kindsOf(alarms), CableTrouble); got != (i > 0) {
			t.Errorf("%d: %+v", i, alarms)
		}
		old, unreadable := strings.Contains(fmt.Sprint(w.cables.list.Notes), "errors are old, those of "), alarms[0].What
		if bad := i == 2 || i == 3; old != bad || strings.Contains(unreadable, "counters: "+file) != bad || !strings.Contains(unreadable, "cabling: no plan") {
			t.Errorf("%d: %q, %q", i, w.cables.list.Notes, unreadable)
		}
	}
	endWhole(w.running)
	all, _, err := events.Read(state)
	if all = slices.DeleteFunc(all, func(e result.Event) bool { return e.What != events.InTrouble && e.What != events.OutOfTrouble }); err != nil || len(all) != 1 {
		t.Errorf("%v: %+v", err, all)
	}
}
