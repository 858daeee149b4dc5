package orient

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/testnet"
)

// The graph of legal paths holds what Up*/Down* allows and nothing else: from where
// one can go down all the way, the shortest ways down; from elsewhere up, to the
// switches that are nearest by their own paths; from the root itself, and from where
// there is no path, nothing.
func TestLegalPathsAreAllThereAre(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		f := testnet.Build(t, []string{
			"mesh:3x4", "torus:3x3", "hypercube:3", "kautz:b=2,n=2", "karytree:k=2,n=3", "random:switches=10,links=14,seed=1", "random:switches=5,links=14,seed=3",
		}[rng.IntN(7)])
		var gone []fabric.ChannelID
		for range rng.IntN(4) {
			gone = append(gone, fabric.ChannelID(rng.IntN(f.Trunks())))
		}
		f, err := f.Without(gone, nil)
		if err != nil {
			t.Fatal(err)
		}
		order := make([]fabric.NodeID, f.Switches())
		for i, s := range rng.Perm(f.Switches()) {
			order[i] = fabric.NodeID(s)
		}
		o := New(f, order)
		var d dag.DAG
		for root := range fabric.NodeID(f.Switches()) {
			o.Legal(&d, f, root)
			l := &legalTwin{f: f, order: order, root: root}
			seen := map[fabric.NodeID]bool{}
			for i, u := range d.Order {
				hops, out := l.ways(u)
				if seen[u] || int(d.Hops[u]) != hops || !slices.Equal(d.Choices(i), out) {
					t.Fatalf("order %v: from %d to %d %d hops by trunks %v, not %d by %v", order, u, root, d.Hops[u], d.Choices(i), hops, out)
				}
				for j, c := range d.Choices(i) {
					if v := d.Head[int(d.First[i])+j]; v != f.Channel(c).To || !seen[v] {
						t.Fatalf("trunk %d leads to %d, before which it stands: %v", c, f.Channel(c).To, d.Order)
					}
				}
				seen[u] = true
			}
			for u := range fabric.NodeID(f.Switches()) {
				if hops, _ := l.ways(u); seen[u] != (hops >= 0) || !seen[u] && d.Hops[u] != dag.NoPath {
					t.Fatalf("order %v: from %d to %d there are %d hops, in the graph %v", order, u, root, hops, seen[u])
				}
			}
			if len(d.First) != len(d.Order)+1 {
				t.Fatalf("%d switches, %d places", len(d.Order), len(d.First))
			}
		}
	}
}

// legalTwin finds legal paths by trying.
type legalTwin struct {
	f     *fabric.Fabric
	order []fabric.NodeID
	root  fabric.NodeID
}

// next is the trunks of a switch that go up, or down.
func (l *legalTwin) next(u fabric.NodeID, up bool) (out []fabric.ChannelID) {
	for c := range fabric.ChannelID(l.f.Trunks()) {
		ch := l.f.Channel(c)
		if ch.From == u && (slices.Index(l.order, ch.To) < slices.Index(l.order, u)) == up {
			out = append(out, c)
		}
	}
	return out
}

// ways is the hops of the paths from a switch, and their first trunks; -1: there is
// none.
func (l *legalTwin) ways(u fabric.NodeID) (hops int, out []fabric.ChannelID) {
	if hops, out = l.nearest(u, false, l.down); hops >= 0 {
		return hops, out
	}
	return l.nearest(u, true, func(v fabric.NodeID) int { hops, _ := l.ways(v); return hops })
}

// down is the hops of the shortest way down from a switch.
func (l *legalTwin) down(u fabric.NodeID) int {
	hops, _ := l.nearest(u, false, l.down)
	return hops
}

// nearest is one hop more than the fewest behind the trunks that go up, or down, and
// those trunks.
func (l *legalTwin) nearest(u fabric.NodeID, up bool, behind func(fabric.NodeID) int) (hops int, out []fabric.ChannelID) {
	if u == l.root {
		return 0, nil
	}
	hops = -1
	for _, c := range l.next(u, up) {
		further := behind(l.f.Channel(c).To)
		switch {
		case further < 0:
		case hops < 0 || further+1 < hops:
			hops, out = further+1, []fabric.ChannelID{c}
		case further+1 == hops:
			out = append(out, c)
		}
	}
	return hops, out
}

// Where ways up are widened, every trunk up to a switch with a path is one; whoever can go
// down does so as before, and nobody is asked about where all trunks up lead to the nearest.
func TestWide(t *testing.T) {
	wider := 0
	for _, spec := range []string{"patchwork:13", "patchwork:41", "xgft:m=3x4,w=2x2,hosts=3", "mesh:3x4"} {
		f := testnet.Build(t, spec)
		o := New(f, ByRank(f, Centres(f)))
		var legal, wide dag.DAG
		for root := range fabric.NodeID(f.Switches()) {
			o.Legal(&legal, f, root)
			o.Wide(func(u, to fabric.NodeID, near, all int) bool {
				if to != root || near >= all {
					t.Fatalf("asked about %d of %d trunks to %d on the way to %d", near, all, to, root)
				}
				return u%2 == 0
			})(&wide, f, root)
			if !slices.Equal(wide.Order, legal.Order) || !slices.Equal(wide.Hops, legal.Hops) {
				t.Fatalf("%s, to %d: another order or other hops", spec, root)
			}
			seen := map[fabric.NodeID]bool{}
			for i, u := range wide.Order {
				want := slices.Clone(legal.Choices(i))
				if i > 0 && o.Up[want[0]] && u%2 == 0 {
					want = want[:0]
					for c, end := f.TrunksFrom(u); c < end; c++ {
						if o.Up[c] && seen[f.Channel(c).To] {
							want = append(want, c)
						}
					}
					wider += len(want) - len(legal.Choices(i))
				}
				if got := wide.Choices(i); !slices.Equal(got, want) {
					t.Fatalf("%s: from %d to %d by trunks %v, want %v", spec, u, root, got, want)
				}
				seen[u] = true
			}
		}
	}
	if wider == 0 {
		t.Error("nowhere are ways wider: no test")
	}
}
