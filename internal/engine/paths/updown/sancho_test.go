package updown

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// J. C. Sancho, A. Robles: Improving the Up*/Down* Routing Scheme for Networks of
// Workstations, Euro-Par 2000: the depth-first search begins at the switch with the
// highest average distance to the others, and goes on to the neighbour with most links
// to switches already visited, of several to the one that is farther away on average.
// (Here of several still to the one with the lowest number.) A root may be given instead.
func TestDepthFirstOrderIsSanchos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := testnet.Build(t, rapid.SampledFrom([]string{
			"mesh:3x4", "torus:3x4", "hypercube:4", "kautz:b=2,n=3", "karytree:k=3,n=2",
			"random:switches=14,links=20,seed=1", "random:switches=9,links=24,seed=2", "random:switches=6,links=14,seed=3",
		}).Draw(t, "network"))
		var gone []fabric.ChannelID
		for range rapid.IntRange(0, f.Trunks()/3).Draw(t, "cuts") {
			gone = append(gone, fabric.ChannelID(rapid.IntRange(0, f.Trunks()-1).Draw(t, "cut")))
		}
		f, err := f.Without(gone, nil)
		if err != nil {
			t.Fatal(err)
		}
		first := fabric.NodeID(rapid.IntRange(fabric.None, f.Switches()-1).Draw(t, "first"))
		order, roots := depthFirst(f, first)
		s := newSancho(f, first)
		for len(s.order) < f.Switches() {
			s.visit(s.start())
		}
		if !slices.Equal(order, s.order) || !slices.Equal(slices.Sorted(slices.Values(roots)), slices.Sorted(slices.Values(s.roots))) {
			t.Fatalf("order %v from roots %v, Sancho's is %v from %v", order, roots, s.order, s.roots)
		}
	})
}

// sancho is the search, as dumb as can be.
type sancho struct {
	f            *fabric.Fabric
	first        fabric.NodeID // the root of its part, whatever its distance
	order, roots []fabric.NodeID
	hops         map[[2]fabric.NodeID]int
}

func newSancho(f *fabric.Fabric, first fabric.NodeID) *sancho {
	s := &sancho{f: f, first: first, hops: map[[2]fabric.NodeID]int{}}
	for from := range fabric.NodeID(f.Switches()) {
		reached := []fabric.NodeID{from}
		for i := 0; i < len(reached); i++ {
			for _, v := range s.links(reached[i]) {
				if v != from && s.hops[[2]fabric.NodeID{from, v}] == 0 {
					s.hops[[2]fabric.NodeID{from, v}] = s.hops[[2]fabric.NodeID{from, reached[i]}] + 1
					reached = append(reached, v)
				}
			}
		}
	}
	return s
}

// links is the switches at the other ends of the cables of one.
func (s *sancho) links(at fabric.NodeID) (to []fabric.NodeID) {
	for c := range fabric.ChannelID(s.f.Trunks()) {
		if s.f.Channel(c).From == at {
			to = append(to, s.f.Channel(c).To)
		}
	}
	return to
}

// distance is the hops to all others.
func (s *sancho) distance(at fabric.NodeID) (sum int) {
	for pair, hops := range s.hops {
		if pair[0] == at {
			sum += hops
		}
	}
	return sum
}

// start is the root of the first part that is not visited yet.
func (s *sancho) start() fabric.NodeID {
	for _, part := range s.f.Parts() {
		if slices.Contains(s.order, part[0]) {
			continue
		}
		root := slices.MaxFunc(part, func(a, b fabric.NodeID) int { return s.distance(a) - s.distance(b) })
		if slices.Contains(part, s.first) {
			root = s.first
		}
		s.roots = append(s.roots, root)
		return root
	}
	panic(fmt.Sprint("all visited: ", s.order))
}

// visit goes as deep as it can, and comes back.
func (s *sancho) visit(at fabric.NodeID) {
	s.order = append(s.order, at)
	for {
		var open []fabric.NodeID
		for _, v := range s.links(at) {
			if !slices.Contains(s.order, v) {
				open = append(open, v)
			}
		}
		if len(open) == 0 {
			return
		}
		slices.Sort(open)
		s.visit(slices.MaxFunc(open, func(a, b fabric.NodeID) int {
			if known := s.visited(a) - s.visited(b); known != 0 {
				return known
			}
			return s.distance(a) - s.distance(b)
		}))
	}
}

// visited counts the links to switches already visited.
func (s *sancho) visited(at fabric.NodeID) (n int) {
	for _, v := range s.links(at) {
		if slices.Contains(s.order, v) {
			n++
		}
	}
	return n
}

// With trees depth first, source routes go up, then down in the order of Sancho's search from the
// root of their layer; breadth-first trees from the same roots are others.
func TestDepthFirstTrees(t *testing.T) {
	f := testnet.Build(t, "random:switches=24,links=48,hosts=1,seed=5")
	s := newSancho(f, 0) // step 1 of section 4.2: the first root is the lowest
	s.visit(s.start())
	for depthFirst, want := range map[bool]int{true: 0, false: 100} {
		r, err := SourceRoutes{Roots: true, DepthFirst: depthFirst}.RouteAdaptive(t.Context(), f, routing.Budget{VLs: 1, Scope: routing.HCA}, nil)
		if err != nil {
			t.Fatal(err)
		}
		illegal := 0
		for a := range adaptive.Address(r.Addresses()) {
			for from := range fabric.NodeID(f.Switches()) {
				if r.Allowed(from, a) == 0 {
					continue
				}
				down, again := false, false
				for at := from; at != r.Destination(a); {
					first, end := f.TrunksFrom(at)
					next := f.Channel(r.Ways(a, fabric.None, 0, 0).Next(first, end)).To
					up := slices.Index(s.order, next) < slices.Index(s.order, at)
					down, again, at = down || !up, again || down && up, next
				}
				if again {
					illegal++
				}
			}
		}
		if illegal < want || want == 0 && illegal > 0 {
			t.Errorf("depth first %t: %d paths go down, then up", depthFirst, illegal)
		}
	}
}
