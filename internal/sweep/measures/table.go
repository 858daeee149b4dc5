package measures

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/internal/spell"
)

// Kind is a row of the table: all that anybody asks of a measure.
type Kind struct {
	Name string
	Unit string // of its values; empty: a number of things
	What string
	Keys []Key // settings

	// OfPackets says that it can be taken of engines without tables, for it sends packets.
	OfPackets bool

	// OfNetwork says that it is of the network alone, so that nothing need be routed.
	OfNetwork bool

	// Free says that it takes no time once the network is routed and judged.
	Free bool

	// Alone says that nothing else may run beside it, and that its values are another time
	// others.
	Alone bool

	// RunOf names another measure if this one is another figure of its run, and takes no time
	// beside it; Like a measure that takes about as long, for as long as nothing is known of its
	// own time.
	RunOf, Like string

	// work is what its time grows with; nil: the hosts.
	work func(m *Measure, hosts, entries float64) float64

	take func(ctx context.Context, s *Input, m *Measure) (Value, error)
}

// Key is a setting of a measure.
type Key struct {
	Name, Default, What string
	check               func(string) (string, error) // refuses a value, or returns it in the one way of writing it
}

// Kinds is everything that can be measured, in the order in which it is measured. Names,
// keys and defaults are part of what results are known by, so they do not change.
func Kinds() []Kind {
	pattern := Key{"pattern", "bisect", "traffic pattern, as of weft simulate", isPattern}
	const order = "how ranks sit on hosts: switch, name, rail, guid or random, with :N behind the first N of them; apart:N, N as far apart by GUID as can be"
	ranks := Key{"ranks", "switch", order, isPlacement}
	jobs := Key{"ranks", "switch", order + "; " + RanksAnew + "N, N drawn anew for every random pattern", isJob}
	load := Key{"load", "0.5", "offered, of what an endpoint's link carries", isShare}
	sent := []Key{
		{"pattern", "uniform", "traffic pattern, as of weft packets", isPattern}, ranks,
		{"preset", "ib-hdr", "links and switches, as of weft packets", isPreset},
		{"time", "0", "network time to measure, in ns; 0: 4,000 packets", isTime},
	}
	window := []Key{
		{"pattern", "uniform", "traffic pattern, as of weft packets", isPattern},
		{"window", "50000", "time units to measure, once the latency, or what arrives, has settled over as many", isCount},
	}
	failures := []Key{
		{"without", "cable", "what fails: a cable, or a switch", oneOf("cable", "switch")},
		{"failures", "12", "of them, evenly spread", isCount},
		{"drops", "no", "yes: single destinations may drop their packets for a step where there is no other way", oneOf("yes", "no")},
	}
	const units, ofHosts = "on switches that pass a flit on in a time unit", "fraction of the hosts' links"
	return []Kind{
		{Name: "lanes", Free: true, What: "virtual lanes that the proof needs", take: lanes},
		{Name: "loops", Free: true, What: "1 where the tables have a credit loop, 0 where they are proven free", take: loops},
		{Name: "load", Free: true, Unit: "routes", What: "routes on the fullest channel between switches when all send to all", take: fullest},
		{Name: "hops", Free: true, Unit: "hops", What: "mean length of a route, in channels between switches", take: hops},
		{Name: "longest", Free: true, Unit: "hops", What: "length of the longest route", take: longest},
		{Name: "disjoint", Unit: "paths", What: "mean number of paths between two hosts, one for each address, that share no channel between switches", take: disjoint},
		{
			Name: "bandwidth", Unit: "fraction of full", What: "mean bandwidth of the flows of a pattern; of bisect the effective bisection bandwidth",
			Keys: []Key{
				pattern, jobs,
				{"patterns", "1000", "random patterns to draw", isCount},
				{"model", "bottleneck", "bottleneck or maxmin, as of weft simulate", isModel},
				{"rates", "links", "links (each its own) or alike, as the papers have it", oneOf("links", "alike")},
			},
			work: times("patterns"), take: bandwidth,
		},
		{
			Name: "accepted", OfPackets: true, Unit: ofHosts, What: "what arrives of an offered load, packet by packet",
			Keys: append([]Key{load}, sent...), work: ofLoad, take: accepted,
		},
		{
			Name: "latency", RunOf: "accepted", OfPackets: true, Unit: "ns", What: "mean latency of packets at an offered load",
			Keys: append([]Key{load}, sent...), work: ofLoad, take: latency,
		},
		{
			Name: "throughput", OfPackets: true, Unit: ofHosts, What: "the largest load that is still delivered, to 0.01",
			Keys: sent, work: ofTime, take: throughput,
		},
		{
			Name: "settled", Like: "accepted", OfPackets: true, Unit: ofHosts, What: "what arrives of an offered load " + units + ", once it has settled",
			Keys: append([]Key{load}, window...), work: ofWindow, take: settled,
		},
		{
			Name: "settled-latency", RunOf: "settled", Like: "accepted", OfPackets: true, Unit: "time units", What: "mean latency of the same",
			Keys: append([]Key{load}, window...), work: ofWindow, take: settledLatency,
		},
		{
			Name: "delivered", Like: "throughput", OfPackets: true, Unit: ofHosts, What: "the largest load that is still delivered " + units + ", to 0.02",
			Keys: window, work: ofWindow, take: delivered,
		},
		{
			Name: "delivered-latency", RunOf: "delivered", Like: "throughput", OfPackets: true, Unit: "time units", What: "mean latency at that load",
			Keys: window, work: ofWindow, take: deliveredLatency,
		},
		{
			Name: "risk", Unit: "flows", What: "congestion risk of the port with most: sources whose packets leave by it, or their destinations, whichever are fewer; of patterns drawn the median",
			Keys: []Key{
				{"pattern", "alltoall", "traffic pattern, as of weft simulate", isPattern},
				{"patterns", "100", "random patterns to draw", isCount},
			},
			work: times("patterns"), take: risk,
		},
		{Name: "repaired", Unit: "fraction of failures", What: "failures, one at a time, after which every pair that has a way is served by steps that are proven, nothing routed anew", Keys: failures, work: times("failures"), take: ofFailures(wholly)},
		{Name: "repaired-near", RunOf: "repaired", Unit: "fraction of failures", What: "those of them after which no destination that lost nothing gets other paths", Keys: failures, work: times("failures"), take: ofFailures(nearby)},
		{Name: "repaired-at-once", RunOf: "repaired", Unit: "fraction of failures", What: "those of them that take one step", Keys: failures, work: times("failures"), take: ofFailures(inOneStep)},
		{Name: "repair-reach", RunOf: "repaired", Unit: "fraction of pairs", What: "pairs without a way that have one after the first step", Keys: failures, work: times("failures"), take: ofFailures(atFirst)},
		{Name: "repair-entries", RunOf: "repaired", Unit: "entries", What: "entries that repairs change, for each that leads into nothing", Keys: failures, work: times("failures"), take: ofFailures(rewritten)},
		{Name: "repair-back", RunOf: "repaired", Unit: "fraction of failures", What: "failures after which the tables come back exactly when the part does", Keys: failures, work: times("failures"), take: ofFailures(broughtBack)},
		{Name: "repair-bandwidth", Unit: "fraction of routing anew", What: "effective bisection bandwidth with repaired tables, by that with new ones", Keys: failures, work: times("failures"), take: ofEach(repairBandwidth)},
		{
			Name: "stops", Unit: "µs", What: "time after which the network stood still, everything on one lane and every host with a message along a credit loop: the mean of the runs that stopped",
			Keys: []Key{{"repeats", "50", "runs, with other pairs", isCount}},
			work: times("repeats"), take: stops,
		},
		{
			Name: "completion", Unit: "µs", What: "time after which all messages of a pattern that is sent once have arrived, packet by packet, each phase when all of the one before has",
			Keys: []Key{
				{"pattern", "alltoall", "traffic pattern, as of weft packets", isPattern}, ranks,
				{"message", "65536", "bytes of a message", isCount},
				{"preset", "ib-hdr", "links and switches, as of weft packets", isPreset},
			},
			take: completion,
		},
		{
			Name: "layers", Unit: "layers", OfNetwork: true, What: "layers that shortest paths of all pairs need",
			Keys: []Key{{"of", mpLASH, "which, and who takes any of them: mp-lash, all, the source; mp-lash-by-destination, the same with the pairs in another order; a-lash, all, the switches, grouped by the first link; lash-source, one, drawn", oneOf(mpLASH, mpLASHByDestination, aLASH, lashSource)}},
			take: layers,
		},
		{
			Name: "rounds", Unit: "rounds", OfNetwork: true, What: "rounds of messages between neighbours until every switch has computed its tables of MROOTS by itself",
			Keys: []Key{{"lmc", "2", "addresses of a host port, so trees: two to this power", isLMC}},
			take: rounds,
		},
		{Name: "ports", Unit: "ports", OfNetwork: true, What: "ports of the switch with most", take: ports},
		{
			Name: "time", Unit: "s", Alone: true, What: "routing, paths and lanes: the least of several runs on all cores",
			Keys: []Key{{"repeats", "3", "runs, fewer of those that take seconds", isCount}},
			work: ofEntries, take: clock,
		},
		{Name: "repair-time", Unit: "s", Alone: true, What: "processor time of a repair, without its proof: the mean, and the longest", Keys: failures, work: times("failures"), take: ofEach(repairSeconds)},
		{Name: "memory", Unit: "MiB", Alone: true, What: "memory at the peak of a process that makes the network, routes it and proves it", take: memory},
	}
}

