package daemon

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/installed"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/routing"
)

// handed is tables that were handed over, with what is needed to continue from them. Once a keeper has it, it is not
// changed any more: whoever wants to makes a copy.
type handed struct {
	*proven
	number    uint64 // by which the plugin knows them
	key       key    // of the fabric and settings they were handed over for
	settings  string // settings under which they may be kept
	state     installed.State
	balanced  []key // fabrics for which state.Goal was routed, or nothing better was found: see mayImprove
	grown     bool  // the fabric has links that state.Goal does not know
	open      bool  // a search for better tables goes on, or did when the daemon ended
	progress  *progress
	undrained string // why something that is drained carries traffic; empty: nothing does

	since since
	step  bool // the verdict's certificate is of every mixture with since.earlier
	hops  int  // the most switches that a packet leaves on its way under them
	used  bool // a question said that all switches have confirmed them
}

// since says when tables were handed over in place of others.
type since struct {
	at      time.Time
	earlier *routing.Tables // those others; nil: not known
	beside  *routing.Tables // what some switch had then in place of earlier; nil: all had earlier, or this was read back from disk
	number  uint64          // of earlier; 0: not known
}

// handedKept is how many of the tables handed over last the daemon remembers; the
// tables in use are among them.
const handedKept = 6

// keeper remembers what was handed over, the last handedKept and what is in use, also from before a restart.
type keeper struct {
	mu     sync.Mutex
	list   []*handed     // the last is at the end
	lost   string        // why tables that were handed over are not known any more; empty: there is no such reason
	loaded chan struct{} // closed when what a run before handed over is read back
	// When something began that waits for the disk, while that is read; nil: nothing does. It
	// is kept as it was taken: the clock may be set meanwhile, as it is at a start.
	disk atomic.Pointer[time.Time]
}

func newKeeper() *keeper { return &keeper{loaded: make(chan struct{})} }

// put records tables that are about to be handed over, as the answer to a question. Those that the
// question has in use stay known. closed: these tables were known, and the search for better ones, which was open, has
// ended.
func (k *keeper) put(h *handed, q *wire.Request) (closed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h.used = h.used || h.number == q.InUse && confirms(q)
	k.lost = "" // the answer with h says it
	if i := k.index(h.number); i >= 0 {
		closed = k.list[i].open && !h.open
	}
	k.list = append(slices.DeleteFunc(k.list, func(o *handed) bool { return o.number == h.number }), h)
	old := dropped(k.list, func(o *handed) bool { return o.number == q.InUse })
	k.list = slices.DeleteFunc(k.list, func(o *handed) bool { return slices.Contains(old, o) })
	return closed
}

// suspend forgets all that is known, since it may have led to an internal error; inUse then says why. resume brings it
// back.
func (k *keeper) suspend(why string) (resume func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	list, lost := k.list, k.lost
	k.list, k.lost = nil, why
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.list, k.lost = append(list, k.list...), lost
	}
}

// diskBegins and diskEnds are before and after waiting for the disk.
func (k *keeper) diskBegins() {
	now := time.Now()
	k.disk.Store(&now)
}

func (k *keeper) diskEnds() { k.disk.Store(nil) }

// diskPatience is how long a question waits at the most for the disk with what an earlier run
// handed over.
const diskPatience = firstAnswer / 2

// wait waits until what an earlier run handed over is known, however long it takes to read, but
// not for a disk that hangs.
func (k *keeper) wait(done <-chan struct{}) {
	for {
		select {
		case <-k.loaded:
			return
		case <-done:
			return
		case <-time.After(diskPatience / 20):
			if began := k.disk.Load(); began != nil && time.Since(*began) > diskPatience {
				return
			}
		}
	}
}

// endSearch records that nothing better was found than the tables of a number (0: those handed over
// last), which were the best so far, and returns them; nil: the search had ended, or these tables are not known.
func (k *keeper) endSearch(number uint64) *handed {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := len(k.list) - 1
	if number != 0 {
		i = k.index(number)
	}
	if i < 0 || !k.list[i].open {
		return nil
	}
	closed := *k.list[i]
	closed.open = false
	k.list[i] = &closed
	return &closed
}

