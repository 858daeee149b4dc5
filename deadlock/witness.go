package deadlock

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// LoopStep is one step of a credit loop: a packet that holds a lane of a trunk and
// waits for the lane of the next step, with a route that causes it.
type LoopStep struct {
	Trunk fabric.ChannelID
	VL    uint8
	SL    uint8
	Src   fabric.EndpointID
	Dst   fabric.LID
	// Answer says that SL is not the one that the tables give Src for Dst, but the one
	// that they give the owner of Dst for Src: the packet answers on a connection that the
	// owner of Dst opened (contract honored).
	Answer bool

	// Multicast says that the packet is one of a multicast group, and Dst its MLID.
	Multicast bool

	// Ports is what the switch at the end of Trunk lets the packet choose from, the port of
	// the next step among them; nil where there is but one.
	Ports []uint8
}

// witness finds what causes every step of a cycle. An answer is named only if no packet
// on a service level of its own direction causes the step.
func witness[S any](cycle []int32, lanes int, cause func(hold, want hop, answer bool) (S, bool)) []S {
	steps := make([]S, len(cycle))
	for i, v := range cycle {
		u := cycle[(i+1)%len(cycle)]
		hold := hop{fabric.ChannelID(int(v) / lanes), uint8(int(v) % lanes)}
		want := hop{fabric.ChannelID(int(u) / lanes), uint8(int(u) % lanes)}
		step, ok := cause(hold, want, false)
		if !ok {
			step, ok = cause(hold, want, true)
		}
		if !ok {
			panic("a dependency without a route that causes it")
		}
		steps[i] = step
	}
	return steps
}

// hop is a lane of a trunk.
type hop struct {
	trunk fabric.ChannelID
	vl    uint8
}

// cause finds a route that holds one hop and goes on to the other, either among packets
// on the SLs of their own direction or among answers: that of the lowest destination LID
// and, for it, the lowest source.
func (d *derivation) cause(hold, want hop, answer bool) (LoopStep, bool) {
	if answer && d.answers[0] == nil {
		return LoopStep{}, false
	}
	f := d.t.Fabric
	in, out := f.Channel(hold.trunk), f.Channel(want.trunk)
	sources := d.o.Scope.Endpoints(f)
	for lid, to := range d.o.Scope.LIDs(f) {
		row := d.t.Forwarding.Row(lid)
		if row[in.From] != in.FromPort || row[out.From] != out.FromPort {
			continue
		}
		for _, src := range sources {
			if src == to {
				continue
			}
			if sl, ok := d.makes(src, lid, d.levels(src, lid, answer), hold, want); ok {
				return LoopStep{Trunk: hold.trunk, VL: hold.vl, SL: sl, Src: src, Dst: lid, Answer: answer}, true
			}
		}
	}
	return LoopStep{}, false
}

// levels is the service levels of packets from src to lid, as bits: those of their own
// direction, or those of answers.
func (d *derivation) levels(src fabric.EndpointID, lid fabric.LID, answer bool) uint16 {
	sl := d.t.Lanes.SL(src, lid)
	switch {
	case d.fixed != 0:
		return d.fixed
	case !answer:
		return bit(sl)
	case sl == routing.NoSL:
		return 0
	}
	return d.answers[0].toSource(d.t.Lanes.Row[d.t.Fabric.Owner(lid)], src)
}

// makes reports whether packets from src to lid on one of some service levels go from one
// hop to the other, and on which level.
func (d *derivation) makes(src fabric.EndpointID, lid fabric.LID, mask uint16, hold, want hop) (sl uint8, ok bool) {
	for sl := range uint8(routing.SLs) {
		if mask>>sl&1 == 0 {
			continue
		}
		last := hop{trunk: fabric.None}
		found := false
		d.follow(src, lid, sl, func(h hop) bool {
			found = last == hold && h == want
			last = h
			return !found
		})
		if found {
			return sl, true
		}
	}
	return 0, false
}

// follow walks a packet through the tables, trunk by trunk, until visit returns false,
// the packet leaves the switches, or it must have circled twice.
func (d *derivation) follow(src fabric.EndpointID, lid fabric.LID, sl uint8, visit func(hop) bool) {
	f := d.t.Fabric
	at, in := f.Endpoint(src).Switch, f.LastPort(f.Endpoint(src))
	for range 2*f.Switches() + 1 {
		c := f.Trunk(at, d.t.Forwarding.Port(at, lid))
		if c == fabric.None {
			return
		}
		ch := f.Channel(c)
		vl := d.t.Lanes.SL2VL.VL(at, in, ch.FromPort, sl)
		if vl >= dropLane || !visit(hop{c, vl}) {
			return
		}
		at, in = ch.To, ch.ToPort
	}
}
