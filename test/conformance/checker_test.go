package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// checker is checker.py at work: a judge in another language that knows weft by its
// files only.
type checker struct {
	in    io.WriteCloser
	out   *bufio.Scanner
	proof *prover // is asked about certificates as well; nil: it is not
}

// opinion is what checker.py says of a folder.
type opinion struct {
	Error        string
	Free         bool
	Pairs        int64
	Unreachable  int64
	Circles      int64
	Dropped      bool
	Dependencies int
	VLs          []uint8
	Loop         []struct {
		Switch string
		Port   uint8
		VL     uint8
	}
	Cut []struct {
		Switch string
		LID    fabric.LID
		Why    string
	}

	Holds bool // of a certificate
	Why   string
}

// startChecker starts checker.py. The test is skipped where there is no Python 3.
func startChecker(t *testing.T) *checker {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 (on Debian: apt-get install python3)")
	}
	cmd := exec.Command(python, "checker.py", "--jobs")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("checker.py: %v", err)
		}
	})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<26)
	return &checker{in: in, out: lines}
}

func (c *checker) ask(job map[string]string) (*opinion, error) {
	if err := json.NewEncoder(c.in).Encode(job); err != nil {
		return nil, err
	}
	if !c.out.Scan() {
		return nil, fmt.Errorf("checker.py ended: %w", c.out.Err())
	}
	o := &opinion{}
	if err := json.Unmarshal(c.out.Bytes(), o); err != nil {
		return nil, err
	}
	if o.Error != "" {
		return nil, errors.New("checker.py: " + o.Error)
	}
	return o, nil
}

