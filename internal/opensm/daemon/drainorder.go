package daemon

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/events"
	nodenames "github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/opensm/installed"
	"github.com/weft-fabric/weft/internal/pulled"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Order is what weft drain --live and weft undrain tell the daemon.
type Order struct {
	Do    string        `json:"do"`              // drain or undrain
	Parts []string      `json:"parts"`           // switches by name, cables as NAME:PORT; of undrain, none are all
	After time.Duration `json:"after,omitempty"` // how long from now it is to begin
	For   time.Duration `json:"for,omitempty"`   // how long after that the parts come back by themselves; 0: not at all
	Force bool          `json:"force,omitempty"` // also where hosts are cut off when the parts are pulled, or a restart would forget the order
	ID    string        `json:"id,omitempty"`    // of drain: a name for the order; of undrain: the drain that is taken back, so that what was ordered before it stands again
}

// What an order says is to be done.
const (
	DrainOrder   = "drain"
	UndrainOrder = "undrain"
)

// Ordered is the answer to an order.
type Ordered struct {
	Refused string           `json:"refused,omitempty"` // why nothing is done; empty: it is
	Parts   []result.Drained `json:"parts"`             // that the order is about
	Steps   int              `json:"steps"`             // how many the plan has, by the tables in use now
	Entries int              `json:"entries"`           // of forwarding tables, how many all steps change
	Cut     []string         `json:"cut"`               // endpoints that are cut off when the parts are pulled
	Kept    string           `json:"kept,omitempty"`    // why a restart of the daemon would forget the order; empty: it would not
	Used    bool             `json:"used,omitempty"`    // it is refused because the parts to be used again are used already
	Before  []result.Drained `json:"before,omitempty"`  // those of Parts that were drained already, by the orders before this one

	drains bool // it is a drain, and its parts are on the list
}

// remembering is how long an order waits for what the state folder remembers, whose disk may hang.
const remembering = 10 * time.Second

// errOrdererGone refuses an order whose answer nobody would read.
var errOrdererGone = errors.New("who gave the order hung up before it was taken")

// order carries out an order, or says why not; gone is closed when who gave it hangs up. One order is carried out at a
// time.
func (s *Server) order(ctx context.Context, text json.RawMessage, who credentials, gone <-chan struct{}) *Ordered {
	var o Order
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return &Ordered{Refused: "the order cannot be read: " + err.Error(), Parts: []result.Drained{}, Cut: []string{}}
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
			r = &Ordered{Parts: []result.Drained{}, Cut: []string{}}
		}
		r.Refused = words.FirstLine(err.Error())
		s.Log.Warn("order refused", "do", o.Do, "parts", strings.Join(o.Parts, ", "), "by", nameOf(who.uid), "reason", r.Refused)
	}
	return r
}

// takeBack takes an order back whose answer r could not be sent, since by, who gave it, hung up.
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

// ordersOf is the order of a part and those before it, each as a Drained without Before, the last first.
func ordersOf(p result.Drained) []result.Drained {
	before := p.Before
	p.Before = nil
	return append([]result.Drained{p}, before...)
}

// replaceIn is a list without the part, which is ordered anew; p.Before remembers the orders by which it was on the
// list. The list given is changed.
func replaceIn(list []result.Drained, p *result.Drained) []result.Drained {
	return slices.DeleteFunc(list, func(x result.Drained) bool {
		if x.Place != p.Place {
			return false
		}
		p.Before = slices.DeleteFunc(ordersOf(x), func(x result.Drained) bool { return x.Order == p.Order }) // it may be given twice
		p.Before = p.Before[:min(len(p.Before), mostBefore)]
		return true
	})
}

