package topology

import (
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/spell"
)

// nearby looks for the nearest values that work, one parameter changed at a time,
// and returns them as "k=127 or n=1", empty when there are none.
func (r *row) nearby(given map[string]string, bad *fault) string {
	var known params
	known.given = maps.Clone(given)
	r.new().declare(&known)
	seen := map[string]*param{}
	for i := range known.seen {
		seen[known.seen[i].key] = &known.seen[i]
	}
	var found []string
	for _, key := range slices.Sorted(maps.Keys(given)) {
		switch s := seen[key]; {
		case s == nil || bad.side == 0 && bad.key != key:
		case s.choices != nil:
			for _, n := range r.nearestChoices(given, s) {
				found = append(found, key+"="+strconv.Itoa(n))
			}
		case s.words != nil:
			with := maps.Clone(given)
			with[key] = spell.Nearest(given[key], s.words)
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

// nearestChoices is the nearest number below, and the nearest above, that a
// parameter can be and with which the rest works.
func (r *row) nearestChoices(given map[string]string, s *param) []int {
	var p params
	at := p.atoi(s.key, given[s.key], given[s.key], "a whole number")
	if p.fault != nil {
		return nil
	}
	with := maps.Clone(given)
	works := func(n int) bool {
		with[s.key] = strconv.Itoa(n)
		q := params{given: with}
		return q.run(r.new()) == nil
	}
	var found []int
	split, _ := slices.BinarySearch(s.choices, at)
	for i := split - 1; i >= 0 && found == nil; i-- {
		if works(s.choices[i]) {
			found = append(found, s.choices[i])
		}
	}
	for _, n := range s.choices[split:] {
		if n != at && works(n) {
			return append(found, n)
		}
	}
	return found
}

// nearestValue looks for the nearest value of one parameter with which the rest
// works. Lists are clamped: the largest numbers come down, or the smallest go up,
// to a common value. It takes for granted that too small, right and too large
// follow each other as a value grows; where they do not it finds nothing, never
// something wrong.
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
		with[key] = join(to)
		q := params{given: with}
		return q.run(r.new())
	}
	var bad *fault
	switch side := clamp(0, many).sideOf(key); {
	case side > 0:
		tooLarge := sort.Search(slices.Max(list), func(c int) bool { return clamp(0, c).sideOf(key) > 0 })
		bad = clamp(0, tooLarge-1)
	case side < 0:
		enough := sort.Search(many, func(c int) bool { return clamp(c, many).sideOf(key) >= 0 })
		bad = clamp(enough, many)
	default:
		return "", false
	}
	return with[key], bad == nil
}

// sideOf says which side of what works a key is on, as far as a fault tells. That
// another parameter is outside the range it is allowed counts against this one,
// the other way round.
func (f *fault) sideOf(key string) int {
	switch {
	case f == nil:
		return 0
	case f.key == key || f.key == "":
		return f.side
	}
	return -f.side
}
