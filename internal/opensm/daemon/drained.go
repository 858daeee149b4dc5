package daemon

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/clock"
	"github.com/weft-fabric/weft/internal/events"
	nodenames "github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/opensm/installed"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
)

// Order is what weft drain --live and weft undrain tell the daemon.
type Order struct {
	Do    string        `json:"do"`              // drain or undrain
	Parts []string      `json:"parts"`           // switches by name, cables as NAME:PORT; of undrain, none are all
	After time.Duration `json:"after,omitempty"` // from now, when it is to begin
	For   time.Duration `json:"for,omitempty"`   // from then, after which the parts come back by themselves; 0: not at all
	Force bool          `json:"force,omitempty"` // also where hosts are cut off when the parts are pulled
	ID    string        `json:"id,omitempty"`    // of drain: by which it can be taken back; of undrain: the drain that is, and what was ordered before it stands again
}

// What an order says is to be done.
const (
	DrainOrder   = "drain"
	UndrainOrder = "undrain"
)

// Ordered is the answer to an order.
type Ordered struct {
	Refused string    `json:"refused,omitempty"` // why nothing is done; empty: it is
	Parts   []Drained `json:"parts"`             // that the order is about
	Steps   int       `json:"steps"`             // of the plan, by the tables in use now
	Entries int       `json:"entries"`           // of forwarding tables, that all steps change
	Cut     []string  `json:"cut"`               // endpoints that are cut off when the parts are pulled
	Kept    string    `json:"kept,omitempty"`    // why a restart of the daemon would forget the order; empty: it would not
	Used    bool      `json:"used,omitempty"`    // refused since the parts to be used again are used already
	Before  []Drained `json:"before,omitempty"`  // of Parts, those that were drained already, as they were ordered first

	drains bool // parts are on the list by it
}

// Drained is a part that is to be kept free of traffic.
type Drained struct {
	Part  string             `json:"part"` // as people call it
	Kind  string             `json:"kind"` // switch or cable
	Place installed.Location `json:"place"`
	By    string             `json:"by"` // who ordered it
	At    time.Time          `json:"at"` // when
	After time.Time          `json:"after"`
	Until *time.Time         `json:"until,omitempty"` // when it comes back by itself; nil: not at all
	Cut   []string           `json:"cut,omitempty"`   // endpoints that are cut off when it is pulled

	Order  string    `json:"order,omitempty"`  // by which the order can be taken back
	Before []Drained `json:"before,omitempty"` // the orders that it took the place of, the last first

	State string   `json:"state,omitempty"` // see the constants
	Why   string   `json:"why,omitempty"`   // of StillUsed
	Over  []string `json:"over,omitempty"`  // of StillUsed: endpoints to which packets lead over it
	Gone  bool     `json:"gone,omitempty"`  // the network does not have it; when it is back it stays drained
}

// The states of parts that are to be kept free.
const (
	Later     = "later"      // its time has not come
	Waiting   = "waiting"    // OpenSM has not asked since it was ordered
	Leaving   = "leaving"    // a plan is under way
	Free      = "free"       // it can be pulled: no packet is on it that could go another way
	StillUsed = "still used" // no safe steps lead away from it as the network is
)

// drained is the parts that are to be kept free; the zero value is none.
type drained struct {
	mu      sync.Mutex
	list    []Drained
	changed chan struct{} // closed when the list is another; nil: nobody waits for that
}

// all is the whole list.
func (d *drained) all() []Drained {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.list)
}

// set makes a list the one that counts.
func (d *drained) set(list []Drained) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = list
	if d.changed != nil {
		close(d.changed)
		d.changed = nil
	}
}

// now is the places that are to be free now, and what is closed when the list is another.
func (d *drained) now(c clock.Clock) (installed.Drained, <-chan struct{}) {
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
	slices.SortFunc(places, func(a, b installed.Location) int {
		return cmp.Or(cmp.Compare(a.GUID, b.GUID), cmp.Compare(a.Port, b.Port))
	})
	if d.changed == nil {
		d.changed = make(chan struct{})
	}
	return places, d.changed
}

