package deadlock

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// multicastTrees is multicast, as Outside lists it.
const multicastTrees = "multicast"

// selfCablePackets is packets that no verdict covers, as Outside lists them.
const selfCablePackets = "packets sent by a cable from a switch to itself"

// Outside lists whose traffic a verdict for a scope does not cover, for printing. What
// routers pass on to other subnets is never covered.
func Outside(s routing.Scope) []string {
	list := []string{multicastTrees}
	if s < routing.Adapters {
		list = append(list, "aggregation nodes", "routers")
	}
	if s < routing.All {
		list = append(list, "port 0 of switches")
	}
	return append(list, "other subnets")
}

// overSelfCables reports whether tables send packets by a cable from a switch to itself. The judge takes them for lost there;
// a switch takes them in again, and has them wait for the lane that they are on.
func overSelfCables(t *routing.Tables) bool {
	f := t.Fabric
	return slices.ContainsFunc(f.Channels()[f.Trunks():], func(c fabric.Channel) bool {
		if c.From != c.To || f.Node(c.From).Kind != fabric.Switch {
			return false
		}
		for lid := range f.LIDs() {
			if t.Forwarding.Port(c.From, lid) == c.FromPort {
				return true
			}
		}
		return t.Groups != nil && slices.ContainsFunc(t.Groups.Sets(c.From), func(p routing.PortSet) bool { return p.Has(c.FromPort) })
	})
}
