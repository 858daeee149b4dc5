package measures

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
)

// NeverStopped is why a network has no time after which it stopped.
const NeverStopped = "the network did not stop in any run"

func stops(ctx context.Context, in *Input, m *Measure) (Value, error) {
	after, err := stopsOf(ctx, in.Result.Tables, in.Result.Verdict.Cycle, m.whole("repeats"), in.Seed)
	switch {
	case err != nil:
		return Value{}, err
	case len(after) == 0:
		return Value{}, errors.New(NeverStopped)
	}
	return meanOf(after), nil
}

// stopsOf simulates HOTI 2016, section VI.A: every host sends one message of 128 KiB to
// another, as far as possible along the routes of a credit loop, the others at
// random, everything on one lane. It returns the microseconds after which the
// network stopped, of the runs in which it did.
func stopsOf(ctx context.Context, t *routing.Tables, loop []deadlock.LoopStep, repeats int, seed uint64) (after []float64, err error) {
	// "800 credits per port, an MTU of 2KiB, 10 GiB full duplex links". Ports draw
	// lots: those that take turns like clockwork can miss each other for ever.
	config, err := packets.PresetNamed("ib-edr")
	if err != nil {
		return nil, err
	}
	config.MTU, config.Buffer, config.Lanes, config.Lottery = 2048, 800*packets.Block, 1, true
	n, err := packets.New(t, config)
	if err != nil {
		return nil, err
	}
	for run := range uint64(repeats) {
		result, err := n.Complete(ctx, [][]packets.Message{loopPairs(t.Fabric, loop, rand.New(rand.NewPCG(seed, run)))}, seed+run, 0)
		if err != nil {
			return after, err
		}
		if d := result.Deadlock; d != nil {
			after = append(after, float64(d.Closed)/1e6)
		}
	}
	return after, nil
}

// loopPairs is a message from every host to a host of its own: "we select
// sender/receiver such that they utilize paths which contribute to a cycle in the CDG
// if possible (otherwise the selection is random)".
func loopPairs(f *fabric.Fabric, loop []deadlock.LoopStep, r *rand.Rand) []packets.Message {
	sends, receives := map[fabric.EndpointID]bool{}, map[fabric.EndpointID]bool{}
	var list []packets.Message
	add := func(from, to fabric.EndpointID) {
		sends[from], receives[to] = true, true
		list = append(list, packets.Message{From: from, To: to, Bytes: 128 << 10})
	}
	host := func(id fabric.EndpointID) bool { return routing.HCA.Includes(f.Endpoint(id).Class) }
	for _, step := range loop {
		if to := f.Owner(step.Dst); host(step.Src) && host(to) && !sends[step.Src] && !receives[to] {
			add(step.Src, to)
		}
	}
	var from, to []fabric.EndpointID
	for _, id := range routing.HCA.Endpoints(f) {
		if !sends[id] {
			from = append(from, id)
		}
		if !receives[id] {
			to = append(to, id)
		}
	}
	r.Shuffle(len(to), func(i, k int) { to[i], to[k] = to[k], to[i] })
	for i, id := range from {
		if id != to[i] {
			add(id, to[i])
		}
	}
	return list
}
