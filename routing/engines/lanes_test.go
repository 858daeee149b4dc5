package engines_test

import (
	"context"
	"errors"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// OpenSM 3.3.23 on the same networks: the lanes that its dfsssp and lash need with
// eight offered, or, where they give up, with 15. Random networks are ours, of the
// same size.
var openSM = []struct {
	name, spec     string
	switches, hcas int
	dfsssp, lash   int // lanes, one more than offered where OpenSM gives up; 0: not looked at
	hops           int // of the longest path of df-dn; 0: not looked at
	slow           bool
}{
	{"dragonfly p=4", "dragonfly:p=4", 264, 1056, 4, 3, 3, true},
	{"dragonfly p=6", "dragonfly:p=6", 876, 5256, 7, 7, 3, true}, // OpenSM's lash: not after 610 s
	{"2-level fat tree", "xgft:m=36,w=18,hosts=18", 54, 648, 1, 1, 2, false},
	{"3-level fat tree", "xgft:m=18x12,w=18x6,hosts=18", 540, 3888, 1, 6, 4, true},
	{"Deimos-like", "deimos", 108, 724, 5, 2, 4, false},
	{"torus 4x4x4, 2 hosts", "torus:4x4x4,hosts=2", 64, 128, 9, 5, 6, false},
	{"torus 6x5x5, 7 hosts", "torus:6x5x5,hosts=7", 150, 1050, 9, 7, 7, true},
	{"torus 8x8x8, 2 hosts", "torus:8x8x8,hosts=2", 512, 1024, 0, 16, 0, true}, // both give up with 15 offered; ours of dfsssp takes long, df-dn more than 16 service levels
	{"random 64 switches, 128 links", "random:switches=64,links=128,hosts=16,seed=1", 64, 1024, 5, 4, 0, false},
	{"random 128 switches, 256 links", "random:switches=128,links=256,hosts=16,seed=1", 128, 2048, 9, 7, 0, false},
	{"random 128 switches, 512 links", "random:switches=128,links=512,hosts=16,seed=1", 128, 2048, 8, 4, 0, false},
	{"random 128 switches, 1,024 links", "random:switches=128,links=1024,hosts=16,seed=1", 128, 2048, 5, 3, 0, false},
	{"Kautz b=5 n=3", "kautz:b=5,n=3,hosts=7", 150, 1050, 7, 5, 3, true},
	{"Slim Fly q=5", "slimfly:q=5,hosts=7", 50, 350, 2, 2, 2, false},
	{"Slim Fly q=13", "slimfly:q=13,hosts=9", 338, 3042, 3, 2, 2, true},
}

// lash and dfsssp need no more lanes than OpenSM's, and finish where OpenSM gives
// up: dfsssp within 8 lanes on random networks of 128 switches and 256 links and on
// a torus of 6x5x5, lash below 16 on one of 8x8x8. df-dn needs as many lanes as the
// longest path has hops, and df-d2 two where those are two (HOTI 2016, section V:
// "The number of required VLs is equal to the diameter of the network graph").
func TestNoMoreLanesThanOpenSM(t *testing.T) {
	for _, c := range openSM {
		t.Run(c.name, func(t *testing.T) {
			if c.slow && testing.Short() {
				t.Skip("takes seconds")
			}
			if c.slow {
				testnet.OnlyWhole(t)
			}
			t.Parallel()
			f := testnet.Build(t, c.spec)
			if n := f.Count(); n.Switches != c.switches || n.HCA != c.hcas {
				t.Fatalf("%d switches and %d hosts", n.Switches, n.HCA)
			}
			offered := routing.DefaultVLs
			if c.lash > offered+1 {
				offered = routing.MaxDataVLs
			}
			for name, most := range map[string]int{"dfsssp": c.dfsssp, "lash": c.lash} {
				if most == 0 {
					continue
				}
				got := lanes(t, f, name, offered)
				t.Logf("%s needs %d lanes, OpenSM's %d", name, got, most)
				if got > min(most, offered) {
					t.Errorf("%s needs too many", name)
				}
			}
			if c.hops > 0 {
				if got := lanes(t, f, "df-dn", routing.MaxDataVLs); got != c.hops {
					t.Errorf("df-dn needs %d lanes; the longest path has %d hops", got, c.hops)
				}
			}
			if c.hops == 2 {
				if got := lanes(t, f, "df-d2", 2); got != 2 {
					t.Errorf("df-d2 needs %d lanes", got)
				}
			}
		})
	}
}

// lanes is how many an engine needs; 99 if it has too few. What it makes is judged.
func lanes(t *testing.T, f *fabric.Fabric, name string, offered int) int {
	t.Helper()
	e, err := engines.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := e.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: offered, Scope: routing.Adapters}, nil)
	if few := (*routing.TooFewLanes)(nil); errors.As(err, &few) {
		return 99
	}
	if err != nil {
		t.Fatal(err)
	}
	v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: e.Contract, Scope: routing.Adapters})
	if err != nil || !v.Free() || !v.Complete() {
		t.Fatalf("%s: %+v, %v", name, v, err)
	}
	return tables.Lanes.Needed
}
