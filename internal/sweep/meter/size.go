package meter

import (
	"github.com/weft-fabric/weft/internal/sweep"
)

// Size is how large a network is, before damage.
func (m *Meter) Size(n *sweep.Network) (sweep.Size, error) {
	f, err := m.make(n)
	if err != nil {
		return sweep.Size{}, err
	}
	c := f.Count()
	lids := int(f.TopLID()) + 1
	return sweep.Size{
		Switches: c.Switches, Hosts: c.HCA, Cables: c.SwitchCables, LIDs: lids,
		// Tables of ports and of service levels with what is made on the way to them, what is
		// known of every turn, and the fabric.
		Pairs: 4 * int64(c.Switches) * int64(f.Trunks()),
		Bytes: 8*int64(c.Switches)*int64(lids) + 40*int64(f.Turns()) + 1024*int64(len(f.Nodes())),
	}, nil
}
