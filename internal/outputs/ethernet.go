package outputs

import (
	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/result"
)

// EthernetLink names the ends of a link.
func EthernetLink(n *ethernet.Network, l ethernet.LinkID) result.EthernetLink {
	link := n.Links[l]
	return result.EthernetLink{From: n.Names[link.From], FromInterface: link.FromInterface, To: n.Names[link.To], ToInterface: link.ToInterface}
}

// EthernetSteps names the steps of a credit loop.
func EthernetSteps(n *ethernet.Network, cycle []judge.Step) []result.EthernetStep {
	steps := make([]result.EthernetStep, len(cycle))
	for i, s := range cycle {
		next := cycle[(i+1)%len(cycle)].Link
		steps[i] = result.EthernetStep{
			EthernetLink: EthernetLink(n, s.Link), Priority: s.Lane, Mark: n.Priorities.Marks[s.Mark],
			Prefix: n.Classes[s.Class].Prefix().String(), Next: n.Names[n.Links[next].To], Path: pathNames(n, s.Path),
		}
		if s.Tunnel != ethernet.None {
			steps[i].Tunnel = n.Classes[s.Tunnel].Prefix().String()
		}
	}
	return steps
}

// pathNames is the devices on a path, which has a link at least.
func pathNames(n *ethernet.Network, path []ethernet.LinkID) []string {
	names := []string{n.Names[n.Links[path[0]].From]}
	for _, l := range path {
		names = append(names, n.Names[n.Links[l].To])
	}
	return names
}
