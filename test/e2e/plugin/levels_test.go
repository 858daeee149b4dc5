package plugin_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// TestLevelsWait has all be routed anew while a switch answers none of the packets that set
// its forwarding table, or its SL2VL maps: path records carry the service levels of the
// tables before until it has confirmed the new ones.
func TestLevelsWait(t *testing.T) {
	live.Need(t)
	t.Parallel()
	for name, attribute := range map[string]int{"forwarding table": 0x19, "SL2VL map": 0x17} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := serveRoutes(t, "updn", routing.Honored)
			f := testnet.Build(t, "torus:3x4,hosts=1")
			r := start(t, f, d, conf(d, enough))
			r.Await(t, up, soon)
			before := d.tables()
			from, to, want := otherLevel(t, before)
			if sl := r.pathSL(t, f, from, to); sl != int(before.Lanes.SL(f.Owner(from), to)) {
				t.Fatalf("SL %d before", sl)
			}
			fails := func(percent int) { r.Console(t, `Error "%s" %d %d`, nodeID(f, 5), percent, attribute) }
			fails(100)
			d.become(d.routes("df-dn", routing.Honored))
			r.Sweep(t)
			says(t, r.Await(t, "path records keep the service levels", soon), "has not confirmed the tables of sweep 2;")
			if sl := r.pathSL(t, f, from, to); sl != int(before.Lanes.SL(f.Owner(from), to)) {
				t.Errorf("SL %d while a switch has the table before", sl)
			}
			d.wasAsked(t, 3) // OpenSM is made to write once more
			fails(0)
			r.settle(t)
			if strings.Contains(r.resweep(t), "path records keep the service levels") {
				t.Error("a switch still lacks something")
			}
			if sl := r.pathSL(t, f, from, to); sl != want {
				t.Errorf("SL %d, want %d: all switches have confirmed it", sl, want)
			}
			r.holds(t, d.tables())
		})
	}
}

// TestLevelOfNobody asks for the service level of a path from a LID that the tables do not know, as one
// found since: OpenSM's own only if any client may use it, else one that adapters drop, else none.
func TestLevelOfNobody(t *testing.T) {
	t.Parallel()
	q := wire.Of(testnet.Build(t, "dragonfly:p=2"), 1)
	const none, dropped = 255, 14 // NO_SL of the plugin; a service level that nobody has
	honored := answerTo(t, q, "df-dn", routing.Honored)
	drops := bytes.Clone(honored)
	drops[16+32+dropped] = 15
	if out := core(t, asan, "prove", q, drops); out[0] != "proven" {
		t.Fatal(out)
	}
	for _, c := range []struct {
		what   string
		answer []byte
		want   func(hint int) int
	}{
		{"any", answerTo(t, q, "updn", routing.Any), func(hint int) int { return hint }},
		{"single:2", answerTo(t, q, "updn", routing.Single(2)), func(hint int) int {
			if hint == 2 {
				return hint
			}
			return none
		}},
		{"honored", honored, func(int) int { return none }},
		{"honored, one is dropped", drops, func(int) int { return dropped }},
	} {
		for hint, got := range core(t, asan, "levels", q, c.answer) {
			if want := fmt.Sprint(c.want(hint)); got != want {
				t.Errorf("%s: SL %s where OpenSM would take %d, want %s", c.what, got, hint, want)
			}
		}
	}
}

// otherLevel is a pair of adapters, by LID, that has another service level under df-dn.
func otherLevel(t *testing.T, before *routing.Tables) (from, to fabric.LID, sl int) {
	t.Helper()
	f := before.Fabric
	after, _ := honest(t, f, "df-dn", routing.Honored)
	a, b := differs(f, before, after)
	if a == b {
		t.Fatal("no service level differs")
	}
	to = f.Endpoint(b).LID
	return f.Endpoint(a).LID, to, int(after.Lanes.SL(a, to))
}
