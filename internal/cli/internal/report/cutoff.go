package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
)

// CutOff is which pairs are cut off under some tables, and where their routes end.
type CutOff struct {
	Places    []cutPlace    `json:"places"`
	Endpoints []cutEndpoint `json:"endpoints"`

	f         *fabric.Fabric
	perSwitch []uint32 // endpoints in scope, [switch]
}

// cutPlace is a place where routes end too early.
type cutPlace struct {
	Switch       string   `json:"switch"`
	SwitchNode   Node     `json:"switch_node"`    // and the port
	Port         uint8    `json:"port,omitempty"` // out-port of the entry; 0: there is no entry, or it names the switch itself
	Why          string   `json:"why"`
	Pairs        int64    `json:"pairs"`
	Sources      int      `json:"sources"` // endpoints
	Switches     []string `json:"from_switches"`
	Destinations []string `json:"to"`

	at   []fabric.NodeID // one, or several that are printed together
	why  deadlock.Loss
	from map[fabric.NodeID]bool
	to   []fabric.EndpointID
	on   string // the switch of all destinations; empty: they are on several
}

type cutEndpoint struct {
	Endpoint     string `json:"endpoint"`
	EndpointNode Node   `json:"endpoint_node"`
	Switch       string `json:"switch"`
	SwitchNode   Node   `json:"switch_node"`
	From         int64  `json:"not_reached_by"` // (source, LID of this one)
	FromOf       int64  `json:"not_reached_by_of"`
	To           int64  `json:"cannot_reach"` // LIDs of others
	ToOf         int64  `json:"cannot_reach_of"`
	sw           fabric.NodeID
	number       fabric.EndpointID
}

type cutter struct {
	f      *fabric.Fabric
	t      *routing.Tables
	scope  routing.Scope
	places map[placeKey]*cutPlace
	from   []int64 // [EndpointID]
	to     []int64 // [EndpointID]
}

type placeKey struct {
	at   fabric.NodeID
	port uint8
	why  deadlock.Loss
}

