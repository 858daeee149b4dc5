package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/counters"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
)

// What perfquery prints is read, of one port and of several, of both kinds of counters and with blocks of other
// kinds between.
func TestPerfquery(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "xgft:m=2x2,w=2x2,hosts=2")
	s := live.Simulate(t, netFile(t, f))
	m := s.Manage(t, "", t.TempDir(), map[string]string{"routing_engine": "minhop"})
	m.Await(t, live.Up, soon)
	d := m.Swept(t, soon)
	host := fmt.Sprintf("H-%016x", uint64(f.Node(f.Endpoint(fabric.EndpointID(len(f.Endpoints())-1)).Node).GUID))
	lid := fmt.Sprint(lidOf(t, f, d, 0))
	s.Console(t, `PerformanceSet "S-%016x"[3] PortCounters.SymbolErrorCounter=77`, uint64(f.Node(0).GUID))
	s.Console(t, `PerformanceSet "S-%016x"[4] PortCounters.LinkErrorRecoveryCounter=77`, uint64(f.Node(0).GUID))
	var all strings.Builder
	for _, args := range [][]string{{"-l", lid, "3-4"}, {"-x", "-l", lid, "3-4"}, {"-E", lid, "3"}, {"-D", lid, "4"}, {"-a", lid}} {
		out, err := s.Query(t, host, "perfquery", args...)
		if err != nil {
			t.Fatalf("perfquery %v: %v\n%s", args, err, out)
		}
		all.WriteString(strings.ReplaceAll(out, "Lid "+lid+" ", fmt.Sprintf("Lid %d ", f.Endpoint(0).LID)))
	}
	c, err := counters.Read(strings.NewReader(all.String()), "perfquery", f)
	if err != nil {
		t.Fatalf("%v\n%s", err, all.String())
	}
	a, b := f.Out(0, 3), f.Out(0, 4)
	if c.Ports != 2 || !(c.Bytes[a] > 0 && c.Bytes[b] > 0) || c.Received[a].Errors[counters.Symbol] != 77 || c.Received[b].Errors[counters.Recovered] != 77 ||
		c.Received[a].Errors[counters.Recovered] != 0 || len(c.Received) != 2 {
		t.Errorf("%d ports, %v\n%s", c.Ports, c.Received, all.String())
	}
}
