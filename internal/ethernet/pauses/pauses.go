// Package pauses reads what SONiC counts of priority flow control, show pfc counters and show pfcwd stats, and follows
// pauses through a network to where they come from.
//
// A port that receives a pause for a priority sends nothing in it until that ends; so packets wait in the device, which
// in the end pauses whoever sends to it. Whoever pauses a link therefore is the device behind it, because of links that lead on
// from there for the same packets, and so on, to hosts or to a circle.
package pauses

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
)

// Priorities is how many there are.
const Priorities = 8

// Counter is what a port has counted for a priority since it was set to zero.
type Counter struct {
	Interface string
	Priority  uint8
	Received  uint64 // pause frames that stopped the port
	Sent      uint64 // pause frames that stopped the port at the other end
	Storms    uint64 // that the watchdog saw
	Dropped   uint64 // packets that it dropped, of those to be sent and received
	InStorm   bool   // a storm goes on, and the watchdog holds the queue
}

// key is what a counter counts for.
type key struct {
	port     string
	priority uint8
}

// counters collects by port and priority, in the order of the file.
type counters struct {
	index map[key]int
	list  []Counter
}

// at is the counter of a port and priority, which it adds where there is none. It is valid until the next call.
func (c *counters) at(port string, priority uint8) *Counter {
	if c.index == nil {
		c.index = map[key]int{}
	}
	k := key{port, priority}
	i, known := c.index[k]
	if !known {
		i = len(c.list)
		c.index[k] = i
		c.list = append(c.list, Counter{Interface: port, Priority: priority})
	}
	return &c.list[i]
}

// Read reads show pfc counters: a table with Port Rx and one with Port Tx as the first head, and a column for each priority.
func Read(r io.Reader, file string) ([]Counter, error) {
	var c counters
	var columns []uint8
	sent, seen := false, false // the table is that of Tx; a table has begun
	lines := reading.NewLines(r, file)
	for lines.Next() {
		words := strings.Fields(string(lines.Text()))
		switch {
		case len(words) == 0 || strings.Trim(words[0], "-") == "":
			continue
		case words[0] == "Port" && len(words) > 2 && (words[1] == "Rx" || words[1] == "Tx"):
			sent, seen, columns = words[1] == "Tx", true, columns[:0]
			for _, w := range words[2:] {
				p, err := strconv.ParseUint(strings.TrimPrefix(w, "PFC"), 10, 8)
				if err != nil || p >= Priorities {
					return nil, lines.Errorf("%q is not a priority, PFC0 to PFC%d", reading.Printable(w), Priorities-1)
				}
				columns = append(columns, uint8(p))
			}
			continue
		case !seen: // what is printed before, such as when counters were last cleared
			continue
		}
		if len(words) != len(columns)+1 {
			return nil, lines.Errorf("%d columns, and the head has %d", len(words), len(columns)+1)
		}
		for i, w := range words[1:] {
			n, err := number(w)
			if err != nil {
				return nil, lines.Errorf("%v", err)
			}
			if at := c.at(words[0], columns[i]); sent {
				at.Sent = n
			} else {
				at.Received = n
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if !seen {
		return nil, format.Errorf(file, 1, "no table of show pfc counters: it has a line with Port Rx or Port Tx and the priorities")
	}
	return c.list, nil
}

// ReadWatchdog reads show pfcwd stats: a line for each queue that had a storm, such as Ethernet0:3, with how often, and what was
// sent and dropped.
func ReadWatchdog(r io.Reader, file string) ([]Counter, error) {
	var c counters
	seen := false
	lines := reading.NewLines(r, file)
	for lines.Next() {
		words := strings.Fields(string(lines.Text()))
		switch {
		case len(words) == 0 || strings.Trim(words[0], "-") == "":
			continue
		case words[0] == "QUEUE":
			seen = true
			continue
		case !seen:
			continue
		}
		port, queue, ok := cutLastColon(words[0])
		p, err := strconv.ParseUint(queue, 10, 8)
		if !ok || err != nil || p >= Priorities {
			return nil, lines.Errorf("%q is not a port and a priority, such as Ethernet0:3", reading.Printable(words[0]))
		}
		if len(words) < 5 {
			return nil, lines.Errorf("%d columns: a line has queue, status, storms detected and restored, and packets sent and dropped", len(words))
		}
		at := c.at(port, uint8(p))
		at.InStorm = words[1] == "stormed"
		for i, w := range words[2:5] {
			first, second, ok := strings.Cut(w, "/")
			a, err := number(first)
			b, err2 := number(second)
			if err = cmp.Or(err, err2); err != nil || !ok {
				return nil, lines.Errorf("%q is not two numbers, such as 1/0", reading.Printable(w))
			}
			if i == 0 { // storms detected and restored
				at.Storms = a
			} else { // packets that passed and were dropped: those sent, then those received
				at.Dropped += b
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if !seen {
		return nil, format.Errorf(file, 1, "no table of show pfcwd stats: it has a line with QUEUE and STATUS")
	}
	return c.list, nil
}

// cutLastColon splits Ethernet0:3 into port and queue.
func cutLastColon(text string) (before, after string, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 1 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// number reads a count, with commas between thousands; N/A is zero.
func number(text string) (uint64, error) {
	if text == "N/A" {
		return 0, nil
	}
	n, err := strconv.ParseUint(strings.ReplaceAll(text, ",", ""), 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", reading.Printable(text))
	}
	return n, nil
}

// Merge adds up the counters of two files about the same device, those of a first.
func Merge(a, b []Counter) []Counter {
	var c counters
	for _, list := range [][]Counter{a, b} {
		for _, x := range list {
			at := c.at(x.Interface, x.Priority)
			at.Received, at.Sent, at.Storms, at.Dropped = at.Received+x.Received, at.Sent+x.Sent, at.Storms+x.Storms, at.Dropped+x.Dropped
			at.InStorm = at.InStorm || x.InStorm
		}
	}
	return c.list
}

// Since is what was counted since before, in the order of now. Counters that went back were set to zero, or the device was
// started again: they count from there.
func Since(now, before []Counter) []Counter {
	was := map[key]Counter{}
	for _, x := range before {
		was[key{x.Interface, x.Priority}] = x
	}
	counted := func(now, before uint64) uint64 {
		if now < before {
			return now
		}
		return now - before
	}
	list := slices.Clone(now)
	for i := range list {
		x := &list[i]
		b := was[key{x.Interface, x.Priority}]
		x.Received, x.Sent, x.Storms, x.Dropped = counted(x.Received, b.Received), counted(x.Sent, b.Sent), counted(x.Storms, b.Storms), counted(x.Dropped, b.Dropped)
	}
	return list
}
