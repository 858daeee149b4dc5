package plugin_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	weftd "github.com/weft-fabric/weft/internal/opensm/daemon"
	"github.com/weft-fabric/weft/internal/testnet"
)

// ordered is what weft drain --live and weft undrain print for programs.
type ordered struct {
	Refused string
	Steps   int
	Cut     []string
	Done    bool
	Parts   []weftd.Drained
	code    int
}

// order runs weft drain --live or weft undrain to its end, with a restart at one of the boundaries of its
// plan (-1: none), if it has so many.
func (k *interruptible) order(t *testing.T, weft string, stopAt int, r restart, args ...string) (said ordered, at string) {
	t.Helper()
	k.between.plan(stopAt)
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
		case <-done:
			ended = true
		}
	}
	k.between.plan(-1)
	if err := json.Unmarshal(out.Bytes(), &said); err != nil {
		k.logs(t)
		t.Fatalf("weft %v: %v: %s\n%s", args, err, out.Bytes(), told.Bytes())
	}
	said.code = cmd.ProcessState.ExitCode()
	return said, at
}

// uses says whether an entry of the forwarding tables that OpenSM dumps, for a host, leads into one of
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

// TestDrainLive drains a cable and brings it back, twice without and often with a restart of daemon,
// OpenSM or both at a random moment: nothing leads over it afterwards, over sweeps too, all comes back as it
// was, every moment is proven, and no pair is ever cut.
func TestDrainLive(t *testing.T) {
	weft := live.Weft(t)
	restarts := 4
	if os.Getenv("WEFT_THOROUGH") != "" {
		restarts = 20
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
			rng := rand.New(rand.NewPCG(7, uint64(len(n.spec))))
			where := map[string]int{}
			for i := range restarts + 1 {
				r := []restart{{"SIGKILL", syscall.SIGKILL, false}, {"OpenSM", 0, true}, {"SIGTERM", syscall.SIGTERM, false}, {"both", syscall.SIGKILL, true}}[i%4]
				on, stopAt := rng.IntN(2), rng.IntN(3)
				for j, args := range [][]string{{"drain", "--live", part}, {"undrain", part}} {
					boundary := -1
					if i > 0 && on == j {
						boundary = stopAt
					}
					said, at := k.order(t, weft, boundary, r, args...)
					if said.code != 0 || !said.Done || said.Refused != "" {
						k.logs(t)
						t.Fatalf("weft %v, %s at boundary %d (%s): %+v", args, r.name, boundary, at, said)
					}
					if at != "" {
						where[r.name+", "+at]++
					}
					switch again := k.swept(t); {
					case j == 0 && k.uses(t, n.cable):
						k.logs(t)
						t.Fatalf("%s at boundary %d (%s): something uses what was drained", r.name, boundary, at)
					case j == 1 && again != first:
						k.logs(t)
						t.Fatalf("%s at boundary %d (%s): it does not come back as it was", r.name, boundary, at)
					}
				}
			}
			t.Logf("restarts: %v", where)
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
