package plugin_test

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// kept is what OpenSM's log says when tables stay, and fell when the next engine
// of its list takes over.
const (
	kept = "are proven for the fabric as it is and stay"
	fell = "OpenSM goes on to its next routing engine"
)

// liar spoils the message of an engine.
func (d *daemon) liar(engine string, lie func(message []byte) []byte) answer {
	return func(q *wire.Request, c net.Conn) error {
		tables, proof, err := routed(q, engine, routing.Honored)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := wire.WriteTables(&b, q, engine, tables, proof); err != nil {
			return err
		}
		_, err = c.Write(lie(b.Bytes()))
		return err
	}
}

// looping answers with shortest paths, all on SL 0, that close a credit loop, and
// with ranks that were found for the same paths on several lanes.
func looping(q *wire.Request, c net.Conn) error {
	good, proof, err := routed(q, "dfsssp", routing.Directed)
	if err != nil {
		return err
	}
	proof.Contract = routing.Honored
	for i, rank := range proof.Rank { // none is missing
		if rank == deadlock.Unused {
			proof.Rank[i] = int32(i)
		}
	}
	bad := &routing.Tables{Fabric: good.Fabric, Forwarding: good.Forwarding, Lanes: routing.OneSL(good.Fabric, good.Lanes.SL2VL)}
	return wire.WriteTables(c, q, "liar", bad, proof)
}

// TestLiars has daemons answer what they should not, and sees that OpenSM keeps
// the tables it has, at once or when the time is over.
func TestLiars(t *testing.T) {
	live.Need(t)
	t.Parallel()
	d, good := serveRoutes(t, "df-dn", routing.Honored)
	f := testnet.Build(t, "torus:4x4,hosts=1")
	r := start(t, f, d, conf(d, 6))
	r.Await(t, up, soon)
	tables := d.tables()
	r.holds(t, tables)
	for _, c := range []struct {
		name   string
		answer answer
		says   string
	}{
		{"hangs up at once", func(*wire.Request, net.Conn) error { return nil }, "hung up in the middle"},
		{"refuses", func(q *wire.Request, c net.Conn) error { return wire.WriteRefusal(c, q.Sweep, "not\ntoday") }, "the daemon refuses: not today"},
		{"random bytes", func(_ *wire.Request, c net.Conn) error {
			b := make([]byte, 100_000)
			_, _ = rand.Read(b)
			_, err := c.Write(b)
			return err
		}, "what answers is not weft's daemon"},
		{"cut short", d.liar("df-dn", func(m []byte) []byte { return m[:len(m)/2] }), "hung up in the middle"},
		{"another version", d.liar("df-dn", func(m []byte) []byte { m[4]++; return m }), fmt.Sprintf("speaks version %d, this plugin %d", wire.Version+1, wire.Version)},
		{"another kind", d.liar("df-dn", func(m []byte) []byte { m[6] = 9; return m }), "which no answer has"},
		{"a length without end", d.liar("df-dn", func(m []byte) []byte { m[15] = 0x7F; return m }), "which no answer has"},
		{"another length", d.liar("df-dn", func(m []byte) []byte { m[8]--; return m }), "not what their figures make"},
		{"an old answer", d.liar("df-dn", func(m []byte) []byte { m[16]--; return m }), "the answer is to sweep"},
		{"more switches", d.liar("df-dn", func(m []byte) []byte { m[24]++; return m }), "the fabric has"},
		{"a service level too many", d.liar("df-dn", func(m []byte) []byte { return everySL(m, 16) }), "SL 16"},
		{"a port that is not there", d.liar("df-dn", func(m []byte) []byte { m[answerHead+5] = 200; return m }), "out-port 200"},
		{"adapters that drop all", d.liar("df-dn", func(m []byte) []byte { copy(m[16+32:], bytes.Repeat([]byte{15}, 16)); return m }), "adapters are to drop SL"},
		{"a credit loop", looping, "a credit loop is not ruled out"},
		{"says nothing", func(_ *wire.Request, c net.Conn) error { _, err := c.Read(make([]byte, 1)); return err }, "no time left"},
		{"says little at a time", d.trickle("df-dn"), "no time left"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.become(c.answer)
			began := time.Now()
			log := r.resweep(t)
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %v, the deadline is 6 s", took)
			}
			if !strings.Contains(log, c.says) || !strings.Contains(log, kept) || !strings.Contains(log, "ERR W003") || !strings.Contains(log, "weft tables configured") {
				t.Errorf("want %q\n%s", c.says, log)
			}
			r.safe(t, tables)
		})
	}
	d.become(good)
	if log := r.resweep(t); !strings.Contains(log, "engine df-dn, proven") || strings.Contains(log, "ERR") {
		t.Errorf("the daemon is back\n%s", log)
	}
	r.holds(t, tables)
}

