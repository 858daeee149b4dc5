package names

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/spell"
)

// kinds is the kinds of nodes that are looked for.
type kinds struct {
	one, many string
	has       [fabric.Router + 1]bool // [Kind]; Router: false below gives the array its length
}

var (
	switches = kinds{one: "switch", many: "switches", has: [...]bool{fabric.Switch: true, fabric.Router: false}}
	adapters = kinds{one: "adapter", many: "adapters", has: [...]bool{fabric.Adapter: true, fabric.Router: true}}
	nodes    = kinds{one: "node", many: "nodes", has: [...]bool{fabric.Switch: true, fabric.Adapter: true, fabric.Router: true}}
)

// Switches is the switch with a name, or all switches that match a pattern.
func (x *Index) Switches(name string) ([]fabric.NodeID, error) {
	found := x.find(name, switches)
	switch {
	case len(found) == 0:
		return nil, x.unknown(name, switches)
	case len(found) > 1 && !x.isMeantAsPattern(name, found):
		return nil, x.ambiguous(name, found, switches)
	}
	return found, nil
}

// Node is the one node with a name.
func (x *Index) Node(name string) (fabric.NodeID, error) {
	found := x.find(name, nodes)
	switch len(found) {
	case 0:
		return fabric.None, x.unknown(name, nodes)
	case 1:
		return found[0], nil
	}
	return fabric.None, x.ambiguous(name, found, nodes)
}

// Adapters is all adapters and routers with a name: those of a host, those with a
// description, or those that match a pattern.
func (x *Index) Adapters(name string) ([]fabric.NodeID, error) {
	found := x.find(name, adapters)
	if len(found) == 0 {
		return nil, x.unknown(name, adapters)
	}
	return found, nil
}

// Cables is the channels that leave by a port, given as NAME:PORT. Either may be a pattern: then
// it is all cables at ports that fit, of nodes that fit, each cable once.
func (x *Index) Cables(text string) ([]fabric.ChannelID, error) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return nil, fmt.Errorf("%q names no port; give a node and one of its ports, as in sw-0:3", text)
	}
	name, port := text[:at], text[at+1:]
	found := x.find(name, nodes)
	several := len(found) > 0 && x.isMeantAsPattern(name, found)
	if !several {
		n, err := x.Node(name)
		if err != nil {
			return nil, err
		}
		found = []fabric.NodeID{n}
	}
	if !several && !IsPattern(port) {
		c, err := x.cableAt(found[0], port)
		return []fabric.ChannelID{c}, err
	}
	var all []fabric.ChannelID
	for _, n := range found {
		for p := range x.fabric.Node(n).Ports {
			c := x.fabric.Out(n, uint8(p+1))
			if c != fabric.None && Fits(strconv.Itoa(p+1), port) && !slices.Contains(all, x.fabric.Channel(c).Reverse) {
				all = append(all, c)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no cable is at a port %q of what fits %q (* is any text)", port, name)
	}
	return all, nil
}

// cableAt is the channel that leaves a node by a port.
func (x *Index) cableAt(n fabric.NodeID, text string) (fabric.ChannelID, error) {
	port, err := strconv.ParseUint(text, 10, 8)
	if ports := x.fabric.Node(n).Ports; err != nil || port == 0 || int(port) > ports {
		return fabric.None, fmt.Errorf("%s has the ports 1 to %d, not %q", x.fabric.Label(n), ports, text)
	}
	c := x.fabric.Out(n, uint8(port))
	if c == fabric.None {
		return fabric.None, fmt.Errorf("there is no cable at port %d of %s", port, x.fabric.Label(n))
	}
	return c, nil
}

// isMeantAsPattern reports whether a name stands for all the nodes that were found by it: it is a
// pattern, and not itself the description of the first.
func (x *Index) isMeantAsPattern(name string, found []fabric.NodeID) bool {
	return IsPattern(name) && x.fabric.Node(found[0]).Name != name
}

// find is all nodes of some kinds with a name, looked for in the order of the package comment, or that match a pattern.
func (x *Index) find(name string, k kinds) []fabric.NodeID {
	if found := x.named(name, k); len(found) > 0 {
		return found
	}
	if e := x.byLID(name); e != fabric.None {
		return x.ofKinds([]fabric.NodeID{x.fabric.Endpoint(e).Node}, k)
	}
	return nil
}

// named is find without the look-up by LID.
func (x *Index) named(name string, k kinds) []fabric.NodeID {
	if name == "" {
		return nil
	}
	for _, list := range [][]fabric.NodeID{
		x.described(name), x.byGUID(name), x.short[name], x.host[name], x.byWord(name),
	} {
		if found := x.ofKinds(list, k); len(found) > 0 {
			return found
		}
	}
	if !IsPattern(name) {
		return nil
	}
	var found []fabric.NodeID
	for i := range x.fabric.Nodes() {
		if n := fabric.NodeID(i); k.has[x.fabric.Node(n).Kind] && x.fitsAny(n, name) {
			found = append(found, n)
		}
	}
	return found
}

// described finds nodes by the whole description. If that is also the name of a host,
// all adapters of the host are found.
func (x *Index) described(name string) []fabric.NodeID {
	list := x.description[name]
	if len(list) == 0 || len(x.host[name]) == 0 {
		return list
	}
	return append(x.ofKinds(list, switches), x.host[name]...)
}

// ofKinds is the nodes of a list that are of some kinds.
func (x *Index) ofKinds(list []fabric.NodeID, k kinds) []fabric.NodeID {
	var found []fabric.NodeID
	for _, n := range list {
		if k.has[x.fabric.Node(n).Kind] {
			found = append(found, n)
		}
	}
	return found
}

// fitsAny reports whether one of the names of a node matches a pattern.
func (x *Index) fitsAny(n fabric.NodeID, pattern string) bool {
	node := x.fabric.Node(n)
	if Fits(node.Name, pattern) {
		return true
	}
	if host, _ := HostOf(node); host != "" && Fits(host, pattern) {
		return true
	}
	return slices.ContainsFunc(shortNames(node), func(s string) bool { return Fits(s, pattern) })
}

// byWord finds an adapter by the first word of its description, if no other begins with
// that word among descriptions that name no host.
func (x *Index) byWord(word string) []fabric.NodeID {
	if found := x.word[word]; len(found) == 1 {
		return found
	}
	return nil
}

// parseGUID reads a GUID as InfiniBand tools write it. 0x with up to four digits is a
// LID instead.
func parseGUID(text string) (fabric.GUID, bool) {
	digits := text
	if len(text) > 2 && text[1] == '-' && strings.IndexByte("SHR", text[0]) >= 0 {
		digits = text[2:]
	} else if hex, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok && len(hex) > 4 {
		digits = hex
	} else if len(text) != 16 {
		return 0, false
	}
	g, err := strconv.ParseUint(digits, 16, 64)
	return fabric.GUID(g), err == nil && g != 0
}

// byGUID finds nodes by their GUID or that of one of their ports.
func (x *Index) byGUID(text string) []fabric.NodeID {
	g, ok := parseGUID(text)
	if !ok {
		return nil
	}
	var found []fabric.NodeID
	if n := x.fabric.NodeByGUID(g); n != fabric.None {
		found = append(found, n)
	}
	if e, ok := x.port[g]; ok {
		if n := x.fabric.Endpoint(e).Node; !slices.Contains(found, n) {
			found = append(found, n)
		}
	}
	return found
}

// byLID is the endpoint that answers to a LID, decimal (010 is ten) or 0x…, or None.
func (x *Index) byLID(text string) fabric.EndpointID {
	digits, base := text, 10
	if hex, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		digits, base = hex, 16
	}
	v, err := strconv.ParseUint(digits, base, 16)
	if err != nil || v > uint64(fabric.MaxLID) {
		return fabric.None
	}
	return x.fabric.Owner(fabric.LID(v))
}

