package names

import (
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/words"
)

// Endpoints finds endpoints by name among some endpoints of a fabric.
type Endpoints struct {
	index *Index
	among []bool // [EndpointID]
	some  bool   // among is not empty
	where string // for errors: what the endpoints in among have in common
}

// Endpoints finds endpoints among those of a list, such as those in a scope, restricted
// to some rails (see OnRails).
func (x *Index) Endpoints(list []fabric.EndpointID, rails ...string) (*Endpoints, error) {
	list, err := x.OnRails(list, rails)
	if err != nil {
		return nil, err
	}
	n := &Endpoints{index: x, among: make([]bool, len(x.fabric.Endpoints())), some: len(list) > 0, where: "in scope"}
	if len(rails) > 0 {
		n.where = "in scope on rail " + listed(rails)
	}
	for _, e := range list {
		n.among[e] = true
	}
	return n, nil
}

// RailOf is the number of an endpoint's rail, from 1; 0 if it is on none.
func (n *Endpoints) RailOf(e fabric.EndpointID) int { return n.index.RailOf(e) }

// Host finds the endpoints of one host or other named node: one adapter port, or
// several in the order of rails.
func (n *Endpoints) Host(name string) ([]fabric.EndpointID, error) {
	hosts, err := n.Hosts(name)
	if err != nil {
		return nil, err
	}
	if len(hosts) > 1 {
		return nil, fmt.Errorf("%q fits %d hosts, and one is wanted here", name, len(hosts))
	}
	return hosts[0], nil
}

// Hosts finds the endpoints of a host, or of all hosts that match a pattern: a list for
// each host, in the order of rails; the hosts in the order of their names.
func (n *Endpoints) Hosts(name string) ([][]fabric.EndpointID, error) {
	x := n.index
	if e := x.onePort(name); e != fabric.None && n.among[e] {
		return [][]fabric.EndpointID{{e}}, nil
	}
	found := x.find(name, nodes)
	switch {
	case !n.some:
		return nil, fmt.Errorf("no endpoint is called %q; the fabric has none %s", name, n.where)
	case len(found) == 0:
		return nil, n.unknown(name)
	}
	var hosts [][]fabric.EndpointID
	place := map[string]int{}   // by host name, in hosts
	var inScope []fabric.NodeID // nodes with endpoints in among
	for _, v := range n.sorted(found) {
		ends := n.endpointsOf(v)
		if len(ends) == 0 {
			continue
		}
		inScope = append(inScope, v)
		host, _ := HostOf(x.fabric.Node(v))
		i, ok := place[host]
		if !ok || host == "" {
			i = len(hosts)
			hosts = append(hosts, nil)
			place[host] = i
		}
		hosts[i] = append(hosts[i], ends...)
	}
	switch {
	case len(inScope) == 0:
		return nil, n.outside(name, found)
	case !IsPattern(name) && len(inScope) > 1 && !n.oneHost(inScope):
		return nil, x.ambiguous(name, inScope, kinds{many: "endpoints"})
	}
	return hosts, nil
}

// endpointsOf is the endpoints of a node that are in among.
func (n *Endpoints) endpointsOf(v fabric.NodeID) []fabric.EndpointID {
	var list []fabric.EndpointID
	for e, end := n.index.endpointsOf(v); e < end; e++ {
		if n.among[e] {
			list = append(list, e)
		}
	}
	return list
}

// oneHost reports whether adapters are those of one host, each with a name of its own.
func (n *Endpoints) oneHost(list []fabric.NodeID) bool {
	names := map[string]bool{}
	var first string
	for i, v := range list {
		host, adapter := HostOf(n.index.fabric.Node(v))
		if host == "" || i > 0 && host != first || adapter != "" && names[adapter] {
			return false
		}
		first, names[adapter] = host, true
	}
	return true
}

// sorted orders nodes by host (numbers in names by value), then by rail.
func (n *Endpoints) sorted(list []fabric.NodeID) []fabric.NodeID {
	x := n.index
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b fabric.NodeID) int {
		p, q := x.fabric.Node(a), x.fabric.Node(b)
		host, _ := HostOf(p)
		other, _ := HostOf(q)
		if host == "" || other == "" {
			host, other = p.Name, q.Name
		}
		if c := words.Natural(host, other); c != 0 {
			return c
		}
		return x.compareAdapters(a, b)
	})
	return list
}

// unknown is the error for a name that nothing has, with the nearest name of a node with endpoints in among.
func (n *Endpoints) unknown(name string) error {
	k := nodes
	k.has = [...]bool{fabric.Router: false}
	for e, in := range n.among {
		if in {
			k.has[n.index.fabric.Node(n.index.fabric.Endpoint(fabric.EndpointID(e)).Node).Kind] = true
		}
	}
	return fmt.Errorf("no endpoint is called %q%s", name, n.index.near(name, k))
}

// outside is the error for a name of nodes that have no endpoint in among.
func (n *Endpoints) outside(name string, found []fabric.NodeID) error {
	list := make([]string, len(found))
	for i, v := range found {
		list[i] = n.index.fabric.Node(v).Kind.String() + " " + n.index.fabric.Label(v)
	}
	return fmt.Errorf("no endpoint is called %q: it is %s, with no endpoint %s", name, listed(list), n.where)
}
