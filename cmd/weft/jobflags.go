package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/fabric/names"
	"github.com/weft-fabric/weft/traffic"
)

// jobFlags is what is said of a job: who sends to whom, and where its ranks run.
type jobFlags struct {
	flags       *pflag.FlagSet
	pattern     string
	traffic     string
	allocation  string
	ranks       string
	rails       []string
	perEndpoint int
}

// addTo declares the flags, with the pattern that is meant if none is given.
func (o *jobFlags) addTo(c *cobra.Command, pattern string) {
	f := c.Flags()
	o.flags = f
	f.StringVar(&o.pattern, "pattern", pattern, "who sends to whom: "+strings.Join(patternNames(), ", ")+"; + joins several")
	f.StringVar(&o.traffic, "traffic", "", "file of src,dst[,bytes], by host name, adapter, GUID or LID, in place of a pattern")
	f.StringVar(&o.allocation, "allocation", "all", "endpoints that the ranks run on: "+traffic.PlacementHelp+", names:A,B,…, also as in Slurm: names:a[1-3,7],b02")
	f.StringVar(&o.ranks, "ranks", "", "file of the hosts that the ranks run on, or an Open MPI rank file, in place of --allocation")
	f.StringSliceVar(&o.rails, "rail", nil, "only these adapters of each host: a number of weft info, from 1, or a name such as mlx5_0, with commas between (default: all)")
	f.IntVar(&o.perEndpoint, "per-endpoint", 1, "processes on each endpoint")
	completeNames(c, "pattern", patternNames)
}

// hostNamesHelp says in long helps what names of hosts may be.
const hostNamesHelp = `A host with several adapters (luna-0001) counts with all of them, rail by rail;
luna-0001/mlx5_0 is one, and --rail picks some of every host. Names may hold *.`

// parse checks the flags and returns the pattern, or nil where a file has it.
func (o *jobFlags) parse(a *app) (traffic.Pattern, error) {
	given := o.flags.Changed
	if p, err := traffic.Parse(o.traffic); given("traffic") && missing(o.traffic) && err == nil && !given("pattern") {
		// What weft packets called --traffic before: to be dropped after a release.
		a.note("--traffic %s: a pattern is given with --pattern; --traffic is a file", o.traffic)
		o.pattern, o.traffic = o.traffic, ""
		return p, nil
	}
	switch {
	case o.traffic != "" && given("pattern"):
		return nil, usage("--traffic is a file in place of --pattern; give one of them")
	case o.traffic != "" && (given("allocation") || given("ranks")):
		return nil, usage("--traffic says which endpoints talk; --allocation and --ranks are for patterns")
	case given("allocation") && given("ranks"):
		return nil, usage("--ranks is a file in place of --allocation; give one of them")
	case o.perEndpoint < 1 || o.perEndpoint > 1024:
		return nil, usage("--per-endpoint %d: it is 1 to 1024", o.perEndpoint)
	case o.traffic != "":
		return nil, nil
	}
	p, err := traffic.Parse(o.pattern)
	if err != nil {
		return nil, usage("--pattern: %w", err)
	}
	return p, nil
}

// place puts the ranks on some endpoints of a fabric, and reads the pattern where a
// file has it.
func (o *jobFlags) place(a *app, f *fabric.Fabric, among []fabric.EndpointID, p traffic.Pattern, seed uint64) (traffic.Pattern, traffic.Placement, error) {
	index := names.New(f)
	hosts, err := index.Endpoints(among, o.rails...)
	if err != nil {
		return nil, nil, usage("--rail: %w", err)
	}
	var ranks traffic.Placement
	list, named := strings.CutPrefix(o.allocation, "names:")
	switch {
	case o.traffic != "":
		ranks, err = readFile(a.console, o.traffic, func(r io.Reader, name string) (ranks traffic.Placement, err error) {
			p, ranks, err = traffic.ReadPairs(r, name, hosts)
			return ranks, err
		})
	case o.ranks != "":
		ranks, err = readFile(a.console, o.ranks, func(r io.Reader, name string) (traffic.Placement, error) {
			return traffic.ReadRanks(r, name, hosts)
		})
	case named:
		if ranks, err = traffic.ReadRanks(strings.NewReader(strings.Join(names.SplitList(list), "\n")), "--allocation names", hosts); err != nil {
			err = usage("%w", err)
		}
	default:
		ranks, err = o.placeAll(index, among, f, seed)
	}
	if err != nil {
		return nil, nil, err
	}
	ranks = ranks.Times(o.perEndpoint)
	if _, err := p.Phases(len(ranks)); err != nil {
		return nil, nil, usage("%w", err)
	}
	return p, ranks, nil
}

// placeAll is an allocation that names no hosts.
func (o *jobFlags) placeAll(index *names.Index, among []fabric.EndpointID, f *fabric.Fabric, seed uint64) (traffic.Placement, error) {
	among, err := index.OnRails(among, o.rails)
	if err != nil {
		return nil, usage("--rail: %w", err)
	}
	ranks, err := traffic.Place(o.allocation, f, among, seed)
	if err != nil {
		return nil, usage("--allocation: %w", err)
	}
	return ranks, nil
}

func patternNames() (names []string) {
	for _, k := range traffic.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

func patternHelp() string {
	var b strings.Builder
	for _, k := range traffic.Kinds() {
		fmt.Fprintf(&b, "  %-20s %s\n", k.Example, k.Summary)
	}
	return b.String()
}

// String is the pattern, or the file it is in.
func (o *jobFlags) String() string {
	if o.traffic != "" {
		return o.traffic
	}
	return o.pattern
}
