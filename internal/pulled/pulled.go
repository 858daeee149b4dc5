// Package pulled says what becomes of traffic at the moment at which switches, adapters or cables are pulled.
package pulled

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Cut is what is cut off at the moment at which switches, adapters or cables are pulled: pairs that have a path
// until then, and the endpoints that they belong to.
type Cut struct {
	Gone      []fabric.EndpointID // endpoints in scope on switches that are pulled, or whose own cables are: they go with these
	PairsGone int64               // pairs from or to such an endpoint

	Apart      []fabric.EndpointID // endpoints in scope that stay, in another part of the network than most of those with which they were in one
	PairsApart int64               // pairs of endpoints that stay, whose path goes over what is pulled
}

// CutOff finds what is cut off if the switches, adapters and cables are pulled that are in the tables' fabric, and not in less.
func CutOff(t *routing.Tables, less *fabric.Fabric, scope routing.Scope) *Cut {
	f := t.Fabric
	p, same, joined := &Cut{}, make([]fabric.NodeID, f.Switches()), joinedToMost(f, less, scope)
	for s := range same {
		same[s] = less.NodeByGUID(f.Node(fabric.NodeID(s)).GUID)
	}
	goes := make([]bool, len(f.Endpoints()))
	going, staying := make([]int64, f.Switches()), make([]int64, f.Switches()) // endpoints in scope, [switch]
	for _, e := range scope.Endpoints(f) {
		ep := f.Endpoint(e)
		if now := less.Owner(ep.LID); now == fabric.None || less.Endpoint(now).Switch == fabric.None {
			goes[e] = true
			p.Gone = append(p.Gone, e)
			going[ep.Switch]++
			continue
		}
		staying[ep.Switch]++
		if !joined[same[ep.Switch]] {
			p.Apart = append(p.Apart, e)
		}
	}
	pulled := Trunks(f, less)            // [trunk]
	parted := make([]bool, f.Switches()) // [switch] packets to the LID at hand go over a trunk that is pulled
	var tree routing.Tree
	for lid, owner := range scope.LIDs(f) {
		home := f.Endpoint(owner).Switch
		row := t.Forwarding.Row(lid)
		if row[home] != f.LastPort(f.Endpoint(owner)) {
			continue // packets do not arrive
		}
		tree.Build(f, row, home)
		parted[home] = false
		for _, s := range tree.Order[1:] { // from home outwards
			c := tree.Out[s]
			parted[s] = pulled[c] || parted[f.Heads()[c]]
		}
		for s := range going {
			at, gone, stay := fabric.NodeID(s), going[s], staying[s] // pairs from here to the LID
			switch {
			case goes[owner]:
				gone, stay = gone+stay, 0
				if at == home {
					gone-- // nobody sends to itself
				}
			case at == home:
				stay--
			}
			if gone+stay == 0 || tree.Depth(at) < 0 {
				continue
			}
			p.PairsGone += gone
			if parted[s] {
				p.PairsApart += stay
			}
		}
	}
	return p
}

// joinedToMost says which switches of less are in the part (connected component) with most endpoints
// in scope of all that were one part of f, [switch of less]; of two with as many, in the first.
func joinedToMost(f, less *fabric.Fabric, scope routing.Scope) []bool {
	was, parts := f.PartOf(f.Parts()), less.Parts()
	sources := scope.PerSwitch(less)
	most, main := make([]uint32, f.Switches()), make([]int, f.Switches()) // [part of f], of which there are at most as many as switches
	for i := range main {
		main[i] = -1
	}
	within := make([]int32, len(parts)) // [part of less] the part of f
	for i, switches := range parts {
		n := uint32(0)
		for _, s := range switches {
			n += sources[s]
		}
		of := was[f.NodeByGUID(less.Node(switches[0]).GUID)]
		within[i] = of
		if main[of] < 0 || n > most[of] {
			most[of], main[of] = n, i
		}
	}
	joined := make([]bool, less.Switches())
	for i, switches := range parts {
		for _, s := range switches {
			joined[s] = main[within[i]] == i
		}
	}
	return joined
}

// Trunks is for each trunk of f, [trunk], whether packets have to leave it before f becomes less: its cable
// goes, or the switch that it leads to.
func Trunks(f, less *fabric.Fabric) []bool {
	list := make([]bool, f.Trunks())
	for c := range list {
		ch := f.Channel(fabric.ChannelID(c))
		from, to := less.NodeByGUID(f.Node(ch.From).GUID), less.NodeByGUID(f.Node(ch.To).GUID)
		list[c] = to == fabric.None || from != fabric.None && less.Out(from, ch.FromPort) == fabric.None
	}
	return list
}
