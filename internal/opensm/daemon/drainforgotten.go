package daemon

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/opensm/installed"
)

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
