package daemon

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/installed"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// A clock that is set, as at a start, does not make a disk that works one that hangs, nor the other
// way round: what is kept goes by the clock that is never set.
func TestDiskIsTimedWhateverTheClock(t *testing.T) {
	var k keeper
	k.diskBegins()
	if began := k.disk.Load(); began == nil || !strings.Contains(began.String(), " m=") {
		t.Errorf("%v is by the clock that can be set", began)
	}
	k.diskEnds()
	if k.disk.Load() != nil {
		t.Error("it goes on")
	}
}

// After the clock was set back, the refusal written last is still there.
func TestRefusalsAfterTheClockWasSetBack(t *testing.T) {
	dir := stateDir(t)
	s, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for i := range keptRefusals {
		if err := s.refusal(&result.StatusSweep{At: now.Add(time.Duration(i) * time.Second)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.refusal(&result.StatusSweep{At: now.Add(-time.Hour)}); err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadDir(filepath.Join(dir, refusals))
	if err != nil || len(all) != keptRefusals || !strings.HasPrefix(all[0].Name(), "20260701T110000") {
		t.Errorf("%d are kept, the first %v, %v", len(all), all[0], err)
	}
}

// The hours for rebalancing begin within a minute when the clock is set to them, though they were
// most of a day away, and do not begin where it is set back before them.
func TestHoursWhenTheClockIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		day := time.Date(2026, 7, 1, 5, 0, 0, 0, time.UTC) // they are just over
		var at atomic.Pointer[time.Time]
		at.Store(&day)
		s := &Server{clock: func() time.Time { return *at.Load() }}
		set := &settings{hours: hours{2 * time.Hour, 5 * time.Hour}}
		begun := time.Now()
		go func() {
			time.Sleep(90 * time.Second)
			at.Store(new(day.AddDate(5, 0, 0).Add(-time.Hour)))
		}()
		x := &place{lost: make(chan struct{})}
		if !s.hoursCome(t.Context(), x, set, &wire.Request{}, begun) || time.Since(begun) > 2*time.Minute {
			t.Errorf("they came after %v", time.Since(begun))
		}
		at.Store(new(day.Add(-4 * time.Hour))) // 01:00
		begun = time.Now()
		go func() {
			time.Sleep(59 * time.Minute)
			at.Store(new(day.Add(-6 * time.Hour))) // back by two hours, a minute before they begin
		}()
		if s.hoursCome(t.Context(), x, set, &wire.Request{Deadline: 2 * time.Hour}, begun) || time.Since(begun) != 108*time.Minute {
			t.Errorf("they came, or it was waited, for %v", time.Since(begun))
		}
	})
}

// How long pairs were cut goes by the clock that is never set.
func TestPlanIsTimedWhateverTheClock(t *testing.T) {
	for _, set := range []time.Duration{-time.Hour, 5 * 365 * 24 * time.Hour} {
		p := (*progress)(nil).next(&installed.Move{Kind: installed.Repair, CutBefore: 2, CutAfter: 1, More: 1}, time.Now(), 0)
		p.Began = p.Began.Add(-set)
		if p = p.next(&installed.Move{Kind: installed.Repair, CutBefore: 1}, time.Now(), 0); p.CutFor < 0 || p.CutFor > 600 {
			t.Errorf("the clock set by %v: cut for %v s", set, p.CutFor)
		}
		earlier := progress{Progress: result.Progress{Kind: "repair", Began: time.Now().Add(time.Hour), CutFor: 3}} // of a run before the clock was set back
		if now := earlier.next(&installed.Move{Kind: installed.Repair, CutBefore: 1}, time.Now(), 0); now.CutFor < 3 || now.CutFor > 600 {
			t.Errorf("after a restart: cut for %v s", now.CutFor)
		}
	}
}

