package updown

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Distributed is MultiRoot as switches can compute it that speak to their neighbours only: section 4.3
// of O. Lysne et al., IEEE TPDS 17(1), 2006. "At
// a given point in the standard UpDown algorithm, all nodes get information about the
// entire topology. If, from this point, they use a deterministic algorithm to calculate the
// roots and the structure of each layer, they will all conclude with the same result."
//
// The paper does not say how they learn of it. Here every switch sends a record of itself
// and what is in its ports to its neighbours, and passes on each record that is new to it.
// It has the whole network when it has a record of every neighbour that its records name,
// which it knows by itself. Then it computes the tables of all switches from its own map,
// and keeps those that are its own. InfiniBand's switches cannot do that; this is to see
// that they would agree.
//
// Guarantee: that of MultiRoot, whatever the order in which messages arrive.
//
// Complexity: a message for every record over every trunk at most, after as many rounds as
// the diameter; then what MultiRoot takes, for each switch.
type Distributed struct {
	// Seed draws for every message how long it takes, up to slowest rounds; 0: all take one.
	Seed uint64
}

// slowest is the most rounds that a message takes.
const slowest = 8

// Settled is the tables with what it took the switches to have them.
type Settled struct {
	Forwarding *routing.Forwarding
	Roots      [][]fabric.NodeID // [switch] as it chose them
	Rounds     int               // until the last switch had the whole network
	Messages   int               // records sent, each over one trunk
}

// record is what a switch tells of itself.
type record struct {
	node  fabric.Node
	port0 fabric.Port
	plugs []plug
}

// plug is what is in a port of a switch.
type plug struct {
	port, peerPort uint8
	peer           fabric.Node
	peerIs         fabric.Port // if the peer is an adapter: its port
	rate           fabric.Rate
}

// message is a record on its way over a trunk.
type message struct {
	over   fabric.ChannelID
	record *record
}

// member is a switch with what it has learnt.
type member struct {
	known   map[fabric.GUID]*record
	missing map[fabric.GUID]bool // named by a record, and without a record of its own
	whole   bool                 // nothing is missing
}

// learn notes a record, and reports whether it was new.
func (m *member) learn(r *record) bool {
	if m.known[r.node.GUID] != nil {
		return false
	}
	m.known[r.node.GUID] = r
	delete(m.missing, r.node.GUID)
	for i := range r.plugs {
		if peer := &r.plugs[i].peer; peer.Kind == fabric.Switch && m.known[peer.GUID] == nil {
			m.missing[peer.GUID] = true
		}
	}
	return true
}