// everySL is a message in which every service level is sl.
func everySL(m []byte, sl byte) []byte {
	cells := int(binary.LittleEndian.Uint32(m[24:]) * binary.LittleEndian.Uint32(m[28:]))
	for i := range cells {
		m[answerHead+cells+i] = sl
	}
	return m
}

// trickle sends a message byte by byte.
func (d *daemon) trickle(engine string) answer {
	return func(q *wire.Request, c net.Conn) error {
		var message []byte
		if err := d.liar(engine, func(m []byte) []byte { message = m; return nil })(q, c); err != nil {
			return err
		}
		for i := range message {
			if _, err := c.Write(message[i : i+1]); err != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
		return nil
	}
}

// safe says that OpenSM runs, and that the judge has nothing against its dumps.
func (r *run) safe(t *testing.T, tables *routing.Tables) {
	t.Helper()
	if !r.Alive() {
		t.Fatal("OpenSM is gone")
	}
	if v := r.judged(t, tables, routing.Honored); !v.Free() || !v.Complete() {
		t.Errorf("free %v, complete %v", v.Free(), v.Complete())
	}
}

// TestDaemonProcess has a daemon of its own process killed before, during and
// after a request, has its socket vanish, and has others answer in its place. A daemon
// that is back is asked without a sweep.
func TestDaemonProcess(t *testing.T) {
	live.Need(t)
	t.Parallel()
	d := &daemon{socket: filepath.Join(openDir(t), "opensm.sock")}
	f := testnet.Build(t, "torus:4x4,hosts=1")
	r := start(t, f, d, conf(d, enough))
	tables, _, err := routed(wire.Of(f, 1), "df-dn", routing.Honored)
	if err != nil {
		t.Fatal(err)
	}

	log := r.Await(t, up, soon)
	says(t, log, "no daemon at", "there are none to keep", fell, "ERR W001", "nue tables configured")
	r.safeOnOne(t, f)

	child := spawn(t, d.socket, "df-dn", 0)
	r.comesBack(t)
	before := r.dump(t)
	says(t, r.resweep(t), "engine df-dn, proven")
	if r.dump(t) != before {
		t.Error("the tables differ from one sweep to the next")
	}

	child.kill(t)
	d.remove(t)
	child = spawn(t, d.socket, "half", 0)
	r.Sweep(t)
	child.await(t, "half")
	child.kill(t)
	says(t, r.Await(t, up, soon), "hung up in the middle", kept, "weft tables configured")
	if r.dump(t) != before {
		t.Error("half an answer changed the tables")
	}

	says(t, r.resweep(t), "Connection refused", kept, "weft tables configured")
	if r.dump(t) != before {
		t.Error("the tables that stay are others")
	}

	d.remove(t)
	says(t, r.resweep(t), "No such file", kept)

	if os.Geteuid() == 0 {
		child = spawn(t, d.socket, "df-dn", 65534)
		says(t, r.resweep(t), "user 65534 listens", kept)
		child.kill(t)
		d.remove(t)
		says(t, r.resweep(t), "No such file", kept)
	}

	spawn(t, d.socket, "df-dn", 0)
	log = r.comesBack(t)
	if strings.Contains(log, "ERR") || r.dump(t) != before {
		t.Errorf("the daemon is back, with other tables or errors\n%s", log)
	}
	r.holds(t, tables)
}

// TestCables takes out cables and a switch, and puts them back, with the daemon
// and without.
func TestCables(t *testing.T) {
	live.Need(t)
	t.Parallel()
	d, good := serveRoutes(t, "df-dn", routing.Honored)
	f := testnet.Build(t, "torus:4x4,hosts=1")
	r := start(t, f, d, conf(d, enough))
	r.Await(t, up, soon)
	whole := r.dump(t)
	trunk, host := f.Channel(0), f.Channel(f.Endpoint(fabric.EndpointID(len(f.Endpoints())-1)).Inject)
	id := func(n fabric.NodeID) string { return nodeID(f, n) }

	r.Console(t, `Unlink "%s"[%d]`, id(trunk.From), trunk.FromPort)
	says(t, r.settle(t), "engine df-dn, proven")
	if got := d.tables().Fabric.Trunks(); got != f.Trunks()-2 {
		t.Errorf("%d trunks of %d, a cable is out", got, f.Trunks())
	}
	r.holds(t, d.tables())

	r.Console(t, `ReLink "%s"[%d]`, id(trunk.From), trunk.FromPort)
	says(t, r.settle(t), "engine df-dn, proven")
	r.holds(t, d.tables())
	if r.dump(t) != whole {
		t.Error("the cable is back, the tables are others than before")
	}

	away := fabric.NodeID(f.Switches() - 1)
	for p := 1; p <= f.Node(away).Ports; p++ {
		if f.Out(away, uint8(p)) != fabric.None {
			r.Console(t, `Unlink "%s"[%d]`, id(away), p)
		}
	}
	says(t, r.settle(t), "engine df-dn, proven")
	if got := d.tables().Fabric.Switches(); got != f.Switches()-1 {
		t.Errorf("%d switches of %d, one is out", got, f.Switches())
	}
	r.holds(t, d.tables())

	d.become(func(*wire.Request, net.Conn) error { return nil })
	for p := 1; p <= f.Node(away).Ports; p++ {
		if f.Out(away, uint8(p)) != fabric.None {
			r.Console(t, `ReLink "%s"[%d]`, id(away), p)
		}
	}
	says(t, r.settle(t), "they are for other switches", fell, "ERR W002", "nue tables configured")
	r.safeOnOne(t, f)
	d.become(good)
	r.comesBack(t)
	tables := d.tables()

	// Without the daemon: a host that goes takes nothing with it, a cable in use does.
	d.become(func(*wire.Request, net.Conn) error { return nil })
	r.Console(t, `Unlink "%s"[%d]`, id(host.To), host.ToPort)
	says(t, r.settle(t), kept, "weft tables configured")
	without, err := f.Without(nil, []fabric.NodeID{host.From})
	if err != nil {
		t.Fatal(err)
	}
	r.safe(t, onto(without, tables))
	r.Console(t, `ReLink "%s"[%d]`, id(host.To), host.ToPort)
	r.Console(t, `Unlink "%s"[%d]`, id(trunk.From), trunk.FromPort)
	says(t, r.settle(t), "has no cable", fell, "ERR W002", "nue tables configured")
	r.Console(t, `ReLink "%s"[%d]`, id(trunk.From), trunk.FromPort)
	says(t, r.settle(t), kept, "weft tables configured")
	r.holds(t, tables)
}

// comesBack waits until a daemon that was gone has answered, which OpenSM has not asked for,
// and for a sweep after that. It returns the log.
func (r *run) comesBack(t testing.TB) string {
	t.Helper()
	log := r.Await(t, "weft tables configured", soon)
	says(t, log, "came after", "engine df-dn, proven")
	return log + r.resweep(t)
}

// settle waits until what was done to the cables is over.
func (r *run) settle(t testing.TB) string {
	t.Helper()
	return r.Settle(t, soon)
}

// says demands phrases of a log.
func says(t testing.TB, log string, phrases ...string) {
	t.Helper()
	for _, p := range phrases {
		if !strings.Contains(log, p) {
			t.Errorf("no %q in the log\n%s", p, log)
		}
	}
}

// dump is the forwarding tables as OpenSM dumps them.
func (r *run) dump(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(r.Swept(t, soon).LFTs)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// remove removes the socket.
func (d *daemon) remove(t testing.TB) {
	t.Helper()
	if err := os.Remove(d.socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

// safeOnOne says that OpenSM runs, and that the judge has nothing against the
// tables of one of its own engines that needs no lanes.
func (r *run) safeOnOne(t *testing.T, f *fabric.Fabric) {
	t.Helper()
	r.safe(t, &routing.Tables{Fabric: f, Lanes: routing.OneSL(f, nil)})
}

// onto is the tables for a fabric that has the same switches and fewer adapters.
func onto(f *fabric.Fabric, tables *routing.Tables) *routing.Tables {
	small := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: routing.NewLanes(f, tables.Lanes.SL2VL)}
	for lid := range f.LIDs() {
		copy(small.Forwarding.Row(lid), tables.Forwarding.Row(lid))
		copy(small.Lanes.SLRow(lid), tables.Lanes.SLRow(lid))
	}
	return small
}
