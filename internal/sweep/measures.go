package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/internal/spell"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/traffic"
)

// Kind is a row of the table of measures.
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
}

// Key is a setting of a measure.
type Key struct {
	Name, Default, What string
	check               func(string) (string, error) // what it means in one way of writing it
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
	const units = "on switches that pass a flit on in a time unit"
	return []Kind{
		{Name: "lanes", Free: true, What: "virtual lanes that the proof needs"},
		{Name: "loops", Free: true, What: "1 where the tables have a credit loop, 0 where they are proven free"},
		{Name: "load", Free: true, Unit: "routes", What: "routes on the fullest channel between switches when all send to all"},
		{Name: "hops", Free: true, Unit: "hops", What: "mean length of a route, in channels between switches"},
		{Name: "longest", Free: true, Unit: "hops", What: "length of the longest route"},
		{Name: "disjoint", Unit: "paths", What: "mean number of paths between two hosts, one for each address, that share no channel between switches"},
		{Name: "bandwidth", Unit: "fraction of full", What: "mean bandwidth of the flows of a pattern; of bisect the effective bisection bandwidth", Keys: []Key{
			pattern, jobs,
			{"patterns", "1000", "random patterns to draw", isCount},
			{"model", "bottleneck", "bottleneck or maxmin, as of weft simulate", isModel},
			{"rates", "links", "links (each its own) or alike, as the papers have it", isRates},
		}},
		{Name: "accepted", OfPackets: true, Unit: "fraction of the hosts' links", What: "what arrives of an offered load, packet by packet", Keys: append([]Key{load}, sent...)},
		{Name: "latency", OfPackets: true, Unit: "ns", What: "mean latency of packets at an offered load", Keys: append([]Key{load}, sent...)},
		{Name: "throughput", OfPackets: true, Unit: "fraction of the hosts' links", What: "the largest load that is still delivered, to 0.01", Keys: sent},
		{Name: "settled", OfPackets: true, Unit: "fraction of the hosts' links", What: "what arrives of an offered load " + units + ", once it has settled", Keys: append([]Key{load}, window...)},
		{Name: "settled-latency", OfPackets: true, Unit: "time units", What: "mean latency of the same", Keys: append([]Key{load}, window...)},
		{Name: "delivered", OfPackets: true, Unit: "fraction of the hosts' links", What: "the largest load that is still delivered " + units + ", to 0.02", Keys: window},
		{Name: "delivered-latency", OfPackets: true, Unit: "time units", What: "mean latency at that load", Keys: window},
		{Name: "risk", Unit: "flows", What: "congestion risk of the port with most: sources whose packets leave by it, or their destinations, whichever are fewer; of patterns drawn the median", Keys: []Key{
			{"pattern", "alltoall", "traffic pattern, as of weft simulate", isPattern},
			{"patterns", "100", "random patterns to draw", isCount},
		}},
		{Name: "stops", Unit: "µs", What: "time after which the network stood still, everything on one lane and every host with a message along a credit loop: the mean of the runs that stopped", Keys: []Key{
			{"repeats", "50", "runs, with other pairs", isCount},
		}},
		{Name: "completion", Unit: "µs", What: "time after which all messages of a pattern that is sent once have arrived, packet by packet, each phase when all of the one before has", Keys: []Key{
			{"pattern", "alltoall", "traffic pattern, as of weft packets", isPattern}, ranks,
			{"message", "65536", "bytes of a message", isCount},
			{"preset", "ib-hdr", "links and switches, as of weft packets", isPreset},
		}},
		{Name: "layers", Unit: "layers", OfNetwork: true, What: "layers that all shortest paths of all pairs need", Keys: []Key{
			{"of", "mp-lash", "who may take any of them: mp-lash, the source, or a-lash, the switches, grouped by the first link", isOpen},
		}},
		{Name: "rounds", Unit: "rounds", OfNetwork: true, What: "rounds of messages between neighbours until every switch has computed its tables of MROOTS by itself", Keys: []Key{
			{"lmc", "2", "addresses of a host port, so trees: two to this power", isLMC},
		}},
		{Name: "ports", Unit: "ports", OfNetwork: true, What: "ports of the switch with most"},
		{Name: "time", Unit: "s", What: "routing, paths and lanes: the least of several runs on all cores", Keys: []Key{{"repeats", "3", "runs, fewer of those that take seconds", isCount}}, Alone: true},
		{Name: "memory", Unit: "MiB", What: "memory at the peak of a process that makes the network, routes it and proves it", Alone: true},
	}
}

