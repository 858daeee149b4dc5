package ibdiagnet

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/adaptive/minimal"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// bundle is an output folder with all files that are read, by the ends of their names.
func bundle(t *testing.T, spec string) map[string]string {
	t.Helper()
	r, err := weft.Route(t.Context(), testnet.Build(t, spec), weft.Request{Engine: "updn"})
	if err != nil {
		t.Fatal(err)
	}
	f := r.Tables.Fabric
	if r.Tables.Groups, err = minimal.Groups(t.Context(), r.Tables, routing.Any, routing.HCA, nil); err != nil {
		t.Fatal(err)
	}
	dir, err := write(r.Tables, r.Tables.Lanes.SL2VL)
	if err != nil {
		t.Fatal(err)
	}
	var plft, vl2vl strings.Builder
	dir.db += "START_AR_INFO\nNodeGUID,e,by_sl_en,enable_by_sl_mask\n"
	for s := range fabric.NodeID(f.Switches()) {
		dir.db += fmt.Sprintf("%s,%d,0,0\n", f.Node(s).GUID, min(1, len(r.Tables.Groups.Sets(s))))
		fmt.Fprintf(&plft, "dump_plft: Switch %s\n", f.Node(s).GUID)
		for port := range f.Node(s).Ports + 1 {
			fmt.Fprintf(&plft, "rq:%d sl-plft:", port)
			for sl := range 16 {
				fmt.Fprintf(&plft, "(%d,0)", sl)
			}
			plft.WriteByte('\n')
		}
		fmt.Fprintf(&vl2vl, "dump_vl2vl: Switch %s\nsl:\n", f.Node(s).GUID)
	}
	dir.db += "END_AR_INFO\n"
	var groups strings.Builder // each table twice, the second as a private one
	for i, block := range strings.Split(dir.far, "Switch ") {
		if i > 0 {
			groups.WriteString("Switch " + block)
			_, entries, _ := strings.Cut(block, "PLFT_NUM: 0")
			groups.WriteString("PLFT_NUM: 1" + entries)
		}
	}
	dir.far = groups.String()
	return map[string]string{
		"db_csv": dir.db, "fdbs": dir.fdbs, "slvl": dir.slvl, "far": dir.far,
		"mcfdbs": tree(f), "net_dump": netDumpOf(f), "plft": plft.String(), "vl2vl": vl2vl.String(),
	}
}

// tree is the tables of a multicast group of all hosts of a fat tree of two levels.
func tree(f *fabric.Fabric) string {
	ports := make([][]int, f.Switches())
	root := fabric.NodeID(f.Switches() - 1) // a spine
	seen := map[fabric.NodeID]bool{root: true}
	for queue := []fabric.NodeID{root}; len(queue) > 0; queue = queue[1:] {
		for port := 1; port <= f.Node(queue[0]).Ports; port++ {
			c := f.Out(queue[0], uint8(port))
			if c == fabric.None || seen[f.Channel(c).To] || queue[0] != root && int(f.Channel(c).To) < f.Switches() {
				continue // other spines stay outside
			}
			to := f.Channel(c)
			seen[to.To] = true
			ports[queue[0]] = append(ports[queue[0]], port)
			if int(to.To) < f.Switches() {
				ports[to.To] = append(ports[to.To], int(to.ToPort))
				queue = append(queue, to.To)
			}
		}
	}
	var b strings.Builder
	for s := range fabric.NodeID(f.Switches()) {
		fmt.Fprintf(&b, "\nSwitch %s\nLID    : Out Port(s)\n0xC000 :", f.Node(s).GUID)
		for _, port := range ports[s] {
			fmt.Fprintf(&b, " 0x%03X ", port)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// A folder in which one file is missing, cut short within a line or at the end of one, or
// of another fabric: weft verify says so and names the file, or says what is taken for want
// of it; never is a verdict given as if all were well.
func TestBundle(t *testing.T) {
	testnet.OnlyWhole(t) // starts weft, by each file of a folder
	bin := filepath.Join(t.TempDir(), "weft")
	// go run keeps what it has linked, for tests of other packages too; cp is how it is run.
	if out, err := exec.Command("go", "run", "-exec=cp", "../../../cmd/weft", bin).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole, other := bundle(t, "xgft:m=5,w=2,hosts=2"), bundle(t, "ring:5,hosts=3")
	verify := func(files map[string]string, more ...string) (int, string) {
		dir := t.TempDir()
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, "ibdiagnet2."+name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		var said bytes.Buffer
		run := exec.Command(bin, append([]string{"verify", dir, "--contract", "directed"}, more...)...)
		run.Stdout, run.Stderr = &said, &said
		err := run.Run()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if bytes.Contains(said.Bytes(), []byte("goroutine ")) {
			t.Errorf("it panics: %s", said.Bytes())
		}
		return run.ProcessState.ExitCode(), said.String()
	}
	with := func(name, text string) map[string]string {
		files := map[string]string{}
		for k, v := range whole {
			files[k] = v
		}
		if name == "net_dump" { // which is read where there is no table LINKS
			files["db_csv"] = withoutLinks(files["db_csv"])
		}
		if files[name] = text; text == "" {
			delete(files, name)
		}
		return files
	}
	if code, said := verify(whole); code != 0 || !strings.Contains(said, "unicast and multicast") {
		t.Fatalf("as it is: %d, %s", code, said)
	}
	missing := map[string]struct {
		code int
		says string
	}{
		"db_csv": {3, "without ibdiagnet2.db_csv"}, "fdbs": {2, "has no ibdiagnet2.fdbs"}, "slvl": {0, "rides VL 0"}, "far": {0, "deadlock-free"},
		"mcfdbs": {0, "multicast, "}, "net_dump": {3, "no table LINKS"}, "plft": {3, "there is no ibdiagnet2.plft"}, "vl2vl": {0, "deadlock-free"},
	}
	for name, text := range whole {
		if code, said := verify(with(name, "")); code != missing[name].code || !strings.Contains(said, missing[name].says) {
			t.Errorf("%s missing: %d, %s", name, code, said)
		}
		if name == "vl2vl" {
			other[name] = strings.ReplaceAll(other[name], "0x0002c9", "0x0102c9") // no switch in common
		}
		half := text[:len(text)/2]
		half = half[:strings.LastIndexByte(half, '\n')+1]
		line := text[len(half):]
		line = line[:strings.IndexByte(line, '\n')]
		for what, changed := range map[string]string{
			"cut within a line": half + line[:(len(line)+1)/2], "cut behind a line": half, "of another fabric": other[name], "rubbish": "no such thing\n",
		} {
			if changed == text {
				t.Fatalf("%s %s is as it was", name, what)
			}
			code, said := verify(with(name, changed))
			if name == "vl2vl" && what == "cut behind a line" {
				continue // the switches that are left out do nothing by lanes: it cannot be seen
			}
			if code != 1 && code != 3 {
				t.Errorf("%s %s: %d, %s\n%q", name, what, code, said, changed[max(0, len(changed)-100):])
			}
			if !strings.Contains(said, "ibdiagnet2."+name) && !(what == "of another fabric" && code == 3) && !strings.Contains(said, "tables and fabric are not of one time") {
				t.Errorf("%s %s: the file is not named: %d, %s", name, what, code, said)
			}
		}
	}
}
