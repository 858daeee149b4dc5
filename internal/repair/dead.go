package repair

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// deadRows tells rows that have dead entries from the others, most of them after most
// failures, which need not be looked at any further.
type deadRows struct {
	f      *fabric.Fabric
	onward [][4]uint64 // [switch] its ports with a trunk, as bits
	may    []bool      // [LID] a row that may have dead entries; nil: any may
}

func newDeadRows(f *fabric.Fabric) *deadRows {
	d := &deadRows{f: f, onward: make([][4]uint64, f.Switches())}
	for c := range fabric.ChannelID(f.Trunks()) {
		ch := f.Channel(c)
		d.onward[ch.From][ch.FromPort>>6] |= 1 << (ch.FromPort & 63)
	}
	return d
}

// look finds the rows with dead entries once for all steps that only mend: they make no
// entry dead in a row that has none.
func (d *deadRows) look(fw *routing.Forwarding) {
	d.may = nil
	may := make([]bool, d.f.TopLID()+1)
	for lid, owner := range d.f.LIDs() {
		if ep := d.f.Endpoint(owner); ep.Switch != fabric.None {
			may[lid] = d.has(fw.Row(lid), lid, ep.Switch)
		}
	}
	d.may = may
}

// has reports whether any switch but that of the owner has a dead entry in a row.
func (d *deadRows) has(row []uint8, lid fabric.LID, home fabric.NodeID) bool {
	if d.may != nil && !d.may[lid] {
		return false
	}
	for at, port := range row[:len(d.onward)] {
		if d.onward[at][port>>6]>>(port&63)&1 == 0 && fabric.NodeID(at) != home {
			return true
		}
	}
	return false
}

// any reports whether any row has a dead entry, or does not deliver.
func (d *deadRows) any(fw *routing.Forwarding) bool {
	for lid, owner := range d.f.LIDs() {
		if ep := d.f.Endpoint(owner); ep.Switch != fabric.None {
			if row := fw.Row(lid); row[ep.Switch] != d.f.LastPort(ep) || d.has(row, lid, ep.Switch) {
				return true
			}
		}
	}
	return false
}
