package counters

import (
	"math"

	"github.com/weft-fabric/weft/fabric"
)

// Tally adds up the errors that ports count from one look to the next, so that none is lost where counters are
// cleared in between (ibqueryerrors -k): what stands there after that came since.
type Tally struct {
	ports map[port]*tallied
}

type port struct {
	guid   fabric.GUID
	number uint8
}

// tallied is what a port counted at the last look that knew it, and all that it counted over the looks.
type tallied struct{ last, sum Errors }

// Add is counters of a later look with the sums of errors in place of them, and of ports as well that other looks
// knew; changed: some counted on, or were cleared.
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
			p = &tallied{noErrors(), noErrors()}
			t.ports[key] = p
		}
		for c, v := range now.listed(r.Errors) {
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

// Resume continues with the last look and its sums from before a restart.
func (t *Tally) Resume(last, sums *Counters, f *fabric.Fabric) {
	t.ports = map[port]*tallied{}
	for at, r := range sums.Received {
		p := &tallied{noErrors(), r.Errors}
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

// listed is errors of a port, of which those are 0 that ibqueryerrors does not list: it lists what is above its
// thresholds.
func (c *Counters) listed(e Errors) Errors {
	if c.Listed {
		for i, v := range e[:Effective] {
			if math.IsNaN(v) {
				e[i] = 0
			}
		}
	}
	return e
}
