package deadlock

import (
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/waits/cdg"
	"github.com/weft-fabric/weft/routing"
)

// Multicast holds the same buffers as unicast. A switch sends a packet of a group to every
// port of its tree but the one it came in by, and the packet keeps its buffer until the
// last of these has taken it. So the lane that it holds waits for a lane of each of them,
// and the ranks of a certificate have to rise along all of these dependencies too.
//
// Every endpoint of any kind at a switch of the tree counts as a sender: those that only
// send do not show in the tables.

// MulticastVerdict is what the judge found of the trees of multicast groups.
type MulticastVerdict struct {
	Groups   int
	SLs      uint16       // service levels that they were judged on, as bits
	Circling []fabric.LID // MLIDs whose packets can come back to where they were
	Split    []fabric.LID // MLIDs with a member whose packets do not reach all the others
	OneSided []fabric.LID // MLIDs with a port in their tree whose other end is not in it
}

// Outside lists whose traffic the verdict does not cover.
func (v *Verdict) Outside() []string {
	list := Outside(v.Scope)
	if v.SelfCables {
		list = append(list, selfCablePackets)
	}
	if v.Multicast != nil {
		return list[1:]
	}
	return list
}

// spreader follows the packets of one group after another.
type spreader struct {
	f     *fabric.Fabric
	trees []routing.MulticastTree
	used  uint16 // service levels of their packets, as bits
	sls   uint16 // those of them to follow
	lanes int    // that packets may be on
	maps  nextMap
	tree  *routing.MulticastTree
	sl    uint8
	ports []routing.PortSet  // [switch] of the tree
	held  []uint16           // [trunk] lanes on which packets come, as bits
	queue []fabric.ChannelID // trunks that were reached, first those at sources
	fresh []hop              // lanes that were reached, in this order
	from  []int32            // [trunk × MaxDataVLs + lane] the one before it, or, less than 0, ^EndpointID of the sender
}

// nextMap is the lanes by which packets on a service level leave a switch that came in by a port on
// some lanes; none: from a sender there. Lanes are bits, also dropLane.
type nextMap func(s fabric.NodeID, in, out, sl uint8, came uint16) uint16

// newSpreader is for the groups of all tables, by the SL2VL maps of any.
func newSpreader(d *derivation) *spreader {
	trees, sls := treesOf(d.tables)
	return &spreader{
		f: d.f, trees: trees, used: sls, sls: representatives(d.tables, sls), lanes: d.lanes,
		maps: func(s fabric.NodeID, in, out, sl uint8, came uint16) uint16 {
			return mapped(d.tables, s, in, out, sl, came)
		},
		ports: make([]routing.PortSet, d.f.Switches()), held: make([]uint16, d.f.Trunks()), from: make([]int32, d.f.Trunks()*routing.MaxDataVLs),
	}
}

// each visits every group on every service level, once the lanes that its packets hold are
// known.
func (w *spreader) each(visit func()) {
	for i := range w.trees {
		w.tree = &w.trees[i]
		for _, n := range w.tree.Nodes {
			w.ports[n.Switch] = n.Ports
		}
		for m := w.sls; m != 0; m &= m - 1 {
			w.sl = uint8(bits.TrailingZeros16(m))
			w.spread()
			visit()
			for _, c := range w.queue {
				w.held[c] = 0
			}
		}
		for _, n := range w.tree.Nodes {
			w.ports[n.Switch] = routing.PortSet{}
		}
	}
}

// spread finds the lanes that packets of the group hold on every trunk.
func (w *spreader) spread() {
	w.queue, w.fresh = w.queue[:0], w.fresh[:0]
	for _, n := range w.tree.Nodes {
		all := w.f.Attached(n.Switch)
		for i := range all {
			e := all[(i+1)%len(all)] // port 0 of the switch last
			w.copyTo(n.Switch, w.f.LastPort(w.f.Endpoint(e)), 0, ^int32(e))
		}
	}
	for i := 0; i < len(w.fresh); i++ {
		h := w.fresh[i]
		c := w.f.Channel(h.trunk)
		w.copyTo(c.To, c.ToPort, bit(h.vl), int32(h.trunk)*routing.MaxDataVLs+int32(h.vl))
	}
}

// copyTo sends packets that entered a switch by a port on some lanes to the trunks of the tree.
func (w *spreader) copyTo(s fabric.NodeID, in uint8, came uint16, from int32) {
	w.branches(s, in, came, func(out fabric.ChannelID, lanes uint16) {
		if w.held[out] == 0 {
			w.queue = append(w.queue, out)
		}
		for fresh := lanes &^ w.held[out]; fresh != 0; fresh &= fresh - 1 {
			vl := uint8(bits.TrailingZeros16(fresh))
			w.fresh = append(w.fresh, hop{out, vl})
			w.from[int(out)*routing.MaxDataVLs+int(vl)] = from
		}
		w.held[out] |= lanes
	})
}

