package daemon

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/clock"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/opensm/installed"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// The states of parts that are to be kept free.
const (
	Later     = "later"      // its time has not come
	Waiting   = "waiting"    // OpenSM has not asked since it was ordered
	Leaving   = "leaving"    // a plan is under way
	Free      = "free"       // it can be pulled: no packet is on it that could go another way
	StillUsed = "still used" // no safe steps lead away from it as the network is
)

// drained is the list of the parts that are to be kept free; the zero value is none.
type drained struct {
	mu      sync.Mutex
	list    []result.Drained
	changed chan struct{} // closed when the list is another; nil: nobody waits for that
}

// all is the whole list.
func (d *drained) all() []result.Drained {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.list)
}

// set makes a list the one that counts, and ends the waiting of those who wait for another.
func (d *drained) set(list []result.Drained) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = list
	if d.changed != nil {
		close(d.changed)
		d.changed = nil
	}
}

// placesNow is the places that are to be free now, by the times of their orders, and what is closed when the list is
// another.
func (d *drained) placesNow(c clock.Clock) (installed.Drained, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var places installed.Drained
	var at time.Time // looked at only where it matters
	if len(d.list) > 0 {
		at = c.Now()
	}
	for _, p := range d.list {
		if !at.Before(p.After) && (p.Until == nil || at.Before(*p.Until)) && !slices.Contains(places, p.Place) {
			places = append(places, p.Place)
		}
	}
	slices.SortFunc(places, func(a, b result.Location) int {
		return cmp.Or(cmp.Compare(a.GUID, b.GUID), cmp.Compare(a.Port, b.Port))
	})
	if d.changed == nil {
		d.changed = make(chan struct{})
	}
	return places, d.changed
}

// untilNext is how long it is until some part is to be free, or need not be any more; at most clockLook, since
// the clock may be set.
func (d *drained) untilNext(c clock.Clock) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	wait := clockLook
	if len(d.list) == 0 {
		return wait
	}
	at := c.Now()
	for _, p := range d.list {
		for _, t := range []*time.Time{&p.After, p.Until} {
			if t != nil && t.After(at) {
				wait = min(wait, t.Sub(at))
			}
		}
	}
	return wait
}

// errNothingOrdered is the answer to a question that stayed open until its time was over.
var errNothingOrdered = errors.New("nothing was ordered")

// errEnding is the answer to an open question when the daemon ends.
var errEnding = errors.New("the daemon ends")

// keepOpen keeps a question open until other parts are to be drained than now, and then returns nil: follow calls it
// for a plugin that has all that there is. An error is why it ended without that. ordered is what placesNow
// returned.
func (s *Server) keepOpen(ctx context.Context, x *place, q *wire.Request, start time.Time, ordered <-chan struct{}) error {
	free, _ := s.drained.placesNow(s.clock)
	gone := x.watchHangUp()
	defer gone.stop()
	for {
		wait := s.drained.untilNext(s.clock)
		if q.Deadline > 0 {
			left := working(q) - time.Since(start)
			if left <= 0 {
				return errNothingOrdered
			}
			wait = min(wait, left)
		}
		select {
		case <-ordered:
			return nil
		case <-time.After(wait):
			if now, _ := s.drained.placesNow(s.clock); !now.Equal(free) {
				return nil
			}
		case <-gone.hungUp:
			return errPlaceLost
		case <-x.lost:
			return errPlaceLost
		case <-s.ending:
			return errEnding
		case <-ctx.Done():
			return errEnding
		}
	}
}

// bringBack takes parts off the list as their time ends, whether OpenSM asks then or does not run.
func (s *Server) bringBack(ctx context.Context) {
	for {
		_, ordered := s.drained.placesNow(s.clock)
		select {
		case <-ordered:
		case <-time.After(s.drained.untilNext(s.clock)):
			s.expire()
		case <-ctx.Done():
			return
		}
	}
}

// expire takes parts off the list whose time is over, in the state folder as well.
func (s *Server) expire() {
	s.ordering.Lock()
	defer s.ordering.Unlock()
	list := s.drained.all()
	if len(list) == 0 {
		return
	}
	now, left := s.clock.Now(), []result.Drained{}
	for _, p := range list {
		if p.Until == nil || now.Before(*p.Until) {
			left = append(left, p)
			continue
		}
		s.logOrder(events.Undrain, &p, "its time, which is over")
	}
	if len(left) == len(list) {
		return
	}
	s.drained.set(left)
	s.showMissing()
	s.writer.writeDrained(left)
}

