package opensm

import (
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/opensm/daemon"
)

// That a part can be pulled is said only where what the daemon handed over is what switches have.
func TestDrainedPartCanBePulled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state string
		known bool
		pull  bool
	}{{daemon.Free, true, true}, {daemon.Free, false, false}, {daemon.Leaving, true, false}, {daemon.Waiting, true, false}, {"", true, false}} {
		text := drainedText(&daemon.Drained{Part: "spine-1", By: "root", State: c.state}, c.known)
		if strings.Contains(text, "can be pulled") != c.pull || strings.HasSuffix(text, ": ") {
			t.Errorf("%+v: %s", c, text)
		}
	}
}

// An order that has not begun has drained nothing.
func TestOrderBeforeAnother(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for after, want := range map[time.Duration]string{-time.Hour: "drained since", time.Hour: "was to be drained from"} {
		if text := beforeText(&daemon.Drained{Part: "spine-1", By: "root", At: now.Add(-2 * time.Hour), After: now.Add(after)}, now); !strings.Contains(text, want) {
			t.Errorf("%s, want %q", text, want)
		}
	}
}

// What was drained before an order that is taken back stays drained, and no word is of traffic that uses it.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	now := time.Now()
	here, there := daemon.Drained{Part: "spine-1", By: "root", After: now.Add(-time.Hour)}, daemon.Drained{Part: "spine-2", By: "root", After: now}
	here.Place.GUID, there.Place.GUID = 1, 2
	for want, said := range map[string]*daemon.Ordered{
		"as before, spine-1: drained since": {Parts: []daemon.Drained{here}, Before: []daemon.Drained{here}},
		"traffic uses spine-2 again":        {Parts: []daemon.Drained{here, there}, Before: []daemon.Drained{here}},
	} {
		text := takenBack(said, now)
		if !strings.Contains(text, want) || strings.Contains(text, "traffic uses") != (len(said.Parts) == 2) || strings.Contains(text, "uses spine-1") {
			t.Errorf("%s, want %q", text, want)
		}
	}
}