// branches visits the trunks to which a switch copies packets that came in by a port on some
// lanes, with their lanes. Those on which the packets are dropped are left out.
func (w *spreader) branches(s fabric.NodeID, in uint8, came uint16, visit func(out fabric.ChannelID, lanes uint16)) {
	for port := range w.ports[s].All() {
		c := w.f.Trunk(s, port)
		if port == in || c == fabric.None {
			continue
		}
		if lanes := w.maps(s, in, port, w.sl, came) &^ (1 << dropLane); lanes != 0 {
			visit(c, lanes)
		}
	}
}

// addMulticast adds the dependencies of the trees to those of unicast, and says what was found of them; nil: there are none.
// Whether they are whole is not asked while they change.
func (d *derivation) addMulticast() *MulticastVerdict {
	if !slices.ContainsFunc(d.tables, func(t *routing.Tables) bool { return t.Multicast != nil }) {
		return nil
	}
	w := newSpreader(d)
	v := &MulticastVerdict{Groups: len(w.trees), SLs: w.used}
	add := func(list *[]fabric.LID, found bool) {
		if found {
			*list = append(*list, w.tree.MLID)
		}
	}
	w.each(func() {
		if d.simple {
			w.noteSame(d.same, d.inUse)
		} else {
			w.note(d.matrix, d.inUse)
		}
		first := w.sl == uint8(bits.TrailingZeros16(v.SLs))
		switch {
		case d.change:
			add(&v.Circling, !slices.Contains(v.Circling, w.tree.MLID) && w.circles())
		case first:
			add(&v.Circling, w.circles())
			add(&v.Split, w.split())
			add(&v.OneSided, w.oneSided())
		}
	})
	return v
}

// note adds what packets of the group hold and wait for to a matrix of all turns.
func (w *spreader) note(matrix []uint64, inUse []uint16) {
	words := cdg.WordsPerTurn(w.lanes)
	for _, c := range w.queue {
		inUse[c] |= w.held[c]
		ch := w.f.Channel(c)
		for from := w.held[c]; from != 0; from &= from - 1 {
			w.branches(ch.To, ch.ToPort, from&-from, func(out fabric.ChannelID, lanes uint16) {
				turn := matrix[w.f.Turn(c, out)*words:][:words]
				for to := lanes; to != 0; to &= to - 1 {
					cdg.Add(turn, w.lanes, uint8(bits.TrailingZeros16(from)), uint8(bits.TrailingZeros16(to)))
				}
			})
		}
	}
}

// noteSame does the same where no packet changes lanes.
func (w *spreader) noteSame(same cdg.SameLane, inUse []uint16) {
	for _, c := range w.queue {
		inUse[c] |= w.held[c]
		ch := w.f.Channel(c)
		w.branches(ch.To, ch.ToPort, w.held[c], func(out fabric.ChannelID, _ uint16) { same.Add(w.f.Turn(c, out), w.held[c]) })
	}
}

// circles reports whether packets of the group can come back to a trunk that they took.
func (w *spreader) circles() bool {
	left := make(map[fabric.ChannelID]int, len(w.queue)) // trunks before it that packets can come by
	for _, c := range w.queue {
		w.branches(w.f.Channel(c).To, w.f.Channel(c).ToPort, w.held[c], func(out fabric.ChannelID, _ uint16) { left[out]++ })
	}
	var free []fabric.ChannelID
	for _, c := range w.queue {
		if left[c] == 0 {
			free = append(free, c)
		}
	}
	for i := 0; i < len(free); i++ {
		w.branches(w.f.Channel(free[i]).To, w.f.Channel(free[i]).ToPort, w.held[free[i]], func(out fabric.ChannelID, _ uint16) {
			if left[out]--; left[out] == 0 {
				free = append(free, out)
			}
		})
	}
	return len(free) < len(w.queue)
}

// split reports whether packets of some member do not come to all switches with members.
func (w *spreader) split() bool {
	var members []fabric.NodeID
	for _, n := range w.tree.Nodes {
		for port := range n.Ports.All() {
			if c := w.f.Out(n.Switch, port); port == 0 || c != fabric.None && int(c) >= w.f.Trunks() {
				members = append(members, n.Switch)
				break
			}
		}
	}
	for _, from := range members {
		if w.reached(from, members) < len(members) {
			return true
		}
	}
	return false
}

