// Command opensm measures OpenSM's own routing engines and weft's in one run, on the
// same simulated fabrics and through the same interface: an OpenSM that keeps running
// and uses one of the engines. It prints a Markdown table.
//
//	go run ./test/bench/opensm -weft bin/weft -plugins bin [-networks SPEC…] [-engines a,b] [-runs N]
//	go run ./test/bench/opensm -weft bin/weft -plugins bin -speed
//	go run ./test/bench/opensm -large
//
// With -speed it measures routing alone on large networks, OpenSM's engine and weft's one
// after the other in one run, and weave-any beside ftree on 40,960 hosts, which -large
// measures alone; see speed.go.
//
// The engine's CPU time is that of the callbacks in which tables are made (OpenSM's
// engines: package timed; weft: what its plugin logs) plus, for weft, that of the
// daemon from the time it is ready. Memory is the peak of the OpenSM process, and
// of the daemon. Lanes and verdict are those of weft verify on what OpenSM dumped:
// forwarding tables and SL2VL maps, and the service levels that its path records
// carry. The best of several runs counts.
//
// It needs Linux, OpenSM, ibsim and umad2sim, and the two plugins that make
// bench-opensm builds.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/weft-fabric/weft/result"
)

// The defaults: networks small enough for a verdict on every pair of hosts, and
// the engines that both have (OpenSM and weft).
const (
	networks = "ring:n=16,hosts=4 torus:6x6,hosts=4 torus:4x4x4,hosts=4 dragonfly:p=3 dragonfly:p=4 karytree:k=6,n=3 random:switches=64,links=192,hosts=8,seed=1"
	both     = "minhop,updn,ftree,lash,dfsssp,nue"
)

// bench is what is measured, and how often: the best of the runs counts.
type bench struct {
	ctx     context.Context
	weft    string // the program
	plugins string // folder of libweft.so and libtimed.so
	umad    string // libumad2sim.so
	runs    int

	patience time.Duration // how long a program may take to be ready
}

type figures struct {
	used    string // engine whose tables are in use
	engine  float64
	process float64 // CPU seconds of OpenSM
	memory  int64   // peak of OpenSM, bytes
	daemon  int64   // peak of the daemon, bytes; 0: none
	needed  int     // lanes of weft's proof, before paths are spread over spare ones; 0: not known
	judged  result.Verify
}

