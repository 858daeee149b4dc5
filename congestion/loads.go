package congestion

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Loads is how a routing uses the trunks when every endpoint in scope sends to
// every LID of every other.
type Loads struct {
	Routes  []uint32         // [trunk] routes over it, one for each source endpoint and destination LID
	Max     uint32           // the edge-forwarding index: the largest value of Routes
	Hottest fabric.ChannelID // the lowest trunk with that load; None if no trunk is in use
	Pairs   int64            // (source endpoint, LID of another endpoint) with a route
	Hops    int64            // trunks crossed by all pairs together
	MaxHops int              // trunks on the longest route
}

// MeanHops is the mean number of trunks on a route: 0 within a switch.
func (l *Loads) MeanHops() float64 { return float64(l.Hops) / float64(max(1, l.Pairs)) }

// Count counts the routes on every trunk, in O(D·S) for D destination LIDs and S
// switches.
func Count(f *fabric.Fabric, paths *routing.Forwarding, scope routing.Scope) *Loads {
	l := &Loads{Routes: make([]uint32, f.Trunks()), Hottest: fabric.None}
	sources := scope.PerSwitch(f)
	heads := f.Heads()
	subtree := make([]uint32, f.Switches()) // [switch] sources in its part of the in-tree
	var t routing.Tree
	for lid, id := range f.LIDs() {
		e := f.Endpoint(id)
		row := paths.Row(lid)
		if e.Switch == fabric.None || !scope.Includes(e.Class) || row[e.Switch] != f.LastPort(e) {
			continue // nothing arrives
		}
		t.Build(f, row, e.Switch)
		for _, s := range t.Order {
			n := int64(sources[s])
			subtree[s] = sources[s]
			if s == e.Switch {
				n--
			}
			l.Pairs += n
			l.Hops += n * int64(t.Depth(s))
			if n > 0 {
				l.MaxHops = max(l.MaxHops, t.Depth(s))
			}
		}
		for i := len(t.Order) - 1; i > 0; i-- { // Order[0] is the destination's switch: it has no trunk
			c := t.Out[t.Order[i]]
			l.Routes[c] += subtree[t.Order[i]]
			subtree[heads[c]] += subtree[t.Order[i]]
		}
	}
	for c, n := range l.Routes {
		if n > l.Max {
			l.Max, l.Hottest = n, fabric.ChannelID(c)
		}
	}
	return l
}