// hangUp watches whether the other end of a connection hangs up.
type hangUp struct {
	hungUp chan struct{} // closed when it does
	ended  chan struct{} // closed when nothing reads the connection any more
	conn   interface{ SetReadDeadline(time.Time) error }
}

// watchHangUp watches a connection whose question has been read, until stop: whatever follows it is the end.
func (x *place) watchHangUp() *hangUp {
	l := &hangUp{hungUp: make(chan struct{}), ended: make(chan struct{}), conn: x.conn}
	if err := x.conn.SetDeadline(time.Time{}); err != nil {
		close(l.hungUp)
		close(l.ended)
		return l
	}
	go func() {
		defer close(l.ended)
		if _, err := x.conn.Read(make([]byte, 1)); err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			close(l.hungUp)
		}
	}()
	return l
}

// stop ends the watching: after it the connection can be read again.
func (l *hangUp) stop() {
	_ = l.conn.SetReadDeadline(time.Unix(1, 0)) // fails only if it is closed already
	<-l.ended
}

// standing counts the questions of OpenSM that are open. Its plugin keeps at least one open as long as OpenSM runs.
type standing struct {
	mu   sync.Mutex
	open int
	last time.Time // when there was one last
	pid  int       // of the process that asked last; 0: not known, as from a container that this one does not see into
}

// begin counts a question of a process as open until end is called.
func (n *standing) begin(pid int) (end func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open++
	n.last, n.pid = time.Now(), pid
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.open--
		n.last = time.Now()
	}
}

// connected reports whether OpenSM has a question open, or had a moment ago and its process still lives: one that
// is dead is told at once.
func (n *standing) connected() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.open > 0 || !n.last.IsZero() && time.Since(n.last) < betweenQuestions && lives(n.pid)
}

// lives reports whether a process is there, as far as that is known.
func lives(pid int) bool { return pid <= 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// betweenQuestions is how long OpenSM may take between an answer and its next question.
const betweenQuestions = 10 * time.Second

// element is the part as events name it.
func element(p *result.Drained) *result.Element {
	return &result.Element{Kind: p.Kind, Name: p.Part, GUID: p.Place.GUID.String(), Port: p.Place.Port}
}

// openEvents opens the log of events, below the state folder if that can be written.
func (s *Server) openEvents(dir string) {
	if s.writer == nil {
		return
	}
	s.events = events.New("serve")
	s.events.Add(result.Event{At: time.Now(), What: events.Begin, Text: s.Version})
	go func() {
		if !s.writer.isFound() {
			return
		}
		if all, _, err := events.Read(dir); err == nil {
			var missing []result.MissingElement
			for _, e := range all {
				switch {
				case e.Part == nil:
				case e.What == events.Gone:
					missing = events.Miss(missing, []result.Element{*e.Part}, nil, e.At)
				case e.What == events.Came:
					missing = events.Miss(missing, nil, []result.Element{*e.Part}, e.At)
				}
			}
			s.mu.Lock()
			s.status.Missing = append(missing, s.status.Missing...)
			s.cables.recent = append(slices.DeleteFunc(all, func(e result.Event) bool { return e.What != events.Gone || time.Since(e.At) > trouble.Flapping }), s.cables.recent...)
			s.mu.Unlock()
			s.showMissing()
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			s.Log.Error("events are not kept", "error", err)
			return
		}
		s.events.To(root, s.Log)
	}()
}

// drainedName is the file with the parts that are to be kept free.
const drainedName = "drained.json"

// drained writes the list of parts that are to be kept free.
func (s *state) drained(list []result.Drained) error { return s.whole(drainedName, whole.JSON(list)) }

// readDrained reads it back.
func readDrained(root *os.Root) ([]result.Drained, error) {
	b, err := readFile(root, drainedName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []result.Drained
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(b))
		if err = d.Decode(&list); err == nil {
			if _, more := d.Token(); more != io.EOF {
				err = errors.New("more follows the list")
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", drainedName, err)
	}
	return list, nil
}

// drainedWithStates is the parts that are to be kept free, with their states by what was handed over last. The caller
// holds mu.
func (s *Server) drainedWithStates() []result.Drained {
	list := append([]result.Drained{}, s.drained.all()...)
	if len(list) == 0 || s.keeper == nil {
		return list
	}
	h, now := s.keeper.newest(), s.clock.Now()
	for i := range list {
		p := &list[i]
		p.Gone = goneFrom(p, h)
		switch {
		case now.Before(p.After):
			p.State = Later
		case h == nil || !slices.Contains(h.state.Drained, p.Place):
			p.State = Waiting
		case h.undrained != "":
			p.State, p.Why = StillUsed, h.undrained
		case !s.settled(h):
			p.State = Leaving
		default:
			p.State, p.Over = Free, s.over.endpoints(h, p)
			if n := len(p.Over); n > 0 {
				p.State = StillUsed
				p.Why = fmt.Sprintf("pulling it would cut off %s, to which packets lead over it: %s; it is drained once they can go another way", words.Plural(n, "endpoint"), words.FirstWith(p.Over, "weft status --json has all"))
			}
		}
	}
	return list
}

// goneFrom reports whether a part is missing in the network for which h, the tables handed over last, are; false if h is nil.
func goneFrom(p *result.Drained, h *handed) bool {
	if h == nil {
		return false
	}
	f := h.tables.Fabric
	at := f.NodeByGUID(p.Place.GUID)
	return at == fabric.None || p.Place.Port > 0 && f.Trunk(at, p.Place.Port) == fabric.None
}

// noteFree sets s.free to the parts that nothing uses as a question comes: those that are gone by this question
// were pulled on purpose.
func (s *Server) noteFree() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = s.free[:0]
	for _, p := range s.drainedWithStates() {
		if p.State == Free {
			s.free = append(s.free, p)
		}
	}
}

// matches reports whether an element of an event is this part.
func matches(p *result.Drained, e result.Element) bool {
	return p.Kind == e.Kind && p.Place.GUID.String() == e.GUID && p.Place.Port == e.Port
}

// pulledOnPurpose reports whether what is missing was drained and free of traffic when it went, and is drained still.
func (s *Server) pulledOnPurpose(m result.MissingElement) bool {
	return m.Drained && slices.ContainsFunc(s.drained.all(), func(p result.Drained) bool { return matches(&p, m.Element) })
}

// showMissing has metrics name what is missing now. The caller does not hold mu.
func (s *Server) showMissing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.metrics.showMissing(events.Shown(s.status.Missing, mostShown), s.pulledOnPurpose)
}

