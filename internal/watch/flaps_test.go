package watch

import (
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

// flapsTold is what flapped by a watch's events.
func flapsTold(t *testing.T, w *scene) (all []string) {
	t.Helper()
	endWhole(w.running)
	list, _, err := events.Read(w.State)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.What == events.Flapped {
			name := "?"
			if e.Part != nil {
				name = e.Part.Name
			}
			all = append(all, fmt.Sprintf("%s %d", name, e.Times))
		}
	}
	return all
}

// A cable that went and came back between two looks is told by what its ports count, once though both ends do, and one
// that a look saw gone is not told twice. Three times within the hour are a cable that flaps, over a restart too.
func TestFlapsByCounters(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:n=5,hosts=2")
	first := f.Channel(0)
	name := events.Cable(f, 0).Name
	file, state := filepath.Join(t.TempDir(), "counters"), filepath.Join(t.TempDir(), "state")
	w := newScene(t, Config{State: state, Counters: []string{file}})
	downed := func(a, b int) {
		t.Helper()
		text := ""
		for _, end := range []struct {
			n    fabric.NodeID
			port uint8
			down int
		}{{first.From, first.FromPort, a}, {first.To, first.ToPort, b}} {
			text += fmt.Sprintf("Errors for \"x\"\n   GUID %s port %d: [LinkDownedCounter == %d]\n", f.Node(end.n).GUID, end.port, end.down)
		}
		if err := os.WriteFile(file, []byte(text+"\n## Summary: 2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Now().Add(-20 * time.Minute)
	count := func() bool {
		t.Helper()
		at = at.Add(time.Minute)
		w.checkCables(context.Background(), at)
		return slices.ContainsFunc(w.cables.list.Cables, func(c result.CableInTrouble) bool {
			return c.Name == name && slices.ContainsFunc(c.Signs, func(s result.TroubleSign) bool { return s.Kind == trouble.Flaps })
		})
	}
	downed(7, 7)
	w.show(&Snapshot{Tables: tablesBy(t, f, "updn", 1)})
	w.cables.readings, w.flaps = nil, flaps{}
	count()
	downed(8, 8)
	for range 2 {
		if count() {
			t.Error("once is no flapping")
		}
	}
	downed(9, 9)
	count()
	w.flaps.changed = at.Add(time.Second) // the next look sees it gone, or back
	count()
	downed(10, 11)
	if count() || !count() {
		t.Errorf("one, and two more: %+v", w.cables.list)
	}
	if told := flapsTold(t, w); strings.Join(told, "; ") != name+" 1; "+name+" 2" {
		t.Errorf("told are %q", told)
	}
	again := begun(t, w.Watcher)
	w.running = again
	if !count() {
		t.Errorf("a restart forgets it: %+v", w.cables.list)
	}
}

// What OpenSM logs while a look reads its files, the look sees too: of a switch that goes the lines of its neighbors may
// come after the look has begun.
func TestFlapsWhileALookReads(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:n=5,hosts=2")
	w := newScene(t, Config{})
	w.show(&Snapshot{Tables: tablesBy(t, f, "updn", 1)})
	var reads time.Time
	read := w.Watcher.Read
	w.Watcher.Read = func(network, tables string, trees uint16) (*Snapshot, error) {
		reads = time.Now()
		return read(network, tables, trees)
	}
	g, err := f.Without([]fabric.ChannelID{0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.show(&Snapshot{Tables: tablesBy(t, g, "updn", 1)})
	if reads.IsZero() || w.flaps.changed.Before(reads) {
		t.Errorf("seen at %v, read at %v", w.flaps.changed, reads)
	}
}

// OpenSM's log has what went and came back between two looks: a cable by the two switches that say so, a host by
// its port. What a look saw, and what was before the watch began, is not told.
func TestFlapsByTheLog(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:n=5,hosts=2")
	host := f.Endpoint(fabric.EndpointID(f.Switches()))
	now := time.Now().Truncate(time.Second)
	line := func(ago time.Duration, text string, args ...any) string {
		return now.Add(-ago).Format(time.Stamp) + " 081945 [79B2C6C0] 0x02 -> " + fmt.Sprintf(text, args...) + "\n"
	}
	changed := func(ago time.Duration, n fabric.NodeID) string {
		return line(ago, `log_notice: Reporting Urgent Notice "Link state change" from switch LID 1, GUID %s`, f.Node(n).GUID)
	}
	port := func(ago time.Duration, what string) string {
		return line(ago, "%s port with GUID:%s LID range [21, 21] of node:host-1", what, host.PortGUID)
	}
	trunk, hosts := f.Channel(0), f.Out(host.Node, host.Port)
	if trunk.From != host.Switch {
		t.Fatal("the cable is of another switch")
	}
	both := func(ago time.Duration) string { return changed(ago, trunk.From) + changed(ago, trunk.To) }
	for _, c := range []struct {
		name, log string
		seen      time.Duration // ago, that a look saw something go; 0: none did
		want      string
	}{
		{"nothing", "", 0, ""},
		{"a cable", both(32*time.Second) + both(30*time.Second), 0, events.Cable(f, 0).Name + " 1"},
		{"a cable, of whose end the line is lost", changed(32*time.Second, trunk.From) + both(30*time.Second), 0, events.Cable(f, 0).Name + " 1"},
		{"twice", both(33*time.Second) + both(32*time.Second) + both(31*time.Second) + both(30*time.Second), 0, events.Cable(f, 0).Name + " 2"},
		{"a host", changed(32*time.Second, host.Switch) + port(32*time.Second, "Removed") + changed(30*time.Second, host.Switch) + port(30*time.Second, "Discovered new"), 0, events.Cable(f, hosts).Name + " 1"},
		{"a host and a cable of its switch", both(32*time.Second) + both(31*time.Second) + changed(30*time.Second, host.Switch) + port(30*time.Second, "Removed") + changed(29*time.Second, host.Switch) + port(29*time.Second, "Discovered new"), 0,
			events.Cable(f, hosts).Name + " 1; " + events.Cable(f, 0).Name + " 1"},
		{"a switch that says so alone", changed(32*time.Second, trunk.From) + changed(30*time.Second, trunk.From), 0, "? 1"},
		{"a look saw it", both(32*time.Second) + both(30*time.Second), 20 * time.Second, ""},
		{"just now", both(2*time.Second) + both(time.Second), 0, ""},
		{"before the watch began", both(600*time.Second) + both(590*time.Second), 0, ""},
		{"a host that is new", port(30*time.Second, "Discovered new"), 0, ""},
	} {
		k := flaps{judged: now.Add(-5 * time.Minute), lines: noticesIn([]byte(c.log), now)}
		if c.seen > 0 {
			k.changed = now.Add(-c.seen)
		}
		var got []string
		for _, e := range k.byLog(f, now.Add(time.Second)) {
			name := "?"
			if e.Part != nil {
				name = e.Part.Name
			}
			got = append(got, fmt.Sprintf("%s %d", name, e.Times))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
		if more := k.byLog(f, now.Add(time.Second)); len(more) > 0 {
			t.Errorf("%s: told twice", c.name)
		}
	}
}
