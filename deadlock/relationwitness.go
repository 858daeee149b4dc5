package deadlock

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// cause finds packets that can hold one hop and go on to the other: those of the lowest
// destination LID and, for it, of the lowest source.
func (w *relationWalker) cause(hold, want hop, answer bool) (LoopStep, bool) {
	if answer {
		return LoopStep{}, false // packets on all service levels were looked at together
	}
	for lid := range w.d.o.Scope.LIDs(w.f) {
		w.begin(lid)
		all := w.starts
		step, found := LoopStep{Trunk: hold.trunk, VL: hold.vl, Dst: lid}, false
		w.flows(func() {
			w.eachLevel(func() {
				if found || !w.makes(hold, want) {
					return
				}
				b := w.firstThatMakes(all, hold, want)
				step.SL = w.sl
				if w.d.simple {
					step.SL = w.levelOn(b, hold.vl)
				}
				step.Src = w.senderOf(b, step.SL)
				step.Answer = w.d.fixed == 0 && step.SL != w.d.t.Lanes.SL(step.Src, lid)
				step.Ports, found = w.portsOn(hold.trunk), true
			})
			w.starts = all
		})
		if found {
			return step, true
		}
	}
	return LoopStep{}, false
}

// firstThatMakes is the first sources whose packets on w.sl can go from one hop to the other, as some do.
func (w *relationWalker) firstThatMakes(all []start, hold, want hop) *start {
	for i := range all {
		if w.starts = all[i : i+1]; !w.d.simple && all[i].sls>>w.sl&1 == 0 || !w.sends(&all[i]) {
			continue
		}
		w.spread()
		if w.gather(); w.makes(hold, want) {
			return &all[i]
		}
	}
	panic("packets that no source sends")
}

// makes reports whether packets of the flow on w.sl, whose lanes are gathered, can go from one hop to the other.
func (w *relationWalker) makes(hold, want hop) bool {
	return w.lanes[hold.trunk]>>hold.vl&1 == 1 &&
		slices.Contains(w.waysOn(hold.trunk).trunks, want.trunk) &&
		w.nextLanes(hold.trunk, want.trunk, bit(hold.vl))>>want.vl&1 == 1
}

// waysOn is how packets go on that came by a trunk, by a single set of tables.
func (w *relationWalker) waysOn(c fabric.ChannelID) *ways { return &w.at[w.after(0, c)] }

// nextLanes is the lanes, as bits, of packets on w.sl that go on by another trunk.
func (w *relationWalker) nextLanes(in, out fabric.ChannelID, lanes uint16) uint16 {
	if w.d.simple {
		return lanes
	}
	return w.mapped(in, out, w.sl, lanes) &^ (1 << dropLane)
}

// senderOf is the first source of a group, not the destination itself, that sends on a service level: not all of them answer
// on the same.
func (w *relationWalker) senderOf(b *start, sl uint8) fabric.EndpointID {
	for _, e := range b.g.from {
		if there, back := w.d.ofSource(e, w.lid); e != w.f.Owner(w.lid) && (there|back)>>sl&1 == 1 {
			return e
		}
	}
	panic("a group without a source")
}

// levelOn is the lowest service level on which sources send on a lane, where the SL alone
// decides it.
func (w *relationWalker) levelOn(b *start, vl uint8) uint8 {
	for sl := range uint8(len(w.d.uniform)) {
		if b.sls>>sl&1 == 1 && w.d.uniform[sl] == vl {
			return sl
		}
	}
	panic("packets on a lane that none of their service levels is mapped to")
}

// portsOn is the ports by which packets of the flow may go on from a trunk; nil where
// there is but one.
func (w *relationWalker) portsOn(c fabric.ChannelID) []uint8 {
	on := w.waysOn(c)
	var ports []uint8
	for _, out := range on.trunks {
		ports = append(ports, w.f.Channel(out).FromPort)
	}
	if on.stops && on.end == arrives {
		ports = append(ports, w.home)
	}
	if len(ports) < 2 {
		return nil
	}
	slices.Sort(ports)
	return ports
}