// next is how long it is until some part is to be free, or need not be any more; at most a
// minute, since the clock may be set.
func (d *drained) next(c clock.Clock) time.Duration {
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

// errNothingOrdered ends a question that stayed open for long.
var errNothingOrdered = errors.New("nothing was ordered")

// errEnding ends one when the daemon does.
var errEnding = errors.New("the daemon ends")

// stand keeps a question open until some part is to be drained, or none any more; that is why it returns
// nil. ordered is closed when the list of drained parts is another than it was.
func (s *Server) stand(ctx context.Context, x *place, q *wire.Request, start time.Time, ordered <-chan struct{}) error {
	free, _ := s.drained.now(s.clock)
	gone := x.goes()
	defer gone.stop()
	for {
		wait := s.drained.next(s.clock)
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
			if now, _ := s.drained.now(s.clock); !now.Equal(free) {
				return nil
			}
		case <-gone.read:
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
		_, ordered := s.drained.now(s.clock)
		select {
		case <-ordered:
		case <-time.After(s.drained.next(s.clock)):
			s.expire()
		case <-ctx.Done():
			return
		}
	}
}

// expire takes parts off the list whose time is over.
func (s *Server) expire() {
	s.ordering.Lock()
	defer s.ordering.Unlock()
	list := s.drained.all()
	if len(list) == 0 {
		return
	}
	now := s.clock.Now()
	left := slices.DeleteFunc(slices.Clone(list), func(p Drained) bool { return p.Until != nil && !now.Before(*p.Until) })
	if len(left) == len(list) {
		return
	}
	for _, p := range list {
		if !slices.ContainsFunc(left, func(o Drained) bool { return o.Place == p.Place }) {
			s.tellOrder(events.Undrain, &p, "its time, which is over")
		}
	}
	s.drained.set(left)
	s.showMissing()
	s.writer.drained(left)
}

// leaving is told when the other end of a connection hangs up.
type leaving struct {
	read  chan struct{} // closed then
	ended chan struct{}
	conn  interface{ SetReadDeadline(time.Time) error }
}

// goes watches a connection whose question has been read: nothing follows it but the end.
func (x *place) goes() *leaving {
	l := &leaving{make(chan struct{}), make(chan struct{}), x.conn}
	if err := x.conn.SetDeadline(time.Time{}); err != nil {
		close(l.read)
		close(l.ended)
		return l
	}
	go func() {
		defer close(l.ended)
		if _, err := x.conn.Read(make([]byte, 1)); err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			close(l.read)
		}
	}()
	return l
}

// stop ends that.
func (l *leaving) stop() {
	_ = l.conn.SetReadDeadline(time.Unix(1, 0)) // fails only if it is closed already
	<-l.ended
}

// standing counts the questions of OpenSM that are open: with a plugin that keeps one open, at least
// one is as long as OpenSM runs.
type standing struct {
	mu   sync.Mutex
	open int
	last time.Time // when there was one last
	pid  int       // of the process that asked last; 0: not known, as from a container that this one does not see into
}

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

// there reports whether OpenSM has a question open, or had a moment ago and its process still lives: one that
// is dead is told at once.
func (n *standing) there() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.open > 0 || !n.last.IsZero() && time.Since(n.last) < betweenQuestions && lives(n.pid)
}