// retract takes one order to drain back, by its ID. Parts that were drained before it stay drained, by the order
// before; parts that somebody has ordered anew since stay drained by that order.
func (s *Server) retract(id, by string) (*Ordered, error) {
	r := &Ordered{Cut: []string{}, Parts: []result.Drained{}}
	left := []result.Drained{}
	for _, p := range s.drained.all() {
		orders := ordersOf(p)
		at := slices.IndexFunc(orders, func(x result.Drained) bool { return x.Order == id })
		if at < 0 {
			left = append(left, p)
			continue
		}
		r.Parts = append(r.Parts, orders[at])
		if orders = slices.Delete(orders, at, at+1); len(orders) == 0 {
			s.logOrder(events.Undrain, &p, by)
			continue
		}
		stands := orders[0]
		r.Before = append(r.Before, stands)
		if at == 0 {
			s.logOrder(events.Drain, &stands, stands.By)
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
func partsOf(f *fabric.Fabric, names []string) ([]result.Drained, error) {
	index := nodenames.New(f)
	var all []result.Drained
	add := func(p result.Drained) {
		if !slices.ContainsFunc(all, func(o result.Drained) bool { return o.Place == p.Place }) {
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
				add(result.Drained{Part: f.Label(n), Kind: "switch", Place: result.Location{GUID: f.Node(n).GUID}})
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
			ch = events.CableEnd(f, c)
			add(result.Drained{Part: events.CableName(f, ch), Kind: "cable", Place: result.Location{GUID: f.Node(ch.From).GUID, Port: ch.FromPort}})
		}
	}
	return all, nil
}

// hostOf is the host that a name means; empty: it means a switch, or nothing.
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

// drain carries out an order to drain: it plans whether that can be, writes the list of drained parts into the
// state folder and makes it the one that counts. With an error nothing has changed. by is who ordered it.
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
		list = replaceIn(list, p)
		if len(p.Before) > 0 {
			r.Before = append(r.Before, p.Before[0])
		}
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
		return r, fmt.Errorf("pulling it%s would cut off %s, to which nothing else leads; --force drains all the same", beside, words.Counted(len(r.Cut), "endpoint", "endpoints"))
	}
	for i := len(list) - len(parts); i < len(list); i++ {
		list[i].Cut = r.Cut
	}
	select {
	case <-gone:
		return r, errOrdererGone
	default:
	}
	if r.Kept = s.keepDrained(list); r.Kept != "" && s.writer != nil && !o.Force {
		s.writer.writeDrained(was) // else it would be drained after a restart
		why := r.Kept
		r.Kept = ""
		return r, fmt.Errorf("a restart of the daemon would forget the order, since %s; once it can be written, drain again, or --force drains all the same", why)
	}
	s.drained.set(list)
	s.showMissing()
	r.drains = true
	s.recall(func(x result.Drained) bool {
		return slices.ContainsFunc(parts, func(p result.Drained) bool { return p.Place == x.Place })
	})
	for _, p := range parts {
		s.logOrder(events.Drain, &p, by, "steps", r.Steps, "entries", r.Entries, "after", o.After.String(), "for", o.For.String(), "cut_off", len(r.Cut))
	}
	return r, nil
}

// plan sets Steps, Entries and Cut by a plan that leads all packets of t away from all drained parts; the error is why
// there is none. beside is words for a sentence: what is drained already.
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
	cut := pulled.CutOff(p.After, less, set.scope)
	for _, e := range append(slices.Clone(cut.Gone), cut.Apart...) {
		r.Cut = append(r.Cut, t.Fabric.EndpointLabel(e))
	}
	return nil
}

// logOrder logs an order about a part, as an event as well.
func (s *Server) logOrder(what string, p *result.Drained, by string, more ...any) {
	s.Log.Info(what, append([]any{"part", p.Part, "by", by}, more...)...)
	e := result.Event{At: time.Now(), What: what, By: by, Part: element(p)}
	if what == events.Drain {
		e.Until = p.Until
	}
	s.events.Add(e)
}

// namesOf is what people call parts.
func namesOf(list []result.Drained) []string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.Part
	}
	return names
}

// undrain has parts used again, all if the order names none.
func (s *Server) undrain(o *Order, by string) (*Ordered, error) {
	list := s.drained.all()
	r := &Ordered{Cut: []string{}, Parts: []result.Drained{}}
	forgotten := s.recall(func(x result.Drained) bool {
		return len(o.Parts) == 0 || slices.ContainsFunc(o.Parts, func(name string) bool { return isCalled(&x, name) })
	})
	for _, p := range forgotten { // traffic uses it already, and nobody needs to be told any more
		r.Parts = append(r.Parts, p)
		s.logOrder(events.Undrain, &p, by)
	}
	isForgotten := func(name string) bool {
		return slices.ContainsFunc(forgotten, func(p result.Drained) bool { return isCalled(&p, name) })
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
		var places []result.Location
		if h := s.keeper.newest(); h != nil {
			if parts, err := partsOf(h.tables.Fabric, []string{name}); err == nil {
				for _, p := range parts {
					places = append(places, p.Place)
				}
			}
		}
		for i, p := range list { // by its text too, if it was pulled meanwhile
			if slices.Contains(places, p.Place) || isCalled(&p, name) {
				taken[i], found = true, true
			}
		}
		if !found {
			r.Used = len(o.Parts) == 1
			return r, fmt.Errorf("%s is not drained; drained are %s", name, strings.Join(namesOf(list), ", "))
		}
	}
	left := []result.Drained{}
	for i, p := range list {
		if len(o.Parts) > 0 && !taken[i] {
			left = append(left, p)
			continue
		}
		p.Gone = goneFrom(&p, s.keeper.newest())
		r.Parts = append(r.Parts, p)
		s.logOrder(events.Undrain, &p, by) // before it is kept: of a daemon that ends between the two, the next would take it for forgotten
	}
	r.Kept = s.keepDrained(left)
	s.drained.set(left)
	s.showMissing()
	return r, nil
}

// isCalled reports whether people call a part by a name: a cable also by either end.
func isCalled(p *result.Drained, name string) bool {
	return p.Part == name || p.Kind == "cable" && slices.Contains(strings.Split(p.Part, " – "), name)
}

// keepDrained writes the list into the state folder, and returns why a restart would forget it; empty: it would not.
func (s *Server) keepDrained(list []result.Drained) string {
	if s.writer == nil {
		return "there is no state folder"
	}
	known := s.writer.writeDrained(list)
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
