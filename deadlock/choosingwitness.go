package deadlock

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// cause finds packets that can hold one hop and go on to the other: those of the lowest
// destination LID and, for it, of the lowest source.
func (w *chooser) cause(hold, want hop, answer bool) (LoopStep, bool) {
	if answer {
		return LoopStep{}, false // packets on all service levels were looked at together
	}
	for lid := range w.d.o.Scope.LIDs(w.f) {
		w.begin(lid)
		all := w.starts
		step, found := LoopStep{Trunk: hold.trunk, VL: hold.vl, Dst: lid}, false
		w.flows(func() {
			if found || !w.makes(hold, want) {
				return
			}
			for i := range all {
				if !w.sends(&all[i]) {
					continue
				}
				if w.starts = all[i : i+1]; !w.spreadMakes(hold, want) {
					continue
				}
				step.Src, step.SL = w.senderOf(&all[i]), w.sl
				if w.simple {
					step.SL = w.levelOn(&all[i], hold.vl)
				}
				own := w.d.t.Lanes.SL(step.Src, lid)
				step.Answer = w.d.fixed == 0 && step.SL != own
				step.Ports, found = w.portsOn(hold.trunk), true
				break
			}
			w.starts = all
		})
		if found {
			return step, true
		}
	}
	return LoopStep{}, false
}

func (w *chooser) spreadMakes(hold, want hop) bool {
	w.spread()
	return w.makes(hold, want)
}

// makes says whether packets of the flow can go from one hop to the other.
func (w *chooser) makes(hold, want hop) bool {
	return w.lanes[hold.trunk]>>hold.vl&1 == 1 &&
		slices.Contains(w.waysOn(hold.trunk).trunks, want.trunk) &&
		w.nextLanes(hold.trunk, want.trunk, 1<<hold.vl)>>want.vl&1 == 1
}

// senderOf is the first source of a group that is not the destination itself.
func (w *chooser) senderOf(b *start) fabric.EndpointID {
	for _, e := range b.g.from {
		if e != w.f.Owner(w.lid) {
			return e
		}
	}
	panic("deadlock: a group without a source")
}

// levelOn is the lowest service level on which sources send on a lane, where the SL alone
// decides it.
func (w *chooser) levelOn(b *start, vl uint8) uint8 {
	for sl := range uint8(len(w.uniform)) {
		if b.sls>>sl&1 == 1 && w.uniform[sl] == vl {
			return sl
		}
	}
	panic("deadlock: packets on a lane that none of their service levels is mapped to")
}

// portsOn is the ports by which packets of the flow may go on from a trunk; nil where
// there is but one.
func (w *chooser) portsOn(c fabric.ChannelID) []uint8 {
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
