package congestion_test

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// chain is three switches in a row with one, two and one hosts; the last host has
// two LIDs. LIDs: switches 1 to 3, hosts 4, 5, 6 and 8 to 9.
func chain(t *testing.T) (*fabric.Fabric, *routing.Forwarding) {
	var b fabric.Builder
	var sw []fabric.Ref
	for i := range 3 {
		sw = append(sw, b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 4}, ""))
	}
	b.Cable(sw[0], 3, sw[1], 4, fabric.Rate{})
	b.Cable(sw[1], 3, sw[2], 4, fabric.Rate{})
	for i, at := range []int{0, 1, 1, 2} {
		h := b.Node(fabric.Node{GUID: fabric.GUID(i + 10), Kind: fabric.Adapter, Ports: 1}, "")
		b.Cable(sw[at], []uint8{1, 1, 2, 1}[i], h, 1, fabric.Rate{})
		if i == 3 {
			b.Port(h, 1, fabric.Port{LID: 8, LMC: 1})
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	fw := routing.NewForwarding(f)
	for lid, row := range map[fabric.LID][]uint8{
		1: {0, 4, 4}, 2: {3, 0, 4}, 3: {3, 3, 0},
		4: {1, 4, 4}, 5: {3, 1, 4}, 6: {3, 2, 4}, 8: {3, 3, 1}, 9: {3, 3, 1},
	} {
		copy(fw.Row(lid), row)
	}
	return f, fw
}

func TestCount(t *testing.T) {
	f, fw := chain(t)
	// Trunks: 0 to 1, 1 to 2, 1 to 0, 2 to 1.
	l := congestion.Count(f, fw, routing.HCA)
	// Over 0-1 goes one host to two LIDs in the middle and two at the end; over
	// 1-2 three hosts to two LIDs; back over 1-0 and 2-1 three hosts to one LID
	// and one host to three.
	if want := []uint32{4, 6, 3, 3}; !slices.Equal(l.Routes, want) || l.Max != 6 || l.Hottest != 1 {
		t.Errorf("routes are %v, most %d on trunk %d; want %v", l.Routes, l.Max, l.Hottest, want)
	}
	if l.Pairs != 3*4+3 || l.Hops != 16 || l.MaxHops != 2 || l.MeanHops() != 16.0/15 {
		t.Errorf("%d pairs, %d hops, at most %d, mean %f", l.Pairs, l.Hops, l.MaxHops, l.MeanHops())
	}
	if l := congestion.Count(f, fw, routing.All); l.Pairs != 7*6+2*6-6 || l.Routes[0] != 2*6 {
		t.Errorf("all: %d pairs, %v", l.Pairs, l.Routes)
	}
}

// Routes that end nowhere, circle or arrive at another port are not counted.
func TestCountLeavesOutWhatDoesNotArrive(t *testing.T) {
	f, fw := chain(t)
	copy(fw.Row(4), []uint8{1, 3, 4}) // circles between switches 1 and 2
	copy(fw.Row(5), []uint8{routing.NoPort, 1, 4})
	copy(fw.Row(9), []uint8{3, 3, 2})
	l := congestion.Count(f, fw, routing.HCA)
	if want := []uint32{2, 3, 0, 2}; !slices.Equal(l.Routes, want) || l.Pairs != 15-3-1-3 {
		t.Errorf("routes are %v of %d pairs, want %v", l.Routes, l.Pairs, want)
	}
}

func TestCountNothing(t *testing.T) {
	f, err := new(fabric.Builder).Build()
	if err != nil {
		t.Fatal(err)
	}
	l := congestion.Count(f, routing.NewForwarding(f), routing.All)
	if l.Pairs != 0 || l.MeanHops() != 0 || l.Hottest != fabric.None {
		t.Errorf("nothing counts as %+v", l)
	}
}
