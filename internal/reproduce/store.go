package reproduce

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/weft-fabric/weft/internal/journal"
	"github.com/weft-fabric/weft/internal/reproduce/measure"
)

// pointsFile is where a folder keeps its finished points: a JSON document a line,
// first the origin, then key and result of each, and for every run that came to an
// end, finished or interrupted, how long it was at it.
const pointsFile = "points.jsonl"

// Origin is what points are worth keeping for: another weft, or another machine,
// may come to others.
type Origin struct {
	Weft    string `json:"weft"`    // version and revision
	Machine string `json:"machine"` // processor, cores, Go
}

// store is the finished points of a folder. Calls may not overlap.
type store struct {
	journal *journal.Journal
	done    map[string]measure.Result
	runs    []pastRun
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
	s = &store{done: map[string]measure.Result{}}
	var theirs Origin
	name := filepath.Join(dir, pointsFile)
	s.journal, err = journal.Open(name, func(n int, text []byte) error { return s.line(&theirs, name, n, text) })
	switch {
	case errors.Is(err, journal.ErrHeld):
		return nil, 0, fmt.Errorf("reproduce: another process takes points into %s: wait for it, or end it", dir)
	case err != nil:
		return nil, 0, err
	}
	if theirs != origin {
		dropped = len(s.done)
		clear(s.done)
		s.runs = nil
		err = s.journal.Clear()
	}
	if err == nil && s.journal.Empty() {
		err = s.journal.Append(origin)
	}
	if err != nil {
		return nil, 0, errors.Join(err, s.close())
	}
	return s, dropped, nil
}

// line takes the lines of the file, one after another.
func (s *store) line(origin *Origin, name string, n int, text []byte) error {
	if n == 1 {
		if json.Unmarshal(text, origin) != nil {
			return fmt.Errorf("%s:1: these are no points of weft reproduce: take another folder, or remove the file", name)
		}
		return nil
	}
	var p storedPoint
	var past storedRun
	if json.Unmarshal(text, &p) != nil || json.Unmarshal(text, &past) != nil || p.Key == "" && past.Run == nil {
		return fmt.Errorf("%s:%d: this line is damaged; without it and what follows the run would go on from there", name, n)
	}
	if past.Run != nil {
		s.runs = append(s.runs, *past.Run)
	} else {
		s.done[p.Key] = p.Result
	}
	return nil
}

func (s *store) get(p measure.Point) (measure.Result, bool) {
	r, ok := s.done[p.Key()]
	return r, ok
}

func (s *store) put(p measure.Point, r measure.Result) error {
	s.done[p.Key()] = r
	return s.journal.Append(storedPoint{p.Key(), r})
}

// ended keeps how long a run was at it, if it took anything.
func (s *store) ended(r pastRun) error {
	if r.Taken == 0 {
		return nil
	}
	s.runs = append(s.runs, r)
	return s.journal.Append(storedRun{&r})
}

func (s *store) close() error { return s.journal.Close() }

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
