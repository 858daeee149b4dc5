package flags

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/jobfiles"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// Job is what is said of a job: who sends to whom, and where its ranks run. A command calls AddTo,
// then Parse, and Place when it has the fabric.
type Job struct {
	given       func(flag string) bool // it is on the command line
	pattern     string
	traffic     string
	allocation  string
	ranks       string
	rails       []string
	perEndpoint int
}

// AddTo declares the flags, with the pattern that is meant if none is given.
func (o *Job) AddTo(c *cobra.Command, pattern string) {
	f := c.Flags()
	o.given = f.Changed
	f.StringVar(&o.pattern, "pattern", pattern, "who sends to whom: "+strings.Join(patternNames(), ", ")+"; + joins several")
	f.StringVar(&o.traffic, "traffic", "", "file of src,dst[,bytes], by host name, adapter, GUID or LID, or groups of hosts such as gpu-*, in place of a pattern; with --allocation or --ranks by rank, from 0")
	f.StringVar(&o.allocation, "allocation", "all", "endpoints that the ranks run on: "+traffic.PlacementHelp+", names:A,B,…, also as in Slurm: names:a[1-3,7],b02")
	f.StringVar(&o.ranks, "ranks", "", "file of the hosts that the ranks run on, or an Open MPI rank file, in place of --allocation")
	f.StringSliceVar(&o.rails, "rail", nil, "only these adapters of each host: a number of weft info, from 1, or a name such as mlx5_0, with commas between (default: all)")
	f.IntVar(&o.perEndpoint, "per-endpoint", 1, "processes on each endpoint")
	Complete(c, "pattern", patternNames)
}

// HostNamesHelp says in long helps what names of hosts may be.
const HostNamesHelp = `A host with several adapters (luna-0001) counts with all of them, rail by rail;
luna-0001/mlx5_0 is one, and --rail picks some of every host. Names may hold *.`

// Parse checks the flags and returns the pattern, or nil where a file has it.
func (o *Job) Parse(c *console.Console) (traffic.Pattern, error) {
	if p, err := traffic.Parse(o.traffic); o.given("traffic") && console.Missing(o.traffic) && err == nil && !o.given("pattern") {
		// What weft packets called --traffic before: to be dropped after a release.
		c.Note("--traffic %s: a pattern is given with --pattern; --traffic is a file", o.traffic)
		o.pattern, o.traffic = o.traffic, ""
		return p, nil
	}
	switch {
	case o.traffic != "" && o.given("pattern"):
		return nil, exit.Usage("--traffic is a file in place of --pattern; give one of them")
	case o.given("allocation") && o.given("ranks"):
		return nil, exit.Usage("--ranks is a file in place of --allocation; give one of them")
	case o.perEndpoint < 1 || o.perEndpoint > 1024:
		return nil, exit.Usage("--per-endpoint %d: it is 1 to 1024", o.perEndpoint)
	case o.traffic != "":
		return nil, nil
	}
	p, err := traffic.Parse(o.pattern)
	if err != nil {
		return nil, exit.Usage("--pattern: %w", err)
	}
	return p, nil
}

// IsFile reports whether a file has the pattern.
func (o *Job) IsFile() bool { return o.traffic != "" }

// byRank reports whether the file with the pattern names ranks: flags say which hosts they run on.
func (o *Job) byRank() bool {
	return o.traffic != "" && (o.given("allocation") || o.given("ranks"))
}

