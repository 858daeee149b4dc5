package counters

import (
	"math"

	"github.com/weft-fabric/weft/fabric"
)

// Tally adds up the errors that ports count from one look of weft watch to the next, so that none is lost where
// counters are cleared in between (ibqueryerrors -k): what stands there after that came since.
type Tally struct {
	ports map[port]*tallied
}

// port is a port, by the GUID of its node.
type port struct {
	guid   fabric.GUID
	number uint8
}

// tallied is what a port counted at the last look that knew it, and all that it counted over the looks.
type tallied struct{ last, sum Errors }

// Add takes over the counters of the next look, and is these with the sums of errors in place of the errors, also for
// ports that only earlier looks knew. changed: some counted on, or were cleared. now stays as it is.
func (t *Tally) Add(now *Counters, f *fabric.Fabric) (sums *Counters, changed bool) {
	if t.ports == nil {
		t.ports = map[port]*tallied{}
	}
	d := *now
	d.Received = make(map[fabric.ChannelID]Received, len(now.Received))
	for i, ch := range f.Channels() {
		at := fabric.ChannelID(i)
		key := port{f.Node(ch.From).GUID, ch.FromPort}
		r, there := now.Received[at]
		p := t.ports[key]
		if !there {
			if p == nil && !now.Listed {
				continue
			}
			r = Unknown()
		}
		d.Stopped += r.Errors.stopped()
		if p == nil {
			p = &tallied{last: noErrors(), sum: noErrors()}
			t.ports[key] = p
		}
		for c, v := range now.withZeros(r.Errors) {
			last, sum := &p.last[c], &p.sum[c]
			switch {
			case math.IsNaN(v) || v == *last:
				continue
			case math.IsNaN(*last):
				*sum = v
			case v < *last:
				*sum += v
			default:
				*sum += v - *last
			}
			*last, changed = v, true
		}
		r.Errors = p.sum
		d.Received[at] = r
	}
	return &d, changed
}

// Resume begins anew with what was known before a restart: the counters of the last look, and their sums.
func (t *Tally) Resume(last, sums *Counters, f *fabric.Fabric) {
	t.ports = map[port]*tallied{}
	for at, r := range sums.Received {
		p := &tallied{last: noErrors(), sum: r.Errors}
		if l, ok := last.Received[at]; ok {
			p.last = l.Errors
		}
		ch := f.Channel(at)
		t.ports[port{f.Node(ch.From).GUID, ch.FromPort}] = p
	}
}

// Last is what each port of a fabric counted at the last look that knew it.
func (t *Tally) Last(f *fabric.Fabric) *Counters {
	n := len(f.Channels())
	c := &Counters{Received: map[fabric.ChannelID]Received{}, Bytes: make([]float64, n), Wait: make([]float64, n), Known: make([]bool, n)}
	for i, ch := range f.Channels() {
		if p := t.ports[port{f.Node(ch.From).GUID, ch.FromPort}]; p != nil {
			r := Unknown()
			r.Errors = p.last
			c.Received[fabric.ChannelID(i)] = r
		}
	}
	return c
}

// withZeros is errors of a port; if c is from ibqueryerrors, which lists only what is above its thresholds, those that
// are not known are 0.
func (c *Counters) withZeros(e Errors) Errors {
	if c.Listed {
		for i, v := range e[:Effective] {
			if math.IsNaN(v) {
				e[i] = 0
			}
		}
	}
	return e
}
