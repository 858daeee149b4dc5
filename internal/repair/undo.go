package repair

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
)

// logged is a change of a way that can be taken back.
type logged struct {
	by     *placer            // caused
	of     acyclic.Dependency // added, removed
	number int32              // caused, uncounted, freed
	at     fabric.NodeID      // edited
	lid    fabric.LID         // edited: its row
	was    uint8              // edited
	stayed bool               // caused: before
	what   action
}

type action uint8

const (
	added     action = iota // a dependency to the graph
	removed                 // a dependency from the graph
	caused                  // a dependency by one destination more, which stays there
	uncounted               // a dependency by one destination fewer
	freed                   // a dependency: it need not stay
	edited                  // an entry
)

// undo takes back all changes but so many.
func (w *way) undo(but int) {
	for i := len(w.log) - 1; i >= but; i-- {
		switch x := &w.log[i]; x.what {
		case added:
			w.graph.Remove(x.of.In, x.of.Out)
		case removed:
			if !w.graph.Add(x.of.In, x.of.Out) {
				panic("repair: a dependency that was there closes a cycle")
			}
		case caused:
			w.count[x.number]--
			w.stays[x.number] = x.stayed
			x.by.causes.has[x.number] = false
		case uncounted:
			w.count[x.number]++
		case freed:
			w.stays[x.number] = true
		case edited:
			w.Tables.Forwarding.Row(x.lid)[x.at] = x.was
		}
	}
	w.log = w.log[:but]
}

// add adds a dependency to the graph, unless it closes a cycle.
func (w *way) add(d acyclic.Dependency) bool {
	if !w.graph.Add(d.In, d.Out) {
		return false
	}
	w.log = append(w.log, logged{what: added, of: d})
	return true
}

// remove takes a dependency out of the graph.
func (w *way) remove(d acyclic.Dependency) {
	w.graph.Remove(d.In, d.Out)
	w.log = append(w.log, logged{what: removed, of: d})
}

// cause is that a destination causes a dependency.
func (w *way) cause(p *placer, d member) {
	n := d.number
	p.causes.add(d)
	w.log = append(w.log, logged{what: caused, number: int32(n), by: p, stayed: w.stays[n]})
	w.count[n]++
	w.stays[n] = true
}

// uncount is that a destination does not cause a dependency any more.
func (w *way) uncount(d member) {
	w.log = append(w.log, logged{what: uncounted, number: int32(d.number)})
	if w.count[d.number]--; w.count[d.number] == 0 && w.graph.Has(d.In, d.Out) {
		w.remove(d.Dependency)
	}
}

// free is that destinations may be moved off a dependency.
func (w *way) free(number int) {
	w.log = append(w.log, logged{what: freed, number: int32(number)})
	w.stays[number] = false
}

// edit gives a switch an entry.
func (w *way) edit(lid fabric.LID, at fabric.NodeID, port uint8) {
	if row := w.Tables.Forwarding.Row(lid); row[at] != port {
		w.log = append(w.log, logged{what: edited, lid: lid, at: at, was: row[at]})
		row[at] = port
	}
}
