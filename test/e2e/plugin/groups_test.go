package plugin_test

import (
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/routing"
)

// groups is multicast groups with members, as a test has them join and leave.
type groups struct {
	f       *fabric.Fabric
	sls     []uint8
	members []map[fabric.EndpointID]bool // [group]
	mlid    live.Joined
}

// guid is the GUID that ibsim gives the port of an adapter.
func (g *groups) guid(e fabric.EndpointID) uint64 {
	ep := g.f.Endpoint(e)
	return uint64(g.f.Node(ep.Node).GUID) + uint64(ep.Port)
}

// join and leave note who comes and goes.
func (g *groups) join(n int, e fabric.EndpointID) live.Membership {
	g.members[n][e] = true
	return live.Membership{Group: n, Port: g.guid(e), SL: g.sls[n]}
}

func (g *groups) leave(n int, e fabric.EndpointID) live.Membership {
	delete(g.members[n], e)
	return live.Membership{Group: n, Port: g.guid(e), Leave: true}
}

// tree is the part of a spanning tree that joins the members of a group, found by pruning:
// switches with no member and one cable of the tree left are taken out until there are none.
func (g *groups) tree(n int, whole *routing.MulticastTree) map[fabric.NodeID]map[uint8]bool {
	at := map[fabric.NodeID]map[uint8]bool{}
	if len(g.members[n]) < 2 {
		return at
	}
	for _, node := range whole.Nodes {
		at[node.Switch] = map[uint8]bool{}
		for port := range node.Ports.All() {
			if c := g.f.Out(node.Switch, port); c != fabric.None && int(c) < g.f.Trunks() {
				at[node.Switch][port] = true
			}
		}
	}
	has := map[fabric.NodeID]bool{}
	for e := range g.members[n] {
		has[g.f.Endpoint(e).Switch] = true
	}
	for again := true; again; {
		again = false
		for s, ports := range at {
			if has[s] || len(ports) > 1 {
				continue
			}
			for port := range ports {
				c := g.f.Channel(g.f.Out(s, port))
				delete(at[c.To], c.ToPort)
			}
			delete(at, s)
			again = true
		}
	}
	for e := range g.members[n] {
		ep := g.f.Endpoint(e)
		at[ep.Switch][g.f.LastPort(ep)] = true
	}
	return at
}

// differ says in what trees are others than the parts of a spanning tree that the groups need.
func (g *groups) differ(m *routing.Multicast, whole *routing.MulticastTree) string {
	for n, mlid := range g.mlid {
		want := g.tree(n, whole)
		i := slices.IndexFunc(m.Trees, func(t routing.MulticastTree) bool { return uint16(t.MLID) == mlid })
		for s := range fabric.NodeID(g.f.Switches()) {
			var has routing.PortSet
			if i >= 0 {
				has = m.Trees[i].At(s)
			}
			if ports := slices.Sorted(keys(want[s])); !slices.Equal(slices.Collect(has.All()), ports) {
				return fmt.Sprintf("group %d, MLID 0x%x, %s: ports %v, want %v", n, mlid, g.f.Label(s), slices.Collect(has.All()), ports)
			}
		}
	}
	return ""
}

// lone is groups without any member.
func lone(f *fabric.Fabric, sls ...uint8) *groups {
	g := &groups{f: f, sls: sls, mlid: live.Joined{}}
	for range sls {
		g.members = append(g.members, map[fabric.EndpointID]bool{})
	}
	return g
}
