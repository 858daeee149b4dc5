package daemon

import (
	"bytes"
	"strings"
	"syscall"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// Tables that are routed anew replace those in use in a step where that cannot deadlock: on a
// tree, but not on a torus with balanced paths. Either is said.
func TestFull(t *testing.T) {
	t.Parallel()
	for spec, c := range map[string]struct {
		engine string
		step   bool
	}{"xgft:m=4x4,w=2x4,hosts=2": {"updn", true}, "torus:4x4,hosts=2": {"weave-any", false}} {
		o := openSM(start(t, Config{Engine: Names{c.engine}, Keep: "never"}))
		f := testnet.Build(t, spec)
		o.settles(f)
		whole := o.ports
		steps := o.settles(less(t, f, []fabric.ChannelID{0}))
		for _, a := range steps {
			if a.Step != c.step {
				t.Errorf("%s: a step: %v", spec, a.Step)
			}
		}
		n := differences(o.ports, whole)
		s := o.after(1 + int64(len(steps)))
		if l := s.Last.Change; l == nil || l.Kind != "full" || l.Proven != c.step || c.step && (s.Plan.Entries < n || s.Plan.Ended == nil || len(steps) != 2) {
			t.Errorf("%s: %+v, %+v; %d steps, %d entries", spec, l, s.Plan, len(steps), n)
		}
		// What is in use is not known to be free of loops under another contract.
		o.mu.Lock()
		o.config.Contract = "honored"
		o.mu.Unlock()
		o.reload <- syscall.SIGHUP
		o.until(func(s result.Status) bool { return s.Contract == "honored" })
		if a := o.asks(f, false); a.Step || a.Refusal != "" {
			t.Errorf("%s: %q, a step: %v", spec, a.Refusal, a.Step)
		}
	}
}

// With drops: allowed, tables that are routed anew are proven on a torus, too: packets of some
// destinations are dropped for a step.
func TestFullWithDrops(t *testing.T) {
	t.Parallel()
	o := openSM(start(t, Config{Engine: Names{"weave-any"}, Keep: "never", Drops: "allowed"}))
	f := testnet.Build(t, "torus:4x4,hosts=2")
	o.settles(f)
	steps := o.settles(less(t, f, []fabric.ChannelID{0}))
	if len(steps) != 2 || !steps[0].Step || !steps[0].Drops || !steps[1].Step || steps[1].Drops {
		t.Errorf("%d steps", len(steps))
	}
	s := o.after(3)
	if l := s.Last.Change; l == nil || l.Kind != "full" || !l.Proven || l.CutAfter != 0 || s.Plan.CutNow != 0 || s.Plan.Ended == nil {
		t.Errorf("%+v, %+v", l, s.Plan)
	}
	if a := o.asks(less(t, f, []fabric.ChannelID{0}), false); a.Step || a.SoFar || !o.until(func(s result.Status) bool { return s.Sweeps == 4 }).Last.Cached {
		t.Error("it is routed once more")
	}
	if !strings.Contains(o.log.String(), "change=full") || strings.Contains(o.log.String(), "proven_meanwhile=false") {
		t.Errorf("%s", o.log)
	}
}

// With keep: never and a sweep, tables that were mended are routed anew.
func TestNeverAfterLeast(t *testing.T) {
	t.Parallel()
	o := openSM(start(t, Config{Engine: Names{"updn"}}))
	f := less(t, testnet.Build(t, "xgft:m=4x4,w=2x4,hosts=2"), []fabric.ChannelID{0})
	o.settles(testnet.Build(t, "xgft:m=4x4,w=2x4,hosts=2"))
	o.settles(f)
	mended := o.ports
	o.mu.Lock()
	o.config.Keep = "never"
	o.mu.Unlock()
	o.reload <- syscall.SIGHUP
	o.until(func(s result.Status) bool { return s.Keep == "never" })
	if steps := o.settles(f); !steps[0].Step || bytes.Equal(o.ports, mended) {
		t.Error("they are kept")
	}
	o.until(func(result.Status) bool {
		return strings.Contains(o.log.String(), `not_kept="the settings say keep: never"`)
	})
}

// After a restart between the two steps the second follows.
func TestFullThroughRestart(t *testing.T) {
	t.Parallel()
	c := Config{Engine: Names{"weave-any"}, Keep: "never", Drops: "allowed", State: stateDir(t)}
	f := testnet.Build(t, "torus:4x4,hosts=2")
	o := openSM(start(t, c))
	o.settles(f)
	g := less(t, f, []fabric.ChannelID{0})
	if a := o.asks(g, false); !a.Drops || a.More != 1 {
		t.Fatalf("drops: %v, %d steps follow", a.Drops, a.More)
	}
	o.after(2)
	o.end()
	o.running = start(t, c)
	a := o.asks(g, true)
	scratch := openSM(start(t, Config{Engine: Names{"weave-any"}}))
	if want := scratch.asks(g, false); !a.Step || a.Drops || a.SoFar || a.Number != want.Number {
		t.Errorf("a step: %v, drops: %v, number %x, from scratch %x\n%s", a.Step, a.Drops, a.Number, want.Number, o.log)
	}
}

// Clients go on with the service levels that they know. Where packets on these could close a
// loop on the new paths, no packets are dropped for a change that would not be proven.
func TestNoUseInDrops(t *testing.T) {
	t.Parallel()
	o := openSM(start(t, Config{Engine: Names{"dfsssp"}, Contract: "directed", Keep: "never", Drops: "allowed"}))
	f := testnet.Build(t, "torus:4x4,hosts=2")
	o.settles(f)
	if a := o.asks(less(t, f, []fabric.ChannelID{0}), false); a.Step || a.Drops || a.Refusal != "" {
		t.Errorf("%q, a step: %v, drops: %v", a.Refusal, a.Step, a.Drops)
	}
	if l := o.after(2).Last.Change; l == nil || l.Kind != "full" || l.Proven {
		t.Errorf("%+v", l)
	}
}
