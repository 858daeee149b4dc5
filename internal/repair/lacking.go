package repair

import (
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// lacking is the lanes, as bits, that packets can be on somewhere and each trunk is stated not to run,
// [trunk]; nil if all trunks run them all, as far as is known.
func lacking(t *routing.Tables, o Options) []uint16 {
	f := t.Fabric
	lanes := uint16(1)<<packetset.NewSources(t, o.Contract, o.Scope, 0).Lanes - 1
	lacks, any := make([]uint16, f.Trunks()), false
	for c := range lacks {
		if runs := f.Channels()[c].DataVLs; runs > 0 {
			lacks[c] = lanes >> runs << runs
			any = any || lacks[c] != 0
		}
	}
	if !any {
		return nil
	}
	return lacks
}
