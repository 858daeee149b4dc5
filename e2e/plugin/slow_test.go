package plugin_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/opensm/wire"
	"github.com/weft-fabric/weft/routing"
)

// sleeper has the daemon sleep before it answers.
func sleeper(d time.Duration, a answer) answer {
	return func(q *wire.Request, c net.Conn) error {
		time.Sleep(d)
		return a(q, c)
	}
}

// record asks for a path record that may take long, and returns how long it took.
func (r *run) record(t testing.TB, f *fabric.Fabric) (sl int, took time.Duration) {
	t.Helper()
	hosts := routing.HCA.Endpoints(f)
	pair := fmt.Sprintf("%d:%d", f.Endpoint(hosts[0]).LID, f.Endpoint(hosts[len(hosts)/2]).LID)
	began := time.Now()
	text := r.ask(t, f, "saquery", "-t", "30000", "-p", "--src-to-dst", pair)
	return recordSL(t, text), time.Since(began)
}

// TestSlow has a daemon sleep while OpenSM sweeps: a path record is answered soon,
// by the tables that were there, and the late answer is installed when it comes.
func TestSlow(t *testing.T) {
	live.Need(t)
	t.Parallel()
	const sleeps, waits = 10 * time.Second, 3 * time.Second
	d, _ := serveRoutes(t, "df-dn", routing.Honored)
	f := testnet.Build(t, "torus:4x4,hosts=1")
	settings := conf(d, 30)
	settings["event_plugin_options"] += ",weft.wait=3" // as if not set
	r := start(t, f, d, settings)
	r.Await(t, "SUBNET UP", soon)
	first := d.tables()

	d.become(sleeper(sleeps, d.routes("updn", routing.Any)))
	began := time.Now()
	r.Sweep(t)
	d.wasAsked(t, 2)
	sl, took := r.record(t, f)
	hosts := routing.HCA.Endpoints(f)
	if want := int(first.Lanes.SL(hosts[0], f.Endpoint(hosts[len(hosts)/2]).LID)); sl != want {
		t.Errorf("the path record meanwhile has SL %d, want %d of the tables in use", sl, want)
	}
	t.Logf("a path record took %.2f s while the daemon slept for %v", took.Seconds(), sleeps)
	if took < waits/2 || took > waits+2*time.Second {
		t.Errorf("a path record took %v, OpenSM waits %v for the daemon", took, waits)
	}
	log := r.Await(t, "SUBNET UP", soon)
	lasted(t, log, "no answer in ", waits)
	says(t, log, "; the tables of sweep 1 are proven for the fabric as it is and stay until it comes", "weft tables configured")
	if time.Since(began) > sleeps {
		t.Fatal("the answer is there already")
	}
	r.holds(t, first)

	log = r.Await(t, "weft tables configured", soon)
	lasted(t, log, "the tables for sweep 2 came after ", sleeps)
	lasted(t, log, "engine updn, proven; ", sleeps)
	r.queriesHold(t, d.tables())
	if n := d.requests(); n != 2 {
		t.Errorf("the daemon was asked %d times for two fabrics", n)
	}
	d.become(d.routes("updn", routing.Any))
	says(t, r.resweep(t), "engine updn, proven")
	r.holds(t, d.tables())
}

// queriesHold compares some paths with what OpenSM and the switches say when
// asked, as r.holds does without the dumps.
func (r *run) queriesHold(t *testing.T, tables *routing.Tables) {
	t.Helper()
	chance := rand.New(rand.NewPCG(2, 2))
	for range 6 {
		r.pairHolds(t, tables, chance)
	}
}

// lasted demands seconds behind a phrase: as long as they should be, and hardly longer on
// a busy machine.
func lasted(t *testing.T, log, phrase string, want time.Duration) {
	t.Helper()
	_, behind, _ := strings.Cut(log, phrase)
	var seconds float64
	if _, err := fmt.Sscanf(behind, "%f s", &seconds); err != nil || seconds < want.Seconds() || seconds > 1.5*want.Seconds()+1 {
		t.Errorf("%.1f s (%v) behind %q, want %v\n%s", seconds, err, phrase, want, log)
	}
}

