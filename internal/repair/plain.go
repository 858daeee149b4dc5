package repair

import "github.com/weft-fabric/weft/fabric"

// walks is the ways of the packets of all sources to a LID, each up to where an earlier one
// passed.
type walks struct {
	met  []int64 // [switch] the number of the last walk that passed it
	last int64   // the number of the last walk
	at   []fabric.NodeID
}

// walk follows the packets of all sources by the entries in force. It fails if some circle.
func (w *flow) walk() bool {
	v, heads := &w.walks, w.f.Heads()
	v.at = v.at[:0]
	before := v.last
	for _, s := range w.levels.ends {
		if s == w.home || v.met[s] > before || w.levels.pairs(s, w.lid) == 0 {
			continue
		}
		v.last++
		for s != w.home {
			if v.met[s] > before {
				if v.met[s] == v.last {
					return false
				}
				break
			}
			v.met[s] = v.last
			v.at = append(v.at, s)
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
