package conformance

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// write is a block of a forwarding table that a subnet manager writes, or a switch's
// SL2VL map.
type write struct {
	s     fabric.NodeID
	block int // -1: the map
}

// inOrderOfOpenSM is the writes of a change as OpenSM makes them: block by block, within
// a block switch by switch in the order of GUIDs; then the maps.
func inOrderOfOpenSM(f *fabric.Fabric) []write {
	var list []write
	for block := range packets.TableBlocks(f) {
		for s := range fabric.NodeID(f.Switches()) { // switches are numbered by GUID
			list = append(list, write{s, block})
		}
	}
	for s := range fabric.NodeID(f.Switches()) {
		list = append(list, write{s, -1})
	}
	return list
}

// inAnyOrder is the same writes, shuffled.
func inAnyOrder(f *fabric.Fabric, seed uint64) []write {
	list := inOrderOfOpenSM(f)
	rng := rand.New(rand.NewPCG(seed, 7))
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// snapshot is what the switches hold when the first writes of a change are made.
func snapshot(old, next *routing.Tables, done []write) *routing.Tables {
	f := next.Fabric
	fw := routing.NewForwarding(f)
	for lid := range f.TopLID() + 1 {
		copy(fw.Row(lid), old.Forwarding.Row(lid))
	}
	maps := old.Lanes.SL2VL.PerPort(f)
	for _, w := range done {
		if w.block >= 0 {
			for lid := max(1, w.block*routing.BlockLIDs); lid < (w.block+1)*routing.BlockLIDs && lid <= int(f.TopLID()); lid++ {
				fw.Row(fabric.LID(lid))[w.s] = next.Forwarding.Port(w.s, fabric.LID(lid))
			}
			continue
		}
		ports := uint8(f.Node(w.s).Ports)
		for in := range ports + 1 {
			for out := range ports + 1 {
				for sl := range uint8(routing.SLs) {
					maps.Set(w.s, in, out, sl, next.Lanes.SL2VL.VL(w.s, in, out, sl))
				}
			}
		}
	}
	lanes := *old.Lanes
	lanes.SL2VL = maps
	return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: &lanes}
}

// changing is the tables that follow one another when a network changes.
type changing struct {
	sequence []*routing.Tables // the first in force when the change begins, all for what is live
	scratch  bool              // routed anew in place of mended
}

// changesOf is what becomes of weave-any's tables without a cable: mended, and routed
// from scratch.
func changesOf(t *testing.T, f *fabric.Fabric, was *routing.Tables, cable fabric.ChannelID) []changing {
	t.Helper()
	live, err := f.Without([]fabric.ChannelID{cable}, nil)
	if err != nil {
		t.Fatal(err)
	}
	mended, err := change.Mend(t.Context(), was, live, change.Options{Contract: routing.Any})
	if err != nil {
		t.Fatal(err)
	}
	steps := []*routing.Tables{mended.Before}
	for _, s := range mended.Steps {
		steps = append(steps, s.Tables)
	}
	anew := weaveAny(t, live)
	before, err := transition.On(live, was, anew)
	if err != nil {
		t.Fatal(err)
	}
	return []changing{{steps, false}, {[]*routing.Tables{before, anew}, true}}
}

func weaveAny(t *testing.T, f *fabric.Fabric) *routing.Tables {
	return routedBy(t, f, "weave-any", routing.Any)
}

func routedBy(t *testing.T, f *fabric.Fabric, engine string, contract routing.Contract) *routing.Tables {
	t.Helper()
	return routed.Of(t, f, engine, routing.Budget{VLs: routing.DefaultVLs, Scope: routing.Adapters, Contract: contract})
}

// cablesOf is so many cables of a network, evenly spread.
func cablesOf(f *fabric.Fabric, most int) []fabric.ChannelID {
	var all []fabric.ChannelID
	for c := range fabric.ChannelID(f.Trunks()) {
		if f.Channel(c).Reverse > c {
			all = append(all, c)
		}
	}
	var some []fabric.ChannelID
	for i := range min(most, len(all)) {
		some = append(some, all[i*len(all)/most])
	}
	return some
}

// What the switches hold at any moment of a repair is free of credit loops, in the order
// in which OpenSM writes and in any other. On a torus, what they hold while tables from
// scratch are written is not.
func TestSnapshotsOfAChange(t *testing.T) {
	faults, looks := 1, 5
	if thorough {
		faults, looks = 12, 40
	}
	for _, spec := range []string{"torus:6x5x5", "dragonfly:p=3", "slimfly:q=5,hosts=2", "xgft:m=4x4,w=4x4,hosts=2", "random:switches=40,links=120,hosts=2,seed=5"} {
		t.Run(spec, func(t *testing.T) {
			if spec == "dragonfly:p=3" {
				testnet.OnlyWhole(t) // it takes most of the time
			}
			f := testnet.Build(t, spec)
			was := weaveAny(t, f)
			judged, loops := 0, 0
			for i, cable := range cablesOf(f, faults) {
				for _, c := range changesOf(t, f, was, cable) {
					live := c.sequence[0].Fabric
					for k := range len(c.sequence) - 1 {
						for _, order := range [][]write{inOrderOfOpenSM(live), inAnyOrder(live, uint64(i))} {
							for look := range looks {
								done := order[:len(order)*(look+1)/(looks+1)]
								v, err := deadlock.Verify(t.Context(), snapshot(c.sequence[k], c.sequence[k+1], done), deadlock.Options{Contract: routing.Any, Lost: -1})
								switch {
								case err != nil:
									t.Fatal(err)
								case c.scratch && !v.Free():
									loops++
								case !c.scratch && !v.Free():
									t.Errorf("without trunk %d, step %d, %d writes of %d done: a credit loop of %d links", cable, k+1, len(done), len(order), len(v.Cycle))
								}
								judged++
							}
						}
					}
				}
			}
			t.Logf("%d snapshots; %d of those from scratch have a loop", judged, loops)
			if loops == 0 && spec == "torus:6x5x5" {
				t.Error("no snapshot of tables from scratch has a loop: the test shows nothing")
			}
		})
	}
}

