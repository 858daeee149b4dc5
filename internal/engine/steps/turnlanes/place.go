package turnlanes

import (
	"slices"

	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
)

// Place makes one service level admit some paths, given by their turns: if none admits all of them
// already, it gives their turns without a lane one in the first where that can be. If there is none
// it changes no lane and returns false.
func (l *Assignment) Place(paths ...[]acyclic.Turn) bool {
	for sl := range l.used {
		if l.admitsAll(sl, paths) {
			return true
		}
	}
	for sl := range l.levels {
		if l.putAll(sl, paths) {
			l.used = max(l.used, sl+1)
			return true
		}
		if sl >= l.used {
			break // this one was empty: no other empty one can admit them either
		}
	}
	return false
}

// admitsAll reports whether a service level admits all of some paths already.
func (l *Assignment) admitsAll(sl int, paths [][]acyclic.Turn) bool {
	for _, steps := range paths {
		if !l.admits(sl, steps) {
			return false
		}
	}
	return true
}

// putAll places paths in a service level, all or none.
func (l *Assignment) putAll(sl int, paths [][]acyclic.Turn) bool {
	for _, steps := range paths {
		if l.falls(sl, steps) {
			return false
		}
	}
	l.undo = l.undo[:0]
	for i, steps := range paths {
		if l.admits(sl, steps) {
			continue
		}
		if i > 0 && l.falls(sl, steps) || !l.put(sl, steps) {
			l.takeBack(sl)
			return false
		}
	}
	return true
}

// change is a turn that got a lane, to be undone if a later one of the current paths cannot be placed.
type change struct {
	acyclic.Turn
	was  uint8 // the lane that the turn had before
	held uint8 // the lane to whose graph the turn was added; unset: none
}

// takeBack undoes the changes since putAll began.
func (l *Assignment) takeBack(sl int) {
	for _, c := range slices.Backward(l.undo) {
		l.set(c.ID, sl, c.was)
		if c.held != unset {
			l.graphs[c.held].Remove(c.In, c.Out)
			l.held[c.ID] &^= 1 << c.held
		}
	}
}

// falls reports whether the lanes fall along a path, looking only at its turns that have one.
func (l *Assignment) falls(sl int, steps []acyclic.Turn) bool {
	from := l.start(sl)
	for _, s := range steps {
		if to := l.at(s.ID, sl); to != unset {
			if to < from {
				return true
			}
			from = to
		}
	}
	return false
}

// put places a path in a service level, completely or not at all. It ends because each
// failure excludes one turn of the path from one more lane.
func (l *Assignment) put(sl int, steps []acyclic.Turn) bool {
	l.fit.begin(len(steps))
	for l.fit.find(l, sl, steps) {
		if l.commit(sl, steps, l.fit.lane) {
			return true
		}
	}
	return false
}

// commit gives the turns of a path the lanes that the fitter found, lane by turn of the path, and adds
// those taken within their lane to its graph. If one would close a cycle it undoes everything, excludes
// that choice and returns false.
func (l *Assignment) commit(sl int, steps []acyclic.Turn, lane []uint8) bool {
	from := l.start(sl)
	for i, s := range steps {
		if to := lane[i]; from == to && l.held[s.ID]>>to&1 == 0 && !l.add(to, s) {
			l.undoAndExclude(sl, i, steps, lane)
			return false
		}
		from = lane[i]
	}
	from = l.start(sl)
	for i, s := range steps {
		c := change{Turn: s, was: l.at(s.ID, sl), held: unset}
		if from == lane[i] && l.held[s.ID]>>lane[i]&1 == 0 {
			l.held[s.ID] |= 1 << lane[i]
			c.held = lane[i]
		}
		l.set(s.ID, sl, lane[i])
		l.undo = append(l.undo, c)
		from = lane[i]
	}
	return true
}

// undoAndExclude undoes what was added before the i-th turn, and excludes that turn from its
// lane: for good if the graph does not admit it alone either, since graphs only grow;
// otherwise for this path.
func (l *Assignment) undoAndExclude(sl, i int, steps []acyclic.Turn, lane []uint8) {
	from, added := l.start(sl), false
	for k, s := range steps[:i] {
		if from == lane[k] && l.held[s.ID]>>lane[k]&1 == 0 {
			l.graphs[lane[k]].Remove(s.In, s.Out)
			added = true
		}
		from = lane[k]
	}
	s, to := steps[i], lane[i]
	if len(l.undo) > 0 {
		l.fit.bar(i, to) // turns that this path added may be removed again
		return
	}
	if added && l.add(to, s) {
		l.graphs[to].Remove(s.In, s.Out)
		l.fit.bar(i, to)
		return
	}
	l.barred[s.ID] |= 1 << to
}