// onePort is the endpoint with a port GUID or a LID, or None if the text names a node in any
// other way: that may stand for several endpoints.
func (x *Index) onePort(text string) fabric.EndpointID {
	if len(x.description[text]) > 0 {
		return fabric.None
	}
	if g, ok := parseGUID(text); ok {
		if e, ok := x.port[g]; ok && x.fabric.NodeByGUID(g) == fabric.None {
			return e
		}
	}
	if len(x.named(text, nodes)) > 0 {
		return fabric.None
	}
	return x.byLID(text)
}

// unknown is the error for a name that nothing has, with the nearest name.
func (x *Index) unknown(name string, k kinds) error {
	if IsPattern(name) {
		return fmt.Errorf("no %s fits %q (* is any text)%s", k.one, name, x.near(strings.ReplaceAll(name, "*", ""), k))
	}
	return fmt.Errorf("no %s is called %q, and none has that GUID or LID%s", k.one, name, x.near(name, k))
}

// near ends an error with the nearest name, ignoring case, or with an example of the
// names here if none is similar.
func (x *Index) near(name string, k kinds) string {
	var folded, all []string
	for i := range x.fabric.Nodes() {
		node := x.fabric.Node(fabric.NodeID(i))
		if !k.has[node.Kind] {
			continue
		}
		forms := append(shortNames(node), node.Name)
		if host, _ := HostOf(node); host != "" {
			forms = append(forms, host)
		}
		for _, s := range forms {
			if s != "" {
				all, folded = append(all, s), append(folded, strings.ToLower(s))
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	if i := slices.Index(folded, spell.Nearest(strings.ToLower(name), folded)); i >= 0 {
		return fmt.Sprintf("; nearest is %q", all[i])
	}
	return fmt.Sprintf("; names here look like %q", all[0])
}

// ambiguous is the error for a name of several nodes.
func (x *Index) ambiguous(name string, found []fabric.NodeID, k kinds) error {
	list := make([]string, len(found))
	for i, n := range found {
		list[i] = x.distinct(n)
	}
	return fmt.Errorf("%d %s are called %q; name one of them: %s", len(found), k.many, name, listed(list))
}

// distinct is a name that finds this node and no other; for a node without one its GUID,
// and for an adapter where it is connected.
func (x *Index) distinct(n fabric.NodeID) string {
	node := x.fabric.Node(n)
	for _, s := range append(shortNames(node), node.Name) {
		if found := x.find(s, nodes); len(found) == 1 && found[0] == n {
			return s
		}
	}
	text := node.GUID.String()
	if first, end := x.endpointsOf(n); node.Kind != fabric.Switch && first < end {
		if c := x.fabric.Endpoint(first).Deliver; c != fabric.None {
			ch := x.fabric.Channel(c)
			text += fmt.Sprintf(" (at %s port %d)", x.fabric.Label(ch.From), ch.FromPort)
		}
	}
	return text
}

// listed is the first few of a list, and how many there are besides.
func listed(list []string) string {
	const most = 4
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}
