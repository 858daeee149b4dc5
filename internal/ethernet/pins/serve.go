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
// plane], and those above these, [(pod × planes + plane) × tops + top]. Where there are none, all are alike.
type Speeds struct{ Leaf, Top []float64 }

// even says whether cables between levels are alike: between leaves and what is above, and there.
func (s *Speeds) even() bool {
	for _, list := range [...][]float64{s.Leaf, s.Top} {
		if len(list) > 0 && slices.Min(list) != slices.Max(list) {
			return false
		}
	}
	return true
}

// Serve finds roots for demands: an edge coloring, on which demands meet as little as any pins allow if they are equally large,
// each adapter has one address and demands of one other leaf at most, and cables are alike; else the best that descent from there and
// from the roots given comes to, on which a cable that is half as fast counts for twice what it carries. Each of the addresses of an adapter carries its part of what is sent to it. roots has
// those of [adapter][address], which adapters without demands keep; kept says that those of others are in force, and are kept too where
// an edge coloring can. exact says that no pins are better.
func Serve(ctx context.Context, t *coloring.Tree, speeds Speeds, leaf []int32, demands []Demand, roots [][]Root, kept bool) (best [][]Root, exact bool) {
	s := &server{t: t, leaf: leaf, from: make([][]Demand, len(leaf))}
	s.planes, s.tops = t.Roots()
	s.weigh(speeds)
	exact = speeds.even()
	bytes := 0.
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
	var edges []int32 // adapters with demands
	var from, to []int32
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
		if !w.Beyond && roots[a][0].Plane >= 0 {
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

// spread is the roots of an adapter's addresses, as far from each other as can be, from that of the first on.
func (s *server) spread(first Root, addresses int) []Root {
	list := make([]Root, addresses)
	all := int32(s.planes * s.tops)
	for i := range list {
		k := (first.Plane*int32(s.tops) + first.Top + int32(i)*all/int32(addresses)) % all
		list[i] = Root{k / int32(s.tops), k % int32(s.tops)}
	}
	return list
}

// server is demands and what they load.
type server struct {
	t            *coloring.Tree
	leaf         []int32    // [adapter]
	from         [][]Demand // [adapter] by leaf
	planes, tops int
	total        float64

	up, down       []float64 // [leaf × planes + plane]
	upTop, downTop []float64 // [(pod × planes + plane) × tops + top]
	slow, slowTop  []float64 // likewise: for how much a byte counts there, 1 on the fastest
}

// weigh fills in for how much bytes count.
func (s *server) weigh(speeds Speeds) {
	s.slow, s.slowTop = make([]float64, len(s.t.Leaves)*s.planes), make([]float64, len(s.t.Spines)*s.planes*s.tops)
	fastest := 0.
	for _, speed := range slices.Concat(speeds.Leaf, speeds.Top) {
		fastest = max(fastest, speed)
	}
	of := func(slow, speeds []float64) {
		for i := range slow {
			if slow[i] = 1; len(speeds) > 0 {
				slow[i] = fastest / speeds[i]
			}
		}
	}
	of(s.slow, speeds.Leaf)
	of(s.slowTop, speeds.Top)
}

// sweeps is how often descent looks at all adapters at most.
const sweeps = 40

// each tells the channels by which demands to an address come if it has a root, with what they carry, by how much that counts there.
func (s *server) each(a int32, addresses int, r Root, tell func(load *float64, bytes float64)) {
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

// root is the place of the cables between a pod's switch of a root's plane and its top.
func (s *server) root(pod int32, r Root) int {
	return (int(pod)*s.planes+int(r.Plane))*s.tops + int(r.Top)
}

func power(x float64) float64 {
	x *= x
	x *= x
	return float64(x * x)
}

// descend moves addresses to other roots while that makes the loads smaller, and returns the sum of their powers.
func (s *server) descend(ctx context.Context, edges []int32, roots [][]Root) float64 {
	s.up, s.down = make([]float64, len(s.t.Leaves)*s.planes), make([]float64, len(s.t.Leaves)*s.planes)
	s.upTop, s.downTop = make([]float64, len(s.t.Spines)*s.planes*s.tops), make([]float64, len(s.t.Spines)*s.planes*s.tops)
	unit := max(s.total/float64(len(edges)), 1e-9)
	add := func(a int32, r Root, sign float64) {
		s.each(a, len(roots[a]), r, func(load *float64, bytes float64) { *load += sign * bytes / unit })
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
				best, least := r, s.grows(a, len(roots[a]), r, unit)
				for plane := range int32(s.planes) {
					for top := range int32(s.tops) {
						if c := s.grows(a, len(roots[a]), Root{plane, top}, unit); c < least*(1-1e-9) {
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

func (s *server) grows(a int32, addresses int, r Root, unit float64) (more float64) {
	s.each(a, addresses, r, func(load *float64, bytes float64) { more += power(*load+bytes/unit) - power(*load) })
	return more
}
