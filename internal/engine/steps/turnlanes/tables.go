package turnlanes

import (
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Admitting is the service levels, as bits, that admit the path which begins with
// trunks a, b and c; behind is those that admit it from b on. b and c are fabric.None
// where the path has ended. The rest of the path does not matter, because a switch sees
// the turn but not the lane before it.
func (l *Assignment) Admitting(a, b, c fabric.ChannelID, behind uint16) uint16 {
	if b == fabric.None {
		return 1<<l.Used() - 1
	}
	turn, admitting := int32(l.f.Turn(a, b)), uint16(0)
	if l.lanes == 1 && l.levels == 1 { // what is taken within the only lane is all there is
		return behind & l.held[turn]
	}
	for ; behind != 0; behind &= behind - 1 {
		sl := bits.TrailingZeros16(behind)
		lane, start := l.at(turn, sl), l.start(sl)
		if !l.passes(turn, start, lane) {
			continue
		}
		// Of the path from b on it is known that it can be begun, on the first lane.
		if lane != start && c != fabric.None {
			if next := int32(l.f.Turn(b, c)); !l.passes(next, lane, l.at(next, sl)) {
				continue
			}
		}
		admitting |= 1 << sl
	}
	return admitting
}

// Tables is the routing.Lanes for the paths of a forwarding to some LIDs, all of which the
// assignment must admit. Every source gets the lowest service level that admits its
// path or, if both, all paths between its switch and that of the LID, both ways.
func (l *Assignment) Tables(fw *routing.Forwarding, lids []fabric.LID, both bool) *routing.Lanes {
	if l.Used() == 1 {
		lanes := routing.OneSL(l.f, l.sl2vl())
		lanes.Needed = l.lanes
		return lanes
	}
	lanes := routing.NewLanes(l.f, l.sl2vl())
	lanes.Needed = l.lanes
	if both {
		l.giveBothWays(lanes, fw, lids)
		return lanes
	}
	l.eachPath(fw, lids, func(lid fabric.LID, s, _ fabric.NodeID, admitting uint16) {
		if admitting != 0 {
			lanes.SLRow(lid)[s] = uint8(bits.TrailingZeros16(admitting))
		}
	})
	return lanes
}

// giveBothWays writes into lanes, for every two switches, the lowest service level that admits all
// paths between them.
func (l *Assignment) giveBothWays(lanes *routing.Lanes, fw *routing.Forwarding, lids []fabric.LID) {
	n := l.f.Switches()
	pair := func(s, to fabric.NodeID) int { return int(max(s, to))*n + int(min(s, to)) }
	admitting := slices.Repeat([]uint16{1<<l.Used() - 1}, n*n) // [pair] service levels, as bits
	l.eachPath(fw, lids, func(_ fabric.LID, s, to fabric.NodeID, admit uint16) { admitting[pair(s, to)] &= admit })
	l.eachPath(fw, lids, func(lid fabric.LID, s, to fabric.NodeID, _ uint16) {
		if admit := admitting[pair(s, to)]; admit != 0 { // 0: nothing is sent between them
			lanes.SLRow(lid)[s] = uint8(bits.TrailingZeros16(admit))
		}
	})
}

// eachPath visits the path from every switch to every LID, those out of scope too, with
// the switch of the LID and the service levels that admit the path, as bits.
func (l *Assignment) eachPath(fw *routing.Forwarding, lids []fabric.LID, visit func(lid fabric.LID, s, to fabric.NodeID, admitting uint16)) {
	var tree routing.Tree
	admitting := make([]uint16, l.f.Switches()) // those of the path from a switch
	heads := l.f.Heads()
	for _, lid := range lids {
		to := l.f.Endpoint(l.f.Owner(lid)).Switch
		tree.Build(l.f, fw.Row(lid), to)
		for _, s := range tree.Order { // each behind the one it forwards to
			a, b, c, behind := tree.Out[s], fabric.ChannelID(fabric.None), fabric.ChannelID(fabric.None), uint16(0)
			if a != fabric.None {
				b, behind = tree.Out[heads[a]], admitting[heads[a]]
			}
			if b != fabric.None {
				c = tree.Out[heads[b]]
			}
			admitting[s] = l.Admitting(a, b, c, behind)
			visit(lid, s, to, admitting[s])
		}
	}
}

// sl2vl is the lanes by port. Service levels that are not in use repeat those that are;
// turns that no path takes have the highest lane.
func (l *Assignment) sl2vl() *routing.SL2VL {
	var start [routing.SLs]uint8
	for sl := range start {
		start[sl] = l.start(sl % l.Used())
	}
	m := routing.UniformSL2VL(start)
	if l.lanes == 1 || l.change == Never {
		return m
	}
	m = m.PerPort(l.f)
	for in := range fabric.ChannelID(l.f.Trunks()) {
		c := l.f.Channel(in)
		first, end := l.f.TrunksFrom(c.To)
		for out := first; out < end; out++ {
			turn, port := int32(l.f.Turn(in, out)), l.f.Channel(out).FromPort
			for sl := range uint8(routing.SLs) {
				vl := min(l.at(turn, int(sl)%l.Used()), uint8(l.lanes-1))
				m.Set(c.To, c.ToPort, port, sl, vl)
			}
		}
	}
	return m
}
