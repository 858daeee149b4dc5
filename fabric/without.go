package fabric

// Without is a copy of the fabric without some cables and nodes. Removing a channel
// removes its whole cable; removing a node removes all its cables. The rest keeps its
// GUIDs, LIDs and port numbers, but gets new indices.
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

// copy is a copy of the fabric with the LIDs that port returns, without the marked
// nodes and channels; nil slices mark nothing.
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
		b.DataVLs(refs[c.From], c.FromPort, c.DataVLs)
	}
	return b.Build()
}

// WithLMC is a copy of the fabric in which every adapter and router port has 2^lmc
// LIDs. All LIDs are assigned anew, because those of ports with several must be
// aligned. It refuses an LMC above 7, and a fabric that would need too many LIDs.
func (f *Fabric) WithLMC(lmc uint8) (*Fabric, error) {
	return f.copy(func(e *Endpoint) Port {
		p := Port{GUID: e.PortGUID}
		if e.Class != SwitchPort {
			p.LMC = lmc
		}
		return p
	}, nil, nil)
}
