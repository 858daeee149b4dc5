package conformance

import (
	"bufio"
	"context"
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
	"sync"
	"sync/atomic"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// transitionFile has a rank for the union of the dependencies of a step's tables and those before.
const transitionFile = "transition.certificate"

// prover is weft-proof at work: the checker that is extracted from the proofs of proof/theories.
type prover struct {
	in  io.WriteCloser
	out *bufio.Scanner
}

// proven is what weft-proof says of a folder.
type proven struct {
	Holds     bool
	Deadlocks bool
	Delivers  *bool
	Assumed   []string
	Why       string
	Error     string
	Code      int
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(proverFolder) // empty: nothing was built
	os.Exit(code)
}

// proverFolder is where weft-proof was built.
var proverFolder string

// builtProver builds weft-proof, once for all tests, and says where it is; nowhere if there is no OCaml.
var builtProver = sync.OnceValues(func() (program string, err error) {
	if _, err := exec.LookPath("ocamlopt"); err != nil {
		return "", nil
	}
	if proverFolder, err = os.MkdirTemp("", "weft-proof"); err != nil {
		return "", err
	}
	program = filepath.Join(proverFolder, "weft-proof")
	if out, err := exec.Command("../../proof/checker/build.sh", program).CombinedOutput(); err != nil || len(out) > 0 {
		return "", fmt.Errorf("building weft-proof: %v\n%s", err, out)
	}
	return program, nil
})

// buildProver is weft-proof, built; nowhere if there is no OCaml.
func buildProver(t *testing.T) string {
	t.Helper()
	program, err := builtProver()
	if err != nil {
		t.Fatal(err)
	}
	if program == "" {
		t.Log("no ocamlopt, so weft-proof is not asked (on Debian: apt-get install ocaml-nox)")
	}
	return program
}

// startProver builds and starts weft-proof; nil where there is no OCaml.
func startProver(t *testing.T) *prover {
	t.Helper()
	program := buildProver(t)
	if program == "" {
		return nil
	}
	cmd := exec.Command(program, "--jobs")
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
			t.Errorf("weft-proof: %v", err)
		}
	})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<26)
	return &prover{in: in, out: lines}
}

// beside is a weft-proof for all tests, which is asked about every engine's tables; nil where there is no OCaml.
// It ends when this process does, and takes its input away.
var beside = sync.OnceValues(func() (*prover, error) {
	program, err := builtProver()
	if program == "" || err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "--jobs")
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<26)
	return &prover{in: in, out: lines}, nil
})

// How often accepted was called, how often weft-proof was asked, and what takes turns to ask.
var (
	besideAsked, besideAnswers atomic.Int64
	besideTurn                 sync.Mutex
)

// accepted asks weft-proof about what the judge proved, of every engine on every network after every fault: one verdict in
// six, and all with WEFT_THOROUGH.
func accepted(t *routing.Tables, v *deadlock.Verdict) error {
	if besideAsked.Add(1)%6 != 0 && !thorough || v.Pairs == v.Unreachable || !asTheProverSees(t.Fabric) {
		return nil
	}
	p, err := beside()
	if p == nil || err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "proof")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := errors.Join(writeFolder(dir, t, psl.Compact), writeCertificate(dir, t.Fabric, v.Certificate)); err != nil {
		return err
	}
	besideTurn.Lock()
	defer besideTurn.Unlock()
	got, err := p.ask(dir)
	besideAnswers.Add(1)
	if err == nil && (!got.Holds || len(v.Lost) < maxLost && *got.Delivers != allArrive(v)) {
		err = fmt.Errorf("contract %s, endpoints %s: the judge proves it, with %d pairs lost; weft-proof says %+v", v.Contract, v.Scope, v.Unreachable, got)
	}
	return err
}

func (p *prover) ask(arguments ...string) (*proven, error) {
	if _, err := fmt.Fprintln(p.in, strings.Join(arguments, "\t")); err != nil {
		return nil, err
	}
	if !p.out.Scan() {
		return nil, fmt.Errorf("weft-proof ended: %w", p.out.Err())
	}
	o := &proven{}
	if err := json.Unmarshal(p.out.Bytes(), o); err != nil {
		return nil, err
	}
	if o.Error != "" {
		return nil, fmt.Errorf("weft-proof: %s (exit code %d)", o.Error, o.Code)
	}
	return o, nil
}

// aboutNobody reports whether weft-proof found nobody who may send, where others accept any ranks.
func (o *proven) aboutNobody() bool { return strings.HasPrefix(o.Why, "no pair of endpoints") }

