package watch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/shell"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/result"
)

// metrics is the metrics for Prometheus. After each look running.look has note count it, which has show set the gauges if
// something was new; of lossless Ethernet every look has showPauses set the counters of ports. Ports have the labels
// of infiniband_exporter.
type metrics struct {
	registry *prometheus.Registry

	looks   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	last    prometheus.Gauge
	alarm   *prometheus.GaugeVec
	engine  *prometheus.GaugeVec
	values  []value
	changes *prometheus.CounterVec
	routes  *prometheus.GaugeVec
	slow    *prometheus.GaugeVec
	missing *prometheus.GaugeVec
	pauses  *prometheus.GaugeVec
	dropped *prometheus.GaugeVec
	trouble *prometheus.GaugeVec
}

// value is a gauge of a number in the last look.
type value struct {
	prometheus.Gauge
	in func(*result.WatchLook) float64
}

// none is the label of an engine that is not known, asked for or at work.
const none = "none"

// newMetrics registers all metrics, with all labels that are known before there is any look.
func newMetrics() *metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	add := promauto.With(registry)
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return add.NewGaugeVec(prometheus.GaugeOpts{Namespace: "weft_watch", Name: name, Help: help}, labels)
	}
	counters := func(name, help, label string, words ...string) *prometheus.CounterVec {
		v := add.NewCounterVec(prometheus.CounterOpts{Namespace: "weft_watch", Name: name, Help: help}, []string{label})
		for _, w := range words { // 0 until there are any
			v.WithLabelValues(w)
		}
		return v
	}
	m := &metrics{
		registry: registry,
		looks:    counters("looks_total", "Looks, by what came of them: new, same or failed.", "result", "new", "same", "failed"),
		seconds: add.NewHistogramVec(prometheus.HistogramOpts{Namespace: "weft_watch", Name: "look_seconds",
			Help: "Time of the stages of a look that saw something new: gather, read, judge, compare, total.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 9)}, []string{"stage"}),
		last:    gauges("last_look_timestamp_seconds", "When the last look that did not fail began.").WithLabelValues(),
		alarm:   gauges("alarm", "1 while an alarm of a kind is there.", "kind"),
		engine:  gauges("engine_info", "1 for the engines asked for and the one that made the tables, none where not known.", "asked", "made"),
		changes: counters("changes_total", "What looks saw that was not so at the look before.", "what", kindsOfChange()...),
		routes:  gauges("link_routes", "Routes over the fullest links between switches, with all to all.", "guid", "port", "switch"),
		missing: gauges("missing", "1 for parts of the network that went within a week and are not back, switches and cables first, the first fifty: kind is cable, switch or host.", "kind", "name"),
		trouble: gauges("cable_trouble", "1 for cables in trouble, the worst fifty: kind is what speaks against a cable most, level error or warning, guid, port and switch are of its first end.", "kind", "level", "name", "guid", "port", "switch"),
		slow:    gauges("link_degraded", "1 for links that are slower or narrower than others of their kind.", "guid", "port", "switch", "kind"),
	}
	m.pauses = gauges("pfc_frames", "Pause frames of a priority that a port of a lossless Ethernet network has counted, received or sent.", "device", "interface", "priority", "direction")
	m.dropped = gauges("pfc_dropped_packets", "Packets of a priority that the watchdog of a port has dropped, as the port counts them.", "device", "interface", "priority")
	for _, k := range Kinds {
		m.alarm.WithLabelValues(k)
	}
	number := func(name, help string, in func(*result.WatchLook) float64) {
		m.values = append(m.values, value{Gauge: gauges(name, help).WithLabelValues(), in: in})
	}
	number("proven", "1 if the tables are free of credit loops, 0 if they have one.", func(l *result.WatchLook) float64 {
		if l.Verdict == result.DeadlockFree {
			return 1
		}
		return 0
	})
	number("lanes_used", "Lanes that carry traffic between switches.", func(l *result.WatchLook) float64 { return float64(l.Lanes) })
	number("pairs", "Pairs of endpoints.", func(l *result.WatchLook) float64 { return float64(l.Pairs) })
	number("pairs_cut", "Pairs that cables join and the tables do not.", func(l *result.WatchLook) float64 { return float64(l.CutOff) })
	number("pairs_apart", "Pairs that no cables join.", func(l *result.WatchLook) float64 { return float64(l.Apart) })
	number("forwarding_loops", "Switches and destinations whose packets circle.", func(l *result.WatchLook) float64 { return float64(l.Circles) })
	number("switches", "Switches.", func(l *result.WatchLook) float64 { return float64(l.Switches) })
	number("hosts", "Host adapter ports.", func(l *result.WatchLook) float64 { return float64(l.Hosts) })
	number("cables", "Cables.", func(l *result.WatchLook) float64 { return float64(l.Cables) })
	ethernet := func(count func(*result.LookEthernet) int) func(*result.WatchLook) float64 {
		return func(l *result.WatchLook) float64 {
			if l.Ethernet == nil {
				return 0
			}
			return float64(count(l.Ethernet))
		}
	}
	number("next_hops", "Next hops of all devices of a lossless Ethernet network, to prefixes with hosts.", ethernet(func(e *result.LookEthernet) int { return e.NextHops }))
	number("host_prefixes", "Prefixes with hosts of a lossless Ethernet network.", ethernet(func(e *result.LookEthernet) int { return e.Prefixes }))
	number("pins", "Pins that routers of a lossless Ethernet network should have.", ethernet(func(e *result.LookEthernet) int { return e.Pins }))
	number("pins_fallen_back", "Pins of these that are not in force.", ethernet(func(e *result.LookEthernet) int { return len(e.Fallbacks) }))
	number("silent_devices", "Devices of a lossless Ethernet network that were not heard from.", ethernet(func(e *result.LookEthernet) int { return len(e.Silent) }))
	number("largest_load", "Routes over the fullest link between switches, with all to all.", func(l *result.WatchLook) float64 { return float64(l.MaxLoad) })
	return m
}

// countedChanges is the changes of a look as changes_total counts them: what, and how many; hops is sets of next hops, of lossless Ethernet.
func countedChanges(c *result.LookChanges, hops int) []struct {
	what string
	n    int64
} {
	return []struct {
		what string
		n    int64
	}{
		{"switch-gone", int64(len(c.Gone.Switches))}, {"switch-new", int64(len(c.New.Switches))},
		{"adapter-gone", int64(len(c.Gone.Adapters))}, {"adapter-new", int64(len(c.New.Adapters))},
		{"cable-gone", int64(len(c.Gone.Cables))}, {"cable-new", int64(len(c.New.Cables))}, {"recabled", int64(len(c.Recabled))},
		{"lft-entry", int64(c.Entries)}, {"lft-block", int64(c.Blocks)}, {"service-level", c.SLs}, {"sl2vl-cell", int64(c.Maps)}, {"next-hop-set", int64(hops)},
	}
}

// kindsOfChange is what countedChanges counts.
func kindsOfChange() []string {
	var all []string
	for _, c := range countedChanges(&result.LookChanges{}, 0) {
		all = append(all, c.what)
	}
	return all
}

// note counts a look, and sets the gauges of alarms and cables in trouble; status is how the watch is after it. l is nil for
// a look that failed or saw nothing new: else note also adds what changed, and sets all other gauges (show).
func (m *metrics) note(status *result.WatchStatus, l *result.WatchLook) {
	outcome := "same"
	switch {
	case status.Error != "":
		outcome = "failed"
	case l != nil:
		outcome = "new"
	}
	m.looks.WithLabelValues(outcome).Inc()
	if outcome != "failed" {
		m.last.Set(float64(status.At.UnixNano()) / 1e9)
	}
	m.showAlarms(status.Alarms, status.Trouble)
	if l != nil {
		m.show(l)
		for _, stage := range []struct {
			name    string
			seconds float64
		}{{"gather", l.Seconds.Gather}, {"read", l.Seconds.Read}, {"judge", l.Seconds.Judge}, {"compare", l.Seconds.Compare}, {"total", l.Seconds.Total}} {
			m.seconds.WithLabelValues(stage.name).Observe(stage.seconds)
		}
		if e := l.Ethernet; e != nil && e.Changed != nil { // then l.Changed, of InfiniBand, is nil
			for _, c := range countedChanges(asChanges(e.Changed), e.Changed.Entries) {
				m.changes.WithLabelValues(c.what).Add(float64(c.n))
			}
		}
		if l.Changed != nil {
			for _, c := range countedChanges(l.Changed, 0) {
				m.changes.WithLabelValues(c.what).Add(float64(c.n))
			}
		}
	}
}

// showAlarms sets the gauges of cables in trouble and of alarms, these each once: who asks meanwhile sees none go that stands.
func (m *metrics) showAlarms(alarms []result.Alarm, t *result.Trouble) {
	m.trouble.Reset()
	if t != nil {
		for _, c := range t.Cables[:min(mostShown, len(t.Cables))] {
			m.trouble.WithLabelValues(c.Signs[0].Kind, c.Level, c.Name, c.A.GUID, strconv.Itoa(int(c.A.Port)), c.A.Name).Set(1)
		}
	}
	for _, k := range Kinds {
		there := 0.0
		if hasKind(alarms, k) {
			there = 1
		}
		m.alarm.WithLabelValues(k).Set(there)
	}
}

// show sets the gauges that are about a look, in place of those of the look before.
func (m *metrics) show(l *result.WatchLook) {
	for _, v := range m.values {
		v.Set(v.in(l))
	}
	made := none
	if l.Made != nil {
		made = l.Made.Engine
	}
	m.engine.Reset()
	m.engine.WithLabelValues(cmp.Or(l.Asked, none), made).Set(1)
	m.routes.Reset()
	for _, h := range l.Hot {
		m.routes.WithLabelValues(portLabels(h.From)...).Set(float64(h.Routes))
	}
	m.missing.Reset()
	for _, p := range events.Shown(l.Missing, mostShown) {
		m.missing.WithLabelValues(p.Kind, p.Name).Set(1)
	}
	m.slow.Reset()
	for _, d := range l.Degraded {
		m.slow.WithLabelValues(append(portLabels(d.A), d.Kind)...).Set(1)
	}
}

// showPauses shows what ports have counted; those that have counted nothing are left out.
func (m *metrics) showPauses(now *EthernetSnapshot) {
	m.pauses.Reset()
	m.dropped.Reset()
	for device, list := range now.Counters {
		for _, c := range list {
			priority := strconv.Itoa(int(c.Priority))
			if c.Received > 0 {
				m.pauses.WithLabelValues(device, c.Interface, priority, "received").Set(float64(c.Received))
			}
			if c.Sent > 0 {
				m.pauses.WithLabelValues(device, c.Interface, priority, "sent").Set(float64(c.Sent))
			}
			if c.Dropped > 0 {
				m.dropped.WithLabelValues(device, c.Interface, priority).Set(float64(c.Dropped))
			}
		}
	}
}

// mostShown is how many missing parts, and how many cables in trouble, metrics name.
const mostShown = 50

// portLabels is the values of the labels guid, port and switch.
func portLabels(p result.Node) []string { return []string{p.GUID, strconv.Itoa(int(p.Port)), p.Name} }

// serve answers over HTTP at the address of Metrics, if one is set, until stop is called. The gauges begin with the
// alarms that stood when the watch ended, and with the last look that is kept, if its files could be read again (resume).
func (r *running) serve() (stop func(), err error) {
	if r.last != nil && r.before != nil {
		r.metrics.show(r.last)
	}
	r.metrics.showAlarms(r.status.Alarms, r.cables.list)
	stop, err = r.site().Serve(r.settings.Metrics, r.Watcher.Log)
	if err != nil {
		return nil, err
	}
	return stop, nil
}

// site is what the watch answers over HTTP.
func (r *running) site() *shell.Site {
	return &shell.Site{
		Name: "weft watch", Metrics: r.metrics.registry, Page: r.pages, Healthy: r.healthy, Ready: r.ready, Troubles: r.troubles,
		More: []shell.Link{
			{Path: "/status", What: "how the watch is, with alarms and cables in trouble, for programs", Handler: http.HandlerFunc(r.answerStatus)},
			{Path: "/look", What: "the last look, for programs", Handler: http.HandlerFunc(r.answerLook)},
		},
	}
}

// troubles is a sentence for every alarm and every part that is missing or in trouble, for /health.
func (r *running) troubles() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.status.Alarms {
		if a.Kind == CableTrouble {
			continue // the cables follow, one by one
		}
		all = append(all, fmt.Sprintf("%s since %s: %s; %s", a.Kind, a.Since.Local().Format(time.DateTime), a.What, a.Do))
	}
	for _, m := range r.status.Missing {
		all = append(all, fmt.Sprintf("%s %s is gone since %s", m.Kind, m.Name, m.Since.Local().Format(time.DateTime)))
	}
	if r.status.Trouble != nil {
		all = append(all, trouble.Texts(r.status.Trouble)...)
	}
	return all
}

