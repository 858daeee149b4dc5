package e2e

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/routing"
)

// tampering is one service level changed.
type tampering struct {
	src     fabric.EndpointID
	dst     fabric.LID
	sl, was uint8
}

// One service level changed in the file, of all those that an engine assigned,
// so that a loop closes: both judges find it, and the certificate of the tables
// as they were does not hold any more.
func TestOneServiceLevelClosesALoop(t *testing.T) {
	live.Need(t)
	t.Parallel()
	for _, c := range []struct {
		network network
		engine  string
	}{
		{computed[0], "lash"},
		{computed[0], "dfsssp"},
		{computed[1], "lash"},
		{computed[1], "dfsssp"},
		{computed[3], "lash"},
	} {
		t.Run(c.network.name+"/"+c.engine, func(t *testing.T) {
			t.Parallel()
			f := c.network.fabric(t)
			e := named(t, c.engine)
			// As few lanes as it needs: the fuller they are, the less they bear.
			fewest := route(t, f, e, routing.DefaultVLs).Lanes.Needed
			tables := byEndpoint(route(t, f, e, fewest))
			before := judged(t, tables, routing.Adapters)
			change, loop := closing(t, tables)
			d := loaded(t, netFile(t, f), f, tables.Forwarding, true)
			in := withLanes(t, d, tables, slvl.Lines)
			if got := in.agreed(t, f, routing.Adapters); got != live.NoLoop {
				t.Fatalf("before the change: %v", got)
			}

			from := f.Node(f.Endpoint(change.src).Node).GUID
			replaceLine(t, in.psl, fmt.Sprintf("%s %d %d", from, change.dst, change.was), fmt.Sprintf("%s %d %d", from, change.dst, change.sl))
			if got := in.agreed(t, f, routing.Adapters); got != live.Loop {
				t.Errorf("SL %d instead of %d from %s to LID %d: %v, want %v", change.sl, change.was, from, change.dst, got, live.Loop)
			}
			tampered := in.read(t, f)
			if got := judged(t, tampered, routing.Adapters).Cycle; !passes(got, change) {
				t.Errorf("the loop found in the file has no step on SL %d from %s to LID %d: %v, want %v", change.sl, from, change.dst, got, loop)
			}
			var wrong *deadlock.Violation
			if _, err := deadlock.CheckCertificate(t.Context(), tampered, before.Certificate, nil); !errors.As(err, &wrong) {
				t.Errorf("the certificate from before the change: %v, want a violation", err)
			}
		})
	}
}

// byEndpoint is tables with a row of service levels for every endpoint, since
// the file has a line for each.
func byEndpoint(tables *routing.Tables) *routing.Tables {
	f := tables.Fabric
	lanes := laneByEndpoint(f, tables.Lanes.SL2VL)
	for lid := range f.LIDs() {
		row := lanes.SLRow(lid)
		for e := range row {
			row[e] = tables.Lanes.SL(fabric.EndpointID(e), lid)
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: tables.Forwarding, Lanes: lanes}
}

// closing searches for a change between two adapters that closes a loop, and
// leaves the tables as they were.
func closing(t testing.TB, tables *routing.Tables) (tampering, []deadlock.LoopStep) {
	t.Helper()
	f := tables.Fabric
	for lid, owner := range f.LIDs() {
		if f.Endpoint(owner).Class == fabric.SwitchPort {
			continue
		}
		row := tables.Lanes.SLRow(lid)
		for e, was := range row {
			src := fabric.EndpointID(e)
			if f.Endpoint(src).Class == fabric.SwitchPort || src == owner {
				continue
			}
			for sl := range uint8(routing.DefaultVLs) {
				row[e] = sl
				v := judged(t, tables, routing.Adapters)
				row[e] = was
				if !v.Free() {
					return tampering{src, lid, sl, was}, v.Cycle
				}
			}
		}
	}
	t.Fatal("no single service level closes a loop")
	return tampering{}, nil
}

// passes reports whether a loop has a step that the change may cause: on its service
// level, to its destination.
func passes(loop []deadlock.LoopStep, c tampering) bool {
	for _, s := range loop {
		if s.SL == c.sl && s.Src == c.src && s.Dst == c.dst {
			return true
		}
	}
	return false
}

// replaceLine replaces a line that a file has once.
func replaceLine(t testing.TB, path, line, by string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), line+"\n"); n != 1 {
		t.Fatalf("the line %q is there %d times", line, n)
	}
	changed := strings.Replace(string(text), line+"\n", by+"\n", 1)
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}
