package repair_test

import (
	"os"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/internal/engine/weave"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Where the first step of a plan does not reach all, hardly any step could reach more: after ten
// of twelve such cables none does.
//
// Suppose that some step reaches a LID from a switch, and look at the new path, which is simple.
// Where a switch on it has a new entry, everything that may arrive there goes on by it, and from
// there by old entries and by new ones. These dependencies are part of the union, whatever else
// the step changes. So if they have a cycle with those of the tables in force for every simple
// path, no step reaches the LID from there. The search goes through them all.
func TestNoStepReachesMore(t *testing.T) {
	testnet.OnlyWhole(t)
	was, contract := route(t, testnet.Build(t, planes), "weave-any")
	if lane, uniform := was.Lanes.SL2VL.Uniform(); !uniform || lane[0] != 0 {
		t.Fatal("the search knows one lane only")
	}
	short, more, pairs := 0, 0, 0 // cables after which the first step does not reach all, but another would reach more; pairs that none reaches
	eachCable(t, was, func(cable string, before *routing.Tables) {
		plan, err := repair.Mend(t.Context(), before, was, repair.Options{Contract: contract})
		if err != nil || len(plan.Steps) == 0 {
			t.Fatalf("%s: %v, %d steps", cable, err, len(plan.Steps))
		}
		f, one := before.Fabric, newOneStep(before)
		missed, reachable := 0, 0
		for lid, owner := range routing.HCA.LIDs(f) {
			one.old, one.home = before.Forwarding.Row(lid), f.Endpoint(owner).Switch
			after := plan.Steps[0].Tables.Forwarding.Row(lid)
			for s := range fabric.NodeID(f.Switches()) {
				if !one.ends[s] || arrives(f, one.old, s, one.home) {
					continue
				}
				can := one.reaches(s)
				switch {
				case arrives(f, after, s, one.home):
					if !can {
						t.Fatalf("%s: the first step reaches LID %d from %s, but the search does not", cable, lid, f.Label(s))
					}
				case can:
					missed, reachable = missed+1, reachable+1
				default:
					missed, pairs = missed+1, pairs+1
				}
			}
		}
		if missed > 0 {
			short++
		}
		if reachable > 0 {
			more++
			t.Logf("%s: the first step does not reach %d pairs, others would", cable, reachable)
		}
	})
	t.Logf("after %d cables the first step does not reach all; %d pairs of switches and LIDs are beyond every step", short, pairs)
	if short < 10 || pairs < 100 || more > 2 {
		t.Errorf("the first step does not reach all after %d cables, and others would reach more after %d", short, more)
	}
}

// Where few packets turn upwards at leaves, one step mends nearly all that a cable takes away.
func TestOneStepWhereFewTurn(t *testing.T) {
	testnet.OnlyWhole(t)
	if testing.Short() {
		t.Skip("balanced paths take some seconds")
	}
	f := testnet.Build(t, "planes:ports=24,groups=12,leaves=10,planes=16,on=8,up=8,hosts=900")
	was, err := weave.Any{Paths: []routing.PathFinder{balance.Finder{Seed: 1}}}.Route(t.Context(), f, routing.Budget{VLs: 8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cables, more, stride := 0, 0, fabric.ChannelID(145)
	if os.Getenv("WEFT_THOROUGH") != "" {
		stride = 29
	}
	for c := fabric.ChannelID(0); int(c) < f.Trunks(); c += stride {
		plan, err := repair.Mend(t.Context(), without(t, was, c), was, repair.Options{Contract: routing.Any})
		if err != nil || len(plan.Left) > 0 {
			t.Fatalf("%v, %v left", err, plan.Left)
		}
		steps := 0
		for _, s := range plan.Steps {
			if s.Mended > 0 {
				steps++
			}
		}
		cables++
		if steps > 1 {
			more++
			t.Logf("%s – %s: %d steps", f.Label(f.Channel(c).From), f.Label(f.Channel(c).To), steps)
		}
	}
	if t.Logf("%d of %d cables take more than one step", more, cables); more > 0 {
		t.Errorf("%d of %d cables take more than one step", more, cables)
	}
}

// arrives reports whether a row leads from a switch to another.
func arrives(f *fabric.Fabric, row []uint8, s, home fabric.NodeID) bool {
	for range f.Switches() {
		if s == home {
			return true
		}
		c := f.Out(s, row[s])
		if c == fabric.None || int(c) >= f.Trunks() {
			return false
		}
		s = f.Heads()[c]
	}
	return false
}

// oneStep searches for a new path to a LID that closes no cycle with the tables in force, all on
// one lane.
type oneStep struct {
	f     *fabric.Fabric
	ends  []bool   // [switch] has hosts
	inUse [][]bool // [trunk][trunk] dependencies of the tables in force

	old  []uint8
	home fabric.NodeID
	next []fabric.ChannelID // [switch] of new entries
	on   []bool             // [switch] on the path so far
	sum  [][]bool           // scratch: inUse and what the LID at hand adds
}

func newOneStep(t *routing.Tables) *oneStep {
	f := t.Fabric
	o := &oneStep{f: f, ends: routing.HCA.Ends(f), next: slices.Repeat([]fabric.ChannelID{fabric.None}, f.Switches()), on: make([]bool, f.Switches())}
	for range f.Trunks() {
		o.inUse, o.sum = append(o.inUse, make([]bool, f.Trunks())), append(o.sum, make([]bool, f.Trunks()))
	}
	for lid, owner := range routing.HCA.LIDs(f) {
		o.old, o.home = t.Forwarding.Row(lid), f.Endpoint(owner).Switch
		o.follow(o.inUse)
	}
	return o
}

// trunk is the trunk at a port of a switch, or None.
func (o *oneStep) trunk(s fabric.NodeID, port uint8) fabric.ChannelID {
	if c := o.f.Out(s, port); int(c) < o.f.Trunks() {
		return c
	}
	return fabric.None
}

// follow adds what packets from all hosts to the LID at hand cause by old entries and new ones.
func (o *oneStep) follow(sum [][]bool) {
	seen := make([]bool, o.f.Trunks())
	var queue []fabric.ChannelID
	from := func(s fabric.NodeID, caused func(out fabric.ChannelID)) {
		if s == o.home {
			return
		}
		for _, out := range []fabric.ChannelID{o.trunk(s, o.old[s]), o.next[s]} {
			if out == fabric.None {
				continue
			}
			caused(out)
			if !seen[out] {
				seen[out], queue = true, append(queue, out)
			}
		}
	}
	for s, is := range o.ends {
		if is {
			from(fabric.NodeID(s), func(fabric.ChannelID) {})
		}
	}
	for i := 0; i < len(queue); i++ {
		from(o.f.Heads()[queue[i]], func(out fabric.ChannelID) { sum[queue[i]][out] = true })
	}
}

// safe reports whether the dependencies of the tables in force and those of new entries have no
// cycle.
func (o *oneStep) safe() bool {
	for c := range o.sum {
		copy(o.sum[c], o.inUse[c])
	}
	o.follow(o.sum)
	state := make([]int, len(o.sum)) // 1: being looked at, 2: no cycle behind it
	var free func(c int) bool
	free = func(c int) bool {
		if state[c] != 0 {
			return state[c] == 2
		}
		state[c] = 1
		for out, caused := range o.sum[c] {
			if caused && !free(out) {
				return false
			}
		}
		state[c] = 2
		return true
	}
	for c := range o.sum {
		if !free(c) {
			return false
		}
	}
	return true
}

// reaches reports whether some simple path from a switch, by old entries and new ones, is safe.
func (o *oneStep) reaches(s fabric.NodeID) bool {
	if s == o.home {
		return true
	}
	o.on[s] = true
	defer func() { o.on[s], o.next[s] = false, fabric.None }()
	old := o.trunk(s, o.old[s])
	if old != fabric.None && !o.on[o.f.Heads()[old]] && o.reaches(o.f.Heads()[old]) {
		return true
	}
	first, end := o.f.TrunksFrom(s)
	for c := first; c < end; c++ {
		if c == old || o.on[o.f.Heads()[c]] {
			continue
		}
		if o.next[s] = c; o.safe() && o.reaches(o.f.Heads()[c]) {
			return true
		}
	}
	return false
}
