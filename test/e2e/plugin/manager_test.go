package plugin_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// TestRestart ends OpenSM and starts it again: nothing changes, and there are
// tables though the daemon has gone in between only if it is back.
func TestRestart(t *testing.T) {
	live.Need(t)
	t.Parallel()
	d, good := serveRoutes(t, "df-dn", routing.Honored)
	f := testnet.Build(t, "torus:3x4,hosts=1")
	r := start(t, f, d, conf(d, enough))
	r.Await(t, up, soon)
	before := r.dump(t)
	if out, err := r.Quit(t); err != nil {
		t.Errorf("OpenSM ends with %v\n%s", err, out)
	}
	library := "LD_LIBRARY_PATH=" + live.Plugin(t, "libweft.so", "")
	r.Manager = r.Manage(t, "", r.Dir, conf(d, enough), library)
	says(t, r.Await(t, up, soon), "engine df-dn, proven")
	if r.dump(t) != before {
		t.Error("OpenSM is back with other tables")
	}
	r.Kill(t)
	d.become(func(*wire.Request, net.Conn) error { return nil })
	// ibsim goes on sending to a manager that was killed, so the next has another host.
	host := f.Endpoint(fabric.EndpointID(len(f.Endpoints()) - 2)).Node
	r.Manager = r.Manage(t, nodeID(f, host), r.Dir, conf(d, enough), library)
	says(t, r.Await(t, up, soon), "there are none to keep", "nue tables configured")
	r.safeOnOne(t, f)
	d.become(good)
	r.comesBack(t)
	if r.dump(t) != before {
		t.Error("the daemon is back with other tables")
	}
	r.holds(t, d.tables())
}

// TestHandover has a second OpenSM take over from one that is killed, and hand back to it.
// A busy OpenSM can get stuck between the two before it asks any engine, which says nothing
// about the plugin: then both begin again.
func TestHandover(t *testing.T) {
	live.Need(t)
	t.Parallel()
	d, _ := serveRoutes(t, "df-dn", routing.Honored)
	for range 5 {
		if handsOver(t, d, testnet.Build(t, "torus:3x4,hosts=1")) {
			return
		}
		t.Log("an OpenSM got stuck before it became master")
	}
	t.Fatal("in five attempts no OpenSM has taken over")
}

// handsOver is false if an OpenSM does not become master when the other is gone, or does not
// get mastership back.
func handsOver(t *testing.T, d *daemon, f *fabric.Fabric) bool {
	t.Helper()
	quick := func(priority string) map[string]string {
		c := conf(d, enough)
		c["sm_priority"], c["sminfo_polling_timeout"], c["polling_retry_number"] = priority, "200", "2"
		return c
	}
	first := start(t, f, d, quick("9"))
	defer func() { first.Stop() }()
	first.Await(t, up, soon)
	before := first.dump(t)

	library := "LD_LIBRARY_PATH=" + live.Plugin(t, "libweft.so", "")
	dir := t.TempDir()
	live.Pin(t, dir, f)
	host := f.Endpoint(fabric.EndpointID(len(f.Endpoints()) - 2)).Node
	second := &run{Subnet: first.Subnet, Manager: first.Manage(t, nodeID(f, host), dir, quick("3"), library), daemon: d}
	defer second.Stop()
	second.Await(t, "Entering STANDBY", soon)

	first.Kill(t)
	if !second.isMaster(t) {
		return false
	}
	says(t, second.Await(t, up, soon), "engine df-dn, proven", "weft tables configured")
	if second.dump(t) != before {
		t.Error("the second OpenSM has other tables")
	}
	second.safe(t, d.tables())

	// Not on its own host, as in TestRestart.
	host = f.Endpoint(fabric.EndpointID(len(f.Endpoints()) - 3)).Node
	first.Manager = first.Manage(t, nodeID(f, host), first.Dir, quick("9"), library)
	if !first.isMaster(t) {
		return false
	}
	says(t, first.Await(t, up, soon), "engine df-dn, proven")
	first.safe(t, d.tables())
	if !second.Alive() {
		t.Error("the second OpenSM is gone")
	}
	return true
}

