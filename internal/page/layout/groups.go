package layout

import (
	"fmt"
	"math"
	"slices"
)

// byGroups places groups on a ring, and the switches of each on a small circle, and numbers the groups
// in l. It returns what it found, in words; empty: there are no groups.
func (g *graph) byGroups(l *Layout) string {
	group, count := g.cliques()
	if count < 3 {
		return ""
	}
	size := make([]int, count)
	for _, c := range group {
		size[c]++
	}
	if slices.Min(size) < 2 {
		return ""
	}
	for m, s := range g.part {
		l.Group[s] = l.Groups + int(group[m])
	}
	l.Groups += count
	g.ring(group, size)
	return fmt.Sprintf("a Dragonfly of %d groups", count)
}

// cliques puts switches into groups, [member], and counts these; none: there are no groups. Two
// neighbours in a group have nearly all others of it as neighbours in common, and two of different
// groups hardly any.
func (g *graph) cliques() (group []int32, count int) {
	most := 0
	common := make([][]int, len(g.next)) // [member][neighbour] how many neighbours they have in common
	mark := make([]int32, len(g.next))
	for m, to := range g.next {
		common[m] = make([]int, len(to))
		for _, v := range to {
			mark[v] = int32(m) + 1
		}
		for i, v := range to {
			for _, w := range g.next[v] {
				if mark[w] == int32(m)+1 {
					common[m][i]++
				}
			}
			most = max(most, common[m][i])
		}
	}
	if most == 0 {
		return nil, 0
	}
	group = make([]int32, len(g.next))
	for m := range group {
		group[m] = -1
	}
	within := 0 // pairs of neighbours in one group, each from both sides
	order := make([]int32, len(g.next))
	for m := range order {
		order[m] = int32(m)
	}
	slices.SortFunc(order, g.byName)
	var size []int
	for _, m := range order {
		if group[m] >= 0 {
			continue
		}
		group[m] = int32(count)
		n := 0
		for queue := []int32{m}; len(queue) > 0; queue = queue[1:] {
			n++
			for i, v := range g.next[queue[0]] {
				if 2*common[queue[0]][i] <= most {
					continue
				}
				within++
				if group[v] < 0 {
					group[v] = int32(count)
					queue = append(queue, v)
				}
			}
		}
		size = append(size, n)
		count++
	}
	full := 0
	for _, n := range size {
		full += n * (n - 1)
	}
	if full == 0 || float64(within) < 0.8*float64(full) { // groups, but not joined all to all
		return nil, 0
	}
	return group, count
}

// ring places groups by their number on a ring, the first at the top, and in each group
// the switches on a circle, by name.
func (g *graph) ring(group []int32, size []int) {
	members := make([][]int32, len(size))
	for m := range g.part {
		members[group[m]] = append(members[group[m]], int32(m))
	}
	radius := func(n int) float64 { return max(0.6, float64(n)/(2*math.Pi)*1.05) }
	around := 0.0
	for _, n := range size {
		around += 2*radius(n) + 1.4
	}
	outer := around / (2 * math.Pi)
	at := 0.0
	for c, list := range members {
		slices.SortFunc(list, g.byName)
		r := radius(size[c])
		at += r + 0.7
		angle := at/outer - math.Pi/2
		at += r + 0.7
		cx, cy := outer*math.Cos(angle), outer*math.Sin(angle)
		for i, m := range list {
			turn := angle + 2*math.Pi*float64(i)/float64(len(list))
			g.x[m], g.y[m] = cx+float64(r*math.Cos(turn)), cy+float64(r*math.Sin(turn))
		}
	}
}
