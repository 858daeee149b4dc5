package result

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/routing"
)

// CutOff is which pairs are cut off under some tables, and where their routes end.
type CutOff struct {
	Places    []CutPlace    `json:"places"`
	Endpoints []CutEndpoint `json:"endpoints"`

	f         *fabric.Fabric
	perSwitch []uint32 // endpoints in scope, [switch]
}

// CutPlace is a place where routes end too early.
type CutPlace struct {
	Switch       string   `json:"switch"`
	SwitchNode   Node     `json:"switch_node"`    // and the port
	Port         uint8    `json:"port,omitempty"` // out-port of the entry; 0: there is no entry, or it names the switch itself
	Why          string   `json:"why"`
	Pairs        int64    `json:"pairs"`
	Sources      int      `json:"sources"` // endpoints
	Switches     []string `json:"from_switches"`
	Destinations []string `json:"to"`

	On     string `json:"-"` // the switch of all destinations; empty: they are on several
	Others int    `json:"-"` // of Merged: further switches with such a place

	from map[fabric.NodeID]bool
	to   []fabric.EndpointID
}

// CutEndpoint is an endpoint that some pairs have lost.
type CutEndpoint struct {
	Endpoint     string `json:"endpoint"`
	EndpointNode Node   `json:"endpoint_node"`
	Switch       string `json:"switch"`
	SwitchNode   Node   `json:"switch_node"`
	From         int64  `json:"not_reached_by"` // (source, LID of this one)
	FromOf       int64  `json:"not_reached_by_of"`
	To           int64  `json:"cannot_reach"` // LIDs of others
	ToOf         int64  `json:"cannot_reach_of"`
}

type cutter struct {
	f      *fabric.Fabric
	t      *routing.Tables
	scope  routing.Scope
	places map[placeKey]*CutPlace
	from   []int64 // [EndpointID]
	to     []int64 // [EndpointID]
}

type placeKey struct {
	at   fabric.NodeID
	port uint8
	why  deadlock.Loss
}

// CutOffOf lists the pairs that are cut off according to a verdict with all lost pairs;
// nil if there are none.
func CutOffOf(t *routing.Tables, v *deadlock.Verdict) *CutOff {
	f := t.Fabric
	c := &cutter{f: f, t: t, scope: v.Scope, places: map[placeKey]*CutPlace{}, from: make([]int64, len(f.Endpoints())), to: make([]int64, len(f.Endpoints()))}
	for _, l := range v.Lost {
		if l.Pairs > 0 {
			c.add(l)
		}
	}
	if len(c.places) == 0 {
		return nil
	}
	all := &CutOff{f: f, perSwitch: v.Scope.PerSwitch(f), Endpoints: c.listEndpoints()}
	for _, k := range slices.SortedFunc(maps.Keys(c.places), func(a, b placeKey) int {
		return cmp.Or(cmp.Compare(c.places[b].Pairs, c.places[a].Pairs), cmp.Compare(a.at, b.at), cmp.Compare(a.port, b.port), cmp.Compare(a.why, b.why))
	}) {
		p := c.places[k]
		slices.Sort(p.to)
		p.to = slices.Compact(p.to)
		all.name(p)
		all.Places = append(all.Places, *p)
	}
	return all
}

func (c *cutter) add(l deadlock.Lost) {
	owner := c.f.Owner(l.LID)
	k := c.end(l)
	p := c.places[k]
	if p == nil {
		p = &CutPlace{
			Switch: c.f.Label(k.at), SwitchNode: NodeOf(c.f, k.at, k.port), Port: k.port, Why: k.why.String(),
			from: map[fabric.NodeID]bool{},
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

// end follows a route to its end; for a circle it is the lowest switch of the circle.
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

func (c *CutOff) name(p *CutPlace) {
	p.Sources, p.Switches, p.Destinations = 0, nil, nil
	for s := range fabric.NodeID(c.f.Switches()) {
		if p.from[s] {
			p.Switches = append(p.Switches, c.f.Label(s))
			p.Sources += int(c.perSwitch[s])
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

// Merged is the places, with those as one that lack entries for the same destinations, as all
// switches do for a new host.
func (c *CutOff) Merged() []CutPlace {
	var list []CutPlace
	for _, p := range c.Places {
		i := slices.IndexFunc(list, func(q CutPlace) bool {
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

func (c *cutter) listEndpoints() []CutEndpoint {
	type placed struct {
		CutEndpoint
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
		found = append(found, placed{CutEndpoint{
			Endpoint: c.f.EndpointLabel(e), EndpointNode: EndpointNode(c.f, e), Switch: c.f.Label(ep.Switch), SwitchNode: NodeOf(c.f, ep.Switch, 0),
			From: c.from[e], FromOf: int64(len(all)-1) * own,
			To: c.to[e], ToOf: lids - own,
		}, ep.Switch, e})
	}
	slices.SortFunc(found, func(a, b placed) int {
		return cmp.Or(cmp.Compare(b.From+b.To, a.From+a.To), cmp.Compare(a.sw, b.sw), cmp.Compare(b.From, a.From), cmp.Compare(a.e, b.e))
	})
	return list.Of(found, func(p placed) CutEndpoint { return p.CutEndpoint })
}

// Groups is the endpoints concerned, those of a switch together that have lost the same pairs.
func (c *CutOff) Groups() [][]CutEndpoint {
	var groups [][]CutEndpoint
	for _, e := range c.Endpoints {
		if n := len(groups); n > 0 {
			if last := groups[n-1][0]; last.SwitchNode == e.SwitchNode && last.From == e.From && last.To == e.To && last.FromOf == e.FromOf {
				groups[n-1] = append(groups[n-1], e)
				continue
			}
		}
		groups = append(groups, []CutEndpoint{e})
	}
	return groups
}
