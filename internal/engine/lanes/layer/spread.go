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
	clear(weight)                // from here on: [lane]
	first := make([]int, layers) // the place in lanesOf of the lane with the fewest paths; the others follow, and wrap round
	for d, s := range bc.all {
		l := d.sl[s]
		lanes, at := lanesOf[l], first[l]
		lane := lanes[at]
		d.sl[s] = lane
		if len(lanes) == 1 {
			continue
		}
		weight[lane] += uint64(bc.weight(d, s))
		// The lane was first and goes to where it belongs now, from the end backwards: behind
		// lanes of about the same weight, so that these get bundles round robin.
		if first[l]++; first[l] == len(lanes) {
			first[l] = 0
		}
		for at != first[l] {
			before := at - 1
			if before < 0 {
				before = len(lanes) - 1
			}
			other := lanes[before]
			if weight[other] < weight[lane] || weight[other] == weight[lane] && other < lane {
				break
			}
			lanes[at], lanes[before] = other, lane
			at = before
		}
	}
}
