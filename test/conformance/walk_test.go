package conformance

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// lane is a virtual lane of a trunk: what a packet holds, and waits for.
type lane struct {
	trunk fabric.ChannelID
	vl    int32 // as wide as trunk: a map of lanes hashes them in one go
}

// edge is a dependency: whoever holds from may wait for to.
type edge struct{ from, to lane }

// What becomes of a packet.
const (
	arrives = "arrives"
	dropped = "dropped"
)

// plug is a port of a node.
type plug struct {
	node fabric.NodeID
	port uint8
}

// network is the cables of a fabric by their ends.
type network struct {
	f     *fabric.Fabric
	cable [][256]fabric.ChannelID // [node][port]; None
	way   []lane                  // of the walk before, whose room the next one takes
	seen  []plug
}

func newNetwork(f *fabric.Fabric) *network {
	n := &network{f: f, cable: make([][256]fabric.ChannelID, len(f.Nodes()))}
	for v := range n.cable {
		for p := range n.cable[v] {
			n.cable[v][p] = fabric.None
		}
	}
	for i, c := range f.Channels() {
		n.cable[c.From][c.FromPort] = fabric.ChannelID(i)
	}
	return n
}

// at is the channel that leaves by a port.
func (n *network) at(p plug) (c fabric.ChannelID, cabled bool) {
	c = n.cable[p.node][p.port]
	return c, c != fabric.None
}

// isTrunk reports whether a channel joins two different switches.
func (n *network) isTrunk(c fabric.ChannelID) bool {
	ch := n.f.Channels()[c]
	return ch.From != ch.To && n.f.Nodes()[ch.From].Kind == fabric.Switch && n.f.Nodes()[ch.To].Kind == fabric.Switch
}

// delivery is the port by which the switch of an endpoint delivers to it.
func delivery(f *fabric.Fabric, e fabric.Endpoint) uint8 {
	if e.Deliver == fabric.None {
		return 0
	}
	return f.Channels()[e.Deliver].FromPort
}

// walk sends a packet for a LID into the switch and port where it enters. lanes
// says by which lane it leaves; nil: packets have no lanes and none is dropped.
// The way ends where the packet does, or one hop after a place where it was
// before; it is good until the next walk.
func (n *network) walk(fw *routing.Forwarding, at plug, lid fabric.LID, lanes func(s fabric.NodeID, in, out uint8) uint8) (way []lane, fate string) {
	dest := n.f.Endpoints()[n.f.Owner(lid)]
	seen := n.seen[:0]
	way = n.way[:0]
	defer func() { n.way, n.seen = way, seen }()
	for last := false; ; {
		port := fw.Port(at.node, lid)
		c, cabled := n.at(plug{at.node, port})
		home := at.node == dest.Switch && port == delivery(n.f, dest)
		switch {
		case port == routing.NoPort:
			return way, deadlock.NoEntry.String()
		case home && port == 0:
			return way, arrives
		case port == 0:
			return way, deadlock.WrongNode.String()
		case !cabled:
			return way, deadlock.DeadPort.String()
		case !home && !n.isTrunk(c):
			return way, deadlock.WrongNode.String()
		}
		hop := lane{trunk: c}
		if lanes != nil {
			if hop.vl = int32(lanes(at.node, at.port, port)); hop.vl == 15 {
				return way, dropped
			}
		}
		if home {
			return way, arrives
		}
		way = append(way, hop)
		if last {
			return way, deadlock.Circles.String()
		}
		last = slices.Contains(seen, at)
		seen = append(seen, at)
		at = plug{n.f.Channels()[c].To, n.f.Channels()[c].ToPort}
	}
}

// entry is where the packets of an endpoint enter its switch.
func entry(f *fabric.Fabric, e fabric.Endpoint) plug {
	if e.Inject == fabric.None {
		return plug{e.Switch, 0}
	}
	return plug{e.Switch, f.Channels()[e.Inject].ToPort}
}

