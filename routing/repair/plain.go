package repair

import "github.com/weft-fabric/weft/fabric"

// walks is the ways of the packets of all sources to a LID, each up to where an earlier one
// passed. Read from the last to the first, they have every switch before the one that it
// forwards to.
type walks struct {
	met   []int64 // [switch] the number of the last walk that passed it
	last  int64   // the number of the last walk
	at    []fabric.NodeID
	first []int32 // [walk of this LID] into at
}

// walk follows the packets of all sources by the entries in force, or, if it is not nil, by a
// row, which become those in force where packets come by. It fails if some circle.
func (w *flow) walk(row []uint8) bool {
	v, heads := &w.walks, w.f.Heads()
	v.at, v.first = v.at[:0], v.first[:0]
	before := v.last
	for _, s := range w.levels.ends {
		if s == w.home || v.met[s] > before || w.levels.pairs(s, w.lid) == 0 {
			continue
		}
		v.last++
		v.first = append(v.first, int32(len(v.at)))
		for s != w.home {
			if v.met[s] > before {
				if v.met[s] == v.last {
					return false
				}
				break
			}
			v.met[s] = v.last
			w.under[s] = w.levels.pairs(s, w.lid)
			v.at = append(v.at, s)
			if row != nil {
				w.cur[s] = w.trunk(s, row[s])
			}
			if w.cur[s] == fabric.None {
				break
			}
			s = heads[w.cur[s]]
		}
	}
	return true
}

// startPlain is startAll for one lane and entries by which nothing circles (walk).
func (w *flow) startPlain() bool {
	heads := w.f.Heads()
	for _, s := range w.walks.at {
		c := w.cur[s]
		if c == fabric.None {
			continue
		}
		w.arrived[c] = 1
		w.touched = append(w.touched, int32(c))
		if u := heads[c]; u != w.home && w.cur[u] != fabric.None && !w.depend(c, w.cur[u]) {
			return false
		}
	}
	return true
}

// countPlain is countRow for one lane and entries by which nothing circles: a pass over the
// switches, in the order in which packets come by.
func (w *flow) countPlain(by int32, uses []int32, load []int64) {
	v, heads := &w.walks, w.f.Heads()
	end := len(v.at)
	for i := len(v.first) - 1; i >= 0; i-- {
		first := int(v.first[i])
		for _, s := range v.at[first:end] {
			c := w.cur[s]
			if c == fabric.None {
				continue
			}
			u, pairs := heads[c], w.under[s]
			w.under[u] += pairs
			if load != nil {
				load[c] += int64(by) * pairs
			}
			if u != w.home && w.cur[u] != fabric.None {
				uses[w.f.Turn(c, w.cur[u])] += by
			}
		}
		end = first
	}
}