// isMaster waits until an OpenSM has become master and swept. OpenSM can stay in discovery for
// good when its questions to a master that is gone time out, and does nothing as master when
// it is made one just as it goes into standby; SIGHUP has it try again. It is stuck if the
// daemon was not asked: a plugin that was is to come to an end.
func (r *run) isMaster(t *testing.T) bool {
	t.Helper()
	asked := r.daemon.requests()
	for range 4 {
		for pause := time.Now().Add(5 * time.Second); time.Now().Before(pause); time.Sleep(50 * time.Millisecond) {
			if log, err := os.ReadFile(r.Log); err == nil && strings.Contains(string(log), up) {
				return true
			}
		}
		if r.daemon.requests() > asked {
			return true // what follows waits for the end of the sweep
		}
		r.Sweep(t)
	}
	return false
}

// TestSingle has OpenSM tell the one service level that the contract names.
func TestSingle(t *testing.T) {
	live.Need(t)
	t.Parallel()
	d, _ := serveRoutes(t, "updn", routing.Single(2))
	f := testnet.Build(t, "torus:3x3,hosts=1")
	r := start(t, f, d, conf(d, enough))
	says(t, r.Await(t, up, soon), "engine updn, proven", "contract single:2, endpoints ca")
	first, last := f.Endpoint(fabric.EndpointID(f.Switches())), f.Endpoint(fabric.EndpointID(len(f.Endpoints())-1))
	if sl := r.pathSL(t, f, first.LID, last.LID); sl != 2 {
		t.Errorf("SL %d", sl)
	}
}

// TestUnchanged sweeps twice with nothing changed, and looks that OpenSM writes no
// forwarding table the second time. It counts hops as it does for MinHop, which
// is what multicast goes by.
func TestUnchanged(t *testing.T) {
	live.Need(t)
	t.Parallel()
	d, _ := serveRoutes(t, "df-dn", routing.Honored)
	f := testnet.Build(t, "torus:3x4,hosts=1")
	c := conf(d, enough)
	c["per_module_logging_file"] = tellsBlocks(t)
	r := start(t, f, d, c)
	if n := strings.Count(r.Await(t, up, soon), ftBlock); n == 0 {
		t.Error("the first sweep writes nothing, or the log does not tell")
	}
	log := r.resweep(t)
	says(t, log, "engine df-dn, proven")
	if n := strings.Count(log, ftBlock); n != 0 {
		t.Errorf("%d blocks are written though nothing changed", n)
	}

	hops := func(r *run) string {
		text, err := os.ReadFile(filepath.Join(r.Dir, "opensm-lid-matrix.dump"))
		if err != nil || !strings.Contains(string(text), "0x0005:") {
			t.Fatalf("%v: %s", err, text)
		}
		return string(text)
	}
	minhop := conf(d, enough)
	minhop["routing_engine"] = "minhop"
	other := start(t, f, d, minhop)
	says(t, other.Await(t, up, soon), "minhop tables configured")
	if hops(r) != hops(other) {
		t.Error("OpenSM counts other hops than for MinHop")
	}
}

// nodeID is a node's name in the net file.
func nodeID(f *fabric.Fabric, n fabric.NodeID) string {
	return string("SH"[f.Node(n).Kind]) + "-" + strings.TrimPrefix(f.Node(n).GUID.String(), "0x")
}

