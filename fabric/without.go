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
	return f.copy(func(e *Endpoint) Port {
		return Port{GUID: e.PortGUID, LID: e.LID, LMC: e.LMC}
	}, goneNode, goneChannel)
}

// copy is a copy of the fabric with other addresses and without what is gone;
// nil slices: nothing is.
func (f *Fabric) copy(port func(*Endpoint) Port, goneNode, goneChannel []bool) (*Fabric, error) {
	if goneNode == nil {
		goneNode, goneChannel = make([]bool, len(f.nodes)), make([]bool, len(f.channels))
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
			b.Port(refs[e.Node], e.Port, port(e))
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

// WithLMC is a copy of the fabric in which every adapter and router port answers
// to 2^lmc LIDs. All LIDs are assigned anew: those of ports with several must be
// aligned. It refuses an LMC above 7, and a fabric that runs out of LIDs.
func (f *Fabric) WithLMC(lmc uint8) (*Fabric, error) {
	return f.copy(func(e *Endpoint) Port {
		p := Port{GUID: e.PortGUID}
		if e.Class != SwitchPort {
			p.LMC = lmc
		}
		return p
	}, nil, nil)
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
