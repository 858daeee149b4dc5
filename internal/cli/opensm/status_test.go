package opensm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/opensm/daemon"
	"github.com/weft-fabric/weft/result"
)

// That a part can be pulled is said only where what the daemon handed over is what switches have.
func TestDrainedPartCanBePulled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state string
		gone  bool
		known bool
		pull  bool
	}{
		{daemon.Free, false, true, true}, {daemon.Free, false, false, false}, {daemon.Leaving, false, true, false}, {daemon.Waiting, false, true, false}, {"", false, true, false},
		{daemon.Free, true, true, false}, {daemon.Leaving, true, true, false},
	} {
		text := drainedText(&result.Drained{Part: "spine-1", By: "root", State: c.state, Gone: c.gone, Cut: []string{"h"}}, c.known)
		if strings.Contains(text, "can be pulled") != c.pull || strings.Contains(text, "it is gone") != c.gone || strings.Contains(text, "when it is pulled") == c.gone || strings.HasSuffix(text, ": ") {
			t.Errorf("%+v: %s", c, text)
		}
	}
}

// An order that has not begun has drained nothing.
func TestOrderBeforeAnother(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for after, want := range map[time.Duration]string{-time.Hour: "drained since", time.Hour: "was to be drained from"} {
		if text := beforeText(&result.Drained{Part: "spine-1", By: "root", At: now.Add(-2 * time.Hour), After: now.Add(after)}, now); !strings.Contains(text, want) {
			t.Errorf("%s, want %q", text, want)
		}
	}
}

// What was drained before an order that is taken back stays drained, and no word is of traffic that uses it.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	now := time.Now()
	here, there := result.Drained{Part: "spine-1", By: "root", After: now.Add(-time.Hour)}, result.Drained{Part: "spine-2", By: "root", After: now}
	here.Place.GUID, there.Place.GUID = 1, 2
	for want, said := range map[string]*daemon.Ordered{
		"as before, spine-1: drained since": {Parts: []result.Drained{here}, Before: []result.Drained{here}},
		"traffic uses spine-2 again":        {Parts: []result.Drained{here, there}, Before: []result.Drained{here}},
	} {
		text := takenBack(said, now)
		if !strings.Contains(text, want) || strings.Contains(text, "traffic uses") != (len(said.Parts) == 2) || strings.Contains(text, "uses spine-1") {
			t.Errorf("%s, want %q", text, want)
		}
	}
}

// Of what is gone nobody is told that traffic uses it again.
func TestUndrainOfWhatIsGone(t *testing.T) {
	t.Parallel()
	here, gone := result.Drained{Part: "spine-1"}, result.Drained{Part: "spine-2", Gone: true}
	for _, c := range []struct {
		parts []result.Drained
		want  string // after which no other such line comes
	}{
		{[]result.Drained{here}, "traffic uses it again"},
		{[]result.Drained{gone}, "spine-2: it is drained no longer, and will carry traffic once it is back"},
		{[]result.Drained{here, gone}, "traffic uses spine-1 again"},
	} {
		var out bytes.Buffer
		a := &console.Console{Stdout: &out, Stderr: io.Discard}
		if err := showLive(a, &result.DrainLive{Do: daemon.UndrainOrder, Parts: c.parts, Done: true}, "x"); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text, c.want) || strings.Contains(text, "again") != slices.ContainsFunc(c.parts, func(p result.Drained) bool { return !p.Gone }) ||
			strings.Contains(text, "once it is back") != slices.ContainsFunc(c.parts, func(p result.Drained) bool { return p.Gone }) {
			t.Errorf("%+v: %s", c.parts, text)
		}
	}
}

// Of a daemon that was stopped, or hangs up, it is said that it does not answer, in words that name no path but the socket's.
func TestDaemonThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "weft") // short: the path of a socket has 107 letters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	made, socket := filepath.Join(dir, "made"), filepath.Join(dir, "s")
	l, err := net.Listen("unix", made)
	if err == nil {
		err = os.Rename(made, socket)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := statusOf(ctx, socket); err == nil || !strings.Contains(err.Error(), "does not answer: it was stopped") || strings.Contains(err.Error(), made) {
		t.Errorf("%v", err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			io.ReadFull(c, make([]byte, 8))
			c.Close() // before all is read: the other end sees a reset
		}
	}()
	if _, err := statusOf(t.Context(), socket); err == nil || !strings.Contains(err.Error(), "no daemon answers at "+socket+": ") || strings.Contains(err.Error(), made) {
		t.Errorf("%v", err)
	}
}
