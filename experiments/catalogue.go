package experiments

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/internal/spell"
)

// All is the table of experiments, in the order in which to show them.
func All() []Experiment {
	var all []Experiment
	for _, paper := range [][]Experiment{hoti2009(), ipdps2011(), hoti2016(), tpds2006(), throughput("TPDS 2006")} {
		all = append(all, paper...)
	}
	return all
}

// Select finds experiments by a list of words: an id, the start of ids up to a
// hyphen, which is all of a paper, or all. Each is taken once, in the order of the
// table.
func Select(words []string) ([]Experiment, error) {
	all := All()
	wanted := make([]bool, len(all))
	for _, word := range words {
		found := false
		for i, e := range all {
			paper, _, _ := strings.Cut(e.ID, "-")
			if word == "all" || word == e.ID || word == paper {
				wanted[i], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("experiments: no experiment is called %q%s (weft reproduce --list shows all)", word, spell.Hint(word, wordsOf(all)))
		}
	}
	var list []Experiment
	for i, e := range all {
		if wanted[i] {
			list = append(list, e)
		}
	}
	return list, nil
}

// wordsOf is what Select knows.
func wordsOf(all []Experiment) []string {
	list := []string{"all"}
	for _, e := range all {
		paper, _, _ := strings.Cut(e.ID, "-")
		list = append(list, paper, e.ID)
	}
	return list
}
