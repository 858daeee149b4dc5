package live

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weft-fabric/weft/fabric"
)

// Dumps is the files that one sweep of OpenSM wrote, in a temporary directory of the
// test.
type Dumps struct {
	LFTs     string // opensm-lfts.dump, forwarding tables by switch
	FDBs     string // opensm.fdbs, the same with hop counts, which ibdmchk reads
	MCFDBs   string // opensm.mcfdbs, multicast tables
	Subnet   string // opensm-subnet.lst, every cable
	SL2VL    string // opensm-sl2vl.dump; written with qos TRUE only
	GUID2LID string // guid2lid
	Log      string // osm.log

	// Engine is the routing engine that made the tables: not the one asked for if OpenSM
	// fell back.
	Engine string
}

// dumpsIn is the files that an OpenSM writes with a directory as its own.
func dumpsIn(dir, log string) Dumps {
	in := func(name string) string { return filepath.Join(dir, name) }
	return Dumps{
		LFTs: in("opensm-lfts.dump"), FDBs: in("opensm.fdbs"), MCFDBs: in("opensm.mcfdbs"), Subnet: in("opensm-subnet.lst"),
		SL2VL: in("opensm-sl2vl.dump"), GUID2LID: in("guid2lid"), Log: log,
	}
}

// files is all of them but the log.
func (d Dumps) files() []string {
	return []string{d.LFTs, d.FDBs, d.MCFDBs, d.Subnet, d.SL2VL, d.GUID2LID}
}

// sweeps numbers the simulators of this process, for their socket names.
var sweeps atomic.Int64

var configured = regexp.MustCompile(`(\S+) tables configured on all switches`)

// OpenSM simulates the fabric of a net file (ibnetdiscover's output, or what
// package ibnet writes), lets OpenSM sweep it once from the first adapter of the
// file and returns the dumps. The entries of conf are lines of opensm.conf:
// routing_engine, lfts_file, qos and so on.
//
// With a fabric in pin, OpenSM gives every port the LID that it has there;
// without, it assigns LIDs of its own. Ports are matched by the GUID of the node
// and the number of the port, since ibsim makes port GUIDs of these.
func OpenSM(t testing.TB, net string, conf map[string]string, pin *fabric.Fabric) Dumps {
	t.Helper()
	Need(t)
	tools, _ := find()
	n, err := readNetFile(net)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	d := dumpsIn(dir, in("osm.log"))
	// With -o and an interval of 0 OpenSM asks in a busy loop whether the sweep is done, on a
	// core of its own.
	once := map[string]string{"sweep_interval": "600"}
	maps.Copy(once, conf)
	write(t, in("opensm.conf"), configuration(once))
	if pin != nil {
		write(t, d.GUID2LID, guid2lid(pin))
	}

	socket := fmt.Sprintf("weft-%d-%d", os.Getpid(), sweeps.Add(1))
	stop := startSim(t, n, socket, nil)
	defer stop()
	cmd := command(t.Context(), inMemory(t), []string{
		"IBSIM_SOCKNAME=" + socket,
		"LD_PRELOAD=" + tools.umad2sim,
		"SIM_HOST=" + n.host,
		"OSM_TMP_DIR=" + dir,
		"OSM_CACHE_DIR=" + dir,
	}, tools.opensm, "-o", "-F", in("opensm.conf"), "-f", d.Log, "-D", "0x47")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("live: opensm on %s: %v\n%s\n%s", net, err, lastLines(string(out)), tailOf(d.Log))
	}
	log, err := os.ReadFile(d.Log)
	if err != nil {
		t.Fatalf("live: opensm left no log: %v", err)
	}
	done := configured.FindSubmatch(log)
	if done == nil {
		t.Fatalf("live: opensm configured no tables on %s\n%s", net, lastLines(string(log)))
	}
	d.Engine = string(done[1])
	return d
}

// configuration is opensm.conf: conf, and options that make a sweep quick.
func configuration(conf map[string]string) string {
	all := map[string]string{
		"max_wire_smps":  "64",
		"max_wire_smps2": "64",
		"sweep_interval": "0",
	}
	maps.Copy(all, conf)
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s %s\n", key, all[key])
	}
	return b.String()
}

// Pin lets an OpenSM with this directory give every port the LID that it has in a
// fabric.
func Pin(t testing.TB, dir string, f *fabric.Fabric) {
	t.Helper()
	write(t, filepath.Join(dir, "guid2lid"), guid2lid(f))
}

// guid2lid is OpenSM's memory of which port has which LIDs.
func guid2lid(f *fabric.Fabric) string {
	var b strings.Builder
	for i := range f.Endpoints() {
		e := f.Endpoint(fabric.EndpointID(i))
		guid := f.Node(e.Node).GUID + fabric.GUID(e.Port)
		fmt.Fprintf(&b, "%s 0x%04x 0x%04x\n\n", guid, e.LID, int(e.LID)+1<<e.LMC-1)
	}
	return b.String()
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatalf("live: %v", err)
	}
}
