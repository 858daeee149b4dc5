package plugin_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/tablefiles"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// clerk is a program that answers a line with a line of JSON.
type clerk struct {
	in  io.WriteCloser
	out *bufio.Scanner
}

func newClerk(t *testing.T, program string, arguments ...string) *clerk {
	t.Helper()
	cmd := exec.Command(program, arguments...)
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", program, err)
		}
	})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	return &clerk{in, lines}
}

// holds asks whether a certificate holds, and why not.
func (c *clerk) holds(line string) (holds bool, why string, err error) {
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		return false, "", err
	}
	if !c.out.Scan() {
		return false, "", fmt.Errorf("it ended: %w", c.out.Err())
	}
	var a struct {
		Holds      bool
		Why, Error string
	}
	if err := json.Unmarshal(c.out.Bytes(), &a); err != nil {
		return false, "", err
	}
	if a.Error != "" {
		return false, "", errors.New(a.Error)
	}
	return a.Holds, a.Why, nil
}

// fourCases is how many cases TestFourJudges asks about.
func fourCases() int {
	switch {
	case os.Getenv("WEFT_THOROUGH") != "":
		return 100_000
	case testing.Short():
		return 300
	}
	return testnet.Of(600, 200)
}

// Judge, checker.py, the plugin's C and the checker that is extracted from the proof are asked about the same tables
// with the same ranks, true ones and damaged ones: all four say the same. What the plugin asks for beyond ranks
// is said again in Go (beyond).
func TestFourJudges(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 (on Debian: apt-get install python3)")
	}
	prover := newClerk(t, live.ProofChecker(t), "--jobs")
	checker := newClerk(t, python, "../../conformance/checker.py", "--jobs")
	program := filepath.Join(live.Plugin(t, "weft-core", ""), "weft-core")
	dir := t.TempDir()
	var messages bytes.Buffer
	var due []string
	count := map[string]int{}
	verdicts := func() {
		t.Helper()
		file := filepath.Join(dir, "cases")
		if err := os.WriteFile(file, messages.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program, "cases", file, "-").CombinedOutput()
		lines := strings.Split(string(out), "\n")
		if err != nil || len(lines) != len(due)+1 {
			t.Fatalf("weft-core: %v, %d verdicts on %d cases", err, len(lines)-1, len(due))
		}
		for i, want := range due {
			if got, _, _ := strings.Cut(lines[i], " "); got != want[:1] {
				t.Errorf("the plugin says %s, the others %s", lines[i], want)
			}
		}
		messages.Reset()
		due = due[:0]
	}
	for i := uint64(0); len(due)+count["asked"] < fourCases(); i++ {
		c := draw{rand.New(rand.NewPCG(4, i))}.small()
		contract, ok := c.nameable()
		if !ok {
			continue
		}
		q := c.request(0)
		a, err := wire.ReadAnswer(bytes.NewReader(c.answer(0)), q)
		if err != nil {
			continue // the daemon's side of the wire refuses it
		}
		f, err := q.Fabric()
		if err != nil {
			continue // an address that is not a multiple of how many there are
		}
		tables, proof := tablesOf(f, q, a)
		proof.Contract = contract
		c.onLinks(f, proof)
		folder := filepath.Join(dir, fmt.Sprint(i))
		if err := writeTables(folder, &files.Folder{Tables: tables, Certificate: proof, Compact: true}); err != nil {
			t.Fatal(err)
		}
		_, wrong := deadlock.CheckCertificate(t.Context(), tables, proof, nil)
		job, err := json.Marshal(map[string]string{"dir": folder, "certificate": filepath.Join(folder, tablefiles.CertificateFile)})
		if err != nil {
			t.Fatal(err)
		}
		python, pythonWhy, pythonErr := checker.holds(string(job))
		proven, why, proverErr := prover.holds(folder)
		if err := errors.Join(pythonErr, proverErr, os.RemoveAll(folder)); err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		nobody := strings.HasPrefix(why, "no pair of endpoints")
		if python != (wrong == nil) || !nobody && proven != python {
			t.Fatalf("case %d, contract %s: the judge says %v, checker.py %v (%s), weft-proof %v (%s)", i, contract, wrong, python, pythonWhy, proven, why)
		}
		want := "p"
		switch beyond := c.beyond(); {
		case beyond == "malformed":
			want = "m"
		case beyond != "":
			want = "u: " + beyond
		case nobody:
			want = "n"
		case !proven:
			want = "u: " + why
		}
		if err := c.message(&messages); err != nil {
			t.Fatal(err)
		}
		due = append(due, want)
		count[want[:1]]++
		if !proven && !nobody {
			count["refused by ranks"]++
		}
		if len(due) == 1000 {
			count["asked"] += len(due)
			verdicts()
		}
	}
	verdicts()
	t.Log(count)
	if least := fourCases() / 20; count["p"] < least || count["refused by ranks"] < least {
		t.Errorf("%v: the trial is one-sided", count)
	}
}

// nameable is the contract of plain tables without a tree, if it has a name that all four know and the files can say
// the tables.
func (c *smallCase) nameable() (routing.Contract, bool) {
	t := c.tables[0]
	if c.kept {
		return routing.Honored, false
	}
	for s, row := range t.out {
		for _, port := range row {
			if port != 255 && port > c.net[0].ports[s] {
				return routing.Honored, false // weft-proof takes such a file for one of another network
			}
		}
		if slices.Max(t.sl[s]) > 15 {
			return routing.Honored, false
		}
	}
	switch {
	case t.step || len(c.tables) > 1 || t.groups != 0 || c.filled:
	case t.contract == 0xFFFF:
		return routing.Any, true
	case t.contract == 0 && t.directed:
		return routing.Directed, true
	case t.contract == 0:
		return routing.Honored, true
	}
	return routing.Honored, false
}

// onLinks takes away the ranks of lanes that a cable does not run: who does not know that finds none.
func (c *smallCase) onLinks(f *fabric.Fabric, proof *deadlock.Certificate) {
	for s, ports := range c.net[0].ports {
		for p := 1; p <= ports; p++ {
			x := [2]int{s, p}
			if _, is := c.net[0].trunk(x); is {
				trunk := int(f.Out(fabric.NodeID(s), uint8(p)))
				for lane := c.lanesOf(x); lane < proof.Lanes; lane++ {
					proof.Rank[trunk*proof.Lanes+lane] = deadlock.Unused
				}
			}
		}
	}
}

// writeTables writes a folder, with the network in it.
func writeTables(dir string, folder *files.Folder) error {
	err := os.Mkdir(dir, 0o700)
	network := files.File{Name: "fabric.ibnetdiscover", Write: func(w io.Writer) error { return ibnet.Write(w, folder.Tables.Fabric) }}
	for _, f := range append(folder.Files(), network) {
		if err != nil {
			return err
		}
		var b bytes.Buffer
		err = errors.Join(f.Write(&b), os.WriteFile(filepath.Join(dir, f.Name), b.Bytes(), 0o600))
	}
	return err
}
