package papers

import (
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
)

// The engines of IPDPS 2011, section V.
var engines2011 = []string{"minhop", "updn", "ftree", "dor", "lash", "sssp", "dfsssp"}

// sizes2011 is the rows of Table I, by endpoints.
var sizes2011 = []int{64, 128, 256, 512, 1024, 2048, 4096}

// tableI is the networks of a family of Table I.
func tableI(family string) (list []claims.Place) {
	for _, n := range sizes2011 {
		list = append(list, claims.Place{
			Label: fmt.Sprint(n), X: float64(n),
			Spec: fmt.Sprintf("table1:family=%s,endpoints=%d", family, n),
		})
	}
	return list
}

// systems2011 is the systems of IPDPS 2011, section V, as far as they are known.
var systems2011 = []claims.Place{
	{Label: "Odin", Spec: "odin"},
	{Label: "Deimos", Spec: "deimos"},
	{Label: "like Ranger", Spec: "xgft:m=12x28,w=12x12,hosts=12"},
}

const systems2011Are = "Odin and Deimos are built after their published plans; like Ranger is a fat tree of three levels at full bisection bandwidth " +
	"with 4,032 hosts. CHiC, JUROPA and Tsubame were never published."

// sparse is random networks of 128 switches with 16 hosts each, by cables.
func sparse() (list []claims.Place) {
	for _, links := range []int{128, 130, 140, 150, 160, 180, 200, 220, 240, 280, 320, 400, 512, 700, 900} {
		list = append(list, claims.Place{
			Label: fmt.Sprint(links), X: float64(links),
			Spec: fmt.Sprintf("random:switches=128,links=%d,hosts=16,seed=%s", links, seedMark),
		})
	}
	return list
}

// noLanes is those of ours that have no lanes to count: balance assigns none, nue works with one
// and takes all that there are. Where there are no trees ftree refuses.
var (
	noLanes  = []string{"balance", "nue"}
	notATree = []string{"balance", "nue", "ftree"}
)

const drawnAs = "64 switches, 128 links, 1024 hosts"

var (
	heuristicsAt = []claims.Place{{Label: drawnAs, Spec: "random:switches=64,links=128,hosts=16,seed={seed}"}}
	twoBars      = "As printed is Algorithm 2 of the paper, and first-fit with every path taken once, for LASH; as improved, paler, is what weft runs: paths that fit after all are put back, and layers squeezed."
	levelled     = "As improved, paths that fit after all go back to the layer they left and layers are squeezed, whatever the heuristic: that saves lanes, and levels the heuristics."
	drawn        = "How the paper drew its networks is not said, and it matters: of 25 with four cables at each switch (jellyfish:degree=4) the three heuristics as printed need 6 to 7, 8 to 10 and 12 to 15. Nor is the order in which it looked for cycles, which was not tried in others. " + levelled
	upperHeight  = []string{"512", "1024", "2048", "4096"} // of the trees of Table I
	rivals       = []string{"minhop", "updn", "ftree", "dor", "lash"}
	crossed      = "As printed DFSSSP is nowhere ahead by more than a few hundredths of a lane: a crossing comes of squeezing alone. Which LASH it is decides: OpenSM's of today, on three networks each with one host a switch, needs 2 to 3 lanes at 130 cables, 4 at 140, 6 to 7 at 160, 7 to more than 8 at 180, 8 or more at 220 and 280, 8 at 320 and 5 to 6 at 512 " +
		"(go run ./test/bench/opensm -engines lash): from 160 on more than DFSSSP as printed, at 512 fewer, so that they cross between 320 and 512. The paper's, OpenSM's of the time, is not at hand."
	older = "See HOTI 2009, Fig. 4(a): it depends on the network, and of those where the paper found most the cabling is not public."
)