func main() {
	weft := flag.String("weft", "bin/weft", "the weft program")
	plugins := flag.String("plugins", "bin", "folder of libweft.so and libtimed.so")
	specs := flag.String("networks", networks, "specs of networks, with blanks between")
	names := flag.String("engines", both, "engines of both, with commas between")
	out := flag.String("o", "", "file to write the table into")
	runs := flag.Int("runs", 3, "runs of each, of which the best counts")
	speed := flag.Bool("speed", false, "measure routing alone, on large networks")
	large := flag.Bool("large", false, "measure weave-any beside ftree on 40,960 hosts, without OpenSM")
	flag.Parse()
	b := &bench{ctx: context.Background(), runs: max(1, *runs), patience: time.Minute}
	if *large {
		if err := b.large(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench-opensm:", err)
			os.Exit(1)
		}
		return
	}
	if err := b.find(*weft, *plugins); err != nil {
		fmt.Fprintln(os.Stderr, "bench-opensm:", err)
		os.Exit(1)
	}
	var err error
	if *speed {
		err = b.speed(*out)
	} else {
		err = b.table(*specs, *names, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-opensm:", err)
		os.Exit(1)
	}
}

// table measures everything, prints the rows as they come, and finally writes them into
// a file.
func (b *bench) table(specs, names, out string) error {
	var text strings.Builder
	w := io.MultiWriter(os.Stdout, &text)
	fmt.Fprintf(w, "%s and weft %s on %d cores, best of %d runs (make bench-opensm).\n\n", b.version("opensm", "--version"), b.version(b.weft, "version"), runtime.NumCPU(), b.runs)
	fmt.Fprintln(w, "| network | engine | of | tables by | engine CPU | OpenSM CPU | memory | lanes | verdict |")
	fmt.Fprintln(w, "|---|---|---|---|---:|---:|---:|---:|---|")
	var failed error
	for _, spec := range strings.Fields(specs) {
		for _, engine := range strings.Split(names, ",") {
			for _, of := range []string{"OpenSM", "weft"} {
				row, err := b.best(spec, engine, of)
				if err != nil {
					failed = errors.Join(failed, fmt.Errorf("%s, %s of %s: %w", spec, engine, of, err))
					continue
				}
				fmt.Fprintf(w, "| %s | %s | %s | %s\n", spec, engine, of, row)
			}
		}
	}
	if failed != nil {
		return failed
	}
	return write(out, text.String())
}

// write writes a file whole; no file is called "".
func write(out, text string) error {
	if out == "" {
		return nil
	}
	if err := os.WriteFile(out+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(out+".new", out)
}

var number = regexp.MustCompile(`(OpenSM |weft )?\d[-.+\w]*|devel`)

func (b *bench) version(program, arg string) string {
	text, _ := exec.CommandContext(b.ctx, program, arg).CombinedOutput() // opensm's status says nothing
	return strings.TrimPrefix(number.FindString(string(text)), "weft ")
}

func (b *bench) find(weft, plugins string) (err error) {
	if b.weft, err = filepath.Abs(weft); err != nil {
		return err
	}
	if b.plugins, err = filepath.Abs(plugins); err != nil {
		return err
	}
	for _, file := range []string{b.weft, filepath.Join(b.plugins, "libweft.so"), filepath.Join(b.plugins, "libtimed.so")} {
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("%w: make bench-opensm builds it", err)
		}
	}
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/local/sbin:/usr/sbin:/sbin"); err != nil {
		return err
	}
	for _, tool := range []string{"opensm", "ibsim"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%w: build/scripts/test-deps.sh installs it", err)
		}
	}
	for _, pattern := range []string{"/usr/lib/*/umad2sim", "/usr/lib*/umad2sim", "/usr/local/lib*/umad2sim"} {
		if found, _ := filepath.Glob(filepath.Join(pattern, "libumad2sim.so*")); len(found) > 0 {
			b.umad = found[0]
			return nil
		}
	}
	return errors.New("libumad2sim.so is not installed: build/scripts/test-deps.sh installs it")
}

// best measures several times and returns the rest of the row.
func (b *bench) best(spec, engine, of string) (string, error) {
	var best *figures
	for range b.runs {
		f, err := b.measure(spec, engine, of)
		if errors.Is(err, errSlow) {
			return fmt.Sprintf("- | more than %v | - | - | - | - |", b.patience), nil
		}
		if err != nil {
			return "", err
		}
		if best == nil || f.engine < best.engine {
			best = f
		}
	}
	memory := fmt.Sprintf("%d MiB", best.memory>>20)
	if best.daemon > 0 {
		memory = fmt.Sprintf("%d + %d MiB", best.memory>>20, best.daemon>>20)
	}
	verdict := best.judged.Word
	if best.judged.Unreachable > 0 {
		verdict += fmt.Sprintf(", %d pairs without a route", best.judged.Unreachable)
	}
	cpu := fmt.Sprintf("%.2f ms", 1000*best.engine)
	if of == "weft" && best.used != of || of == "OpenSM" && best.used != engine {
		cpu = "refused" // the tables are those of OpenSM's MinHop
	}
	lanes := strconv.Itoa(best.judged.VLs)
	if best.needed > 0 && best.needed != best.judged.VLs {
		lanes += fmt.Sprintf(" (%d needed)", best.needed)
	}
	return fmt.Sprintf("%s | %s | %.2f s | %s | %s | %s |", best.used, cpu, best.process, memory, lanes, verdict), nil
}

