package plugin_test

import (
	"bytes"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// spoilt is a daemon's answer with a rank that does not rise, or which is no rank.
func (d *daemon) spoilt(engine string, contract routing.Contract) answer {
	return func(q *wire.Request, c net.Conn) error {
		tables, proof, err := routed(q, engine, contract)
		if err != nil {
			return err
		}
		wrong := *proof
		wrong.Rank = make([]int32, len(proof.Rank))
		var b bytes.Buffer
		if err := wire.WriteTables(&b, q, engine, tables, &wrong); err != nil {
			return err
		}
		_, err = c.Write(b.Bytes())
		return err
	}
}

// TestAskedAgain has OpenSM start under a daemon that refuses, or whose tables do not hold, and then
// has some. Nobody sweeps: the plugin asks by itself, after a pause that grows, and OpenSM has
// tables soon after the daemon.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	refuses := func(q *wire.Request, c net.Conn) error { return wire.WriteRefusal(c, q.Sweep, "out of order") }
	for name, c := range map[string]struct {
		first func(d *daemon) answer
		says  string
	}{
		"refusal":                 {func(*daemon) answer { return refuses }, "the daemon refuses: out of order"},
		"tables that do not hold": {func(d *daemon) answer { return d.spoilt("df-dn", routing.Honored) }, "the daemon's tables do not hold: "},
	} {
		for _, next := range []string{"no_fallback", "nue"} {
			t.Run(name+"/"+next, func(t *testing.T) {
				t.Parallel()
				d := serve(t, nil)
				d.become(c.first(d))
				settings := conf(d, enough) // which never sweeps by itself
				settings["routing_engine"] = "weft," + next
				r := start(t, testnet.Build(t, "torus:3x3,hosts=1"), d, settings)
				says(t, r.Await(t, "ERR W001", soon)+r.Await(t, "the daemon is asked again in 4 s", soon), "ERR W007", "the daemon is asked again in 2 s", c.says)
				if pause := d.when(3).Sub(d.when(2)); pause < 2*time.Second {
					t.Errorf("the third question comes %v after the second", pause)
				}
				d.become(d.routes("df-dn", routing.Honored))
				log := r.Await(t, "weft tables configured", soon)
				says(t, log, "came after", "OpenSM routes again", "engine df-dn, proven")
				r.resweep(t)
				r.holds(t, d.tables())
			})
		}
	}
}

// TestRefusedWithCut has the daemon refuse while a cable in use is broken, with no other engine. What
// is left of the tables stays, with path records where they lead; OpenSM has all again when the
// daemon has tables, without a sweep.
func TestRefusedWithCut(t *testing.T) {
	t.Parallel()
	d, good := serveRoutes(t, "df-dn", routing.Honored)
	f := testnet.Build(t, "torus:4x4,hosts=1")
	settings := conf(d, enough)
	settings["routing_engine"] = "weft,no_fallback"
	r := start(t, f, d, settings)
	r.Await(t, up, soon)
	before := d.tables()
	d.become(func(q *wire.Request, c net.Conn) error { return wire.WriteRefusal(c, q.Sweep, "out of order") })
	ch := f.Channel(0)
	r.Console(t, `Unlink "%s"[%d]`, nodeID(f, ch.From), ch.FromPort)
	says(t, r.resweep(t), "ERR W002", "what is left of them is proven and stays, and cuts ", "weft tables configured")
	less, err := f.Without([]fabric.ChannelID{0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	on := onto(less, before)
	cut, whole := 0, 0
	for _, from := range routing.HCA.Endpoints(less) {
		for _, to := range routing.HCA.Endpoints(less) {
			if from == to || (cut > 3 || whole > 20) && levelOf(f, on, from, less.Endpoint(to).LID) != -1 {
				continue
			}
			dlid := less.Endpoint(to).LID
			want := levelOf(f, on, from, dlid)
			if want == -1 {
				cut++
			} else {
				whole++
			}
			if sl := r.pathSL(t, f, less.Endpoint(from).LID, dlid); sl != want {
				t.Errorf("from LID %d to %d: SL %d, want %d", less.Endpoint(from).LID, dlid, sl, want)
			}
		}
	}
	if cut == 0 || whole == 0 {
		t.Errorf("%d pairs cut, %d whole", cut, whole)
	}
	d.become(good)
	log := r.Await(t, "weft tables configured", soon)
	says(t, log, "came after", "engine df-dn, proven")
	if strings.Contains(log, up) {
		t.Errorf("OpenSM swept\n%s", log)
	}
	r.resweep(t)
	r.holds(t, d.tables())
}