// restore adds what an earlier run handed over, as older than what this one did, and ends the waiting for it.
func (k *keeper) restore(before []*handed) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before = slices.DeleteFunc(before, func(o *handed) bool {
		return slices.ContainsFunc(k.list, func(h *handed) bool { return h.number == o.number })
	})
	k.list = append(before, k.list...)
	close(k.loaded)
}

// inUse is the tables that a plugin has in use: by number or, if it has none (after a
// start of OpenSM), those handed over last. If these are not known or may not be kept,
// why says why; both are empty if there are none.
func (k *keeper) inUse(q *wire.Request, settings string) (h *handed, why string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := len(k.list) - 1
	if q.InUse != 0 {
		i = k.index(q.InUse)
	}
	switch {
	case i < 0 && k.lost != "":
		return nil, k.lost
	case i < 0 && q.InUse != 0:
		return nil, "OpenSM uses tables that this daemon does not know"
	case i < 0:
		return nil, ""
	case confirms(q) && !k.list[i].used:
		now := *k.list[i]
		now.used = true
		k.list[i] = &now
	}
	if !mayKeep(k.list[i].settings, settings) {
		return nil, "the tables in use are from other settings, or for more lanes than there are"
	}
	return k.list[i], ""
}

// keepable is the tables that are known and may be kept under the settings, the last first.
func (k *keeper) keepable(settings string) []*handed {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(k.list), func(h *handed) bool { return !mayKeep(h.settings, settings) })
	slices.Reverse(list)
	return list
}

// newest is the tables handed over last; nil: none are known.
func (k *keeper) newest() *handed {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.list) == 0 {
		return nil
	}
	return k.list[len(k.list)-1]
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

// unfinished is the tables that an earlier run handed over for a fabric, and that were proven again since, if its search
// for better ones was interrupted; nil: none.
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

// confirms reports whether all switches have confirmed the tables that a question has in use: its blocks
// are those that some switch has otherwise.
func confirms(q *wire.Request) bool { return q.InUse != 0 && len(q.Blocks) == 0 }

// settingsKey identifies the settings, and how many lanes there are, for mayKeep.
func (s *settings) settingsKey(lanes int) string { return fmt.Sprintf("%s %d", s.key(), lanes) }

// mayKeep reports whether tables made under some settings may be kept under others: the same, with as
// many lanes or more. There are more when the cable with the fewest breaks.
func mayKeep(made, now string) bool {
	key, lanes, _ := cutLast(made)
	nowKey, nowLanes, ok := cutLast(now)
	return ok && key == nowKey && lanes <= nowLanes
}

// cutLast cuts the number of lanes off a settingsKey. What is no settingsKey, it leaves whole.
func cutLast(settings string) (key string, lanes int, ok bool) {
	at := strings.LastIndexByte(settings, ' ')
	lanes, err := strconv.Atoi(settings[at+1:])
	if at < 0 || err != nil {
		return settings, 0, false
	}
	return settings[:at], lanes, true
}

// confirmed is the tables that the switches may have in part in place of h, which was handed over, as far as that is
// known when OpenSM asks (installed.State.Confirmed); nil: all have h. An OpenSM that was ended while it wrote h has no
// tables in use when it begins again: the switches may then have any part of those before.
func (h *handed) confirmed(q *wire.Request) *routing.Tables {
	if q.InUse == 0 && !h.used {
		return h.since.earlier
	}
	return reported(h.tables, q)
}

// beside is the tables that some switch may have as well (installed.State.Beside), if OpenSM was ended while it wrote h:
// what the switch had when h was handed over, if it had not confirmed the tables before h; nil: nothing.
func (h *handed) beside(q *wire.Request) *routing.Tables {
	if q.InUse == 0 && !h.used {
		return h.since.beside
	}
	return nil
}

// reported is tables t, which are in use, with the entries that switches have instead by the blocks of a
// request; nil: it has no blocks. An empty block (NoPort throughout), of a switch that OpenSM did
// not know for a while, says nothing about the switch: there the entries of t count.
func reported(t *routing.Tables, q *wire.Request) *routing.Tables {
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
