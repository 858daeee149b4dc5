package packets

// tally is what a region measures. It holds whole numbers only, so that the sums do not
// depend on how the network is divided.
type tally struct {
	measuring bool      // the window has begun
	all       histogram // of latencies, in the window, as are the next three
	net       int64     // ps, without the wait at the source
	hops      int64
	bytes     int64
	n, sum    int64 // packets, and ps, of the current batch
	last      Time  // time of the last delivery
}

// delivered counts a packet that arrives now.
func (w *tally) delivered(now Time, p *packet) {
	t := now - p.created
	w.last = now
	w.n++
	w.sum += int64(t)
	if !w.measuring {
		return
	}
	w.all.add(t)
	w.net += int64(now - p.injected)
	w.hops += int64(p.hops)
	w.bytes += int64(p.bytes)
}

// tallied is the sum of the tallies of all regions.
func (s *sim) tallied() *tally {
	all := &tally{}
	for _, r := range s.regions {
		t := &r.tally
		all.all.join(&t.all)
		all.net += t.net
		all.hops += t.hops
		all.bytes += t.bytes
		all.last = max(all.last, t.last)
	}
	return all
}
