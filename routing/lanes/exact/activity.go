package exact

// activity is the variables with an open value, in a heap, the one that was in
// most conflicts lately first. Variables that got a value meanwhile stay in it
// until they come up.
type activity struct {
	score []float64 // [variable]
	heap  []int32
	at    []int32 // [variable] its place in the heap; none
	step  float64 // what a conflict counts; grows, so that old ones fade
}

// fading and tooHigh: each conflict counts 5% more than the last, until the
// scores are scaled down by a power of two, which does not round.
const (
	fading  = 1.0 / 0.95
	tooHigh = 1 << 300
)

func (a *activity) add() {
	if a.step == 0 {
		a.step = 1
	}
	v := int32(len(a.score))
	a.score = append(a.score, 0)
	a.at = append(a.at, none)
	a.push(v)
}

func (a *activity) before(v, w int32) bool {
	return a.score[v] > a.score[w] || a.score[v] == a.score[w] && v < w
}

func (a *activity) push(v int32) {
	if a.at[v] == none {
		a.heap = append(a.heap, v)
		a.at[v] = int32(len(a.heap) - 1)
		a.up(a.at[v])
	}
}

// pop takes the first variable out that has no value.
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
		if assigned[is(v)] == 0 {
			return v, true
		}
	}
	return 0, false
}

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

func (a *activity) decay() { a.step *= fading }

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
