package papers

import (
	"fmt"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/measure"
)

// The traffic of TPDS 2006, section 8. For pairwise traffic hosts are matched at
// random, and the partners send to each other.
const pairwise = "bisect-both"

// loads is what the hosts offer, a fraction of what their links carry.
var loads = []float64{0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1}

// quickLoads is those of quick runs.
var quickLoads = map[float64]bool{0.1: true, 0.2: true, 0.4: true, 0.6: true, 1: true}

// offered is a random network with twice as many cables as switches, by load.
func offered(switches int) (list []claims.Place) {
	for _, load := range loads {
		list = append(list, claims.Place{
			Label: fmt.Sprint(load), X: load, Load: load, Quick: quickLoads[load],
			Spec: fmt.Sprintf("random:switches=%d,links=%d,hosts=1,seed=%s", switches, 2*switches, measure.SeedMark),
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
func throughput() (list []Experiment) {
	for _, c := range categories {
		for i, switches := range []int{16, 32, 64} {
			e := Experiment{
				ID: fmt.Sprintf("tpds2006-%d", c.first+i), Figure: fmt.Sprintf("Fig. %d", c.first+i),
				Title: fmt.Sprintf("%s on %d switches", c.what, switches),
				Shows: fmt.Sprintf("Accepted over offered load in random networks of %d switches with %d cables, a host on each switch, packets of 32 flits, cut-through switching, buffers of 128 flits a lane; "+
					"uniform traffic, and pairwise, paler. The mean over the networks. What is compared is the most that is accepted at any load; almost the same is within 5 %%. %s", switches, 2*switches, c.shows),
				Measure: measure.Accepted, X: "offered load, fraction of the hosts' links", Curves: true,
				Quick:  Effort{Networks: 4, Patterns: 50000},
				Full:   Effort{Networks: 16, Patterns: 50000},
				Claims: throughputClaims(c.name, switches),
			}
			for _, pattern := range []string{measure.Uniform, pairwise} {
				for _, m := range c.methods {
					l := claims.Line{Name: m, Engine: c.name + ":" + m, Places: offered(switches), Traffic: pattern}
					if pattern == pairwise {
						l.Name, l.Like = m+claims.Pairs, m
					}
					e.Lines = append(e.Lines, l)
				}
			}
			list = append(list, e)
		}
	}
	return list
}

// throughputClaims is what sections 8.1 to 8.3 state, as far as it is about networks
// of this size.
func throughputClaims(category string, switches int) []claims.Claim {
	const layers = "Which of a path's layers a packet takes is open in the paper; here it is the one with most credits."
	const fewPairs = "With few pairs, what the pairs drawn happen to share weighs more than the routing."
	switch category {
	case "deterministic":
		return []claims.Claim{
			{Where: "8.1", Says: "LASH performs better than UpDown for uniform traffic", Check: claims.More("lash", "updn-dfs")},
			{Where: "8.1", Says: "D-MROOTS performs better than UpDown for uniform traffic", Check: claims.More("d-mroots", "updn-dfs"),
				Why: "Our depth-first Up*/Down* picks the tree that leaves the fewest turns out, while the trees of D-MROOTS are breadth-first from roots that only have to be far apart."},
			{Where: "8.1", Says: "LASH performs consistently better than D-MROOTS", Check: claims.More("lash", "d-mroots")},
			{Where: "8.1", Says: "the differences are far smaller for pairwise traffic", Check: claims.Closer("lash", "updn-dfs"), Why: fewPairs},
		}
	case "source":
		list := []claims.Claim{
			{Where: "8.2", Says: "MROOTS performs poorest for uniform traffic", Check: claims.Poorest("mroots", []string{"lash", "mp-lash", "mp-lash-one"})},
			{Where: "8.2", Says: "LASH and MP-LASH perform almost identically for uniform traffic", Check: claims.Near("lash", "mp-lash-one"), Why: layers},
			{Where: "8.2", Says: "MP-LASH gains nothing from several layers for each path", Check: claims.Near("mp-lash", "mp-lash-one"), Why: layers},
			{Where: "8.2", Says: "MP-LASH performs best for pairwise traffic", Check: claims.Best("mp-lash"+claims.Pairs, []string{"mroots" + claims.Pairs, "lash" + claims.Pairs}), Why: fewPairs + " " + layers},
		}
		if switches == 16 {
			list = append(list, claims.Claim{Where: "8.2", Says: "LASH performs relatively poorly for pairwise traffic in small networks", Check: claims.More("mp-lash"+claims.Pairs, "lash"+claims.Pairs), Why: fewPairs + " " + layers})
		}
		return list
	}
	list := []claims.Claim{
		{Where: "8.3", Says: "A-LASH and Escape perform almost identically, uniform traffic", Check: claims.Near("a-lash", "escape"),
			Why: "Ours lets a switch take the way with most credits; what it prefers among equal ones, which the paper leaves open, tells the two apart."},
		{Where: "8.3", Says: "the same, pairwise traffic", Check: claims.Near("a-lash"+claims.Pairs, "escape"+claims.Pairs), Why: "See above."},
	}
	switch switches {
	case 16:
		list = append(list, claims.Claim{Where: "8.3", Says: "adaptive UpDown performs relatively well with 16 nodes (nearly LASH or better)", Check: claims.NotFarBelow("updn-adaptive", "lash")})
	case 32:
		list = append(list, claims.Claim{Where: "8.3", Says: "adaptive UpDown is poorer than deterministic LASH with 32 switches, uniform traffic", Check: claims.More("lash", "updn-adaptive")})
	case 64:
		list = append(list, claims.Claim{Where: "8.3", Says: "adaptive UpDown scales poorly, even compared to LASH", Check: claims.More("lash", "updn-adaptive")})
	}
	return append(list, claims.Claim{Where: "8.3", Says: "the differences are smaller for pairwise traffic", Check: claims.Closer("a-lash", "updn-adaptive"), Why: fewPairs})
}
