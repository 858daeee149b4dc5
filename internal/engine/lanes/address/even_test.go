package address_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/address"
	"github.com/weft-fabric/weft/routing"
)

// uneven is a line of three switches with 1, 3 and 2 hosts, of LMC 2, 1, 0 and so on:
// endpoints do not all have as many addresses.
func uneven(t *testing.T) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	var sw []fabric.Ref
	guid := fabric.GUID(100)
	for i, hosts := range []int{1, 3, 2} {
		sw = append(sw, b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 8}, ""))
		for h := range hosts {
			host := b.Node(fabric.Node{Kind: fabric.Adapter, GUID: guid, Ports: 1}, "")
			b.Port(host, 1, fabric.Port{LMC: uint8(2 - (i+h)%3)})
			b.Cable(host, 1, sw[i], uint8(h+3), fabric.Rate{})
			guid++
		}
	}
	b.Cable(sw[0], 1, sw[1], 2, fabric.Rate{})
	b.Cable(sw[1], 1, sw[2], 2, fabric.Rate{})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// With one address for a pair, a switch takes the lowest of those whose layers have the
// fewest pairs so far, of endpoints that have a choice; with all of them, each address
// is its layer for every switch.
func TestEveryPairTakesTheEmptiestLayer(t *testing.T) {
	f := uneven(t)
	for _, single := range []bool{false, true} {
		l, err := address.Assigner{Single: single}.Lanes(context.Background(), f, nil, routing.Budget{VLs: 8, Contract: routing.Directed}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if l.Needed != 4 {
			t.Errorf("%d layers, want 4", l.Needed)
		}
		pairs := map[int]int{} // by layer
		for _, e := range f.Endpoints() {
			for s := range fabric.NodeID(f.Switches()) {
				take := 0
				for a := range 1 << e.LMC {
					if pairs[a] < pairs[take] {
						take = a
					}
				}
				if e.LMC > 0 {
					for _, src := range f.Attached(s) {
						if f.Endpoint(src).Class == fabric.HostAdapter {
							pairs[take]++
						}
					}
				}
				for a := range 1 << e.LMC {
					want := uint8(a)
					if single && a != take {
						want = routing.NoSL
					}
					if got := l.SLRow(e.LID + fabric.LID(a))[s]; got != want {
						t.Fatalf("single %v: from switch %d to LID %d of LMC %d: %d, want %d", single, s, int(e.LID)+a, e.LMC, got, want)
					}
				}
			}
		}
	}
}
