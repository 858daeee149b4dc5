package packets

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Lanes follow service levels, or, at switches that look up lanes by lanes (routing.SL2VL.Next), the
// lane by which a packet came. Endpoints then send on the lanes that the judge takes them to send on.

// lanesOf is one more than the highest lane that the SL2VL maps can give to a service level in use.
// Where lanes are looked up by lanes, packets may meet the map of one of the tables on a lane that
// another gave them. Lanes from 15 on carry no data: packets mapped to one are found when routes are
// followed.
func (n *Network) lanesOf(tables ...*routing.Tables) int {
	inUse := uint16(0)
	for _, t := range tables {
		inUse |= t.Levels()
		if t.Multicast != nil {
			inUse |= t.Multicast.SLs
		}
	}
	reached := uint16(0) // as bits
	if n.byLane {
		for i := range n.Fabric.Endpoints() {
			e := n.Fabric.Endpoint(fabric.EndpointID(i))
			for sls := inUse; sls != 0 && e.Deliver != fabric.None; sls &= sls - 1 {
				reached |= 1 << n.firstLane(e, uint8(bits.TrailingZeros16(sls)))
			}
		}
	}
	for had := ^reached; had != reached; {
		had = reached
		for _, t := range tables {
			reached |= n.lanesFrom(t, inUse, had)
		}
	}
	return bits.Len16(reached)
}

// lanesFrom is the data lanes, as bits, on which packets of some service levels that came on some
// lanes leave any switch.
func (n *Network) lanesFrom(t *routing.Tables, sls, came uint16) (lanes uint16) {
	maps, f := t.Lanes.SL2VL, n.Fabric
	see := func(row [routing.SLs]uint8, columns uint16) { // columns: service levels, or lanes that stand for them
		for ; columns != 0; columns &= columns - 1 {
			if vl := row[bits.TrailingZeros16(columns)]; vl < routing.MaxDataVLs {
				lanes |= 1 << vl
			}
		}
	}
	if row, uniform := maps.Uniform(); uniform {
		see(row, sls)
		return lanes
	}
	for s := range fabric.NodeID(f.Switches()) {
		columns := sls &^ maps.LevelsByLane(s)
		if columns != sls {
			columns |= came
		}
		ports := uint8(f.Node(s).Ports)
		for in := uint8(1); in <= ports; in++ {
			for out := uint8(1); out <= ports && f.Out(s, in) != fabric.None; out++ {
				if f.Out(s, out) != fabric.None {
					see(maps.Map(s, in, out), columns)
				}
			}
		}
	}
	return lanes
}
