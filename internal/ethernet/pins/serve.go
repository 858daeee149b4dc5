package pins

import (
	"context"
	"math"
	"slices"

	"github.com/weft-fabric/weft/internal/engine/steps/coloring"
)

// Root is where the way to an adapter comes down in a fat tree: by a plane, and with three levels by a top of it.
type Root struct{ Plane, Top int32 }

// Demand is what the adapters on a leaf send to an adapter, by number.
type Demand struct {
	From, To int32
	Bytes    float64
}

// Speeds is how fast the cables are together that join two switches of a tree, in any unit: those above the leaves, [leaf × planes +
// plane], and those one level up, [(pod × planes + plane) × tops + top]. An empty list: all are alike.
type Speeds struct{ Leaf, Top []float64 }

// even reports whether all cables above the leaves are alike, and all that are one level up.
func (s *Speeds) even() bool {
	for _, list := range [...][]float64{s.Leaf, s.Top} {
		if len(list) > 0 && slices.Min(list) != slices.Max(list) {
			return false
		}
	}
	return true
}

// Serve chooses the root of each address of each adapter for what a job sends, on a fat tree: leaf is the leaf of each adapter, and
// each of its addresses carries an equal part of the demands to it. weft pin writes the roots as pins.
//
// It begins with an edge coloring. On that demands meet as little as any pins allow (exact) if they are equally large, each adapter
// has one address and demands of one other leaf at most, and cables are alike. Otherwise the result is the better of what
// descent comes to from the coloring and from the roots given; a cable half as fast counts for twice what it carries.
//
// roots is [adapter][address], and not changed; adapters without demands keep theirs. kept says that they are in force as pins, and
// the coloring keeps those of other adapters too where it can.
func Serve(ctx context.Context, t *coloring.Tree, speeds Speeds, leaf []int32, demands []Demand, roots [][]Root, kept bool) (best [][]Root, exact bool) {
	s := &chooser{t: t, leaf: leaf, from: make([][]Demand, len(leaf))}
	s.planes, s.tops = t.Roots()
	s.weigh(speeds)
	exact = speeds.even()
	bytes := 0. // of the largest demand of the adapter before
	for _, d := range demands {
		if d.From == leaf[d.To] {
			continue
		}
		i := slices.IndexFunc(s.from[d.To], func(o Demand) bool { return o.From == d.From })
		if i < 0 {
			i = len(s.from[d.To])
			s.from[d.To] = append(s.from[d.To], Demand{From: d.From, To: d.To})
		}
		s.from[d.To][i].Bytes += d.Bytes
	}
	var edges []int32    // adapters with demands
	var from, to []int32 // [place in edges] leaves: of the largest demand, and of the adapter
	for a, list := range s.from {
		if len(list) == 0 {
			continue
		}
		most := slices.MaxFunc(list, func(x, y Demand) int { return int(math.Copysign(1, x.Bytes-y.Bytes)) })
		exact = exact && len(list) == 1 && (bytes == 0 || most.Bytes == bytes)
		bytes = most.Bytes
		s.total += most.Bytes
		edges, from, to = append(edges, int32(a)), append(from, most.From), append(to, leaf[a])
	}
	var before []coloring.Way
	if kept {
		for k, a := range edges {
			r := roots[a][0]
			before = append(before, coloring.Way{Plane: r.Plane, Top: r.Top, Within: r.Plane < 0, Beyond: t.Pod[from[k]] != t.Pod[to[k]]})
		}
	}
	colored := make([][]Root, len(roots))
	copy(colored, roots)
	for k, w := range t.Color(from, to, before) {
		a := edges[k]
		top := w.Top
		if !w.Beyond && roots[a][0].Plane >= 0 { // within a pod no top matters
			top = roots[a][0].Top
		}
		colored[a] = s.spread(Root{w.Plane, top}, len(roots[a]))
		exact = exact && len(roots[a]) == 1
	}
	if exact || len(edges) == 0 {
		return colored, true
	}
	best, least := nil, math.Inf(1)
	for _, begin := range [][][]Root{colored, roots} {
		found := make([][]Root, len(begin))
		for a := range begin {
			found[a] = slices.Clone(begin[a])
		}
		if cost := s.descend(ctx, edges, found); cost < least {
			best, least = found, cost
		}
	}
	return best, false
}

// spread is roots for an adapter's addresses, as far from each other as can be, from that of the first address on.
func (s *chooser) spread(first Root, addresses int) []Root {
	list := make([]Root, addresses)
	all := int32(s.planes * s.tops)
	for i := range list {
		k := (first.Plane*int32(s.tops) + first.Top + int32(i)*all/int32(addresses)) % all
		list[i] = Root{k / int32(s.tops), k % int32(s.tops)}
	}
	return list
}