// TestHung has a daemon that takes requests and never answers. Without tables that
// hold OpenSM waits for it once, for as long as it may, and then no longer than it
// waits with them; a fabric that changes meanwhile is asked about at once.
func TestHung(t *testing.T) {
	live.Need(t)
	t.Parallel()
	d, good := serveRoutes(t, "df-dn", routing.Honored)
	hung := func(_ *wire.Request, c net.Conn) error { _, err := c.Read(make([]byte, 1)); return err }
	d.become(hung)
	f := testnet.Build(t, "torus:4x4,hosts=1")
	settings := conf(d, 6)
	settings["event_plugin_options"] += ",weft.wait=1"
	r := start(t, f, d, settings)
	says(t, r.Await(t, "SUBNET UP", soon), "no time left while waiting for the answer; there are none to keep", "nue tables configured")
	log := r.resweep(t)
	lasted(t, log, "no answer in ", time.Second)
	says(t, log, "which is used when it comes; there are none to keep", "nue tables configured")

	d.become(good)
	host := f.Channel(f.Endpoint(fabric.EndpointID(len(f.Endpoints()) - 1)).Inject)
	r.Console(t, `Unlink "%s"[%d]`, nodeID(f, host.To), host.ToPort)
	says(t, r.settle(t), "engine df-dn, proven", "weft tables configured")
	r.holds(t, d.tables())

	d.become(hung)
	log = r.resweep(t)
	lasted(t, log, "no answer in ", time.Second)
	says(t, log, "; the tables of sweep", "stay until it comes")
	log = r.resweep(t) // goes on with the question, and does not wait again
	says(t, log, "stay until it comes")
	end := r.Await(t, "ERR W007", soon)
	lasted(t, end, "no tables after ", 6*time.Second)
	says(t, end, "no time left")
	if strings.Contains(log, "ERR") {
		t.Error(log)
	}
}

// TestHeld has a daemon take long over the first fabric: OpenSM does not wait for so
// long that a standby manager would take over, and uses the tables when they come,
// whether another engine has routed meanwhile or none.
func TestHeld(t *testing.T) {
	live.Need(t)
	for next, c := range map[string]struct{ meanwhile, then string }{
		"nue":         {"nue tables configured", fell + ", nue"},
		"no_fallback": {"No routing engine able to successfully configure", "there is no other routing engine (no_fallback), and OpenSM tries again"},
	} {
		t.Run(next, func(t *testing.T) {
			t.Parallel()
			d, good := serveRoutes(t, "df-dn", routing.Honored)
			d.become(sleeper(6*time.Second, good))
			settings := conf(d, 30)
			settings["event_plugin_options"] += ",weft.wait=1"
			settings["sminfo_polling_timeout"], settings["polling_retry_number"] = "1000", "4"
			settings["routing_engine"] = "weft," + next
			r := start(t, testnet.Build(t, "torus:3x3,hosts=1"), d, settings)
			log := r.Await(t, c.meanwhile, soon)
			lasted(t, log, "no answer in ", 3*time.Second)
			says(t, log, "which is used when it comes; there are none to keep, "+c.then)
			log = r.Await(t, "weft tables configured", soon)
			lasted(t, log, "the tables for sweep 1 came after ", 6*time.Second)
			says(t, log, "engine df-dn, proven")
			r.queriesHold(t, d.tables())
			r.settle(t)
			r.holds(t, d.tables())
		})
	}
}

// TestEnds has OpenSM end while a daemon keeps it waiting.
func TestEnds(t *testing.T) {
	live.Need(t)
	t.Parallel()
	d := serve(t, func(_ *wire.Request, c net.Conn) error { _, err := c.Read(make([]byte, 1)); return err })
	r := start(t, testnet.Build(t, "ring:4,hosts=1"), d, conf(d, 60))
	d.wasAsked(t, 1)
	began := time.Now()
	if out, err := r.Quit(t); err != nil {
		t.Errorf("OpenSM ends with %v\n%s", err, out)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("OpenSM took %v to end", took)
	}
}
