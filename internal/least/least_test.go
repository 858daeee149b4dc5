package least_test

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/least"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// rowTwin tries every row of a LID: those that serve all sources that cables connect to it,
// without a forwarding loop among the entries of the old row and the new.
type rowTwin struct {
	f       *fabric.Fabric
	home    fabric.NodeID
	sources []fabric.NodeID
	old     []uint8
	next    []uint8
	fewest  int           // entries that a row changes; -1: no row serves all
	changes map[uint]bool // the switches that some row changes, as bits
}

func (w *rowTwin) try(s fabric.NodeID, changed int) {
	if int(s) == len(w.old) {
		if w.serves() {
			if w.fewest < 0 || changed < w.fewest {
				w.fewest = changed
			}
			at := uint(0)
			for s := range w.old {
				if w.old[s] != w.next[s] {
					at |= 1 << s
				}
			}
			w.changes[at] = true
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

// The least of a change is never more than what the rows need that change fewest entries, or fewest
// blocks, and mostly just that.
func TestLeast(t *testing.T) {
	lids, exact, blocked, avoided := 0, 0, 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		spec := [...]string{"random:switches=5,links=7,hosts=1", "xgft:m=3,w=2,hosts=1", "ring:5,hosts=1", "xgft:m=2x2,w=1x2,hosts=1"}[seed%4]
		f := testnet.Build(t, spec)
		was := routed.Of(t, f, [...]string{"minhop", "updn"}[seed/4%2], routing.Budget{VLs: 8})
		live, err := f.Without([]fabric.ChannelID{fabric.ChannelID(r.IntN(f.Trunks())), fabric.ChannelID(r.IntN(f.Trunks()))}[:1+seed%2], nil)
		if err != nil {
			t.Fatal(err)
		}
		old, err := transition.On(live, was, nil)
		if err != nil {
			t.Fatal(err)
		}
		bound := least.Of(old, routing.HCA)
		sum, can, written := 0, true, map[uint]bool{0: true} // switches that rows so far change: all LIDs are in one block
		for lid, owner := range live.LIDs() {
			e := live.Endpoint(owner)
			if e.Switch == fabric.None {
				continue
			}
			w := &rowTwin{f: live, home: e.Switch, old: old.Forwarding.Row(lid), fewest: -1}
			w.next, w.changes = make([]uint8, len(w.old)), map[uint]bool{}
			for s, hops := range live.Hops(e.Switch) {
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
			together := map[uint]bool{}
			for a := range written {
				for b := range w.changes {
					together[a|b] = true
				}
			}
			written = together
			for s := range w.old {
				if live.Out(fabric.NodeID(s), w.old[s]) != fabric.None && every(w.changes, 1<<s) {
					avoided++
				}
			}
		}
		if !can {
			continue
		}
		lids++
		blocks := live.Switches()
		for at := range written {
			blocks = min(blocks, bits.OnesCount(at))
		}
		switch {
		case bound.Entries > sum || bound.Blocks > blocks:
			t.Fatalf("seed %d, %s: at least %d entries in %d blocks, but %d in %d will do", seed, spec, bound.Entries, bound.Blocks, sum, blocks)
		case bound.Entries == sum:
			exact++
		}
		if bound.Blocks == blocks {
			blocked++
		}
		if (bound.Entries > 0) != (bound.Blocks > 0) {
			t.Errorf("seed %d, %s: %d entries of %d blocks", seed, spec, bound.Entries, bound.Blocks)
		}
	}
	t.Logf("%d changes, the bound exact for the entries of %d and the blocks of %d; %d entries avoid a switch", lids, exact, blocked, avoided)
	if lids < 30 || exact < lids*9/10 || blocked < lids*9/10 || avoided == 0 {
		t.Errorf("%d changes, exact for the entries of %d, the blocks of %d, %d entries avoid a switch", lids, exact, blocked, avoided)
	}
}

// every reports whether all sets have a member.
func every(sets map[uint]bool, member uint) bool {
	for s := range sets {
		if s&member == 0 {
			return false
		}
	}
	return true
}

func hasHosts(f *fabric.Fabric, s fabric.NodeID) bool {
	for _, e := range f.Attached(s) {
		if f.Endpoint(e).Class == fabric.HostAdapter {
			return true
		}
	}
	return false
}
