package deadlock

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Text says where that is.
func (a Absent) Text(f *fabric.Fabric) string {
	runs := "1 data lane"
	if n := f.Channel(a.Channel).DataVLs; n != 1 {
		runs = fmt.Sprintf("%d data lanes", n)
	}
	return fmt.Sprintf("SL %d takes VL %d on the cable %s, which runs %s", a.SL, a.VL, f.ChannelLabel(a.Channel), runs)
}

// findAbsent lists the lanes that packets are sent to and cables do not run. Between
// switches those count that some packet takes; on the last cable, to an endpoint in scope,
// whatever the service levels in use are mapped to from any port with a cable. The lanes on
// which endpoints send are not in the tables. Of the trees for multicast those count that packets
// of their service levels take.
func (d *derivation) findAbsent() []Absent {
	f := d.t.Fabric
	if !runsFewer(f, d.lanes) {
		return nil
	}
	levels := d.fixed
	if levels == 0 {
		levels = d.t.Levels()
	}
	for c := range fabric.ChannelID(f.Trunks()) {
		d.absentOn(c, levels, d.inUse[c])
	}
	for _, e := range d.o.Scope.Endpoints(f) {
		if c := f.Endpoint(e).Deliver; c != fabric.None {
			d.absentOn(c, levels, 1<<dropLane-1)
		}
	}
	if d.t.Multicast != nil {
		d.absentOfTrees()
	}
	slices.SortFunc(d.absent, func(a, b Absent) int {
		return cmp.Or(cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.SL, b.SL), cmp.Compare(a.VL, b.VL))
	})
	return slices.Compact(d.absent)
}

// runsFewer reports whether any cable is stated to run fewer lanes than so many.
func runsFewer(f *fabric.Fabric, lanes int) bool {
	all := f.Channels()
	for i := range all {
		if vls := all[i].DataVLs; vls > 0 && int(vls) < lanes {
			return true
		}
	}
	return false
}

// absentOfTrees adds those lanes on which groups come to cables that do not run them.
func (d *derivation) absentOfTrees() {
	w := newSpreader(d)
	w.sls = w.used // each of them, where one may stand for all in a proof
	w.each(func() {
		for _, c := range w.queue {
			d.absentAs(c, w.sl, w.held[c])
		}
		for _, n := range w.tree.Nodes {
			d.absentAtMembers(w, n)
		}
	})
}

// absentAtMembers adds those at ports of the tree that lead to endpoints.
func (d *derivation) absentAtMembers(w *spreader, n routing.TreeNode) {
	f := w.f
	for port := range n.Ports.All() {
		c := f.Out(n.Switch, port)
		if c == fabric.None || int(c) < f.Trunks() {
			continue
		}
		for in := range uint8(f.Node(n.Switch).Ports + 1) {
			from, came := f.Out(n.Switch, in), uint16(0)
			switch {
			case in == port || in > 0 && from == fabric.None:
				continue
			case in > 0 && int(from) < f.Trunks():
				if came = w.held[f.Reverses()[from]]; came == 0 {
					continue // no packet of the group comes by it
				}
			}
			d.absentAs(c, w.sl, w.maps(n.Switch, in, port, w.sl, came)&^bit(dropLane))
		}
	}
}

// absentAs adds the lanes among some, as bits, of a service level that a channel does not run.
func (d *derivation) absentAs(c fabric.ChannelID, sl uint8, lanes uint16) {
	runs := d.t.Fabric.Channels()[c].DataVLs
	if runs == 0 {
		return
	}
	for m := lanes >> runs << runs; m != 0; m &= m - 1 {
		d.absent = append(d.absent, Absent{c, sl, uint8(bits.TrailingZeros16(m))})
	}
}

// absentOn adds those lanes among some, as bits, that a channel does not run, with each
// service level that is mapped to them.
func (d *derivation) absentOn(c fabric.ChannelID, levels, lanes uint16) {
	f := d.t.Fabric
	ch := f.Channel(c)
	if ch.DataVLs == 0 || lanes>>ch.DataVLs == 0 || d.lanes <= int(ch.DataVLs) {
		return
	}
	for sl := range uint8(routing.SLs) {
		seen := uint16(0)
		for in := uint8(0); levels>>sl&1 == 1 && int(in) <= f.Node(ch.From).Ports; in++ {
			if in == ch.FromPort && int(c) >= f.Trunks() || in > 0 && f.Out(ch.From, in) == fabric.None {
				continue // endpoints send nothing back to themselves; switches may
			}
			seen |= d.lanesTo(ch, in, sl) & lanes
		}
		d.absentAs(c, sl, seen)
	}
}

// lanesTo is the lanes, as bits, that packets on a service level which come in by a port leave on
// by a channel.
func (d *derivation) lanesTo(out *fabric.Channel, in, sl uint8) uint16 {
	maps := d.t.Lanes.SL2VL
	if !maps.ByLane(out.From, sl) {
		return 1 << maps.VL(out.From, in, out.FromPort, sl)
	}
	came := bit(d.sourceLane(out.From, in, sl))
	if c := d.t.Fabric.Trunk(out.From, in); c != fabric.None {
		came = d.inUse[d.t.Fabric.Reverses()[c]]
	}
	next := uint16(0)
	for ; came != 0; came &= came - 1 {
		next |= 1 << maps.VL(out.From, in, out.FromPort, uint8(bits.TrailingZeros16(came)))
	}
	return next
}
