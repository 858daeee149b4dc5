package repair

import (
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// lacking is for each trunk, [trunk], the lanes as bits that packets by these tables may use anywhere, but that
// this trunk is stated not to run; nil if there are none. Mend keeps new entries from bringing packets there.
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
