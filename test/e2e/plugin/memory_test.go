package plugin_test

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// TestMemory runs OpenSM with a plugin that watches its memory through good
// answers, bad ones and none, and path records in between, and looks for misuse
// and leaks when OpenSM ends.
func TestMemory(t *testing.T) {
	live.Need(t)
	t.Parallel()
	libasan, err := exec.Command("cc", "-print-file-name=libasan.so").Output()
	if err != nil || !strings.Contains(string(libasan), "/") {
		t.Skip("no AddressSanitizer")
	}
	d, good := serveRoutes(t, "df-dn", routing.Honored)
	f := testnet.Build(t, "dragonfly:p=2")
	s := live.Simulate(t, netFile(t, f))
	dir := t.TempDir()
	live.Pin(t, dir, f)
	r := &run{Subnet: s, daemon: d}
	library := filepath.Join(live.Plugin(t, "libweft.so", asan+" -fsanitize-recover=address"), "libweft.so")
	// The plugin is preloaded too, so that it has not left when leaks are named.
	preload := strings.Join([]string{strings.TrimSpace(string(libasan)), live.UMAD2Sim(t), library}, ":")
	r.Manager = r.Manage(t, "", dir, conf(d, enough), "LD_LIBRARY_PATH="+filepath.Dir(library), "LD_PRELOAD="+preload, "ASAN_OPTIONS=detect_leaks=1:halt_on_error=0")
	r.Await(t, up, soon)
	for _, a := range []answer{
		good,
		d.routes("updn", routing.Any),
		func(*wire.Request, net.Conn) error { return nil },
		d.liar("df-dn", func(m []byte) []byte { return m[:len(m)-1] }),
		d.liar("df-dn", func(m []byte) []byte { return everySL(m, 16) }),
		looping,
		good,
	} {
		d.become(a)
		says(t, r.resweep(t), "weft tables configured")
	}
	r.holds(t, d.tables())
	said, err := r.Quit(t)
	if err != nil {
		t.Errorf("OpenSM ends with %v", err)
	}
	// OpenSM and ibsim's library have faults of their own, and the reports of leaks
	// show that somebody looked.
	if !strings.Contains(said, "LeakSanitizer") {
		t.Errorf("no leak of OpenSM's is reported, so those of the plugin would not be either\n%s", said)
	}
	for report := range strings.SplitSeq(said, "\n\n") {
		if strings.Contains(report, "libweft.so") || strings.Contains(report, "plugin/") || strings.Contains(report, "runtime error") {
			t.Error(report)
		}
	}
}

// TestSwap replaces tables while two threads read them.
func TestSwap(t *testing.T) {
	t.Parallel()
	q := wire.Of(testnet.Build(t, "ring:5,hosts=2"), 1)
	whole := answerTo(t, q, "df-dn", routing.Honored)
	for _, flags := range []string{"-fsanitize=thread", asan} {
		out := core(t, flags, "swap", q, whole, "300")
		var done, of int
		if _, err := fmt.Sscanf(out[0], "replaced %d of %d times", &done, &of); err != nil || done < 4 || of != 300 {
			t.Errorf("%q: %v", out, err)
		}
	}
}