// lives reports whether a process is there, as far as that is known.
func lives(pid int) bool { return pid <= 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// betweenQuestions is how long OpenSM may take between an answer and its next question.
const betweenQuestions = 10 * time.Second

// remembering is how long an order waits for what the state folder remembers, whose disk may hang.
const remembering = 10 * time.Second

// errOrdererGone is that nobody would learn that an order is carried out.
var errOrdererGone = errors.New("who gave the order hung up before it was taken")

// order carries out an order, or says why not; gone is closed when who gave it hangs up.
func (s *Server) order(ctx context.Context, text json.RawMessage, who credentials, gone <-chan struct{}) *Ordered {
	var o Order
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return &Ordered{Refused: "the order cannot be read: " + err.Error(), Parts: []Drained{}, Cut: []string{}}
	}
	// A daemon that began just now does not know yet what it handed over and what is drained.
	select {
	case <-s.recalled:
	case <-time.After(remembering):
	case <-ctx.Done():
	}
	s.ordering.Lock()
	defer s.ordering.Unlock()
	var r *Ordered
	err := guarded(func() (err error) {
		switch o.Do {
		case DrainOrder:
			r, err = s.drain(ctx, &o, nameOf(who.uid), gone)
		case UndrainOrder:
			if o.ID != "" {
				r, err = s.retract(o.ID, nameOf(who.uid))
				break
			}
			r, err = s.undrain(&o, nameOf(who.uid))
		default:
			err = fmt.Errorf("there is no order %q", o.Do)
		}
		return err
	})
	if errors.As(err, new(*internalError)) {
		s.internal(err)
	}
	if err != nil {
		if r == nil {
			r = &Ordered{Parts: []Drained{}, Cut: []string{}}
		}
		r.Refused = words.FirstLine(err.Error())
		s.Log.Warn("order refused", "do", o.Do, "parts", strings.Join(o.Parts, ", "), "by", nameOf(who.uid), "reason", r.Refused)
	}
	return r
}

// takeBack has parts used again whose draining nobody learned of, since who ordered it hung up.
func (s *Server) takeBack(r *Ordered, by string) {
	if !r.drains {
		return
	}
	s.ordering.Lock()
	defer s.ordering.Unlock()
	if _, err := s.retract(r.Parts[0].Order, by); err == nil {
		s.Log.Warn("order taken back", "do", DrainOrder, "parts", strings.Join(namesOf(r.Parts), ", "), "by", by, "reason", errOrdererGone)
	}
}

// mostBefore is how many orders that others took the place of are remembered of a part.
const mostBefore = 8

// orders is the order of a part and those that it took the place of, each by itself, the last first.
func (p Drained) orders() []Drained {
	before := p.Before
	p.Before = nil
	return append([]Drained{p}, before...)
}

// retract takes one order to drain back: of its parts, those that were drained before it stay drained by the order of
// before, and those that somebody has ordered anew since are left to that order.
func (s *Server) retract(id, by string) (*Ordered, error) {
	r := &Ordered{Cut: []string{}, Parts: []Drained{}}
	left := []Drained{}
	for _, p := range s.drained.all() {
		orders := p.orders()
		at := slices.IndexFunc(orders, func(x Drained) bool { return x.Order == id })
		if at < 0 {
			left = append(left, p)
			continue
		}
		r.Parts = append(r.Parts, orders[at])
		if orders = slices.Delete(orders, at, at+1); len(orders) == 0 {
			s.tellOrder(events.Undrain, &p, by)
			continue
		}
		stands := orders[0]
		r.Before = append(r.Before, stands)
		if at == 0 {
			s.tellOrder(events.Drain, &stands, stands.By)
		}
		stands.Before = orders[1:]
		left = append(left, stands)
	}
	if len(r.Parts) == 0 {
		r.Used = true
		return r, errors.New("nothing is drained by this order")
	}
	r.Kept = s.keepDrained(left)
	s.drained.set(left)
	s.showMissing()
	return r, nil
}

// nameOf is the name of a user, or the number where there is none.
func nameOf(uid uint32) string {
	if u, err := user.LookupId(strconv.Itoa(int(uid))); err == nil {
		return u.Username
	}
	return fmt.Sprintf("user %d", uid)
}

