package grid

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/disjoint"
)

// step is where an arc leads: along dimension dim from coordinate at to
// the next, or, backward, from the next to at. dim is -1 where nothing is known.
type step struct {
	dim      int32
	at       int32
	backward bool
}

// chains joins the classes to dimensions, and returns these and the step of each arc, [arc].
func (n *graph) chains(p *parallels) ([]Dim, []step) {
	next := p.successors()
	before := slices.Repeat([]int32{fabric.None}, len(next))
	for a, b := range next {
		if b != fabric.None {
			before[b] = int32(a)
		}
	}
	byClass := make([]step, len(p.size)) // [class]
	for i := range byClass {
		byClass[i].dim = -1
	}
	used := make([]bool, len(p.size))
	var dims []Dim
	take := func(start int32) {
		chain := follow(start, next)
		total := 0
		for _, c := range chain {
			used[c], used[p.reverse[c]] = true, true
			total += int(p.size[c])
		}
		ring := next[chain[len(chain)-1]] == start
		// A line of two points has half as many edges as switches, and every
		// other dimension more; far fewer are scraps that damage cut off.
		if 3*total <= len(n.part) || ring && len(chain) < 3 {
			return
		}
		for i, c := range chain {
			byClass[c] = step{dim: int32(len(dims)), at: int32(i)}
			byClass[p.reverse[c]] = step{dim: int32(len(dims)), at: int32(i), backward: true}
		}
		dim := Dim{Size: len(chain), Ring: ring}
		if !ring {
			dim.Size++
		}
		dims = append(dims, dim)
	}
	for _, lines := range [2]bool{true, false} { // what is left after the lines is rings
		for c := range next {
			if !used[c] && (before[c] == fabric.None) == lines {
				take(int32(c))
			}
		}
	}
	steps := make([]step, len(p.class))
	for a, c := range p.class {
		steps[a] = byClass[c]
	}
	return dims, steps
}

// follow is the chain that begins with a class, once round if it is a ring.
func follow(start int32, next []int32) []int32 {
	chain := []int32{start}
	for c := next[start]; c != fabric.None && c != start; c = next[c] {
		chain = append(chain, c)
	}
	return chain
}

// successors is the class that goes straight on from each class, [class], or None: for a class and its
// successor more than half of the edges of both go straight on from one to the other, which damage
// rarely changes. With trustFew it is enough if most edges of the smaller of the two do; those
// with the largest share of the larger class come first.
func (p *parallels) successors() []int32 {
	next := slices.Repeat([]int32{fabric.None}, len(p.size))
	taken := make([]bool, len(p.size))
	all := p.countGoing()
	larger := func(g going) int64 { return int64(max(p.size[g.from], p.size[g.to])) }
	slices.SortStableFunc(all, func(x, y going) int {
		return cmp.Or(cmp.Compare(int64(y.edges)*larger(x), int64(x.edges)*larger(y)), cmp.Compare(y.edges, x.edges))
	})
	for _, g := range all {
		enough := larger(g)
		if p.few {
			enough = int64(min(p.size[g.from], p.size[g.to]))
		}
		if 2*int64(g.edges) > enough && next[g.from] == fabric.None && !taken[g.to] {
			next[g.from], taken[g.to] = g.to, true
		}
	}
	for a, b := range next { // both ways or not at all
		if b != fabric.None && next[p.reverse[b]] != p.reverse[a] {
			next[a] = fabric.None
		}
	}
	return next
}

// going is how many edges of a class go straight on in another.
type going struct{ from, to, edges int32 }

// countGoing counts the edges that go straight on, for all classes, by from, then by to.
func (p *parallels) countGoing() []going {
	pairs := make([][2]int32, len(p.follows))
	for i, f := range p.follows {
		pairs[i] = [2]int32{p.class[f[0]], p.class[f[1]]}
	}
	slices.SortFunc(pairs, func(x, y [2]int32) int {
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]))
	})
	var all []going
	for _, pair := range pairs {
		if last := len(all) - 1; last >= 0 && all[last].from == pair[0] && all[last].to == pair[1] {
			all[last].edges++
		} else {
			all = append(all, going{from: pair[0], to: pair[1], edges: 1})
		}
	}
	return all
}

// mend makes one class of those that have most of their edges go on in the same
// class: damage cut them apart.
func (p *parallels) mend() {
	for {
		sets := disjoint.New(len(p.size))
		joined := false
		comesFrom := slices.Repeat([]int32{fabric.None}, len(p.size)) // [class] a class that goes on in it
		for a, b := range p.mainly() {
			switch {
			case b == fabric.None:
			case comesFrom[b] == fabric.None:
				comesFrom[b] = int32(a)
			case sets.Find(int32(a)) != sets.Find(comesFrom[b]):
				sets.Join(int32(a), comesFrom[b])
				sets.Join(p.reverse[a], p.reverse[comesFrom[b]])
				joined = true
			}
		}
		if !joined {
			return
		}
		p.renumber(sets)
	}
}

// trustFew lets successors be content with less.
func (p *parallels) trustFew() { p.few = true }

// mainly is, for each class, [class], the only class in which more than half of its edges
// go straight on, or None.
func (p *parallels) mainly() []int32 {
	const several = -2
	next := slices.Repeat([]int32{fabric.None}, len(p.size))
	for _, g := range p.countGoing() {
		if 2*g.edges <= p.size[g.from] {
			continue
		}
		if next[g.from] == fabric.None {
			next[g.from] = g.to
		} else {
			next[g.from] = several
		}
	}
	for i := range next {
		next[i] = max(next[i], fabric.None)
	}
	return next
}

// renumber makes each set of classes one class.
func (p *parallels) renumber(classes *disjoint.Sets) {
	set, count := classes.Numbered()
	size, reverse := make([]int32, len(count)), make([]int32, len(count))
	for c, s := range set {
		size[s] += p.size[c]
		reverse[s] = set[p.reverse[c]]
	}
	for a := range p.class {
		p.class[a] = set[p.class[a]]
	}
	p.size, p.reverse = size, reverse
}

// plausible refuses dimensions that make a box of many more points than the part has switches, or none.
func (n *graph) plausible(dims []Dim) error {
	points := 1
	for _, d := range dims {
		if points *= d.Size; points > 2*len(n.part) {
			break
		}
	}
	switch {
	case len(dims) == 0 && len(n.part) > 1:
		return refuse(n.f, ruleGrid, n.part[0], "no dimension is found: its cables and those of most other switches go straight on nowhere")
	case 3*points > 4*len(n.part):
		return refuse(n.f, ruleGrid, n.part[0], "its edges lie in %d dimensions, which make a box of more than %d points for %d switches",
			len(dims), 4*len(n.part)/3, len(n.part))
	}
	return nil
}