// asTheProverSees reports whether weft-proof sees a network as the judge does: one with a cable from a
// switch to itself it does not (docs/proof.md).
func asTheProverSees(f *fabric.Fabric) bool {
	return !slices.ContainsFunc(f.Channels(), func(ch fabric.Channel) bool { return ch.From == ch.To })
}

// tinyNetworks is networks that weft-proof sees as the judge does.
func tinyNetworks(t *rapid.T) *fabric.Fabric {
	for {
		if f := mustBuild(t, recipes(6).Draw(t, "network")); asTheProverSees(f) {
			return f
		}
	}
}

// onPorts takes out entries for ports that a switch does not have: such files are refused.
func onPorts(t *routing.Tables) {
	for lid := range t.Fabric.TopLID() + 1 {
		for s, row := 0, t.Forwarding.Row(lid); s < len(row); s++ {
			if int(row[s]) > t.Fabric.Node(fabric.NodeID(s)).Ports {
				row[s] = routing.NoPort
			}
		}
	}
}

// damaged is a certificate with one rank changed, or one lane's rank taken out.
func damaged(c *deadlock.Certificate, rng *rand.Rand) *deadlock.Certificate {
	d := *c
	d.Rank = append([]int32(nil), c.Rank...)
	if len(d.Rank) > 0 {
		d.Rank[rng.IntN(len(d.Rank))] = int32(rng.IntN(6)) - 1
	}
	return &d
}

// The proven checker, the judge and checker.py agree on any tables, however wrong: on the ranks of
// the judge, on damaged ones, and on ranks that are drawn.
func TestProvenCheckerAgrees(t *testing.T) {
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	c := startChecker(t)
	cases, held, refused, empty := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		f := tinyNetworks(t)
		tables := garbage(t, f)
		onPorts(tables)
		rng := chance(t, "certificates")
		dir, err := os.MkdirTemp("", "proof")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := writeFolder(dir, tables, psl.Compact); err != nil {
			t.Fatal(err)
		}
		for _, contract := range contracts {
			scope := scopes[rng.IntN(len(scopes))]
			v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: contract, Scope: scope, Lost: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			drawn := drawnRanks(f, contract, scope, rng)
			tried := []*deadlock.Certificate{drawn}
			if v.Free() {
				tried = []*deadlock.Certificate{v.Certificate, damaged(v.Certificate, rng), drawn}
			}
			for i, cert := range tried {
				if err := writeCertificate(dir, f, cert); err != nil {
					t.Fatal(err)
				}
				got, err := p.ask(dir)
				if err != nil {
					t.Fatal(err)
				}
				cases++
				if got.aboutNobody() {
					empty++
					if v.Pairs > v.Unreachable {
						t.Fatalf("contract %s, endpoints %s: %d pairs, and weft-proof finds nobody who sends", contract, scope, v.Pairs)
					}
					continue
				}
				o, err := c.holds(dir, certificateFile)
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 && v.Free() && !got.Holds || got.Holds != o.Holds || got.Holds && !v.Free() {
					t.Fatalf("contract %s, endpoints %s: the judge says %v, checker.py %v (%s), weft-proof %v (%s)", contract, scope, v.Free(), o.Holds, o.Why, got.Holds, got.Why)
				}
				if !got.Holds {
					refused++
					continue
				}
				held++
				if arrive := allArrive(v); got.Delivers == nil || *got.Delivers != arrive {
					t.Fatalf("contract %s, endpoints %s: by the judge all arrive: %v, weft-proof: %+v", contract, scope, arrive, got)
				}
			}
		}
	})
	t.Logf("%d cases: %d proven, %d refused, %d about nobody", cases, held, refused, empty)
}

// drawnRanks is a certificate out of nothing.
func drawnRanks(f *fabric.Fabric, contract routing.Contract, scope routing.Scope, rng *rand.Rand) *deadlock.Certificate {
	c := &deadlock.Certificate{Contract: contract, Scope: scope, Lanes: routing.MaxDataVLs, Rank: make([]int32, f.Trunks()*routing.MaxDataVLs)}
	for i := range c.Rank {
		c.Rank[i] = int32(rng.IntN(8))
	}
	return c
}

// allArrive reports whether all packets that may be sent arrive: pairs that must not be used send none.
func allArrive(v *deadlock.Verdict) bool {
	lost := v.Unreachable
	for _, l := range v.Lost {
		if l.Why == deadlock.NoAddress {
			lost -= l.Pairs
		}
	}
	return lost == 0 && v.Dropped == 0
}

