package watch

import (
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/testnet"
)

// Where the clock is set back, or was wrong when the machine began, alarms are there since the look that
// sees them at the latest, looks go on being kept in their order, and files from the future are read.
func TestClockIsSetBack(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:n=5")
	w := newScene(t, Config{})
	loop := &Snapshot{Tables: tablesBy(t, f, "minhop", 1)}
	first := w.show(loop)
	if len(first.Alarms) == 0 {
		t.Fatal("no alarm")
	}
	years := 5 * 365 * 24 * time.Hour
	first.At = first.At.Add(years)
	for i := range first.Alarms {
		first.Alarms[i].Since = first.Alarms[i].Since.Add(years)
		w.status.Alarms[i].Since = first.Alarms[i].Since
	}
	w.status.Alarms = append(w.status.Alarms, Alarm{Kind: Unreadable, Since: time.Now().Add(years)})
	if since := sinceWhen(w.status.Alarms, Unreadable, time.Now()); since.After(time.Now()) {
		t.Errorf("the folder cannot be read since %v", since)
	}
	again := w.show(loop) // its file is newer again
	if again.Number != first.Number+1 || again.Alarms[0].Since.After(time.Now()) {
		t.Errorf("look %d, alarm since %v", again.Number, again.Alarms[0].Since)
	}
	if numbers, err := w.store.Numbers(); err != nil || len(numbers) != 2 {
		t.Errorf("%v, looks %v", err, numbers)
	}
}
