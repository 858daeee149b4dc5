package deadlock

// A packet that has several ways on is sure to arrive only if it does by each of them. The search below goes
// through the places that the packets of a flow can come to, in depth, and takes the worst that can follow.

// searched is a place on the way of the search.
type searched struct {
	place int32
	next  int // what to look at next of its ways
}

// judgeAlone notes what becomes of the packets of every source by each of several tables alone.
func (w *relationWalker) judgeAlone() {
	k := len(w.d.tables)
	if k == 1 || !w.differ {
		return // as by all of them together
	}
	for i := range k {
		w.search(i, i+1)
		for n := range w.starts {
			if b := &w.starts[n]; w.sends(b) {
				w.alone[n*k+i] = max(w.alone[n*k+i], w.fateOf(b))
			}
		}
	}
}

// search finds the places that packets of the flow come to by the tables from low to high-1, an order of them, and
// what becomes of packets at each.
func (w *relationWalker) search(low, high int) {
	w.low, w.high = low, high
	w.flow++
	w.order, w.pool, w.masks = w.order[:0], w.pool[:0], w.masks[:0]
	w.circle, w.drops = false, false
	for i := range w.starts {
		b := &w.starts[i]
		if !w.sends(b) {
			continue
		}
		for k := range w.where() {
			w.searchFrom(w.place(k, b.s, b.g.port))
		}
	}
}

// fateOf is the worst that becomes of packets of some sources by the tables of the last search.
func (w *relationWalker) fateOf(b *start) (worst fate) {
	for i := range w.where() {
		worst = max(worst, w.fates[w.place(i, b.s, b.g.port)])
	}
	return worst
}

// searchFrom searches from a place. In a circle every place must be marked: the first one that is finished leads to
// one still open, and each other leads to one finished before it or still open.
func (w *relationWalker) searchFrom(place int32) {
	open, done := 2*w.flow, 2*w.flow+1
	if w.seen[place] == done {
		return
	}
	w.enter(place)
	several := w.where()
	for len(w.visit) > 0 {
		top := &w.visit[len(w.visit)-1]
		at := top.place
		on := w.at[at].trunks
		if top.next == len(on)*several {
			w.seen[at] = done
			w.order = append(w.order, at)
			if w.visit = w.visit[:len(w.visit)-1]; len(w.visit) > 0 {
				w.worsen(w.visit[len(w.visit)-1].place, w.fates[at])
			}
			continue
		}
		i, c := top.next%several, on[top.next/several]
		top.next++
		switch next := w.after(i, c); w.seen[next] {
		case done:
			w.worsen(at, w.fates[next])
		case open:
			w.circle = true
			w.worsen(at, lost+fate(Circles))
		default:
			w.enter(next)
		}
	}
}

// enter begins the search at a place.
func (w *relationWalker) enter(place int32) {
	w.findWays(place)
	w.seen[place], w.fates[place] = 2*w.flow, arrives
	if to := &w.at[place]; to.stops {
		w.fates[place] = to.end
	}
	w.visit = append(w.visit, searched{place: place})
}

// worsen makes the fate at a place that of a place that packets can go on to, if that
// is worse.
func (w *relationWalker) worsen(place int32, f fate) { w.fates[place] = max(w.fates[place], f) }
