package transition_test

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/transition"
)

// rowTwin tries every row of a LID: those that serve all sources that cables connect to it,
// without a forwarding loop among the entries of the old row and the new.
type rowTwin struct {
	f       *fabric.Fabric
	home    fabric.NodeID
	sources []fabric.NodeID
	old     []uint8
	next    []uint8
	fewest  int    // entries that a row changes; -1: no row serves all
	always  []bool // [switch] every row changes it
}

func (w *rowTwin) try(s fabric.NodeID, changed int) {
	if int(s) == len(w.old) {
		if w.serves() {
			if w.fewest < 0 || changed < w.fewest {
				w.fewest = changed
			}
			for s := range w.always {
				w.always[s] = w.always[s] && w.old[s] != w.next[s]
			}
		}
		return
	}
	w.next[s] = w.old[s]
	w.try(s+1, changed)
	if s == w.home {
		return
	}
	for c, end := w.f.TrunksFrom(s); c < end; c++ {
		if p := w.f.Channel(c).FromPort; p != w.old[s] {
			w.next[s] = p
			w.try(s+1, changed+1)
		}
	}
}

func (w *rowTwin) serves() bool {
	for _, s := range w.sources {
		if !w.arrives(s) || w.circles(s, make([]bool, len(w.old))) {
			return false
		}
	}
	return true
}

func (w *rowTwin) arrives(s fabric.NodeID) bool {
	for range w.old {
		if s == w.home {
			return true
		}
		if s = w.to(s, w.next); s == fabric.None {
			return false
		}
	}
	return s == w.home
}

// circles follows old and new entries from a switch in every mixture.
func (w *rowTwin) circles(s fabric.NodeID, on []bool) bool {
	if s == fabric.None || s == w.home {
		return false
	}
	if on[s] {
		return true
	}
	on[s] = true
	defer func() { on[s] = false }()
	return w.circles(w.to(s, w.old), on) || w.circles(w.to(s, w.next), on)
}

func (w *rowTwin) to(s fabric.NodeID, row []uint8) fabric.NodeID {
	if c := w.f.Out(s, row[s]); c != fabric.None && int(c) < w.f.Trunks() {
		return w.f.Channel(c).To
	}
	return fabric.None
}

// The least of a change is never more than what some row needs, and mostly just that; and
// the blocks that it counts are changed by every row.
func TestLeast(t *testing.T) {
	lids, exact, avoided, few := 0, 0, 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		spec := [...]string{"random:switches=5,links=7,hosts=1", "xgft:m=3,w=2,hosts=1", "ring:5,hosts=1", "xgft:m=2x2,w=1x2,hosts=1"}[seed%4]
		f := testnet.Build(t, spec)
		was := route(t, f, [...]string{"minhop", "updn"}[seed/4%2])
		live := withoutCables(t, f, 1+int(seed%2), r)
		old, err := transition.On(live, was, nil)
		if err != nil {
			t.Fatal(err)
		}
		least := transition.LeastOf(old, routing.HCA)
		sum, blocks, can := 0, 0, true
		for lid, owner := range live.LIDs() {
			e := live.Endpoint(owner)
			if e.Switch == fabric.None {
				continue
			}
			w := &rowTwin{f: live, home: e.Switch, old: old.Forwarding.Row(lid), fewest: -1}
			w.next, w.always = make([]uint8, len(w.old)), make([]bool, len(w.old))
			for s, hops := range live.Hops(e.Switch) {
				w.always[s] = true
				if hops >= 0 && hasHosts(live, fabric.NodeID(s)) {
					w.sources = append(w.sources, fabric.NodeID(s))
				}
			}
			w.try(0, 0)
			if w.fewest < 0 {
				can = false
				break
			}
			sum += w.fewest
			for s, always := range w.always {
				if always && hasHosts(live, fabric.NodeID(s)) {
					blocks++
					if live.Out(fabric.NodeID(s), w.old[s]) != fabric.None {
						avoided++
					}
				}
			}
		}
		if !can {
			continue
		}
		lids++
		switch {
		case least.Entries > sum || least.Blocks > blocks:
			t.Fatalf("seed %d, %s: at least %d entries in %d blocks, but %d in %d will do", seed, spec, least.Entries, least.Blocks, sum, blocks)
		case least.Entries == sum:
			exact++
		}
		if blocks > 0 && least.Blocks == 0 {
			few++
		}
	}
	t.Logf("%d changes, the bound exact for %d; %d entries avoid a switch", lids, exact, avoided)
	if lids < 30 || exact < lids*9/10 || avoided == 0 || few > 0 {
		t.Errorf("%d changes, exact for %d, %d entries avoid a switch, no block found for %d", lids, exact, avoided, few)
	}
}

func hasHosts(f *fabric.Fabric, s fabric.NodeID) bool {
	for _, e := range f.Attached(s) {
		if f.Endpoint(e).Class == fabric.HostAdapter {
			return true
		}
	}
	return false
}
