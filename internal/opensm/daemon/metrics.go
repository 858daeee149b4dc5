package daemon

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/weft-fabric/weft/internal/opensm/installed"
	"github.com/weft-fabric/weft/result"
)

// metrics is what the daemon counts and shows for Prometheus; note counts each sweep.
type metrics struct {
	registry *prometheus.Registry
	sweeps   *prometheus.CounterVec
	cached   prometheus.Counter
	loops    prometheus.Counter
	bad      prometheus.Counter
	entries  prometheus.Counter
	levels   prometheus.Counter
	engine   *prometheus.GaugeVec
	proven   prometheus.Gauge
	needed   prometheus.Gauge
	used     prometheus.Gauge
	lanes    prometheus.Gauge
	load     prometheus.Gauge
	switches prometheus.Gauge
	hosts    prometheus.Gauge
	seconds  *prometheus.HistogramVec

	missing *prometheus.GaugeVec

	unwritten prometheus.Counter
	internal  prometheus.Counter
	asides    prometheus.Counter

	opinions *prometheus.CounterVec

	changes *prometheus.CounterVec
	due     prometheus.Counter
	blocks  prometheus.Counter
	steps   prometheus.Gauge
	cut     prometheus.Gauge
	cutFor  prometheus.Counter
}

// none is the label of engines that were not used or named.
const none = "none"