// What is damaged, cut short or of another network is refused, and never holds.
func TestProvenCheckerRefusesDamage(t *testing.T) {
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	refused, cases := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		f := tinyNetworks(t)
		tables := garbage(t, f)
		onPorts(tables)
		rng := chance(t, "damage")
		dir, err := os.MkdirTemp("", "proof")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: routing.Any})
		if err != nil || !v.Free() || v.Pairs == 0 {
			return
		}
		for _, name := range []string{fabricFile, lftFile, sl2vlFile, pslFile, certificateFile} {
			if err := writeFolder(dir, tables, psl.Full); err != nil {
				t.Fatal(err)
			}
			if err := writeCertificate(dir, f, v.Certificate); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := slices.Collect(strings.Lines(string(text)))
			for range 5 {
				at := rng.IntN(len(lines))
				cut := append([]string(nil), lines...)
				certain := true // to be refused
				switch rng.IntN(4) {
				case 0: // cut short
					cut = cut[:at]
					certain = name == certificateFile
				case 1: // a line twice
					cut[at] += cut[at]
					certain = name == certificateFile && !strings.HasPrefix(cut[at], "#") && at < len(lines)-1
				case 2: // a line of another kind of file
					cut[at] = "garbage in the middle\n" + cut[at]
				case 3: // a switch of another network
					cut[at] = strings.ReplaceAll(cut[at], "0x00", "0xee")
					certain = cut[at] != lines[at] && (name == certificateFile || name == lftFile && strings.HasPrefix(lines[at], "Unicast"))
				}
				if err := os.WriteFile(path, []byte(strings.Join(cut, "")), 0o600); err != nil {
					t.Fatal(err)
				}
				got, err := p.ask(dir)
				cases++
				switch {
				case err == nil && certain:
					t.Fatalf("%s, damaged at line %d, is taken: %+v\n%q", name, at+1, got, lines[at])
				case err != nil && (!strings.Contains(err.Error(), "(exit code 3)") || name != fabricFile && !strings.Contains(err.Error(), name)):
					t.Fatalf("%s, damaged at line %d: %v", name, at+1, err)
				case err != nil:
					refused++
				}
			}
		}
	})
	t.Logf("%d of %d damaged folders refused", refused, cases)
}