// buffers is MPI's all-to-all among 128 hosts of Deimos by the floats in a buffer.
func buffers() (list []claims.Place) {
	for _, n := range []int{64, 128, 256, 512, 1024, 2048, 4096} {
		list = append(list, claims.Place{Label: fmt.Sprint(n), X: float64(n), Spec: "deimos", Job: 128})
	}
	return list
}

const floatBytes = 4

// measured2011 is the engines that the paper measured on Deimos.
var measured2011 = []string{"minhop", "lash", "dfsssp"}

// hostsAWay is of weft simulate xgft:m=6,w=3,hosts=6 --engine sssp --runs 1000, and so on up to
// m=18x18,w=9x9,hosts=18.
const hostsAWay = "In Table I the hosts on a leaf for each way up go from 3.6 down to 2.0 at this height, from 4.7 down to 1.4 at the other. With two at all sizes bandwidth falls as networks grow instead of rising: " +
	"SSSP has 0.671, 0.627 and 0.596, and 0.407, 0.366, 0.350 and 0.340."

const onDeimos = "The paper measured it on Deimos, where 60 ends of cables between directors and which hosts had the job were not published. That is not why: over all cablings and jobs of HOTI 2009, Fig. 9(b), the same paths are between 1 % behind OpenSM's MinHop and 4 % ahead of it on 128 hosts. Why is open."

