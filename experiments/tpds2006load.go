package experiments

import (
	"fmt"
	"math"
	"strings"
)

// The traffic of TPDS 2006, section 8. For pairwise traffic hosts are matched at
// random, and the partners send to each other.
const (
	uniform  = "uniform"
	pairwise = "bisect-both"
)

// loads is what the hosts offer, a fraction of what their links carry.
var loads = []float64{0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1}

// quickLoads is those of quick runs.
var quickLoads = map[float64]bool{0.1: true, 0.2: true, 0.4: true, 0.6: true, 1: true}

// offered is a random network with twice as many cables as switches, by load.
func offered(switches int) (list []Network) {
	for _, load := range loads {
		list = append(list, Network{
			Label: fmt.Sprint(load), X: load, Load: load, Quick: quickLoads[load],
			Spec: fmt.Sprintf("random:switches=%d,links=%d,hosts=1,seed=%s", switches, 2*switches, seedMark),
		})
	}
	return list
}

// categories is the three groups of section 8, each with a figure for every size.
var categories = []struct {
	name, what string
	first      int // figure of the smallest size
	methods    []string
	shows      string
}{
	{"deterministic", "Deterministic routing", 7, []string{"updn-dfs", "d-mroots", "lash"},
		"Every method has as many lanes as LASH needs on the network at hand. Up*/Down* goes along a depth-first spanning tree."},
	{"source", "Source-adaptive routing", 10, []string{"mroots", "mp-lash", "mp-lash-one", "lash"},
		"Every method has as many lanes as all shortest paths need on the network at hand. MP-LASH gives sources every shortest path, to take at random: mp-lash on every layer that takes the path " +
			"(with step 4 of section 6), mp-lash-one on one layer for each."},
	{"switch", "Switch-adaptive routing", 13, []string{"updn-adaptive", "escape", "a-lash", "lash"},
		"Every method has as many lanes as A-LASH needs on the network at hand, two at the least. LASH, which is deterministic, is there to compare."},
}

// throughput is figures 7 to 15.
func throughput(paper string) (list []Experiment) {
	for _, c := range categories {
		for i, switches := range []int{16, 32, 64} {
			e := Experiment{
				ID: fmt.Sprintf("tpds2006-%d", c.first+i), Paper: paper, Figure: fmt.Sprintf("Fig. %d", c.first+i),
				Title: fmt.Sprintf("%s on %d switches", c.what, switches),
				Shows: fmt.Sprintf("Accepted over offered load in random networks of %d switches with %d cables, a host on each switch, packets of 32 flits, cut-through switching, buffers of 128 flits a lane; "+
					"uniform traffic, and pairwise, paler. The mean over the networks. What is compared is the most that is accepted at any load; almost the same is within 5 %%. %s", switches, 2*switches, c.shows),
				Measure: Accepted, X: "offered load, fraction of the hosts' links", Curves: true,
				Quick:  Effort{Networks: 4, Patterns: 50000},
				Full:   Effort{Networks: 16, Patterns: 50000},
				Claims: throughputClaims(c.name, switches),
			}
			for _, pattern := range []string{uniform, pairwise} {
				for _, m := range c.methods {
					l := Line{Name: m, Engine: c.name + ":" + m, Networks: offered(switches), Traffic: pattern}
					if pattern == pairwise {
						l.Name, l.Like = m+paired, m
					}
					e.Lines = append(e.Lines, l)
				}
			}
			list = append(list, e)
		}
	}
	return list
}

// paired ends the names of lines under pairwise traffic.
const paired = ", pairs"

// alike is up to which fraction two throughputs count as almost the same.
const alike = 0.05

