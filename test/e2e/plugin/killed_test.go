package plugin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// interrupted is a subnet in the middle of a plan: cables are back, and what they carried
// comes back to them in small steps.
func interrupted(t *testing.T) (k *served, first string) {
	t.Helper()
	k = keeps(t, testnet.Build(t, "torus:4x4,hosts=2"), "engine: weave-any", "max_entries_per_change: 8")
	first = k.tables(t)
	for range 20 {
		k.change(t, k.unplug(0), k.unplug(21))
		k.Console(t, "%s", k.plug(0))
		k.Console(t, "%s", k.plug(21))
		k.Sweep(t)
		var s result.Status
		for end := time.Now().Add(soon); s.Plan == nil || s.Plan.Kind != "return"; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				k.logs(t)
				t.Fatal("no plan begins")
			}
			s = k.status(t)
		}
		if s.Plan.Ended == nil {
			return k, first
		}
		k.rest(t, 0) // it was over before it was seen
	}
	t.Fatal("every plan is over before it is seen")
	return nil, ""
}

// TestDaemonKilledBetweenSteps kills the daemon in the middle of a plan. The plugin asks
// until it is back, and the plan goes on without a sweep.
func TestDaemonKilledBetweenSteps(t *testing.T) {
	t.Parallel()
	k, first := interrupted(t)
	k.weft.kill(t)
	time.Sleep(500 * time.Millisecond)
	if log := k.Fresh(t); strings.Contains(log, "no next step") { // and so does OpenSM sweep, for nothing
		t.Errorf("the plugin gives the plan up:\n%s", log)
	}
	k.daemon.remove(t)
	k.serve(t)
	k.Fresh(t) // a sweep without the daemon is one that the plugin complains of
	k.rest(t, 0)
	if s := k.status(t); s.Plan == nil || s.Plan.Ended == nil || s.Plan.Kind != "return" || s.Plan.Steps < 3 {
		k.logs(t)
		t.Errorf("%+v", s.Plan)
	}
	if k.tables(t) != first {
		k.logs(t)
		t.Error("the tables are not the first")
	}
}

// TestOpenSMKilledBetweenSteps kills OpenSM in the middle of a plan; the next one, on
// another host, goes on with it.
func TestOpenSMKilledBetweenSteps(t *testing.T) {
	t.Parallel()
	k, first := interrupted(t)
	k.Kill(t)
	host := k.f.Endpoint(fabric.EndpointID(len(k.f.Endpoints()) - 2)).Node
	k.Manager = k.Manage(t, nodeID(k.f, host), k.Dir, k.conf(), "LD_LIBRARY_PATH="+live.Plugin(t, "libweft.so", ""))
	k.Await(t, up, soon)
	k.rest(t, 0)
	if k.tables(t) != first {
		k.logs(t)
		t.Error("the tables are not the first")
	}
}