// Settle has the switches of a network find their tables. It refuses a network in parts,
// of which a switch learns its own only.
func (o Distributed) Settle(ctx context.Context, f *fabric.Fabric) (*Settled, error) {
	if len(f.Parts()) > 1 {
		return nil, routing.Refuse(f, "all switches are joined by cables", fabric.None, 0, "the network is in %d parts", len(f.Parts()))
	}
	s := &Settled{Forwarding: routing.NewForwarding(f)}
	members := o.gather(f, s)
	for i := range members {
		if err := members[i].route(ctx, f, fabric.NodeID(i), s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// gather passes records on until every switch has those of all. It counts rounds and messages in s.
func (o Distributed) gather(f *fabric.Fabric, s *Settled) []member {
	draw := rand.New(rand.NewPCG(o.Seed, stream))
	members := make([]member, f.Switches())
	var due [slowest + 1][]message // [round modulo] when they arrive
	underway := 0
	send := func(now int, from fabric.NodeID, except fabric.ChannelID, r *record) {
		for c, end := f.TrunksFrom(from); c < end; c++ {
			if c == except {
				continue
			}
			takes := 1
			if o.Seed != 0 {
				takes += draw.IntN(slowest)
			}
			at := (now + takes) % len(due)
			due[at] = append(due[at], message{over: c, record: r})
			s.Messages++
			underway++
		}
	}
	left := len(members)
	look := func(now int, m *member) {
		if !m.whole && len(m.missing) == 0 {
			m.whole, s.Rounds = true, now
			left--
		}
	}
	for i := range members {
		members[i] = member{known: map[fabric.GUID]*record{}, missing: map[fabric.GUID]bool{}}
		own := recordOf(f, fabric.NodeID(i))
		members[i].learn(own)
		send(0, fabric.NodeID(i), fabric.None, own)
		look(0, &members[i])
	}
	for now := 1; underway > 0; now++ {
		at := now % len(due)
		arrived := due[at]
		due[at] = nil
		for _, m := range arrived {
			underway--
			to := f.Heads()[m.over]
			if members[to].learn(m.record) {
				send(now, to, f.Reverses()[m.over], m.record)
				look(now, &members[to])
			}
		}
	}
	if left > 0 {
		panic(fmt.Sprintf("%d switches of a connected network never hear of all others", left))
	}
	return members
}

// recordOf is the record that a switch makes of itself.
func recordOf(f *fabric.Fabric, s fabric.NodeID) *record {
	r := &record{node: *f.Node(s)}
	attached := map[uint8]*fabric.Endpoint{} // by port of the switch
	for _, e := range f.Attached(s) {
		end := f.Endpoint(e)
		if end.Node == s {
			r.port0 = fabric.Port{GUID: end.PortGUID, LID: end.LID, LMC: end.LMC}
		} else {
			attached[f.Channel(end.Deliver).FromPort] = end
		}
	}
	for port := 1; port <= r.node.Ports; port++ {
		c := f.Out(s, uint8(port))
		if c == fabric.None {
			continue
		}
		ch := f.Channel(c)
		p := plug{port: uint8(port), peerPort: ch.ToPort, peer: *f.Node(ch.To), rate: ch.Rate}
		if e := attached[uint8(port)]; e != nil {
			p.peerIs = fabric.Port{GUID: e.PortGUID, LID: e.LID, LMC: e.LMC}
		}
		r.plugs = append(r.plugs, p)
	}
	return r
}

// route computes the tables of all switches from the map of one, self, and writes its own and the roots
// that it chose into s.
func (m *member) route(ctx context.Context, f *fabric.Fabric, self fabric.NodeID, s *Settled) error {
	own, err := m.network()
	if err != nil {
		return fmt.Errorf("the map of %s: %w", f.Label(self), err)
	}
	t, err := MultiRoot{}.Paths(ctx, own, nil)
	if err != nil {
		return err
	}
	me := own.NodeByGUID(f.Node(self).GUID)
	for lid := range own.LIDs() {
		s.Forwarding.Row(lid)[self] = t.Row(lid)[me]
	}
	var roots []fabric.NodeID
	for _, root := range farApart(own, own.Addresses()) {
		roots = append(roots, f.NodeByGUID(own.Node(root).GUID))
	}
	s.Roots = append(s.Roots, roots)
	return nil
}

// network is the network that the records of a switch tell of.
func (m *member) network() (*fabric.Fabric, error) {
	var b fabric.Builder
	refs := map[fabric.GUID]fabric.Ref{}
	node := func(n fabric.Node) fabric.Ref {
		ref, ok := refs[n.GUID]
		if !ok {
			ref = b.Node(n, "")
			refs[n.GUID] = ref
		}
		return ref
	}
	for _, r := range m.known {
		self := node(r.node)
		b.Port(self, 0, r.port0)
		for i := range r.plugs {
			p := &r.plugs[i]
			peer := node(p.peer)
			if p.peer.Kind == fabric.Switch {
				// A cable between switches is in the records of both.
				if p.peer.GUID < r.node.GUID || p.peer.GUID == r.node.GUID && p.peerPort <= p.port {
					continue
				}
			} else {
				b.Port(peer, p.peerPort, p.peerIs)
			}
			b.Cable(self, p.port, peer, p.peerPort, p.rate)
		}
	}
	return b.Build()
}
