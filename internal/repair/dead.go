package repair

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// deadRows tells rows with dead entries from those without, which steps that mend need not look at any
// further: most rows, after most failures.
type deadRows struct {
	f       *fabric.Fabric
	onward  [][4]uint64 // [switch] its ports with a trunk, as bits
	suspect []bool      // [LID] its row may have dead entries; nil: any may
	empty   *emptyEntries
}

func newDeadRows(f *fabric.Fabric, empty *emptyEntries) *deadRows {
	d := &deadRows{f: f, onward: make([][4]uint64, f.Switches()), empty: empty}
	for c := range fabric.ChannelID(f.Trunks()) {
		ch := f.Channel(c)
		d.onward[ch.From][ch.FromPort>>6] |= 1 << (ch.FromPort & 63)
	}
	return d
}

// scan sets suspect by all rows of some tables, once for all steps that only mend: these make no
// entry dead in a row that has none. After steps that do more it has to be called again.
func (d *deadRows) scan(fw *routing.Forwarding) {
	d.suspect = nil
	suspect := make([]bool, d.f.TopLID()+1)
	for lid, owner := range d.f.LIDs() {
		if ep := d.f.Endpoint(owner); ep.Switch != fabric.None {
			suspect[lid] = d.has(fw.Row(lid), lid, ep.Switch)
		}
	}
	d.suspect = suspect
}

// has reports whether any switch except home, that of the owner, has a dead entry in the row of a LID. An
// entry that stays empty is not dead unless some switch forwards there.
func (d *deadRows) has(row []uint8, lid fabric.LID, home fabric.NodeID) bool {
	if d.suspect != nil && !d.suspect[lid] {
		return false
	}
	row = row[:len(d.onward)]
	empty := false
	for at, port := range row {
		if d.onward[at][port>>6]>>(port&63)&1 == 0 && fabric.NodeID(at) != home {
			if port != routing.NoPort || !d.empty.stay(fabric.NodeID(at), lid) {
				return true
			}
			empty = true
		}
	}
	return empty && d.endsEmpty(row, home)
}

// endsEmpty reports whether any entry of a row leads to a switch that has none.
func (d *deadRows) endsEmpty(row []uint8, home fabric.NodeID) bool {
	for at, port := range row {
		if c := d.f.Trunk(fabric.NodeID(at), port); c != fabric.None && fabric.NodeID(at) != home {
			if to := d.f.Heads()[c]; to != home && row[to] == routing.NoPort {
				return true
			}
		}
	}
	return false
}

// anyRow reports whether any row has a dead entry, or does not deliver.
func (d *deadRows) anyRow(fw *routing.Forwarding) bool {
	for lid, owner := range d.f.LIDs() {
		if ep := d.f.Endpoint(owner); ep.Switch != fabric.None {
			if row := fw.Row(lid); row[ep.Switch] != d.f.LastPort(ep) || d.has(row, lid, ep.Switch) {
				return true
			}
		}
	}
	return false
}
