package papers

import (
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
)

// ratios is the cables per switch that connectivity goes through, from nearly a tree
// to nearly complete.
var ratios = []float64{1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 6, 10, 16, 24}

// irregular is random networks of so many switches with a host each, by cables per
// switch: from a tree to the complete network, as far as ports go.
func irregular(switches int) claims.Line {
	l := claims.Line{Name: fmt.Sprintf("%d switches", switches)}
	add := func(links int) {
		l.Places = append(l.Places, claims.Place{
			Label: fmt.Sprint(links), X: float64(links) / float64(switches),
			Spec: fmt.Sprintf("random:switches=%d,links=%d,hosts=1,seed=%s", switches, links, seedMark),
		})
	}
	complete := switches * (switches - 1) / 2
	add(switches - 1)
	for _, r := range ratios {
		links := int(r * float64(switches))
		if links >= complete {
			break
		}
		add(links)
	}
	if complete <= switches*253/6 {
		add(complete)
	}
	return l
}

// connectivity is a line of an engine for each size, by cables per switch, and one of weave-any
// beside them, at one size so that it can be told apart.
func connectivity(engine string, switches ...int) (lines []claims.Line) {
	for _, n := range switches {
		l := irregular(n)
		l.Engine = engine
		lines = append(lines, withPrinted(l)...)
	}
	ours := irregular(64)
	ours.Name, ours.Engine, ours.Beside = "weave-any, "+ours.Name, "weave-any", true
	return append(lines, ours)
}

// readOtherwise is connectivity's lines of an engine that stands for another way to read the paper:
// what they come to is said beside the claims.
func readOtherwise(engine, ending string, switches ...int) (lines []claims.Line) {
	for _, n := range switches {
		l := irregular(n)
		l.Name, l.Engine, l.Unseen = l.Name+ending, engine, true
		lines = append(lines, l)
	}
	return lines
}

// bothWays is a check of lines, beside which stands what those that readOtherwise has for them come to.
func bothWays(ending string, check func(lines []string) claims.Check, lines ...string) claims.Check {
	return claims.Read(func(ending string) claims.Check {
		all := slices.Clone(lines)
		for i := range all {
			all[i] += ending
		}
		return check(all)
	}, "", ending)
}

// doubled is random networks with twice as many cables as switches.
func doubled() (list []claims.Place) {
	for _, n := range []int{8, 16, 24, 32, 48, 64, 96, 128, 192, 256} {
		list = append(list, claims.Place{
			Label: fmt.Sprint(n), X: float64(n),
			Spec: fmt.Sprintf("random:switches=%d,links=%d,hosts=1,seed=%s", n, 2*n, seedMark),
		})
	}
	return list
}

// settling is those of doubled on which every switch computes the tables of all.
func settling() []claims.Place {
	all := doubled()
	return all[:slices.IndexFunc(all, func(at claims.Place) bool { return at.X > 128 })]
}

var (
	set      = " The mean over the networks drawn for each place, with the least and the most as whiskers; one host per switch. The figures of the paper have one panel for each size."
	firstFit = " As printed every path is taken once; as improved, paler, they are taken again in other orders where that saves layers."
	anyOrder = "The paper takes the pairs in any order. As improved, other orders are tried: over fewer networks, "
	inTree   = "The paper draws a shortest path for each pair, while here the paths to one destination form a tree, as forwarding tables by destination demand. That is not why: read otherwise, with a path drawn for each pair, it is no nearer. Why is open."
)

// What ends the names of lines that read the paper otherwise.
const (
	pathForEach   = ", a path for each pair"
	farthestFirst = ", farthest first"
)

