// Command patchwork measures engines on networks as machine rooms have them: what flows
// of random bisections get, how long all to all takes in phases with ranks by switch and by
// name (links alike, 1 if no flow meets another) beside a bound that no routing is below, lanes, routes on the fullest channel, and
// CPU for routing and proof. It prints a Markdown table, and how an engine stands beside the
// best of the others.
//
//	go run ./test/bench/patchwork [-networks FILE] [-every N] [-seed N] [-engines a,b] [FILE.ibnetdiscover]...
//
// Networks are the lines of a file, tuning.txt; -seed N draws sixty others, for judging.
package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/bound"
	"github.com/weft-fabric/weft/internal/choose"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/engine/setting"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
)

//go:embed tuning.txt
var tuning string

func main() {
	list := flag.String("networks", "", "a file with a spec a line; empty: tuning.txt")
	every := flag.Int("every", 1, "take every N-th network")
	seed := flag.Uint64("seed", 0, "draw sixty networks by this seed instead; 0: none")
	names := flag.String("engines", "ftree,dmodc,nue,updn,weave-any", "engines, with commas between: the last is held against the others")
	aim := flag.String("aim", "mixed", "what engines that heed it aim at")
	flag.Parse()
	text := tuning
	if *list != "" {
		all, err := os.ReadFile(*list)
		if err != nil {
			fail(err)
		}
		text = string(all)
	}
	specs := flag.Args()
	switch {
	case len(specs) > 0:
	case *seed > 0:
		random := rand.New(rand.NewPCG(*seed, 0x6a75646765))
		for range 60 {
			specs = append(specs, fmt.Sprintf("patchwork:%d", random.Uint32()))
		}
	default:
		for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
			if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "#") {
				specs = append(specs, line)
			}
		}
	}
	t := table{w: os.Stdout, engines: strings.Split(*names, ",")}
	if err := setting.Read(option.Aim, &t.options, *aim); err != nil {
		fail(err)
	}
	fmt.Fprintln(t.w, "| network | switches, hosts | engine | random pairs | phases by switch / by name | no routing has less than | lanes | fullest channel | CPU s |\n|---|---|---|---|---|---|---|---|---|")
	for i := 0; i < len(specs); i += max(1, *every) {
		if err := t.network(specs[i]); err != nil {
			fail(fmt.Errorf("%s: %w", specs[i], err))
		}
	}
	t.sum()
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "patchwork:", err)
	os.Exit(1)
}

// table is the rows so far.
type table struct {
	w       io.Writer
	engines []string
	options engines.Options
	names   []string // [network]
	rows    [][]*row // [network][engine]; nil where it refuses
}

// row is what an engine has on a network.
type row struct {
	pairs  float64
	phases [2]float64
	least  [2]float64 // that any routing has
	lanes  int
	cpu    float64
}

func (t *table) network(spec string) error {
	f, err := open(spec)
	if err != nil {
		return err
	}
	hosts := f.ByPort(routing.HCA.Endpoints(f))
	orders, err := choose.Orders(f, hosts, 1)
	if err != nil {
		return err
	}
	least, err := bounds(f, orders[:2])
	if err != nil {
		return err
	}
	m := choose.Meter{Endpoints: hosts, Orders: orders[:2], Uniform: true, Seed: 1, Runs: 500, Phases: 1000}
	rows := make([]*row, len(t.engines))
	for i, name := range t.engines {
		r := weft.Request{Engine: name, Options: t.options}
		if name == "nue" || name == "dfsssp" {
			r.VLs = 1
		}
		any := routing.Any
		r.Contract = &any
		before := cpu()
		s, err := weft.Route(context.Background(), f, r)
		took := cpu() - before
		if routing.Refused(err) || err != nil && s == nil {
			fmt.Fprintf(t.w, "| %s | %d, %d | %s | %.60s | | | | | %.2f |\n", filepath.Base(spec), f.Switches(), len(hosts), name, strings.ReplaceAll(err.Error(), "|", "/"), took)
			continue
		}
		if err != nil {
			return err
		}
		if !s.Verdict.Free() {
			return fmt.Errorf("%s is not proven", name)
		}
		x, err := m.Measure(context.Background(), s.Tables)
		if err != nil {
			return err
		}
		rows[i] = &row{x.Lambda, [2]float64{x.Shifts[0].Time, x.Shifts[1].Time}, least, s.Tables.Lanes.Needed, took}
		label := name
		if s.Choice != nil {
			label += " (" + s.Engine.Name + ")"
		}
		fmt.Fprintf(t.w, "| %s | %d, %d | %s | %.3f | %.2f / %.2f | %.2f / %.2f | %d | %d | %.2f |\n", filepath.Base(spec), f.Switches(), len(hosts), label, x.Lambda, x.Shifts[0].Time, x.Shifts[1].Time,
			least[0], least[1], s.Tables.Lanes.Needed, s.Loads.Max, took)
	}
	t.names, t.rows = append(t.names, filepath.Base(spec)), append(t.rows, rows)
	return nil
}

