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

// check says what is wrong with what a way keeps of its new tables, by reading them anew.
func (w *way) check(t *testing.T) {
	t.Helper()
	u, err := w.countUsers(t.Context(), w.Tables.Forwarding)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(u.counts(), w.count) {
		t.Fatal("the destinations of some dependency are not those of the tables")
	}
	if acyclic.NewLanes(w.f, w.flow.lanes, u.each) == nil {
		t.Fatal("the tables have a credit loop")
	}
	for in := range fabric.ChannelID(w.f.Trunks()) {
		first, end := w.f.TrunksFrom(w.f.Heads()[in])
		for out := first; out < end; out++ {
			for a := range u.lanes {
				for b := range u.lanes {
					d := acyclic.Dependency{In: in*u.lanes + a, Out: out*u.lanes + b}
					if n := u.number(d); w.graph.Has(d.In, d.Out) != (w.count[n] > 0) {
						t.Fatalf("%v is in the graph: %v; caused by %d", d, w.graph.Has(d.In, d.Out), w.count[n])
					}
				}
			}
		}
	}
}

// Where others make way, what is kept of the new tables is as they are, no destination that
// had paths loses any, and all of it can be taken back.
func TestMakeWay(t *testing.T) {
	left, placed, moved, together := 0, 0, 0, 0
	for _, spec := range []string{"random:switches=64,links=128,hosts=2,seed=1", "random:switches=100,links=180,hosts=1,seed=1", "mesh:4x4,hosts=2"} {
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
			p, sh := &Plan{}, newShared(before, was, o)
			if err := p.mend(t.Context(), sh, before, o.Steps); err != nil {
				t.Fatal(err)
			}
			if len(p.Left) == 0 {
				continue
			}
			w, err := newWay(t.Context(), sh, p.end(before), wayDepths[0], wayWork)
			if err != nil {
				t.Fatal(err)
			}
			w.check(t)
			left += len(p.Left)
			for i, l := range p.Left {
				if w.placed(l.LID, 0, true, nobody, everybody) {
					placed++
				}
				if i%4 == 0 {
					w.check(t)
				}
			}
			moved += w.lost(t, p.Left)
			w.undo(0)
			w.check(t)
			if err := w.placeAll(t.Context(), p.Left); err != nil {
				t.Fatal(err)
			}
			together += len(p.Left) - w.unreached(p.Left)
			w.undo(0)
			for lid := range live.LIDs() {
				if !slices.Equal(w.Tables.Forwarding.Row(lid), w.before.Forwarding.Row(lid)) {
					t.Fatalf("%s: the row of LID %d is not as before", spec, lid)
				}
			}
		}
	}
	if 100*placed < 99*left || left < 50 || moved < 50 {
		t.Errorf("%d of %d destinations found a place, %d made way", placed, left, moved)
	}
	if together < placed {
		t.Errorf("%d destinations found a place by themselves, %d with their twins", placed, together)
	}
}

// unreached counts those of some destinations that have no path from somewhere.
func (w *way) unreached(left []Left) (n int) {
	m := newMender(w.step)
	for _, l := range left {
		m.flow.begin(w.Tables.Forwarding.Row(l.LID), l.LID)
		m.markWhole()
		if m.measure(); m.missing(l.LID) != nil {
			n++
		}
	}
	return n
}

// lost fails if a destination that is not left has no path from somewhere, and counts those
// that made way.
func (w *way) lost(t *testing.T, left []Left) (moved int) {
	t.Helper()
	m := newMender(w.step)
	for lid := range w.f.LIDs() {
		row := w.Tables.Forwarding.Row(lid)
		if anyOf(left, lid) || slices.Equal(row, w.before.Forwarding.Row(lid)) {
			continue
		}
		moved++
		m.flow.begin(row, lid)
		m.markWhole()
		if m.measure(); m.missing(lid) != nil {
			t.Errorf("LID %d made way and is not reached from everywhere", lid)
		}
	}
	return moved
}