var ipdps2011 = []Experiment{
	{
		ID: "ipdps2011-iv", Figure: "Section IV", Title: "Which dependency of a cycle to break",
		Shows: "Lanes for random networks of 64 switches, 1,024 hosts and 128 links under the three heuristics; the whiskers are the least and the most. " + twoBars +
			" The paper's generator of networks is not described.",
		Measure: Lanes, X: "network", Lines: beside(variants([]string{"weakest", "first found", "strongest"}, heuristicsAt), notATree...),
		Claims: []claims.Claim{
			{Where: "IV", Says: "breaking the weakest edge needs 3 to 5 lanes", Check: claims.RangesLike("weakest", 3, 5), Why: drawn},
			{Where: "IV", Says: "the pseudo-random heuristic needs 4 to 8", Check: claims.RangesLike("first found", 4, 8), Why: drawn},
			{Where: "IV", Says: "breaking the strongest edge needs 4 to 16", Check: claims.RangesLike("strongest", 4, 16), Why: drawn},
			{Where: "IV", Says: "the best heuristic is to break the weakest edge", Check: claims.Less("weakest", []string{"first found", "strongest"}, drawnAs), Why: levelled},
			{Where: "IV", Says: "the worst is to break the strongest", Check: claims.More("strongest", []string{"weakest", "first found"}, drawnAs), Why: levelled},
		},
	},
	{
		ID: "ipdps2011-4", Figure: "Fig. 4", Title: "Effective bisection bandwidth of real systems",
		Shows:   "Λ by engine over 1,000 patterns. " + systems2011Are + " The thick whiskers are over all ways to plug in what the plans leave open that were tried.",
		Measure: Bandwidth, X: "system", Real: true,
		Lines: slices.Concat(beside(each(engines2011, systems2011)), swept(append(sweptSystems[:4:4], "dfsssp"), []claims.Place{{Label: "Odin", Spec: odinCablings}, {Label: "Deimos", Spec: deimosCablings}})),
		Claims: []claims.Claim{
			{Where: "V", Says: "SSSP and DFSSSP have a significantly higher effective bisection bandwidth than the others", Check: claims.Significantly("dfsssp", rivals, claims.Significant, "Odin"),
				Why: older + " Our ftree and OpenSM's route what the paper's refused, and are as good."},
			{Where: "V", Says: "DFSSSP falls 4.75 % short of the best on Odin", Check: claims.Gain("dfsssp", rivals, "Odin", -0.0475, claims.Points),
				Why: "Which ports have hosts is not published."},
			{Where: "V", Says: "4.75 % short of the best on Odin: with hosts on other ports", Check: claims.GainSwept("dfsssp", rivals, "Odin", -0.0475), Why: sweptOut},
			{Where: "V", Says: "+1.4 % for JUROPA over the second best", Check: claims.NotPublic, Why: claims.NoPlan},
			{Where: "V", Says: "+63.27 % for Ranger", Check: claims.NotPublic, Why: claims.NoPlan},
		},
	},
	{
		ID: "ipdps2011-5", Figure: "Fig. 5", Title: "Effective bisection bandwidth of extended generalised fat trees",
		Shows:   "The XGFTs of Table I, over 1,000 patterns.",
		Measure: Bandwidth, X: "endpoints", Curves: true, LogX: true, Lines: beside(each(engines2011, tableI("xgft"))),
		Claims: []claims.Claim{
			{Where: "V", Says: "the bandwidth of LASH is decreasing steadily", Check: claims.Falling("lash", claims.Sampling),
				Why: "Ours spreads pairs of switches over equal ways, where OpenSM's takes the lowest port: see OpenSM's line."},
			{Where: "V", Says: "the bandwidth of DOR is decreasing steadily", Check: claims.Falling("dor", claims.Sampling),
				Why: "Ours refuses what is no mesh, torus or hypercube; OpenSM's takes the lowest port there."},
			{Where: "V", Says: "MinHop is relatively constant for one height (64 to 256)", Check: claims.Steady("minhop", []string{"64", "128", "256"}, claims.Alike),
				Why: hostsAWay},
			{Where: "V", Says: "DFSSSP is relatively constant for one height (64 to 256)", Check: claims.Steady("dfsssp", []string{"64", "128", "256"}, claims.Alike), Why: "See above."},
			{Where: "V", Says: "Up*/Down* is relatively constant for one height (64 to 256)", Check: claims.Steady("updn", []string{"64", "128", "256"}, claims.Alike), Why: "See above."},
			{Where: "V", Says: "MinHop is relatively constant for the other height (512 to 4,096)", Check: claims.Steady("minhop", upperHeight, claims.Alike), Why: "See above."},
			{Where: "V", Says: "DFSSSP is relatively constant for the other height (512 to 4,096)", Check: claims.Steady("dfsssp", upperHeight, claims.Alike), Why: "See above."},
			{Where: "V", Says: "Up*/Down* is relatively constant for the other height (512 to 4,096)", Check: claims.Steady("updn", upperHeight, claims.Alike), Why: "See above."},
			{Where: "V", Says: "at 512 endpoints and above, a small increase of DFSSSP over MinHop", Check: claims.NearlyAboveAt("dfsssp", "minhop", []string{"512", "2048", "4096"}, claims.Alike),
				Why: "The increase is no small one here: at every size of this height routes of MinHop meet on few channels, and not at 1,024 endpoints alone."},
			{Where: "V", Says: "at 1,024 endpoints approximately twice that of MinHop", Check: claims.TimesBest("dfsssp", []string{"minhop"}, "1024", 2, claims.About),
				Why: "OpenSM's minhop has half there, its routes meeting on few channels; ours, which breaks ties otherwise, does not."},
		},
	},
	{
		ID: "ipdps2011-6", Figure: "Fig. 6", Title: "Effective bisection bandwidth of Kautz graphs",
		Shows:   "The Kautz networks of Table I, over 1,000 patterns. An increase goes with another b, which gives every switch more links.",
		Measure: Bandwidth, X: "endpoints", Curves: true, LogX: true, Lines: beside(each(without(engines2011, "ftree"), tableI("kautz")), "ftree"),
		Claims: []claims.Claim{
			{Where: "V", Says: "all routing algorithms provide similar effective bisection bandwidths", Check: claims.AllWithin([]string{"minhop", "updn", "lash", "sssp", "dfsssp"}, claims.Alike),
				Why: "Up*/Down* gathers routes round its root on a graph that has no levels: its fullest channel has 11 times as many as that of SSSP at 4,096 endpoints. OpenSM's finds no root there and falls back to MinHop, which may be what the paper shows."},
			{Where: "V", Says: "LASH provides nearly the same bandwidth as DFSSSP", Check: claims.Within("dfsssp", "lash", claims.Nearly),
				Why: "Ours is within 3 % at every size, whether it spreads pairs of switches over equal ways or takes the lowest port (0.536, 0.235 and 0.165 at 64, 256 and 1,024 by paths shortest-lowest). Why OpenSM's has less, and whether the paper's of the time had, is open."},
			{Where: "V", Says: "each increase is associated with an increase in the number of links", Check: claims.RisesWithLinks("dfsssp")},
		},
	},
	{
		ID: "ipdps2011-7", Figure: "Fig. 7", Title: "Routing time for k-ary n-trees",
		Shows:   "The time of each engine, paths and lanes, on the trees of Table I; dfsssp-online layers path by path.",
		Measure: Seconds, X: "endpoints", Curves: true, LogX: true, Lines: beside(each(append(append([]string(nil), engines2011...), "dfsssp-online"), tableI("karytree"))),
		Claims: []claims.Claim{
			{Where: "V", Says: "DFSSSP has about 10 times the running time of MinHop", Check: claims.Timed(claims.Times("dfsssp", "minhop", "", 10, claims.About)),
				Why: "Ours finds cycles on an array over turns, and a tree has none to break."},
			{Where: "IV", Says: "the online method needs nearly two hours where the offline one needs about 170 s (4,096 nodes)", Check: claims.Timed(claims.Times("dfsssp-online", "dfsssp", "4096", 42, claims.About)),
				Why: "The online method of the paper searches the whole graph for each path. Here the order of a layer is kept as it grows, and a path that the layer already holds costs no search."},
		},
	},
	{
		ID: "ipdps2011-8", Figure: "Fig. 8", Title: "Routing time on real systems",
		Shows:   "The time of each engine, paths and lanes. " + systems2011Are,
		Measure: Seconds, X: "system", Lines: beside(each(engines2011, systems2011)), Real: true,
		Claims: []claims.Claim{
			{Where: "V", Says: "DFSSSP has about 10 times the running time of MinHop here too", Check: claims.Timed(claims.Times("dfsssp", "minhop", "", 10, claims.About)),
				Why: "See Fig. 7."},
		},
	},
	{
		ID: "ipdps2011-9", Figure: "Fig. 9", Title: "Lanes for random networks",
		Shows: "Lanes needed for 128 switches with 16 hosts each, by the number of cables between switches; the mean over the networks, with the least and the most as whiskers. " +
			"The paper's switches have 32 ports; ours as many as the draw takes. " + twoBars,
		Measure: Lanes, X: "cables between switches", Curves: true, LogX: true, Lines: beside(variants([]string{"lash", "dfsssp"}, sparse()), notATree...),
		Claims: []claims.Claim{
			{Where: "V.A", Says: "LASH needs fewer lanes on average for denser networks", Check: claims.All(claims.Less("lash", []string{"dfsssp"}, "320"), claims.Less("lash", []string{"dfsssp"}, "512"))},
			{Where: "V.A", Says: "DFSSSP needs fewer for sparser networks", Check: claims.All(claims.Less("dfsssp", []string{"lash"}, "130"), claims.Less("dfsssp", []string{"lash"}, "160")),
				Why: crossed},
			{Where: "V.A", Says: "the averages cross at about 200 connections", Check: claims.Crossing("dfsssp", "lash", 200), Why: crossed},
		},
	},
	{
		ID: "ipdps2011-10", Figure: "Fig. 10", Title: "Lanes for real systems",
		Shows:   "Lanes needed. " + systems2011Are + " " + twoBars,
		Measure: Lanes, X: "system", Lines: beside(variants([]string{"lash", "dfsssp"}, systems2011), noLanes...), Real: true,
		Claims: []claims.Claim{
			{Where: "V.A", Says: "DFSSSP needs fewer lanes than LASH on these systems", Check: claims.Below("dfsssp", []string{"lash"}, 0),
				Why: "On Deimos it takes both, paths and layers: LASH's paths need two lanes by either method, DFSSSP's two put into layers path by path, as LASH does, and four by breaking cycles, improved three (weft lanes deimos --paths sssp --contract directed)."},
		},
	},
	{
		ID: "ipdps2011-12", Figure: "Fig. 12", Title: "Effective bisection bandwidth of jobs on Deimos",
		Shows: "Netgauge's, which the paper measured on the machine; here by counting flows, over as many patterns, with hosts drawn anew for each. " +
			"That of 1,024 processes, several on a host, is left out.",
		Measure: Bandwidth, X: "hosts that take part", Lines: beside(each(measured2011, jobs("deimos", 128, 256, 512))),
		Claims: []claims.Claim{
			{Where: "VI.A", Says: "an improvement of 27 % over MinHop for 128 cores", Check: claims.Gain("dfsssp", []string{"minhop"}, "128", 0.27, claims.Points), Why: onDeimos},
			{Where: "VI.A", Says: "the improvement grows with the number of cores", Check: claims.Widening("dfsssp", []string{"minhop"}, "128", "512"), Why: onDeimos},
		},
	},
	{
		ID: "ipdps2011-13", Figure: "Fig. 13", Title: "MPI all-to-all on Deimos",
		Shows: "The time of an all-to-all of 128 processes, one on a host, by the floats that each sends to each, which the paper measured on the machine. Here packet by packet over QDR links, " +
			"all messages offered at once, without MPI, adapters and buses; the mean of four jobs on hosts drawn by lot, with the least and the most. " +
			"MinHop's tables have credit loops on Deimos: where the network deadlocked there is no time.",
		Measure: Completed, X: "floats for each process", Curves: true, LogX: true, Lines: beside(each(measured2011, buffers())),
		Claims: []claims.Claim{
			{Where: "VI.A", Says: "10.06 ms instead of 18.88 ms with MinHop at 4,096 floats: 46.7 % less", Check: claims.Gain("dfsssp", []string{"minhop"}, "4096", 10.06/18.88-1, claims.Points),
				Why: "The paper's adapters carried 946 MiB/s, and which hosts had the job it does not say; whether that is why is open."},
			{Where: "VI.A", Says: "DFSSSP balances the network traffic and reduces the congestions better than MinHop", Check: claims.Below("dfsssp", []string{"minhop"}, claims.Sampling), Why: "See above."},
		},
	},
	{
		ID: "ipdps2011-t1", Figure: "Table I", Title: "The networks of Table I, with 36-port switches",
		Shows:   "The most ports of a switch in each network. The paper gives the switches, not how hosts are attached; ours are dealt out evenly, which the numbers of endpoints ask for (64 hosts on 6 leaves, for one).",
		Measure: Ports, X: "endpoints", Curves: true, LogX: true,
		Lines: []claims.Line{{Name: "XGFT", Engine: "", Places: tableI("xgft")}, {Name: "Kautz", Engine: "", Places: tableI("kautz")}, {Name: "k-ary n-tree", Engine: "", Places: tableI("karytree")}},
		Claims: []claims.Claim{
			{Where: "V", Says: "we assumed the use of 36-port switches: XGFT", Check: claims.Ranges("XGFT", 1, 36)},
			{Where: "V", Says: "Kautz", Check: claims.Ranges("Kautz", 1, 36)},
			{Where: "V", Says: "k-ary n-tree", Check: claims.Ranges("k-ary n-tree", 1, 36)},
			{Where: "V", Says: "every network has its number of endpoints", Check: claims.HostsAsLabelled},
		},
	},
}
