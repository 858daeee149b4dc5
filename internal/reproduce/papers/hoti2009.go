package papers

import (
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/example"
)

// The engines of HOTI 2009, section II and III. FTREE is measured on what it
// routes.
var (
	engines2009 = []string{"minhop", "updn", "ftree", "dor", "lash", "sssp", "p2sssp"} // those of OpenSM, and the paper's
)

// systems2009 is the systems of HOTI 2009, section IV.B, as far as they are known.
var systems2009 = []claims.Place{
	{Label: "Odin", Spec: "odin"},
	{Label: "Deimos", Spec: "deimos"},
	{Label: "like Atlas", Spec: "xgft:m=12x8,w=12x12,hosts=12"},
	{Label: "like Ranger", Spec: "xgft:m=12x28,w=12x12,hosts=12"},
	{Label: "like Thunderbird", Spec: "xgft:m=12x23,w=8x12,hosts=16"},
}

const systems2009Are = `Odin and Deimos are built after their published plans. The others are fat trees of the kind and size that
the paper gives: like Atlas, three levels at full bisection bandwidth, 1,152 hosts; like Ranger, the same, 4,032 hosts; like
Thunderbird, half bisection bandwidth, 4,416 hosts.`

// fatTrees is trees of 24-port crossbars by oversubscription.
var fatTrees = []claims.Place{
	{Label: "288 1:1", Spec: "xgft:m=24,w=12,hosts=12"},
	{Label: "384 1:2", Spec: "xgft:m=24,w=8,hosts=16"},
	{Label: "432 1:3", Spec: "xgft:m=24,w=6,hosts=18"},
	{Label: "1152 1:1", Spec: "xgft:m=12x8,w=12x12,hosts=12"},
	{Label: "1536 1:2", Spec: "xgft:m=12x8,w=8x12,hosts=16"},
	{Label: "3456 1:1", Spec: "xgft:m=12x24,w=12x12,hosts=12"},
	{Label: "4608 1:2", Spec: "xgft:m=12x24,w=8x12,hosts=16"},
}

// tori fill 24-port crossbars with hosts.
var tori = []claims.Place{
	{Label: "4x4", Spec: "torus:4x4,hosts=20"},
	{Label: "8x8", Spec: "torus:8x8,hosts=20"},
	{Label: "10x10", Spec: "torus:10x10,hosts=20"},
	{Label: "14x14", Spec: "torus:14x14,hosts=20"},
	{Label: "3x3x3", Spec: "torus:3x3x3,hosts=18"},
	{Label: "4x4x4", Spec: "torus:4x4x4,hosts=18"},
	{Label: "6x6x6", Spec: "torus:6x6x6,hosts=18"},
}

// hypercubes fill 24-port crossbars with hosts; the largest has 4,096.
func hypercubes() (list []claims.Place) {
	for n := 3; n <= 8; n++ {
		hosts := 24 - n
		list = append(list, claims.Place{
			Label: fmt.Sprint(hosts << n), X: float64(hosts << n),
			Spec: fmt.Sprintf("hypercube:%d,hosts=%d", n, hosts),
		})
	}
	return list
}

// jobs is a system with part of its hosts taking part.
func jobs(spec string, hosts ...int) (list []claims.Place) {
	for _, n := range hosts {
		list = append(list, claims.Place{Label: fmt.Sprint(n), X: float64(n), Spec: spec, Job: n})
	}
	return list
}

// shuffled is networks whose cables are in ports drawn by lot.
func shuffled(places []claims.Place) (list []claims.Place) {
	for _, at := range places {
		at.Spec += portsShuffled + seedMark
		list = append(list, at)
	}
	return list
}

// The cablings that the plans of Deimos and Odin leave open, see package topology.
const (
	deimosCablings = "deimos" + or + "deimos:hosts=packed" + or + "deimos:cables=packed" + or +
		"deimos:cables=packed,hosts=packed" + or + "deimos:cables=drawn,hosts=drawn,seed=" + seedMark
	odinCablings = "odin" + or + "odin:hosts=packed" + or + "odin:hosts=drawn,seed=" + seedMark
)

// Jobs of figures 8 and 9: at least ten points a curve.
var (
	odinJobs   = []int{8, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128}
	deimosJobs = []int{16, 32, 64, 96, 128, 192, 256, 384, 512, 640, 724}

	sweptSystems = []string{"minhop", "updn", "ftree", "lash", "sssp"} // on the systems: dor refuses them
	inPorts      = []string{"minhop", "dor", "lash", "sssp"}           // those that may look at port numbers
)

