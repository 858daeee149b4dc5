package outputs

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// cutter sorts lost pairs by the places where their routes end, and counts them by endpoint, for CutOff.
type cutter struct {
	f      *fabric.Fabric
	t      *routing.Tables
	scope  routing.Scope
	places map[placeKey]*cutPlace
	from   []int64 // [EndpointID] pairs (source, LID of this endpoint) that are lost
	to     []int64 // [EndpointID] LIDs of others that this endpoint does not reach
}

// cutPlace is a place with the pairs whose routes end there.
type cutPlace struct {
	result.CutPlace
	from map[fabric.NodeID]bool // switches of the sources
	to   []fabric.EndpointID
}

// placeKey is a place where routes end: a switch, the out-port of the entry there (0: none), and why.
type placeKey struct {
	at   fabric.NodeID
	port uint8
	why  deadlock.Loss
}

// CutOff lists the pairs that are cut off according to a verdict with all lost pairs;
// nil if there are none.
func CutOff(t *routing.Tables, v *deadlock.Verdict) *result.CutOff {
	f := t.Fabric
	c := &cutter{f: f, t: t, scope: v.Scope, places: map[placeKey]*cutPlace{}, from: make([]int64, len(f.Endpoints())), to: make([]int64, len(f.Endpoints()))}
	for _, l := range v.Lost {
		if l.Pairs > 0 {
			c.add(l)
		}
	}
	if len(c.places) == 0 {
		return nil
	}
	all := &result.CutOff{Endpoints: c.listEndpoints()}
	var places []cutPlace
	for _, k := range slices.SortedFunc(maps.Keys(c.places), func(a, b placeKey) int {
		return cmp.Or(cmp.Compare(c.places[b].Pairs, c.places[a].Pairs), cmp.Compare(a.at, b.at), cmp.Compare(a.port, b.port), cmp.Compare(a.why, b.why))
	}) {
		p := c.places[k]
		slices.Sort(p.to)
		p.to = slices.Compact(p.to)
		c.name(p)
		places = append(places, *p)
	}
	plain := func(p cutPlace) result.CutPlace { return p.CutPlace }
	all.Places, all.Merged = list.Of(places, plain), list.Of(c.merged(places), plain)
	return all
}

// add notes a switch and a LID that its endpoints do not reach.
func (c *cutter) add(l deadlock.Lost) {
	owner := c.f.Owner(l.LID)
	k := c.end(l)
	p := c.places[k]
	if p == nil {
		p = &cutPlace{
			CutPlace: result.CutPlace{Switch: c.f.Label(k.at), SwitchNode: Node(c.f, k.at, k.port), Port: k.port, Why: k.why.String()},
			from:     map[fabric.NodeID]bool{},
		}
		c.places[k] = p
	}
	p.Pairs += l.Pairs
	p.from[l.Switch] = true
	if len(p.to) == 0 || p.to[len(p.to)-1] != owner {
		p.to = append(p.to, owner)
	}
	c.from[owner] += l.Pairs
	for _, e := range c.f.Attached(l.Switch) {
		if e == owner || !c.scope.Includes(c.f.Endpoint(e).Class) {
			continue
		}
		if l.Why != deadlock.NoAddress || c.t.Lanes.SL(e, l.LID) == routing.NoSL {
			c.to[e]++
		}
	}
}

// end is the place where the route of a lost pair ends; of a circle the switch with the lowest number on it.
func (c *cutter) end(l deadlock.Lost) placeKey {
	row, at := c.t.Forwarding.Row(l.LID), l.Switch
	if l.Why == deadlock.NoAddress {
		return placeKey{at: at, why: l.Why}
	}
	next := func(s fabric.NodeID) (fabric.NodeID, bool) {
		ch := c.f.Trunk(s, row[s])
		if ch == fabric.None {
			return s, false
		}
		return c.f.Heads()[ch], true
	}
	steps := 0
	for to, ok := next(at); ok && steps < c.f.Switches(); to, ok = next(at) {
		at = to
		steps++
	}
	if l.Why == deadlock.Circles {
		lowest := at
		for to, _ := next(at); to != at; to, _ = next(to) {
			lowest = min(lowest, to)
		}
		at = lowest
	}
	k := placeKey{at: at, port: row[at], why: l.Why}
	if k.port == routing.NoPort {
		k.port = 0
	}
	return k
}

// name fills in what a place has of names, and the number of its sources.
func (c *cutter) name(p *cutPlace) {
	perSwitch := c.scope.PerSwitch(c.f)
	p.Sources, p.Switches, p.Destinations = 0, nil, nil
	for s := range fabric.NodeID(c.f.Switches()) {
		if p.from[s] {
			p.Switches = append(p.Switches, c.f.Label(s))
			p.Sources += int(perSwitch[s])
		}
	}
	p.On = c.f.Label(c.f.Endpoint(p.to[0]).Switch)
	for _, e := range p.to {
		p.Destinations = append(p.Destinations, c.f.EndpointLabel(e))
		if c.f.Label(c.f.Endpoint(e).Switch) != p.On {
			p.On = ""
		}
	}
}

// merged is the places, with those as one whose switches have no entry for the same destinations. The places given stay
// as they are.
func (c *cutter) merged(places []cutPlace) (list []cutPlace) {
	for _, p := range places {
		i := slices.IndexFunc(list, func(q cutPlace) bool {
			return len(p.to) > 0 && p.Why == deadlock.NoEntry.String() && q.Why == p.Why && slices.Equal(q.to, p.to)
		})
		if i < 0 {
			list = append(list, p)
			continue
		}
		q := &list[i]
		q.Pairs += p.Pairs
		q.Others++
		q.from = maps.Clone(q.from)
		maps.Copy(q.from, p.from)
		c.name(q)
	}
	return list
}

// listEndpoints is the endpoints that have lost pairs, those with most first; of equals those of a switch together.
func (c *cutter) listEndpoints() []result.CutEndpoint {
	type placed struct {
		result.CutEndpoint
		sw fabric.NodeID
		e  fabric.EndpointID
	}
	var found []placed
	all := c.scope.Endpoints(c.f)
	lids := int64(0)
	for _, e := range all {
		lids += 1 << c.f.Endpoint(e).LMC
	}
	for _, e := range all {
		ep := c.f.Endpoint(e)
		if c.from[e] == 0 && c.to[e] == 0 {
			continue
		}
		own := int64(1) << ep.LMC
		found = append(found, placed{result.CutEndpoint{
			Endpoint: c.f.EndpointLabel(e), EndpointNode: Endpoint(c.f, e), Switch: c.f.Label(ep.Switch), SwitchNode: Node(c.f, ep.Switch, 0),
			From: c.from[e], FromOf: int64(len(all)-1) * own,
			To: c.to[e], ToOf: lids - own,
		}, ep.Switch, e})
	}
	slices.SortFunc(found, func(a, b placed) int {
		return cmp.Or(cmp.Compare(b.From+b.To, a.From+a.To), cmp.Compare(a.sw, b.sw), cmp.Compare(b.From, a.From), cmp.Compare(a.e, b.e))
	})
	return list.Of(found, func(p placed) result.CutEndpoint { return p.CutEndpoint })
}