// CutOffBy lists the pairs that are cut off according to a verdict with all lost pairs;
// nil if there are none.
func CutOffBy(t *routing.Tables, v *deadlock.Verdict) *CutOff {
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
	all := &CutOff{f: f, perSwitch: v.Scope.PerSwitch(f), Endpoints: c.listEndpoints()}
	for _, p := range slices.SortedFunc(maps.Values(c.places), func(a, b *cutPlace) int {
		return cmp.Or(cmp.Compare(b.Pairs, a.Pairs), cmp.Compare(a.at[0], b.at[0]), cmp.Compare(a.Port, b.Port), cmp.Compare(a.why, b.why))
	}) {
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
		p = &cutPlace{
			Switch: c.f.Label(k.at), SwitchNode: NodeOf(c.f, k.at, k.port), Port: k.port, Why: k.why.String(),
			at: []fabric.NodeID{k.at}, why: k.why, from: map[fabric.NodeID]bool{},
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

func (c *CutOff) name(p *cutPlace) {
	p.Sources, p.Switches, p.Destinations = 0, nil, nil
	for s := range fabric.NodeID(c.f.Switches()) {
		if p.from[s] {
			p.Switches = append(p.Switches, c.f.Label(s))
			p.Sources += int(c.perSwitch[s])
		}
	}
	p.on = c.f.Label(c.f.Endpoint(p.to[0]).Switch)
	for _, e := range p.to {
		p.Destinations = append(p.Destinations, c.f.EndpointLabel(e))
		if c.f.Label(c.f.Endpoint(e).Switch) != p.on {
			p.on = ""
		}
	}
}

// merged joins the places that lack entries for the same destinations, as all switches
// do for a new host.
func (c *CutOff) merged() []cutPlace {
	var list []cutPlace
	for _, p := range c.Places {
		i := slices.IndexFunc(list, func(q cutPlace) bool {
			return p.why == deadlock.NoEntry && q.why == p.why && slices.Equal(q.to, p.to)
		})
		if i < 0 {
			list = append(list, p)
			continue
		}
		q := &list[i]
		q.Pairs += p.Pairs
		q.at = append(slices.Clone(q.at), p.at...)
		q.from = maps.Clone(q.from)
		maps.Copy(q.from, p.from)
		c.name(q)
	}
	return list
}

func (c *cutter) listEndpoints() []cutEndpoint {
	var list []cutEndpoint
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
		list = append(list, cutEndpoint{
			Endpoint: c.f.EndpointLabel(e), EndpointNode: EndpointNode(c.f, e), Switch: c.f.Label(ep.Switch), SwitchNode: NodeOf(c.f, ep.Switch, 0),
			From: c.from[e], FromOf: int64(len(all)-1) * own,
			To: c.to[e], ToOf: lids - own, sw: ep.Switch, number: e,
		})
	}
	slices.SortFunc(list, func(a, b cutEndpoint) int {
		return cmp.Or(cmp.Compare(b.From+b.To, a.From+a.To), cmp.Compare(a.sw, b.sw), cmp.Compare(b.From, a.From), cmp.Compare(a.number, b.number))
	})
	return list
}

// mostCut is how many places, and how many groups of endpoints, are shown on a
// terminal.
const mostCut = 5

// Text describes the pairs that are cut off, for a terminal.
func (c *CutOff) Text(on *console.Console) string {
	var b strings.Builder
	places := c.merged()
	lines := list.Of(places, func(p cutPlace) string { return "  " + p.text() })
	fmt.Fprintf(&b, "routes end too early at %s:\n%s", words.Plural(len(places), "place"),
		on.First(mostCut, lines, func(n int) string { return fmt.Sprintf("  and %s more (--json has all)", words.Thousands(n)) }))
	fmt.Fprintf(&b, "\n%s concerned:", words.Counted(len(c.Endpoints), "endpoint is", "endpoints are"))
	left := len(c.Endpoints)
	groups := c.groups()
	for i, g := range groups {
		if i == on.AtMost(mostCut, len(groups)) {
			fmt.Fprintf(&b, "\n  and %s more with no more than %s (--json has all)", words.Thousands(left), words.Plural(g[0].From+g[0].To, "pair"))
			break
		}
		left -= len(g)
		fmt.Fprintf(&b, "\n  %s", groupText(g))
	}
	return b.String()
}

// whyWords is why a route ends, in fewer words than Loss.String.
var whyWords = map[deadlock.Loss]string{
	deadlock.NoEntry: "no entry", deadlock.DeadPort: "no cable", deadlock.WrongNode: "leads to another node",
	deadlock.Circles: "in a circle for ever", deadlock.NoAddress: "no LID that may be used",
}

func (p *cutPlace) text() string {
	where := p.Switch
	if len(p.at) > 1 {
		where = fmt.Sprintf("%s and %s", where, words.Counted(len(p.at)-1, "other switch", "other switches"))
	}
	if p.Port > 0 {
		where += fmt.Sprintf(", port %d", p.Port)
	}
	switches := words.FirstOf(p.Switches)
	if len(p.Switches) > 4 {
		switches = words.Plural(len(p.Switches), "switch")
	}
	to := words.FirstOf(p.Destinations)
	if p.on != "" {
		to += ", on " + p.on
	}
	return fmt.Sprintf("%s: %s: %s\n    from %s on %s\n    to %s", where, whyWords[p.why], words.Counted(p.Pairs, "pair", "pairs"), words.Plural(p.Sources, "endpoint"), switches, to)
}

// groups joins the endpoints of a switch that have lost the same pairs.
func (c *CutOff) groups() [][]cutEndpoint {
	var groups [][]cutEndpoint
	for _, e := range c.Endpoints {
		if n := len(groups); n > 0 {
			if last := groups[n-1][0]; last.sw == e.sw && last.From == e.From && last.To == e.To && last.FromOf == e.FromOf {
				groups[n-1] = append(groups[n-1], e)
				continue
			}
		}
		groups = append(groups, []cutEndpoint{e})
	}
	return groups
}

func groupText(g []cutEndpoint) string {
	names := list.Of(g, func(e cutEndpoint) string { return e.Endpoint })
	e, it, reaches, does := g[0], "it", "it reaches", "it does"
	if len(g) > 1 {
		it, reaches, does = "them", "they reach", "they do"
	}
	var what []string
	switch {
	case e.From == e.FromOf:
		what = append(what, "nobody reaches "+it)
	case e.From > 0:
		what = append(what, fmt.Sprintf("%s of %s do not reach %s", words.Thousands(e.From), words.Thousands(e.FromOf), it))
	}
	switch {
	case e.To == e.ToOf:
		what = append(what, reaches+" nobody")
	case e.To > 0:
		what = append(what, fmt.Sprintf("%s not reach %s of %s", does, words.Thousands(e.To), words.Thousands(e.ToOf)))
	}
	return fmt.Sprintf("%s, on %s: %s", words.FirstOf(names), e.Switch, strings.Join(what, "; "))
}
