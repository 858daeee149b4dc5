package measure

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
)

// A network is a spec of package topology and, after it, what was done to it:
//
//	torus:4x4,hosts=20 ports-shuffled=3    cables of switches in other ports, by that seed
//	deimos hosts-packed                    the hosts of a job are the first ones
//	deimos hosts-apart                     they are as far apart in the order of hosts as can be
//
// What a paper leaves open is swept: several networks with " | " between them, of which a
// value is the mean, with the least and the most.
const (
	Or            = " | "
	PortsShuffled = " ports-shuffled="
	HostsPacked   = " hosts-packed"
	HostsApart    = " hosts-apart"
)

// Drawn is a network by itself.
type Drawn struct {
	Spec string
	Seed uint64 // of what else is drawn: missing cables, patterns
}

// Networks is the networks that a text stands for: one after another, and those with a
// {seed}, or all if every network is drawn by something else, so many times with one seed
// after another.
func Networks(text string, seed uint64, draws int, drawn bool) (list []Drawn) {
	for spec := range strings.SplitSeq(text, Or) {
		n := 1
		if drawn || strings.Contains(spec, SeedMark) {
			n = max(1, draws)
		}
		for i := range uint64(n) {
			list = append(list, Drawn{strings.ReplaceAll(spec, SeedMark, strconv.FormatUint(seed+i, 10)), seed + i})
		}
	}
	return list
}

// Build builds a network.
func Build(text string) (*fabric.Fabric, error) {
	spec, _, _ := strings.Cut(text, HostsPacked)
	spec, _, _ = strings.Cut(spec, HostsApart)
	spec, seed, shuffled := strings.Cut(spec, PortsShuffled)
	family, err := topology.Parse(spec)
	if err != nil {
		return nil, err
	}
	f, err := family.Build()
	if err != nil || !shuffled {
		return f, err
	}
	n, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("measure: %q: the seed of shuffled ports is a whole number", text)
	}
	return topology.ShufflePorts(f, n)
}

// hostsOf is the hosts of a network, or those of them that a job of a fixed placement has;
// drawn says that a job is to be drawn anew for each pattern.
func hostsOf(f *fabric.Fabric, text string, job int) (hosts []fabric.EndpointID, drawn bool) {
	hosts = routing.HCA.Endpoints(f)
	n := len(hosts)
	switch {
	case job == 0 || job >= n:
		return hosts, false
	case strings.HasSuffix(text, HostsPacked):
		return hosts[:job], false
	case strings.HasSuffix(text, HostsApart):
		apart := make([]fabric.EndpointID, job)
		for i := range apart {
			apart[i] = hosts[i*n/job]
		}
		return apart, false
	}
	return hosts, true
}
