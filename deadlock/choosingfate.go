package deadlock

// A packet that chooses is sure to arrive only if it does whatever the switches choose.
// The search below goes through the places that the packets of a flow can come to, in
// depth, and takes the worst that can follow. A flow is the packets of one kind and
// service level to one LID, numbered by chooser.flow.

// searched is a place on the way of the search.
type searched struct {
	place int32
	next  int // the trunk of its ways to look at next
}

// judgeFates notes what becomes of the packets of every source.
func (w *chooser) judgeFates() {
	for i := range w.starts {
		if b := &w.starts[i]; w.sends(b) {
			b.why = max(b.why, w.fateFrom(w.place(b.s, b.g.port)))
		}
	}
}

// fateFrom is the worst that can become of a packet at a place.
func (w *chooser) fateFrom(place int32) fate {
	open, done := 2*w.flow, 2*w.flow+1
	if w.seen[place] == done {
		return w.fates[place]
	}
	w.enter(place)
	for len(w.visit) > 0 {
		top := &w.visit[len(w.visit)-1]
		at := top.place
		trunks := w.waysAt(at).trunks
		if top.next == len(trunks) {
			w.seen[at] = done
			if w.visit = w.visit[:len(w.visit)-1]; len(w.visit) > 0 {
				w.worsen(w.visit[len(w.visit)-1].place, w.fates[at])
			}
			continue
		}
		c := trunks[top.next]
		top.next++
		switch next := w.place(w.f.Heads()[c], w.f.Channel(c).ToPort); w.seen[next] {
		case done:
			w.worsen(at, w.fates[next])
		case open:
			w.worsen(at, lost+fate(Circles))
		default:
			w.enter(next)
		}
	}
	return w.fates[place]
}

// enter begins the search at a place.
func (w *chooser) enter(place int32) {
	w.seen[place], w.fates[place] = 2*w.flow, arrives
	if to := w.waysAt(place); to.stops {
		w.fates[place] = to.end
	}
	w.visit = append(w.visit, searched{place: place})
}

// worsen makes the fate at a place that of a place that packets can go on to, if that
// is worse.
func (w *chooser) worsen(place int32, f fate) { w.fates[place] = max(w.fates[place], f) }
