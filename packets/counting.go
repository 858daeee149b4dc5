package packets

// Counter is what the port that sends into a channel counts, as InfiniBand's ports do.
type Counter struct {
	Bytes int64 // sent, headers included
	Wait  Time  // PortXmitWait: it had something to send and sent nothing, for want of credits or of its turn
}

// counting is the counters of a port.
type counting struct {
	bytes int64
	wait  Time
	since Time // when it began to wait; none: it does not
}

// newCounting is the counters of so many ports, none of which waits.
func newCounting(ports int) []counting {
	all := make([]counting, ports)
	for i := range all {
		all[i].since = none
	}
	return all
}

// restart sets counters to zero at a time.
func restart(all []counting, now Time) {
	for i := range all {
		c := &all[i]
		c.bytes, c.wait = 0, 0
		if c.since != none {
			c.since = now
		}
	}
}

// countersOf is what the ports of channels have counted until a time.
func countersOf(all []counting, channels int, now Time) []Counter {
	if all == nil {
		return nil
	}
	counters := make([]Counter, channels)
	for i := range counters {
		c := &all[i]
		counters[i] = Counter{Bytes: c.bytes, Wait: c.wait}
		if c.since != none {
			counters[i].Wait += now - c.since
		}
	}
	return counters
}

// noteWait notes that a port has something to send, and so waits unless it is sending.
func (s *region) noteWait(o int32) {
	if s.counting != nil && !s.port(o).sending && s.counting[o].since == none {
		s.counting[o].since = s.wheel.now
	}
}

// noteWaitEnd notes that a port does not wait any more.
func (s *region) noteWaitEnd(o int32) {
	if s.counting != nil && s.counting[o].since != none {
		s.counting[o].wait += s.wheel.now - s.counting[o].since
		s.counting[o].since = none
	}
}

// noteSend notes that a port begins to send.
func (s *region) noteSend(o, bytes int32) {
	if s.counting != nil {
		s.noteWaitEnd(o)
		s.counting[o].bytes += int64(bytes)
	}
}