// overParts remembers which endpoints are reached over drained parts by the tables that were handed over last: a
// repair that can do no better uses such parts.
type overParts struct {
	handed *handed
	who    map[result.Location][]string
}

// endpoints is the endpoints that are reached over a part by h, except those that its order knew to be cut off without
// the part.
func (o *overParts) endpoints(h *handed, p *result.Drained) []string {
	if o.handed != h {
		*o = overParts{handed: h, who: map[result.Location][]string{}}
	}
	who, ok := o.who[p.Place]
	if !ok {
		who = reachedOver(h.tables, p.Place)
		o.who[p.Place] = who
	}
	return slices.DeleteFunc(slices.Clone(who), func(name string) bool { return slices.Contains(p.Cut, name) })
}

// reachedOver is the names of the host adapters to which packets of host adapters lead over a part.
func reachedOver(t *routing.Tables, place result.Location) (who []string) {
	f := t.Fabric
	at, cable := f.NodeByGUID(place.GUID), fabric.ChannelID(fabric.None)
	if at == fabric.None || f.Node(at).Kind != fabric.Switch {
		return nil
	}
	if place.Port > 0 {
		if cable = f.Trunk(at, place.Port); cable == fabric.None {
			return nil
		}
	}
	var from []fabric.NodeID // switches with endpoints
	for s, ends := range routing.HCA.Ends(f) {
		if ends {
			from = append(from, fabric.NodeID(s))
		}
	}
	seen := make([]fabric.LID, f.Switches()) // the last LID that a walk came by with
	for lid, e := range routing.HCA.LIDs(f) {
		for _, s := range from {
			for seen[s] != lid {
				seen[s] = lid
				c := f.Trunk(s, t.Forwarding.Port(s, lid))
				if c == fabric.None { // it is there, or goes nowhere
					break
				}
				s = f.Channel(c).To
				if c == cable || f.Channel(c).Reverse == cable || place.Port == 0 && s == at {
					if name := f.EndpointLabel(e); !slices.Contains(who, name) {
						who = append(who, name)
					}
				}
			}
		}
	}
	return who
}

// settled reports whether no step follows tables that all switches have confirmed so long ago that no
// packet of those before is about. The caller holds mu.
func (s *Server) settled(h *handed) bool {
	lingers := time.Duration(h.hops) * cmp.Or(s.lifetime, defaultLifetime)
	return h.settled() && s.inUse == h.number && time.Since(s.inUseSince) > lingers
}