var tpds2006 = []Experiment{
	{
		ID: "tpds2006-3", Figure: "Fig. 3", Title: "Layers that LASH needs, by connectivity",
		Shows:   "Layers for one shortest path for every pair, taken at random." + set + firstFit,
		Measure: Lanes, X: "cables per switch", Curves: true, LogX: true, Lines: slices.Concat(connectivity("lash-random", 16, 32, 64, 128), readOtherwise("lash-source", pathForEach, 16, 32, 64, 128)),
		Claims: []claims.Claim{
			{Where: "5.2", Says: "a tree needs one layer", Check: claims.FirstIs(1)},
			{Where: "5.2", Says: "networks with maximal connectivity need one layer", Check: claims.LastIs([]string{"16 switches", "32 switches", "64 switches"}, 1)},
			{Where: "5.2", Says: "128 switches: never more than six", Check: claims.Ranges("128 switches", 1, 6)},
			{Where: "5.2", Says: "32 switches: three layers suffice for all", Check: claims.Ranges("32 switches", 1, 3)},
			{Where: "8.4", Says: "64 switches: three layers in most cases, four in almost all", Check: claims.Ranges("64 switches", 1, 4),
				Why: "Five come up among the networks of two places, which \"almost all\" leaves room for; but between 1.5 and 2.5 cables a switch most networks take four. " + anyOrder + "three layers do for most, four for all."},
			{Where: "5.2", Says: "the most and the least demanding of 100 networks are hardly ever more than one layer apart", Check: claims.Spread([]string{"16 switches", "32 switches", "64 switches", "128 switches"}, 1),
				Why: anyOrder + "no two are more than one layer apart."},
			{Where: "5.2", Says: "the maximum is at about twice as many links as switches",
				Check: bothWays(pathForEach, func(lines []string) claims.Check { return claims.Peak(lines, 2) }, "16 switches", "32 switches", "64 switches", "128 switches")},
			{Where: "8.4", Says: "32 switches at twice as many links: two layers in many cases, three in all", Why: inTree,
				Check: bothWays(pathForEach, func(lines []string) claims.Check { return claims.Enough(lines[0], "64", 2, claims.Many, 3) }, "32 switches")},
		},
	},
	{
		ID: "tpds2006-43", Figure: "Section 4.3", Title: "MROOTS without anybody who knows the whole network",
		Shows: "Every switch sends a record of itself to its neighbours and passes on what is new to it. When it has a record of every neighbour that its records name, it computes roots, trees and its own tables, of four layers. " +
			"The rounds of messages until the last switch has them, in random networks with twice as many cables as switches. The paper has no figure of it.",
		Measure: Rounds, X: "switches", Curves: true, LogX: true, Lines: []claims.Line{{Name: "mroots", Engine: "mroots", Places: settling()}},
		Claims: []claims.Claim{
			{Where: "4.3", Says: "all nodes calculate roots, trees and tables independently, and conclude with the same result", Check: claims.Everywhere("mroots", "the tables of every switch are those of one that is told of all, whatever the order of messages")},
		},
	},
	{
		ID: "tpds2006-4", Figure: "Fig. 4", Title: "Layers that LASH needs, by switches",
		Shows:   "The same with twice as many cables as switches." + set + firstFit,
		Measure: Lanes, X: "switches", Curves: true, LogX: true, Lines: beside(withPrinted(claims.Line{Name: "lash", Engine: "lash-random", Places: doubled()}), notATree...),
		Claims: []claims.Claim{
			{Where: "5.2", Says: "the number of layers appears to follow a logarithmic curve", Check: claims.Logarithmic("lash"),
				Why: "The means rise less steeply than the sizes, but a straight line fits them better. Layers are whole numbers, and few; whether that is why is open."},
			{Where: "9", Says: "none of many thousands of networks (up to 128 switches) required more than six", Check: claims.RangesUpTo("lash", 128, 1, 6)},
		},
	},
	{
		ID: "tpds2006-5", Figure: "Fig. 5", Title: "Layers that MP-LASH needs for all shortest paths",
		Shows: "Layers when every shortest path of every pair is open to the source. The paper takes the pairs in any order (\"take one pair of source and destination\"), here by destination; " +
			"read otherwise, those that are farthest apart first, as in section 8.2." + set,
		Measure: Lanes, X: "cables per switch", Curves: true, LogX: true,
		Lines: slices.Concat(connectivity("mp-lash-by-destination", 16, 32, 64), readOtherwise("mp-lash", farthestFirst, 16, 32, 64)),
		Claims: []claims.Claim{
			{Where: "6", Says: "64 switches: never more than six layers", Check: bothWays(farthestFirst, func(lines []string) claims.Check { return claims.Ranges(lines[0], 1, 6) }, "64 switches")},
			{Where: "6", Says: "the maximum occurs at about twice as many links as nodes",
				Check: bothWays(farthestFirst, func(lines []string) claims.Check { return claims.Peak(lines, 2) }, "16 switches", "32 switches", "64 switches")},
			{Where: "6", Says: "the variance is still low",
				Check: bothWays(farthestFirst, func(lines []string) claims.Check { return claims.Spread(lines, 1) }, "16 switches", "32 switches", "64 switches"),
				Why:   "The paper gives no figure here; \"hardly ever more than one layer\" is what it says of LASH. The order of pairs is not why; why is open."},
		},
	},
	{
		ID: "tpds2006-6", Figure: "Fig. 6", Title: "Layers that A-LASH needs for all shortest paths",
		Shows:   "Layers when every shortest path is open to the switches, grouped by the first link." + set,
		Measure: Lanes, X: "cables per switch", Curves: true, LogX: true, Lines: connectivity("a-lash", 16, 32, 64),
	},
}
