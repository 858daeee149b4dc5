package repair

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Tables that are one step from others, in the merger's opinion, are so in the judge's too: no packet
// circles, to or from port 0 of switches neither, every entry is counted once, and where the step would
// cut off somebody who has a path before and after it, it is split.
func TestInOne(t *testing.T) {
	var tables [6]*routing.Tables
	var contracts [6]routing.Contract
	merged, refused, follow, split := 0, 0, 0, 0
	for seed := range uint64(1200) {
		rng := rand.New(rand.NewPCG(seed, 8))
		i := int(seed % 6)
		if tables[i] == nil {
			f := testnet.Build(t, []string{"xgft:m=3x3,w=2x2,hosts=1", "random:switches=9,links=15,hosts=4,seed=5", "ring:6,hosts=1"}[i%3])
			e, err := engines.Named([]string{"updn", "weave-any"}[i/3])
			if err != nil {
				t.Fatal(err)
			}
			if tables[i], err = e.Route(t.Context(), f, engines.Options{}, routing.Budget{VLs: 8, Scope: routing.Adapters}, nil); err != nil {
				t.Fatal(err)
			}
			contracts[i] = e.Contract
		}
		before, contract := tables[i], contracts[i]
		o := Options{Contract: contract}
		if seed/6%2 == 1 { // from tables that lack entries, too
			before = changed(before, 9, true, rng)
		}
		in := newProblem(before, nil, o)
		after := changed(before, 1+rng.IntN(6), false, rng)
		one, err := in.asOneStep(t.Context(), before, after)
		if err != nil {
			continue // a loop before
		}
		hosts, err := transition.Verify(t.Context(), before, after, deadlock.Options{Contract: contract})
		if err != nil {
			t.Fatal(err)
		}
		all, err := transition.Verify(t.Context(), before, after, deadlock.Options{Contract: contract, Scope: routing.All})
		if err != nil {
			t.Fatal(err)
		}
		if one == nil {
			refused++
			continue
		}
		merged++
		if !hosts.Free() || hosts.Circles+all.Circles > 0 {
			t.Errorf("seed %d: free %v, %d LIDs circle, %d with switches", seed, hosts.Free(), hosts.Circles, all.Circles)
		}
		if one.Mended+one.Follow != hosts.Entries {
			t.Errorf("seed %d: %d entries, %d mended and %d follow", seed, hosts.Entries, one.Mended, one.Follow)
		}
		follow += one.Follow
		plan := &Plan{Steps: []Step{*one}}
		if err := plan.keepWhole(t.Context(), before, routing.HCA); err != nil {
			t.Fatal(err)
		}
		if len(plan.Steps) > 1 {
			split++
		}
		now := before
		for i, s := range plan.Steps {
			v, err := transition.Verify(t.Context(), now, s.Tables, deadlock.Options{Contract: contract})
			if err != nil {
				t.Fatal(err)
			}
			if v.Exposed > v.CutBefore()+max(0, hosts.CutAfter()-hosts.CutBefore()) || s.Mended+s.Follow != v.Entries {
				t.Errorf("seed %d, part %d: %d pairs are cut meanwhile, %d before, %d after; %d entries, %d mended and %d follow",
					seed, i+1, v.Exposed, v.CutBefore(), v.CutAfter(), v.Entries, s.Mended, s.Follow)
			}
			now = s.Tables
		}
		if transition.CostOf(now, after).Entries > 0 {
			t.Errorf("seed %d: the parts lead elsewhere", seed)
		}
	}
	t.Logf("%d one step, of which %d are split, %d refused; %d entries follow", merged, split, refused, follow)
	if merged < 300 || refused < 300 || follow < 50 || split == 0 {
		t.Error("too few to say anything")
	}
}

// changed is tables with some entries for three LIDs drawn anew: none, or also another trunk.
func changed(t *routing.Tables, n int, none bool, rng *rand.Rand) *routing.Tables {
	f := t.Fabric
	fw := copyEntries(f, t.Forwarding)
	for range n {
		lid, at := f.TopLID()-fabric.LID(rng.IntN(3)), fabric.NodeID(rng.IntN(f.Switches()))
		owner := f.Owner(lid)
		if owner == fabric.None || f.Endpoint(owner).Switch == at {
			continue
		}
		first, end := f.TrunksFrom(at)
		port := routing.NoPort
		if !none && rng.IntN(3) > 0 {
			port = f.Channel(first + fabric.ChannelID(rng.IntN(int(end-first)))).FromPort
		}
		fw.Row(lid)[at] = port
	}
	return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: t.Lanes}
}

// A LID that has moved: its switch still sends packets on, so that one whose new entry leads there
// would have them circle. That takes two steps.
func TestInOneAfterMove(t *testing.T) {
	f := testnet.Build(t, "mesh:3,hosts=1")
	lid := fabric.LID(0)
	for l, e := range f.LIDs() {
		if ep := f.Endpoint(e); ep.Class == fabric.SwitchPort && ep.Switch == 0 {
			lid = l // out of scope, so that the graph knows nothing of its packets
		}
	}
	port := func(from, to fabric.NodeID) uint8 {
		for c, end := f.TrunksFrom(from); c < end; c++ {
			if f.Heads()[c] == to {
				return f.TailPorts()[c]
			}
		}
		t.Fatalf("no cable joins switches %d and %d", from, to)
		return routing.NoPort
	}
	tables := func(row ...uint8) *routing.Tables {
		fw := routing.NewForwarding(f)
		copy(fw.Row(lid), row)
		return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
	}
	for _, c := range []struct {
		before *routing.Tables
		safe   bool
	}{{tables(port(0, 1), routing.NoPort, routing.NoPort), false}, {tables(0, routing.NoPort, routing.NoPort), true}} {
		one, err := newProblem(c.before, nil, Options{}).asOneStep(t.Context(), c.before, tables(0, port(1, 0), port(2, 1)))
		if err != nil || (one != nil) != c.safe {
			t.Errorf("in one step: %v, want %v; %v", one != nil, c.safe, err)
		}
	}
}