// healthy is an error if the watch itself does not work: it does not look any more.
func (r *running) healthy() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if late := time.Since(r.begun); !r.begun.IsZero() && late > r.patience() {
		return fmt.Errorf("the last look began %v ago", late.Round(time.Second))
	}
	return nil
}

// patience is how long after the beginning of a look the next one may begin, at the latest. A look waits for files
// to rest, and for its programs: Collect once, or commands one after the other, which each of several tries (see)
// runs anew, and those for counters once.
func (r *running) patience() time.Duration {
	programs, most := tries*len(r.commands)+len(r.counterCommands), tries
	if r.Collect != "" {
		programs++
	}
	if r.Ethernet != "" {
		most = 1
	}
	rests := most*tries + most - 1 // in each try, and between two
	return 3*r.Every + time.Duration(rests)*r.Settle + time.Duration(programs)*r.Timeout + time.Minute
}

// ready is an error if there is no last look that can be relied on.
func (r *running) ready() error {
	if err := r.healthy(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.status.Error != "":
		return fmt.Errorf("the last look failed: %s", r.status.Error)
	case r.status.At.IsZero():
		return errors.New("there was no look yet")
	}
	return nil
}

// answerStatus answers with how the watch is, as in its state folder.
func (r *running) answerStatus(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	status := r.status
	r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(&status) //nolint:errcheck // whoever asked went away
}

// answerLook answers with the last look.
func (r *running) answerLook(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	number, store := r.status.Look, r.store
	r.mu.Unlock()
	if number == 0 {
		http.Error(w, "there was no look yet", http.StatusServiceUnavailable)
		return
	}
	l, err := store.Look(number)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(l) //nolint:errcheck // whoever asked went away
}
