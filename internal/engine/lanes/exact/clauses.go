package exact

import "slices"

// literal says that variable v is true, as 2v, or that it is false, as 2v+1.
type literal int32

func (l literal) not() literal         { return l ^ 1 }
func (l literal) variable() int32      { return int32(l) >> 1 }
func isTrue(v int32) literal           { return literal(2 * v) }
func isFalse(v int32) literal          { return literal(2*v + 1) }
func (s *solver) value(l literal) int8 { return s.assigned[l] }

// Verdicts of a search.
type verdict uint8

const (
	gaveUp verdict = iota
	satisfiable
	unsatisfiable
)

// solver finds values for variables that make every clause true: each has a
// literal that is. Clauses may be added between one search and the next. It
// learns a clause from each conflict, decides the variable that was in most
// conflicts lately, and takes up decisions where it left them after a restart.
type solver struct {
	clauses  [][]literal
	watchers [][]watcher // [literal] clauses that wait for it to become false
	assigned []int8      // [literal] 1 true, -1 false, 0 open
	level    []int32     // [variable] decisions before it was assigned
	reason   []int32     // [variable] the clause that made it so; none: a decision
	phase    []bool      // [variable] its last value
	trail    []literal   // what is true, in the order in which it became so
	begins   []int       // [level] its first place on the trail
	done     int         // places on the trail whose consequences have been drawn
	order    activity

	conflicts int
	broken    bool // there are no such values

	seen    []bool    // [variable] scratch of learn
	learned []literal // scratch of learn
}

// watcher is a clause that one of its two watched literals has a list entry for.
type watcher struct {
	clause  int32
	blocker literal // if it is true, so is the clause
}

// variables adds some and returns the first.
func (s *solver) variables(n int) int32 {
	first := int32(len(s.level))
	for range n {
		s.watchers = append(s.watchers, nil, nil)
		s.assigned = append(s.assigned, 0, 0)
		s.level = append(s.level, 0)
		s.reason = append(s.reason, none)
		s.phase = append(s.phase, false)
		s.seen = append(s.seen, false)
		s.order.add()
	}
	return first
}

// add adds a clause. The literals are taken over, and must be of different
// variables.
func (s *solver) add(clause ...literal) {
	s.backTo(0)
	open := clause[:0]
	for _, l := range clause {
		switch s.value(l) {
		case 1:
			return
		case 0:
			open = append(open, l)
		}
	}
	switch len(open) {
	case 0:
		s.broken = true
	case 1:
		s.assign(open[0], none)
		s.broken = s.broken || s.propagate() != none
	default:
		s.store(open)
	}
}

// store stores a clause of two literals or more, which watches the first two, and returns its number.
func (s *solver) store(clause []literal) int32 {
	id := int32(len(s.clauses))
	s.clauses = append(s.clauses, clause)
	s.watchers[clause[0]] = append(s.watchers[clause[0]], watcher{id, clause[1]})
	s.watchers[clause[1]] = append(s.watchers[clause[1]], watcher{id, clause[0]})
	return id
}

// assign makes a literal true for a reason, a clause or none.
func (s *solver) assign(l literal, reason int32) {
	s.assigned[l], s.assigned[l.not()] = 1, -1
	s.level[l.variable()] = int32(len(s.begins))
	s.reason[l.variable()] = reason
	s.trail = append(s.trail, l)
}

// propagate draws all conclusions from what the trail has become longer by, and returns a clause that
// is false, or none.
func (s *solver) propagate() int32 {
	for ; s.done < len(s.trail); s.done++ {
		if conflict := s.visitWatchers(s.trail[s.done].not()); conflict != none {
			s.done = len(s.trail)
			return conflict
		}
	}
	return none
}

