package daemon

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/counters"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/result"
)

// What weft watch found by counters is in the daemon's own list, as long as weft watch looks; where it does not, the list
// says so.
func TestCablesThatWeftWatchKnows(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:4,hosts=1")
	now := time.Now()
	dirty := trouble.Find(trouble.Evidence{Fabric: f, Limits: trouble.Default(), Now: now, Time: time.Hour,
		Counted: &counters.Counters{Received: map[fabric.ChannelID]counters.Received{0: {Errors: counters.Errors{counters.Symbol: 500}}}}})
	answer := func(at time.Time) string {
		text, err := json.Marshal(map[string]any{"at": at, "every": "1m0s", "trouble": dirty, "alarms": []result.Doubt{{Kind: "fallback", What: "MinHop made the tables"}, {Kind: "cable-trouble", What: "one"}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range []struct {
		name, text string
		code       int
		why        string
	}{
		{"it looks", answer(now), http.StatusOK, ""},
		{"it looked long ago", answer(now.Add(-time.Hour)), http.StatusOK, "its last look was 1h0m0s ago"},
		{"it has not looked", `{"at":"0001-01-01T00:00:00Z","every":"1m0s"}`, http.StatusOK, "it has not looked yet"},
		{"another program", "<html>", http.StatusOK, "its answer cannot be read"},
		{"no signs", strings.Replace(answer(now), `"signs":[`, `"other":[`, 1), http.StatusOK, "a cable without a sign"},
		{"an earlier release", "", http.StatusNotFound, "it answers 404"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != StatusPath {
					t.Errorf("%s is asked for", r.URL.Path)
				}
				w.WriteHeader(c.code)
				_, _ = w.Write([]byte(c.text)) // whoever asked is there
			}))
			defer site.Close()
			check(t, f, site.Listener.Addr().String(), now, c.why)
		})
	}
	site := httptest.NewServer(http.NotFoundHandler())
	site.Close()
	check(t, f, site.Listener.Addr().String(), now, "it does not answer")
	var none cables
	if l := none.inTrouble(f, &watched{}, now); len(l.Cables) > 0 || strings.Contains(strings.Join(l.Notes, ""), "weft watch") {
		t.Errorf("it is not asked: %+v", l)
	}
}

func check(t *testing.T, f *fabric.Fabric, address string, now time.Time, why string) {
	t.Helper()
	var w watched
	w.ask(t.Context(), address, now)
	if got := w.alarmList(); (len(got) == 1 && OtherTables(got[0]) && got[0].What == "MinHop made the tables") != (why == "") {
		t.Errorf("alarms %+v", got)
	}
	var k cables
	l := k.inTrouble(f, &w, now)
	notes := strings.Join(l.Notes, "\n")
	if found := len(l.Cables) == 1 && l.Cables[0].Signs[0].Kind == trouble.Symbol && l.Cables[0].Command != ""; found != (why == "") || !strings.Contains(notes, why) {
		t.Errorf("%+v, want %q", l, why)
	}
}
