package packets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/traffic"
)

// Injection is traffic without an end: every rank creates messages at a given rate,
// whether the network keeps up or not (an open loop).
type Injection struct {
	Offered   float64           // bytes created on the wire, as a share of what the endpoint's link carries; above 0, at most 1
	Pattern   traffic.Pattern   // who sends to whom. All its phases are mixed, and a rank uses its pairs equally often; nil: each message goes to a random other rank
	Placement traffic.Placement // where the ranks are
	Regular   bool              // messages come at equal intervals instead of as a Poisson process
	Slots     bool              // a message comes in the time of each flit of the link with the same chance instead (a Bernoulli process)
	Bytes     int64             // payload of a message; 0: one full packet
	Burst     int               // messages created together, all to one destination; 0: 1
	Groups    float64           // share of the messages that go to a multicast group of which the source is a member, each copy of which counts as accepted; 0: none
	Seed      uint64
	Run       uint64 // number of the run: the same seed draws another pattern and other messages
}

// generator makes the messages of an Injection.
type generator struct {
	ranks   []int32   // endpoints by rank, for uniform traffic
	first   []int32   // [EndpointID, plus one] into dests; nil: uniform traffic
	dests   []int32   // endpoints, those of one source after those of another
	gap     []float64 // [EndpointID] mean time between bursts in ps; 0: it sends nothing
	bytes   int64
	burst   int32
	regular bool
	slots   []float64      // [EndpointID] the time unit of Slots; nil: a Poisson process
	rate    float64        // bytes per ps that the links of all senders carry together
	groups  [][]fabric.LID // [EndpointID] multicast groups that it sends to; nil: nobody does
	share   float64        // of messages that go to them
	level   uint8          // their service level
}

// prepare checks an Injection and builds its generator.
func (n *Network) prepare(l *Injection, r *rand.Rand) (*generator, error) {
	if !(l.Offered > 0 && l.Offered <= 1) {
		return nil, fmt.Errorf("a load of %v; it is above 0 and at most 1, of what an endpoint's link carries", l.Offered)
	}
	if l.Bytes < 0 || l.Burst < 0 {
		return nil, fmt.Errorf("messages of %d bytes in bursts of %d; neither is negative", l.Bytes, l.Burst)
	}
	g := &generator{bytes: l.Bytes, burst: int32(max(1, l.Burst)), regular: l.Regular, gap: make([]float64, len(n.Fabric.Endpoints()))}
	if g.bytes == 0 {
		g.bytes = int64(n.Config.MTU)
	}
	if l.Slots {
		g.slots = make([]float64, len(g.gap))
	}
	if l.Groups < 0 || l.Groups > 1 {
		return nil, fmt.Errorf("a share of %v of the messages to multicast groups; it is 0 to 1", l.Groups)
	}
	if l.Groups > 0 {
		if err := g.joinGroups(n, l.Groups); err != nil {
			return nil, err
		}
	}
	var err error
	if l.Pattern == nil {
		err = g.uniform(n, l.Placement)
	} else {
		err = g.pairs(n, l, r)
	}
	if err != nil {
		return nil, err
	}
	for e, gap := range g.gap {
		if gap == 0 {
			continue
		}
		own := n.kindAt(int32(n.Fabric.Endpoint(fabric.EndpointID(e)).Inject))
		g.gap[e] = float64(n.messageTime(g.bytes, own)) * float64(g.burst) / l.Offered
		if l.Slots {
			g.slots[e] = float64(serial(Block, own.perByte))
		}
		g.rate += float64(int64(1)<<rateShift) / float64(own.perByte)
	}
	return g, nil
}

// messageTime is how long the packets of a message take on a link, one after the other.
func (n *Network) messageTime(bytes int64, l *portKind) Time {
	mtu := int64(n.Config.MTU)
	t := Time(bytes/mtu) * serial(n.Config.wire(mtu), l.perByte)
	if rest := bytes % mtu; rest > 0 {
		t += serial(n.Config.wire(rest), l.perByte)
	}
	return t
}

// uniform sets ranks and gap (1, until the load is known) for traffic in which every rank sends to all
// others.
func (g *generator) uniform(n *Network, p traffic.Placement) error {
	for _, e := range p {
		g.ranks = append(g.ranks, int32(e))
		g.gap[e] = 1
	}
	several := false
	for _, e := range p {
		several = several || e != p[0]
	}
	if !several {
		return fmt.Errorf("uniform traffic among %d ranks on fewer than two endpoints", len(p))
	}
	return n.coversAll(p)
}

// pairs sets first, dests and gap (1, until the load is known) for traffic by a pattern.
func (g *generator) pairs(n *Network, l *Injection, r *rand.Rand) error {
	list, err := pairsOf(l.Pattern, l.Placement, r)
	if err != nil {
		return err
	}
	g.first = make([]int32, len(g.gap)+1)
	for _, m := range list {
		if err := n.Covers(m.From, m.To); err != nil {
			return err
		}
		g.first[m.From+1]++
		g.gap[m.From] = 1
	}
	if len(list) == 0 {
		return fmt.Errorf("%s among %d ranks sends nothing over the network", l.Pattern, len(l.Placement))
	}
	for e := range g.gap {
		g.first[e+1] += g.first[e]
	}
	g.dests = make([]int32, len(list))
	at := append([]int32(nil), g.first...)
	for _, m := range list {
		g.dests[at[m.From]] = int32(m.To)
		at[m.From]++
	}
	return nil
}

