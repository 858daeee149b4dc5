package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
)

// races is the networks and engines of -speed.
var races = []struct{ spec, engine string }{
	{"dragonfly:p=6", "sssp"},
	{"dragonfly:p=6", "dfsssp"},
	{"xgft:m=18x36,w=18x18,hosts=18", "sssp"},
}

// speed measures routing alone: OpenSM's LID matrices, forwarding tables and lanes, by the
// clock of its thread, and weft's paths and lanes under the contract that OpenSM's engine
// has, by the CPU time of all threads and by the clock. OpenSM runs once, for it takes
// minutes to find a large network; of weft's runs the best counts. What else the machine
// does makes both slower, the clock most.
func (b *bench) speed(out string) error {
	b.patience = 20 * time.Minute
	var text strings.Builder
	w := io.MultiWriter(os.Stdout, &text)
	fmt.Fprintf(w, "%s and weft %s on %d cores, best of %d runs of weft (make bench-speed).\n\n", b.version("opensm", "--version"), b.version(b.weft, "version"), runtime.NumCPU(), b.runs)
	fmt.Fprintln(w, "| network | engine | OpenSM: CPU | weft: CPU | clock | times less CPU | judge: CPU |")
	fmt.Fprintln(w, "|---|---|---:|---:|---:|---:|---:|")
	for _, r := range races {
		theirs, err := b.timed(r.spec, r.engine)
		if err != nil {
			return fmt.Errorf("%s, %s of OpenSM: %w", r.spec, r.engine, err)
		}
		cpu, clock, judge, err := b.ours(r.spec, r.engine, routing.Directed)
		if err != nil {
			return fmt.Errorf("%s, %s of weft: %w", r.spec, r.engine, err)
		}
		fmt.Fprintf(w, "| %s | %s | %.2f s | %.3f s | %.3f s | %.0f | %.3f s |\n", r.spec, r.engine, theirs, cpu, clock, theirs/cpu, judge)
	}
	fmt.Fprintln(w)
	if err := b.large(w); err != nil {
		return err
	}
	return write(out, text.String())
}

// largest is the network on which weave-any is held against ftree: 40,960 hosts.
const largest = "xgft:m=32x40,w=32x32,hosts=32"

// large measures weave-any and ftree, and the judge on the tables of each, once: under the
// contract of both, which asks nothing of clients. OpenSM has no part in it.
func (b *bench) large(w io.Writer) error {
	b.runs = 1
	fmt.Fprintln(w, "| network | engine | CPU | clock | times the CPU of ftree | judge: CPU | times ftree's |")
	fmt.Fprintln(w, "|---|---|---:|---:|---:|---:|---:|")
	ftree := 0.0
	for _, engine := range []string{"ftree", "weave-any"} {
		cpu, clock, judge, err := b.ours(largest, engine, routing.Any)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", largest, engine, err)
		}
		if ftree == 0 {
			ftree = cpu
		}
		fmt.Fprintf(w, "| %s | %s | %.2f s | %.2f s | %.2f | %.2f s | %.2f |\n", largest, engine, cpu, clock, cpu/ftree, judge, judge/ftree)
	}
	return nil
}

// timed is the CPU seconds of OpenSM's engine.
func (b *bench) timed(spec, engine string) (float64, error) {
	dir, err := os.MkdirTemp("", "bench-opensm-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if out, err := exec.CommandContext(b.ctx, b.weft, "generate", spec, "-o", filepath.Join(dir, "net.ibnet")).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("weft generate: %w: %s", err, out)
	}
	s, err := b.simulate(dir)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	conf := fmt.Sprintf("routing_engine timed\nevent_plugin_name timed\nevent_plugin_options timed.engine=%s,timed.out=%s\n", engine, dir) +
		"qos TRUE\nmax_op_vls 4\nmax_wire_smps 64\nmax_wire_smps2 64\nsweep_interval 0\nforce_log_flush TRUE\n"
	if err := os.WriteFile(filepath.Join(dir, "opensm.conf"), []byte(conf), 0o600); err != nil {
		return 0, err
	}
	sm, err := s.startOpenSM(dir, "timed.log", "tables")
	if err != nil {
		return 0, err
	}
	defer sm.stop()
	log, err := os.ReadFile(filepath.Join(dir, "timed.log"))
	if err != nil {
		return 0, err
	}
	took := ofOpenSM.FindSubmatch(log)
	if took == nil {
		return 0, fmt.Errorf("its log is %q", log)
	}
	sum := 0.0
	for _, t := range took[1:] {
		seconds, err := strconv.ParseFloat(string(t), 64)
		if err != nil {
			return 0, err
		}
		sum += seconds
	}
	return sum, nil
}

// ours is the seconds of weft's engine under a contract and of the judge.
func (b *bench) ours(spec, engine string, contract routing.Contract) (cpu, clock, judge float64, err error) {
	f, err := topology.Build(spec)
	if err != nil {
		return 0, 0, 0, err
	}
	e, err := engines.Named(engine)
	if err != nil {
		return 0, 0, 0, err
	}
	for i := range b.runs {
		before, start := used(), time.Now()
		t, err := e.Route(b.ctx, f, engines.Options{}, routing.Budget{VLs: routing.DefaultVLs, Scope: routing.HCA, Contract: contract}, nil)
		if err != nil {
			return 0, 0, 0, err
		}
		took, spent := time.Since(start).Seconds(), used()-before
		before = used()
		if _, err := deadlock.Verify(b.ctx, t, deadlock.Options{Contract: contract, NoCycle: true}); err != nil {
			return 0, 0, 0, err
		}
		judged := used() - before
		if i == 0 {
			cpu, clock, judge = spent, took, judged
		}
		cpu, clock, judge = min(cpu, spent), min(clock, took), min(judge, judged)
	}
	return cpu, clock, judge, nil
}

// used is the CPU seconds that this process has used.
func used() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err) // the arguments are right
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}