// anyJobs is jobs on a system of every cabling, with hosts drawn anew for each pattern, and
// on the first one also with hosts side by side or far apart.
func anyJobs(system, cablings string, all int, hosts ...int) []claims.Place {
	list := jobs(cablings, hosts...)
	for i := range list {
		if list[i].Job < all {
			list[i].Spec += or + system + hostsPacked + or + system + hostsApart
		}
	}
	return list
}

const aBand = "The bands go from the least to the most of all ways to plug them in that were tried, even, packed and drawn by lot, and of jobs drawn, side by side or far apart."

const sweptOut = "So what is plugged in where is not why. OpenSM of today, not 3.2.2, is what is compared with; whether that is why is open."

const smallCube = "From 320 hosts on it is. On eight switches dor by shuffled ports is ahead although its fullest channel has nearly twice the routes (edge-forwarding index, opensm.csv): why is open."

const portsBand = " The paper does not say which cable went into which port: the thick whiskers, or bands, are over networks whose ports were shuffled by lot."

var (
	inOrder = "Dimension order is perfectly balanced on a full hypercube. OpenSM's dor goes by port numbers, and finds the dimensions where ports are cabled in order, as ours are; the paper's need not have been."
	others  = []string{"minhop", "updn", "dor", "lash"} // of OpenSM, without the one for trees
)