// pairsOf lists all pairs of a pattern that cross the network.
func pairsOf(p traffic.Pattern, at traffic.Placement, r *rand.Rand) ([]Message, error) {
	phases, err := Phases(p, at, 0, r)
	if err != nil {
		return nil, err
	}
	var all []Message
	for _, list := range phases {
		all = append(all, list...)
	}
	return all, nil
}

// Phases is the messages of a pattern, phase by phase. A message has the given bytes
// where the pattern does not say.
func Phases(p traffic.Pattern, at traffic.Placement, bytes int64, r *rand.Rand) ([][]Message, error) {
	count, err := p.Phases(len(at))
	if err != nil {
		return nil, err
	}
	phases := make([][]Message, count)
	var pairs []traffic.Pair
	for i := range phases {
		pairs = p.Append(pairs[:0], len(at), i, r)
		for _, x := range pairs {
			m := Message{From: at[x.From], To: at[x.To], Bytes: bytes}
			if x.Bytes > 0 {
				m.Bytes = x.Bytes
			}
			if m.From != m.To {
				phases[i] = append(phases[i], m)
			}
		}
	}
	return phases, nil
}

// next writes the next message of source e into src, and when the one after it is due.
func (g *generator) next(r *rand.Rand, e int32, src *source) {
	src.left = g.bytes
	if src.again > 0 {
		src.again--
	} else {
		src.again = g.burst - 1
		src.dst, src.lid = g.draw(r, e), 0
		if g.groups != nil && len(g.groups[e]) > 0 && r.Float64() < g.share {
			src.dst, src.lid, src.sl = e, g.groups[e][r.IntN(len(g.groups[e]))], g.level
		}
	}
	if src.again > 0 {
		return // the next message of the burst is due at once
	}
	if g.regular {
		src.exact += g.gap[e]
	} else {
		src.exact += g.interval(r, e)
	}
	src.at = Time(math.Ceil(src.exact))
}

// interval is the time from one burst of a source to the next.
func (g *generator) interval(r *rand.Rand, e int32) float64 {
	if g.slots != nil {
		return g.slots[e] * (1 + math.Floor(math.Log(1-r.Float64())/math.Log(1-g.slots[e]/g.gap[e])))
	}
	return g.gap[e] * r.ExpFloat64()
}

// draw is a random destination for a message.
func (g *generator) draw(r *rand.Rand, e int32) int32 {
	if g.first != nil {
		own := g.dests[g.first[e]:g.first[e+1]]
		if len(own) == 1 {
			return own[0]
		}
		return own[r.IntN(len(own))]
	}
	for {
		if d := g.ranks[r.IntN(len(g.ranks))]; d != e {
			return d
		}
	}
}

// generate starts the sources of a generator, each at a random time in its first
// interval.
func (s *sim) generate(g *generator) {
	s.sending.gen = g
	s.noteShortest(g.bytes)
	for e, gap := range g.gap {
		if gap == 0 {
			continue
		}
		src := &s.sending.sources[e]
		home := s.homeOf(fabric.EndpointID(e))
		if r := home.drawing(src); g.regular {
			src.exact = gap * r.Float64()
		} else {
			src.exact = g.interval(r, int32(e))
		}
		src.at = Time(math.Ceil(src.exact))
		home.arm(int32(e), src)
	}
}

// coversAll is Covers for all pairs. It goes destination by destination where lanes do
// not depend on ports.
func (n *Network) coversAll(p traffic.Placement) error {
	for _, to := range p {
		if err := n.coversTo(p, to); err != nil {
			return err
		}
	}
	return nil
}

// coversTo is Covers for all pairs to one endpoint.
func (n *Network) coversTo(p traffic.Placement, to fabric.EndpointID) error {
	last := fabric.EndpointID(fabric.None)
	for _, from := range p {
		if from == to {
			continue
		}
		// Endpoints of one switch share their route and usually their service levels.
		if last != fabric.None && n.sameRoutes(from, last) {
			continue
		}
		if err := n.Covers(from, to); err != nil {
			return err
		}
		last = from
	}
	return nil
}

// sameRoutes reports whether packets of two endpoints are routed alike to every
// destination.
func (n *Network) sameRoutes(a, b fabric.EndpointID) bool {
	x, y := n.Fabric.Endpoint(a), n.Fabric.Endpoint(b)
	if x.Switch != y.Switch || x.Switch == fabric.None || x.Inject == fabric.None {
		return false
	}
	return n.adaptive != nil || !n.perPort && n.tables.Lanes.Row[a] == n.tables.Lanes.Row[b]
}
