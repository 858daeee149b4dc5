package traffic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/spell"
)

// Orders is the placements that say in which order hosts are handed out to jobs, as --rank-order takes them: all endpoints,
// and no random draw.
var Orders = []string{"switch", "name", "rail"}

// PlacementHelp lists what Place reads, for help texts.
const PlacementHelp = "all or switch (by switch and port), name (by host name, numbers by value), rail (rail by rail, each by name), guid (by GUID), random, jobs:J (J jobs on some at random, each by switch and port); " +
	":N behind any other but all takes N of them, which linear:N does by switch and port"

// placementRun is the number of the random stream (see Stream) that placements draw from,
// apart from those of the runs of patterns, which are counted from 0.
const placementRun = 1 << 63

// Place puts ranks on some of the endpoints of a list, such as those in a scope:
//
//	all       all of them, by switch and port: consecutive ranks are close
//	switch    the same
//	name      all of them, by the names of their hosts, as schedulers hand hosts out
//	rail      all of them, rail by rail, each by name
//	guid      all of them by EndpointID, which is switches, adapters, routers, each by the
//	          GUID of their nodes, as subnet managers list them
//	random    all of them, in random order
//	jobs:J    all of them, in J jobs of about as many ranks each, as job-shifts has them: the endpoints of each are drawn at
//	          random, and its ranks are in order of switch and port
//
// With :N behind any but all and jobs, it is the first N of these, of random any N. linear:N is switch:N.
// The seed is for random and jobs only. The order of the list does not matter.
func Place(spec string, f *fabric.Fabric, endpoints []fabric.EndpointID, seed uint64) (Placement, error) {
	how, count, counted := strings.Cut(spec, ":")
	p := Placement(slices.Clone(endpoints))
	switch how {
	case "all", "linear", "switch":
		p = f.ByPort(p)
	case "name":
		p = names.New(f).ByName(p)
	case "rail":
		p = names.New(f).ByRail(p)
	case "random":
		shuffle(p, seed)
	case "jobs":
		return fragmented(spec, count, f, p, seed)
	case "guid":
		slices.Sort(p)
	default:
		known := []string{"all", "switch", "name", "rail", "guid", "random", "jobs", "linear"}
		return nil, fmt.Errorf("no placement %q%s (placements: %s)", how, spell.Hint(how, known), PlacementHelp)
	}
	if how == "all" && counted || how == "linear" && !counted {
		return nil, fmt.Errorf("placement %q: placements are %s", spec, PlacementHelp)
	}
	if counted {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("placement %s: %q is no number of endpoints", spec, count)
		}
		if n > len(p) {
			return nil, fmt.Errorf("placement %s: there are %d endpoints in scope", spec, len(p))
		}
		p = p[:n]
	}
	if len(p) == 0 {
		return nil, fmt.Errorf("placement %s: no endpoint is in scope", spec)
	}
	return p, nil
}

// shuffle brings p into a random order, which does not depend on the order it had.
func shuffle(p Placement, seed uint64) {
	slices.Sort(p)
	r := Stream(seed, placementRun)
	r.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
}

// fragmented is the placement jobs:count. It puts p into another order, and returns it.
func fragmented(spec, count string, f *fabric.Fabric, p Placement, seed uint64) (Placement, error) {
	jobs, err := strconv.Atoi(count)
	if err != nil || jobs < 1 {
		return nil, fmt.Errorf("placement %s: %q is no number of jobs", spec, count)
	}
	if jobs > len(p) {
		return nil, fmt.Errorf("placement %s: there are %d endpoints in scope", spec, len(p))
	}
	shuffle(p, seed)
	for j := range jobs {
		first, end := jobRanks(len(p), jobs, j)
		copy(p[first:end], f.ByPort(p[first:end]))
	}
	return p, nil
}

// Pairs is the pattern of some pairs among so many ranks, which all send at once. The name
// says where they are from.
func Pairs(name string, ranks int, pairs []Pair) Pattern {
	return &pairList{name: name, ranks: ranks, pairs: pairs}
}

// pairList is one phase with all pairs.
type pairList struct {
	name  string // where they are from
	ranks int    // that there are; the pairs are between them
	pairs []Pair
}

func (l *pairList) Phases(n int) (int, error) {
	if n != l.ranks {
		return 0, fmt.Errorf("%s is about %d endpoints, not %d", l.name, l.ranks, n)
	}
	return 1, nil
}

func (l *pairList) Append(pairs []Pair, _, _ int, _ *rand.Rand) []Pair { // of one phase, and not random
	return append(pairs, l.pairs...)
}

func (l *pairList) Random() bool   { return false }
func (l *pairList) String() string { return l.name }
