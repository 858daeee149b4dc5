package measures

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/traffic"
)

// placed is a pattern, and the hosts of its ranks by rank, of which the setting ranks: says how
// they are chosen. A pattern whose hosts are drawn anew each time comes back wrapped, with all
// hosts.
func (in *Input) placed(pattern traffic.Pattern, ranks string) (traffic.Pattern, traffic.Placement, error) {
	hosts := in.hosts()
	n, anew := strings.CutPrefix(ranks, RanksAnew)
	if !anew {
		var apart bool
		if n, apart = strings.CutPrefix(ranks, RanksApart); !apart {
			at, err := traffic.Place(ranks, in.Fabric, hosts, in.Seed)
			return pattern, at, err
		}
	}
	size, err := strconv.Atoi(n)
	switch {
	case err != nil:
		return nil, nil, err
	case size > len(hosts):
		return nil, nil, fmt.Errorf("ranks %s: there are %d hosts", ranks, len(hosts))
	case anew && !pattern.Random():
		return nil, nil, fmt.Errorf("ranks %s: %s is measured once, with nothing to draw hosts anew for; apart:%s takes so many hosts far apart", ranks, pattern, n)
	}
	slices.Sort(hosts) // by GUID
	if anew {
		return job{pattern, size}, hosts, nil
	}
	apart := make(traffic.Placement, size)
	for i := range apart {
		apart[i] = hosts[i*len(hosts)/size]
	}
	return pattern, apart, nil
}

// job is a random pattern among some of the ranks, drawn anew each time: a job on part of
// a machine.
type job struct {
	traffic.Pattern
	ranks int
}

func (p job) Phases(n int) (int, error) { return p.Pattern.Phases(min(n, p.ranks)) }

func (p job) Append(pairs []traffic.Pair, n, phase int, r *rand.Rand) []traffic.Pair {
	chosen := r.Perm(n)[:min(n, p.ranks)]
	first := len(pairs)
	pairs = p.Pattern.Append(pairs, len(chosen), phase, r)
	for i := range pairs[first:] {
		pair := &pairs[first+i]
		pair.From, pair.To = int32(chosen[pair.From]), int32(chosen[pair.To])
	}
	return pairs
}

func (p job) String() string { return fmt.Sprintf("%s of %d ranks", p.Pattern, p.ranks) }
