package plugin_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// heldBack has the daemon answer when it is told to, or when the test ends.
func heldBack(t testing.TB, a answer) (late answer, tell func()) {
	told := make(chan struct{})
	tell = sync.OnceFunc(func() { close(told) })
	t.Cleanup(tell)
	return func(q *wire.Request, c net.Conn) error {
		<-told
		return a(q, c)
	}, tell
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

// TestSlow has a daemon take its time while OpenSM sweeps: a path record is answered
// meanwhile, by the tables that were there, and the late answer is installed when it comes.
func TestSlow(t *testing.T) {
	live.Need(t)
	t.Parallel()
	const waits = 3 * time.Second
	d, _ := serveRoutes(t, "df-dn", routing.Honored)
	f := testnet.Build(t, "torus:4x4,hosts=1")
	settings := conf(d, enough)
	settings["event_plugin_options"] += ",weft.wait=3" // as if not set
	r := start(t, f, d, settings)
	r.Await(t, up, soon)
	first := d.tables()

	late, tell := heldBack(t, d.routes("updn", routing.Any))
	d.become(late)
	r.Sweep(t)
	d.wasAsked(t, 2)
	asked := time.Now()
	sl, took := r.record(t, f)
	hosts := routing.HCA.Endpoints(f)
	if want := int(first.Lanes.SL(hosts[0], f.Endpoint(hosts[len(hosts)/2]).LID)); sl != want {
		t.Errorf("the path record meanwhile has SL %d, want %d of the tables in use", sl, want)
	}
	t.Logf("a path record took %.2f s while the daemon was silent", took.Seconds())
	log := r.Await(t, up, soon)
	lasted(t, log, "no answer in ", waits)
	says(t, log, "; the tables of sweep 1 are proven for the fabric as it is and stay until it comes", "weft tables configured")
	r.holds(t, first)

	silent := time.Since(asked)
	tell()
	log = r.rerouted(t, first)
	lasted(t, log, "the tables for sweep 2 came after ", silent)
	lasted(t, log, "engine updn, proven; ", silent)
	r.queriesHold(t, d.tables())
	if n := d.requests(); n != 2 {
		t.Errorf("the daemon was asked %d times for two fabrics", n)
	}
	d.become(d.routes("updn", routing.Any))
	says(t, r.resweep(t), "engine updn, proven")
	r.holds(t, d.tables())
}

// rerouted waits until OpenSM has routed again without a sweep, and switches have confirmed
// the tables: until then queries get lost, and path records have the service levels of the
// tables before. It returns the log.
func (r *run) rerouted(t testing.TB, before *routing.Tables) string {
	t.Helper()
	log := r.Await(t, "REROUTE COMPLETE", soon)
	f, now := before.Fabric, r.daemon.tables()
	from, to := differs(f, before, now)
	for end := time.Now().Add(soon); from != to; time.Sleep(20 * time.Millisecond) { // the plugin is told just after the log
		lid := f.Endpoint(to).LID
		was, is := int(before.Lanes.SL(from, lid)), int(now.Lanes.SL(from, lid))
		if sl := r.pathSL(t, f, f.Endpoint(from).LID, lid); sl == is {
			break
		} else if sl != was || time.Now().After(end) {
			t.Fatalf("from LID %d to %d SL %d, want %d, and %d before", f.Endpoint(from).LID, lid, sl, is, was)
		}
	}
	return log
}

// differs is a pair of adapters with another service level in the one tables than in the other; twice
// the same adapter if there is none.
func differs(f *fabric.Fabric, one, other *routing.Tables) (from, to fabric.EndpointID) {
	hosts := routing.HCA.Endpoints(f)
	for _, a := range hosts {
		for _, b := range hosts {
			if lid := f.Endpoint(b).LID; a != b && one.Lanes.SL(a, lid) != other.Lanes.SL(a, lid) {
				return a, b
			}
		}
	}
	return hosts[0], hosts[0]
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

// lasted demands seconds behind a phrase: as long as they should be, and less than what
// waiting for anything else would take.
func lasted(t *testing.T, log, phrase string, want time.Duration) {
	t.Helper()
	const busy = 30 * time.Second // what a busy machine may add
	_, behind, _ := strings.Cut(log, phrase)
	var seconds float64
	// Both clocks are rounded, to milliseconds and to tenths of a second.
	if _, err := fmt.Sscanf(behind, "%f s", &seconds); err != nil || seconds < want.Seconds()-0.06 || seconds > (want+busy).Seconds() {
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
	says(t, r.Await(t, up, soon), "no time left while waiting for the answer; there are none to keep", "nue tables configured")
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
	t.Parallel()
	for next, c := range map[string]struct{ meanwhile, then, done string }{
		"nue": {"nue tables configured", fell + ", nue", "REROUTE COMPLETE"},
		"no_fallback": {"No routing engine able to successfully configure",
			"there is no other routing engine (no_fallback), and OpenSM tries again", up},
	} {
		t.Run(next, func(t *testing.T) {
			t.Parallel()
			d, good := serveRoutes(t, "df-dn", routing.Honored)
			late, tell := heldBack(t, good)
			d.become(late)
			settings := conf(d, enough)
			settings["event_plugin_options"] += ",weft.wait=1"
			settings["sminfo_polling_timeout"], settings["polling_retry_number"] = "1000", "4"
			settings["routing_engine"] = "weft," + next
			r := start(t, testnet.Build(t, "torus:3x3,hosts=1"), d, settings)
			log := r.Await(t, c.meanwhile, soon)
			lasted(t, log, "no answer in ", 3*time.Second)
			says(t, log, "which is used when it comes; there are none to keep, "+c.then)
			tell()
			log = r.Await(t, c.done, soon) // before which queries get lost: not all switches have a table
			lasted(t, log, "the tables for sweep 1 came after ", 3*time.Second)
			says(t, log, "engine df-dn, proven", "weft tables configured")
			r.queriesHold(t, d.tables())
			r.settle(t)
			r.holds(t, d.tables())
		})
	}
}

// TestEnds has OpenSM end while a daemon keeps it waiting, for longer than a busy machine
// takes to end it.
func TestEnds(t *testing.T) {
	live.Need(t)
	t.Parallel()
	d := serve(t, func(_ *wire.Request, c net.Conn) error { _, err := c.Read(make([]byte, 1)); return err })
	r := start(t, testnet.Build(t, "ring:4,hosts=1"), d, conf(d, enough))
	d.wasAsked(t, 1)
	began := time.Now()
	if out, err := r.Quit(t); err != nil {
		t.Errorf("OpenSM ends with %v\n%s", err, out)
	}
	if took := time.Since(began); took > soon {
		t.Errorf("OpenSM took %v to end", took)
	}
}