// partsOf finds parts by name in a fabric, each once: a switch, or a cable between switches as NAME:PORT.
func partsOf(f *fabric.Fabric, names []string) ([]Drained, error) {
	index := nodenames.New(f)
	var all []Drained
	add := func(p Drained) {
		if !slices.ContainsFunc(all, func(o Drained) bool { return o.Place == p.Place }) {
			all = append(all, p)
		}
	}
	for _, name := range names {
		if host := hostOf(f, index, name); host != "" {
			return nil, fmt.Errorf("%s is a host, and nothing else could carry its packets: have the scheduler drain it, then pull it; here switches and cables between switches are drained", host)
		}
		switches, err := index.Switches(name)
		if err == nil {
			for _, n := range switches {
				add(Drained{Part: f.Label(n), Kind: "switch", Place: installed.Location{GUID: f.Node(n).GUID}})
			}
			continue
		}
		if !strings.Contains(name, ":") {
			return nil, err
		}
		cables, err := index.Cables(name)
		if err != nil {
			return nil, err
		}
		for _, c := range cables {
			ch := f.Channel(c)
			if int(c) >= f.Trunks() {
				host := ch.From
				if f.Node(host).Kind == fabric.Switch {
					host = ch.To
				}
				return nil, fmt.Errorf("%s is the cable of host %s, and nothing else could carry its packets: have the scheduler drain the host, then pull it", name, machine(f, host))
			}
			// One of its ends stands for a cable, whichever was named.
			if r := f.Channel(ch.Reverse); f.Node(r.From).GUID < f.Node(ch.From).GUID || r.From == ch.From && r.FromPort < ch.FromPort {
				ch = r
			}
			add(Drained{Part: events.CableName(f, ch), Kind: "cable", Place: installed.Location{GUID: f.Node(ch.From).GUID, Port: ch.FromPort}})
		}
	}
	return all, nil
}

// hostOf is the host that a name means which means no switch; empty: it means none.
func hostOf(f *fabric.Fabric, index *nodenames.Index, name string) string {
	if _, err := index.Switches(name); err == nil {
		return ""
	}
	adapters, err := index.Adapters(name)
	if err != nil || len(adapters) == 0 {
		return ""
	}
	return machine(f, adapters[0])
}

// machine is the host of an adapter.
func machine(f *fabric.Fabric, n fabric.NodeID) string {
	host, _ := nodenames.HostOf(f.Node(n))
	return cmp.Or(host, f.Label(n))
}

// drain has parts kept free from a time on.
func (s *Server) drain(ctx context.Context, o *Order, by string, gone <-chan struct{}) (*Ordered, error) {
	set, h := s.current(), s.keeper.newest()
	switch {
	case set.keep == keepNever:
		return nil, errors.New("the settings say keep: never, so all is routed anew whenever the network changes, and nothing can be kept free")
	case h == nil:
		return nil, errors.New("no tables were handed over yet: there is nothing to drain from (OpenSM has not asked)")
	case len(o.Parts) == 0:
		return nil, errors.New("nothing is named that could be drained")
	case o.After < 0 || o.For < 0:
		return nil, errors.New("times are not negative")
	}
	f := h.tables.Fabric
	parts, err := partsOf(f, o.Parts)
	if err != nil {
		return nil, err
	}
	now := s.clock.Now()
	r := &Ordered{Cut: []string{}}
	was := s.drained.all()
	list := slices.Clone(was)
	id := cmp.Or(o.ID, rand.Text())
	var all installed.Drained
	for i := range parts {
		p := &parts[i]
		p.By, p.At, p.After, p.Order = by, now.UTC(), now.Add(o.After).UTC(), id
		if o.For > 0 {
			until := p.After.Add(o.For)
			p.Until = &until
		}
		list = slices.DeleteFunc(list, func(x Drained) bool {
			if x.Place != p.Place {
				return false
			}
			p.Before = slices.DeleteFunc(x.orders(), func(x Drained) bool { return x.Order == id }) // it may be given twice
			p.Before = p.Before[:min(len(p.Before), mostBefore)]
			if len(p.Before) > 0 {
				r.Before = append(r.Before, p.Before[0])
			}
			return true
		})
	}
	beside := ""
	if len(list) > 0 {
		beside = " beside " + words.FirstWith(namesOf(list), "weft status has all") + ", drained already,"
	}
	list = append(list, parts...)
	for _, p := range list {
		all = append(all, p.Place)
	}
	r.Parts = parts
	if err := r.plan(ctx, set, h.tables, all, beside); err != nil {
		return r, err
	}
	if len(r.Cut) > 0 && !o.Force {
		return r, fmt.Errorf("pulling it%s would cut off %d endpoints, to which nothing else leads; --force drains all the same", beside, len(r.Cut))
	}
	for i := range list {
		if i >= len(list)-len(parts) {
			list[i].Cut = r.Cut
		}
	}
	select {
	case <-gone:
		return r, errOrdererGone
	default:
	}
	if r.Kept = s.keepDrained(list); r.Kept != "" && s.writer != nil && !o.Force {
		s.writer.drained(was) // or it would be drained after a restart
		why := r.Kept
		r.Kept = ""
		return r, fmt.Errorf("a restart of the daemon would forget the order, since %s; once it can be written, drain again, or --force drains all the same", why)
	}
	s.drained.set(list)
	s.showMissing()
	r.drains = true
	s.recall(func(x Drained) bool {
		return slices.ContainsFunc(parts, func(p Drained) bool { return p.Place == x.Place })
	})
	for _, p := range parts {
		s.tellOrder(events.Drain, &p, by, "steps", r.Steps, "entries", r.Entries, "after", o.After.String(), "for", o.For.String(), "cut_off", len(r.Cut))
	}
	return r, nil
}