// An empty file says nothing of any tables: it was called free of deadlock, with exit code 0.
func TestCheckerRefusesNoFabric(t *testing.T) {
	c := startChecker(t)
	dir := t.TempDir()
	for _, text := range []string{"", "# a fabric\n", "vendid=0x2c9\n"} {
		if err := os.WriteFile(filepath.Join(dir, fabricFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ask(map[string]string{"dir": dir, "contract": "directed", "endpoints": "hca"}); err == nil || !strings.Contains(err.Error(), "no switch in it") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The files of a folder, by the names that weft route --out and checker.py use.
const (
	fabricFile      = "fabric.ibnetdiscover"
	lftFile         = "lfts.dump"
	sl2vlFile       = "sl2vl.dump"
	pslFile         = "paths.psl"
	certificateFile = "certificate"
)

// writeFolder writes tables as weft route --out does, and the fabric beside.
func writeFolder(dir string, t *routing.Tables, form psl.Form) error {
	return errors.Join(
		writeFile(dir, fabricFile, func(w io.Writer) error { return ibnet.Write(w, t.Fabric) }),
		writeFile(dir, lftFile, func(w io.Writer) error { return lft.Write(w, t.Fabric, t.Forwarding, lft.PortGUIDs) }),
		writeFile(dir, sl2vlFile, func(w io.Writer) error { return slvl.Write(w, t.Fabric, t.Lanes.SL2VL, slvl.Dump) }),
		writeFile(dir, pslFile, func(w io.Writer) error { return psl.Write(w, t, form) }),
	)
}

func writeFile(dir, name string, write func(io.Writer) error) error {
	file, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// readFolder reads it as weft verify does.
func readFolder(dir string) (*routing.Tables, error) {
	f, err := readFile(dir, fabricFile, ibnet.Read)
	if err != nil {
		return nil, err
	}
	dump, err := readFile(dir, lftFile, func(r io.Reader, name string) (*lft.Dump, error) { return lft.Read(r, name, f, lft.Join{}) })
	if err != nil {
		return nil, err
	}
	m, err := readFile(dir, sl2vlFile, func(r io.Reader, name string) (*routing.SL2VL, error) { return slvl.Read(r, name, f) })
	if err != nil {
		return nil, err
	}
	lanes, err := readFile(dir, pslFile, func(r io.Reader, name string) (*routing.Lanes, error) { return psl.Read(r, name, f, m, nil) })
	if err != nil {
		return nil, err
	}
	return &routing.Tables{Fabric: f, Forwarding: dump.Forwarding, Lanes: lanes}, nil
}

func readFile[T any](dir, name string, read func(io.Reader, string) (T, error)) (v T, err error) {
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return v, err
	}
	defer file.Close()
	return read(file, name)
}

// agree says where the judge and checker.py differ about the tables in a folder.
func (c *checker) agree(dir string, t *routing.Tables, v *deadlock.Verdict) error {
	o, err := c.ask(map[string]string{"dir": dir, "contract": v.Contract.String(), "endpoints": v.Scope.String()})
	if err != nil {
		return err
	}
	mask := uint16(0)
	for _, vl := range o.VLs {
		mask |= 1 << vl
	}
	for _, x := range []struct {
		what         string
		judge, other any
	}{
		{"free", v.Free(), o.Free},
		{"steps of a shortest loop", len(v.Cycle), len(o.Loop)},
		{"dependencies", v.Dependencies, o.Dependencies},
		{"pairs", v.Pairs, o.Pairs},
		{"pairs without a route", v.Unreachable, o.Unreachable},
		{"circles", v.Loops, o.Circles},
		{"drops", v.Dropped > 0, o.Dropped},
		{"lanes", v.LaneMask, mask},
	} {
		if x.judge != x.other {
			return fmt.Errorf("%s: the judge says %v, checker.py %v", x.what, x.judge, x.other)
		}
	}
	cut := map[string]bool{}
	for _, l := range o.Cut {
		cut[fmt.Sprintf("%s, LID %d: %s", l.Switch, l.LID, l.Why)] = true
	}
	listed := map[string]bool{}
	for _, l := range v.Lost {
		key := fmt.Sprintf("%s, LID %d: %s", t.Fabric.Node(l.Switch).GUID, l.LID, l.Why)
		if !cut[key] {
			return fmt.Errorf("the judge lists %s as lost, checker.py does not", key)
		}
		listed[key] = true
	}
	if len(v.Lost) < maxLost && len(listed) != len(cut) {
		return fmt.Errorf("the judge lists %d switches and LIDs as lost, checker.py %d", len(listed), len(cut))
	}
	return nil
}

// holds asks checker.py whether a certificate proves the tables in a folder. That weft-proof says
// otherwise is an error.
func (c *checker) holds(dir, certificate string) (*opinion, error) {
	path := filepath.Join(dir, certificate)
	o, err := c.ask(map[string]string{"dir": dir, "certificate": path})
	if err != nil || c.proof == nil {
		return o, err
	}
	got, err := c.proof.ask(dir, "--certificate", path)
	if err == nil && got.Holds != o.Holds && !got.aboutNobody() {
		err = fmt.Errorf("checker.py says %v of the certificate (%s), weft-proof %v (%s)", o.Holds, o.Why, got.Holds, got.Why)
	}
	return o, err
}

// Switches with an enhanced port 0, as most are, count like others; a record that is
// written in any other way is an error, not a network without it.
func TestCheckerReadsEverySwitch(t *testing.T) {
	c, dir := startChecker(t), t.TempDir()
	tables := routed.Of(t, testnet.Build(t, "torus:3x3"), "minhop", routing.Budget{VLs: routing.DefaultVLs, Contract: routing.Any})
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any})
	if err != nil {
		t.Fatal(err)
	}
	if err := writeFolder(dir, tables, psl.Compact); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fabricFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for kind, known := range map[string]bool{"base": true, "enhanced": true, "novel": false} {
		if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(" base port 0 "), []byte(" "+kind+" port 0 ")), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ask(map[string]string{"dir": t.TempDir(), "contract": "any", "endpoints": "hca"}); err == nil {
			t.Error("an empty folder has tables") // and the folder is read anew next
		}
		err := c.agree(dir, tables, v)
		if known && err != nil {
			t.Errorf("%s port 0: %v", kind, err)
		}
		if !known && (err == nil || !strings.Contains(err.Error(), "not as ibnetdiscover writes it")) {
			t.Errorf("%s port 0 is taken: %v", kind, err)
		}
	}
}

func writeCertificate(dir string, f *fabric.Fabric, c *deadlock.Certificate) error {
	return writeFile(dir, certificateFile, func(w io.Writer) error { return certificate.Write(w, f, c) })
}
