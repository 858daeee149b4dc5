package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// pair is two nodes, the lower number first.
type pair struct{ a, b fabric.NodeID }

// pairOf is the two nodes that a cable joins.
func pairOf(c *fabric.Channel) pair { return pair{a: min(c.From, c.To), b: max(c.From, c.To)} }

func comparePairs(p, q pair) int { return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b)) }

// missingCables finds pairs of switches with fewer cables between them than most pairs of
// their group: switches of two levels that cables of one class connect, such as a pod of a
// tree. Where at least three in four pairs of a group have a cable, a pair without any
// counts too.
func (s *survey) missingCables() []Finding {
	cables := map[cableClass]map[pair]int{} // how many join each pair
	for c := range s.Trunks() {
		ch := s.Channel(fabric.ChannelID(c))
		if ch.Reverse < fabric.ChannelID(c) {
			continue // each cable once
		}
		p, _ := s.classOf(ch) // always: a trunk joins two switches
		if cables[p] == nil {
			cables[p] = map[pair]int{}
		}
		cables[p][pairOf(ch)]++
	}
	var list []Finding
	for _, p := range slices.SortedFunc(maps.Keys(cables), compareClasses) {
		list = append(list, s.lackingPairs(p, s.groups(p, cables[p]))...)
	}
	return list
}

// groups splits the pairs of one class, with the cables of each, into connected components, such as the pods of a tree, and
// adds the pairs without a cable where most have one.
func (s *survey) groups(p cableClass, cables map[pair]int) []map[pair]int {
	if p.level == p.higher {
		return []map[pair]int{cables} // switches of one level are not expected to be all joined
	}
	// Components by union and find: up from switch to switch to the lowest of its component, which has no entry.
	part := map[fabric.NodeID]fabric.NodeID{}
	var find func(v fabric.NodeID) fabric.NodeID
	find = func(v fabric.NodeID) fabric.NodeID {
		up, ok := part[v]
		if !ok || up == v {
			return v
		}
		part[v] = find(up)
		return part[v]
	}
	pairs := make([]pair, 0, len(cables))
	for q := range cables {
		pairs = append(pairs, q)
		if a, b := find(q.a), find(q.b); a != b {
			part[max(a, b)] = min(a, b)
		}
	}
	slices.SortFunc(pairs, comparePairs)
	at := map[fabric.NodeID]int{} // [lowest switch of a component] its place in groups
	var groups []map[pair]int
	for _, q := range pairs {
		root := find(q.a)
		i, ok := at[root]
		if !ok {
			i = len(groups)
			at[root] = i
			groups = append(groups, map[pair]int{})
		}
		groups[i][q] = cables[q]
	}
	for _, g := range groups {
		s.addUnjoined(g)
	}
	return groups
}

// addUnjoined adds to a group the pairs without a cable, with 0, if at least three in four of all pairs of a
// lower and an upper switch have one.
func (s *survey) addUnjoined(group map[pair]int) {
	var below, above []fabric.NodeID
	seen := map[fabric.NodeID]bool{}
	lowest := int32(s.Switches())
	for q := range group {
		lowest = min(lowest, s.level[q.a], s.level[q.b])
	}
	for q := range group {
		for _, v := range []fabric.NodeID{q.a, q.b} {
			if seen[v] {
				continue
			}
			seen[v] = true
			if s.level[v] == lowest {
				below = append(below, v)
			} else {
				above = append(above, v)
			}
		}
	}
	if 4*len(group) < 3*len(below)*len(above) {
		return
	}
	for _, a := range below {
		for _, b := range above {
			q := pair{a: min(a, b), b: max(a, b)}
			group[q] += 0 // enters it if it is missing
		}
	}
}

// lackingPairs finds the pairs of a class with fewer cables than most of their group, in one finding for each number of
// cables that is usual and each that there are.
func (s *survey) lackingPairs(p cableClass, groups []map[pair]int) []Finding {
	type lack struct{ usual, has int }
	short := map[lack][]pair{}
	like := map[int][2]int{} // [usual number of cables] pairs that have it, and all pairs, of all groups with that number
	for _, group := range groups {
		counts := slices.Collect(maps.Values(group))
		usual, count := majority(counts)
		if count == 0 || p.level == p.higher && 10*count < 9*len(counts) {
			// No majority; or within a level, where cables of different kinds (local, global)
			// look alike, fewer than nine in ten.
			continue
		}
		like[usual] = [2]int{like[usual][0] + count, like[usual][1] + len(counts)}
		for q, n := range group {
			if n < usual {
				l := lack{usual: usual, has: n}
				short[l] = append(short[l], q)
			}
		}
	}
	var list []Finding
	for _, l := range slices.SortedFunc(maps.Keys(short), func(a, b lack) int { return cmp.Or(cmp.Compare(a.has, b.has), cmp.Compare(a.usual, b.usual)) }) {
		pairs := short[l]
		f := Finding{Kind: MissingCable}
		for _, q := range pairs {
			if s.level[q.a] > s.level[q.b] {
				q.a, q.b = q.b, q.a
			}
			f.Links = append(f.Links, Link{A: q.a, B: q.b, Cables: l.has})
		}
		slices.SortFunc(f.Links, s.byName)
		f.What = fmt.Sprintf("%s %s, where %d of %d like %s have %d",
			verb(len(pairs), "pair of switches has", "pairs of switches have"), cablesText(l.has), like[l.usual][0], like[l.usual][1], itOrThem(len(pairs)), l.usual)
		list = append(list, f)
	}
	return list
}

// byName orders links by the names of the switches.
func (s *survey) byName(x, y Link) int {
	return cmp.Or(cmp.Compare(s.Node(x.A).Name, s.Node(y.A).Name), cmp.Compare(s.Node(x.B).Name, s.Node(y.B).Name),
		cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
}

func cablesText(n int) string {
	switch n {
	case 0:
		return "no cable"
	case 1:
		return "1 cable"
	}
	return fmt.Sprintf("%d cables", n)
}
