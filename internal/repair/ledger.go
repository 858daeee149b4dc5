package repair

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/routing"
)

// ledger is the tables that ripUp changes, the graph of them, and how many destinations cause each
// dependency. All changes go through its methods, so that they can be rolled back together.
type ledger struct {
	graph  *acyclic.Journal
	tables *routing.Forwarding
	count  []int32  // [dependency, as users number them] destinations that cause it by the new tables
	stays  []bool   // [dependency] no destination is moved off it
	log    []change // oldest first
}

// change is a change of a ledger.
type change struct {
	what   action
	set    *set          // caused
	number int32         // caused, uncounted, freed: the dependency
	stayed bool          // caused: before
	at     fabric.NodeID // edited
	lid    fabric.LID    // edited: its row
	was    uint8         // edited
}

type action uint8

const (
	caused    action = iota // a dependency by one destination more, which stays there
	uncounted               // a dependency by one destination fewer
	freed                   // a dependency: it need not stay
	edited                  // an entry
)

// ledgerCheckpoint is what a ledger can be rolled back to.
type ledgerCheckpoint struct{ log, graph int }

func (l *ledger) checkpoint() ledgerCheckpoint {
	return ledgerCheckpoint{len(l.log), l.graph.Checkpoint()}
}

func (l *ledger) rollback(to ledgerCheckpoint) {
	l.graph.Rollback(to.graph)
	for i := len(l.log) - 1; i >= to.log; i-- {
		switch x := &l.log[i]; x.what {
		case caused:
			l.count[x.number]--
			l.stays[x.number] = x.stayed
			x.set.has[x.number] = false
		case uncounted:
			l.count[x.number]++
		case freed:
			l.stays[x.number] = true
		case edited:
			l.tables.Row(x.lid)[x.at] = x.was
		}
	}
	l.log = l.log[:to.log]
}

// cause counts a dependency for one more destination, whose causes it is added to, and keeps others from being
// moved off it. It has to be in the graph.
func (l *ledger) cause(causes *set, d member) {
	causes.add(d)
	l.log = append(l.log, change{what: caused, number: int32(d.number), set: causes, stayed: l.stays[d.number]})
	l.count[d.number]++
	l.stays[d.number] = true
}

// uncount counts a dependency for one destination fewer, and removes it from the graph if that was the last.
func (l *ledger) uncount(d member) {
	l.log = append(l.log, change{what: uncounted, number: int32(d.number)})
	if l.count[d.number]--; l.count[d.number] == 0 && l.graph.Has(d.In, d.Out) {
		l.graph.Remove(d.Dependency)
	}
}

// free lets destinations be moved off a dependency.
func (l *ledger) free(number int) {
	l.log = append(l.log, change{what: freed, number: int32(number)})
	l.stays[number] = false
}

// edit sets the entry of switch at for a LID.
func (l *ledger) edit(lid fabric.LID, at fabric.NodeID, port uint8) {
	if row := l.tables.Row(lid); row[at] != port {
		l.log = append(l.log, change{what: edited, lid: lid, at: at, was: row[at]})
		row[at] = port
	}
}
