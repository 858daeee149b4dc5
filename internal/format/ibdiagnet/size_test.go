package ibdiagnet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/internal/engine/adaptive/minimal"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// A folder of the size of a large site, 666 switches and 7,982 adapters with groups, is read and judged
// in 9.4 s of processor time and 75 MiB on AMD EPYC; it has three times as long here, and 1 GiB.
func TestRealSize(t *testing.T) {
	if os.Getenv("WEFT_THOROUGH") == "" {
		t.Skip("takes minutes: set WEFT_THOROUGH")
	}
	dir := written(t, "planes:groups=14,leaves=26,on=9,up=10,hosts=7982")
	bin := filepath.Join(t.TempDir(), "weft")
	if out, err := exec.Command("go", "build", "-o", bin, "../../../cmd/weft").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, cpu, peak := measured(t, bin, "verify", dir, "--contract", "any", "--json")
	var got struct {
		Verdict     string
		Pairs       int64
		Unreachable int64
		Groups      struct {
			Choices int64 `json:"with_choice"`
		} `json:"adaptive_groups"`
	}
	if err := json.Unmarshal(text, &got); err != nil || got.Verdict != "deadlock-free" || got.Unreachable > 0 || got.Groups.Choices == 0 {
		t.Fatalf("%v, %+v", err, got)
	}
	t.Logf("%d pairs, %d entries with a choice: %s of CPU, %d MiB", got.Pairs, got.Groups.Choices, cpu.Round(time.Millisecond), peak>>10)
	if cpu > 30*time.Second || peak > 1<<20 {
		t.Errorf("%s of CPU, %d KiB; want 30 s, and 1 GiB", cpu, peak)
	}
}

// measured runs a command, and measures its CPU time and its memory at the peak, in KiB, as
// far as the kernel tells: what wait4 says of a child counts that of the parent too.
func measured(t *testing.T, name string, args ...string) (stdout []byte, cpu time.Duration, peak int64) {
	t.Helper()
	var out, complaints bytes.Buffer
	run := exec.Command(name, args...)
	run.Stdout, run.Stderr = &out, &complaints
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- run.Wait() }()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("%v: %s%s", err, out.Bytes(), complaints.Bytes())
			}
			return out.Bytes(), run.ProcessState.UserTime() + run.ProcessState.SystemTime(), peak
		case <-time.After(5 * time.Millisecond):
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", run.Process.Pid))
			if _, rest, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
				_, _ = fmt.Sscan(string(rest), &peak)
			}
		}
	}
}

// written is a folder with the tables of a network, groups included.
func written(t *testing.T, spec string) string {
	t.Helper()
	r, err := weft.Route(t.Context(), testnet.Build(t, spec), weft.Request{Engine: "updn", VLs: 1, ExactScope: true})
	if err != nil {
		t.Fatal(err)
	}
	tables := *r.Tables
	if tables.Groups, err = minimal.Groups(t.Context(), &tables, routing.Any, routing.HCA, nil); err != nil {
		t.Fatal(err)
	}
	files, err := write(&tables, tables.Lanes.SL2VL)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if keep := os.Getenv("WEFT_KEEP"); keep != "" {
		dir = keep
	}
	for name, text := range map[string]string{"db_csv": files.db, "fdbs": files.fdbs, "slvl": files.slvl, "far": files.far} {
		if err := os.WriteFile(filepath.Join(dir, "ibdiagnet2."+name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
