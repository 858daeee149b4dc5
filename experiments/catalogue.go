package experiments

import (
	"fmt"
	"strings"
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
			return nil, fmt.Errorf("experiments: no experiment is called %q; the nearest is %q (weft reproduce --list shows all)", word, nearest(word, all))
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

// nearest is the word that Select knows with the fewest letters to change.
func nearest(word string, all []Experiment) string {
	words := []string{"all"}
	for _, e := range all {
		paper, _, _ := strings.Cut(e.ID, "-")
		words = append(words, paper, e.ID)
	}
	best := words[0]
	for _, w := range words[1:] {
		if distance(word, w) < distance(word, best) {
			best = w
		}
	}
	return best
}

// distance is how many letters to insert, drop or change to make one word of another
// (V. I. Levenshtein, 1966).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
