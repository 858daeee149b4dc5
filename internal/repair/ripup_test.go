package repair

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/weave"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// check says what is wrong with what is kept of the new tables, by reading them anew.
func (r *ripUp) check(t *testing.T) {
	t.Helper()
	a := r.base
	u, err := a.countUsers(t.Context(), a.step.Tables.Forwarding)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(u.counts(), r.ledger.count) {
		t.Fatal("the destinations of some dependency are not those of the tables")
	}
	if acyclic.NewLanes(a.f, a.problem.sources.Lanes, u.each) == nil {
		t.Fatal("the tables have a credit loop")
	}
	n := 0
	u.numbers.Each(func(int) bool { return true }, func(in, out fabric.ChannelID) {
		if a.graph.Has(in, out) != (r.ledger.count[n] > 0) {
			t.Fatalf("%d on %d is in the graph: %v; caused by %d", in, out, a.graph.Has(in, out), r.ledger.count[n])
		}
		n++
	})
}

// Where others make way, what is kept of the new tables is as they are, no destination that
// had paths loses any, and all of it can be taken back.
func TestRipUp(t *testing.T) {
	left, routed, moved, together := 0, 0, 0, 0
	for _, spec := range testnet.First([]string{"random:switches=64,links=128,hosts=2,seed=1", "random:switches=100,links=180,hosts=1,seed=1", "mesh:4x4,hosts=2"}, 1) {
		f := testnet.Build(t, spec)
		was, err := weave.Any{Paths: []routing.PathFinder{minhop.Finder{}}}.Route(t.Context(), f, routing.Budget{VLs: 8}, nil)
		if err != nil {
			t.Fatal(err)
		}
		sameOnSwitch(f, was.Forwarding) // so that many have twins
		o := Options{Contract: routing.Any, Slack: defaultSlack, Steps: defaultSteps}
		for c := fabric.ChannelID(0); int(c) < f.Trunks(); c += 5 {
			live, err := f.Without([]fabric.ChannelID{c}, nil)
			if err != nil {
				t.Fatal(err)
			}
			before, err := transition.On(live, was, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, in := &Plan{}, newProblem(before, was, o)
			if err := p.mend(t.Context(), in, before, o.Steps); err != nil {
				t.Fatal(err)
			}
			if len(p.Left) == 0 {
				continue
			}
			r, err := newRipUp(t.Context(), in, p.end(before), ripUpDepths[0], ripUpWork)
			if err != nil {
				t.Fatal(err)
			}
			r.check(t)
			left += len(p.Left)
			for i, l := range p.Left {
				if r.reroute(l.LID, 0, true, nothing, everything) {
					routed++
				}
				if i%4 == 0 {
					r.check(t)
				}
			}
			moved += r.lost(t, p.Left)
			r.ledger.rollback(ledgerCheckpoint{})
			r.check(t)
			if err := r.routeAll(t.Context(), p.Left); err != nil {
				t.Fatal(err)
			}
			together += len(p.Left) - r.unreached(p.Left)
			r.ledger.rollback(ledgerCheckpoint{})
			for lid := range live.LIDs() {
				if !slices.Equal(r.base.row(lid), r.base.old(lid)) {
					t.Fatalf("%s: the row of LID %d is not as before", spec, lid)
				}
			}
		}
	}
	if 100*routed < 99*left || left < 50 || moved < 50 {
		t.Errorf("%d of %d destinations found a row, %d made way", routed, left, moved)
	}
	if together < routed {
		t.Errorf("%d destinations found a row by themselves, %d with their twins", routed, together)
	}
}

// unreached counts those of some destinations that have no path from somewhere.
func (r *ripUp) unreached(left []Left) (n int) {
	for _, l := range left {
		if r.missing(l.LID) {
			n++
		}
	}
	return n
}

// missing reports whether there is no path to a destination from somewhere.
func (r *ripUp) missing(lid fabric.LID) bool {
	a := r.base.fork()
	a.packets.Begin(a.row(lid), lid)
	a.markWhole()
	a.measure()
	return a.missing() != nil
}

// lost fails if a destination that is not left has no path from somewhere, and counts those
// that made way.
func (r *ripUp) lost(t *testing.T, left []Left) (moved int) {
	t.Helper()
	for lid := range r.base.f.LIDs() {
		if anyOf(left, lid) || slices.Equal(r.base.row(lid), r.base.old(lid)) {
			continue
		}
		moved++
		if r.missing(lid) {
			t.Errorf("LID %d made way and is not reached from everywhere", lid)
		}
	}
	return moved
}
