package papers

// Missing is what a paper has and is not reproduced.
type Missing struct{ Paper, What, Why string }

// NotReproduced is the list of it, in the order of the papers.
func NotReproduced() []Missing {
	const cluster = "measured on the machine itself, whose adapters, programs and placement are not at hand"
	return []Missing{
		{"HOTI 2009", "Fig. 8(a), Odin, and 9(a), Deimos: measured bisection bandwidth", cluster + "; the simulations beside them, 8(b) and 9(b), are"},
		{"HOTI 2009", "Thunderbird, Ranger and Atlas", "their cabling was never published; trees of the same kind and size stand in"},
		{"HOTI 2009", "P-SSSP without minimal paths forced", "weft has no such path finder: edge weights of one let paths be longer, which the paper itself leaves out of all its figures"},
		{"IPDPS 2011", "Fig. 1: the detour with weights of one", "as above; that initial weights of |V|² prevent it holds by construction, for only shortest paths are looked at"},
		{"IPDPS 2011", "Fig. 12: bisection bandwidth, Fig. 13: all-to-all, as measured; 1,024 processes in Fig. 12", cluster + "; both are simulated above"},
		{"IPDPS 2011", "Fig. 14 to 16 and Table II: NAS benchmarks", cluster},
		{"IPDPS 2011", "CHiC, JUROPA, Ranger and Tsubame", "their cabling was never published"},
		{"HOTI 2016", "Fig. 5: the worked example of DF-DN", "no figure of values: a test follows it turn by turn (package internal/engine/lanes/hop)"},
		{"HOTI 2016", "JUROPA in Fig. 12", "its cabling was never published"},
		{"HOTI 2016", "k = 16 in Fig. 11", "it would need a projective plane of order 15; none is known"},
		{"TPDS 2006", "section 8.4: LASH and MP-LASH against the number of layers there are", "an argument without a figure; what it takes from Fig. 3 is held against ours there"},
		{"TPDS 2006", "latency in Fig. 7 to 15", "drawn beside each figure; the text states nothing about it that ours could be held against"},
	}
}
