package congestion_test

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

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
		loads := congestion.Count(f, fw, routing.HCA)
		level := levelsOf(f)
		want := map[[2]int]*congestion.Tier{}
		most := uint32(0)
		for _, n := range loads.Routes {
			most = max(most, n)
		}
		for c, n := range loads.Routes {
			ch := f.Channel(fabric.ChannelID(c))
			from, to := level[ch.From], level[ch.To]
			if from == math.MaxInt {
				continue
			}
			w := want[[2]int{from, to}]
			if w == nil {
				w = &congestion.Tier{From: from, To: to, Least: n}
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
		tiers := loads.Tiers(f, routing.HCA)
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
