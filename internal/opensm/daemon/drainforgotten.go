package daemon

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/result"
)

// noteForgotten finds, when the daemon starts, the parts whose last order by the events is a drain, and which the list of
// the state folder lacks: somebody had ordered with --force although the list could not be written, and since the restart
// nothing keeps these parts free of traffic. That is logged and added to the events once, and the status shows it, also
// after further restarts, until somebody orders anew, or the time of the order is over.
func (s *Server) noteForgotten(all []result.Event, list []result.Drained) {
	var forgotten []result.Drained
	var told []result.Location // of those forgotten, which an event says already
	for _, e := range all {
		if e.Part == nil || e.What != events.Drain && e.What != events.Undrain && e.What != events.Forgotten {
			continue
		}
		guid, err := strconv.ParseUint(strings.TrimPrefix(e.Part.GUID, "0x"), 16, 64)
		if err != nil {
			continue
		}
		place := result.Location{GUID: fabric.GUID(guid), Port: e.Part.Port}
		same := func(p result.Drained) bool { return p.Place == place }
		if e.What == events.Forgotten && slices.ContainsFunc(forgotten, same) {
			told = append(told, place)
			continue
		}
		forgotten = slices.DeleteFunc(forgotten, same)
		told = slices.DeleteFunc(told, func(p result.Location) bool { return p == place })
		over := e.Until != nil && !s.clock.Now().Before(*e.Until)
		if e.What == events.Drain && !over && !slices.ContainsFunc(list, same) {
			forgotten = append(forgotten, result.Drained{Part: e.Part.Name, Kind: e.Part.Kind, Place: place, By: e.By, At: e.At, After: e.At, Until: e.Until})
		}
	}
	for i := range forgotten {
		p := &forgotten[i]
		if slices.Contains(told, p.Place) {
			continue
		}
		s.Log.Warn("a restart forgot what was drained: the order could not be kept", "part", p.Part, "by", p.By, "ordered", p.At)
		s.events.Add(result.Event{At: s.clock.Now(), What: events.Forgotten, Part: element(p), Text: "the restart forgot what " + p.By + " had drained: the order could not be kept"})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Forgotten = forgotten
}

// recall takes the parts that which is true of off the list of those that a restart forgot, since somebody has ordered
// anew, and returns them.
func (s *Server) recall(which func(result.Drained) bool) (taken []result.Drained) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Forgotten = slices.DeleteFunc(slices.Clone(s.status.Forgotten), func(p result.Drained) bool {
		if !which(p) {
			return false
		}
		taken = append(taken, p)
		return true
	})
	return taken
}