var hoti2009 = []Experiment{
	figure3,
	{
		ID: "hoti2009-4a", Figure: "Fig. 4(a)", Title: "Effective bisection bandwidth of real systems",
		Shows:   "The effective bisection bandwidth Λ, a fraction of full, by engine. " + systems2009Are,
		Measure: Bandwidth, X: "system", Lines: beside(each(engines2009, systems2009)), Real: true,
		Claims: []claims.Claim{
			{Where: "IV.B", Says: "P-SSSP significantly improves the effective bisection bandwidth for all systems", Check: claims.Significantly("sssp", others, claims.Significant),
				Why: "How much there is to improve depends on the network; what of it decides is open. The systems for which the paper states most are those whose cabling is not public."},
			{Where: "IV.B", Says: "P²-SSSP performs worse than P-SSSP", Check: claims.Below("p2sssp", []string{"sssp"}, claims.Sampling),
				Why: "Which of the two is ahead depends on how each breaks ties, which the paper leaves open: ours of P²-SSSP begins with the way of the switch's own number, P-SSSP with that of the destination's."},
			{Where: "IV.B", Says: "P²-SSSP often finds a smaller edge-forwarding index", Check: claims.SmallerIndex("p2sssp", "sssp"),
				Why: "On Odin it does. Which of several ways that are loaded alike is taken, the paper leaves open, and much hangs on it: with all ties to the lowest port P²-SSSP has 198 on Odin instead of 154. " +
					"Why deeper trees have no smaller one is open; that the first sources bind the entries for all later ones (\"the path is constrained by destination-based routing\") may be it, and was not tested."},
			{Where: "VI", Says: "+11 % on Thunderbird over the best of OpenSM", Check: claims.NotPublic, Why: claims.NoPlan},
			{Where: "VI", Says: "+25 % on Ranger", Check: claims.NotPublic, Why: claims.NoPlan},
			{Where: "VI", Says: "+15 % on Atlas", Check: claims.NotPublic, Why: claims.NoPlan},
			{Where: "I", Says: "networks of full bisection bandwidth deliver 55 % to 57 % for random bisections", Check: claims.Between([]string{"minhop"}, []string{"like Atlas", "like Ranger"}, 0.55, 0.57),
				Why: "That figure, from an earlier paper, is of real systems under OpenSM's tables of the time. On a full tree of three levels OpenSM's minhop has far less: its routes meet on few channels, as its edge-forwarding index shows."},
		},
	},
	{
		ID: "hoti2009-4b", Figure: "Fig. 4(b)", Title: "Routing time on real systems",
		Shows:   "The time of each engine, paths and lanes. " + systems2009Are,
		Measure: Seconds, X: "system", Lines: beside(each(engines2009, systems2009)), Real: true,
		Claims: []claims.Claim{
			{Where: "IV.B", Says: "P-SSSP has a similar scaling behaviour to the OpenSM algorithms", Check: claims.Timed(claims.Growth("sssp", "minhop", "Odin", "like Thunderbird", 1-claims.Alike, 1+claims.Alike)),
				Why: "Ours grows less. In it switches of a regular tree that stay alike choose once for all of them; whether that is all of it was not timed."},
			{Where: "IV.B", Says: "P²-SSSP does not scale as well", Check: claims.Timed(claims.Growth("p2sssp", "sssp", "Odin", "like Thunderbird", 1.1, 10)),
				Why: "Ours searches only paths that are not bound yet, so it grows little faster than P-SSSP."},
			{Where: "IV.B", Says: "P²-SSSP and LASH did not terminate after several hours with the biggest inputs", Check: claims.Timed(claims.Longest([]string{"p2sssp", "lash"}, 3600)),
				Why: "They terminate here: layers are kept acyclic as they grow instead of searched for cycles path by path, and P²-SSSP searches only paths that are not bound yet."},
		},
	},
	{
		ID: "hoti2009-4c", Figure: "Fig. 4(c)", Title: "Effective bisection bandwidth of fat trees",
		Shows:   "Trees of 24-port crossbars by hosts and oversubscription: 1:2 is half bisection bandwidth. The paper does not give the sizes.",
		Measure: Bandwidth, X: "hosts and oversubscription", Lines: beside(each(engines2009, fatTrees)),
		Claims: []claims.Claim{
			{Where: "IV.C", Says: "P-SSSP is comparable to the fat-tree optimised routing", Check: claims.Within("sssp", "ftree", claims.Alike)},
			{Where: "IV.C", Says: "P-SSSP increases the effective bisection bandwidth significantly", Check: claims.Significantly("sssp", others, claims.Significant),
				Why: "On trees of two levels OpenSM's minhop is as even as P-SSSP. Of three levels OpenSM's tables are at hand for 1,152 hosts alone, where P-SSSP has three times what minhop and updn have; on the larger ones it is compared with our updn, which is another than OpenSM's and as even as P-SSSP up to 3 %."},
			{Where: "IV.C", Says: "FTREE does not run with more than two levels", Check: claims.Refuses("ftree", "1152 1:1"),
				Why: "That was a fault of OpenSM 3.2.2, which crashed; our ftree has no such limit."},
		},
	},
	{
		ID: "hoti2009-4d", Figure: "Fig. 4(d)", Title: "Effective bisection bandwidth of tori",
		Shows:   "Tori of 24-port crossbars, all ports that have no link with hosts: 20 on each switch in two dimensions, 18 in three. The paper does not give the sizes." + portsBand,
		Measure: Bandwidth, X: "torus",
		Lines: slices.Concat(beside(each(without(engines2009, "ftree"), tori), "ftree"), swept(inPorts, shuffled(tori))),
		Claims: []claims.Claim{
			{Where: "IV.D", Says: "routing can also be enhanced with P-SSSP", Check: claims.Above("sssp", []string{"minhop", "updn", "lash"}, claims.Sampling),
				Why: "OpenSM's lash takes the paths of dor, which are well balanced on a full torus whose ports are cabled in order, as ours are. The paper does not say how its ports were."},
			{Where: "IV.D", Says: "routing can also be enhanced with P-SSSP: over LASH, with shuffled ports", Check: claims.AboveSwept("sssp", "lash", claims.Sampling)},
			{Where: "IV.D", Says: "the gain is rather small because MINHOP is similarly good", Check: claims.Within("sssp", "minhop", claims.Alike)},
		},
	},
	{
		ID: "hoti2009-4e", Figure: "Fig. 4(e)", Title: "Effective bisection bandwidth of hypercubes",
		Shows:   "Hypercubes of 24-port crossbars, all ports that have no link with hosts." + portsBand,
		Measure: Bandwidth, X: "hosts", Curves: true, LogX: true,
		Lines: slices.Concat(beside(each(without(engines2009, "ftree"), hypercubes()), "ftree"), swept(inPorts, shuffled(hypercubes()))),
		Claims: []claims.Claim{
			{Where: "IV.D", Says: "a minimal increase over MinHop", Check: claims.Within("sssp", "minhop", claims.Nearly)},
			{Where: "IV.D", Says: "P-SSSP is again performing best, better than MinHop and UPDN", Check: claims.Above("sssp", []string{"minhop", "updn"}, claims.Sampling),
				Why: "It is nowhere clearly below, and up to 18 % above UPDN. Above MinHop it is by less than the 1 % that samples may differ by, the \"minimal increase\" of the paper."},
			{Where: "IV.D", Says: "even better than DOR", Check: claims.Above("sssp", []string{"dor"}, claims.Sampling), Why: inOrder},
			{Where: "IV.D", Says: "even better than DOR: with shuffled ports", Check: claims.AboveSwept("sssp", "dor", claims.Sampling), Why: smallCube},
			{Where: "IV.D", Says: "even better than LASH: with shuffled ports", Check: claims.AboveSwept("sssp", "lash", claims.Sampling), Why: smallCube},
			{Where: "IV.D", Says: "even better than LASH", Check: claims.Above("sssp", []string{"lash"}, claims.Sampling), Why: inOrder + " OpenSM's lash takes the same paths."},
		},
	},
	{
		ID: "hoti2009-4f", Figure: "Fig. 4(f)", Title: "Routing time on hypercubes",
		Shows:   "The time of each engine, paths and lanes. The paper does not say on which of its networks; these are the hypercubes of Fig. 4(e).",
		Measure: Seconds, X: "hosts", Curves: true, LogX: true, Lines: beside(each(without(engines2009, "ftree"), hypercubes()), "ftree"),
		Claims: []claims.Claim{
			{Where: "IV.D", Says: "P²-SSSP quickly passes everything", Check: claims.Timed(claims.Above("p2sssp", slices.Concat(others, []string{"sssp"}), 0)),
				Why: "Ours searches only paths that are not bound yet; on hypercubes it is LASH that passes everything."},
			{Where: "IV.D", Says: "P-SSSP scales similarly to the other algorithms", Check: claims.Timed(claims.Growth("sssp", "minhop", "168", "4096", 1-claims.Alike, 1+claims.Alike))},
			{Where: "IV.D", Says: "none of today's routing algorithms scales well to more than 4096 endpoints", Check: claims.Timed(claims.Longest([]string{"minhop", "updn", "dor", "lash", "sssp"}, 60)),
				Why: "A minute is our reading of scaling well, for the paper gives no figure; all of ours are below."},
		},
	},
	{
		ID: "hoti2009-5", Figure: "Fig. 5", Title: "Effective bisection bandwidth of random networks",
		Shows:   "24-port crossbars with 12 hosts each and the other 12 ports connected at random: four networks of 43 switches, four of 250. The whiskers are the least and the most of the four.",
		Measure: Bandwidth, X: "hosts",
		Lines: beside(each(without(without(engines2009, "ftree"), "dor"), []claims.Place{
			{Label: "516", Spec: "jellyfish:switches=43,degree=12,hosts=12,seed={seed}"},
			{Label: "3000", Spec: "jellyfish:switches=250,degree=12,hosts=12,seed={seed}"},
		}), "ftree"),
		Claims: []claims.Claim{
			{Where: "IV.E", Says: "P-SSSP performs better than all others", Check: claims.Above("sssp", []string{"minhop", "updn", "lash", "p2sssp"}, claims.Sampling)},
			{Where: "IV.E", Says: "the difference is not as significant as in the other examples", Check: claims.Within("sssp", "minhop", claims.Alike)},
		},
	},
	figure6,
	{
		ID: "hoti2009-8b", Figure: "Fig. 8(b)", Title: "Simulated effective bisection bandwidth of Odin",
		Shows:   "Λ over the hosts that take part, drawn anew for each pattern; one 144-port director with 128 hosts. Which of its ports are in use is not published: the lines have the hosts dealt out evenly. " + aBand + " (Fig. 8(a) is a measurement.)",
		Measure: Bandwidth, X: "hosts that take part", Curves: true,
		Lines: slices.Concat(beside(each(engines2009, jobs("odin", odinJobs...))), swept(sweptSystems, anyJobs("odin", odinCablings, 128, odinJobs...))),
		Claims: []claims.Claim{
			{Where: "VI", Says: "the simulation predicted an improvement of 5 % for Odin", Check: claims.Gain("sssp", others, "128", 0.05, claims.Points),
				Why: "Which of the 144 ports have the 128 hosts is not published, but it is more on all that were tried. OpenSM 3.2.2 is not the one measured here; whether that is why is open."},
			{Where: "VI", Says: "5 % for Odin: with hosts on other ports", Check: claims.GainSwept("sssp", others, "128", 0.05), Why: sweptOut},
			{Where: "V", Says: "the bandwidth is decreasing with an increasing number of endpoints", Check: claims.Falling("sssp", claims.Sampling)},
		},
	},
	{
		ID: "hoti2009-9b", Figure: "Fig. 9(b)", Title: "Simulated effective bisection bandwidth of Deimos",
		Shows:   "Λ over the hosts that take part; three 288-port directors in a chain, 724 hosts. Which hosts and cross cables sit where within a director is not published: the lines have them dealt out evenly. " + aBand + " (Fig. 9(a) is a measurement.)",
		Measure: Bandwidth, X: "hosts that take part", Curves: true,
		Lines: slices.Concat(beside(each(engines2009, jobs("deimos", deimosJobs...))), swept(sweptSystems, anyJobs("deimos", deimosCablings, 724, deimosJobs...))),
		Claims: []claims.Claim{
			{Where: "VI", Says: "the simulation predicted an improvement of 23 % for Deimos", Check: claims.Gain("sssp", others, "724", 0.23, claims.Points),
				Why: "The best of the others is our updn, for OpenSM's falls back to minhop here. That one, with 5,465 routes on its fullest channel beside 5,132, is 6 % behind P-SSSP. Where cables and hosts are plugged in is not published, and not why: see below."},
			{Where: "VI", Says: "23 % for Deimos: with cables and hosts on other ports", Check: claims.GainSwept("sssp", others, "724", 0.23), Why: sweptOut},
			{Where: "V", Says: "the improvement over the best of OpenSM increases with the number of endpoints", Check: claims.Widening("sssp", others, "128", "724"),
				Why: "The two gains are as near to each other as samples may be."},
		},
	},
}

