package explain

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/fan"
	"github.com/weft-fabric/weft/routing"
)

// Where waiting ends. In a lossless network a port waits because the switch behind it is
// full, and that switch is full because one of its ports cannot get rid of packets. Going
// from what waits to what it waits for, one comes to a switch into which ports wait and out
// of which none does: one of the cables out of it carries all that it can. If no cable of the
// network is near what its rate allows, that one is slower than the fabric says.

// timed is counters as shares of the time in which they were counted. A nil *timed, where that or the length of a tick
// is not known, explains nothing and names nothing.
type timed struct {
	f    *fabric.Fabric
	t    *routing.Tables
	fan  *fan.Fan  // where switches choose; nil: none does
	sls  []alike   // service levels to look at
	ways [][]uint8 // [switch][kind] an in-port of each kind: from in-ports of a kind packets meet the same tables
	wait []float64 // [ChannelID] share of the time for which its port waited
	in   []float64 // [switch] the largest wait of a channel to it
	out  []float64 // [switch] the largest wait of a channel from it
	busy bool      // some cable is full: that others wait is for want of bandwidth
}

// newTimed is nil if the time or the length of a tick is not known.
func newTimed(tables *routing.Tables, c Counted) *timed {
	if c.Seconds <= 0 || c.Tick <= 0 {
		return nil
	}
	f := tables.Fabric
	n := len(f.Channels())
	t := &timed{f: f, t: tables, fan: fan.New(tables), sls: levelsOf(tables), ways: make([][]uint8, f.Switches()),
		wait: make([]float64, n), in: make([]float64, f.Switches()), out: make([]float64, f.Switches())}
	for s := range fabric.NodeID(f.Switches()) {
		for port := range uint8(f.Node(s).Ports + 1) {
			if t.kind(s, port) < 0 {
				t.ways[s] = append(t.ways[s], port)
			}
		}
	}
	for i, ch := range f.Channels() {
		if !c.Known[i] {
			continue
		}
		t.wait[i] = c.Wait[i] * c.Tick / c.Seconds
		if ch.Rate.Known() {
			t.busy = t.busy || 8*c.Bytes[i]/c.Seconds > fullShare*float64(ch.Rate.Mbps())*1e6
		}
		if int(ch.To) < f.Switches() {
			t.in[ch.To] = max(t.in[ch.To], t.wait[i])
		}
		if int(ch.From) < f.Switches() {
			t.out[ch.From] = max(t.out[ch.From], t.wait[i])
		}
	}
	return t
}

// explains reports whether load alone explains that a trunk waits: some cable is full, or the trunk hardly waits.
func (t *timed) explains(c fabric.ChannelID) bool {
	return t != nil && (t.busy || t.wait[c] < slowShare)
}

// slow is one finding, the cable at which most waiting ends, or none. Only one is named, since others may wait for it
// in turn. Cables are slow in both directions, so waiting ends at the switches at both its ends.
func (t *timed) slow() []Finding {
	if t == nil || t.busy {
		return nil
	}
	var at []fabric.NodeID // switches at which waiting ends
	for s := range fabric.NodeID(t.f.Switches()) {
		if t.ends(s) > slowShare {
			at = append(at, s)
		}
	}
	slices.SortStableFunc(at, func(a, b fabric.NodeID) int { return cmp.Compare(t.ends(b), t.ends(a)) })
	c := t.between(at[:min(len(at), mostEnds)])
	if c == fabric.None {
		return nil
	}
	ch := t.f.Channel(c)
	return []Finding{{Trunk: c, Kind: Slow, Factor: min(1, max(t.ends(ch.From), t.ends(ch.To)))}}
}

// mostEnds is how many switches are looked at, those with the most waiting that ends.
const mostEnds = 8

// ends is the waiting that ends at a switch, as a share of the time: of what waits to come in, what does not wait
// to go out.
func (t *timed) ends(s fabric.NodeID) float64 { return t.in[s] - t.out[s] }

// between is, of the trunks out of some switches, the one at which most waiting ends; None if no trunk has any. It adds up
// how long packets that go on by the trunk wait in the mean (waitFor), in both directions, and the waiting that
// ends at the switches at both its ends.
func (t *timed) between(switches []fabric.NodeID) fabric.ChannelID {
	best, most := fabric.ChannelID(fabric.None), 0.0
	waits := map[fabric.NodeID]map[fabric.ChannelID]float64{}
	waitFor := func(s fabric.NodeID) map[fabric.ChannelID]float64 {
		if waits[s] == nil {
			waits[s] = t.waitFor(s)
		}
		return waits[s]
	}
	for _, s := range switches {
		for c, v := range waitFor(s) {
			to, reverse := t.f.Channel(c).To, t.f.Channel(c).Reverse
			v += waitFor(to)[reverse] + t.ends(s) + t.ends(to)
			if v > most || v == most && c < best {
				best, most = c, v
			}
		}
	}
	return best
}

