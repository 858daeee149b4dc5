package dag

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Links is the switches as neighbours of each other: all cables from one switch to
// another are one link.
type Links struct {
	First []int32         // [switch, plus one] into To
	To    []fabric.NodeID // [link] by switch, then by its lowest port
	Of    []int32         // [trunk] its link

	f      *fabric.Fabric
	cables []fabric.ChannelID // by link, then port
	begin  []int32            // [link, plus one] into cables
}

// NewLinks is the links of f.
func NewLinks(f *fabric.Fabric) *Links {
	l := &Links{First: []int32{0}, Of: make([]int32, f.Trunks()), f: f, begin: []int32{0}}
	known := make([]int32, f.Switches()) // [switch] the link made to it last; from the switch at hand only if it is not below own
	for s := range fabric.NodeID(f.Switches()) {
		own := l.First[s]
		first, end := f.TrunksFrom(s)
		for c := first; c < end; c++ {
			to := f.Heads()[c]
			if k := known[to]; k < own || int(k) >= len(l.To) || l.To[k] != to {
				known[to] = int32(len(l.To))
				l.To = append(l.To, to)
			}
			l.Of[c] = known[to]
		}
		for link := own; int(link) < len(l.To); link++ {
			for c := first; c < end; c++ {
				if l.Of[c] == link {
					l.cables = append(l.cables, c)
				}
			}
			l.begin = append(l.begin, int32(len(l.cables)))
		}
		l.First = append(l.First, int32(len(l.To)))
	}
	return l
}

// Cables is the trunks of a link, by port.
func (l *Links) Cables(link int32) []fabric.ChannelID {
	return l.cables[l.begin[link]:l.begin[link+1]]
}

// Deal writes the entries of the link's first switch for LIDs: over the cables of the link round robin.
func (l *Links) Deal(t *routing.Forwarding, lids []fabric.LID, link int32) {
	cables := l.Cables(link)
	for i, lid := range lids {
		c := l.f.Channel(cables[i%len(cables)])
		t.Row(lid)[c.From] = c.FromPort
	}
}

// Deliver writes the entries of LIDs at their own switches: to the port of the owner.
func Deliver(f *fabric.Fabric, t *routing.Forwarding, lids []fabric.LID) {
	for _, lid := range lids {
		e := f.Endpoint(f.Owner(lid))
		t.Row(lid)[e.Switch] = f.LastPort(e)
	}
}