var figure3 = Experiment{
	ID: "hoti2009-3b", Figure: "Fig. 3(b)", Title: "Edge-forwarding index of the worked example",
	Shows: "Switches A, C and E, each with a host and each joined to B and D: the network X of the paper. Between any two hosts there is a way by B and one by D, and which of two that weigh the same " +
		"is taken the paper leaves open; in our engines it hangs on the numbers of the switches. So the index is counted in all 120 numberings: the mean, with the least and the most as whiskers. " +
		"The second example, of Fig. 3(c) and 3(d), is in no text.",
	Measure: Index, X: "network",
	Lines: each([]string{"sssp", "p2sssp"}, []claims.Place{{Label: "X", Spec: example.SpecX}}),
	Claims: []claims.Claim{
		{Where: "III.A", Says: "by P-SSSP the edge-forwarding index of X is 2", Check: claims.InSome("sssp", "X", 2, "numberings")},
		{Where: "III.B", Says: "by P²-SSSP it is 1", Check: claims.InSome("p2sssp", "X", 1, "numberings")},
	},
}

var theExample = []claims.Place{{Label: "the example", Spec: example.Spec}}

var figure6 = Experiment{
	ID: "hoti2009-6", Figure: "Fig. 6", Title: "Why P²-SSSP has less effective bisection bandwidth than P-SSSP",
	Shows: "A ring of six switches A, B, C, D, E, F with hosts 3 on A, 4, 5, 6 on D, 1 on E and 2 on F. Λ is the exact mean over all 120 bisection patterns, nothing is " +
		"sampled. The routes are those of our engines; those of the two algorithms as the paper prints them, hosts in numerical order; and those that its text states: P-SSSP sends " +
		"4, 5 and 6 to 3 by the upper path D, C, B, A, P²-SSSP sends 6 to 3 by the lower, D, E, F, A.",
	Measure: Example, X: "routes",
	Lines: each([]string{"sssp", "p2sssp", example.PrintedP, example.PrintedP2, example.TextP, example.TextP2}, theExample),
	Claims: []claims.Claim{
		{Where: "IV.F", Says: "the effective bisection bandwidth is lower with the routes of P²-SSSP", Check: claims.AboveAt(example.TextP, example.TextP2, []string{"the example"})},
		{Where: "IV.F", Says: "P-SSSP uses the upper path for all routes from 4, 5, 6 to 3", Check: claims.SameAs(example.PrintedP, example.TextP)},
		{Where: "IV.F", Says: "P²-SSSP balances them between upper and lower path", Check: claims.SameAs(example.PrintedP2, example.TextP2),
			Why: "As printed it does not: when 4 looks for 3, the lower path carries the routes from 4 to 1 and 2 already, and 5 and 6, on the same switch, are bound by what 4 found " +
				"(\"the path is constrained by destination-based routing\", Fig. 3(a))."},
		{Where: "IV.F", Says: "P²-SSSP computes a routing with a lower forwarding index", Check: claims.SmallerIndex(example.TextP2, example.TextP),
			Why: "Edge (D,E) carries six routes, from 4, 5, 6 to 1 and 2, either way; one more from 6 to 3 makes the index seven. The text takes it for unused (\"initially zero\")."},
	},
}
