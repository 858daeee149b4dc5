package dag_test

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Links are by lowest port, each with all its cables by port, and LIDs take turns over
// them.
func TestLinks(t *testing.T) {
	for _, spec := range []string{"random:switches=6,links=30,seed=3", "ring:5", "planes:ports=8,groups=3,leaves=3,on=2,tails=2,trunk=2"} {
		f := testnet.Build(t, spec)
		l := dag.NewLinks(f)
		for s := range fabric.NodeID(f.Switches()) {
			var to []fabric.NodeID // in the order in which ports lead to them first
			first, end := f.TrunksFrom(s)
			for c := first; c < end; c++ {
				if v := f.Channel(c).To; !slices.Contains(to, v) {
					to = append(to, v)
				}
			}
			if got := l.To[l.First[s]:l.First[s+1]]; !slices.Equal(got, to) {
				t.Fatalf("%s: links of %d lead to %v, not %v", spec, s, got, to)
			}
			for link := l.First[s]; link < l.First[s+1]; link++ {
				var cables []fabric.ChannelID
				for c := first; c < end; c++ {
					if f.Channel(c).To == l.To[link] {
						cables = append(cables, c)
						if l.Of[c] != link {
							t.Fatalf("%s: trunk %d is of link %d, not %d", spec, c, l.Of[c], link)
						}
					}
				}
				if !slices.Equal(l.Cables(link), cables) {
					t.Fatalf("%s: link %d has cables %v, not %v", spec, link, l.Cables(link), cables)
				}
				fw := routing.NewForwarding(f)
				lids := dag.LIDsOn(f, l.To[link], nil)
				l.Deal(fw, lids, link)
				dag.Deliver(f, fw, lids)
				for i, lid := range lids {
					if c := f.Out(s, fw.Port(s, lid)); c != cables[i%len(cables)] {
						t.Fatalf("%s: LID %d of %d leaves %d by trunk %d of %v", spec, lid, l.To[link], s, c, cables)
					}
					if e := f.Endpoint(f.Owner(lid)); fw.Port(l.To[link], lid) != f.LastPort(e) {
						t.Fatalf("%s: LID %d is not delivered", spec, lid)
					}
				}
			}
		}
	}
}

// Far is the sums of a breadth-first search from every switch, by weight.
func TestFar(t *testing.T) {
	f := testnet.Build(t, "mesh:4") // a line
	sum, most := dag.Far(f, nil)
	at := func(s fabric.NodeID) int { return int(sum[s]) }
	if got := []int{at(0), at(1), at(2), at(3)}; !slices.Equal(got, []int{6, 4, 4, 6}) || !slices.Equal(most, []int32{3, 2, 2, 3}) {
		t.Errorf("hops to all from a line's switches: %v, most %v", got, most)
	}
	if sum, most = dag.Far(f, []int64{0, 0, 0, -2}); !slices.Equal(sum, []int64{-6, -4, -2, 0}) || !slices.Equal(most, []int32{3, 2, 1, 0}) {
		t.Errorf("hops to the last, twice: %v, most %v", sum, most)
	}
}
