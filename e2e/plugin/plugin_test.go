package plugin_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/live"
)

// soon is how long a sweep of a small fabric may take on a busy machine.
const soon = 40 * time.Second

var built struct {
	sync.Mutex
	dirs map[string]string // by compiler flags
	root string
}

func TestMain(m *testing.M) {
	if socket := os.Getenv("WEFT_TEST_DAEMON"); socket != "" {
		daemonProcess(socket, os.Getenv("WEFT_TEST_ANSWER"), os.Getenv("WEFT_TEST_UID"))
		return
	}
	if config := os.Getenv("WEFT_TEST_KEEP"); config != "" {
		keepProcess(config)
		return
	}
	code := m.Run()
	if built.root != "" {
		os.RemoveAll(built.root)
	}
	os.Exit(code)
}

// build builds a target of the plugin's Makefile with more compiler flags, once
// for all tests, and returns the folder it is in. It skips the test without
// compiler or headers.
func build(t testing.TB, target, flags string) string {
	t.Helper()
	for _, tool := range []string{"make", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	if _, err := os.Stat("/usr/include/infiniband/opensm/osm_event_plugin.h"); err != nil {
		t.Skip("no headers of OpenSM; scripts/test-deps.sh installs libopensm-dev and libibumad-dev")
	}
	built.Lock()
	defer built.Unlock()
	if dir, ok := built.dirs[target+flags]; ok {
		return dir
	}
	if built.root == "" {
		var err error
		if built.root, err = os.MkdirTemp("", "weft-plugin-"); err != nil {
			t.Fatal(err)
		}
		built.dirs = map[string]string{}
	}
	dir := filepath.Join(built.root, fmt.Sprint(len(built.dirs)))
	out, err := exec.Command("make", "-s", "-C", sources(), "OUT="+dir, "CFLAGS=-O2 -g "+flags+" "+os.Getenv("WEFT_TEST_CFLAGS"), dir+"/"+target).CombinedOutput()
	if err != nil {
		t.Fatalf("make %s: %v\n%s", target, err, out)
	}
	built.dirs[target+flags] = dir
	return dir
}

// sources is the folder of the plugin; TestSafeguards has it elsewhere.
func sources() string {
	if dir := os.Getenv("WEFT_TEST_SOURCES"); dir != "" {
		return dir
	}
	return "../../opensm/plugin"
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
	library := build(t, "libweft.so", "")
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
