package deadlock

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// findAbsent lists the lanes that packets are sent to and cables do not run. Between
// switches those count that some packet takes; on the last cable, to an endpoint in scope,
// whatever the service levels in use are mapped to from any port with a cable. The lanes on
// which endpoints send are not in the tables.
func (d *derivation) findAbsent() {
	f := d.t.Fabric
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
	slices.SortFunc(d.verdict.Absent, func(a, b Absent) int {
		return cmp.Or(cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.SL, b.SL), cmp.Compare(a.VL, b.VL))
	})
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
			if in == ch.FromPort || in > 0 && f.Out(ch.From, in) == fabric.None {
				continue
			}
			for m := d.lanesTo(ch, in, sl) & lanes &^ seen >> ch.DataVLs << ch.DataVLs; m != 0; m &= m - 1 {
				vl := uint8(bits.TrailingZeros16(m))
				seen |= bit(vl)
				d.verdict.Absent = append(d.verdict.Absent, Absent{c, sl, vl})
			}
		}
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
	if c := d.t.Fabric.Out(out.From, in); in > 0 && int(c) < d.t.Fabric.Trunks() {
		came = d.inUse[d.t.Fabric.Reverses()[c]]
	}
	next := uint16(0)
	for ; came != 0; came &= came - 1 {
		next |= 1 << maps.VL(out.From, in, out.FromPort, uint8(bits.TrailingZeros16(came)))
	}
	return next
}
