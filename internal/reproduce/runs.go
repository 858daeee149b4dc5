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
	"github.com/weft-fabric/weft/internal/reading"
)

// runsFile is where a folder keeps, a JSON document a line, how long each run took, finished or
// interrupted. The points of runs are kept as those of any campaign.
const runsFile = "runs.jsonl"

// Origin is what points are by. Another weft, or another machine, may come to other values, so the
// points of a folder are taken again where it differs.
type Origin struct {
	Weft    string `json:"weft"`    // version and revision
	Machine string `json:"machine"` // processor, cores, Go
}

// pastRun is a run that took points.
type pastRun struct {
	Origin
	Quick   bool    `json:"quick"`
	Seconds float64 `json:"seconds"`
	Taken   int     `json:"taken"`
}

// noteRun appends to runsFile how long the run took, if it took points.
func (r *Run) noteRun(points int) error {
	if points == 0 {
		return nil
	}
	j, err := journal.Open(filepath.Join(r.Options.Dir, runsFile), func(int, []byte) error { return nil })
	if err != nil {
		return err
	}
	return errors.Join(j.Append(pastRun{Origin: r.Options.Origin, Quick: r.Options.Quick, Seconds: r.Spent, Taken: points}), j.Close())
}

// addPastRuns adds up the runs of the folder that are of the same origin and set, in Runs and SpentRuns.
func (r *Run) addPastRuns() error {
	name := filepath.Join(r.Options.Dir, runsFile)
	f, err := reading.OpenPlain(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = journal.Read(f, func(n int, text []byte) error {
		var past pastRun
		if json.Unmarshal(text, &past) != nil {
			return fmt.Errorf("%s:%d: this line is damaged; without it the run would go on", name, n)
		}
		if past.Origin == r.Options.Origin && past.Quick == r.Options.Quick {
			r.Runs, r.SpentRuns = r.Runs+1, r.SpentRuns+past.Seconds
		}
		return nil
	})
	return err
}

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
