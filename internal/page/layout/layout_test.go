package layout_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/page/layout"
	"github.com/weft-fabric/weft/internal/testnet"
)

// What each network is drawn as, and that no two of its switches share a place.
func TestKinds(t *testing.T) {
	for spec, want := range map[string]layout.Kind{
		"torus:6x5x5":                  layout.Grid,
		"mesh:4x4x4x4":                 layout.Grid,
		"hypercube:6":                  layout.Grid,
		"ring:12":                      layout.Grid,
		"dragonfly:p=2":                layout.Groups,
		"dragonfly:p=4":                layout.Groups,
		"fattree:ports=24":             layout.Levels,
		"fattree:ports=8,levels=3":     layout.Levels,
		"deimos":                       layout.Levels,
		"planes:groups=3,leaves=5":     layout.Levels,
		"slimfly:q=5":                  layout.Distances,
		"kautz:b=3,n=3":                layout.Distances,
		"random:switches=64,links=128": layout.Distances,
		"jellyfish:switches=1000,degree=8,hosts=2": layout.Distances, // beyond all pairs
		"hyperx:4x4,hosts=4":                       layout.Distances,
		"fattree:ports=36,levels=3":                layout.Levels,
	} {
		f := testnet.Build(t, spec)
		l := layout.Of(f)
		if l.Kind != want {
			t.Errorf("%s is drawn as %s (%s), want %s", spec, l.Kind, l.Name, want)
		}
		if d := closest(l); d < 0.2 {
			t.Errorf("%s: two switches are %.3f apart", spec, d)
		}
		if again := layout.Of(f); !reflect.DeepEqual(l, again) {
			t.Errorf("%s: a second layout differs", spec)
		}
	}
}

// closest is the distance of the two switches that are closest.
func closest(l *layout.Layout) float64 {
	least := math.Inf(1)
	for a := range l.X {
		for b := range a {
			least = min(least, math.Hypot(l.X[a]-l.X[b], l.Y[a]-l.Y[b]))
		}
	}
	return least
}

// The groups of a Dragonfly are those of its generator: as many switches in each, all
// neighbours.
func TestGroups(t *testing.T) {
	f := testnet.Build(t, "dragonfly:p=4")
	l := layout.Of(f)
	if l.Groups != 33 {
		t.Errorf("%d groups, want 33", l.Groups)
	}
	for c := range fabric.ChannelID(f.Trunks()) {
		ch := f.Channel(c)
		near := math.Hypot(l.X[ch.From]-l.X[ch.To], l.Y[ch.From]-l.Y[ch.To]) < 4
		if same := l.Group[ch.From] == l.Group[ch.To]; same != near {
			t.Errorf("%s and %s: in one group %v, near each other %v", f.Label(ch.From), f.Label(ch.To), same, near)
		}
	}
}

// A tree stands with its hosts below, and a network in parts has its parts apart.
func TestLevelsAndParts(t *testing.T) {
	f := testnet.Build(t, "fattree:ports=8,levels=3")
	l := layout.Of(f)
	for c := range fabric.ChannelID(f.Trunks()) {
		ch := f.Channel(c)
		if l.Level[ch.From] < l.Level[ch.To] && l.Y[ch.From] <= l.Y[ch.To] {
			t.Errorf("%s is not below %s", f.Label(ch.From), f.Label(ch.To))
		}
	}
	var cut []fabric.ChannelID
	ring := testnet.Build(t, "ring:12")
	for c := range fabric.ChannelID(ring.Trunks()) {
		if ch := ring.Channel(c); ch.From < 6 && ch.To >= 6 {
			cut = append(cut, c)
		}
	}
	two, err := ring.Without(cut, nil)
	if err != nil {
		t.Fatal(err)
	}
	if l := layout.Of(two); closest(l) < 0.2 || len(two.Parts()) != 2 {
		t.Errorf("%d parts, two switches are %.3f apart", len(two.Parts()), closest(l))
	}
}
