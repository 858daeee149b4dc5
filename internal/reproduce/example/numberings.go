package example

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/engines"
)

// SpecX is the network X of HOTI 2009, figures 2 and 3, on which the paper shows the rounds of
// P-SSSP and P²-SSSP:
//
//	0 ─ A ── B ── C ─ 2
//	    │    │    │
//	    └─ D ┼────┘
//	       │ │
//	       └ E ─ 1
//
// Each of B and D is joined to A, C and E, so that every path between hosts has a way by B and
// one by D. The paper leaves open which of two is taken that weigh the same; here it follows from
// the numbers of the switches.
const SpecX = "example:hoti2009-3b"

// firstHost is the GUID of host 0 of X.
const firstHost fabric.GUID = 10

// networkX builds X with its switches numbered in an order of their names. Ports 1 and 2 of A, C
// and E lead to B and D.
func networkX(order string) (*fabric.Fabric, error) {
	var b fabric.Builder
	sw := map[byte]fabric.Ref{}
	for i, name := range []byte(order) {
		sw[name] = b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 3, Name: string(name)}, "")
	}
	for i, leaf := range []byte("ACE") {
		b.Cable(sw[leaf], 1, sw['B'], uint8(i+1), fabric.Rate{})
		b.Cable(sw[leaf], 2, sw['D'], uint8(i+1), fabric.Rate{})
	}
	for i, leaf := range []byte("AEC") {
		host := b.Node(fabric.Node{GUID: firstHost + fabric.GUID(i), Kind: fabric.Adapter, Ports: 1, Name: string(rune('0' + i))}, "")
		b.Cable(host, 1, sw[leaf], 3, fabric.Rate{})
	}
	return b.Build()
}

// Sizes of X: its switches, hosts, and cables between switches.
const (
	SwitchesX = 5
	HostsX    = 3
	CablesX   = 6
)

// Indexes is the edge-forwarding index that an engine has on X in each of the 120 numberings of
// its switches.
func Indexes(ctx context.Context, engine string) ([]float64, error) {
	e, err := engines.Named(engine)
	if err != nil {
		return nil, err
	}
	var all []float64
	for _, order := range orders("ABCDE") {
		f, err := networkX(order)
		if err != nil {
			return nil, err
		}
		routed, err := tables(ctx, f, e)
		if err != nil {
			return nil, err
		}
		var ways []string
		for from := range fabric.GUID(HostsX) {
			for to := range fabric.GUID(HostsX) {
				if from != to {
					ways = append(ways, walk(routed, firstHost+from, firstHost+to))
				}
			}
		}
		all = append(all, float64(indexOf(ways)))
	}
	return all, nil
}

// orders is every order of some letters, the alphabetical one first.
func orders(letters string) (all []string) {
	if letters == "" {
		return []string{""}
	}
	for i := range letters {
		for _, rest := range orders(letters[:i] + letters[i+1:]) {
			all = append(all, letters[i:i+1]+rest)
		}
	}
	return all
}
