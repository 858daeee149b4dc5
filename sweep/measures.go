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
	ranks := Key{"ranks", "switch", "how ranks sit on hosts: switch, name, rail, guid or random, with :N behind the first N of them", isPlacement}
	load := Key{"load", "0.5", "offered, of what an endpoint's link carries", isShare}
	sent := []Key{
		{"pattern", "uniform", "traffic pattern, as of weft packets", isPattern}, ranks,
		{"preset", "ib-hdr", "links and switches, as of weft packets", isPreset},
		{"time", "0", "network time to measure, in ns; 0: 4,000 packets", isTime},
	}
	return []Kind{
		{Name: "lanes", What: "virtual lanes that the proof needs"},
		{Name: "loops", What: "1 where the tables have a credit loop, 0 where they are proven free"},
		{Name: "load", Unit: "routes", What: "routes on the fullest channel between switches when all send to all"},
		{Name: "hops", Unit: "hops", What: "mean length of a route, in channels between switches"},
		{Name: "longest", Unit: "hops", What: "length of the longest route"},
		{Name: "disjoint", Unit: "paths", What: "mean number of paths between two hosts, one for each address, that share no channel between switches"},
		{Name: "bandwidth", Unit: "fraction of full", What: "mean bandwidth of the flows of a pattern; of bisect the effective bisection bandwidth", Keys: []Key{
			pattern, ranks,
			{"patterns", "1000", "random patterns to draw", isCount},
			{"model", "bottleneck", "bottleneck or maxmin, as of weft simulate", isModel},
			{"rates", "links", "links (each its own) or alike, as the papers have it", isRates},
		}},
		{Name: "accepted", Unit: "fraction of the hosts' links", What: "what arrives of an offered load, packet by packet", Keys: append([]Key{load}, sent...)},
		{Name: "latency", Unit: "ns", What: "mean latency of packets at an offered load", Keys: append([]Key{load}, sent...)},
		{Name: "throughput", Unit: "fraction of the hosts' links", What: "the largest load that is still delivered, to 0.01", Keys: sent},
		{Name: "time", Unit: "s", What: "routing, paths and lanes: the least of several runs on all cores", Keys: []Key{{"repeats", "3", "runs", isCount}}, Alone: true},
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

// isPlacement checks the word and the number; whether there are so many hosts shows when a
// network is there.
func isPlacement(text string) (string, error) {
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
