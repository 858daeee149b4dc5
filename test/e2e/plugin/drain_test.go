package plugin_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// ordered is what weft drain --live and weft undrain print for programs.
type ordered struct {
	Refused string
	Steps   int
	Cut     []string
	Done    bool
	Parts   []result.Drained
	code    int
}

// moment is when something is restarted: at a boundary of a plan, if it has so many (-1: none), or so long after the order
// was given, if it has not been carried out by then (0: not so).
type moment struct {
	boundary int
	after    time.Duration
}

var never = moment{boundary: -1}

func (m moment) String() string {
	if m.after > 0 {
		return fmt.Sprintf("after %v", m.after)
	}
	return fmt.Sprintf("at boundary %d", m.boundary)
}

// order runs weft drain --live or weft undrain to its end, with a restart at a moment.
func (k *interruptible) order(t *testing.T, weft string, m moment, r restart, args ...string) (said ordered, at string) {
	t.Helper()
	k.between.plan(m.boundary)
	var due <-chan time.Time
	if m.after > 0 {
		due = time.After(m.after)
	}
	cmd := exec.Command(weft, append(args, "--json", "--socket", k.daemon.socket)...)
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(soon, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its code says how
		close(done)
	}()
	for ended := false; !ended; {
		select {
		case b := <-k.between.stopped:
			at = b.String()
			k.restart(t, r)
		case <-due:
			at = "any moment"
			k.begin(t, r, func() {})
		case <-done:
			ended = true
		}
	}
	k.between.plan(-1)
	if err := json.Unmarshal(out.Bytes(), &said); err != nil {
		k.logs(t)
		t.Fatalf("weft %v, %s %v (%s): %v, %v: %s\n%s", args, r.name, m, at, cmd.ProcessState, err, out.Bytes(), told.Bytes())
	}
	said.code = cmd.ProcessState.ExitCode()
	return said, at
}

// uses reports whether an entry of the forwarding tables that OpenSM dumps, for a host, leads into one of
// the two ends of a cable.
func (k *interruptible) uses(t *testing.T, c fabric.ChannelID) bool {
	t.Helper()
	fw, ch := k.forwarding(t, k.f), k.f.Channel(c)
	for lid, owner := range k.f.LIDs() {
		if k.f.Endpoint(owner).Class != fabric.SwitchPort && (fw.Port(ch.From, lid) == ch.FromPort || fw.Port(ch.To, lid) == ch.ToPort) {
			return true
		}
	}
	return false
}

// TestDrainLive drains a cable and brings it back, without and often with a restart of daemon, OpenSM or both, at boundaries
// of the plan and at moments that are drawn evenly from the time that it takes (WEFT_SEED draws others): nothing leads over it
// afterwards, over sweeps too, all comes back as it was, every moment is proven, and no pair is ever cut.
func TestDrainLive(t *testing.T) {
	weft := live.Weft(t)
	restarts, seed := testnet.Of(4, 2), uint64(7)
	if os.Getenv("WEFT_THOROUGH") != "" {
		restarts = 40
	}
	if text := os.Getenv("WEFT_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	for _, n := range []struct {
		spec     string
		cable    fabric.ChannelID
		settings []string
	}{
		{"torus:5x5,hosts=1", 0, []string{"engine: weave-any", "max_entries_per_change: 20"}},
		{"fattree:ports=4,levels=3", 3, []string{"engine: updn"}},
	} {
		t.Run(n.spec, func(t *testing.T) {
			t.Parallel()
			k := interrupts(t, testnet.Build(t, n.spec), n.settings...)
			first, ch := k.swept(t), k.f.Channel(n.cable)
			part := fmt.Sprintf("%s:%d", k.f.Label(ch.From), ch.FromPort)
			rng := rand.New(rand.NewPCG(seed, uint64(len(n.spec))))
			where, takes := map[string]int{}, [2]time.Duration{}
			for i := range restarts + 1 {
				r := []restart{{"SIGKILL", syscall.SIGKILL, false}, {"OpenSM", 0, true}, {"SIGTERM", syscall.SIGTERM, false}, {"both", syscall.SIGKILL, true}}[i/2%4]
				on, boundary := rng.IntN(2), rng.IntN(3)
				for j, args := range [][]string{{"drain", "--live", part}, {"undrain", part}} {
					m := never
					switch {
					case i == 0 || on != j:
					case i%2 == 0:
						m.boundary = boundary
					default:
						m.after = 1 + time.Duration(rng.Int64N(int64(takes[j])))
					}
					began := time.Now()
					said, at := k.order(t, weft, m, r, args...)
					if i == 0 {
						takes[j] = time.Since(began)
					}
					if said.code != 0 || !said.Done || said.Refused != "" {
						k.logs(t)
						t.Fatalf("weft %v, %s %v (%s): %+v", args, r.name, m, at, said)
					}
					if at != "" {
						where[r.name+", "+at]++
					}
					switch again := k.swept(t); {
					case j == 0 && k.uses(t, n.cable):
						k.logs(t)
						t.Fatalf("%s %v (%s): something uses what was drained", r.name, m, at)
					case j == 1 && again != first:
						k.logs(t)
						t.Fatalf("%s %v (%s): it does not come back as it was", r.name, m, at)
					}
				}
			}
			t.Logf("orders take %v; restarts: %v", takes, where)
			if len(where) == 0 {
				t.Error("nothing was restarted")
			}
			for line := range strings.Lines(k.said(t)) {
				if strings.Contains(line, "cut_before=") || strings.Contains(line, "cut_after=") {
					t.Errorf("a pair was cut: %s", line)
				}
			}
			if len(k.between.unproven) > 0 || strings.Contains(k.said(t), "proven_meanwhile=false") {
				t.Errorf("not proven: %q", k.between.unproven)
			}
			t.Logf("%d moments, %d of them not proven", k.between.moments, len(k.between.unproven))
		})
	}
}
