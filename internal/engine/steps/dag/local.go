package dag

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/marks"
	"github.com/weft-fabric/weft/routing"
)

// Counted says which destinations a switch counts for its trunks, when each switch balances what it
// sends by itself.
type Counted bool

const (
	// All destinations, as OpenSM does. So all switches with the same trunks send the n-th
	// adapter of a leaf by their n-th port: in a tree of two levels each spine gets the same
	// share of every leaf. But in one of three levels a spine gets the adapters of one
	// number only, and sends them all by one port.
	All Counted = false
	// Arriving is those that some switch with adapters sends by this one, so that in deeper
	// trees too the ports of a spine are used alike. Of ways that are used alike, a switch
	// then takes one by which others send the destination already.
	Arriving Counted = true
)

// RouteLocally routes every LID within the graphs that build makes, balanced by each
// switch on its own as OpenSM does (osm_ucast_mgr.c, osm_switch_recommend_path): of the
// trunks it may take, a switch takes the one by which it sends the fewest adapters so
// far, of several the lowest port. Adapters come first, those of the switches with most
// of them before others, by port; then port 0 of switches, which do not count. The further
// addresses of a port (LMC) follow in further rounds, each by another neighbour than
// those before if there is one.
func RouteLocally(ctx context.Context, f *fabric.Fabric, build Builder, counted Counted, p routing.Progress) (*routing.Forwarding, error) {
	t := routing.NewForwarding(f)
	l := newLocal(f, t, counted)
	rounds := f.Addresses()
	for address := range rounds {
		err := l.round(ctx, build, address, address > 0, func(done, total int) { p.Report(address*total+done, rounds*total) })
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// RouteAddress is RouteLocally for one of the addresses of each endpoint: the LIDs at
// this distance from the endpoint's base LID. It writes into t.
func RouteAddress(ctx context.Context, f *fabric.Fabric, t *routing.Forwarding, build Builder, address int, p routing.Progress) error {
	const apart = false
	return newLocal(f, t, Arriving).round(ctx, build, address, apart, p)
}

// local is a forwarding that every switch balances by itself.
type local struct {
	f       *fabric.Fabric
	t       *routing.Forwarding
	count   []uint32        // [trunk] adapters sent by it
	order   []fabric.NodeID // switches, those with most adapters first
	sends   []bool          // [switch] it counts every destination: adapters on it send there, or all switches count all
	counted Counted
	arrived *marks.Set // switches that the destination at hand reaches
}

func newLocal(f *fabric.Fabric, t *routing.Forwarding, counted Counted) *local {
	l := &local{
		f: f, t: t, counted: counted,
		count:   make([]uint32, f.Trunks()),
		order:   make([]fabric.NodeID, f.Switches()),
		sends:   routing.Adapters.Ends(f),
		arrived: marks.New(f.Switches()),
	}
	for s := range l.order {
		l.order[s] = fabric.NodeID(s)
		l.sends[s] = l.sends[s] || counted == All
	}
	slices.SortFunc(l.order, func(a, b fabric.NodeID) int {
		return cmp.Or(cmp.Compare(len(f.Attached(b)), len(f.Attached(a))), cmp.Compare(opensmKey(f, a), opensmKey(f, b)), cmp.Compare(a, b))
	})
	return l
}

// opensmKey is what OpenSM sorts switches by: their GUID as it lies in a packet, read by
// a little-endian machine.
func opensmKey(f *fabric.Fabric, s fabric.NodeID) uint64 {
	return bits.ReverseBytes64(uint64(f.Node(s).GUID))
}

// round routes one address of every endpoint, counted from its base LID: adapters, then port 0 of
// switches. If apart, by other neighbours than lower addresses, which are routed already.
func (l *local) round(ctx context.Context, build Builder, address int, apart bool, p routing.Progress) error {
	half := len(l.order)
	done := 0
	for _, switches := range [2]bool{false, true} {
		err := InOrder(ctx, l.f, l.order, build, func(d *DAG, lids []fabric.LID) {
			slices.SortStableFunc(lids, func(a, b fabric.LID) int {
				return cmp.Compare(l.f.LastPort(l.f.Endpoint(l.f.Owner(a))), l.f.LastPort(l.f.Endpoint(l.f.Owner(b))))
			})
			for _, lid := range lids {
				e := l.f.Endpoint(l.f.Owner(lid))
				if int(lid-e.LID) != address || (e.Class == fabric.SwitchPort) != switches {
					continue
				}
				l.destination(d, lid, e, apart)
			}
			done++
			p.Report(done/2, half)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// destination fills the row of a LID of endpoint e, and counts its trunks.
func (l *local) destination(d *DAG, lid fabric.LID, e *fabric.Endpoint, apart bool) {
	row, channels := l.t.Row(lid), l.f.Channels()
	charge := uint32(1)
	if e.Class == fabric.SwitchPort {
		charge = 0 // port 0 of a switch does not count
	}
	row[d.Root] = l.f.LastPort(e)
	l.arrived.Empty()
	for i := len(d.Order) - 1; i > 0; i-- { // whoever may send by way of a switch comes before it
		s, out := d.Order[i], d.Choices(i)
		var best fabric.ChannelID
		switch {
		case apart:
			best = l.elsewhere(s, out, lid, e)
		case l.counted == Arriving:
			best = l.withOthers(out)
		default:
			best = LeastUsed(out, l.count, 0)
		}
		row[s] = channels[best].FromPort
		if l.sends[s] || l.arrived.Has(int(s)) {
			l.arrived.Add(int(channels[best].To))
			l.count[best] += charge
		}
	}
}

// withOthers is the least used of some trunks, or one that sends at most one adapter more and
// leads to a switch by which others send this destination already: so that the traffic of a
// destination comes down by few ways, and meets less of that of others.
func (l *local) withOthers(out []fabric.ChannelID) fabric.ChannelID {
	heads := l.f.Heads()
	best := LeastUsed(out, l.count, 0)
	if l.arrived.Has(int(heads[best])) {
		return best
	}
	for _, c := range out {
		if l.count[c] <= l.count[best]+1 && l.arrived.Has(int(heads[c])) {
			return c
		}
	}
	return best
}

// elsewhere is the trunk by which s sends a further address of an endpoint: the least used
// of those to neighbours to which it sends none of the addresses before, or of all if there
// are no such neighbours; of several that to the neighbour with fewest of these addresses, then the
// next port round robin after that of the address before.
func (l *local) elsewhere(s fabric.NodeID, out []fabric.ChannelID, lid fabric.LID, e *fabric.Endpoint) fabric.ChannelID {
	channels := l.f.Channels()
	sent := func(c fabric.ChannelID) (n uint32) { // addresses before, by way of the same neighbour
		for k := e.LID; k < lid; k++ {
			if before := l.f.Out(s, l.t.Port(s, k)); channels[before].To == channels[c].To {
				n++
			}
		}
		return n
	}
	last := l.t.Port(s, lid-1)
	start, _ := slices.BinarySearchFunc(out, last+1, func(c fabric.ChannelID, port uint8) int { return cmp.Compare(channels[c].FromPort, port) })
	best := out[start%len(out)]
	fewest, least := sent(best), l.count[best]
	for i := 1; i < len(out); i++ {
		c := out[(start+i)%len(out)]
		n, used := sent(c), l.count[c]
		better := used < least || used == least && n < fewest
		if (n == 0) != (fewest == 0) {
			better = n == 0
		}
		if better {
			best, fewest, least = c, n, used
		}
	}
	return best
}

// LeastUsed is the trunk of out with the smallest count, of several the first round robin
// from index start on.
func LeastUsed(out []fabric.ChannelID, count []uint32, start int) fabric.ChannelID {
	best := out[start]
	for _, c := range out[start+1:] {
		if count[c] < count[best] {
			best = c
		}
	}
	for _, c := range out[:start] {
		if count[c] < count[best] {
			best = c
		}
	}
	return best
}