// TestLanesAllowed takes lanes away from OpenSM: tables that need them are
// refused, whoever says that they are proven, and those that do not are taken.
func TestLanesAllowed(t *testing.T) {
	live.Need(t)
	t.Parallel()
	greedy := func(q *wire.Request, c net.Conn) error {
		q.QoS, q.MaxVLs = true, 8
		tables, proof, err := routed(q, "df-dn", routing.Honored)
		if err != nil {
			return err
		}
		return wire.WriteTables(c, q, "greedy", tables, proof)
	}
	for name, c := range map[string]struct{ key, value, says, used string }{
		"QoS off":   {"qos", "FALSE", "set qos TRUE", " 1 lanes used"},
		"one lane":  {"max_op_vls", "1", "does not exist", " 1 lanes used"},
		"two lanes": {"max_op_vls", "2", "does not exist", " 2 lanes used"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := serve(t, greedy)
			f := testnet.Build(t, "dragonfly:p=2")
			settings := conf(d, enough)
			settings[c.key] = c.value
			r := start(t, f, d, settings)
			says(t, r.Await(t, up, soon), c.says, fell)
			d.become(d.routes("updn", routing.Any))
			says(t, r.resweep(t), c.used+", engine updn, proven")
			if name != "QoS off" {
				r.holds(t, d.tables())
				return
			}
			// OpenSM dumps no lanes; updn is free of deadlock on any.
			tables := d.tables()
			dump := r.forwarding(t, tables.Fabric)
			for lid := range f.LIDs() {
				for s := range fabric.NodeID(f.Switches()) {
					if want, got := tables.Forwarding.Port(s, lid), dump.Port(s, lid); want != got {
						t.Fatalf("switch %d, LID %d: port %d, want %d", s, lid, got, want)
					}
				}
			}
		})
	}
}

// TestOptions has OpenSM read options: what is wrong is said, and the next engine
// routes.
func TestOptions(t *testing.T) {
	live.Need(t)
	t.Parallel()
	f := testnet.Build(t, "ring:3,hosts=1")
	for options, want := range map[string]string{
		"weft.socket=run/weft.sock":                "ERR W010",
		"weft.socket=/" + strings.Repeat("x", 120): "ERR W010",
		"weft.deadline=0":                          "ERR W011",
		"weft.deadline=10s":                        "ERR W011",
		"weft.wait=0":                              "ERR W011",
		"weft.owner=nobody-of-this-name":           "ERR W012",
		"weft.contract=all":                        "ERR W015",
		"weft.contract=single:":                    "ERR W015",
		"weft.contract=single:16":                  "ERR W015",
		"weft.contract=single:1x":                  "ERR W015",
		"weft.scope=everything":                    "ERR W016",
		"weft.drops=perhaps":                       "ERR W017",
		"weft.sock=/run/weft.sock":                 "ERR W013",
		"weft.socket":                              "ERR W013",
	} {
		t.Run(options[:min(30, len(options))], func(t *testing.T) {
			t.Parallel()
			c := conf(&daemon{}, 1)
			c["event_plugin_options"] = options
			log := start(t, f, nil, c).Await(t, up, soon)
			says(t, log, want, "nue tables configured")
		})
	}
	t.Run("of another plugin", func(t *testing.T) {
		t.Parallel()
		d, _ := serveRoutes(t, "updn", routing.Any)
		c := conf(d, 1)
		c["event_plugin_options"] = "other=1 weftage=2 weft.deadline=9, weft.owner=0,weft.socket=" + d.socket
		says(t, start(t, f, d, c).Await(t, up, soon), "deadline 9 s, OpenSM waits 1 s; a proof is to be for contract honored, endpoints hca", "engine updn, proven")
	})
}

