package traffic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/spell"
)

// Names finds the endpoints of a fabric by what people call them.
type Names struct {
	fabric *fabric.Fabric
	among  []fabric.EndpointID
	byText map[string]fabric.EndpointID // or several
	names  []string                     // of byText, in the order of endpoints, for the nearest
}

// several stands for endpoints that share a name.
const several fabric.EndpointID = -2

// NewNames lets the endpoints of a list, such as those in a scope, be found by
// node description; by its first word, which on hosts is their name, if that says
// one; by the GUID of a node or port; and by LID.
func NewNames(f *fabric.Fabric, among []fabric.EndpointID) *Names {
	n := &Names{fabric: f, among: among, byText: make(map[string]fabric.EndpointID, 3*len(among))}
	for _, e := range among {
		node := f.Node(f.Endpoint(e).Node)
		if word, _, _ := strings.Cut(node.Name, " "); word != node.Name {
			n.add(word, e)
		}
		n.add(node.Name, e)
		n.add(node.GUID.String(), e)
		if g := f.Endpoint(e).PortGUID; g != node.GUID {
			n.add(g.String(), e)
		}
	}
	return n
}

func (n *Names) add(text string, e fabric.EndpointID) {
	if text == "" {
		return
	}
	if old, ok := n.byText[text]; ok && old != e {
		n.byText[text] = several
		return
	}
	n.byText[text] = e
	n.names = append(n.names, text)
}

// Find finds an endpoint. The error says the nearest name, or that there are
// several.
func (n *Names) Find(text string) (fabric.EndpointID, error) {
	e, ok := n.byText[text]
	if !ok {
		e, ok = n.byNumber(text)
	}
	switch {
	case e == several:
		return 0, fmt.Errorf("several endpoints are called %q; give the GUID of the port or its LID", text)
	case !ok && len(n.names) == 0:
		return 0, fmt.Errorf("no endpoint is called %q; the fabric has none in scope", text)
	case !ok:
		return 0, fmt.Errorf("no endpoint is called %q; nearest is %q", text, spell.Nearest(text, n.names))
	}
	return e, nil
}

// byNumber takes text for a GUID or a LID.
func (n *Names) byNumber(text string) (fabric.EndpointID, bool) {
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, false
	}
	if v > uint64(fabric.MaxLID) {
		e, ok := n.byText[fabric.GUID(v).String()]
		return e, ok
	}
	e := n.fabric.Owner(fabric.LID(v))
	return e, e != fabric.None && slices.Contains(n.among, e)
}
