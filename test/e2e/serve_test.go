package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/daemon"
	"github.com/weft-fabric/weft/routing"
)

// serving runs a daemon until the test ends.
func serving(t *testing.T, contract string, engines ...string) (s *daemon.Server, socket, state string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "weft") // short: the path of a socket has 107 letters
	if err != nil {
		t.Fatal(err)
	}
	socket, state = filepath.Join(dir, "s"), filepath.Join(dir, "state")
	ready := make(chan struct{})
	s = &daemon.Server{
		Load: func() (daemon.Config, error) {
			return daemon.Config{Socket: socket, Engine: engines, Contract: contract, State: state, Endpoints: "ca"}, nil
		},
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Version: "test", Ready: func() { close(ready) },
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, nil) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		os.RemoveAll(dir)
	})
	select {
	case <-ready:
	case <-time.After(soon):
		t.Fatalf("the daemon is not ready after %v", soon)
	}
	return s, socket, state
}

// The daemon, the plugin and an unpatched OpenSM together, on computed and on real
// networks: what OpenSM dumped is proven by the judge with the lanes of the dump
// and the service levels that the daemon kept; and a second sweep changes nothing.
func TestDaemonWithOpenSM(t *testing.T) {
	live.Need(t)
	t.Parallel()
	dir := live.Plugin(t, "libweft.so", "")
	onEach(t, []network{computed[1], computed[2], x5, dgx}, func(t *testing.T, n network, f *fabric.Fabric) {
		contract, engines := "honored", []string{"dfsssp", "updn"}
		if n == dgx || n == computed[2] {
			contract, engines = "any", []string{"auto"} // as the daemon does by itself
		}
		s, socket, state := serving(t, contract, engines...)
		m := live.Simulate(t, netFile(t, f)).Manage(t, "", t.TempDir(), map[string]string{
			"event_plugin_name": "weft", "event_plugin_options": fmt.Sprintf("weft.socket=%s,weft.owner=%d", socket, os.Getuid()),
			"routing_engine": "weft,no_fallback", "qos": "TRUE",
		}, "LD_LIBRARY_PATH="+dir)
		if log := m.Await(t, live.Up, soon); !strings.Contains(log, "weft tables configured") {
			t.Errorf("OpenSM does not use our tables:\n%s", log)
		}
		status := sweptAgain(t, m, s.Status)
		if l := status.Last; status.Refused != 0 || status.StateError != "" || l == nil || l.ChangedEntries != 0 || l.ChangedSLs != 0 {
			t.Errorf("%+v, last %+v", status, l)
		}
		d := m.Swept(t, soon)
		dump := tablesOf(t, f, d, d.LFTs)
		maps, err := slvl.Read(open(t, d.SL2VL), "sl2vl", f)
		if err != nil {
			t.Fatal(err)
		}
		lanes, err := psl.Read(open(t, state, "last-good", "paths.psl"), "paths.psl", f, maps, dump.LIDs)
		if err != nil {
			t.Fatal(err)
		}
		v := judged(t, &routing.Tables{Fabric: f, Forwarding: dump.Forwarding, Lanes: lanes}, routing.Adapters)
		if !v.Free() || !v.Complete() {
			t.Errorf("what OpenSM has is not proven: free %v, complete %v", v.Free(), v.Complete())
		}
	})
}