// plan finds the steps that lead all packets away from parts, beside what is drained already, and who is cut off when
// these are pulled.
func (r *Ordered) plan(ctx context.Context, set *settings, t *routing.Tables, all installed.Drained, beside string) error {
	less, err := all.Without(t.Fabric)
	if err != nil {
		return err
	}
	if less == nil || less.Switches() == 0 {
		return errors.New("no switch would be left")
	}
	paths := *t
	paths.Multicast = nil // its tree is looked for beside the paths, step by step
	p, err := change.Remove(ctx, &paths, less, change.Options{Contract: set.contract, Scope: set.scope})
	if err == nil {
		err = installed.Stays(p)
	}
	if err != nil {
		return fmt.Errorf("no safe steps lead all packets away from it%s while it is there: %w", beside, err)
	}
	r.Steps = len(p.Steps)
	r.Entries, _ = p.Entries()
	cut := change.CutOffWithout(p.After, less, set.scope)
	for _, e := range append(slices.Clone(cut.Gone), cut.Apart...) {
		r.Cut = append(r.Cut, t.Fabric.EndpointLabel(e))
	}
	return nil
}

// tellOrder logs an order.
func (s *Server) tellOrder(what string, p *Drained, by string, more ...any) {
	s.Log.Info(what, append([]any{"part", p.Part, "by", by}, more...)...)
	e := events.Event{At: time.Now(), What: what, By: by, Part: p.element()}
	if what == events.Drain {
		e.Until = p.Until
	}
	s.events.Add(e)
}

// element is the part as events have it.
func (p *Drained) element() *events.Element {
	return &events.Element{Kind: p.Kind, Name: p.Part, GUID: p.Place.GUID.String(), Port: p.Place.Port}
}

// openEvents opens the log of events, below the state folder if that can be written.
func (s *Server) openEvents(dir string) {
	if s.writer == nil {
		return
	}
	s.events = events.New("serve")
	s.events.Add(events.Event{At: time.Now(), What: events.Begin, Text: s.Version})
	go func() {
		if !s.writer.isFound() {
			return
		}
		if all, _, err := events.Read(dir); err == nil {
			var missing []events.Missing
			for _, e := range all {
				switch {
				case e.Part == nil:
				case e.What == events.Gone:
					missing = events.Miss(missing, []events.Element{*e.Part}, nil, e.At)
				case e.What == events.Came:
					missing = events.Miss(missing, nil, []events.Element{*e.Part}, e.At)
				}
			}
			s.mu.Lock()
			s.status.Missing = append(missing, s.status.Missing...)
			s.cables.recent = append(slices.DeleteFunc(all, func(e events.Event) bool { return e.What != events.Gone || time.Since(e.At) > trouble.Flapping }), s.cables.recent...)
			s.mu.Unlock()
			s.showMissing()
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			s.Log.Error("events are not kept", "error", err)
			return
		}
		s.events.To(root)
	}()
}

// namesOf is what people call parts.
func namesOf(list []Drained) []string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.Part
	}
	return names
}

