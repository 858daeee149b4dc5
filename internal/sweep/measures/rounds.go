package measures

import (
	"bytes"
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/routing"
)

func rounds(ctx context.Context, in *Input, m *Measure) (Value, error) {
	n, err := roundsOf(ctx, in.Fabric, uint8(m.whole("lmc")), in.Seed)
	return Value{Mean: float64(n)}, err
}

// roundsOf is how many rounds of messages between neighbours TPDS 2006, section 4.3, takes
// until every switch has computed its tables of MROOTS by itself. That it "will conclude with
// the same result" as all others is checked, also where messages overtake each other; a network where it does not
// is refused. Every destination has two to the power of lmc addresses, and a tree for each.
func roundsOf(ctx context.Context, f *fabric.Fabric, lmc uint8, seed uint64) (rounds int, err error) {
	f, err = f.WithLMC(lmc)
	if err != nil {
		return 0, err
	}
	whole, err := updown.MultiRoot{}.Paths(ctx, f, nil)
	if err != nil {
		return 0, err
	}
	for _, o := range []updown.Distributed{{}, {Seed: seed}} {
		s, err := o.Settle(ctx, f)
		if err != nil {
			return 0, err
		}
		for lid := range f.LIDs() {
			if !bytes.Equal(s.Forwarding.Row(lid), whole.Row(lid)) {
				return 0, routing.Refuse(f, "all switches come to the same tables", fabric.None, 0, "not those for LID %d", lid)
			}
		}
		if o.Seed == 0 {
			rounds = s.Rounds
		}
	}
	return rounds, nil
}