// bounds is the least time of phases that any routing has, by order of ranks.
func bounds(f *fabric.Fabric, orders []engines.RankOrder) (least [2]float64, err error) {
	n, err := bound.New(context.Background(), f)
	for i := range orders {
		if err != nil {
			break
		}
		var p bound.Phases
		p, err = n.Phases(context.Background(), orders[i].Ranks)
		least[i] = p.Time
	}
	return least, err
}

func open(spec string) (*fabric.Fabric, error) {
	if topology.IsSpec(spec) {
		return topology.Build(spec)
	}
	return files.Open(spec)
}

func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return float64(time.Now().UnixNano()) / 1e9
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// sum says how the last engine stands beside the others on each network.
func (t *table) sum() {
	last := len(t.engines) - 1
	var best, most, bound []float64
	var behind, beaten, lanes []string
	all, took := 0.0, 0.0
	for i, rows := range t.rows {
		own := rows[last]
		if own == nil {
			continue
		}
		all += math.Log(own.mean())
		took += own.cpu
		bound = append(bound, math.Log(own.mean()/math.Sqrt(own.least[0]*own.least[1])))
		others := slices.DeleteFunc(slices.Clone(rows[:last]), func(r *row) bool { return r == nil })
		if len(others) == 0 {
			continue
		}
		quickest := slices.MinFunc(others, func(a, b *row) int { return cmp.Compare(a.mean(), b.mean()) })
		widest := slices.MaxFunc(others, func(a, b *row) int { return cmp.Compare(a.pairs, b.pairs) })
		best, most = append(best, math.Log(own.mean()/quickest.mean())), append(most, math.Log(own.pairs/widest.pairs))
		if own.longer(quickest) || own.pairs < .99*quickest.pairs {
			behind = append(behind, t.names[i])
		}
		if slices.ContainsFunc(others, func(r *row) bool { return own.longer(r) && own.pairs < 1.01*r.pairs }) {
			beaten = append(beaten, t.names[i])
		}
		if rows[0] != nil && own.lanes > rows[0].lanes {
			lanes = append(lanes, t.names[i])
		}
	}
	fmt.Fprintf(t.w, "\n%s on %d networks: phases %.3f in the geometric mean, %.3f times what no routing has less than; CPU %.1f s in all.\n",
		t.engines[last], len(t.rows), math.Exp(all/float64(max(1, len(bound)))), geometricMean(bound), took)
	if len(best) > 0 {
		fmt.Fprintf(t.w, "Beside the best of the others for phases on %d of them: phases %.3f times as long, random pairs %.3f of the most.\n", len(best), geometricMean(best), geometricMean(most))
		fmt.Fprintf(t.w, "Phases by switch or by name more than 3 %% longer than those of the best for phases, or 1 %% less bandwidth: %s.\n", list(behind))
		fmt.Fprintf(t.w, "Phases more than 3 %% longer than those of an engine with about as much bandwidth (1 %%) or more: %s.\n", list(beaten))
		fmt.Fprintf(t.w, "More lanes than %s: %s.\n", t.engines[0], list(lanes))
	}
}

// geometricMean is the geometric mean of numbers, of which these are logarithms.
func geometricMean(logs []float64) float64 {
	sum := 0.0
	for _, x := range logs {
		sum += x
	}
	return math.Exp(sum / float64(max(1, len(logs))))
}

func list(names []string) string {
	if len(names) == 0 {
		return "on none"
	}
	return fmt.Sprintf("on %d, %s", len(names), strings.Join(names, ", "))
}

// longer reports whether phases are more than 3 % longer than another's in an order of ranks.
func (r *row) longer(other *row) bool {
	return r.phases[0] > 1.03*other.phases[0] || r.phases[1] > 1.03*other.phases[1]
}

func (r *row) mean() float64 { return math.Sqrt(r.phases[0] * r.phases[1]) }