// undrain has parts used again.
func (s *Server) undrain(o *Order, by string) (*Ordered, error) {
	list := s.drained.all()
	r := &Ordered{Cut: []string{}, Parts: []Drained{}}
	forgotten := s.recall(func(x Drained) bool { return len(o.Parts) == 0 || slices.ContainsFunc(o.Parts, x.called) })
	for _, p := range forgotten { // traffic uses it already, and nobody needs to be told any more
		r.Parts = append(r.Parts, p)
		s.tellOrder(events.Undrain, &p, by)
	}
	isForgotten := func(name string) bool {
		return slices.ContainsFunc(forgotten, func(p Drained) bool { return p.called(name) })
	}
	if len(list) == 0 && len(forgotten) > 0 && !slices.ContainsFunc(o.Parts, func(name string) bool { return !isForgotten(name) }) {
		return r, nil
	}
	if len(list) == 0 {
		r.Used = true
		return r, errors.New("nothing is drained")
	}
	taken := make([]bool, len(list))
	for _, name := range o.Parts {
		found := isForgotten(name)
		var places []installed.Location
		if h := s.keeper.newest(); h != nil {
			if parts, err := partsOf(h.tables.Fabric, []string{name}); err == nil {
				for _, p := range parts {
					places = append(places, p.Place)
				}
			}
		}
		for i, p := range list { // by its text too, if it was pulled meanwhile
			if slices.Contains(places, p.Place) || p.called(name) {
				taken[i], found = true, true
			}
		}
		if !found {
			r.Used = len(o.Parts) == 1
			return r, fmt.Errorf("%s is not drained; drained are %s", name, strings.Join(namesOf(list), ", "))
		}
	}
	left := []Drained{}
	for i, p := range list {
		if len(o.Parts) > 0 && !taken[i] {
			left = append(left, p)
			continue
		}
		p.Gone = p.goneFrom(s.keeper.newest())
		r.Parts = append(r.Parts, p)
		s.tellOrder(events.Undrain, &p, by) // before it is kept: of a daemon that ends between the two, the next would take it for forgotten
	}
	r.Kept = s.keepDrained(left)
	s.drained.set(left)
	s.showMissing()
	return r, nil
}

// called says whether people call a part so: a cable also by either end.
func (p *Drained) called(name string) bool {
	return p.Part == name || p.Kind == "cable" && slices.Contains(strings.Split(p.Part, " – "), name)
}

// keepDrained writes the list into the state folder, and says why a restart would forget it.
func (s *Server) keepDrained(list []Drained) string {
	if s.writer == nil {
		return "there is no state folder"
	}
	known := s.writer.drained(list)
	select {
	case <-known:
		return ""
	case <-time.After(diskFirst):
	}
	if why := s.writer.state().StateError; why != "" {
		return "the state folder cannot be written: " + words.FirstLine(why)
	}
	return fmt.Sprintf("the state folder was not written within %v", diskFirst)
}

// noteForgotten finds the parts that events say are to be drained still, and the list of the state folder does not: the
// orders stood though they could not be written, and nothing keeps these parts free any more. That is told once, and
// stands in the status over restarts until somebody orders anew, or the time of the order is over.
func (s *Server) noteForgotten(all []events.Event, list []Drained) {
	var forgotten []Drained
	var told []installed.Location
	for _, e := range all {
		if e.Part == nil || e.What != events.Drain && e.What != events.Undrain && e.What != events.Forgotten {
			continue
		}
		guid, err := strconv.ParseUint(strings.TrimPrefix(e.Part.GUID, "0x"), 16, 64)
		if err != nil {
			continue
		}
		place := installed.Location{GUID: fabric.GUID(guid), Port: e.Part.Port}
		is := func(p Drained) bool { return p.Place == place }
		if e.What == events.Forgotten && slices.ContainsFunc(forgotten, is) {
			told = append(told, place)
			continue
		}
		forgotten = slices.DeleteFunc(forgotten, is)
		told = slices.DeleteFunc(told, func(p installed.Location) bool { return p == place })
		over := e.Until != nil && !s.clock.Now().Before(*e.Until)
		if e.What == events.Drain && !over && !slices.ContainsFunc(list, is) {
			forgotten = append(forgotten, Drained{Part: e.Part.Name, Kind: e.Part.Kind, Place: place, By: e.By, At: e.At, After: e.At, Until: e.Until})
		}
	}
	for i := range forgotten {
		p := &forgotten[i]
		if slices.Contains(told, p.Place) {
			continue
		}
		s.Log.Warn("a restart forgot what was drained: the order could not be kept", "part", p.Part, "by", p.By, "ordered", p.At)
		s.events.Add(events.Event{At: time.Now(), What: events.Forgotten, Part: p.element(), Text: "the restart forgot what " + p.By + " had drained: the order could not be kept"})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Forgotten = forgotten
}

// recall takes parts off the list of those that a restart forgot, since somebody has ordered anew, and returns them.
func (s *Server) recall(of func(Drained) bool) (taken []Drained) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Forgotten = slices.DeleteFunc(slices.Clone(s.status.Forgotten), func(p Drained) bool {
		is := of(p)
		if is {
			taken = append(taken, p)
		}
		return is
	})
	return taken
}