// allowed is the service levels of the packets from an endpoint to a LID: none
// where the contract keeps the tables' and they give none.
func allowed(t *routing.Tables, contract routing.Contract, from fabric.EndpointID, lid fabric.LID) []uint8 {
	var all []uint8
	there, called := t.Lanes.SL(from, lid), contract.String()
	for s := range uint8(16) {
		switch called {
		case "directed":
			if s == there {
				all = append(all, s)
			}
		case "honored":
			if s == there || there != routing.NoSL && answersOn(t, s, from, lid) {
				all = append(all, s)
			}
		case "any":
			all = append(all, s)
		default:
			if contract == routing.Single(s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// answersOn reports whether the owner of a LID may send to an endpoint on a service
// level, and so is answered on it.
func answersOn(t *routing.Tables, sl uint8, from fabric.EndpointID, lid fabric.LID) bool {
	e := t.Fabric.Endpoints()[from]
	for back := e.LID; back < e.LID+1<<e.LMC; back++ {
		if t.Lanes.SL(t.Fabric.Owner(lid), back) == sl {
			return true
		}
	}
	return false
}

// inScope reports whether an endpoint sends and receives.
func inScope(scope routing.Scope, e fabric.Endpoint) bool {
	switch scope {
	case routing.HCA:
		return e.Switch != fabric.None && e.Class == fabric.HostAdapter
	case routing.Adapters:
		return e.Switch != fabric.None && e.Class != fabric.SwitchPort
	}
	return e.Switch != fabric.None
}

// findings is what the twin of the judge finds.
type findings struct {
	pairs, unreachable, stray, loops int64
	drops                            bool
	lost                             []deadlock.Lost
	edges                            map[edge]bool
	used                             map[lane]bool
	sls                              uint16
	laneMask                         uint16
}

// judge sends every packet that may be sent.
func judge(t *routing.Tables, contract routing.Contract, scope routing.Scope) *findings {
	n := newNetwork(t.Fabric)
	r := &findings{edges: map[edge]bool{}, used: map[lane]bool{}}
	for to, dest := range t.Fabric.Endpoints() {
		if !inScope(scope, dest) {
			continue
		}
		for lid := dest.LID; lid < dest.LID+1<<dest.LMC; lid++ {
			fates := n.fates(t.Forwarding, lid)
			senders := make([]int64, t.Fabric.Switches())
			mute := map[fabric.NodeID]int64{} // sources that may use no LID of the destination
			for from, src := range t.Fabric.Endpoints() {
				if from == to || !inScope(scope, src) {
					continue
				}
				given := t.Lanes.SL(fabric.EndpointID(from), lid)
				if given == routing.NoSL && (contract == routing.Honored || contract == routing.Directed) {
					if lid == dest.LID && r.unaddressed(t, fabric.EndpointID(from), dest) {
						mute[src.Switch]++
					}
					continue
				}
				if given != routing.NoSL {
					r.sls |= 1 << given
				}
				senders[src.Switch]++
				r.pairs++
				if fates[src.Switch] != arrives {
					r.unreachable++
				}
				for _, sl := range allowed(t, contract, fabric.EndpointID(from), lid) {
					r.send(n, t, entry(t.Fabric, src), lid, sl)
				}
			}
			for s, sources := range mute {
				r.lost = append(r.lost, deadlock.Lost{Switch: s, LID: lid, Why: deadlock.NoAddress, Pairs: sources})
			}
			r.lose(lid, fates, senders)
		}
	}
	slices.SortStableFunc(r.lost, func(a, b deadlock.Lost) int {
		return cmp.Or(cmp.Compare(a.LID, b.LID), cmp.Compare(a.Switch, b.Switch))
	})
	return r
}

// unaddressed counts a source that must not use any LID of a destination.
func (r *findings) unaddressed(t *routing.Tables, from fabric.EndpointID, dest fabric.Endpoint) bool {
	for lid := dest.LID; lid < dest.LID+1<<dest.LMC; lid++ {
		if t.Lanes.SL(from, lid) != routing.NoSL {
			return false
		}
	}
	r.pairs++
	r.unreachable++
	return true
}

// fates is what becomes of packets for a LID at every switch, lanes aside.
func (n *network) fates(fw *routing.Forwarding, lid fabric.LID) []string {
	fates := make([]string, n.f.Switches())
	for s := range fates {
		_, fates[s] = n.walk(fw, plug{fabric.NodeID(s), 0}, lid, nil)
	}
	return fates
}

// send notes what one packet holds and waits for.
func (r *findings) send(n *network, t *routing.Tables, at plug, lid fabric.LID, sl uint8) {
	way, fate := n.walk(t.Forwarding, at, lid, func(s fabric.NodeID, in, out uint8) uint8 {
		return t.Lanes.SL2VL.VL(s, in, out, sl)
	})
	r.drops = r.drops || fate == dropped
	for i, l := range way {
		r.used[l] = true
		r.laneMask |= 1 << l.vl
		if i > 0 {
			r.edges[edge{way[i-1], l}] = true
		}
	}
}

// lose counts the switches from which packets for a LID do not arrive.
func (r *findings) lose(lid fabric.LID, fates []string, senders []int64) {
	for s, fate := range fates {
		if fate == arrives {
			continue
		}
		circles := fate == deadlock.Circles.String()
		if circles {
			r.loops++
		}
		if senders[s] == 0 {
			r.stray++
		}
		if senders[s] > 0 || circles {
			r.lost = append(r.lost, deadlock.Lost{Switch: fabric.NodeID(s), LID: lid, Why: lossNamed(fate), Pairs: senders[s]})
		}
	}
}

func lossNamed(fate string) deadlock.Loss {
	for _, l := range []deadlock.Loss{deadlock.NoEntry, deadlock.DeadPort, deadlock.WrongNode, deadlock.Circles} {
		if l.String() == fate {
			return l
		}
	}
	panic("no loss is called " + fate)
}

func (r *findings) vls() int { return max(1, bits.OnesCount16(r.laneMask)) }
