// Command change measures the repair of tables: it removes every cable, or every
// switch, of a network (or a sample of them), mends the tables of weave-any, has every
// step judged, restores the tables, and prints a Markdown table.
//
//	go run ./bench/change [-networks REGEXP] [-most N]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"syscall"
	"time"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/routing/repair"
	"github.com/weft-fabric/weft/topology"
	"github.com/weft-fabric/weft/traffic"
	"github.com/weft-fabric/weft/transition"
)

var networks = []string{
	"xgft:m=36,w=18,hosts=18",
	"xgft:m=8x12,w=8x8,hosts=8",
	"torus:6x5x5,hosts=7",
	"slimfly:q=5,hosts=7",
	"dragonfly:p=4",
	"random:switches=128,links=512,hosts=16,seed=1",
	"random:switches=128,links=256,hosts=16,seed=1",
}

var options = change.Options{Contract: routing.Any}

func main() {
	only := flag.String("networks", "", "networks to measure, a regular expression (default: all)")
	most := flag.Int("most", 200, "failures of a kind at most, evenly spread")
	flag.Parse()
	if err := run(context.Background(), regexp.MustCompile(*only), *most); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only *regexp.Regexp, most int) error {
	fmt.Println("| network | taken away | faults | mended | in one step | in two | changed / due | repair, CPU | its proofs | bandwidth after / from scratch | back exactly |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, spec := range networks {
		if !only.MatchString(spec) {
			continue
		}
		family, err := topology.Parse(spec)
		if err != nil {
			return err
		}
		f, err := family.Build()
		if err != nil {
			return err
		}
		was, err := route(ctx, f)
		if err != nil {
			return err
		}
		cables, switches := failures(f)
		for _, kind := range []struct {
			name string
			list []failure
		}{{"a cable", cables}, {"a switch", switches}} {
			r := row{bandwidth: min(3, len(kind.list))}
			list := sample(kind.list, most)
			for i, x := range list {
				if err := r.measure(ctx, was, x, i < r.bandwidth); err != nil {
					return fmt.Errorf("%s without %s: %w", spec, kind.name, err)
				}
			}
			r.print(spec, kind.name)
		}
	}
	return nil
}

func route(ctx context.Context, f *fabric.Fabric) (*routing.Tables, error) {
	e, err := engines.Named("weave-any")
	if err != nil {
		return nil, err
	}
	return e.Route(ctx, f, engines.Options{}, routing.Budget{VLs: routing.DefaultVLs, Scope: routing.Adapters}, nil)
}

// failure is cables between switches, by one of their channels, or nodes that fail
// together.
type failure struct {
	channels []fabric.ChannelID
	nodes    []fabric.NodeID
}

func failures(f *fabric.Fabric) (cables, switches []failure) {
	for c := range fabric.ChannelID(f.Trunks()) {
		if f.Channel(c).Reverse > c {
			cables = append(cables, failure{channels: []fabric.ChannelID{c}})
		}
	}
	for s := range fabric.NodeID(f.Switches()) {
		switches = append(switches, failure{nodes: []fabric.NodeID{s}})
	}
	return cables, switches
}

// sample is at most so many elements of a list, evenly spread.
func sample(list []failure, most int) []failure {
	if len(list) <= most {
		return list
	}
	some := make([]failure, most)
	for i := range some {
		some[i] = list[i*len(list)/most]
	}
	return some
}

// row is the sums over the failures of a kind.
type row struct {
	faults, mended, one, two, back int
	changed, due                   int
	repair, proofs                 time.Duration
	bandwidth                      int // failures of which it is measured
	after, scratch                 float64
}

func (r *row) measure(ctx context.Context, was *routing.Tables, x failure, bandwidth bool) error {
	live, err := was.Fabric.Without(x.channels, x.nodes)
	if err != nil {
		return err
	}
	r.faults++
	before, err := transition.On(live, was, nil)
	if err != nil {
		return err
	}
	start := cpu()
	if _, err := repair.Mend(ctx, before, was, repair.Options{Contract: options.Contract}); err != nil {
		return err
	}
	r.repair += cpu() - start
	start = cpu()
	p, err := change.Mend(ctx, was, live, options)
	if err != nil {
		return err
	}
	r.proofs += cpu() - start // with the repair again
	steps := 0
	for _, s := range p.Steps {
		if s.Mended == 0 {
			continue
		}
		steps++
		r.changed += s.Union.Entries
		r.due += s.Union.Due
	}
	if len(p.Left) == 0 {
		r.mended++
		switch steps {
		case 0, 1:
			r.one++
		case 2:
			r.two++
		}
	}
	back, err := change.Return(ctx, p.After, was, options)
	if err != nil {
		return err
	}
	if transition.CostOf(back.After, was).Entries == 0 {
		r.back++
	}
	if bandwidth {
		return r.compare(ctx, p.After, live)
	}
	return nil
}

// compare measures the effective bisection bandwidth of mended tables, and of tables
// from scratch.
func (r *row) compare(ctx context.Context, mended *routing.Tables, live *fabric.Fabric) error {
	scratch, err := route(ctx, live)
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

func (r *row) print(spec, kind string) {
	percent := func(n int) string { return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(r.faults)) }
	milli := func(d time.Duration) string {
		return fmt.Sprintf("%.1f ms", d.Seconds()*1000/float64(r.faults))
	}
	ratio := "–"
	if r.due > 0 {
		ratio = fmt.Sprintf("%.2f", float64(r.changed)/float64(r.due))
	}
	fmt.Printf("| `%s` | %s | %d | %s | %s | %s | %s | %s | %s | %.3f | %s |\n", spec, kind, r.faults, percent(r.mended), percent(r.one), percent(r.two),
		ratio, milli(r.repair), milli(r.proofs-r.repair), r.after/r.scratch, percent(r.back))
}