// drainedName is the file with the parts that are to be kept free.
const drainedName = "drained.json"

// drained writes the list of parts that are to be kept free.
func (s *state) drained(list []Drained) error { return s.whole(drainedName, whole.JSON(list)) }

// readDrained reads it back.
func readDrained(root *os.Root) ([]Drained, error) {
	b, err := readFile(root, drainedName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Drained
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

// tellDrained is the parts that are to be kept free, with how that stands. The caller holds mu.
func (s *Server) tellDrained() []Drained {
	list := append([]Drained{}, s.drained.all()...)
	if len(list) == 0 || s.keeper == nil {
		return list
	}
	h, now := s.keeper.newest(), s.clock.Now()
	for i := range list {
		p := &list[i]
		p.Gone = p.goneFrom(h)
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
			p.State, p.Over = Free, s.over.of(h, p)
			if n := len(p.Over); n > 0 {
				p.State = StillUsed
				p.Why = fmt.Sprintf("pulling it would cut off %s, to which packets lead over it: %s; it is drained once they can go another way", words.Plural(n, "endpoint"), words.FirstWith(p.Over, "weft status --json has all"))
			}
		}
	}
	return list
}

// goneFrom says whether the network for which tables were handed over last does not have a part.
func (p *Drained) goneFrom(h *handed) bool {
	if h == nil {
		return false
	}
	f := h.tables.Fabric
	at := f.NodeByGUID(p.Place.GUID)
	return at == fabric.None || p.Place.Port > 0 && f.Trunk(at, p.Place.Port) == fabric.None
}

// noteFree notes which parts nothing uses as a question comes: if they are gone by it, they were pulled as they were to be.
func (s *Server) noteFree() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = s.free[:0]
	for _, p := range s.tellDrained() {
		if p.State == Free {
			s.free = append(s.free, p)
		}
	}
}

// is says whether a part is one of those that events name.
func (p *Drained) is(e events.Element) bool {
	return p.Kind == e.Kind && p.Place.GUID.String() == e.GUID && p.Place.Port == e.Port
}

// pulled says whether what is missing is drained still, and was free of traffic when it went.
func (s *Server) pulled(m events.Missing) bool {
	return m.Drained && slices.ContainsFunc(s.drained.all(), func(p Drained) bool { return p.is(m.Element) })
}

// showMissing has metrics name what is missing now. The caller does not hold mu.
func (s *Server) showMissing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.metrics.show(events.Shown(s.status.Missing, mostShown), s.pulled)
}

// over remembers who is reached over drained parts by the tables that were handed over last.
type over struct {
	h   *handed
	who map[installed.Location][]string
}

// of is who is reached over a part, other than whom its order knew to be cut off without it. A repair that can do no
// better uses drained parts.
func (o *over) of(h *handed, p *Drained) []string {
	if o.h != h {
		*o = over{h, map[installed.Location][]string{}}
	}
	who, ok := o.who[p.Place]
	if !ok {
		who = reachedOver(h.tables, p.Place)
		o.who[p.Place] = who
	}
	return slices.DeleteFunc(slices.Clone(who), func(name string) bool { return slices.Contains(p.Cut, name) })
}

// reachedOver is the endpoints other than switches to which packets of such endpoints lead over a part.
func reachedOver(t *routing.Tables, place installed.Location) (who []string) {
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
