package packets

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Multicast. A packet to a group is copied by every switch to the ports that the group's tree has
// there, except the one it came in by, and keeps its buffer until the last copy has begun to leave. Its
// head requests all of them at once, and each is granted by itself; with a Speedup of 1 one copy
// after the other is read from the in-port. Copies that arrive are delivered to each member; a
// switch takes none for its own port 0. Where links are of different rates, the space is free again
// when the copy that began last has left.

// toGroup reports whether a packet goes to a multicast group.
func (n *Network) toGroup(p *packet) bool {
	return p.address >= int32(routing.FirstMLID) && n.adaptive == nil
}

// tree is the tree of a group; nil: the tables have none.
func (n *Network) tree(lid fabric.LID) *routing.MulticastTree {
	if n.tables == nil || n.tables.Multicast == nil {
		return nil
	}
	for i := range n.tables.Multicast.Trees {
		if t := &n.tables.Multicast.Trees[i]; t.MLID == lid {
			return t
		}
	}
	return nil
}

// coversGroup is Covers for a message to a group.
func (n *Network) coversGroup(m Message) error {
	e := n.Fabric.Endpoint(m.From)
	switch t := n.tree(m.LID); {
	case e.Inject == fabric.None:
		return fmt.Errorf("endpoint %d sends nothing here", m.From)
	case m.From != m.To:
		return fmt.Errorf("a message to multicast group %#x names endpoint %d as its destination, which is to be its source", uint16(m.LID), m.To)
	case n.Config.Flits:
		return fmt.Errorf("flits are not copied: multicast group %#x", uint16(m.LID))
	case t == nil:
		return fmt.Errorf("the tables have no tree for multicast group %#x", uint16(m.LID))
	case n.tables.Multicast.SLs>>m.SL&1 == 0:
		return fmt.Errorf("multicast groups are not on SL %d", m.SL)
	default:
		if ports := t.At(e.Switch); ports.Len() == 0 {
			return fmt.Errorf("the tree of multicast group %#x has no part at %s", uint16(m.LID), n.Fabric.Label(e.Switch))
		}
	}
	return nil
}

// askCopies makes the head of a queue request the buffers of all its copies; without any it drops it.
func (s *region) askCopies(q int32, p *packet) {
	latest, ways := Time(0), 0
	s.eachCopy(q, p, func(into int32) {
		latest = max(latest, s.earliestStart(p, q, into))
		ways++
	})
	switch {
	case latest > s.wheel.now:
		s.wheel.push(latest, code(evHead, q, 0))
	case ways == 0:
		s.dropHead(q)
		if s.far[q].head != none {
			s.fresh = append(s.fresh, q)
		}
	default:
		s.eachCopy(q, p, func(into int32) { s.request(q, into) })
	}
}

// eachCopy visits the buffers to which a switch copies the head of the input buffer of a channel.
// Copies on a lane that there is not are dropped.
func (s *region) eachCopy(q int32, p *packet, visit func(into int32)) {
	in := q >> s.shift
	at, came := fabric.NodeID(s.links[in].to), s.links[in].inPort
	t := s.tree(fabric.LID(p.address))
	if t == nil {
		return
	}
	ports := t.At(at)
	for port := range ports.All() {
		c := s.Fabric.Out(at, port)
		if port == came || c == fabric.None {
			continue
		}
		if vl := s.tables.Lanes.SL2VL.Next(at, came, port, p.sl, s.laneOf(q)); int(vl) < s.lanes {
			visit(s.out(c, vl))
		}
	}
}

// packetFor is the packet to send for a request that is granted: the head of its queue or, if that has
// further copies to send (more), a new packet that is a copy of it; then the head and its other requests
// stay, and the request is withdrawn.
func (s *region) packetFor(r int32) (index int32, more bool) {
	q := s.requests[r].queue
	head := s.far[q].head
	if !s.toGroup(&s.packets[head]) || s.requests[s.far[q].asked].sibling == none {
		return head, false
	}
	index = s.allot()
	s.packets[index] = s.packets[head]
	s.count.created++
	s.count.inside++
	if len(s.sending.phases) > 0 {
		s.sending.open++
	}
	s.withdraw(r)
	return index, true
}

// withdraw takes one request of the head of a queue back, of several.
func (s *region) withdraw(r int32) {
	asked := &s.far[s.requests[r].queue].asked
	if *asked == r {
		*asked = s.requests[r].sibling
	} else {
		at := *asked
		for s.requests[at].sibling != r {
			at = s.requests[at].sibling
		}
		s.requests[at].sibling = s.requests[r].sibling
	}
	s.unlink(r)
}

// headMoves reports whether the head of a queue will leave it, given which buffers it can enter: one of
// those that it requests, or all of them if it is to be copied.
func (s *sim) headMoves(q int32, enters func(into int32) bool) bool {
	at := s.regionOfQueue(q)
	all := s.toGroup(&at.packets[s.far[q].head])
	for r := s.far[q].asked; r != none; r = at.requests[r].sibling {
		if enters(at.requests[r].into) != all {
			return !all
		}
	}
	return all
}

// joinGroups sets groups, share and level: members of multicast groups send a share of their messages
// to them, on the lowest service level of groups.
func (g *generator) joinGroups(n *Network, share float64) error {
	if n.tables == nil || n.tables.Multicast == nil || len(n.tables.Multicast.Trees) == 0 {
		return errors.New("messages to multicast groups, and the tables have no trees")
	}
	if n.Config.Flits {
		return errors.New("flits are not copied, and messages are to go to multicast groups")
	}
	g.share, g.level = share, uint8(bits.TrailingZeros16(n.tables.Multicast.SLs))
	g.groups = make([][]fabric.LID, len(g.gap))
	for i := range n.tables.Multicast.Trees {
		t := &n.tables.Multicast.Trees[i]
		for _, node := range t.Nodes {
			for _, e := range n.Fabric.Attached(node.Switch) {
				if ep := n.Fabric.Endpoint(e); ep.Inject != fabric.None && node.Ports.Has(n.Fabric.LastPort(ep)) {
					g.groups[e] = append(g.groups[e], t.MLID)
				}
			}
		}
	}
	return nil
}
