package topology

import (
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/spell"
)

// nearestWorking is the hint of a refusal (complete): the nearest values that work, one
// parameter changed at a time, as "k=127 or n=1"; empty if there are none. bad is what is
// wrong with the given values.
func (r *row) nearestWorking(given map[string]string, bad *fault) string {
	known := params{given: maps.Clone(given)}
	r.new().declare(&known)
	declared := map[string]*param{}
	for i := range known.seen {
		declared[known.seen[i].key] = &known.seen[i]
	}
	var found []string
	for _, key := range slices.Sorted(maps.Keys(given)) {
		switch p := declared[key]; {
		case p == nil || bad.side == 0 && bad.key != key:
		case p.choices != nil:
			for _, n := range r.nearestChoices(given, p) {
				found = append(found, key+"="+strconv.Itoa(n))
			}
		case p.words != nil:
			with := maps.Clone(given)
			with[key] = spell.Nearest(given[key], p.words)
			q := params{given: with}
			if with[key] != "" && bad.key == key && q.run(r.new()) == nil {
				found = append(found, key+"="+with[key])
			}
		case bad.side != 0:
			if text, ok := r.nearestValue(given, key); ok {
				found = append(found, key+"="+text)
			}
		}
	}
	return strings.Join(found, " or ")
}

// nearestChoices is, for a parameter that has choices, the nearest one below its value and
// the nearest above with which the rest works: two numbers, one or none.
func (r *row) nearestChoices(given map[string]string, p *param) []int {
	var number params
	at := number.atoi(p.key, given[p.key], given[p.key], "a whole number")
	if number.fault != nil {
		return nil
	}
	with := maps.Clone(given)
	works := func(n int) bool {
		with[p.key] = strconv.Itoa(n)
		q := params{given: with}
		return q.run(r.new()) == nil
	}
	var found []int
	split, _ := slices.BinarySearch(p.choices, at)
	for i := split - 1; i >= 0 && found == nil; i-- {
		if works(p.choices[i]) {
			found = append(found, p.choices[i])
		}
	}
	for _, n := range p.choices[split:] {
		if n != at && works(n) {
			return append(found, n)
		}
	}
	return found
}

// nearestValue looks for the nearest value of one parameter with which the rest works.
// Lists are clamped: the largest numbers come down, or the smallest go up, to a common
// value. It assumes that as a value grows it is first too small, then right, then too
// large. Where that is not so it may find nothing, but what it finds does work.
func (r *row) nearestValue(given map[string]string, key string) (string, bool) {
	var p params
	list := []int{}
	for part := range strings.SplitSeq(given[key], "x") {
		list = append(list, p.atoi(key, part, part, "a whole number"))
	}
	if p.fault != nil {
		return "", false
	}
	with := maps.Clone(given)
	clamp := func(lo, hi int) *fault {
		to := make([]int, len(list))
		for i, n := range list {
			to[i] = max(lo, min(n, hi))
		}
		with[key] = sizesText(to)
		q := params{given: with}
		return q.run(r.new())
	}
	var bad *fault
	switch side := clamp(0, saturated).sideOf(key); {
	case side > 0:
		tooLarge := sort.Search(slices.Max(list), func(c int) bool { return clamp(0, c).sideOf(key) > 0 })
		bad = clamp(0, tooLarge-1)
	case side < 0:
		enough := sort.Search(saturated, func(c int) bool { return clamp(c, saturated).sideOf(key) >= 0 })
		bad = clamp(enough, saturated)
	default:
		return "", false
	}
	return with[key], bad == nil
}

// sideOf reports whether a key is too small (-1) or too large (+1), as far as a fault
// tells. A fault in another parameter, whose range depends on this one, counts the
// other way round.
func (f *fault) sideOf(key string) int {
	switch {
	case f == nil:
		return 0
	case f.key == key || f.key == "":
		return f.side
	}
	return -f.side
}