// Numbers that are too large are refused, also where they would be the right ones if they overflowed.
func TestProvenCheckerRefusesLargeNumbers(t *testing.T) {
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	tables := routed.Of(t, testnet.Build(t, "torus:3x3"), "updn", routing.Budget{VLs: 1, Contract: routing.Any})
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range []struct{ name, old, new string }{
		{certificateFile, "\nend ", "the number and 2^63"},
		{certificateFile, "\nlanes 1\n", "\nlanes 4294967297\n"},
		{lftFile, "18 valid lids dumped", "9223372036854775826 valid lids dumped"},
		{lftFile, "[0-18]", "[0-18446744073709551634]"},
		{lftFile, "\n0x0002 ", "\n0x10002 "},
		{lftFile, "\n0x0002 ", "\n0x10000000000000002 "},
		{sl2vlFile, "\n0   1   : 0 ", "\n0   1   : 4611686018427387904 "},
		{pslFile, " 1 0\n", " 65537 0\n"},
		{pslFile, " 1 0\n", " 1 9223372036854775808\n"},
		{fabricFile, "lid 2 lmc 0", "lid 65538 lmc 0"},
		{fabricFile, "lid 2 lmc 0", "lid 2 lmc 9223372036854775808"},
	} {
		if err := errors.Join(writeFolder(dir, tables, psl.Full), writeCertificate(dir, tables.Fabric, v.Certificate)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, c.name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		large := strings.Replace(string(text), c.old, c.new, 1)
		if c.old == "\nend " { // with the number that is there, and 2^63
			large = strings.Replace(string(text), fmt.Sprintf("end %d\n", ranked(v.Certificate)), fmt.Sprintf("end %d\n", 1<<63+uint64(ranked(v.Certificate))), 1)
		}
		if large == string(text) {
			t.Fatalf("%s has no %q:\n%s", c.name, c.old, text)
		}
		if err := os.WriteFile(path, []byte(large), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := p.ask(dir); err == nil || !strings.Contains(err.Error(), "(exit code 3)") || !strings.Contains(err.Error(), c.name+":") {
			t.Errorf("%s with %q: %+v, %v", c.name, c.new, got, err)
		}
	}
}

// ranked is how many lanes have a rank.
func ranked(c *deadlock.Certificate) (n int) {
	for _, rank := range c.Rank {
		if rank != deadlock.Unused {
			n++
		}
	}
	return n
}

// groupsFrom are groups of ports from which switches choose, of some LIDs.
func groupsFrom(f *fabric.Fabric, rng *rand.Rand) *routing.Groups {
	g := routing.NewGroups(f, 1)
	for s := range fabric.NodeID(f.Switches()) {
		n := rng.IntN(3)
		for i := range n {
			ports := routing.PortSet{}
			for range rng.IntN(4) {
				ports.Add(uint8(1 + rng.IntN(f.Node(s).Ports)))
			}
			g.Set(s, i, ports)
		}
		for lid := range f.LIDs() {
			if n > 0 && rng.IntN(3) == 0 {
				g.Row(0, lid)[s] = routing.ChoiceOf(rng.IntN(n), rng.IntN(2) == 0)
			}
		}
	}
	return g
}

// writeWhole writes tables with their groups, and the fabric beside.
func writeWhole(dir string, t *routing.Tables) error {
	err := writeFile(dir, fabricFile, func(w io.Writer) error { return ibnet.Write(w, t.Fabric) })
	for _, file := range (&files.Folder{Tables: t, Compact: true}).Files() {
		err = errors.Join(err, writeFile(dir, file.Name, file.Write))
	}
	return err
}

// Whatever switches choose from their groups: what the judge proves for every choice is proven, with its
// ranks; no other ranks are accepted but those that the judge accepts as well.
func TestProvenCheckerAgreesOnGroups(t *testing.T) {
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	cases, held, refused := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		f := tinyNetworks(t)
		tables := garbage(t, f)
		onPorts(tables)
		rng := chance(t, "groups")
		tables.Groups = groupsFrom(f, rng)
		dir, err := os.MkdirTemp("", "proof")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := writeWhole(dir, tables); err != nil {
			t.Fatal(err)
		}
		for _, contract := range contracts {
			scope := scopes[rng.IntN(len(scopes))]
			v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: contract, Scope: scope, Lost: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			tried := []*deadlock.Certificate{drawnRanks(f, contract, scope, rng)}
			if v.Free() {
				tried = []*deadlock.Certificate{v.Certificate, damaged(v.Certificate, rng), tried[0]}
			}
			for i, cert := range tried {
				if err := writeCertificate(dir, f, cert); err != nil {
					t.Fatal(err)
				}
				got, err := p.ask(dir)
				if err != nil {
					t.Fatal(err)
				}
				if got.aboutNobody() {
					continue
				}
				cases++
				_, wrong := deadlock.CheckMixture(context.Background(), []*routing.Tables{tables}, cert, nil)
				if i == 0 && v.Free() && wrong != nil {
					t.Fatal(wrong)
				}
				if got.Holds != (wrong == nil) || got.Holds && !v.Free() {
					t.Fatalf("contract %s, endpoints %s: the judge says %v and %v, weft-proof %v (%s)", contract, scope, v.Free(), wrong, got.Holds, got.Why)
				}
				if got.Holds {
					held++
				} else {
					refused++
				}
			}
		}
	})
	t.Logf("%d cases: %d proven, %d refused", cases, held, refused)
}

// The two verdicts exclude each other: where the judge proves tables, no packets are shown to wait for each
// other for ever; where it finds a loop, they nearly always are.
func TestProvenDeadlocks(t *testing.T) {
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	free, loops, shown := 0, 0, 0
	testnet.CheckCounted(t, func(t *rapid.T) {
		f := tinyNetworks(t)
		tables := garbage(t, f)
		onPorts(tables)
		rng := chance(t, "scope")
		dir, err := os.MkdirTemp("", "proof")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := writeFolder(dir, tables, psl.Compact); err != nil {
			t.Fatal(err)
		}
		for _, contract := range contracts {
			scope := scopes[rng.IntN(len(scopes))]
			v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: contract, Scope: scope})
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.ask("--deadlock", dir, "--contract", contract.String(), "--endpoints", scope.String())
			switch {
			case err != nil:
				t.Fatal(err)
			case v.Free() && got.Deadlocks:
				t.Fatalf("contract %s, endpoints %s: the judge proves what weft-proof shows to deadlock", contract, scope)
			case v.Free():
				free++
			default:
				loops++
				if got.Deadlocks {
					shown++
				}
			}
		}
	}, func() {
		t.Logf("%d free; of %d with a loop %d are shown to deadlock", free, loops, shown)
		if loops > 50 && shown < loops/2 {
			t.Errorf("only %d of %d loops are shown to deadlock", shown, loops)
		}
	})
}

