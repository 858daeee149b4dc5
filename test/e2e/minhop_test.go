package e2e

import (
	"fmt"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/dumped"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Our minhop fills every forwarding table as OpenSM does by default, entry by entry:
// trees of two and three levels, tori, parallel cables, switches without hosts, one
// address a port and two.
func TestMinHopIsOpenSMs(t *testing.T) {
	for i, spec := range []string{
		"xgft:m=24,w=12,hosts=12", "karytree:k=3,n=3", "xgft:m=3x4,w=2x2,hosts=3", testnet.Small, testnet.SmallWide, "torus:4x4,hosts=2",
		"dragonfly:p=2", "slimfly:q=5,hosts=3", "random:switches=20,links=50,seed=2", "random:switches=3,links=12,hosts=3", "director:8,radix=4",
	} {
		for lmc := range uint8(2) {
			t.Run(fmt.Sprintf("%s, LMC %d", spec, lmc), func(t *testing.T) {
				if i%2 != int(lmc) {
					testnet.OnlyWhole(t)
				}
				t.Parallel()
				f, err := testnet.Build(t, spec).WithLMC(lmc)
				if err != nil {
					t.Fatal(err)
				}
				d := live.OpenSM(t, netFile(t, f), map[string]string{"routing_engine": "minhop", "lmc": fmt.Sprint(lmc)}, f)
				theirs := dumped.Read(t, f, d.Subnet, d.LFTs).Forwarding
				ours, err := minhop.Finder{}.Paths(t.Context(), f, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := sameEntries(f, ours, theirs); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// sameEntries says in how many entries two forwardings differ, and shows one.
func sameEntries(f *fabric.Fabric, ours, theirs *routing.Forwarding) error {
	entries, differ := 0, 0
	var first string
	for lid := range f.LIDs() {
		for s := range fabric.NodeID(f.Switches()) {
			entries++
			if a, b := ours.Port(s, lid), theirs.Port(s, lid); a != b {
				if differ++; differ == 1 {
					first = fmt.Sprintf("%s sends LID %d by port %d, OpenSM by %d", f.Label(s), lid, a, b)
				}
			}
		}
	}
	if differ == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d entries differ: %s", differ, entries, first)
}
