package reproduce

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/weft-fabric/weft/internal/reproduce/measure"
)

// pointsFile is where a folder keeps its finished points: a JSON document a line,
// first the origin, then key and result of each, and for every run that came to an
// end, finished or interrupted, how long it was at it. A line that a crash left torn
// is dropped.
const pointsFile = "points.jsonl"

// Origin is what points are worth keeping for: another weft, or another machine,
// may come to others.
type Origin struct {
	Weft    string `json:"weft"`    // version and revision
	Machine string `json:"machine"` // processor, cores, Go
}

// store is the finished points of a folder.
type store struct {
	mu   sync.Mutex
	file *os.File
	done map[string]measure.Result
	runs []pastRun
}

type storedPoint struct {
	Key    string         `json:"key"`
	Result measure.Result `json:"result"`
}

// pastRun is a run that took points.
type pastRun struct {
	Quick   bool    `json:"quick"`
	Seconds float64 `json:"seconds"`
	Taken   int     `json:"taken"`
}

type storedRun struct {
	Run *pastRun `json:"run"`
}

// openStore reads the finished points of a folder, made if it is not there. dropped
// says how many were by another origin and are gone.
func openStore(dir string, origin Origin) (s *store, dropped int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, 0, fmt.Errorf("reproduce: %w", err)
	}
	name := filepath.Join(dir, pointsFile)
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("reproduce: %w", err)
	}
	s = &store{done: map[string]measure.Result{}}
	theirs, kept := s.parse(text)
	if theirs != origin {
		dropped, kept = len(s.done), 0
		clear(s.done)
		s.runs = nil
	}
	if s.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, 0, fmt.Errorf("reproduce: %w", err)
	}
	_, seek := s.file.Seek(int64(kept), io.SeekStart)
	if err := errors.Join(s.file.Truncate(int64(kept)), seek); err != nil {
		return nil, 0, errors.Join(fmt.Errorf("reproduce: %w", err), s.file.Close())
	}
	if kept == 0 {
		if err := s.line(origin); err != nil {
			return nil, 0, errors.Join(err, s.file.Close())
		}
	}
	return s, dropped, nil
}

// parse reads whole lines up to the first that is none of ours, and returns how
// many bytes they are.
func (s *store) parse(text []byte) (o Origin, kept int) {
	r := bufio.NewReader(bytes.NewReader(text))
	for first := true; ; first = false {
		line, err := r.ReadBytes('\n')
		if err != nil { // the rest is no whole line
			return o, kept
		}
		if first {
			if json.Unmarshal(line, &o) != nil {
				return o, kept
			}
		} else {
			var p storedPoint
			var past storedRun
			if json.Unmarshal(line, &p) != nil || json.Unmarshal(line, &past) != nil || p.Key == "" && past.Run == nil {
				return o, kept
			}
			if past.Run != nil {
				s.runs = append(s.runs, *past.Run)
			} else {
				s.done[p.Key] = p.Result
			}
		}
		kept += len(line)
	}
}

func (s *store) get(p measure.Point) (measure.Result, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.done[p.Key()]
	return r, ok
}

func (s *store) put(p measure.Point, r measure.Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[p.Key()] = r
	return s.line(storedPoint{p.Key(), r})
}

// ended keeps how long a run was at it, if it took anything.
func (s *store) ended(r pastRun) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Taken == 0 {
		return nil
	}
	s.runs = append(s.runs, r)
	return s.line(storedRun{&r})
}

// line appends a document, in one write.
func (s *store) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	if _, err := s.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("reproduce: %s: %w", pointsFile, err)
	}
	return nil
}

func (s *store) close() error { return s.file.Close() }

// Machine describes the machine: processor, cores, Go. It names no host.
func Machine() string {
	return fmt.Sprintf("%s, %d cores, %s %s/%s", processor(), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// processor is the model that Linux shows, or nothing better than the architecture.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "an unknown processor"
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "an unknown processor"
}