// Named finds a measure.
func Named(name string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, fmt.Errorf("no measure is called %q%s (there are %s)", name, spell.Hint(name, names), strings.Join(names, ", "))
}

// Unusual is those settings of a measure, as key=value with commas between, that are not
// the default.
func Unusual(measure, settings string) string {
	k, err := Named(measure)
	if err != nil || settings == "" {
		return settings
	}
	usual := k.With(nil)
	return strings.Join(slices.DeleteFunc(strings.Split(settings, ","), func(pair string) bool {
		key, value, _ := strings.Cut(pair, "=")
		return usual.Setting(key) == value
	}), ",")
}

// Alone reports whether a measure must be taken with nothing beside it.
func (m *Measure) Alone() bool {
	k, err := Named(m.Name)
	return err == nil && k.Alone
}

// Free reports whether a measure takes no time once the network is routed and judged.
func (m *Measure) Free() bool {
	k, err := Named(m.Name)
	return err == nil && k.Free
}

// Key finds a setting.
func (k *Kind) Key(name string) (*Key, error) {
	var names []string
	for i := range k.Keys {
		if k.Keys[i].Name == name {
			return &k.Keys[i], nil
		}
		names = append(names, k.Keys[i].Name)
	}
	if names == nil {
		return nil, fmt.Errorf("%s has no settings, so no %q", k.Name, name)
	}
	return nil, fmt.Errorf("%s has no setting %q%s (it has %s)", k.Name, name, spell.Hint(name, names), strings.Join(names, ", "))
}

// Check is a value of the setting in the one way of writing it, or why it is none.
func (k *Key) Check(text string) (string, error) { return k.check(text) }

// With is the measure with settings, those that are not given at their defaults.
func (k *Kind) With(given map[string]string) Measure {
	m := Measure{Name: k.Name}
	for _, key := range k.Keys {
		value, ok := given[key.Name]
		if !ok {
			value = key.Default
		}
		m.Settings = append(m.Settings, Setting{key.Name, value})
	}
	return m
}
