package packets

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/routing"
)

// Network is hardware with a routing: everything about a simulation that is the same
// for all runs. Runs only read it, so several may go on at once.
//
// Ports. Everything that sends is a port: first the channels of the fabric by their
// numbers; with output buffers as many again, for the way through the switch to each
// channel; then the endpoints, where packets begin. A port has a buffer for each lane
// at its far end. Buffers are numbered port << shift | lane.
type Network struct {
	Fabric *fabric.Fabric
	Config Config

	tables   *routing.Tables
	rewrites []Rewrite // in their order
	adaptive *adaptive.Tables

	addresses addresses // of adaptive

	lanes    int
	shift    uint8
	channels int32
	ports    int32  // the number of channels, twice that with output buffers
	links    []link // [port]
	kinds    []portKind
	unequal  bool               // some links are faster than others
	uniform  [routing.SLs]uint8 // the lane of each service level, unless perPort
	perPort  bool               // the SL2VL map depends on the ports
	byLane   bool               // some switches look up lanes by the lane on which a packet came
	regions  int                // how many
	regionOf []uint8            // [switch]
}

// link is the far end of a port.
type link struct {
	to     int32 // the switch at the far end; -1: an endpoint, or an output buffer
	kind   uint8
	inPort uint8 // of that switch
}

// portKind is the rate, delays and buffer size that ports have in common.
type portKind struct {
	perByte int64 // time of a byte in ps, with rateShift binary digits after the point
	latency Time  // from the start of sending to the earliest time to go on at the far end
	credit  Time  // time for a credit to come back
	blocks  int32 // buffer of each lane at the far end
}

// New is a network that forwards by tables. It refuses tables that do not fit the
// fabric and a Config that makes no sense.
func New(t *routing.Tables, c Config) (*Network, error) {
	return newNetwork(c, t)
}

// newNetwork is New with lanes enough for some tables, the first of which are in force.
func newNetwork(c Config, tables ...*routing.Tables) (*Network, error) {
	n := &Network{Fabric: tables[0].Fabric, Config: c, tables: tables[0]}
	for _, t := range tables {
		if err := t.Check(); err != nil {
			return nil, err
		}
		n.byLane = n.byLane || t.Lanes.SL2VL.AnyByLane()
	}
	if c.AnyLane && n.byLane {
		return nil, errors.New("switches choose the lane of a packet by the lane it came in on, so endpoints cannot send on any lane: without that (--any-lane) they send on that of the service level")
	}
	var ok bool
	n.uniform, ok = n.tables.Lanes.SL2VL.Uniform()
	n.perPort = !ok
	return n, n.build(n.lanesOf(tables...))
}

// NewAdaptive is a network whose switches choose among several ports.
func NewAdaptive(t *adaptive.Tables, c Config) (*Network, error) {
	if err := t.Valid(); err != nil {
		return nil, err
	}
	n := &Network{Fabric: t.Fabric, Config: c, adaptive: t, addresses: listAddresses(t)}
	return n, n.build(len(t.Lanes))
}

// Lanes is the number of lanes of every port.
func (n *Network) Lanes() int { return n.lanes }

// build checks the Config and makes the links, for tables that use so many lanes.
func (n *Network) build(used int) error {
	c := &n.Config
	if err := c.check(); err != nil {
		return err
	}
	n.lanes = max(1, used)
	if c.Lanes > 0 {
		if c.Lanes < n.lanes {
			return fmt.Errorf("the tables use lane %d; there are %d lanes", n.lanes-1, c.Lanes)
		}
		n.lanes = c.Lanes
	}
	if err := c.Arbitration.serves(n.lanes); err != nil {
		return err
	}
	n.shift = uint8(bits.Len(uint(n.lanes - 1)))
	f := n.Fabric
	n.channels = int32(len(f.Channels()))
	n.ports = n.channels
	if c.OutBuffer > 0 {
		n.ports *= 2
	}
	n.links = make([]link, int(n.ports)+len(f.Endpoints()))
	for i := range f.Channels() {
		n.buildLink(fabric.ChannelID(i))
	}
	const asFast = 0 // as many regions as are fastest
	n.split(asFast)
	return nil
}

// buildLink makes the link of a channel, and that of the way into its output buffer.
func (n *Network) buildLink(i fabric.ChannelID) {
	c, ch := &n.Config, n.Fabric.Channel(i)
	k := portKind{perByte: c.perByte(ch.Rate), latency: c.Cable, credit: c.Cable + c.Credit, blocks: int32(c.Buffer / Block)}
	if c.OutBuffer > 0 { // the ways through the switch into the output buffers
		n.links[int32(i)+n.channels] = link{to: -1, kind: n.kindOf(portKind{perByte: k.perByte / int64(c.Speedup), latency: c.Forward, blocks: int32(c.OutBuffer / Block)})}
	}
	to := int32(-1)
	if n.Fabric.Node(ch.To).Kind == fabric.Switch {
		to = int32(ch.To)
		if c.OutBuffer == 0 {
			k.latency += c.Forward
		}
	}
	n.links[i] = link{to: to, kind: n.kindOf(k), inPort: ch.ToPort}
}

// kindOf is the index of a kind, added if it is new. There are far fewer than 256:
// three for each rate.
func (n *Network) kindOf(k portKind) uint8 {
	i := slices.Index(n.kinds, k)
	if i < 0 {
		n.unequal = n.unequal || len(n.kinds) > 0 && n.kinds[0].perByte != k.perByte
		i = len(n.kinds)
		n.kinds = append(n.kinds, k)
	}
	return uint8(i)
}