// After a restart packets of earlier tables may be about, however long ago the clock says that they
// were replaced: it may have been set forward; and they end where it was set back.
func TestEarlierPacketsWhateverTheClock(t *testing.T) {
	f := testnet.Build(t, "ring:n=4")
	r, err := weft.Route(t.Context(), f, weft.Request{Engine: "updn"})
	if err != nil {
		t.Fatal(err)
	}
	tables := r.Tables
	for _, at := range []time.Duration{-5 * 365 * 24 * time.Hour, time.Hour} {
		h := &handed{proven: &proven{tables: tables}, number: wire.Number(tables), state: installed.State{Sent: tables, Goal: tables}, since: since{at: time.Now().Add(at)}}
		var b bytes.Buffer
		if err := h.snapshot(&b); err != nil {
			t.Fatal(err)
		}
		got, _, err := readSnapshot(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		got.since.earlier = tables
		if got.lingering(&wire.Request{}) == nil {
			t.Errorf("written at %v from now: their packets are gone at once", at)
		}
		got.since.at = got.since.at.Add(-time.Hour)
		if got.lingering(&wire.Request{}) != nil {
			t.Errorf("written at %v from now: their packets are about for an hour", at)
		}
	}
}

// What is put aside after the clock was set back is there, and not the first to make room.
func TestAsideAfterTheClockWasSetBack(t *testing.T) {
	s, err := openState(stateDir(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for i := range keptAside {
		if _, err := s.putAside(&aside{at: now.Add(time.Duration(i) * time.Second), why: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := s.putAside(&aside{at: now.Add(-time.Hour), why: "x"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := fs.ReadDir(s.root.FS(), asideFolder)
	if err != nil || len(all) != keptAside || all[0].Name() != filepath.Base(dir) {
		t.Errorf("%v are there, %v", all, err)
	}
}

// A clock that is set at every look, back by an hour or forward by five years, neither begins to
// rebalance outside of the hours nor ends it half way: once begun all steps follow, whatever time it
// is, and what is said of times stays true.
func TestBalancedWhileTheClockIsSet(t *testing.T) {
	testnet.OnlyWhole(t)
	t.Parallel()
	day := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	var looks []time.Duration // of the day, one after the other; the last stays
	r := newRunning(t, Config{Engine: Names{"updn"}, Keep: "balanced", Rebalance: "02:00-05:00", MaxEntries: 8, State: stateDir(t)})
	r.dir = r.socketDir()
	r.config.Socket = filepath.Join(r.dir, "s")
	r.clock = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now := looks[0]
		if len(looks) > 1 {
			looks = looks[1:]
		}
		return day.Add(now)
	}
	r.run()
	o := openSM(r)
	f := testnet.Build(t, "torus:4x4,hosts=2")
	const years = 5 * 365 * 24 * time.Hour
	set := func(times ...time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		looks = times
	}
	set(0)
	o.settles(f)
	rebalanced := 0
	for _, c := range []fabric.ChannelID{0, 21, 33, 46} {
		g := less(t, f, []fabric.ChannelID{c})
		set(time.Hour, 5*time.Hour, years+6*time.Hour, -time.Hour, years+time.Hour)
		for again := false; o.asks(g, again).More > 0; again = true { // the repair
		}
		q := o.question(g, true)
		q.Deadline = 200 * time.Millisecond
		before := o.ports
		if a := o.ask(q); a.Refusal == "" && (!bytes.Equal(a.OutPorts, before) || a.More > 0) {
			t.Errorf("it rebalances out of hours")
		}
		set(3*time.Hour, years-time.Hour, time.Hour, years+12*time.Hour, -24*time.Hour)
		steps := 0
		for {
			a := o.asks(g, true)
			if a.Refusal != "" {
				break
			}
			if steps++; !a.Step {
				t.Error("it is no step")
			}
			if !a.SoFar {
				break
			}
		}
		if steps > 1 {
			rebalanced++
			p := o.until(func(s result.Status) bool { return s.Plan != nil && s.Plan.Kind == "return" && s.Plan.Ended != nil }).Plan
			if p.CutFor < 0 || p.CutFor > 600 || time.Since(p.Began) > time.Hour || p.Steps < steps {
				t.Errorf("%+v", p)
			}
		}
		set(3 * time.Hour)
		for a := o.asks(f, false); a.SoFar && a.Refusal == ""; { // back
			a = o.asks(f, true)
		}
	}
	if t.Logf("%d rebalanced in several steps", rebalanced); rebalanced == 0 {
		t.Errorf("none\n%s", o.log)
	}
}
