// Command change measures the repair of tables: it removes every cable, or every
// switch, of a network (or a sample of them), mends the tables of an engine, has every
// step judged, restores the tables, and prints a Markdown table.
//
//	go run ./test/bench/change [-engine NAME] [-networks REGEXP] [-most N] [-bandwidth N] [-drain] [FILE.ibnetdiscover]...
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
	"github.com/weft-fabric/weft/traffic"
)

// network is a network with what is aimed at for weave-any's tables: failures mended without
// routing all anew, entries changed for each that led into nothing, repair time, bandwidth.
type network struct{ spec, cable, other string }

const (
	aimed        = "weave-any" // the engine
	aimTree      = "100 %, ≤ 2.0, ≤ 100 ms, ≥ .99"
	aimTreeOther = "100 %, ≤ 2.2, ≤ 500 ms, ≥ .99"
	aimDirect    = "100 %, ≤ 2.0, ≤ 200 ms, ≥ .995"
	aimTorus     = "100 %, ≤ 1.5, ≤ 50 ms, ≥ 1.00"
	aimDense     = "≥ 95 %, ≤ 3, ≤ 300 ms, ≥ .99"
	aimSparse    = "≥ 60 %, –, ≤ 5 s, ≥ .98"
)

var networks = []network{
	{"xgft:m=36,w=18,hosts=18", aimTree, aimTreeOther},
	{"xgft:m=8x12,w=8x8,hosts=8", aimTree, aimTreeOther},
	{"planes:groups=14,leaves=26,on=9,up=10,hosts=4341", aimTree, aimTreeOther},
	{"torus:6x5x5,hosts=7", aimTorus, aimTorus},
	{"slimfly:q=5,hosts=7", aimDirect, "–"},
	{"dragonfly:p=4", aimDirect, "–"},
	{"random:switches=128,links=512,hosts=16,seed=1", aimDense, aimDense},
	{"random:switches=128,links=256,hosts=16,seed=1", aimSparse, aimSparse},
}

// repeats is how often a repair is measured: of three times in a row one is rarely disturbed.
const repeats = 3

