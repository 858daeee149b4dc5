package daemon

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/opensm/installed"
	"github.com/weft-fabric/weft/opensm/wire"
	"github.com/weft-fabric/weft/routing"
)

// handed is tables that were handed over, with what is needed to continue from them.
type handed struct {
	*proven
	number   uint64 // by which the plugin knows them
	key      key    // of the fabric and settings they were handed over for
	settings string // settings under which they may be kept
	state    installed.State
	balanced []key // fabrics that the goal was routed for, or for which nothing better was found
	grown    bool  // the fabric has links that the goal does not know
	open     bool  // a search for better tables goes on, or did when the daemon ended
	progress *Progress

	since since
	hops  int // switches that a packet has to leave at most under them
}

// since says when tables were handed over in place of others.
type since struct {
	at      time.Time
	earlier *routing.Tables // those others; nil: not known
}

// handedKept is how many of the tables handed over last the daemon remembers; the
// tables in use are among them.
const handedKept = 6

// keeper remembers what was handed over.
type keeper struct {
	mu     sync.Mutex
	list   []*handed     // the last is at the end
	loaded chan struct{} // closed when what a run before handed over is read back
}

func newKeeper() *keeper { return &keeper{loaded: make(chan struct{})} }

// put records tables that are about to be handed over.
func (k *keeper) put(h *handed) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(slices.DeleteFunc(k.list, func(o *handed) bool { return o.number == h.number }), h)
	k.list = k.list[max(0, len(k.list)-handedKept):]
}

// close records that nothing better was found than tables that were the best so far.
func (k *keeper) close(number uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, h := range k.list {
		if h.number == number || number == 0 && i == len(k.list)-1 {
			closed := *h
			closed.open = false
			k.list[i] = &closed
		}
	}
}

// restore adds what an earlier run handed over, before what this one did.
func (k *keeper) restore(before []*handed) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before = slices.DeleteFunc(before, func(o *handed) bool {
		return slices.ContainsFunc(k.list, func(h *handed) bool { return h.number == o.number })
	})
	k.list = append(before, k.list...)
	close(k.loaded)
}

// headStart is how long a question waits at the most for what an earlier run handed over:
// a disk that hangs is not waited for.
const headStart = firstAnswer / 2

// inUse is the tables that a plugin has in use: by number or, if it has none (after a
// start of OpenSM), those handed over last. If these are not known or may not be kept,
// why says why; both are empty if there are none.
func (k *keeper) inUse(number uint64, settings string) (h *handed, why string) {
	select {
	case <-k.loaded:
	case <-time.After(headStart):
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	i := len(k.list) - 1
	if number != 0 {
		i = k.index(number)
	}
	switch {
	case i < 0 && number != 0:
		return nil, "OpenSM uses tables that this daemon does not know"
	case i < 0:
		return nil, ""
	case k.list[i].settings != settings:
		return nil, "the tables in use are from other settings, or for another number of lanes"
	}
	return k.list[i], ""
}

// index is where tables are in the list; -1: they are not known.
func (k *keeper) index(number uint64) int {
	return slices.IndexFunc(k.list, func(h *handed) bool { return h.number == number })
}

// find is the tables of a number; nil: they are not known.
func (k *keeper) find(number uint64) *handed {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := k.index(number); i >= 0 {
		return k.list[i]
	}
	return nil
}

// unfinished is the tables that an earlier run handed over for a fabric as the best so far,
// once they were proven again; nil: none.
func (k *keeper) unfinished(of key) *proven {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, h := range k.list {
		if h.key == of && h.open && h.restored && h.verdict != nil {
			return h.proven
		}
	}
	return nil
}

// settingsKey identifies the settings that tables must have been made under to be kept.
func (s *settings) settingsKey(lanes int) string { return fmt.Sprintf("%s %d", s.key(), lanes) }

// confirmed is the tables in use as the switches have confirmed them by a request; nil:
// the request says nothing. An empty block, of a switch that OpenSM did not know for a
// while, says nothing about the switch: its entries count as those of the tables.
func confirmed(t *routing.Tables, q *wire.Request) *routing.Tables {
	if len(q.Blocks) == 0 {
		return nil
	}
	f := t.Fabric
	fw := t.Forwarding.Clone()
	var rows []fabric.NodeID // [switch of the request] the switch in the fabric of the tables, or None
	for i := range q.Nodes {
		if q.Nodes[i].Kind == fabric.Switch {
			rows = append(rows, f.NodeByGUID(q.Nodes[i].GUID))
		}
	}
	for _, b := range q.Blocks {
		s := rows[b.Switch]
		if s == fabric.None || int(s) >= f.Switches() {
			continue
		}
		for i, port := range b.Ports {
			lid := fabric.LID(b.Number*len(b.Ports) + i)
			if port != routing.NoPort && lid <= f.TopLID() && f.Owner(lid) != fabric.None {
				fw.Row(lid)[s] = port
			}
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: t.Lanes}
}
