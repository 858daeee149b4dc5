package traffic

import (
	"fmt"
	"math/rand/v2"
)

// OnRails is a pattern for ranks of which each is on a rail, [rank] its number from 1; 0:
// on none. Patterns that are not about rails stay as they are. silent is how many ranks
// the pattern leaves out: they are on no rail, though others are, or alone on theirs.
//
// Without it, or where no rank is on a rail, all ranks are on one.
func OnRails(p Pattern, rail []int) (on Pattern, silent int) {
	switch p := p.(type) {
	case combined:
		all := make(combined, len(p))
		for i := range p {
			var left int
			all[i], left = OnRails(p[i], rail)
			silent = max(silent, left)
		}
		return all, silent
	case named:
		if p.byRail {
			p.rails, silent = byRail(rail)
		}
		return p, silent
	}
	return p, 0
}

// byRail is the ranks of each rail that has two or more, and how many ranks are on no such rail; rail is as in OnRails. nil:
// no rank is on any, and then none is left out.
func byRail(rail []int) (rails [][]int32, silent int) {
	most := 0
	for _, k := range rail {
		most = max(most, k)
	}
	if most == 0 {
		return nil, 0
	}
	all := make([][]int32, most+1)
	for rank, k := range rail {
		all[k] = append(all[k], int32(rank))
	}
	rails = [][]int32{}
	for k, ranks := range all {
		if k == 0 || len(ranks) < 2 {
			silent += len(ranks)
		} else {
			rails = append(rails, ranks)
		}
	}
	return rails, silent
}

// railPhases is the phases of the rail with the most ranks.
func (p named) railPhases() (int, error) {
	if len(p.rails) == 0 {
		return 0, fmt.Errorf("%s: no rail has two ranks; it takes two to talk", p.name)
	}
	most := 0
	for _, ranks := range p.rails {
		k, err := p.phases(p.args, len(ranks))
		if err != nil {
			return 0, err
		}
		most = max(most, k)
	}
	return most, nil
}

// appendRails is a phase on every rail. One with fewer phases than another is done before
// it.
func (p named) appendRails(pairs []Pair, phase int, r *rand.Rand) []Pair {
	for _, ranks := range p.rails {
		if k, err := p.phases(p.args, len(ranks)); err != nil || phase >= k {
			continue
		}
		first := len(pairs)
		pairs = p.append(pairs, p.args, len(ranks), phase, r)
		for i := first; i < len(pairs); i++ {
			pairs[i].From, pairs[i].To = ranks[pairs[i].From], ranks[pairs[i].To]
		}
	}
	return pairs
}