// measure lets one OpenSM route one fabric.
func (b *bench) measure(spec, engine, of string) (_ *figures, err error) {
	dir, err := os.MkdirTemp("", "bench-opensm-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	in := func(name string) string { return filepath.Join(dir, name) }
	if out, err := exec.CommandContext(b.ctx, b.weft, "generate", spec, "-o", in("net.ibnet")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("weft generate: %w: %s", err, out)
	}
	s, err := b.simulate(dir)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	conf := "routing_engine timed\n" + fmt.Sprintf("event_plugin_name timed\nevent_plugin_options timed.engine=%s,timed.out=%s\n", engine, dir)
	var daemon *process
	if of == "weft" {
		if daemon, err = b.serve(dir, engine); err != nil {
			return nil, err
		}
		defer daemon.stop()
		conf = "routing_engine weft\n" + fmt.Sprintf("event_plugin_name weft timed\nevent_plugin_options weft.socket=%s,weft.deadline=120,weft.owner=%d,timed.out=%s\n",
			in("weft.sock"), os.Getuid(), dir)
	}
	conf += "qos TRUE\nnue_max_num_vls 0\nmax_op_vls 5\nmax_wire_smps 64\nmax_wire_smps2 64\nsweep_interval 0\nforce_log_flush TRUE\n"
	if err := os.WriteFile(in("opensm.conf"), []byte(conf), 0o600); err != nil {
		return nil, err
	}
	ready := 0.0
	if daemon != nil {
		if ready, err = daemon.cpu(); err != nil {
			return nil, err
		}
	}
	sm, err := s.opensm(dir)
	if err != nil {
		return nil, err
	}
	defer sm.stop()
	f := &figures{}
	if f.process, err = sm.cpu(); err != nil {
		return nil, err
	}
	f.memory = sm.peak()
	if daemon != nil {
		f.daemon = daemon.peak()
		end, err := daemon.cpu()
		if err != nil {
			return nil, err
		}
		f.engine = end - ready
		if f.needed, err = b.needed(in("weft.sock")); err != nil {
			return nil, err
		}
	}
	sm.stop() // its dumps are whole
	if err := f.read(dir, of); err != nil {
		return nil, err
	}
	return f, b.judge(dir, f)
}

var (
	configured = regexp.MustCompile(`(\S+) tables configured on all switches`)
	ofWeft     = regexp.MustCompile(`weft: sweep \d+: .* proven; [\d.]+ s, ([\d.]+) s of them in this process`)
	ofOpenSM   = regexp.MustCompile(`(?m)^\S+ matrices ([\d.]+) tables ([\d.]+)$`)
)

// read reads which engine routed and how long its callbacks took, in the first
// sweep.
func (f *figures) read(dir, of string) error {
	log, err := os.ReadFile(filepath.Join(dir, "osm.log"))
	if err != nil {
		return err
	}
	used := configured.FindSubmatch(log)
	if used == nil {
		return errors.New("OpenSM's log names no engine")
	}
	f.used = string(used[1])
	var took [][]byte
	if of == "weft" {
		took = ofWeft.FindSubmatch(log)
	} else if text, err := os.ReadFile(filepath.Join(dir, "timed.log")); err == nil {
		took = ofOpenSM.FindSubmatch(text)
	}
	for _, t := range took[min(1, len(took)):] {
		s, err := strconv.ParseFloat(string(t), 64)
		if err != nil {
			return err
		}
		f.engine += s
	}
	return nil
}

// judge asks weft verify about the dumps.
func (b *bench) judge(dir string, f *figures) error {
	in := func(name string) string { return filepath.Join(dir, name) }
	out, err := exec.CommandContext(b.ctx, b.weft, "verify", in("net.ibnet"), "--json", "--tables", in("opensm-lfts.dump"), "--lst", in("opensm-subnet.lst"),
		"--sl2vl", in("opensm-sl2vl.dump"), "--psl", in("timed.psl")).Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return fmt.Errorf("weft verify: %w", err)
	}
	return json.Unmarshal(out, &f.judged)
}

// needed is the lanes of the proof that a daemon handed over last; 0: none.
func (b *bench) needed(socket string) (int, error) {
	out, err := exec.CommandContext(b.ctx, b.weft, "status", "--json", "--socket", socket).Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return 0, fmt.Errorf("weft status: %w", err)
	}
	var status struct {
		Last struct {
			Needed int `json:"vls_needed"`
		} `json:"last"`
	}
	err = json.Unmarshal(out, &status)
	return status.Last.Needed, err
}