// TestTerms has an administrator want proofs for more than the daemon's are for,
// and for less.
func TestTerms(t *testing.T) {
	live.Need(t)
	t.Parallel()
	const fewer = "they are proven for contract "
	for _, c := range []struct {
		options, engine string
		contract        routing.Contract
		says            string
	}{
		{"weft.contract=any", "df-dn", routing.Honored, fewer + "honored, endpoints ca; event_plugin_options wants contract any, endpoints hca"},
		{"weft.contract=any", "updn", routing.Any, "engine updn, proven"},
		{"weft.contract=any", "updn", routing.Single(3), fewer + "single:3"},
		{"weft.contract=single:3", "updn", routing.Single(3), "engine updn, proven"},
		{"weft.contract=single:3", "updn", routing.Single(2), fewer + "single:2"},
		{"weft.contract=single:3", "updn", routing.Any, "engine updn, proven"},
		{"weft.contract=single:3", "df-dn", routing.Honored, fewer + "honored"},
		{"weft.contract=honored", "updn", routing.Single(3), "engine updn, proven"},
		{"weft.contract=honored", "df-dn", routing.Directed, fewer + "directed, endpoints ca; event_plugin_options wants contract honored, endpoints hca"},
		{"weft.owner=0", "df-dn", routing.Directed, fewer + "directed, endpoints ca; event_plugin_options wants contract honored, endpoints hca"},
		{"weft.contract=directed", "df-dn", routing.Directed, "engine df-dn, proven"},
		{"weft.contract=directed", "df-dn", routing.Honored, "engine df-dn, proven"},
		{"weft.scope=ca", "df-dn", routing.Honored, "engine df-dn, proven"},
		{"weft.scope=all", "df-dn", routing.Honored, "wants contract honored, endpoints all"},
	} {
		t.Run(c.options+" and "+c.contract.String(), func(t *testing.T) {
			t.Parallel()
			d, _ := serveRoutes(t, c.engine, c.contract)
			settings := conf(d, enough)
			settings["event_plugin_options"] += "," + c.options
			log := start(t, testnet.Build(t, "ring:4,hosts=1"), d, settings).Await(t, up, soon)
			says(t, log, c.says)
			if strings.Contains(log, "weft tables configured") != strings.HasSuffix(c.says, ", proven") {
				t.Error(log)
			}
		})
	}
}

// TestMismatch loads plugins that were built for another OpenSM: by version, and
// by options of the build.
func TestMismatch(t *testing.T) {
	live.Need(t)
	t.Parallel()
	f := testnet.Build(t, "ring:3,hosts=1")
	s := live.Simulate(t, netFile(t, f))
	t.Run("version", func(t *testing.T) {
		library := live.Plugin(t, "libweft.so", `-O0 -DBUILT_FOR='"OpenSM 3.3.99"'`)
		m := s.Manage(t, "", t.TempDir(), conf(&daemon{}, 1), "LD_LIBRARY_PATH="+library)
		log := m.Await(t, up, soon)
		says(t, log, "plugin was built against OpenSM 3.3.99", "nue tables configured")
		m.Stop()
	})
	t.Run("layout", func(t *testing.T) {
		live.Plugin(t, "libweft.so", "") // skips without headers
		headers, library := filepath.Join(t.TempDir(), "infiniband"), t.TempDir()
		if out, err := exec.Command("cp", "-r", "/usr/include/infiniband", headers).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		path := filepath.Join(headers, "opensm", "osm_config.h")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		other := strings.Replace(string(text), "#define ENABLE_OSM_PERF_MGR 1", "", 1)
		if other == string(text) {
			t.Skip("this OpenSM has no performance manager to build without")
		}
		if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("make", "-s", "-C", live.PluginSources(t), "OUT="+library, "OSM_INCLUDE="+headers, "CFLAGS=-O0 "+os.Getenv("WEFT_TEST_CFLAGS"), library+"/libweft.so").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		m := s.Manage(t, "", t.TempDir(), conf(&daemon{}, 1), "LD_LIBRARY_PATH="+library)
		log := m.Await(t, up, soon)
		says(t, log, "cannot load plugin 'weft'", "nue tables configured")
		said, err := m.Quit(t)
		if err != nil || !strings.Contains(said, "headers of another build") {
			t.Errorf("%v, and it prints %q", err, said)
		}
	})
}