// The small cases that other judges are compared with, each answered with a line.
func TestProvenCheckerCases(t *testing.T) {
	program := buildProver(t)
	if program == "" {
		t.SkipNow()
	}
	network := "switches 3 3 3 # a ring\nlids 3\ncable 0 2 1 3\ncable 1 2 2 3\ncable 2 2 0 3\nhost 0 1 1 1\nhost 1 1 2 1\nhost 2 1 3 1\n"
	clockwise := "tables\nout 0 255 1 2 2\nout 1 255 2 1 2\nout 2 255 2 2 1\n"
	direct := "tables\nout 0 255 1 2 3\nout 1 255 3 1 2\nout 2 255 2 3 1\n"
	ranks := "rank 0 2 0 0\nrank 1 2 0 1\nrank 2 2 0 2\n"
	back := "rank 0 3 0 0\nrank 1 3 0 0\nrank 2 3 0 0\n"
	for _, c := range []struct{ input, want string }{
		{network + "contract any\narrive\n" + direct + ranks + back, "holds"},
		{network + "contract any\n" + clockwise + ranks, "refused not-rising"},
		{network + "contract any\n" + direct + ranks, "refused unranked"},
		{network + "contract any\narrive\n" + direct + "out 1 255 3 1 255\n" + ranks + back, "refused discards"},
		{network + "contract any\narrive\n" + direct + "out 1 255 3 1 1\n" + ranks + back, "refused misled"},
		{network + "contract directed\n" + direct + "levels 0 16 16 16 16\nlevels 1 16 16 16 16\nlevels 2 16 16 16 16\n" + ranks + back, "refused nobody"},
		{network + "contract any\n" + direct + clockwise + ranks + back, "refused not-rising"},
		{network + "contract directed\n" + direct + "map 0 1 2 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n" + ranks + back, "holds"},
		{network + "contract any\n" + direct + "map 0 1 2 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n" + ranks + back, "refused unranked"},
		{network + "contract single:1\n" + direct + "map 0 1 2 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n" + ranks + back, "refused unranked"},
		{network + "contract single:2\n" + direct + "map 0 1 2 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n" + ranks + back, "holds"},
		{network, "bad standard input:9: a case without tables"},
		{network + direct + "out 3 1\n", "bad standard input:13: no switch from 0 to 2"},
		{network + "cable 0 1 1 1\n", "bad standard input:9: cables go before hosts"},
		{network + direct + "nonsense\n", "bad standard input:13: no line of a case: nonsense"},
	} {
		cmd := exec.Command(program, "--cases")
		cmd.Stdin = strings.NewReader(c.input + "judge\n" + network + direct + ranks + back + "judge\n")
		out, err := cmd.CombinedOutput()
		if want := c.want + "\nholds\n"; err != nil || string(out) != want {
			t.Errorf("%s: %q, %v, want %q", c.input, out, err, want)
		}
	}
}

// What files say reaches neither a terminal nor JSON raw.
func TestProvenCheckerShowsNothingRaw(t *testing.T) {
	program := buildProver(t)
	if program == "" {
		t.SkipNow()
	}
	for _, text := range []string{"\x1b[31m", "\u009b31m", "\xff\xfe", "\u202egpj", "\u2066x", "a\xe2\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", strings.Repeat("x", 60000)} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, fabricFile), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, flag := range []string{"text", "--json"} {
			cmd := exec.Command(program, dir)
			if flag == "--json" {
				cmd = exec.Command(program, "--jobs")
				cmd.Stdin = strings.NewReader(dir + "\n")
			}
			out, _ := cmd.CombinedOutput()
			shown := strings.TrimSuffix(string(out), "\n")
			if !utf8.ValidString(shown) || len(shown) > 500+len(dir) || strings.ContainsFunc(shown, func(r rune) bool {
				return unicode.IsControl(r) || flag != "--json" && unicode.Is(unicode.Cf, r)
			}) {
				t.Errorf("%q is shown as %q", text, shown)
			}
			if flag == "--json" && !json.Valid(out) {
				t.Errorf("%q is no JSON", shown)
			}
		}
	}
}