// newMetrics registers all metrics that need nothing but sweeps, with all labels that are known before there is any.
func newMetrics() *metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	add := promauto.With(registry)
	counter := func(name, help string) prometheus.Counter {
		return add.NewCounter(prometheus.CounterOpts{Namespace: "weft", Name: name, Help: help})
	}
	counters := func(name, help, label string, values ...string) *prometheus.CounterVec {
		v := add.NewCounterVec(prometheus.CounterOpts{Namespace: "weft", Name: name, Help: help}, []string{label})
		for _, value := range values { // 0 until there are any
			v.WithLabelValues(value)
		}
		return v
	}
	gauge := func(name, help string) prometheus.Gauge {
		return add.NewGauge(prometheus.GaugeOpts{Namespace: "weft", Name: name, Help: help})
	}
	return &metrics{
		registry: registry,
		sweeps: counters("sweeps_total", "Requests of OpenSM, by verdict: deadlock-free or refused.",
			"verdict", deadlockFree, refused),
		cached:  counter("sweeps_cached_total", "Requests answered from memory."),
		loops:   counter("credit_loops_found_total", "Engines whose tables the judge turned down for a credit loop."),
		bad:     counter("bad_clients_total", "Connections turned away, malformed or broken off."),
		entries: counter("lft_entries_changed_total", "Forwarding table entries that differed from the tables handed over before."),
		levels:  counter("service_levels_changed_total", "Service levels, by source switch and destination, that differed likewise."),
		engine: add.NewGaugeVec(prometheus.GaugeOpts{Namespace: "weft", Name: "engine_info",
			Help: "1 for the engines wanted and the one used in the last request."}, []string{"wanted", "used"}),
		proven:   gauge("proven", "1 if the last request got tables, 0 if it was refused."),
		needed:   gauge("lanes_needed", "Lanes that the tables handed over last need."),
		used:     gauge("lanes_used", "Lanes that carry traffic between switches under the tables handed over last."),
		lanes:    gauge("lanes_available", "Lanes that the fabric of the last request has."),
		load:     gauge("largest_load", "Routes over the busiest link of the tables handed over last, with all to all."),
		switches: gauge("switches", "Switches in the last request."),
		hosts:    gauge("endpoints", "Adapter and router ports in the last request."),
		seconds: add.NewHistogramVec(prometheus.HistogramOpts{Namespace: "weft", Name: "stage_seconds",
			Help:    "Time of each stage of a request: read, route, verify, answer, total.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 11)}, []string{"stage"}),
		missing: add.NewGaugeVec(prometheus.GaugeOpts{Namespace: "weft", Name: "missing",
			Help: "1 for parts of the network that went within a week and are not back, switches and cables first, the first fifty: kind is cable, switch or host. 0 for those that are drained, and were free of traffic when they went."}, []string{"kind", "name"}),
		unwritten: counter("state_failures_total", "Attempts to write the state folder that failed."),
		internal:  counter("internal_errors_total", "Errors of the program itself; report them."),
		asides:    counter("state_put_aside_total", "Times that tables in the state folder were put aside because they were damaged or led to an internal error."),
		opinions: counters("proof_checker_answers_total", "Answers of the proof checker about tables handed over, where one is set: holds, refused (an alarm), failed, and skipped for newer ones.",
			"answer", opinionHolds, opinionRefused, opinionFailed, opinionSkipped),
		changes: counters("changes_total", "Tables handed over in place of others, by kind: repair, return, drain, or full, which is routed anew.",
			"kind", string(installed.Repair), string(installed.Return), string(installed.Full), string(installed.Drain)),
		due:    counter("lft_entries_due_total", "Forwarding table entries that had to change: they led into nothing, or were for hosts that are new."),
		blocks: counter("lft_blocks_changed_total", "Blocks of 64 forwarding table entries that OpenSM had to write for steps."),
		steps:  gauge("plan_steps_left", "Steps that are to follow the tables handed over last, at least."),
		cut:    gauge("pairs_cut", "Pairs that cables join and the tables handed over last do not, until a further step."),
		cutFor: counter("cut_pair_seconds_total", "Pairs that were cut, times the seconds from OpenSM's question to the answer that mends them."),
	}
}

// addState adds the metrics of the state folder, if there is one.
func (m *metrics) addState(w *writer) {
	if w == nil {
		return
	}
	gauge := func(name, help string, value func(result.StateFolder) float64) {
		promauto.With(m.registry).NewGaugeFunc(prometheus.GaugeOpts{Namespace: "weft", Name: name, Help: help},
			func() float64 { return value(w.state()) })
	}
	gauge("state_ok", "1 if the state folder could be written the last time, 0 if not or if the disk hangs.", func(s result.StateFolder) float64 {
		if s.StateError != "" {
			return 0
		}
		return 1
	})
	gauge("state_waiting", "Tables and refusals that wait to be written to the state folder.", func(s result.StateFolder) float64 { return float64(s.StateWaiting) })
}

// addConnected adds whether OpenSM is there.
func (m *metrics) addConnected(there func() bool) {
	promauto.With(m.registry).NewGaugeFunc(prometheus.GaugeOpts{Namespace: "weft", Name: "opensm_connected",
		Help: "1 while OpenSM has a question open, as its plugin does as long as it runs."}, func() float64 {
		if there() {
			return 1
		}
		return 0
	})
}

// showMissing names missing parts; those that were pulled on purpose are no alarm.
func (m *metrics) showMissing(list []result.MissingElement, pulled func(result.MissingElement) bool) {
	m.missing.Reset()
	for _, p := range list {
		value := 1.0
		if pulled(p) {
			value = 0
		}
		m.missing.WithLabelValues(p.Kind, p.Name).Set(value)
	}
}

// noteChange counts how tables replaced others.
func (m *metrics) noteChange(r *result.StatusSweep) {
	c := r.Change
	if c == nil || r.Verdict != deadlockFree {
		return
	}
	m.steps.Set(float64(c.More))
	m.cut.Set(float64(c.CutAfter))
	m.due.Add(float64(c.Due))
	m.blocks.Add(float64(c.Blocks))
	m.cutFor.Add(float64(c.CutBefore) * r.Seconds.Total)
	if c.Kind != string(installed.Same) {
		m.changes.WithLabelValues(c.Kind).Inc()
	}
}

// note counts a sweep.
func (m *metrics) note(r *result.StatusSweep) {
	m.sweeps.WithLabelValues(r.Verdict).Inc()
	m.lanes.Set(float64(r.LanesAvailable))
	m.switches.Set(float64(r.Switches))
	m.hosts.Set(float64(r.Endpoints))
	used := none
	m.proven.Set(0)
	if r.Verdict == deadlockFree {
		used = r.Engine
		m.proven.Set(1)
		m.needed.Set(float64(r.LanesNeeded))
		m.used.Set(float64(r.LanesUsed))
		m.load.Set(float64(r.MaxLoad))
		m.entries.Add(float64(r.ChangedEntries))
		m.levels.Add(float64(r.ChangedSLs))
	}
	m.noteChange(r)
	m.engine.Reset()
	m.engine.WithLabelValues(strings.Join(r.Wanted, ","), used).Set(1)
	m.seconds.WithLabelValues("read").Observe(r.Seconds.Read)
	m.seconds.WithLabelValues("answer").Observe(r.Seconds.Answer)
	m.seconds.WithLabelValues("total").Observe(r.Seconds.Total)
	if r.Cached {
		m.cached.Inc()
		return // a cached answer took no time and found nothing
	}
	m.seconds.WithLabelValues("route").Observe(r.Seconds.Route)
	m.seconds.WithLabelValues("verify").Observe(r.Seconds.Verify)
	for _, a := range r.Tried {
		if a.CreditLoop {
			m.loops.Inc()
		}
	}
}
