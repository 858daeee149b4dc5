package layer

// spread is the last step of Algorithm 2: paths are balanced over the lanes that
// no layer needs. Any part of an acyclic layer is acyclic, so no search is due.
// Spare lanes go one by one to the layer with the most paths per lane; within
// its lanes, each path takes the one with the fewest so far.
func (bc *breaker) spread(layers, vls int) {
	if vls == layers {
		return
	}
	weight := make([]uint64, vls) // [layer] paths between endpoints
	for d, s := range bc.all {
		weight[d.sl[s]] += uint64(bc.weight(d, s))
	}
	lanesOf := make([][]uint8, layers)
	for l := range lanesOf {
		lanesOf[l] = []uint8{uint8(l)}
	}
	for spare := layers; spare < vls; spare++ {
		fullest := 0
		for l := range lanesOf {
			// weight per lane, compared without dividing
			if weight[l]*uint64(len(lanesOf[fullest])) > weight[fullest]*uint64(len(lanesOf[l])) {
				fullest = l
			}
		}
		lanesOf[fullest] = append(lanesOf[fullest], uint8(spare))
	}
	clear(weight) // from here on: [lane]
	for d, s := range bc.all {
		lanes := lanesOf[d.sl[s]]
		best := lanes[0]
		for _, lane := range lanes[1:] {
			if weight[lane] < weight[best] {
				best = lane
			}
		}
		weight[best] += uint64(bc.weight(d, s))
		d.sl[s] = best
	}
}
