package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/names"
)

// Kind is a kind of anomaly.
type Kind string

// The kinds, in the order in which Anomalies lists them.
const (
	SlowLink      Kind = "slow-link"      // its lanes are slower than those of similar cables
	NarrowLink    Kind = "narrow-link"    // it has fewer lanes than similar cables
	MixedRates    Kind = "mixed-rates"    // cables that join the same two switches differ
	MissingCable  Kind = "missing-cable"  // fewer cables join two switches than join similar pairs
	OneSided      Kind = "one-sided"      // only one of its ends has a record of it
	NoCable       Kind = "no-cable"       // a node has no cable
	NoSwitch      Kind = "no-switch"      // a switch has no cable to another switch
	NoPath        Kind = "no-path"        // a switch without hosts is on no shortest path between hosts
	MissingRail   Kind = "missing-rail"   // a host has fewer adapters than most hosts
	DuplicateName Kind = "duplicate-name" // several nodes have the same description
	NoName        Kind = "no-name"        // adapters have the description of their manufacturer
)

// Finding is an anomaly. Its kind decides which of Links, Nodes and Hosts are set.
type Finding struct {
	Kind  Kind
	What  string // a sentence about all parts of it
	Links []Link
	Nodes []fabric.NodeID
	Hosts []names.Host
}

// Link is a cable, or all cables between two switches.
type Link struct {
	A, B         fabric.NodeID
	APort, BPort uint8       // 0: several cables
	Rate         fabric.Rate // of one cable
	Cables       int         // number of cables
}

// Anomalies lists what is unusual about a fabric.
func Anomalies(f *fabric.Fabric) []Finding {
	s := newSurvey(f)
	list := s.slowLinks()
	list = append(list, s.missingCables()...)
	list = append(list, s.oneSided()...)
	list = append(list, s.uncabled()...)
	list = append(list, s.besidePaths()...)
	index := names.New(f)
	list = append(list, missingRails(index)...)
	return append(list, duplicates(f)...)
}

// cableClass says which cables are similar: those with the same levels and models of
// switches at their ends, or the same level, model of switch and model of adapter.
type cableClass struct {
	adapter        bool   // at the far end, which then has no level: higher is 0
	level, higher  int32  // of the two ends, in the order of compareClasses
	model, further uint32 // device IDs of the same ends
}

// classOf is the class of a cable; it is the same for both of its channels. ok is false for a cable that joins no two nodes
// of which one is a switch.
func (s *survey) classOf(c *fabric.Channel) (p cableClass, ok bool) {
	a, b := s.Node(c.From), s.Node(c.To)
	switch {
	case c.From == c.To || a.Kind != fabric.Switch && b.Kind != fabric.Switch:
		return cableClass{}, false
	case a.Kind != fabric.Switch || b.Kind != fabric.Switch:
		at := c.From
		if a.Kind != fabric.Switch {
			a, b, at = b, a, c.To
		}
		return cableClass{adapter: true, level: s.level[at], model: a.DeviceID, further: b.DeviceID}, true
	}
	p = cableClass{level: s.level[c.From], higher: s.level[c.To], model: a.DeviceID, further: b.DeviceID}
	if other := (cableClass{level: p.higher, higher: p.level, model: p.further, further: p.model}); compareClasses(other, p) < 0 {
		p = other
	}
	return p, true
}