// visitWatchers lets each clause that watches a literal which became false watch another one that is
// not. Where there is none, it makes the clause's other watched literal true; if that is false, too, it
// returns the clause, else none.
func (s *solver) visitWatchers(falsified literal) int32 {
	list := s.watchers[falsified]
	staying := list[:0]
	for n, w := range list {
		if s.value(w.blocker) == 1 {
			staying = append(staying, w)
			continue
		}
		clause := s.clauses[w.clause]
		if clause[0] == falsified {
			clause[0], clause[1] = clause[1], clause[0]
		}
		if s.value(clause[0]) == 1 {
			staying = append(staying, watcher{w.clause, clause[0]})
			continue
		}
		if i := slices.IndexFunc(clause[2:], func(l literal) bool { return s.value(l) >= 0 }); i >= 0 {
			clause[1], clause[2+i] = clause[2+i], clause[1]
			s.watchers[clause[1]] = append(s.watchers[clause[1]], watcher{w.clause, clause[0]})
			continue
		}
		staying = append(staying, w)
		if s.value(clause[0]) == -1 {
			s.watchers[falsified] = append(staying, list[n+1:]...)
			return w.clause
		}
		s.assign(clause[0], w.clause)
	}
	s.watchers[falsified] = staying
	return none
}

// backTo takes back all decisions except the first so many, with what followed from them.
func (s *solver) backTo(level int) {
	if len(s.begins) <= level {
		return
	}
	begin := s.begins[level]
	for _, l := range s.trail[begin:] {
		s.assigned[l], s.assigned[l.not()] = 0, 0
		s.phase[l.variable()] = l&1 == 0
		s.order.push(l.variable())
	}
	s.trail, s.begins, s.done = s.trail[:begin], s.begins[:level], begin
}

// solve searches until it gives up after so many conflicts. The values found are
// the assignment until the next clause is added.
func (s *solver) solve(effort int) verdict {
	restart, end := s.conflicts+conflictsPerRestart, s.conflicts+effort
	for !s.broken {
		if conflict := s.propagate(); conflict != none {
			s.conflicts++
			if len(s.begins) == 0 {
				s.broken = true
				break
			}
			s.learn(conflict)
			continue
		}
		if s.conflicts >= end {
			return gaveUp
		}
		if s.conflicts >= restart {
			restart += conflictsPerRestart
			s.backTo(0)
			continue
		}
		v, open := s.order.pop(s.assigned)
		if !open {
			return satisfiable
		}
		s.begins = append(s.begins, len(s.trail))
		if s.phase[v] {
			s.assign(isTrue(v), none)
		} else {
			s.assign(isFalse(v), none)
		}
	}
	return unsatisfiable
}

// conflictsPerRestart is after how many conflicts the search takes all decisions back.
const conflictsPerRestart = 250

// learn adds the clause that says why a conflict arose, by the last decision and
// what came before it (the first unique implication point), and goes back to
// where the clause leaves one choice.
func (s *solver) learn(conflict int32) {
	s.learned = append(s.learned[:0], 0) // its place is for the literal of the last decision's level
	here, place := 0, len(s.trail)       // variables of that level still to be explained; where on the trail
	now := int32(len(s.begins))
	for at := conflict; ; {
		for _, l := range s.clauses[at] {
			v := l.variable()
			if s.seen[v] || s.level[v] == 0 {
				continue
			}
			if s.value(l) == 1 { // what the clause concluded, itself being explained
				continue
			}
			s.seen[v] = true
			s.order.bump(v)
			if s.level[v] == now {
				here++
			} else {
				s.learned = append(s.learned, l)
			}
		}
		for place--; !s.seen[s.trail[place].variable()]; place-- {
		}
		v := s.trail[place].variable()
		s.seen[v] = false
		if here--; here == 0 {
			s.learned[0] = s.trail[place].not()
			break
		}
		at = s.reason[v]
	}
	s.order.decay()
	clause := slices.Clone(s.learned)
	for _, l := range clause[1:] {
		s.seen[l.variable()] = false
	}
	if len(clause) == 1 {
		s.backTo(0)
		s.assign(clause[0], none)
		return
	}
	latest := 1
	for i, l := range clause[1:] {
		if s.level[l.variable()] > s.level[clause[latest].variable()] {
			latest = i + 1
		}
	}
	clause[1], clause[latest] = clause[latest], clause[1]
	s.backTo(int(s.level[clause[1].variable()]))
	s.assign(clause[0], s.store(clause))
}
