package sweep

import "slices"

// Simulated is an engine without tables that InfiniBand could hold: sources, or switches,
// choose among several ways. Only packets can be sent by it, and measured. Package meter makes
// its ways.
type Simulated struct{ Name, What string }

// SimulatedEngines is those by source routes, as TPDS 2006, section 8, compares them, and the
// adaptive ones of package engines.
func SimulatedEngines() []Simulated {
	return []Simulated{
		{"lash-source", "LASH by source routes: of the shortest paths of a pair one is drawn, layers balanced"},
		{"updn-source", "Up*/Down* by source routes: shortest legal paths along a depth-first tree, one drawn"},
		{"updn-tables", "the same tree by destination, as tables can hold it; pairs spread over the lanes"},
		{"d-mroots-source", "D-MROOTS by source routes: a layer for each pair, a breadth-first tree for each layer; of the shortest legal paths one is drawn"},
		{"d-mroots-dfs-source", "the same with depth-first trees from the same roots"},
		{"mroots-source", "MROOTS by source routes: all layers for each pair, to take at random"},
		{"mroots-dfs-source", "the same with depth-first trees from the same roots"},
		{"mp-lash-source", "MP-LASH: every shortest path, on every layer that takes it, to take at random"},
		{"mp-lash-one-source", "MP-LASH: every shortest path, on one layer each"},
		{"mp-lash-credits", "MP-LASH: the first switch chooses, by credits"},
		{"a-lash", "all shortest paths open to the switches, grouped by first link into layers; the source draws the first link"},
		{"a-lash-credits", "the same, where the first switch chooses the first link too, by credits"},
		{"updn-adaptive", "all Up*/Down* paths open to the switches"},
		{"escape", "all shortest paths open to the switches, an Up*/Down* layer to escape to"},
	}
}

// IsSimulated reports whether an engine has no tables.
func IsSimulated(name string) bool {
	return slices.ContainsFunc(SimulatedEngines(), func(s Simulated) bool { return s.Name == name })
}

// LanesOf is what lanes-of: may be: an engine gets as many lanes as this one needs on the
// network at hand.
var LanesOf = []string{"lash", "mp-lash", "a-lash"}
