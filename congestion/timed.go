package congestion

import (
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Where waiting ends. In a lossless network a port waits because the switch behind it is
// full, and that switch is full because one of its ports cannot get rid of packets. Going
// from what waits to what it waits for, one comes to a switch into which ports wait and out
// of which none does: one of the cables out of it carries all that it can. If no cable of the
// network is near what its rate allows, that one is slower than the fabric says.

// timed is counters as shares of the time in which they were counted; nil if that or the
// length of a tick is not known.
type timed struct {
	f    *fabric.Fabric
	t    *routing.Tables
	fan  *fan      // where switches choose
	sls  uint16    // service levels to look at, as bits
	wait []float64 // [ChannelID] share of the time for which its port waited
	in   []float64 // [switch] the largest wait of a channel to it
	out  []float64 // [switch] the largest wait of a channel from it
	busy bool      // some cable is full: that others wait is for want of bandwidth
}

func newTimed(tables *routing.Tables, c Counted) *timed {
	if c.Seconds <= 0 || c.Tick <= 0 {
		return nil
	}
	f := tables.Fabric
	n := len(f.Channels())
	t := &timed{f: f, t: tables, fan: newFan(tables), sls: 1, wait: make([]float64, n),
		in: make([]float64, f.Switches()), out: make([]float64, f.Switches())}
	if t.fan != nil {
		t.sls = tables.Levels()
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

// explains says whether load alone explains that a trunk waits.
func (t *timed) explains(c fabric.ChannelID) bool {
	return t != nil && (t.busy || t.wait[c] < slowShare)
}

// slow names the cable at which most waiting ends, if there is one: others may wait for it
// in turn.
func (t *timed) slow() []Finding {
	if t == nil || t.busy {
		return nil
	}
	at, share := fabric.NodeID(fabric.None), slowShare
	for s := range fabric.NodeID(t.f.Switches()) {
		if d := t.in[s] - t.out[s]; d > share {
			at, share = s, d
		}
	}
	if at == fabric.None {
		return nil
	}
	c := t.outOf(at)
	if c == fabric.None {
		return nil
	}
	return []Finding{{Trunk: c, Kind: Slow, Factor: share}}
}

// outOf is the trunk out of a switch for which packets wait the longest in the mean over
// those that go on by it. Cables are slow in both directions: half as much counts what
// waits at their other end.
func (t *timed) outOf(s fabric.NodeID) fabric.ChannelID {
	best, most := fabric.ChannelID(fabric.None), 0.0
	here := t.waitFor(s)
	for c, v := range here {
		reverse := t.f.Channel(c).Reverse
		v += t.waitFor(t.f.Channel(c).To)[reverse] / 2
		if v > most || v == most && c < best {
			best, most = c, v
		}
	}
	return best
}

// waitFor is by trunk out of a switch the share of the time for which what goes on by it
// waited to come in, less that for which the trunk itself waits: the mean over in-ports and
// destinations, and, where the switch chooses, with the parts of flows as weights.
func (t *timed) waitFor(s fabric.NodeID) map[fabric.ChannelID]float64 {
	type mean struct{ sum, n float64 }
	means := map[fabric.ChannelID]mean{}
	f := t.f
	var ports []uint8
	for port := 1; port <= f.Node(s).Ports; port++ {
		out := f.Out(s, uint8(port))
		if out == fabric.None {
			continue
		}
		in := f.Channel(out).Reverse
		from := f.Channel(in)
		for lid, e := range routing.HCA.LIDs(f) {
			if f.Endpoint(e).Node == from.From {
				continue
			}
			for sls := t.sls; sls != 0; sls &= sls - 1 {
				sl := uint8(bits.TrailingZeros16(sls))
				if int(in) < f.Trunks() && !t.sends(from.From, from.FromPort, lid, sl) {
					continue
				}
				ports = t.outs(ports[:0], s, uint8(port), lid, sl)
				for _, p := range ports {
					if next := f.Out(s, p); next >= 0 && int(next) < f.Trunks() {
						m, part := means[next], 1/float64(len(ports))
						means[next] = mean{m.sum + part*t.wait[in], m.n + part}
					}
				}
			}
		}
	}
	waits := map[fabric.ChannelID]float64{}
	for c, m := range means {
		waits[c] = m.sum/m.n - t.wait[c]
	}
	return waits
}

// outs appends the ports by which packets to a LID that came by a port may leave a switch.
func (t *timed) outs(ports []uint8, s fabric.NodeID, in uint8, lid fabric.LID, sl uint8) []uint8 {
	if t.fan == nil {
		return append(ports, t.t.Forwarding.Port(s, lid))
	}
	return t.fan.outs(ports, t.fan.place[t.fan.first[s]+int(in)], lid, sl)
}

// sends says whether a switch may send packets to a LID by a port, wherever they came in.
func (t *timed) sends(s fabric.NodeID, port uint8, lid fabric.LID, sl uint8) bool {
	if t.fan == nil {
		return t.t.Forwarding.Port(s, lid) == port
	}
	for in := range uint8(t.f.Node(s).Ports + 1) {
		if slices.Contains(t.outs(nil, s, in, lid, sl), port) {
			return true
		}
	}
	return false
}
