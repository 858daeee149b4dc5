// Package names finds the nodes, cables and endpoints of a fabric by what people
// call them.
//
// A name may be, and is looked for in this order:
//
//   - the node description, whole: "MF0;sw-a:MQM8700/U1", "luna-0001 mlx5_0";
//   - a GUID of a node or a port, 0x… or sixteen digits, or the form of
//     ibnetdiscover, S-…, H-… or R-…;
//   - a short name: sw-a of a managed switch, "dir-1/L02/U1" of a chip in a
//     director, 4036-369C of "Voltaire 4036 # 4036-369C", luna-0001/mlx5_0 of an
//     adapter;
//   - the name of a host, luna-0001: all its adapters;
//   - the first word of a description that only one adapter begins with;
//   - a LID.
//
// An asterisk matches any text, even none; a name with one means all nodes that match.
// Where one node is wanted and several have the name, the error lists them; for an
// unknown name it gives the nearest one.
package names

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/nodename"
)

// Index finds the parts of one fabric.
type Index struct {
	fabric      *fabric.Fabric
	description map[string][]fabric.NodeID        // whole
	short       map[string][]fabric.NodeID        // as shortNames has them
	host        map[string][]fabric.NodeID        // [host name] its adapters, as compareAdapters orders them
	word        map[string][]fabric.NodeID        // adapters by the first word of descriptions that name no host
	port        map[fabric.GUID]fabric.EndpointID // by port GUID
	first       []fabric.EndpointID               // [node] its first endpoint, with one entry more for the end
	rail        []int                             // [EndpointID] index in rails, or None
	rails       []Rail
}

// New makes the index of a fabric.
func New(f *fabric.Fabric) *Index {
	x := &Index{
		fabric: f, description: map[string][]fabric.NodeID{}, short: map[string][]fabric.NodeID{},
		host: map[string][]fabric.NodeID{}, word: map[string][]fabric.NodeID{},
		port:  make(map[fabric.GUID]fabric.EndpointID, len(f.Endpoints())),
		first: make([]fabric.EndpointID, len(f.Nodes())+1),
	}
	for i := range f.Nodes() {
		n := fabric.NodeID(i)
		node := f.Node(n)
		x.description[node.Name] = append(x.description[node.Name], n)
		for _, s := range shortNames(node) {
			x.short[s] = append(x.short[s], n)
		}
		if node.Kind != fabric.Adapter {
			continue
		}
		if host, _ := HostOf(node); host != "" {
			x.host[host] = append(x.host[host], n)
		} else if word, _, _ := strings.Cut(node.Name, " "); word != node.Name {
			x.word[word] = append(x.word[word], n)
		}
	}
	for i := range f.Endpoints() {
		e := f.Endpoint(fabric.EndpointID(i))
		x.first[e.Node+1]++
		x.port[e.PortGUID] = fabric.EndpointID(i)
	}
	for n := range f.Nodes() {
		x.first[n+1] += x.first[n]
	}
	for _, adapters := range x.host {
		slices.SortFunc(adapters, x.compareAdapters)
	}
	x.findRails()
	return x
}

// compareAdapters orders the adapters of a host by the number in their names, then by
// name, then by GUID.
func (x *Index) compareAdapters(a, b fabric.NodeID) int {
	_, p := HostOf(x.fabric.Node(a))
	_, q := HostOf(x.fabric.Node(b))
	return cmp.Or(compareDevices(p, q), cmp.Compare(a, b))
}

// endpointsOf is the range [first, end) of the endpoints of a node; endpoints are numbered node by node.
func (x *Index) endpointsOf(n fabric.NodeID) (first, end fabric.EndpointID) {
	return x.first[n], x.first[n+1]
}

// Short is the shortest name by which people know a node: a short name if it has one,
// otherwise its description, or its GUID where that is empty.
func Short(n *fabric.Node) string {
	if list := shortNames(n); len(list) > 0 {
		return list[0]
	}
	if n.Name == "" {
		return n.GUID.String()
	}
	return n.Name
}

// shortNames is the names of a node without what its firmware or driver adds.
func shortNames(n *fabric.Node) []string {
	if n.Kind != fabric.Switch {
		if host, adapter := HostOf(n); adapter != "" {
			return []string{host + "/" + adapter}
		}
		return nil
	}
	return nodename.OfSwitch(n.Name)
}

// HostOf splits the description of an adapter: "luna-0001 mlx5_0" into the host and its
// adapter, "luna-0001" into the host and nothing. A manufacturer's description such as
// "MT4129 ConnectX7   Mellanox Technologies", which an adapter has until its host sets
// one, names no host; nor does that of a router or a switch.
func HostOf(n *fabric.Node) (host, adapter string) {
	if n.Kind != fabric.Adapter {
		return "", ""
	}
	return nodename.OfAdapter(n.Name)
}

// Fits reports whether a name matches a pattern, in which * is any text, even none. No
// other character is special, because descriptions of nodes contain slashes and
// brackets.
func Fits(name, pattern string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if last == 0 {
		return name == pattern
	}
	name, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1:last] {
		if _, name, ok = strings.Cut(name, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(name, parts[last])
}

// IsPattern reports whether a name may match several things.
func IsPattern(name string) bool { return strings.ContainsRune(name, '*') }
