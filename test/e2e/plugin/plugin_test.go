package plugin_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
)

// soon is how long a sweep of a small fabric may take on a busy machine.
const soon = 3 * time.Minute

// enough is seconds that no daemon needs for an answer, whatever else the machine does. Where
// the time that OpenSM waits is what a test is about, it has a shorter deadline.
const enough = 600

// up is what OpenSM logs at the end of a sweep.
const up = live.Up

func TestMain(m *testing.M) {
	if socket := os.Getenv("WEFT_TEST_DAEMON"); socket != "" {
		daemonProcess(socket, os.Getenv("WEFT_TEST_ANSWER"), os.Getenv("WEFT_TEST_UID"))
		return
	}
	if config := os.Getenv("WEFT_TEST_KEEP"); config != "" {
		keepProcess(config)
		return
	}
	testnet.Sample("^TestSmallCases$|^TestLogWritten$")
	os.Exit(live.Run(m))
}

// run is OpenSM with the plugin on a simulated fabric.
type run struct {
	*live.Subnet
	*live.Manager
	daemon *daemon
}

// conf is opensm.conf for a daemon, for which OpenSM waits all of its time.
func conf(d *daemon, deadline int) map[string]string {
	return map[string]string{
		"event_plugin_name":    "weft",
		"event_plugin_options": fmt.Sprintf("weft.socket=%s,weft.deadline=%d,weft.wait=%[2]d", d.socket, deadline),
		"routing_engine":       "weft,nue",
		"qos":                  "TRUE",
		"max_op_vls":           "5",
	}
}

// directedToo is a configuration that takes tables which hold only if each side
// keeps to its own path record.
func directedToo(conf map[string]string) map[string]string {
	conf["event_plugin_options"] += ",weft.contract=directed"
	return conf
}

// start starts a simulator, and OpenSM on it with the LIDs of the fabric.
func start(t testing.TB, f *fabric.Fabric, d *daemon, conf map[string]string) *run {
	t.Helper()
	live.Need(t)
	library := live.Plugin(t, "libweft.so", "")
	dir := t.TempDir()
	live.Pin(t, dir, f)
	s := live.Simulate(t, netFile(t, f))
	return &run{Subnet: s, Manager: s.Manage(t, "", dir, conf, "LD_LIBRARY_PATH="+library), daemon: d}
}

// netFile is a fabric as a file for ibsim.
func netFile(t testing.TB, f *fabric.Fabric) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "net.ibnet")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := ibnet.Write(io.Writer(file), f); err != nil {
		t.Fatal(err)
	}
	return path
}