// Place puts the ranks on some endpoints of a fabric. p is what Parse returned; where a file has the
// pattern, Place reads it. It returns the pattern, and the endpoint of each rank.
func (o *Job) Place(c *console.Console, f *fabric.Fabric, among []fabric.EndpointID, p traffic.Pattern, seed uint64) (traffic.Pattern, traffic.Placement, error) {
	index := names.New(f)
	hosts, err := index.Endpoints(among, o.rails...)
	if err != nil {
		return nil, nil, exit.Usage("--rail: %w", err)
	}
	var ranks traffic.Placement
	list, named := strings.CutPrefix(o.allocation, "names:")
	switch {
	case o.traffic != "" && !o.byRank():
		ranks, err = console.ReadFile(c, o.traffic, func(r io.Reader, name string) (ranks traffic.Placement, err error) {
			p, ranks, err = jobfiles.Pairs(r, name, hosts)
			return ranks, err
		})
	case o.ranks != "":
		ranks, err = console.ReadFile(c, o.ranks, func(r io.Reader, name string) (traffic.Placement, error) {
			return jobfiles.Ranks(r, name, hosts)
		})
	case named:
		if ranks, err = jobfiles.Ranks(strings.NewReader(strings.Join(names.SplitList(list), "\n")), "--allocation names", hosts); err != nil {
			err = exit.Usage("%w", err)
		}
	default:
		ranks, err = o.placeAll(index, among, f, seed)
	}
	if err != nil {
		return nil, nil, err
	}
	ranks = jobfiles.Times(ranks, o.perEndpoint)
	if o.byRank() {
		p, err = console.ReadFile(c, o.traffic, func(r io.Reader, name string) (traffic.Pattern, error) {
			return jobfiles.RankPairs(r, name, len(ranks))
		})
		if err != nil {
			return nil, nil, fmt.Errorf("%w; beside --allocation or --ranks, --traffic goes by rank", err)
		}
	}
	p = onRails(c, index, p, ranks)
	if _, err := p.Phases(len(ranks)); err != nil {
		return nil, nil, exit.Usage("%w", err)
	}
	return p, ranks, nil
}

// TrafficOf reads a file with who sends to whom, and where they are.
func TrafficOf(c *console.Console, f *fabric.Fabric, among []fabric.EndpointID, file string) (traffic.Pattern, traffic.Placement, error) {
	o := Job{traffic: file, given: func(string) bool { return false }, perEndpoint: 1}
	return o.Place(c, f, among, nil, 0)
}

// onRails is a pattern that knows, if it is about rails, which rank is on which; it warns of ranks
// that the pattern leaves out.
func onRails(c *console.Console, index *names.Index, p traffic.Pattern, ranks traffic.Placement) traffic.Pattern {
	rails := make([]int, len(ranks))
	for i, e := range ranks {
		rails[i] = index.RailOf(e)
	}
	p, silent := traffic.OnRails(p, rails)
	if silent > 0 {
		c.Note("%s: of %d ranks %d left out, on no rail or alone on one (weft info lists rails)", p, len(ranks), silent)
	}
	return p
}

// placeAll is the placement of an allocation that names no hosts, such as random:16.
func (o *Job) placeAll(index *names.Index, among []fabric.EndpointID, f *fabric.Fabric, seed uint64) (traffic.Placement, error) {
	among, err := index.OnRails(among, o.rails)
	if err != nil {
		return nil, exit.Usage("--rail: %w", err)
	}
	ranks, err := traffic.Place(o.allocation, f, among, seed)
	if err != nil {
		return nil, exit.Usage("--allocation: %w", err)
	}
	return ranks, nil
}

// patternNames is the names of all patterns.
func patternNames() []string {
	return list.Of(traffic.Kinds(), func(k traffic.Kind) string { return k.Name })
}

// String is the pattern, or the file it is in.
func (o *Job) String() string {
	if o.traffic != "" {
		return o.traffic
	}
	return o.pattern
}

// Allocations is the jobs of a cluster, NAME=HOSTS, whose bandwidth is shown.
type Allocations []string

// Allocation is a job and the endpoints that its ranks run on.
type Allocation struct {
	Name      string
	Placement traffic.Placement
}

// AddTo declares --job.
func (o *Allocations) AddTo(f *pflag.FlagSet) {
	f.StringArrayVar((*[]string)(o), "job", nil, "NAME=HOSTS: a job whose bandwidth is shown; HOSTS is a list such as a[1-3,7],b02; may be repeated")
}

// Place finds the hosts of every job.
func (o Allocations) Place(f *fabric.Fabric, scope routing.Scope) ([]Allocation, error) {
	if len(o) == 0 {
		return nil, nil
	}
	hosts, err := names.New(f).Endpoints(scope.Endpoints(f))
	if err != nil {
		return nil, err
	}
	var jobs []Allocation
	for _, text := range o {
		name, list, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, exit.Usage("--job %s: give the job a name and its hosts, as in lattice=node[001-128]", text)
		}
		ranks, err := jobfiles.Ranks(strings.NewReader(strings.Join(names.SplitList(list), "\n")), "--job "+name, hosts)
		if err != nil {
			return nil, exit.Usage("%w", err)
		}
		if len(ranks) < 2 {
			return nil, exit.Usage("--job %s: it is one endpoint, and pairs take two", text)
		}
		jobs = append(jobs, Allocation{Name: name, Placement: ranks})
	}
	return jobs, nil
}
