package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// spoilt is a daemon with an OpenSM whose tables in use the daemon remembers otherwise than a
// program without errors would.
func spoilt(t *testing.T, change func(h *handed)) (o *opensm, f *fabric.Fabric) {
	t.Helper()
	o = openSM(start(t, Config{Engine: Names{"updn"}, State: stateDir(t), Metrics: "127.0.0.1:0"}))
	f = testnet.Build(t, "torus:3x3,hosts=1")
	o.settles(f)
	o.after(1)
	o.keeper.mu.Lock()
	defer o.keeper.mu.Unlock()
	h := *o.keeper.list[len(o.keeper.list)-1]
	change(&h)
	o.keeper.list[len(o.keeper.list)-1] = &h
	return o, f
}

// What leads to an internal error is put aside, and the question that came upon it is answered: all
// is routed anew, and no further question comes upon it, nor does a daemon that is started anew.
func TestInternalErrorOnce(t *testing.T) {
	t.Parallel()
	o, f := spoilt(t, func(h *handed) { h.state.Sent = &routing.Tables{} })
	a := o.asks(less(t, f, []fabric.ChannelID{0}), false)
	if a.Refusal != "" || a.Step {
		t.Fatalf("%q, a step: %v\n%s", a.Refusal, a.Step, o.log)
	}
	if _, why := o.keeper.inUse(&wire.Request{InUse: 12345}, ""); strings.Contains(why, "internal error") {
		t.Errorf("of other tables that are not known it says %q", why)
	}
	o.settles(f)
	s := o.until(func(s result.Status) bool { return s.StateAside != "" })
	dir := filepath.Join(o.config.State, s.StateAside)
	why, err := os.ReadFile(filepath.Join(dir, whyName))
	if err != nil || !strings.Contains(string(why), "internal error") || !strings.Contains(string(why), ".go:") || !strings.Contains(s.StateWhy, "internal error") || strings.Contains(s.StateWhy, "\n") {
		t.Errorf("%v, %q: %s", err, s.StateWhy, why)
	}
	in, err := os.Open(filepath.Join(dir, questionName))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if q, err := wire.ReadRequest(in); err != nil || q.InUse == 0 {
		t.Errorf("the question: %v, %+v", err, q)
	}
	if got := names(t, dir); len(got) != 3 || !snapshotName.MatchString(got[0]) {
		t.Errorf("%q", got)
	}
	text := o.metricsText()
	if !strings.Contains(text, "\nweft_internal_errors_total 1\n") || !strings.Contains(text, "\nweft_state_put_aside_total 1\n") {
		t.Error(text)
	}
	if log := o.log.String(); strings.Count(log, `msg="internal error"`) != 1 || !strings.Contains(log, "put aside") || !strings.Contains(log, "led to an internal error") {
		t.Error(log)
	}
	c := o.config
	o.end()
	o.running = start(t, c)
	if a := o.asks(f, false); a.Refusal != "" || strings.Contains(o.log.String(), "internal error") {
		t.Errorf("%q\n%s", a.Refusal, o.log)
	}
}

// Tables that are said to have trees for multicast and have none lead to no error: all is routed
// anew, with the reason.
func TestNoTreeInUse(t *testing.T) {
	t.Parallel()
	o, f := spoilt(t, func(h *handed) {
		bare := *h.tables
		bare.Multicast = &routing.Multicast{SLs: 1}
		h.state.Sent = &bare
	})
	if a := o.asks(less(t, f, []fabric.ChannelID{0}), false); a.Refusal != "" {
		t.Errorf("%q", a.Refusal)
	}
	o.until(func(s result.Status) bool { return s.Sweeps == 2 })
	if log := o.log.String(); strings.Contains(log, "internal error") || !strings.Contains(log, "0 trees for multicast") {
		t.Error(log)
	}
}

// An error that has nothing to do with what is remembered is a refusal, and what is remembered stays.
func TestInternalErrorOfAnother(t *testing.T) {
	t.Parallel()
	o, f := spoilt(t, func(*handed) {})
	jobs, cable := o.jobs, less(t, f, []fabric.ChannelID{0})
	o.jobs = nil
	o.mu.Lock()
	o.Server.settings.keep = keepNever // so that the jobs are asked
	o.mu.Unlock()
	a := o.ask(o.question(cable, false))
	if !strings.Contains(a.Refusal, "internal error") || !strings.Contains(a.Refusal, "report it") || strings.Contains(a.Refusal, "\n") {
		t.Errorf("%q", a.Refusal)
	}
	o.jobs = jobs
	o.mu.Lock()
	o.Server.settings.keep = keepLeast
	o.mu.Unlock()
	if a := o.asks(cable, false); !a.Step {
		t.Errorf("%q; what was in use is forgotten\n%s", a.Refusal, o.log)
	}
	if s := o.until(func(s result.Status) bool { return s.Sweeps == 3 }); s.StateAside != "" {
		t.Errorf("%+v", s.StateFolder)
	}
}

// Nor does an error repeat while a sweep is reported.
func TestInternalErrorInReport(t *testing.T) {
	t.Parallel()
	o, f := spoilt(t, func(*handed) {})
	o.last = &routing.Tables{}
	cable := less(t, f, []fabric.ChannelID{0})
	o.asks(cable, false)
	o.until(func(s result.Status) bool { return s.StateAside != "" })
	o.settles(f)
	o.settles(cable)
	if log := o.log.String(); strings.Count(log, `msg="internal error"`) != 1 {
		t.Error(log)
	}
}

// Tables that cannot be written are not tried for ever, and others are written.
func TestInternalErrorInWriter(t *testing.T) {
	t.Parallel()
	o, f := spoilt(t, func(*handed) {})
	o.writer.tables(&result.StatusSweep{}, &handed{proven: &proven{}}, nil)
	o.until(func(s result.Status) bool { return strings.Contains(s.StateError, "internal error") })
	o.settles(less(t, f, []fabric.ChannelID{0}))
	if s := o.until(func(s result.Status) bool { return s.StateError == "" && s.StateWaiting == 0 }); s.StateAside != "" {
		t.Errorf("%+v", s.StateFolder)
	}
}

// Of what was put aside the last five stay.
func TestAsideIsBounded(t *testing.T) {
	t.Parallel()
	o, _ := spoilt(t, func(*handed) {})
	for i := range 9 {
		o.writer.putAside(&aside{why: strings.Repeat("x", i+1)})
	}
	s := o.until(func(s result.Status) bool { return s.StateWhy == strings.Repeat("x", 9) })
	got := names(t, filepath.Join(o.config.State, asideFolder))
	if len(got) != keptAside || filepath.Join(asideFolder, got[keptAside-1]) != s.StateAside {
		t.Errorf("%q, the last %s", got, s.StateAside)
	}
}
