package exact

// activity says which variable a solver decides next: of those that are open (have no
// value), the one that was in most conflicts lately (the heuristic VSIDS). All open
// variables are in its heap. One that gets a value stays in it until pop comes upon it, and
// is pushed again when the value is taken back.
type activity struct {
	score []float64 // [variable] the conflicts it was in, recent ones counting more
	heap  []int32   // [place] variables, a binary heap with the highest score first
	at    []int32   // [variable] its place in the heap; none: it is not there
	step  float64   // what the next conflict adds to a score
}

// growth and tooHigh: each conflict counts 1/0.95 times as much as the one before. Instead of
// lowering all older scores, the step is raised, until a score is too high: then all are divided
// by a power of two, which rounds only those that are next to nothing.
const (
	growth  = 1.0 / 0.95
	tooHigh = 1 << 300
)

// add adds the next variable, with no conflicts.
func (a *activity) add() {
	if a.step == 0 {
		a.step = 1
	}
	v := int32(len(a.score))
	a.score = append(a.score, 0)
	a.at = append(a.at, none)
	a.push(v)
}

// before reports whether variable v comes up before w.
func (a *activity) before(v, w int32) bool {
	return a.score[v] > a.score[w] || a.score[v] == a.score[w] && v < w
}

// push puts a variable in, unless it is there.
func (a *activity) push(v int32) {
	if a.at[v] == none {
		a.heap = append(a.heap, v)
		a.at[v] = int32(len(a.heap) - 1)
		a.up(a.at[v])
	}
}

// pop takes variables out until one is open, and returns that; not ok: all have values.
// assigned is the value of each literal, [literal], 0 where it is open.
func (a *activity) pop(assigned []int8) (v int32, ok bool) {
	for len(a.heap) > 0 {
		v = a.heap[0]
		last := a.heap[len(a.heap)-1]
		a.heap = a.heap[:len(a.heap)-1]
		a.at[v] = none
		if last != v {
			a.heap[0], a.at[last] = last, 0
			a.down(0)
		}
		if assigned[isTrue(v)] == 0 {
			return v, true
		}
	}
	return 0, false
}

// bump counts a conflict that a variable was in.
func (a *activity) bump(v int32) {
	a.score[v] += a.step
	if a.score[v] > tooHigh {
		for i := range a.score {
			a.score[i] /= tooHigh
		}
		a.step /= tooHigh
	}
	if a.at[v] != none {
		a.up(a.at[v])
	}
}

// decay is called after each conflict: those so far count less, as later ones count more.
func (a *activity) decay() { a.step *= growth }

// up, down and swap are by places in the heap, not variables.
func (a *activity) up(i int32) {
	for i > 0 && a.before(a.heap[i], a.heap[(i-1)/2]) {
		a.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (a *activity) down(i int32) {
	for {
		child := 2*i + 1
		if child >= int32(len(a.heap)) {
			return
		}
		if child+1 < int32(len(a.heap)) && a.before(a.heap[child+1], a.heap[child]) {
			child++
		}
		if !a.before(a.heap[child], a.heap[i]) {
			return
		}
		a.swap(i, child)
		i = child
	}
}

func (a *activity) swap(i, j int32) {
	a.heap[i], a.heap[j] = a.heap[j], a.heap[i]
	a.at[a.heap[i]], a.at[a.heap[j]] = i, j
}