func compareClasses(p, q cableClass) int {
	if p.adapter != q.adapter {
		if q.adapter {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(p.level, q.level), cmp.Compare(p.higher, q.higher),
		cmp.Compare(p.model, q.model), cmp.Compare(p.further, q.further))
}

// majority is the value that more than half of a list have, and how many have it.
func majority[V comparable](list []V) (most V, count int) {
	counts := map[V]int{}
	for _, v := range list {
		counts[v]++
		if counts[v]*2 > len(list) {
			most = v
		}
	}
	if counts[most]*2 <= len(list) {
		return most, 0
	}
	return most, counts[most]
}

// slowLinks finds cables that are slower or narrower than most similar ones, one finding for each class of cables and rate;
// and those of mixedRates.
func (s *survey) slowLinks() []Finding {
	like := map[cableClass][]*fabric.Channel{} // one channel of each cable
	for i := range s.Channels() {
		c := s.Channel(fabric.ChannelID(i))
		if p, ok := s.classOf(c); ok && c.Reverse > fabric.ChannelID(i) && c.Rate.Known() {
			like[p] = append(like[p], c)
		}
	}
	var list []Finding
	for _, p := range slices.SortedFunc(maps.Keys(like), compareClasses) {
		rates := make([]fabric.Rate, len(like[p]))
		for i, c := range like[p] {
			rates[i] = c.Rate
		}
		usual, count := majority(rates)
		if count == 0 {
			list = append(list, mixedRates(like[p])...)
		}
		slower := map[fabric.Rate][]Link{}
		for _, c := range like[p] {
			if count > 0 && c.Rate.Mbps() < usual.Mbps() {
				slower[c.Rate] = append(slower[c.Rate], linkOf(c))
			}
		}
		for _, r := range slices.SortedFunc(maps.Keys(slower), func(a, b fabric.Rate) int {
			return cmp.Or(cmp.Compare(a.Mbps(), b.Mbps()), cmp.Compare(a.Width, b.Width))
		}) {
			kind := SlowLink
			if r.Width < usual.Width {
				kind = NarrowLink
			}
			list = append(list, Finding{Kind: kind, Links: slower[r], What: fmt.Sprintf("%s at %s, where %d of %d like %s run at %s",
				verb(len(slower[r]), "cable runs", "cables run"), r, count, len(rates), itOrThem(len(slower[r])), usual)})
		}
	}
	return list
}

// verb is "1 cable runs" or "3 cables run".
func verb(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// itOrThem is the pronoun for so many.
func itOrThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// mixedRates finds cables that join the same two switches and do not run at one rate. It
// is called where no rate is usual, so that slowLinks has nothing to compare with.
func mixedRates(cables []*fabric.Channel) []Finding {
	between := map[pair][]*fabric.Channel{}
	for _, c := range cables {
		between[pairOf(c)] = append(between[pairOf(c)], c)
	}
	found, pairs := Finding{Kind: MixedRates}, 0
	for _, q := range slices.SortedFunc(maps.Keys(between), comparePairs) {
		all := between[q]
		if !slices.ContainsFunc(all, func(c *fabric.Channel) bool { return c.Rate != all[0].Rate }) {
			continue
		}
		pairs++
		for _, c := range all {
			found.Links = append(found.Links, linkOf(c))
		}
	}
	if pairs == 0 {
		return nil
	}
	found.What = verb(pairs, "pair of nodes is joined by cables of several rates", "pairs of nodes are joined by cables of several rates")
	return []Finding{found}
}

// oneSided finds cables that the records of one end only mention.
func (s *survey) oneSided() []Finding {
	found := Finding{Kind: OneSided}
	for _, c := range s.OneSided() {
		found.Links = append(found.Links, linkOf(s.Channel(c)))
	}
	if len(found.Links) == 0 {
		return nil
	}
	found.What = verb(len(found.Links), "cable is in the record of one end only, the one named first", "cables are in the record of one end only, the one named first")
	return []Finding{found}
}

// linkOf is a cable, from the end that one of its channels leaves.
func linkOf(c *fabric.Channel) Link {
	return Link{A: c.From, B: c.To, APort: c.FromPort, BPort: c.ToPort, Rate: c.Rate, Cables: 1}
}

// uncabled finds nodes without a cable, and switches without a cable to another switch.
func (s *survey) uncabled() []Finding {
	none, alone := Finding{Kind: NoCable}, Finding{Kind: NoSwitch}
	for i := range s.Nodes() {
		n := fabric.NodeID(i)
		cables := 0
		for p := 1; p <= s.Node(n).Ports; p++ {
			if c := s.Out(n, uint8(p)); c != fabric.None && s.Channel(c).To != n {
				cables++
			}
		}
		if cables == 0 {
			none.Nodes = append(none.Nodes, n)
		} else if i < s.Switches() && s.Switches() > 1 {
			if first, end := s.TrunksFrom(n); first == end {
				alone.Nodes = append(alone.Nodes, n)
			}
		}
	}
	var list []Finding
	if k := len(none.Nodes); k > 0 {
		none.What = verb(k, "node has no cable", "nodes have no cable")
		list = append(list, none)
	}
	if k := len(alone.Nodes); k > 0 {
		alone.What = verb(k, "switch is cabled to no other switch", "switches are cabled to no other switch")
		list = append(list, alone)
	}
	return list
}

// besidePaths finds switches with cables that no shortest path between hosts crosses.
func (s *survey) besidePaths() []Finding {
	found := Finding{Kind: NoPath}
	for v, aside := range s.aside {
		if aside && len(s.Neighbours(fabric.NodeID(v))) > 0 {
			found.Nodes = append(found.Nodes, fabric.NodeID(v))
		}
	}
	k := len(found.Nodes)
	if k == 0 {
		return nil
	}
	found.What = verb(k, "switch has no hosts, and is on no shortest path between hosts: it counts", "switches have no hosts, and are on no shortest path between hosts: they count") + " for no level"
	return []Finding{found}
}

// missingRails finds hosts that have fewer adapters than most hosts, but at least half
// as many: hosts with fewer are taken for another kind.
func missingRails(index *names.Index) []Finding {
	hosts := index.Hosts()
	has := make([]int, len(hosts))
	for i, h := range hosts {
		has[i] = len(h.Adapters)
	}
	usual, count := majority(has)
	if count == 0 || usual < 2 {
		return nil
	}
	found := Finding{Kind: MissingRail}
	for i, h := range hosts {
		if has[i] < usual && has[i]*2 >= usual {
			found.Hosts = append(found.Hosts, h)
		}
	}
	lacking := len(found.Hosts)
	if lacking == 0 {
		return nil
	}
	found.What = fmt.Sprintf("%s than %d adapters, which %d of %d hosts have", verb(lacking, "host has fewer", "hosts have fewer"), usual, count, len(hosts))
	return []Finding{found}
}

// duplicates finds nodes with the same description. All aggregation nodes have the same
// one; they do not count.
func duplicates(f *fabric.Fabric) []Finding {
	aggregation := make([]bool, len(f.Nodes()))
	for i := range f.Endpoints() {
		e := f.Endpoint(fabric.EndpointID(i))
		aggregation[e.Node] = e.Class == fabric.Aggregation
	}
	named := map[string][]fabric.NodeID{}
	for i := range f.Nodes() {
		if !aggregation[i] {
			named[f.Node(fabric.NodeID(i)).Name] = append(named[f.Node(fabric.NodeID(i)).Name], fabric.NodeID(i))
		}
	}
	var same, unnamed []Finding
	for _, name := range slices.Sorted(maps.Keys(named)) {
		nodes := named[name]
		switch host, _ := names.HostOf(f.Node(nodes[0])); {
		case name == "":
			unnamed = append(unnamed, Finding{Kind: NoName, Nodes: nodes, What: verb(len(nodes), "node has no description", "nodes have no description")})
		case len(nodes) == 1:
		case host == "" && f.Node(nodes[0]).Kind == fabric.Adapter:
			unnamed = append(unnamed, Finding{Kind: NoName, Nodes: nodes, What: fmt.Sprintf("%d adapters are called %q, which names no host", len(nodes), name)})
		default:
			same = append(same, Finding{Kind: DuplicateName, Nodes: nodes, What: fmt.Sprintf("%d nodes are called %q", len(nodes), name)})
		}
	}
	return append(same, unnamed...)
}