// For every mixture of two tables, with groups of ports or without: what has a rank for the union of the dependencies is proven, with
// that rank, and nothing else is.
func TestProvenCheckerAgreesOnMixtures(t *testing.T) {
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	cases, held, refused, empty := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		f := tinyNetworks(t)
		tables := []*routing.Tables{garbage(t, f), garbage(t, f)}
		rng := chance(t, "certificates")
		dir, err := os.MkdirTemp("", "proof")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		folders := []string{filepath.Join(dir, "old"), filepath.Join(dir, "new")}
		for i, folder := range folders {
			onPorts(tables[i])
			if rng.IntN(2) == 0 {
				tables[i].Groups = groupsFrom(f, rng)
			}
			if err := errors.Join(os.Mkdir(folder, 0o700), writeWhole(folder, tables[i])); err != nil {
				t.Fatal(err)
			}
		}
		for _, contract := range contracts {
			scope := scopes[rng.IntN(len(scopes))]
			v, err := deadlock.VerifyMixture(context.Background(), tables, deadlock.Options{Contract: contract, Scope: scope})
			if err != nil {
				t.Fatal(err)
			}
			tried := []*deadlock.Certificate{drawnRanks(f, contract, scope, rng)}
			if v.Free() {
				tried = []*deadlock.Certificate{v.Certificate, damaged(v.Certificate, rng), tried[0]}
			}
			for i, cert := range tried {
				if err := writeFile(folders[1], transitionFile, func(w io.Writer) error { return certificate.Write(w, f, cert) }); err != nil {
					t.Fatal(err)
				}
				got, err := p.ask("--step", folders[0], folders[1])
				if err != nil {
					t.Fatal(err)
				}
				cases++
				if got.aboutNobody() {
					if empty++; v.Pairs > 0 {
						t.Fatalf("contract %s, endpoints %s: %d pairs, and weft-proof finds nobody who sends", contract, scope, v.Pairs)
					}
					continue
				}
				_, err = deadlock.CheckMixture(context.Background(), tables, cert, nil)
				if i == 0 && v.Free() && err != nil {
					t.Fatal(err)
				}
				if got.Holds != (err == nil) {
					t.Fatalf("contract %s, endpoints %s: the judge says %v, weft-proof %v (%s)", contract, scope, err, got.Holds, got.Why)
				}
				if got.Holds {
					held++
				} else {
					refused++
				}
			}
		}
	})
	t.Logf("%d cases: %d proven, %d refused, %d about nobody", cases, held, refused, empty)
}

// Every step of the plans that mend tables is proven by what its folder has: the rank for all mixtures
// of its tables and those before, which is seldom that of its tables alone.
func TestProvenCheckerProvesSteps(t *testing.T) {
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	steps, alone := 0, 0
	for _, spec := range []string{"torus:4x4", "dragonfly:p=2", "random:switches=24,links=48"} {
		f := testnet.Build(t, spec)
		was := routed.Of(t, f, "weave-any", routing.Budget{VLs: routing.DefaultVLs, Contract: routing.Any})
		failures := append(change.Sample(change.Cables(f), 6), change.Sample(change.Switches(f), 4)...)
		for i, failure := range failures {
			live, err := f.Without(failure.Channels, failure.Nodes)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := change.Mend(t.Context(), was, live, change.Options{Contract: routing.Any})
			if err != nil {
				t.Fatal(err)
			}
			before := filepath.Join(t.TempDir(), "before")
			mustWriteFolder(t, before, plan.Before)
			for k := range plan.Steps {
				step := &plan.Steps[k]
				folder := filepath.Join(t.TempDir(), "step")
				mustWriteFolder(t, folder, step.Tables)
				for name, c := range map[string]*deadlock.Certificate{transitionFile: step.Union.Certificate, certificateFile: step.Alone.Certificate} {
					if err := writeFile(folder, name, func(w io.Writer) error { return certificate.Write(w, live, c) }); err != nil {
						t.Fatal(err)
					}
				}
				got, err := p.ask("--step", before, folder)
				if err != nil || !got.Holds {
					t.Fatalf("%s, failure %d, step %d: %+v, %v", spec, i, k+1, got, err)
				}
				steps++
				if got, err = p.ask("--step", before, folder, "--certificate", filepath.Join(folder, certificateFile)); err == nil && got.Holds {
					alone++
				}
				before = folder
			}
		}
	}
	t.Logf("%d steps, %d of them by the rank of their tables alone as well", steps, alone)
	if steps == 0 {
		t.Error("no step was planned")
	}
}

func mustWriteFolder(t *testing.T, dir string, tables *routing.Tables) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writeFolder(dir, tables, psl.Compact); err != nil {
		t.Fatal(err)
	}
}