// throughputClaims is what sections 8.1 to 8.3 state, as far as it is about networks
// of this size.
func throughputClaims(category string, switches int) []Claim {
	const layers = "Which of a path's layers a packet takes is open in the paper; here it is the one with most credits."
	const fewPairs = "With few pairs, what the pairs drawn happen to share weighs more than the routing."
	switch category {
	case "deterministic":
		return []Claim{
			{Where: "8.1", Says: "LASH performs better than UpDown for uniform traffic", Check: more("lash", "updn-dfs")},
			{Where: "8.1", Says: "D-MROOTS performs better than UpDown for uniform traffic", Check: more("d-mroots", "updn-dfs"),
				Why: "Our depth-first Up*/Down* picks the tree that leaves the fewest turns out, while the trees of D-MROOTS are breadth-first from roots that only have to be far apart."},
			{Where: "8.1", Says: "LASH performs consistently better than D-MROOTS", Check: more("lash", "d-mroots")},
			{Where: "8.1", Says: "the differences are far smaller for pairwise traffic", Check: closer("lash", "updn-dfs"), Why: fewPairs},
		}
	case "source":
		claims := []Claim{
			{Where: "8.2", Says: "MROOTS performs poorest for uniform traffic", Check: poorest("mroots", []string{"lash", "mp-lash", "mp-lash-one"})},
			{Where: "8.2", Says: "LASH and MP-LASH perform almost identically for uniform traffic", Check: near("lash", "mp-lash-one"), Why: layers},
			{Where: "8.2", Says: "MP-LASH gains nothing from several layers for each path", Check: near("mp-lash", "mp-lash-one"), Why: layers},
			{Where: "8.2", Says: "MP-LASH performs best for pairwise traffic", Check: bestOf("mp-lash"+paired, []string{"mroots" + paired, "lash" + paired}), Why: fewPairs + " " + layers},
		}
		if switches == 16 {
			claims = append(claims, Claim{Where: "8.2", Says: "LASH performs relatively poorly for pairwise traffic in small networks", Check: more("mp-lash"+paired, "lash"+paired), Why: fewPairs + " " + layers})
		}
		return claims
	}
	claims := []Claim{
		{Where: "8.3", Says: "A-LASH and Escape perform almost identically, uniform traffic", Check: near("a-lash", "escape"),
			Why: "Ours lets a switch take the way with most credits; what it prefers among equal ones, which the paper leaves open, tells the two apart."},
		{Where: "8.3", Says: "the same, pairwise traffic", Check: near("a-lash"+paired, "escape"+paired), Why: "See above."},
	}
	switch switches {
	case 16:
		claims = append(claims, Claim{Where: "8.3", Says: "adaptive UpDown performs relatively well with 16 nodes (nearly LASH or better)", Check: notFarBelow("updn-adaptive", "lash")})
	case 32:
		claims = append(claims, Claim{Where: "8.3", Says: "adaptive UpDown is poorer than deterministic LASH with 32 switches, uniform traffic", Check: more("lash", "updn-adaptive")})
	case 64:
		claims = append(claims, Claim{Where: "8.3", Says: "adaptive UpDown scales poorly, even compared to LASH", Check: more("lash", "updn-adaptive")})
	}
	return append(claims, Claim{Where: "8.3", Says: "the differences are smaller for pairwise traffic", Check: closer("a-lash", "updn-adaptive"), Why: fewPairs})
}

// most is the largest accepted load of a line: its throughput.
func (o *Outcome) most(line string) (float64, bool) {
	best := math.Inf(-1)
	for _, p := range o.labels(line) {
		r, _ := o.At(line, p)
		best = max(best, r.Value)
	}
	return best, best > 0
}

// both is the throughput of two lines, and the text about it.
func (o *Outcome) both(line, other string) (a, b float64, text string, ok bool) {
	a, ok1 := o.most(line)
	b, ok2 := o.most(other)
	return a, b, fmt.Sprintf("%s %.3f, %s %.3f (%s)", line, a, other, b, percent(a, b)), ok1 && ok2
}

// more says whether a line has the larger throughput.
func more(line, other string) func(*Outcome) Answer {
	return besideAll(line, []string{other}, func(a, b float64) bool { return a > b })
}

// notFarBelow says whether a line has almost the throughput of another, or more.
func notFarBelow(line, other string) func(*Outcome) Answer {
	return besideAll(line, []string{other}, func(a, b float64) bool { return a >= b*(1-alike) })
}

// near says whether two lines have almost the same throughput.
func near(line, other string) func(*Outcome) Answer {
	return besideAll(line, []string{other}, func(a, b float64) bool { return math.Abs(a/b-1) <= alike })
}

// bestOf says whether a line has the largest throughput.
func bestOf(line string, others []string) func(*Outcome) Answer {
	return besideAll(line, others, func(a, b float64) bool { return a >= b })
}

// poorest says whether a line has the smallest throughput.
func poorest(line string, others []string) func(*Outcome) Answer {
	return besideAll(line, others, func(a, b float64) bool { return a < b })
}

// besideAll says whether something holds of a line's throughput and that of each of
// others.
func besideAll(line string, others []string, holds func(a, b float64) bool) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		var texts []string
		yes := true
		for _, other := range others {
			a, b, text, ok := o.both(line, other)
			if !ok {
				return missing("not measured")
			}
			yes = yes && holds(a, b)
			texts = append(texts, text)
		}
		return Answer{strings.Join(texts, "; "), verdict(yes)}
	}
}

// closer says whether two lines differ less under pairwise traffic than under
// uniform.
func closer(line, other string) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		a, b, _, ok1 := o.both(line, other)
		c, d, _, ok2 := o.both(line+paired, other+paired)
		if !ok1 || !ok2 {
			return missing("not measured")
		}
		return Answer{
			fmt.Sprintf("%s over %s: %s uniform, %s pairwise", line, other, percent(a, b), percent(c, d)),
			verdict(math.Abs(c/d-1) < math.Abs(a/b-1)),
		}
	}
}
