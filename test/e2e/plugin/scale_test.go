package plugin_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// What the plugin may take: seconds of the processor in OpenSM's callback on a
// Dragonfly of 876 switches and 5,256 hosts, and path records a second.
const (
	mayTake   = 3.0
	mustServe = 1e6
)

var took = regexp.MustCompile(`proven; ([0-9.]+) s, ([0-9.]+) s of them in this process`)

// TestScale has OpenSM take the tables of a Dragonfly from the plugin. The large
// one takes OpenSM half a minute, most of it without the plugin.
func TestScale(t *testing.T) {
	live.Need(t)
	t.Parallel()
	spec := "dragonfly:p=4"
	if os.Getenv("WEFT_THOROUGH") != "" {
		spec = "dragonfly:p=6"
	}
	d, _ := serveRoutes(t, "df-dn", routing.Directed)
	f := testnet.Build(t, spec)
	r := start(t, f, d, directedToo(conf(d, enough)))
	log := r.Await(t, up, 2*soon)
	m := took.FindStringSubmatch(log)
	if m == nil {
		t.Fatal(log)
	}
	t.Logf("%s: %s", spec, m[0])
	var wall, own float64
	if _, err := fmt.Sscan(m[1]+" "+m[2], &wall, &own); err != nil {
		t.Fatal(err)
	}
	if own > mayTake {
		t.Errorf("%.3f s of processor time in the callback", own)
	}
}

// TestSpeed measures the proof and the path records without OpenSM.
func TestSpeed(t *testing.T) {
	q := wire.Of(testnet.Build(t, "dragonfly:p=6"), 1)
	for engine, contract := range map[string]routing.Contract{"df-dn": routing.Directed, "updn": routing.Honored} {
		out := core(t, "", "time", q, answerTo(t, q, engine, contract))
		t.Logf("%s: %s", engine, strings.Join(out, ", "))
		var seconds, rate float64
		if _, err := fmt.Sscanf(strings.Join(out, " "), "prove %g s path SLs %g a second", &seconds, &rate); err != nil {
			t.Fatal(err)
		}
		if seconds > mayTake || rate < mustServe {
			t.Errorf("%s: %.3f s, %.0f path records a second", engine, seconds, rate)
		}
	}
}
