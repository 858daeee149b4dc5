package installed_test

import (
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/installed"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// A subnet manager that is started anew between two steps of a repair gets tables that connect all
// pairs, and every mixture of them with what the switches may have is free of loops unless End says
// that it left steps out: which it does only if the switches have a part of a step that cuts pairs.
// Where OpenSM says that they are filled it never does.
func TestEndBetweenSteps(t *testing.T) {
	for _, n := range []struct{ spec, engine string }{
		{"xgft:m=4x4,w=2x4,hosts=2", "updn"}, {"fattree:ports=6,levels=3", "updn"}, {"torus:4x4,hosts=2", "weave-any"}, {"torus:5x5,hosts=1", "weave-any"},
	} {
		f := testnet.Build(t, n.spec)
		between, proven, cut := [2]int{}, [2]int{}, 0 // [whether the switches have all of the step]
		for i := 0; i < f.Trunks(); i += 1 + f.Trunks()/25 {
			s := begin(t, f, n.engine, routing.Any)
			live := without(t, f, []fabric.ChannelID{fabric.ChannelID(i)})
			was, err := transition.On(live, s.Sent, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := s.Next(t.Context(), live, s.o)
			if err != nil {
				t.Fatal(err)
			}
			for len(m.Plan.Steps) > 0 {
				had := was
				s.Sent, s.Plan, s.Returning = m.Tables, m.Plan, m.Returning
				for all, may := range [][]*routing.Tables{{had, m.Tables}, {m.Tables}} {
					s.Confirmed = nil
					if all == 0 {
						s.Confirmed = had
					}
					now, jumped, err := s.End(t.Context(), live, s.o, false)
					if err != nil || now.CutAfter != 0 || !now.Alone.Complete() {
						t.Fatalf("%s, trunk %d: %v, %+v", n.spec, i, err, now)
					}
					v, err := deadlock.VerifyMixture(t.Context(), append(may, now.Tables), deadlock.Options{Contract: s.o.Contract, Lost: -1})
					if err != nil || v.Free() == jumped {
						t.Errorf("%s, trunk %d: every mixture is free of loops: %v (%v); steps were left out: %v", n.spec, i, v.Free(), err, jumped)
					}
					if jumped && (all == 1 || m.CutAfter == 0) {
						t.Errorf("%s, trunk %d: steps are left out, the switches have all of a step: %v, which cuts %d", n.spec, i, all == 1, m.CutAfter)
					}
					if between[all]++; !jumped {
						proven[all]++
					}
					if now, jumped, err = s.End(t.Context(), live, s.o, true); err != nil || jumped || now.CutAfter > 0 && now.More == 0 || now.CutAfter > now.CutBefore {
						t.Fatalf("%s, trunk %d, switches that are filled: %v, steps were left out: %v, %+v", n.spec, i, err, jumped, now)
					}
					v, err = deadlock.VerifyMixture(t.Context(), append(may, now.Tables), deadlock.Options{Contract: s.o.Contract, Lost: -1})
					if err != nil || !v.Free() {
						t.Errorf("%s, trunk %d: a mixture has a loop (%v)", n.spec, i, err)
					}
					if now.CutAfter > 0 {
						cut++
					}
				}
				s.Confirmed, was = nil, m.Tables
				if m, err = s.Next(t.Context(), live, s.o); err != nil {
					t.Fatal(err)
				}
			}
		}
		t.Logf("%s: %d of %d proven where the switches have a part of a step, %d of %d where they have all of it; %d by tables that leave pairs cut", n.spec, proven[0], between[0], proven[1], between[1], cut)
		if between[0] == 0 || proven[1] != between[1] || cut != between[0]-proven[0] {
			t.Errorf("%s: %v, %v, %d", n.spec, between, proven, cut)
		}
	}
}

// The same with the fault found at the first sweep: on a tree the first step is proven, and others
// follow.
func TestEndOfTreeIsProven(t *testing.T) {
	f := testnet.Build(t, "xgft:m=4x4,w=2x4,hosts=2")
	for i := range f.Trunks() {
		s := begin(t, f, "updn", routing.Any)
		live := without(t, f, []fabric.ChannelID{fabric.ChannelID(i)})
		m, jumped, err := s.End(t.Context(), live, s.o, false)
		if err != nil || jumped || m.More == 0 || m.Kind != installed.Repair {
			t.Fatalf("trunk %d: %v; steps were left out: %v, %+v", i, err, jumped, m)
		}
	}
}

// What was handed over last did not go with what the switches have: then no proof covers the time
// until it is written, and the plan goes on from it all the same.
func TestEndAfterAJump(t *testing.T) {
	f := testnet.Build(t, "ring:n=6,hosts=1")
	s := begin(t, f, "updn", routing.Any)
	s.Confirmed = begin(t, f, "minhop", routing.Directed).Sent
	m, jumped, err := s.End(t.Context(), f, s.o, false)
	if err != nil || !jumped || m.Kind != installed.Same {
		t.Fatalf("%v, %v, %+v", err, jumped, m)
	}
	s.same(m.Tables)
}
