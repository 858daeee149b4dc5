package packetset

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
)

// Dependencies numbers the dependencies that cables and lanes allow, densely: turn by turn, and for
// each by the lane before and the lane after it. Their ends are vertices (trunk × lanes + lane).
type Dependencies struct {
	f     *fabric.Fabric
	lanes fabric.ChannelID // how many; of this type since vertices are
}

// Dependencies numbers those that packets may cause.
func (s *Sources) Dependencies() Dependencies {
	return Dependencies{f: s.f, lanes: fabric.ChannelID(s.Lanes)}
}

// Count is how many there are.
func (n Dependencies) Count() int { return n.f.Turns() * int(n.lanes*n.lanes) }

// Number is the place of a dependency among all.
func (n Dependencies) Number(d acyclic.Dependency) int {
	if n.lanes == 1 {
		return n.f.Turn(d.In, d.Out)
	}
	turn := n.f.Turn(d.In/n.lanes, d.Out/n.lanes)
	return (turn*int(n.lanes)+int(d.In%n.lanes))*int(n.lanes) + int(d.Out%n.lanes)
}

// Each yields the dependencies, as vertices, whose numbers are used.
func (n Dependencies) Each(used func(number int) bool, yield func(in, out fabric.ChannelID)) {
	at := 0
	for in := range fabric.ChannelID(n.f.Trunks()) {
		first, end := n.f.TrunksFrom(n.f.Heads()[in])
		for out := first; out < end; out++ {
			for from := range n.lanes {
				for to := range n.lanes {
					if used(at) {
						yield(in*n.lanes+from, out*n.lanes+to)
					}
					at++
				}
			}
		}
	}
}
