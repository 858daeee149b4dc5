package judge

import (
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/dependencies"
)

// Step is a lane of a circle, and why packets in it wait for the lane of the next step.
type Step struct {
	Link   ethernet.LinkID
	Lane   int
	Mark   uint8             // of the packets on this link
	Class  int               // that they belong to; that of the outer header where they are in a tunnel
	Sent   int               // the class that hosts sent them for, which is another one in a tunnel
	Tunnel int               // the class of the outer header if they are wrapped where the link ends, None otherwise
	Path   []ethernet.LinkID // how they come from a sender: links up to Link and the next one
}

// witness finds for each step of a circle, which Verify gives it as vertices, packets that wait so. It follows the
// classes again, and now remembers how packets came from the sender; classes in tunnels come last.
func witness(d *dependencies.Graph, cycle []int32, scope ethernet.Scope) []Step {
	steps := make([]Step, len(cycle))
	open := len(cycle) // steps without a witness
	for i, v := range cycle {
		steps[i] = Step{Link: ethernet.LinkID(int(v) / d.Lanes), Lane: int(v) % d.Lanes, Class: ethernet.None, Tunnel: ethernet.None}
	}
	from := dependencies.Sources(d.Network, scope)
	seeds := map[int][]traced{} // by class of the outer header
	t := &tracer{d: d}
	look := func(class int) { // for steps that packets of the class make that t has just followed
		for i := range steps {
			if steps[i].Class == ethernet.None && t.explains(&steps[i], cycle[(i+1)%len(cycle)], class) {
				steps[i].Class = class
				open--
			}
		}
	}
	for class := range d.Network.Classes {
		if open > 0 && d.Network.Wanted(class, scope) {
			t.follow(class, from, nil) // as packets are sent, in no tunnel
			look(class)
			t.intoTunnels(class, from, seeds)
		}
	}
	for class := range d.Network.Classes {
		if open > 0 && len(seeds[class]) > 0 {
			t.follow(class, nil, seeds[class])
			look(class)
		}
	}
	return steps
}

// state is packets with a mark on a link; the link is None where they are at a sender.
type state struct {
	link ethernet.LinkID
	mark uint8
}

// traced is the first state of packets that a tunnel has wrapped, and how they came from a sender.
type traced struct {
	state
	sent int               // the class that hosts sent them for
	path []ethernet.LinkID // up to the link of the state
}

// tracer follows one class and remembers where packets came from.
type tracer struct {
	d     *dependencies.Graph
	class *ethernet.Class
	came  map[state]state  // the one before; link None: packets are sent, or enter a tunnel, in this one
	seeds map[state]traced // of those in which packets enter a tunnel
	order []state          // all that were reached, in that order
}

// follow finds every state that packets of a class get to: those that are sent at the devices from, and those that
// are wrapped into its header, which begin at the seeds. It forgets the class before.
func (t *tracer) follow(class int, from []ethernet.DeviceID, seeds []traced) {
	n := t.d.Network
	t.class = &n.Classes[class]
	t.came, t.seeds, t.order = map[state]state{}, map[state]traced{}, t.order[:0]
	enter := func(s, before state) {
		if _, seen := t.came[s]; !seen {
			t.came[s] = before
			t.order = append(t.order, s)
		}
	}
	for _, at := range from {
		n.Each(n.Words(t.class.Next, at), at, func(out ethernet.LinkID) {
			for m := n.Priorities.Start; m != 0; m &= m - 1 {
				mark := uint8(bits.TrailingZeros64(m))
				enter(state{out, n.Priorities.Rules.Becomes(ethernet.None, out, mark)}, state{ethernet.None, mark})
			}
		})
	}
	for _, s := range seeds {
		if t.seeds[s.state].path == nil {
			t.seeds[s.state] = s
		}
		enter(s.state, state{link: ethernet.None})
	}
	for i := 0; i < len(t.order); i++ {
		s := t.order[i]
		at := n.Links[s.link].To
		n.Each(n.Words(t.class.Next, at), at, func(out ethernet.LinkID) {
			enter(state{out, n.Priorities.Rules.Becomes(s.link, out, s.mark)}, s)
		})
	}
}

