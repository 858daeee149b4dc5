package layout

import (
	"math"
	"math/rand/v2"
)

// The effort of the layout by distances.
const (
	allPairs = 900 // switches at most for which all pairs keep their distances
	pivots   = 60  // switches of a larger network to which all others do
	rounds   = 24  // in which every pair is moved once
)

// byDistances places switches so that their distances are the hops between them.
//
// J. X. Zheng, S. Pawar, D. F. M. Goodman: Graph Drawing by Stochastic Gradient Descent,
// IEEE TVCG 25(9), 2019: pairs are taken in random order, and each is moved towards its
// distance by a step that shrinks from round to round. In networks of more than allPairs
// switches the pairs are those of all switches with some of them, and the neighbours.
// Complexity: O(S·P) a round for P such switches.
func (g *graph) byDistances() {
	n := len(g.part)
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for m := range g.x { // on a spiral, so that no two begin at one place
		r, a := math.Sqrt(float64(m)), 2.399963229728653*float64(m)
		g.x[m], g.y[m] = float64(r*math.Cos(a)), float64(r*math.Sin(a))
	}
	terms := g.terms()
	longest := 1.0
	for _, t := range terms {
		longest = max(longest, float64(t.hops))
	}
	decay := math.Log(float64(longest*longest)/0.1) / (rounds - 1)
	for round := range rounds {
		rng.Shuffle(len(terms), func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
		rate := float64(longest*longest) * math.Exp(-decay*float64(round))
		for _, t := range terms {
			g.pull(t, rate)
		}
	}
	g.scale()
	for range 200 {
		if !g.loosen() {
			break
		}
	}
}

// scale stretches the places so that every switch has about two and a half square units, however few
// hops the network has.
func (g *graph) scale() {
	squares := 0.0
	for m := range g.x {
		squares += float64(g.x[m]*g.x[m]) + float64(g.y[m]*g.y[m])
	}
	n := float64(len(g.x))
	k := math.Sqrt(2.5 * n / (2 * math.Pi) / max(1e-9, squares/n)) // of a disc, the mean square is half that of its radius
	for m := range g.x {
		g.x[m] *= k
		g.y[m] *= k
	}
}

// apart is how far from each other two switches shall stand at least.
const apart = 0.8

// loosen moves switches from each other once that are too close: those with the same hops to
// all others come to one place. It says whether some were at half the distance or less, so that it
// shall be done again.
func (g *graph) loosen() bool {
	tight := false
	cells := map[[2]int][]int32{}
	cell := func(m int32) [2]int { return [2]int{int(math.Floor(g.x[m] / apart)), int(math.Floor(g.y[m] / apart))} }
	for m := range int32(len(g.part)) {
		c := cell(m)
		cells[c] = append(cells[c], m)
	}
	for m := range int32(len(g.part)) {
		at := cell(m)
		for i := -1; i <= 1; i++ {
			for j := -1; j <= 1; j++ {
				for _, v := range cells[[2]int{at[0] + i, at[1] + j}] {
					if v < m && g.push(m, v) {
						tight = true
					}
				}
			}
		}
	}
	return tight
}

// push moves two switches from each other if they are too close, and says whether they
// were far too close.
func (g *graph) push(a, b int32) bool {
	dx, dy := g.x[a]-g.x[b], g.y[a]-g.y[b]
	d := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	if d >= apart {
		return false
	}
	if d < 1e-6 { // in a direction of its own for each
		angle := 2.399963229728653 * float64(a)
		d = 1e-6
		dx, dy = d*math.Cos(angle), d*math.Sin(angle)
	}
	k := (apart - d) / (2 * d)
	g.x[a] += float64(k * dx)
	g.y[a] += float64(k * dy)
	g.x[b] -= float64(k * dx)
	g.y[b] -= float64(k * dy)
	return d < apart/2
}

// term is two switches and the hops between them.
type term struct {
	a, b  int32
	hops  int32
	fixed bool // only b moves: a is in a term with every switch
}

// terms is the pairs that are to keep their distances.
func (g *graph) terms() []term {
	n := len(g.part)
	var terms []term
	sources, every := n, 1
	if n > allPairs {
		sources, every = pivots, n/pivots
		for m, to := range g.next {
			for _, v := range to {
				if v > int32(m) {
					terms = append(terms, term{a: int32(m), b: v, hops: 1})
				}
			}
		}
	}
	hops := make([]int32, n)
	queue := make([]int32, 0, n)
	for i := range sources {
		root := int32(i * every)
		for m := range hops {
			hops[m] = -1
		}
		hops[root] = 0
		queue = append(queue[:0], root)
		for i := 0; i < len(queue); i++ {
			for _, v := range g.next[queue[i]] {
				if hops[v] < 0 {
					hops[v] = hops[queue[i]] + 1
					queue = append(queue, v)
				}
			}
		}
		for m, h := range hops {
			if every > 1 && h > 1 || every == 1 && int32(m) > root {
				terms = append(terms, term{a: root, b: int32(m), hops: h, fixed: every > 1})
			}
		}
	}
	return terms
}

// pull moves two switches towards their distance. Products are rounded by themselves, so
// that all processors agree.
func (g *graph) pull(t term, rate float64) {
	d := float64(t.hops)
	move := min(1, rate/float64(d*d))
	dx, dy := g.x[t.a]-g.x[t.b], g.y[t.a]-g.y[t.b]
	length := max(1e-9, math.Sqrt(float64(dx*dx)+float64(dy*dy)))
	share := float64(move*(length-d)) / (2 * length)
	mx, my := float64(share*dx), float64(share*dy)
	if t.fixed {
		mx, my = 2*mx, 2*my
	} else {
		g.x[t.a] -= mx
		g.y[t.a] -= my
	}
	g.x[t.b] += mx
	g.y[t.b] += my
}
