package fabric

import (
	"cmp"
	"slices"
)

// Without is a copy of the fabric with some cables and nodes taken away, as a
// failure or an administrator would. Taking a channel takes its whole cable;
// taking a node takes all its cables. The rest keeps its GUIDs, LIDs and port
// numbers, but is numbered anew.
func (f *Fabric) Without(channels []ChannelID, nodes []NodeID) (*Fabric, error) {
	goneNode := make([]bool, len(f.nodes))
	for _, n := range nodes {
		goneNode[n] = true
	}
	goneChannel := make([]bool, len(f.channels))
	for _, c := range channels {
		goneChannel[c] = true
		goneChannel[f.channels[c].Reverse] = true
	}
	var b Builder
	refs := make([]Ref, len(f.nodes))
	for n := range f.nodes {
		if !goneNode[n] {
			refs[n] = b.Node(f.nodes[n], "")
		}
	}
	for i := range f.endpoints {
		if e := &f.endpoints[i]; !goneNode[e.Node] {
			b.Port(refs[e.Node], e.Port, Port{GUID: e.PortGUID, LID: e.LID, LMC: e.LMC})
		}
	}
	for i := range f.channels {
		c := &f.channels[i]
		if c.Reverse < ChannelID(i) || goneChannel[i] || goneNode[c.From] || goneNode[c.To] {
			continue
		}
		b.Cable(refs[c.From], c.FromPort, refs[c.To], c.ToPort, c.Rate)
	}
	return b.Build()
}

// sortParts puts the part with most switches first, ties by the lowest switch,
// and the switches of each part in order.
func sortParts(parts [][]NodeID) {
	for _, p := range parts {
		slices.Sort(p)
	}
	slices.SortFunc(parts, func(x, y []NodeID) int {
		return cmp.Or(cmp.Compare(len(y), len(x)), cmp.Compare(x[0], y[0]))
	})
}