// KindNamed finds a measure.
func KindNamed(name string) (Kind, error) {
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
	k, err := KindNamed(measure)
	if err != nil || settings == "" {
		return settings
	}
	usual := k.measure(nil)
	return strings.Join(slices.DeleteFunc(strings.Split(settings, ","), func(pair string) bool {
		key, value, _ := strings.Cut(pair, "=")
		return usual.Setting(key) == value
	}), ",")
}

// Alone says whether a measure must be taken with nothing beside it.
func (m *Measure) Alone() bool {
	k, err := KindNamed(m.Name)
	return err == nil && k.Alone
}

// Free says whether a measure takes no time once the network is routed and judged.
func (m *Measure) Free() bool {
	k, err := KindNamed(m.Name)
	return err == nil && k.Free
}

// key finds a setting.
func (k *Kind) key(name string) (*Key, error) {
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

// measure is the measure with settings, those that are not given at their defaults.
func (k *Kind) measure(given map[string]string) Measure {
	m := Measure{Name: k.Name}
	for _, key := range k.Keys {
		value, ok := given[key.Name]
		if !ok {
			value = key.Default
		}
		m.Settings = append(m.Settings, Parameter{key.Name, value})
	}
	return m
}

func isPattern(text string) (string, error) {
	_, err := traffic.Parse(text)
	return text, err
}

// RanksAnew and RanksApart begin what ranks: may be besides the placements of package traffic.
const (
	RanksAnew  = "anew:"
	RanksApart = "apart:"
)

// isJob is isPlacement, or a job on hosts drawn anew for every pattern.
func isJob(text string) (string, error) {
	if n, anew := strings.CutPrefix(text, RanksAnew); anew {
		n, err := isCount(n)
		return RanksAnew + n, err
	}
	return isPlacement(text)
}

// isPlacement checks the word and the number; whether there are so many hosts shows when a
// network is there.
func isPlacement(text string) (string, error) {
	if n, apart := strings.CutPrefix(text, RanksApart); apart {
		n, err := isCount(n)
		return RanksApart + n, err
	}
	word, n, numbered := strings.Cut(text, ":")
	if !slices.Contains([]string{"switch", "name", "rail", "guid", "random"}, word) {
		return "", fmt.Errorf("%q is no order of ranks; it is switch, name, rail, guid or random, with :N behind it if need be", text)
	}
	if !numbered {
		return word, nil
	}
	n, err := isCount(n)
	return word + ":" + n, err
}

func isShare(text string) (string, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0 && v <= 1) {
		return "", fmt.Errorf("%q is no load; loads are above 0 and at most 1", text)
	}
	return strconv.FormatFloat(v, 'g', -1, 64), nil
}

func isPreset(text string) (string, error) {
	_, err := packets.PresetNamed(text)
	return text, err
}

func isTime(text string) (string, error) {
	n, err := strconv.ParseUint(text, 10, 40)
	if err != nil {
		return "", fmt.Errorf("%q is no time; it is a whole number of ns", text)
	}
	return strconv.FormatUint(n, 10), nil
}

func isCount(text string) (string, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1_000_000 {
		return "", fmt.Errorf("%q is no number from 1 to 1000000", text)
	}
	return strconv.Itoa(n), nil
}

func isModel(text string) (string, error) {
	m, err := congestion.ParseModel(text)
	return m.String(), err
}

func isRates(text string) (string, error) {
	if text != "links" && text != "alike" {
		return "", fmt.Errorf("%q is neither links nor alike", text)
	}
	return text, nil
}

func isOpen(text string) (string, error) {
	if text != "mp-lash" && text != "a-lash" {
		return "", fmt.Errorf("%q is neither mp-lash nor a-lash", text)
	}
	return text, nil
}

func isLMC(text string) (string, error) {
	n, err := within(text, 7)
	return strconv.Itoa(n), err
}