// path is the links from the sender up to a state that follow found, and the class that packets were sent for: that
// of before the tunnel, if they are in one.
func (t *tracer) path(s state, class int) (path []ethernet.LinkID, sent int) {
	for { // backwards
		if seed := t.seeds[s]; seed.path != nil && t.came[s].link == ethernet.None {
			for i := len(seed.path) - 1; i >= 0; i-- {
				path = append(path, seed.path[i])
			}
			class = seed.sent
			break
		}
		path = append(path, s.link)
		if s = t.came[s]; s.link == ethernet.None {
			break
		}
	}
	slices.Reverse(path)
	return path, class
}

// explains looks whether packets of the class that was followed, in the step's lane, wait for the vertex next: as
// they are or, where a tunnel begins, wrapped. If so, it fills in the step, except for its class.
func (t *tracer) explains(s *Step, next int32, class int) bool {
	n := t.d.Network
	out := ethernet.LinkID(int(next) / t.d.Lanes)
	for mark := range uint8(len(n.Priorities.Marks)) {
		here := state{s.Link, mark}
		if _, seen := t.came[here]; !seen || t.d.Vertex(s.Link, mark) != vertexOf(t.d, s) {
			continue
		}
		if n.Has(t.class.Next, out) && t.d.Vertex(out, n.Priorities.Rules.Becomes(s.Link, out, mark)) == next {
			s.Mark = mark
			s.Path, s.Sent = t.path(here, class)
			s.Path = append(s.Path, out)
			return true
		}
		for _, tunnel := range t.class.Tunnels {
			if tunnel.Device == n.Links[s.Link].To && n.Has(n.Classes[tunnel.Into].Next, out) && t.wraps(tunnel, here, out, next) {
				s.Mark, s.Tunnel = mark, tunnel.Into
				s.Path, s.Sent = t.path(here, class)
				s.Path = append(s.Path, out)
				return true
			}
		}
	}
	return false
}

// wraps reports whether packets that a tunnel wraps in state s can wait for the vertex next, a lane of link out.
func (t *tracer) wraps(tunnel ethernet.Tunnel, s state, out ethernet.LinkID, next int32) bool {
	n := t.d.Network
	for set := n.TunnelMaps[tunnel.Map][s.mark]; set != 0; set &= set - 1 {
		if t.d.Vertex(out, n.Priorities.Rules.Becomes(s.link, out, uint8(bits.TrailingZeros64(set)))) == next {
			return true
		}
	}
	return false
}

// vertexOf is the lane of a step as a vertex.
func vertexOf(d *dependencies.Graph, s *Step) int32 { return int32(int(s.Link)*d.Lanes + s.Lane) }

// intoTunnels adds to the seeds, by class of the outer header, the states in which packets of the class that was
// followed are when they have been wrapped.
func (t *tracer) intoTunnels(class int, from []ethernet.DeviceID, seeds map[int][]traced) {
	n := t.d.Network
	for _, tunnel := range t.class.Tunnels {
		wrap := func(in ethernet.LinkID, mark uint8, path []ethernet.LinkID) {
			n.Each(n.Words(n.Classes[tunnel.Into].Next, tunnel.Device), tunnel.Device, func(out ethernet.LinkID) {
				whole := append(slices.Clone(path), out)
				for set := n.TunnelMaps[tunnel.Map][mark]; set != 0; set &= set - 1 {
					mark := n.Priorities.Rules.Becomes(in, out, uint8(bits.TrailingZeros64(set)))
					seeds[tunnel.Into] = append(seeds[tunnel.Into], traced{state: state{out, mark}, sent: class, path: whole})
				}
			})
		}
		if slices.Contains(from, tunnel.Device) {
			for m := n.Priorities.Start; m != 0; m &= m - 1 {
				wrap(ethernet.None, uint8(bits.TrailingZeros64(m)), nil)
			}
		}
		for _, s := range t.order {
			if n.Links[s.link].To == tunnel.Device {
				path, _ := t.path(s, class)
				wrap(s.link, s.mark, path)
			}
		}
	}
}
