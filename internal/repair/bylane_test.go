package repair_test

import (
	"errors"
	"testing"

	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Tables whose lanes do not go by service levels are refused, unless the lane is the same for all.
func TestByLane(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	for _, c := range []struct {
		maps    *routing.SL2VL
		refused bool
	}{{routing.LanePerSL(2).PerPort(f), true}, {routing.LanePerSL(1).PerPort(f), false}} {
		updn, _ := route(t, f, "updn")
		tables := *updn
		c.maps.SetByLane(3, 1)
		tables.Lanes = routing.OneSL(f, c.maps)
		_, mended := repair.Mend(t.Context(), &tables, nil, repair.Options{})
		_, brought := repair.Migrate(t.Context(), &tables, &tables, repair.Options{})
		for _, err := range []error{mended, brought} {
			if byLane := (*repair.ByLane)(nil); errors.As(err, &byLane) != c.refused || c.refused && byLane.Switch != f.Label(3) || !c.refused && err != nil {
				t.Errorf("refused %v: %v", c.refused, err)
			}
		}
	}
}

// Tables that do not fit their fabric are refused before anything else is read of them.
func TestMisfit(t *testing.T) {
	small, f := testnet.Build(t, "torus:2x2,hosts=2"), testnet.Build(t, "torus:4x4,hosts=2")
	maps := routing.LanePerSL(2).PerPort(small)
	maps.SetByLane(0, 0)
	updn, _ := route(t, f, "updn")
	tables := *updn
	tables.Lanes = routing.OneSL(f, maps)
	if _, err := repair.Mend(t.Context(), &tables, nil, repair.Options{}); err == nil {
		t.Error("Mend takes them")
	}
	if _, err := repair.Migrate(t.Context(), &tables, updn, repair.Options{}); err == nil {
		t.Error("Migrate takes them")
	}
}
