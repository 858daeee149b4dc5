package loads_test

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/loads"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// A fat tree has tiers up and down, and its routing loads each alike.
func TestTiers(t *testing.T) {
	tables := routed.By(t, "karytree:k=4,n=3", "ftree")
	l := congestion.Count(tables.Fabric, tables.Forwarding, routing.HCA)
	tiers := loads.Tiers(l, tables.Fabric, routing.HCA)
	var names [][2]int
	trunks := 0
	for _, tier := range tiers {
		names = append(names, [2]int{tier.From, tier.To})
		trunks += tier.Trunks
		sum := 0
		for _, n := range tier.Loads {
			sum += n
		}
		if sum != tier.Trunks || tier.Trunks != 64 || tier.Least > tier.Most || tier.Most > l.Max {
			t.Errorf("%+v", tier)
		}
	}
	if diff := cmp.Diff([][2]int{{0, 1}, {1, 0}, {1, 2}, {2, 1}}, names); diff != "" || trunks != tables.Fabric.Trunks() {
		t.Error(diff)
	}
	// 48 of a leaf's 63 destinations for each of its 4 hosts are beyond its branch.
	if up := tiers[2]; up.Mean != 4*4*48/16. {
		t.Errorf("%+v", up)
	}
}

// Tiers hold what one gets who looks at every trunk by itself: by levels from the
// switches with endpoints up, and by tenths of the largest load.
func TestTiersAreTheirTrunks(t *testing.T) {
	for _, spec := range []string{"karytree:k=3,n=3", "xgft:m=3x4,w=2x2,hosts=3", "torus:4x4,hosts=2", "random:switches=14,links=22,hosts=1,seed=3", "fattree:ports=4,levels=3"} {
		f := testnet.Build(t, spec)
		// Without some hosts there are levels, without some cables parts.
		var gone []fabric.NodeID
		for i, e := range routing.HCA.Endpoints(f) {
			if i%5 < 2 {
				gone = append(gone, f.Endpoint(e).Node)
			}
		}
		f, err := f.Without([]fabric.ChannelID{0, 3, 4}, gone)
		if err != nil {
			t.Fatal(err)
		}
		fw, err := minhop.Finder{}.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := congestion.Count(f, fw, routing.HCA)
		level := levelsOf(f)
		want := map[[2]int]*loads.Tier{}
		most := uint32(0)
		for _, n := range all.Routes {
			most = max(most, n)
		}
		for c, n := range all.Routes {
			ch := f.Channel(fabric.ChannelID(c))
			from, to := level[ch.From], level[ch.To]
			if from == math.MaxInt {
				continue
			}
			w := want[[2]int{from, to}]
			if w == nil {
				w = &loads.Tier{From: from, To: to, Least: n}
				want[[2]int{from, to}] = w
			}
			w.Mean = (w.Mean*float64(w.Trunks) + float64(n)) / float64(w.Trunks+1)
			w.Trunks++
			w.Least, w.Most = min(w.Least, n), max(w.Most, n)
			tenth := 0
			for tenth < 9 && most > 0 && uint64(n)*10 >= uint64(most)*uint64(tenth+1) {
				tenth++
			}
			w.Loads[tenth]++
		}
		tiers := loads.Tiers(all, f, routing.HCA)
		if len(tiers) != len(want) {
			t.Errorf("%s: %d tiers, want %d", spec, len(tiers), len(want))
		}
		for i, got := range tiers {
			if i > 0 && (tiers[i-1].From > got.From || tiers[i-1].From == got.From && tiers[i-1].To >= got.To) {
				t.Errorf("%s: tier %d is not in order: %+v", spec, i, tiers)
			}
			w := want[[2]int{got.From, got.To}]
			if w == nil || math.Abs(w.Mean-got.Mean) > 1e-9*(1+w.Mean) {
				t.Fatalf("%s: %+v, want %+v", spec, got, w)
			}
			w.Mean = got.Mean
			if d := cmp.Diff(*w, got); d != "" {
				t.Errorf("%s: %s", spec, d)
			}
		}
	}
}

// levelsOf is the hops from every switch to the nearest with a host.
func levelsOf(f *fabric.Fabric) []int {
	level := make([]int, f.Switches())
	for s := range level {
		level[s] = math.MaxInt
		for _, e := range f.Attached(fabric.NodeID(s)) {
			if f.Endpoint(e).Class == fabric.HostAdapter {
				level[s] = 0
			}
		}
	}
	for range level {
		for c := range fabric.ChannelID(f.Trunks()) {
			if ch := f.Channel(c); level[ch.From] != math.MaxInt {
				level[ch.To] = min(level[ch.To], level[ch.From]+1)
			}
		}
	}
	return level
}
