package measure

import (
	"bytes"
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/paths/updown"
)

// lmcOfRounds makes four addresses, so trees, of every destination: as many as LASH needs
// layers in most networks of TPDS 2006, section 8.
const lmcOfRounds = 2

// roundsOf is how many rounds of messages between neighbours TPDS 2006, section 4.3, takes
// until every switch has computed its tables of MROOTS by itself. That it "will conclude with
// the same result" as all others is checked, also where messages overtake each other; a network where it does not
// counts as refused.
func roundsOf(ctx context.Context, f *fabric.Fabric, seed uint64) (sample, error) {
	f, err := f.WithLMC(lmcOfRounds)
	if err != nil {
		return sample{}, err
	}
	whole, err := updown.MultiRoot{}.Paths(ctx, f, nil)
	if err != nil {
		return sample{}, err
	}
	var rounds int
	for _, o := range []updown.Distributed{{}, {Seed: seed}} {
		s, err := o.Settle(ctx, f)
		if err != nil {
			return sample{}, err
		}
		for lid := range f.LIDs() {
			if !bytes.Equal(s.Forwarding.Row(lid), whole.Row(lid)) {
				return sample{}, routing.Refuse(f, "all switches come to the same tables", fabric.None, 0, "not those for LID %d", lid)
			}
		}
		if o.Seed == 0 {
			rounds = s.Rounds
		}
	}
	return sample{values: []float64{float64(rounds)}}, nil
}