// laneOf is the lane of a buffer.
func (n *Network) laneOf(buffer int32) uint8 { return uint8(buffer & (1<<n.shift - 1)) }

func (n *Network) kindAt(port int32) *portKind { return &n.kinds[n.links[port].kind] }

// source is the port at which an endpoint's packets begin.
func (n *Network) source(e fabric.EndpointID) int32 { return n.ports + int32(e) }

// isSource reports whether packets begin at a port: it is an endpoint's, not a channel's.
func (n *Network) isSource(port int32) bool { return port >= n.ports }

// NoRoute reports a pair of endpoints between which packets would not arrive.
type NoRoute struct {
	From, To fabric.EndpointID
	Why      error
}

func (e *NoRoute) Error() string { return e.Why.Error() }

func (e *NoRoute) Unwrap() error { return e.Why }

// Covers reports whether packets from one endpoint to another arrive by every address that
// the source may use, and if not, why; a *NoRoute where the tables have no route.
func (n *Network) Covers(from, to fabric.EndpointID) error {
	f := n.Fabric
	a, b := f.Endpoint(from), f.Endpoint(to)
	for _, e := range []*fabric.Endpoint{a, b} {
		if e.Inject == fabric.None {
			return fmt.Errorf("%s port %d sends nothing here: it is no adapter or router port at a switch", f.Label(e.Node), e.Port)
		}
	}
	if n.adaptive != nil {
		return n.coversAdaptive(a, b)
	}
	usable := 0
	for lid := b.LID; lid < b.LID+1<<b.LMC; lid++ {
		sl := n.tables.Lanes.SL(from, lid)
		if sl == routing.NoSL {
			continue
		}
		usable++
		if err := n.follow(a, b, lid, sl); err != nil {
			return &NoRoute{From: from, To: to, Why: err}
		}
	}
	if usable == 0 {
		return &NoRoute{From: from, To: to, Why: fmt.Errorf("%s may use no address of %s: the tables do not cover the pair", f.Label(a.Node), f.Label(b.Node))}
	}
	return nil
}

// coversRoute is Covers for a message that names its address and service level.
func (n *Network) coversRoute(m Message) error {
	f := n.Fabric
	switch {
	case n.adaptive != nil:
		return fmt.Errorf("a message names LID %d, and adaptive routing has no LIDs", m.LID)
	case m.LID >= routing.FirstMLID:
		return n.coversGroup(m)
	case f.Owner(m.LID) != m.To || m.SL >= routing.SLs:
		return fmt.Errorf("a message to LID %d on SL %d, which is no address of endpoint %d", m.LID, m.SL, m.To)
	case f.Endpoint(m.From).Inject == fabric.None:
		return fmt.Errorf("endpoint %d sends nothing here", m.From)
	case !n.perPort && int(n.uniform[m.SL]) >= n.lanes:
		return fmt.Errorf("SL %d has lane %d; there are %d lanes", m.SL, n.uniform[m.SL], n.lanes)
	}
	return n.follow(f.Endpoint(m.From), f.Endpoint(m.To), m.LID, m.SL)
}

// follow walks a packet to its destination, and says why it does not arrive. Where tables are rewritten
// there need not be a way at all times: packets without one are dropped.
func (n *Network) follow(a, b *fabric.Endpoint, lid fabric.LID, sl uint8) error {
	if n.rewrites != nil {
		return nil
	}
	f, t := n.Fabric, n.tables
	at, in, lane := a.Switch, f.Channel(a.Inject).ToPort, n.firstLane(a, sl)
	for range f.Switches() + 1 {
		c := f.Out(at, t.Forwarding.Port(at, lid))
		if c == fabric.None {
			return fmt.Errorf("%s has no way to LID %d of %s, on which %s depends", f.Label(at), lid, f.Label(b.Node), f.Label(a.Node))
		}
		ch := f.Channel(c)
		vl := t.Lanes.SL2VL.Next(at, in, ch.FromPort, sl, lane)
		if int(vl) >= n.lanes {
			return fmt.Errorf("%s puts packets from %s to LID %d on lane %d at port %d; there are %d lanes", f.Label(at), f.Label(a.Node), lid, vl, ch.FromPort, n.lanes)
		}
		if c == b.Deliver {
			return nil
		}
		if f.Node(ch.To).Kind != fabric.Switch {
			return fmt.Errorf("packets from %s to LID %d of %s arrive at %s", f.Label(a.Node), lid, f.Label(b.Node), f.Label(ch.To))
		}
		at, in, lane = ch.To, ch.ToPort, vl
	}
	return fmt.Errorf("packets from %s to LID %d of %s circle for ever", f.Label(a.Node), lid, f.Label(b.Node))
}

// coversAdaptive only checks that there is an address: that all ways arrive is for
// internal/adaptive/judge to prove.
func (n *Network) coversAdaptive(a, b *fabric.Endpoint) error {
	if a.Switch == b.Switch {
		return nil
	}
	first, end := n.adaptive.AddressesOf(b.Switch)
	for d := first; d < end; d++ {
		if n.adaptive.Allowed(a.Switch, d) != 0 {
			return nil
		}
	}
	return fmt.Errorf("%s has no way to %s", n.Fabric.Label(a.Switch), n.Fabric.Label(b.Switch))
}