// rewrites is a change as the simulator takes it: each write takes 1 µs, and nothing is
// written for a while before each step and, at hold writes, within it.
func rewrites(sequence []*routing.Tables, order []write, hold int) []packets.Rewrite {
	const each, pause, long = 1_000_000, 5_000_000, 50_000_000_000 // ps
	var list []packets.Rewrite
	now := packets.Time(0)
	for _, t := range sequence[1:] {
		f := t.Fabric
		r := packets.Rewrite{Tables: t, Blocks: make([]packets.Time, f.Switches()*packets.TableBlocks(f)), Maps: make([]packets.Time, f.Switches())}
		now += pause
		for i, w := range order {
			now += each
			if i == hold {
				now += long
			}
			if w.block >= 0 {
				r.Blocks[int(w.s)*packets.TableBlocks(f)+w.block] = now
			} else {
				r.Maps[w.s] = now
			}
		}
		list = append(list, r)
	}
	return list
}

// Traffic that stops while tables from scratch are written, at a moment when what the
// switches hold has a credit loop, does not stop while a repair is written in the same
// order, nor does random traffic: all of it arrives, but for what meets a dead entry that
// is not mended yet.
func TestPacketsDuringAChange(t *testing.T) {
	faults, orders := 1, uint64(2)
	if thorough {
		faults, orders = 8, 6
	}
	config, err := packets.PresetNamed("ib-hdr")
	if err != nil {
		t.Fatal(err)
	}
	config.Lottery = true
	stopped, tried := 0, 0
	for _, spec := range []string{"torus:5x5,hosts=2", "dragonfly:p=3"}[:testnet.Of(2, 1)] {
		f := testnet.Build(t, spec)
		was := weaveAny(t, f)
		for _, cable := range cablesOf(f, faults) {
			changes := changesOf(t, f, was, cable)
			repair, scratch := changes[0].sequence, changes[1].sequence
			for seed := range orders {
				order := inOrderOfOpenSM(repair[0].Fabric)
				if seed > 0 {
					order = inAnyOrder(repair[0].Fabric, seed)
				}
				mending, err := packets.NewRewritten(repair[0], rewrites(repair, order, -1), config)
				if err != nil {
					t.Fatal(err)
				}
				ends := func(r *packets.Result, err error) {
					t.Helper()
					if err != nil || r.Status != packets.Completed || r.Arrived+r.Dropped != r.Created {
						t.Errorf("%s without trunk %d, order %d: %+v, %v", spec, cable, seed, r, err)
					}
				}
				r, err := mending.Complete(t.Context(), [][]packets.Message{storm(mending, repair[0].Fabric, seed)}, seed, 0)
				ends(r, err)
				if err == nil && r.Arrived < r.Created*9/10 {
					t.Errorf("%s without trunk %d: only %d of %d packets arrived", spec, cable, r.Arrived, r.Created)
				}
				loop, hold := loopDuring(t, scratch, order)
				if loop == nil {
					continue
				}
				anew, err := packets.NewRewritten(scratch[0], rewrites(scratch, order, hold), config)
				if err != nil {
					t.Fatal(err)
				}
				tried++
				replay, err := anew.Replay(t.Context(), loop, seed)
				if err != nil {
					t.Fatal(err)
				}
				if replay.Result.Status == packets.Deadlocked {
					stopped++
					ends(replay.On(t.Context(), mending))
				}
			}
		}
	}
	t.Logf("%d of %d runs stopped while tables from scratch were written", stopped, tried)
	if stopped == 0 {
		t.Error("no run stopped while tables from scratch were written: the test shows nothing")
	}
}

// loopDuring is a credit loop of what the switches hold after so many writes of a change,
// nil if none is found.
func loopDuring(t *testing.T, sequence []*routing.Tables, order []write) (loop []packets.LoopStep, writes int) {
	t.Helper()
	for look := range 12 {
		writes = len(order) * (look + 1) / 13
		v, err := deadlock.Verify(t.Context(), snapshot(sequence[0], sequence[1], order[:writes]), deadlock.Options{Contract: routing.Any, Lost: -1})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range v.Cycle {
			loop = append(loop, packets.LoopStep{Trunk: s.Trunk, VL: s.VL, SL: s.SL, Src: s.Src, Dst: s.Dst})
		}
		if loop != nil {
			break
		}
	}
	return loop, writes
}

// storm is a message between each of many random pairs that the tables in force join.
func storm(n *packets.Network, f *fabric.Fabric, seed uint64) []packets.Message {
	rng := rand.New(rand.NewPCG(seed, 8))
	hosts := traffic.Placement(routing.HCA.Endpoints(f))
	var list []packets.Message
	for _, from := range hosts {
		for range 60 {
			if to := hosts[rng.IntN(len(hosts))]; to != from && n.Covers(from, to) == nil {
				list = append(list, packets.Message{From: from, To: to, Bytes: 64 << 10})
			}
		}
	}
	return list
}