// alike is service levels whose packets are forwarded alike everywhere.
type alike struct {
	sl    uint8   // one of them
	count float64 // how many they are
}

// levelsOf is all service levels of tables, those that are alike together.
func levelsOf(t *routing.Tables) (all []alike) {
	g := t.Groups
	if g == nil {
		return []alike{{sl: 0, count: 1}}
	}
	same := func(a, b uint8) bool {
		for s := range fabric.NodeID(t.Fabric.Switches()) {
			if g.Levels(s)>>a&1 != g.Levels(s)>>b&1 {
				return false
			}
			for in := range uint8(t.Fabric.Node(s).Ports + 1) {
				if g.Table(s, in, a) != g.Table(s, in, b) {
					return false
				}
			}
		}
		return true
	}
	for sls := t.Levels(); sls != 0; sls &= sls - 1 {
		sl := uint8(bits.TrailingZeros16(sls))
		i := slices.IndexFunc(all, func(other alike) bool { return same(other.sl, sl) })
		if i < 0 {
			i = len(all)
			all = append(all, alike{sl: sl})
		}
		all[i].count++
	}
	return all
}

// kind is the index of an in-port's kind into ways, -1 if it is of none.
func (t *timed) kind(s fabric.NodeID, port uint8) int {
	return slices.IndexFunc(t.ways[s], func(other uint8) bool { return t.fan == nil || t.t.Groups.SameFrom(s, port, other) })
}

// incoming is a cable into a switch.
type incoming struct {
	from fabric.NodeID
	port uint8   // of from
	kind int     // of the in-port, index into ways
	wait float64 // as of timed.wait
}

// into is the cables into a switch, those from one node together.
func (t *timed) into(s fabric.NodeID) (all []incoming) {
	for port := 1; port <= t.f.Node(s).Ports; port++ {
		if out := t.f.Out(s, uint8(port)); out != fabric.None {
			in := t.f.Channel(out).Reverse
			from := t.f.Channel(in)
			all = append(all, incoming{from: from.From, port: from.FromPort, kind: t.kind(s, uint8(port)), wait: t.wait[in]})
		}
	}
	slices.SortStableFunc(all, func(a, b incoming) int { return cmp.Compare(a.from, b.from) })
	return all
}

// mean adds up waits, with weights, for their mean.
type mean struct{ sum, n float64 }

// waitFor is for each trunk out of a switch the share of the time for which packets that go on by it waited to
// come in, less that for which the trunk itself waits. It is the mean over in-ports and destinations; where the
// switch chooses, a flow counts for each port by the share that goes there.
func (t *timed) waitFor(s fabric.NodeID) map[fabric.ChannelID]float64 {
	f := t.f
	var means [256]mean // [out-port]
	var ports []uint8
	cables, come := t.into(s), make([]mean, len(t.ways[s])) // come: [kind of in-port]
	for lid, e := range routing.HCA.LIDs(f) {
		to := f.Endpoint(e).Node
		for _, level := range t.sls {
			clear(come)
			at := fabric.NodeID(fabric.None) // the switch that sends is about
			var sends routing.PortSet        // its ports to lid
			for i := range cables {
				c := &cables[i]
				if int(c.from) < f.Switches() && c.from != at {
					at = c.from
					sends, ports = t.sends(at, lid, level.sl, ports)
				}
				if c.from != to && (c.from != at || sends.Has(c.port)) {
					m := &come[c.kind]
					m.sum, m.n = m.sum+c.wait, m.n+1
				}
			}
			for kind, m := range come {
				if m.n == 0 {
					continue
				}
				ports = t.outs(ports[:0], s, t.ways[s][kind], lid, level.sl)
				part := level.count / float64(len(ports))
				for _, p := range ports {
					means[p].sum += part * m.sum
					means[p].n += part * m.n
				}
			}
		}
	}
	waits := map[fabric.ChannelID]float64{}
	for port := 1; port <= f.Node(s).Ports; port++ {
		if c, m := f.Trunk(s, uint8(port)), means[port]; m.n > 0 && c != fabric.None {
			waits[c] = m.sum/m.n - t.wait[c]
		}
	}
	return waits
}

// outs appends the ports by which packets to a LID that came by a port may leave a switch.
func (t *timed) outs(ports []uint8, s fabric.NodeID, in uint8, lid fabric.LID, sl uint8) []uint8 {
	if t.fan == nil {
		return append(ports, t.t.Forwarding.Port(s, lid))
	}
	return t.fan.Outs(ports, t.fan.Enter(s, in), lid, sl)
}

// sends is the ports by which a switch may send packets to a LID, wherever they came in; ports is
// scratch space, which is returned for the next call.
func (t *timed) sends(s fabric.NodeID, lid fabric.LID, sl uint8, ports []uint8) (routing.PortSet, []uint8) {
	var all routing.PortSet
	for _, in := range t.ways[s] {
		ports = t.outs(ports[:0], s, in, lid, sl)
		for _, port := range ports {
			all.Add(port)
		}
	}
	return all, ports
}