func main() {
	only := flag.String("networks", "", "networks to measure, a regular expression (default: all)")
	engine := flag.String("engine", aimed, "engine whose tables are mended")
	most := flag.Int("most", 200, "failures of a kind at most, evenly spread")
	bandwidth := flag.Int("bandwidth", 3, "failures of a kind at most of which the bandwidth is measured, of those that are mended")
	drain := flag.Bool("drain", false, "let single destinations drop their packets for a step where there is no other way")
	flag.Parse()
	b := bench{engine: *engine, most: *most, bandwidth: *bandwidth, drain: *drain}
	if err := b.run(context.Background(), regexp.MustCompile(*only), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type bench struct {
	engine    string
	most      int // failures of a kind
	bandwidth int // those of which it is measured
	drain     bool
}

func (b *bench) run(ctx context.Context, only *regexp.Regexp, files []string) error {
	fmt.Println("| network | engine | taken away | faults | mended near | by rebuilding | in one step | in two | first step reaches | changed / due | of the least | repair, CPU | longest | its proofs | bandwidth after / from scratch | back exactly | aim |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, n := range networks {
		if !only.MatchString(n.spec) {
			continue
		}
		f, err := topology.Build(n.spec)
		if err != nil {
			return err
		}
		if err := b.network(ctx, n, f); err != nil {
			return err
		}
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		f, err := ibnet.Read(file, name)
		file.Close()
		if err != nil {
			return err
		}
		if err := b.network(ctx, network{strings.TrimSuffix(filepath.Base(name), ".ibnetdiscover"), aimTree, aimTreeOther}, f); err != nil {
			return err
		}
	}
	return nil
}

// network measures the failures of one network. An engine that refuses it has no rows.
func (b *bench) network(ctx context.Context, n network, f *fabric.Fabric) error {
	was, contract, err := b.route(ctx, f)
	if err != nil && routing.Refused(err) {
		fmt.Fprintf(os.Stderr, "%s on %s: %v\n", b.engine, n.spec, err)
		return nil
	}
	if err != nil {
		return err
	}
	for _, kind := range []struct {
		name, aim string
		list      []change.Failure
	}{{"a cable", n.cable, change.Cables(f)}, {"a switch", n.other, change.Switches(f)}} {
		r := row{bench: b, options: change.Options{Contract: contract, AllowDrops: b.drain}}
		for _, x := range change.Sample(kind.list, b.most) {
			if err := r.measure(ctx, was, x); err != nil {
				return fmt.Errorf("%s without %s: %w", n.spec, kind.name, err)
			}
		}
		r.print(n.spec, kind.name, kind.aim)
	}
	return nil
}

func (b *bench) route(ctx context.Context, f *fabric.Fabric) (*routing.Tables, routing.Contract, error) {
	r, err := weft.Route(ctx, f, weft.Request{Engine: b.engine})
	if err != nil {
		return nil, routing.Contract{}, err
	}
	return r.Tables, r.Contract, nil
}

// row is the sums over the failures of a kind.
type row struct {
	*bench
	options change.Options

	faults, mended, rebuilt, one, two, back int
	pairs, reached                          int64 // that lost their way, and those that the first step gives one
	changed, due, least                     int
	repair, longest, proofs                 time.Duration
	compared                                int // failures of which the bandwidth is measured
	after, scratch                          float64
}

func (r *row) measure(ctx context.Context, was *routing.Tables, x change.Failure) error {
	live, err := was.Fabric.Without(x.Channels, x.Nodes)
	if err != nil {
		return err
	}
	r.faults++
	before, err := transition.On(live, was, nil)
	if err != nil {
		return err
	}
	plan, took, err := r.mend(ctx, before, was)
	if err != nil {
		return err
	}
	r.repair, r.longest = r.repair+took, max(r.longest, took)
	start := cpu()
	p, err := change.Verify(ctx, before, plan, r.options)
	if err != nil {
		return err
	}
	r.proofs += cpu() - start
	steps, rebuilt := 0, false
	r.least += transition.LeastOf(p.Before, routing.HCA).Entries
	if len(p.Steps) > 0 {
		r.pairs += p.CutBefore - p.Disconnected
		r.reached += p.CutBefore - p.Steps[0].Union.CutAfter()
	}
	for _, s := range p.Steps {
		r.changed += s.Union.Entries
		r.due += s.Union.Due
		rebuilt = rebuilt || s.Rebuilt
		if s.Mended > 0 {
			steps++
		}
	}
	switch {
	case len(p.Left) > 0:
	case rebuilt:
		r.rebuilt++
	default:
		r.mended++
	}
	if len(p.Left) == 0 && steps <= 1 {
		r.one++
	} else if len(p.Left) == 0 && steps == 2 {
		r.two++
	}
	back, err := change.Return(ctx, p.After, was, r.options)
	if err != nil {
		return err
	}
	if transition.CostOf(back.After, was).Entries == 0 {
		r.back++
	}
	if len(p.Left) == 0 && r.compared < r.bandwidth {
		r.compared++
		return r.compare(ctx, p.After, live)
	}
	return nil
}

// mend plans a repair, and measures it: the least of some times, since other machines on the same
// hardware can only lengthen it.
func (r *row) mend(ctx context.Context, before, was *routing.Tables) (plan *repair.Plan, took time.Duration, err error) {
	for i := range repeats {
		runtime.GC() // what others left is not the repair's
		start := cpu()
		plan, err = repair.Mend(ctx, before, was, repair.Options{Contract: r.options.Contract, AllowDrops: r.options.AllowDrops})
		if err != nil {
			return nil, 0, err
		}
		if t := cpu() - start; i == 0 || t < took {
			took = t
		}
	}
	return plan, took, nil
}

// compare measures the effective bisection bandwidth of mended tables, and of tables
// from scratch.
func (r *row) compare(ctx context.Context, mended *routing.Tables, live *fabric.Fabric) error {
	scratch, _, err := r.route(ctx, live)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		t   *routing.Tables
		sum *float64
	}{{mended, &r.after}, {scratch, &r.scratch}} {
		result, err := congestion.Simulate(ctx, x.t, congestion.Options{
			Pattern: traffic.Bisection(), Placement: traffic.Placement(routing.HCA.Endpoints(live)), Seed: 1, Precision: 0.001,
		})
		if err != nil {
			return err
		}
		*x.sum += result.Lambda
	}
	return nil
}

// cpu is the user and system time of this process, on all cores: a busy machine changes it
// less than the clock.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (r *row) print(spec, kind, aim string) {
	percent := func(n int) string { return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(r.faults)) }
	milli := func(d time.Duration) string {
		return fmt.Sprintf("%.1f ms", d.Seconds()*1000/float64(r.faults))
	}
	ratio := func(of int) string {
		if of == 0 {
			return "–"
		}
		return fmt.Sprintf("%.2f", float64(r.changed)/float64(of))
	}
	if r.engine != aimed {
		aim = "–"
	}
	reached, bandwidth := "–", "–"
	if r.pairs > 0 {
		reached = fmt.Sprintf("%.1f %%", 100*float64(r.reached)/float64(r.pairs))
	}
	if r.compared > 0 {
		bandwidth = fmt.Sprintf("%.3f", r.after/r.scratch)
	}
	fmt.Printf("| `%s` | %s | %s | %d | %s | %s | %s | %s | %s | %s | %s | %s | %.0f ms | %s | %s | %s | %s |\n", spec, r.engine, kind, r.faults, percent(r.mended), percent(r.rebuilt), percent(r.one), percent(r.two),
		reached, ratio(r.due), ratio(r.least), milli(r.repair), r.longest.Seconds()*1000, milli(r.proofs), bandwidth, percent(r.back), aim)
}
