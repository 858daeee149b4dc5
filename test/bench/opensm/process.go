package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// errSlow is no failure of the benchmark: the table says for how long it waited.
var errSlow = errors.New("not ready in time")

type process struct {
	*exec.Cmd
	done chan struct{}
	stop func()
}

// start starts a program, its output in a file, and waits until a file has a line
// with a phrase.
func (b *bench) start(out, file, phrase string, env []string, argv ...string) (*process, error) {
	w, err := os.Create(out)
	if err != nil {
		return nil, err
	}
	p := &process{Cmd: exec.CommandContext(b.ctx, argv[0], argv[1:]...), done: make(chan struct{})}
	p.Stdout, p.Stderr, p.Env = w, w, append(os.Environ(), env...)
	p.Dir = filepath.Dir(out) // umad2sim leaves things where it is run
	// Killed with this process, should it be.
	p.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.Start(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	go func() {
		_ = p.Wait() // that it ended is what counts
		w.Close()
		close(p.done)
	}()
	p.stop = sync.OnceFunc(func() {
		_ = p.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-p.done:
		case <-time.After(5 * time.Second):
			_ = p.Process.Kill()
			<-p.done
		}
	})
	for end := time.Now().Add(b.patience); ; time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(file) // not there yet
		if strings.Contains(string(text), phrase) {
			return p, nil
		}
		select {
		case <-p.done:
			return nil, fmt.Errorf("%s ended: %s", argv[0], tail(text))
		default:
		}
		if time.Now().After(end) {
			p.stop()
			return nil, fmt.Errorf("%s: %w: %s", argv[0], errSlow, tail(text))
		}
	}
}

func tail(text []byte) []byte { return text[max(0, len(text)-500):] }

// cpu is the CPU seconds that a process and its threads that live have used.
func (p *process) cpu() (float64, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.Process.Pid))
	sum := int64(0)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		first, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		sum += ns
	}
	return float64(sum) / 1e9, err
}

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peak is the most memory a process had, in bytes; 0 where the system does not say.
func (p *process) peak() int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	m := highWater.FindSubmatch(text)
	if m == nil {
		return 0
	}
	kb, _ := strconv.ParseInt(string(m[1]), 10, 64) // digits
	return kb << 10
}

type sim struct {
	*process
	b      *bench
	socket string
	host   string // node id of the adapter that OpenSM runs on
}

var (
	netNode = regexp.MustCompile(`(?m)^(Switch|Ca|Hca|Rt)\s+(\d+)\s+"([^"]+)"`)
	numbers int
)

// simulate runs ibsim on net.ibnet of a folder.
func (b *bench) simulate(dir string) (*sim, error) {
	net := filepath.Join(dir, "net.ibnet")
	text, err := os.ReadFile(net)
	if err != nil {
		return nil, err
	}
	nodes, switches, ports, host := 8, 8, 64, ""
	for _, m := range netNode.FindAllStringSubmatch(string(text), -1) {
		n, _ := strconv.Atoi(m[2]) // digits
		nodes, ports = nodes+1, ports+n+1
		if m[1] == "Switch" {
			switches++
		} else if host == "" {
			host = m[3]
		}
	}
	numbers++
	s := &sim{b: b, socket: fmt.Sprintf("bench-%d-%d", os.Getpid(), numbers), host: host}
	out := filepath.Join(dir, "ibsim.log")
	s.process, err = b.start(out, out, "Network simulator ready", []string{"IBSIM_SOCKNAME=" + s.socket},
		"ibsim", "-s", "-n", "-N", strconv.Itoa(nodes), "-S", strconv.Itoa(switches), "-P", strconv.Itoa(ports), "-L", "49151", net)
	return s, err
}

// serve runs weft serve with one engine.
func (b *bench) serve(dir, engine string) (*process, error) {
	out := filepath.Join(dir, "weft.log")
	return b.start(out, out, "msg=ready", nil, b.weft, "serve", "--socket", filepath.Join(dir, "weft.sock"), "--engine", engine,
		"--contract", "honored") // as OpenSM's engines take it
}

// opensm runs OpenSM with opensm.conf of a folder until the subnet is up and the
// service levels are written.
func (s *sim) opensm(dir string) (*process, error) {
	p, err := s.startOpenSM(dir, "osm.log", "SUBNET UP")
	if err != nil {
		return nil, err
	}
	for range 1000 {
		if _, err := os.Stat(filepath.Join(dir, "timed.psl")); err == nil {
			return p, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.stop()
	return nil, errors.New("OpenSM did not load the plugin timed: no service levels were written")
}

// startOpenSM runs OpenSM with opensm.conf of a folder, and waits until a file there has a
// line with a phrase.
func (s *sim) startOpenSM(dir, file, phrase string) (*process, error) {
	env := []string{
		"IBSIM_SOCKNAME=" + s.socket, "LD_PRELOAD=" + s.b.umad, "SIM_HOST=" + s.host, "LD_LIBRARY_PATH=" + s.b.plugins,
		"OSM_TMP_DIR=" + dir, "OSM_CACHE_DIR=" + dir,
	}
	return s.b.start(filepath.Join(dir, "opensm.out"), filepath.Join(dir, file), phrase, env,
		"opensm", "-F", filepath.Join(dir, "opensm.conf"), "-f", filepath.Join(dir, "osm.log"), "-D", "0x43")
}
