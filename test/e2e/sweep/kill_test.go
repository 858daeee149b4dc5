package sweep

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/sweep/results"
	"github.com/weft-fabric/weft/internal/testnet"
)

// spec is 32 points of some tenths of a second.
const spec = `
seeds: 1..8
networks: [{spec: "random:switches=64,links={links},hosts=8,seed={seed}", links: [100, 160]}]
engines: [updn, {engine: lash, contract: directed}]
measures: [lanes, {measure: bandwidth, patterns: 5000}]
`

const points = 8 * 2 * 2

// campaign is a SPEC and the folder of its results.
type campaign struct {
	weft, spec, out string
}

func newCampaign(t *testing.T) *campaign {
	t.Helper()
	dir := t.TempDir()
	c := &campaign{live.Weft(t), filepath.Join(dir, "spec.yaml"), filepath.Join(dir, "out")}
	if err := os.WriteFile(c.spec, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// process is weft sweep.
type process struct {
	cmd       *exec.Cmd
	out, errs live.Text
	ended     chan struct{}
	err       error // once it has ended
}

func (c *campaign) start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{ended: make(chan struct{})}
	p.cmd = exec.Command(c.weft, append([]string{"sweep", c.spec, "--out", c.out, "--json"}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errs
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(p.kill)
	return p
}

// kill ends the process at once, if it has not ended.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// end waits for the end of the process, and returns how it ended.
func (p *process) end(t *testing.T) error {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("weft sweep does not come to an end:\n%s", &p.errs)
	}
	return p.err
}

// whole waits for the end of the process, and returns what it printed.
func (p *process) whole(t *testing.T) (summary struct {
	Points int
	Kept   int `json:"points_kept"`
	Rows   int
}) {
	t.Helper()
	if err := p.end(t); err != nil {
		t.Fatalf("weft sweep: %v\n%s", err, &p.errs)
	}
	if err := json.Unmarshal([]byte(p.out.String()), &summary); err != nil {
		t.Fatalf("%v: %s", err, &p.out)
	}
	return summary
}

// lines is how many points the logs below a folder have.
func lines(folder string) (n int) {
	_ = filepath.WalkDir(folder, func(name string, _ os.DirEntry, err error) error { // what is not there has none
		if err == nil && filepath.Base(name) == results.LogFile {
			if text, err := os.ReadFile(name); err == nil {
				n += max(0, bytes.Count(text, []byte("\n"))-1)
			}
		}
		return nil
	})
	return n
}

// patience is how long a test waits for what a quiet machine does in seconds.
const patience = 4 * time.Minute

// until waits until something is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for begun := time.Now(); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatalf("after %v there is still no %s", patience, what)
		}
	}
}

// values is the rows of a folder without version, times and memory.
func values(t *testing.T, weft, folder string) [][]string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), weft, "sweep", "csv", folder).Output()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		rows[i] = rows[i][:len(rows[i])-5]
	}
	return rows
}

// once says which points and measures are in the logs below a folder more than once.
func once(t *testing.T, folder string) {
	t.Helper()
	seen := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Base(name) != results.LogFile {
			return err
		}
		rows, err := results.Of(t.Context(), filepath.Dir(name))
		for i := range rows {
			key := rows[i].Point + " " + rows[i].Key()
			if before, again := seen[key]; again {
				t.Errorf("%s was taken twice: in %s and in %s", key, before, name)
			}
			seen[key] = name
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2*points {
		t.Errorf("%d measures were taken, want %d", len(seen), 2*points)
	}
}

// taken is the rows of a campaign that was left alone, once for all tests.
var taken [][]string

func undisturbed(t *testing.T) [][]string {
	t.Helper()
	if taken == nil {
		c := newCampaign(t)
		if s := c.start(t).whole(t); s.Points != points || s.Rows != 2*points {
			t.Fatalf("%+v", s)
		}
		taken = values(t, c.weft, c.out)
	}
	return taken
}

// However often a campaign is killed, no finished point is lost or taken again, workers end
// with it, and the results are those of one that was left alone.
func TestKilledCampaignGoesOn(t *testing.T) {
	testnet.OnlyWhole(t)
	if testing.Short() {
		t.Skip("takes a campaign twice")
	}
	want := undisturbed(t)
	c := newCampaign(t)
	had, struck := 0, 0
	for range 4 {
		p := c.start(t)
		until(t, "further point", func() bool { return lines(c.out) >= min(points, had+4) })
		children := childrenOf(t, p.cmd.Process.Pid)
		p.kill()
		if had = lines(c.out); had < points {
			struck++
			if len(children) == 0 {
				t.Error("weft sweep has no workers")
			}
		}
		until(t, "end of the workers", func() bool {
			for _, pid := range children {
				if syscall.Kill(pid, 0) == nil && !zombie(pid) {
					return false
				}
			}
			return true
		})
	}
	if struck == 0 {
		t.Error("the campaign was over before it could be killed")
	}
	s := c.start(t).whole(t)
	if s.Kept != had || s.Kept < 16 || s.Points != points {
		t.Errorf("%d points were there, %d of %d were kept", had, s.Kept, s.Points)
	}
	once(t, c.out)
	if d := cmp.Diff(want, values(t, c.weft, c.out)); d != "" {
		t.Error(d)
	}
}

// childrenOf is the processes that a process started.
func childrenOf(t *testing.T, pid int) (all []int) {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "ps", "-o", "pid=", "--ppid", itoa(pid)).Output()
	if err != nil {
		return nil // there are none
	}
	for _, word := range strings.Fields(string(text)) {
		all = append(all, atoi(t, word))
	}
	return all
}

// zombie reports whether a process has ended and nobody has asked how.
func zombie(pid int) bool {
	text, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(text), ") Z ")
}
