package daemon

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/result"
)

// cables is what the daemon knows of cables: how often they went, and their rates. The caller holds Server.mu.
type cables struct {
	recent []result.Event // of what went, the oldest first

	list       *result.Trouble
	listOf     *fabric.Fabric // the network that list is about; nil: it has to be made anew
	eventsSeen int            // how many of recent it is by
	madeAt     time.Time
	saidAt     time.Time // when what weft watch knows became what is in it
}

// lastsFor is how long a list counts: cables that have flapped are quiet after a while.
const lastsFor = 10 * time.Second

// went adds what went at a time to recent, drops what is too old, and has the list made anew.
func (c *cables) went(at time.Time, gone []result.Element) {
	c.recent = slices.DeleteFunc(c.recent, func(e result.Event) bool { return at.Sub(e.At) > trouble.Flapping })
	for i := range gone {
		c.recent = append(c.recent, result.Event{At: at, From: "serve", What: events.Gone, Part: &gone[i]})
	}
	c.listOf = nil
}

// inTrouble is the cables in trouble, with what weft watch knows of them; nil: no network was seen yet.
func (c *cables) inTrouble(f *fabric.Fabric, w *watched, now time.Time) *result.Trouble {
	if f == nil {
		return nil
	}
	beside, why, said := w.known()
	if c.listOf != f || c.eventsSeen != len(c.recent) || !said.Equal(c.saidAt) || now.Sub(c.madeAt) > lastsFor || now.Before(c.madeAt) {
		c.list = withNote(trouble.Find(trouble.Evidence{Fabric: f, Limits: trouble.Default(), Events: c.recent, Now: now, Beside: beside}), why)
		c.listOf, c.eventsSeen, c.madeAt, c.saidAt = f, len(c.recent), now, said
	}
	return c.list
}

// inTrouble is the cables in trouble.
func (s *Server) inTrouble() *result.Trouble {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cables.inTrouble(s.seen, &s.watched, time.Now())
}

// troubled is the metric of cables in trouble, made when it is asked for.
type troubled struct {
	list func() *result.Trouble // as Server.inTrouble
	desc *prometheus.Desc
}

// addTrouble adds the metric of cables in trouble.
func (m *metrics) addTrouble(list func() *result.Trouble) {
	m.registry.MustRegister(&troubled{list: list, desc: prometheus.NewDesc("weft_cable_trouble", "1 for cables in trouble, the worst fifty: kind is what speaks against a cable most, level error or warning.", []string{"kind", "level", "name"}, nil)})
}

// Describe implements prometheus.Collector.
func (t *troubled) Describe(to chan<- *prometheus.Desc) { to <- t.desc }

// Collect implements prometheus.Collector.
func (t *troubled) Collect(to chan<- prometheus.Metric) {
	l := t.list()
	if l == nil {
		return
	}
	for _, c := range l.Cables[:min(mostShown, len(l.Cables))] {
		to <- prometheus.MustNewConstMetric(t.desc, prometheus.GaugeValue, 1, c.Signs[0].Kind, c.Level, c.Name)
	}
}
