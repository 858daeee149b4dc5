package watch

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/result"
)

// Alarms that stand when a watch ends stand when it begins again, for those who scrape too, since when they did; and
// none is noted a second time.
func TestAlarmsOverARestart(t *testing.T) {
	t.Parallel()
	s := newScene(t, Config{})
	ring := testnet.Build(t, "ring:n=5")
	s.show(&Snapshot{Tables: tablesBy(t, ring, "minhop", 1)})
	s.write("half a fi")
	if _, err := s.look(t.Context()); err == nil {
		t.Fatal("it was read")
	}
	s.status.Trouble = &result.Trouble{Cables: []result.CableInTrouble{{Name: "a:1 – b:2", Signs: []result.TroubleSign{{Kind: "symbol"}}}, {Name: "of another version"}}, Notes: []string{}}
	if err := s.store.whole(statusName, whole.JSON(&s.status)); err != nil {
		t.Fatal(err)
	}
	was := s.status.Alarms
	if got := kindsOf(was); !slices.Equal(got, []string{CreditLoop, Unreadable}) {
		t.Fatalf("%v", got)
	}
	endWhole(s.running)
	again := begun(t, &Watcher{Config: s.Watcher.Config, Log: s.Watcher.Log, Read: s.read, proc: s.proc})
	stop, err := again.serve()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if !slices.EqualFunc(again.status.Alarms, was, func(a, b result.Alarm) bool { return a.Kind == b.Kind && a.Since.Equal(b.Since) }) {
		t.Errorf("%+v, want %+v", again.status.Alarms, was)
	}
	families, err := again.metrics.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	troubled := 0
	for _, f := range families {
		if f.GetName() == "weft_watch_cable_trouble" {
			troubled = len(f.GetMetric())
		}
		if f.GetName() != "weft_watch_alarm" {
			continue
		}
		for _, m := range f.GetMetric() {
			if kind := m.GetLabel()[0].GetValue(); (m.GetGauge().GetValue() == 1) != hasKind(was, kind) {
				t.Errorf("%s: %v", kind, m)
			}
		}
	}
	if again.status.Trouble != nil || again.ready() == nil {
		t.Error("it answers as if it had looked")
	}
	if l := again.cables.list; l == nil || len(l.Cables) != 1 || troubled != 1 {
		t.Errorf("cables in trouble: %+v, %d as metrics", l, troubled)
	}
	if _, err := again.look(t.Context()); err == nil {
		t.Fatal("it was read")
	}
	if a := again.status.Alarms; len(a) != 2 || !a[1].Since.Equal(was[1].Since) {
		t.Errorf("%+v, want %+v", a, was)
	}
	endWhole(again)
	all, _, err := events.Read(s.State)
	if err != nil {
		t.Fatal(err)
	}
	noted := slices.DeleteFunc(all, func(e result.Event) bool { return e.What != events.Alarm })
	if len(noted) != 2 {
		t.Errorf("%+v", noted)
	}
}

// whenAlarmed calls a function at each line about an alarm.
type whenAlarmed struct {
	slog.Handler
	call func()
}

func (w whenAlarmed) Enabled(context.Context, slog.Level) bool { return true }

func (w whenAlarmed) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "alarm" {
		w.call()
	}
	return nil
}

// An alarm does not wait until the files of its look are packed, which takes long on a large network.
func TestAlarmBeforeTheLookIsKept(t *testing.T) {
	t.Parallel()
	s := newScene(t, Config{})
	times := 0
	s.Watcher.Log = slog.New(whenAlarmed{slog.DiscardHandler, func() {
		times++
		if _, err := os.Stat(filepath.Join(s.State, looksFolder, lookName(1))); err == nil {
			t.Error("the look is kept already")
		}
	}})
	s.show(&Snapshot{Tables: tablesBy(t, testnet.Build(t, "ring:n=5"), "minhop", 1)})
	if times != 1 {
		t.Errorf("%d alarms", times)
	}
}