// oneSided reports whether the tree has a port that leads to a port of a switch which is not in
// it: all ports of a whole tree are, for packets come and go by each. Ports without a cable
// are those of hosts that left, or leave the tree in pieces.
func (w *spreader) oneSided() bool {
	for _, n := range w.tree.Nodes {
		for port := range n.Ports.All() {
			c := w.f.Trunk(n.Switch, port)
			if c == fabric.None {
				continue
			}
			if ch := w.f.Channel(c); !w.ports[ch.To].Has(ch.ToPort) {
				return true
			}
		}
	}
	return false
}

// reached counts the switches with members that packets from one of them come to.
func (w *spreader) reached(from fabric.NodeID, members []fabric.NodeID) int {
	seen := map[hop]bool{}
	at := map[fabric.NodeID]bool{from: true}
	var queue []hop
	enter := func(s fabric.NodeID, in uint8, came uint16) {
		w.branches(s, in, came, func(out fabric.ChannelID, lanes uint16) {
			at[w.f.Heads()[out]] = true
			for ; lanes != 0; lanes &= lanes - 1 {
				if h := (hop{out, uint8(bits.TrailingZeros16(lanes))}); !seen[h] {
					seen[h] = true
					queue = append(queue, h)
				}
			}
		})
	}
	enter(from, 0, 0)
	for i := 0; i < len(queue); i++ {
		c := w.f.Channel(queue[i].trunk)
		enter(c.To, c.ToPort, bit(queue[i].vl))
	}
	n := 0
	for _, s := range members {
		if at[s] {
			n++
		}
	}
	return n
}

// cause finds a group whose packets hold one hop and wait for the other.
func (w *spreader) cause(hold, want hop) (step LoopStep, found bool) {
	w.each(func() {
		if found || w.held[hold.trunk]>>hold.vl&1 == 0 {
			return
		}
		ch := w.f.Channel(hold.trunk)
		w.branches(ch.To, ch.ToPort, bit(hold.vl), func(out fabric.ChannelID, lanes uint16) {
			if out == want.trunk && lanes>>want.vl&1 == 1 {
				found = true
			}
		})
		if found {
			step = LoopStep{Trunk: hold.trunk, VL: hold.vl, SL: w.sl, Dst: w.tree.MLID, Multicast: true, Src: w.sender(hold)}
		}
	})
	return step, found
}

// sender is an endpoint whose packets come to a hop.
func (w *spreader) sender(h hop) fabric.EndpointID {
	at := int32(h.trunk)*routing.MaxDataVLs + int32(h.vl)
	for at >= 0 {
		at = w.from[at]
	}
	return fabric.EndpointID(^at)
}

// markStuck marks the lanes that packets of a group hold of which some branch leads to a lane
// without a rank: they leave when all of their branches have taken them.
func (w *spreader) markStuck(rank []int32, stuck []bool) {
	w.each(func() {
		for _, c := range w.queue {
			ch := w.f.Channel(c)
			for m := w.held[c]; m != 0; m &= m - 1 {
				w.branches(ch.To, ch.ToPort, m&-m, func(out fabric.ChannelID, lanes uint16) {
					for ; lanes != 0; lanes &= lanes - 1 {
						if rank[int(out)*w.lanes+bits.TrailingZeros16(lanes)] == unranked32 {
							stuck[int(c)*w.lanes+bits.TrailingZeros16(m)] = true
						}
					}
				})
			}
		}
	})
}

// treesOf is the trees of several tables, united by group: while one replaces the other, a
// switch copies packets by the ports of either. sls is the service levels of all of them, as
// bits; 0: there are none.
func treesOf(tables []*routing.Tables) (trees []routing.MulticastTree, sls uint16) {
	at := map[fabric.LID]int{}
	for _, t := range tables {
		if t.Multicast == nil {
			continue
		}
		sls |= t.Multicast.SLs
		for _, tree := range t.Multicast.Trees {
			i, known := at[tree.MLID]
			if !known {
				at[tree.MLID] = len(trees)
				trees = append(trees, routing.MulticastTree{MLID: tree.MLID, Nodes: slices.Clone(tree.Nodes)})
				continue
			}
			trees[i].Nodes = unitedNodes(trees[i].Nodes, tree.Nodes)
		}
	}
	return trees, sls
}

// unitedNodes is the switches of either tree with the ports that they have in either.
func unitedNodes(a, b []routing.TreeNode) (all []routing.TreeNode) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Switch < b[0].Switch:
			all, a = append(all, a[0]), a[1:]
		case len(a) == 0 || b[0].Switch < a[0].Switch:
			all, b = append(all, b[0]), b[1:]
		default:
			n := a[0]
			for port := range b[0].Ports.All() {
				n.Ports.Add(port)
			}
			all, a, b = append(all, n), a[1:], b[1:]
		}
	}
	return all
}
