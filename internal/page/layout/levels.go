package layout

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A network is a tree if at least nine of ten pairs of neighbours are on levels that
// follow each other. Spines with a few hosts, or leaves behind leaves, are found in trees.
const treeShare = 0.9

// byLevels places a tree, its top above, and numbers its pods in l. It returns what it found, in
// words; empty: it is no tree.
func (g *graph) byLevels(l *Layout) string {
	g.level = make([]int32, len(g.part))
	top := int32(0)
	for m, s := range g.part {
		if g.level[m] = l.Level[s]; g.level[m] < 0 {
			return ""
		}
		top = max(top, g.level[m])
	}
	between := 0
	for m, to := range g.next {
		for _, v := range to {
			if g.level[v] == g.level[m]+1 {
				between++
			}
		}
	}
	if top == 0 || float64(between) < treeShare*float64(g.pairs()) {
		return ""
	}
	pods := g.pods(top)
	g.numberPods(l, pods)
	rows := g.rows(top, pods)
	g.placeRows(rows)
	return fmt.Sprintf("a tree of %d levels", top+1)
}

// pods numbers the pods below each level, which are what stays joined without that level and those
// above. The result is [member][cut] the number of its pod, cuts from the top level down; -1: the
// member is cut away.
func (g *graph) pods(top int32) [][]int32 {
	path := make([][]int32, len(g.part))
	order := make([]int32, len(g.part))
	for m := range order {
		order[m] = int32(m)
	}
	slices.SortFunc(order, g.byName)
	for cut := top; cut > 0; cut-- {
		pod := slices.Repeat([]int32{-1}, len(g.part))
		count := int32(0)
		for _, m := range order {
			if pod[m] >= 0 || g.level[m] >= cut {
				continue
			}
			pod[m] = count
			for queue := []int32{m}; len(queue) > 0; queue = queue[1:] {
				for _, v := range g.next[queue[0]] {
					if pod[v] < 0 && g.level[v] < cut {
						pod[v] = count
						queue = append(queue, v)
					}
				}
			}
			count++
		}
		for m := range path {
			path[m] = append(path[m], pod[m])
		}
	}
	return path
}

// numberPods sets the groups of l to the pods of the highest cut that has several, and not only single
// switches.
func (g *graph) numberPods(l *Layout, pods [][]int32) {
	for cut := range pods[0] {
		size := map[int32]int{}
		largest := 0
		for _, p := range pods {
			if p[cut] >= 0 {
				size[p[cut]]++
				largest = max(largest, size[p[cut]])
			}
		}
		if len(size) < 2 || largest < 2 {
			continue
		}
		for m, s := range g.part {
			if p := pods[m][cut]; p >= 0 {
				l.Group[s] = l.Groups + int(p)
			}
		}
		l.Groups += len(size)
		return
	}
}

// rows is the members of each level from left to right: by pod, within a pod by the mean
// place of their neighbours below, then by name.
func (g *graph) rows(top int32, pods [][]int32) [][]int32 {
	rows := make([][]int32, top+1)
	for m := range g.part {
		rows[g.level[m]] = append(rows[g.level[m]], int32(m))
	}
	place := make([]float64, len(g.part))
	for _, row := range rows {
		mean := make(map[int32]float64, len(row))
		for _, m := range row {
			mean[m] = g.meanBelow(m, place)
		}
		slices.SortFunc(row, func(a, b int32) int {
			return cmp.Or(slices.Compare(pods[a], pods[b]), cmp.Compare(mean[a], mean[b]), g.byName(a, b))
		})
		for i, m := range row {
			place[m] = (float64(i) + 0.5) / float64(len(row))
		}
	}
	return rows
}

// meanBelow is the mean place of the neighbours on the level below, roughly, so that
// small differences leave the order to the names.
func (g *graph) meanBelow(m int32, place []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range g.next[m] {
		if g.level[v] < g.level[m] {
			sum += place[v]
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return math.Round(20 * sum / float64(n))
}

// placeRows places the rows. A level with many switches stands in several lines, column by
// column, so that the map is about twice as wide as it is high.
func (g *graph) placeRows(rows [][]int32) {
	longest := 0
	for _, row := range rows {
		longest = max(longest, len(row))
	}
	columns := longest
	if longest > 60 {
		columns = max(60, int(math.Ceil(math.Sqrt(float64(len(g.part))*4))))
	}
	width := float64(min(columns, longest))
	gap := max(2, width*0.42/float64(max(1, len(rows)-1)))
	y := 0.0
	for level := len(rows) - 1; level >= 0; level-- {
		row := rows[level]
		lines := (len(row) + columns - 1) / columns
		used := (len(row) + lines - 1) / max(1, lines)
		step := width / float64(max(1, used))
		for i, m := range row {
			g.x[m] = (float64(i/lines) + 0.5) * step
			g.y[m] = y + float64(i%lines)*min(1.2, max(0.9, step))
			if lines > 1 && i%lines%2 == 1 {
				g.x[m] += step / 2
			}
		}
		y += float64(lines-1)*min(1.2, max(0.9, step)) + gap
	}
}
