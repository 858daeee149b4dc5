package pfc

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/folder"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/ethernet/cure"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
	"github.com/weft-fabric/weft/internal/testnet"
)

func verify(t *testing.T, n *ethernet.Network) *judge.Verdict {
	t.Helper()
	v, err := judge.Verify(context.Background(), n, judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// FRR's Clos with two links down stops in the loop that the judge names, and drains with rules.
func TestClosStopsAndDrains(t *testing.T) {
	n, err := folder.Read(t.Context(), "../../../examples/ethernet/clos-two-links-down", folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := verify(t, n)
	for _, p := range Presets() {
		r, err := ReplayCycle(context.Background(), n, p.Config, v.Cycle, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Result.Deadlocked() || len(r.Result.Cycle) != 4 || r.Result.Overflows > 0 || r.Result.Dropped > 0 {
			t.Fatalf("%s: attempt %d, %+v", p.Name, r.Attempt, r.Result)
		}
		for _, held := range r.Result.Cycle {
			found := false
			for _, s := range v.Cycle {
				found = found || s.Link == held.Link && s.Lane == held.Lane
			}
			if !found {
				t.Fatalf("%s: stopped at %s, which is not in the judge's loop", p.Name, n.End(held.Link))
			}
		}
		c, err := cure.Compute(context.Background(), n, cure.Options{Lossless: 2, Start: []uint8{3}})
		if err != nil {
			t.Fatal(err)
		}
		drained, err := r.On(context.Background(), c.Network, p.Config, func(mark uint8) uint8 { return mark })
		if err != nil {
			t.Fatal(err)
		}
		if drained.Deadlocked() || drained.Dropped > 0 || drained.Overflows > 0 || drained.Delivered != len(r.Flows)*2000 {
			t.Fatalf("%s, with rules: %+v", p.Name, drained)
		}
	}
}

// Every loop that the judge finds stops, and nothing that it proves ever does: on networks with any routes,
// priorities, changes of priorities and tunnels.
func TestLoopsStop(t *testing.T) {
	networks := int64(testnet.Of(10_000, 2_000))
	config := Presets()[0].Config
	config.Xoff, config.Xon = 3*config.Packet, 2*config.Packet
	var loops, free, wrapped atomic.Int64
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < networks; i = next.Add(1) - 1 {
				r := rand.New(rand.NewPCG(8, uint64(i)))
				n := testcables.Network(t, r)
				v, err := judge.Verify(context.Background(), n, judge.Options{})
				if err != nil {
					t.Error(err)
					return
				}
				if v.Free() {
					free.Add(1)
					moves(t, i, n, config, r)
					continue
				}
				loops.Add(1)
				replay, err := ReplayCycle(context.Background(), n, config, v.Cycle, 3)
				if err != nil {
					t.Error(err)
					return
				}
				if slices.ContainsFunc(replay.Flows, func(f Flow) bool { return f.tunnel != ethernet.None }) {
					wrapped.Add(1)
				}
				if !replay.Result.Deadlocked() {
					t.Errorf("network %d: a loop of %d does not stop", i, len(v.Cycle))
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d loops, %d of them with flows through tunnels, %d proven", loops.Load(), wrapped.Load(), free.Load())
	if loops.Load() < networks/20 || free.Load() < networks/5 || wrapped.Load() < networks/400 {
		t.Error("the networks test little")
	}
}

// moves sends random flows over a network that is proven.
func moves(t *testing.T, i int64, n *ethernet.Network, config Config, r *rand.Rand) {
	var from []ethernet.DeviceID
	for _, s := range n.Senders(ethernet.HostScope) {
		from = append(from, s.At...)
	}
	var flows []Flow
	for range 60 {
		class, mark := r.IntN(len(n.Classes)), uint8(r.IntN(len(n.Priorities.Marks)))
		if len(from) == 0 || !n.Wanted(class, ethernet.HostScope) || n.Priorities.Start>>mark&1 == 0 {
			continue
		}
		if f, ok := route(n, class, r.Uint64(), from[r.IntN(len(from))], mark); ok {
			f.Count = 100
			flows = append(flows, f)
		}
	}
	result, err := Run(context.Background(), n, config, flows)
	if err != nil {
		t.Error(err)
		return
	}
	if result.Deadlocked() || result.Overflows > 0 || result.Delivered+result.Dropped != 100*len(flows) {
		t.Errorf("network %d is proven, and: %+v", i, result)
	}
}

// The headroom of a preset is what arrives behind a pause, and no more than that.
func TestHeadroom(t *testing.T) {
	for _, p := range Presets() {
		if h := p.Config.Headroom(); h < 3*p.Config.Packet || h > 20*p.Config.Packet {
			t.Errorf("%s: %d bytes of headroom", p.Name, h)
		}
	}
	if _, err := PresetNamed("roce-9g"); err == nil {
		t.Error("a preset that does not exist is accepted")
	}
	bad := Presets()[0].Config
	bad.Xon = bad.Xoff
	if _, err := Run(context.Background(), nil, bad, nil); err == nil {
		t.Error("xon at xoff is accepted")
	}
}