// chooser is the demands of Serve and the loads that they make by the roots chosen so far.
type chooser struct {
	t            *coloring.Tree
	leaf         []int32    // [adapter]
	from         [][]Demand // [adapter] what is sent to it, one demand for each leaf except its own
	planes, tops int        // of the tree; tops of each plane
	total        float64    // of the largest demands of all adapters

	up, down       []float64 // [leaf × planes + plane] loads of the cables above leaves
	upTop, downTop []float64 // [(pod × planes + plane) × tops + top] loads one level up
	slow, slowTop  []float64 // as up and upTop: how much a byte counts there, 1 on the fastest cables
}

// weigh fills in slow and slowTop.
func (s *chooser) weigh(speeds Speeds) {
	s.slow, s.slowTop = make([]float64, len(s.t.Leaves)*s.planes), make([]float64, len(s.t.Spines)*s.planes*s.tops)
	fastest := 0.
	for _, speed := range slices.Concat(speeds.Leaf, speeds.Top) {
		fastest = max(fastest, speed)
	}
	fill := func(slow, speeds []float64) {
		for i := range slow {
			if slow[i] = 1; len(speeds) > 0 {
				slow[i] = fastest / speeds[i]
			}
		}
	}
	fill(s.slow, speeds.Leaf)
	fill(s.slowTop, speeds.Top)
}

// sweeps is how often descent looks at all adapters at most.
const sweeps = 40

// eachLoad calls tell for the load of each channel by which demands to an address of adapter a come if the address has root r, with
// what they add there: bytes, by how much they count.
func (s *chooser) eachLoad(a int32, addresses int, r Root, tell func(load *float64, bytes float64)) {
	to := s.leaf[a]
	all, beyond := 0., 0.
	for _, d := range s.from[a] {
		bytes := d.Bytes / float64(addresses)
		all += bytes
		up := int(d.From)*s.planes + int(r.Plane)
		tell(&s.up[up], bytes*s.slow[up])
		if p := s.t.Pod[d.From]; p != s.t.Pod[to] {
			beyond += bytes
			top := s.root(p, r)
			tell(&s.upTop[top], bytes*s.slowTop[top])
		}
	}
	down := int(to)*s.planes + int(r.Plane)
	tell(&s.down[down], all*s.slow[down])
	if beyond > 0 {
		top := s.root(s.t.Pod[to], r)
		tell(&s.downTop[top], beyond*s.slowTop[top])
	}
}

// root is the place in upTop of the cables between a pod's switch of a root's plane and the root's top.
func (s *chooser) root(pod int32, r Root) int {
	return (int(pod)*s.planes+int(r.Plane))*s.tops + int(r.Top)
}

// power is x to the eighth: what a load costs, so that the largest loads matter most.
func power(x float64) float64 {
	x *= x
	x *= x
	return float64(x * x)
}

// descend moves addresses of the adapters edges to other roots, in place, while that makes the sum of the loads' powers smaller, and
// returns the sum; infinite if ctx is cancelled.
func (s *chooser) descend(ctx context.Context, edges []int32, roots [][]Root) float64 {
	s.up, s.down = make([]float64, len(s.t.Leaves)*s.planes), make([]float64, len(s.t.Leaves)*s.planes)
	s.upTop, s.downTop = make([]float64, len(s.t.Spines)*s.planes*s.tops), make([]float64, len(s.t.Spines)*s.planes*s.tops)
	unit := max(s.total/float64(len(edges)), 1e-9)
	add := func(a int32, r Root, sign float64) {
		s.eachLoad(a, len(roots[a]), r, func(load *float64, bytes float64) { *load += sign * bytes / unit })
	}
	for _, a := range edges {
		for _, r := range roots[a] {
			add(a, r, 1)
		}
	}
	for range sweeps {
		moved := false
		for _, a := range edges {
			if ctx.Err() != nil {
				return math.Inf(1)
			}
			for i, r := range roots[a] {
				add(a, r, -1)
				best, least := r, s.growth(a, len(roots[a]), r, unit)
				for plane := range int32(s.planes) {
					for top := range int32(s.tops) {
						if c := s.growth(a, len(roots[a]), Root{plane, top}, unit); c < least*(1-1e-9) {
							best, least = Root{plane, top}, c
						}
					}
				}
				moved = moved || best != r
				roots[a][i] = best
				add(a, best, 1)
			}
		}
		if !moved {
			break
		}
	}
	sum := 0.
	for _, loads := range [...][]float64{s.up, s.down, s.upTop, s.downTop} {
		for _, x := range loads {
			sum += power(x)
		}
	}
	return sum
}

// growth is by how much the sum of powers grows if an address of adapter a gets root r.
func (s *chooser) growth(a int32, addresses int, r Root, unit float64) (more float64) {
	s.eachLoad(a, addresses, r, func(load *float64, bytes float64) { more += power(*load+bytes/unit) - power(*load) })
	return more
}
