package plugin_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// aStep is an answer that is a step of a plan, and what it is a step from.
type aStep struct {
	from  *replaced
	was   *routing.Tables // those, as they were answered
	q     *wire.Request
	whole []byte
}

// stepsOf is the steps of the repair of a cable, and of the way back to the tables.
func stepsOf(t testing.TB, f *fabric.Fabric, engine string, contract routing.Contract, cable fabric.ChannelID) (all []aStep) {
	t.Helper()
	was, proof := honest(t, f, engine, contract)
	o := change.Options{Contract: contract, Scope: routing.Adapters}
	less, err := f.Without([]fabric.ChannelID{cable}, nil)
	if err != nil {
		t.Fatal(err)
	}
	last, lastProof := was, proof
	walk := func(p *change.Proven, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range p.Steps {
			x := aStep{from: inUse(t, last, lastProof), was: answered(t, last, lastProof)}
			x.q = x.from.ask(s.Tables.Fabric)
			var b bytes.Buffer
			if err := wire.WriteStep(&b, x.q, "after", s.Tables, s.Union.Certificate, wire.Step{More: len(p.Steps) - 1 - i}); err != nil {
				t.Fatal(err)
			}
			x.whole = b.Bytes()
			all = append(all, x)
			last, lastProof = s.Tables, s.Alone.Certificate
		}
	}
	walk(change.Mend(t.Context(), was, less, o))
	walk(change.Return(t.Context(), last, was, o))
	return all
}

// answered is tables as an answer has them: under a contract of one service level on that.
func answered(t testing.TB, tables *routing.Tables, proof *deadlock.Certificate) *routing.Tables {
	t.Helper()
	q := wire.Of(tables.Fabric, 1)
	var b bytes.Buffer
	if err := wire.WriteTables(&b, q, "before", tables, proof); err != nil {
		t.Fatal(err)
	}
	a, err := wire.ReadAnswer(&b, q)
	if err != nil {
		t.Fatal(err)
	}
	as, _ := tablesOf(tables.Fabric, q, a)
	return as
}

// verdicts is the plugin's on answers in place of this one.
func (x *aStep) verdicts(t testing.TB, answers [][]byte) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "steps")
	if err := os.WriteFile(path, bytes.Join(answers, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	all := core(t, "", "step", x.q, x.from.file, path)
	if len(all) != len(answers) {
		t.Fatalf("%d verdicts on %d answers", len(all), len(answers))
	}
	return all
}

// unsound is why the judge, in Go, does not take an answer as a step; empty: it does.
func (x *aStep) unsound(t testing.TB, f *fabric.Fabric, message []byte) string {
	t.Helper()
	a, err := wire.ReadAnswer(bytes.NewReader(message), x.q)
	if err != nil {
		return err.Error()
	}
	if !a.Step {
		return sound(t, x.q, f, message)
	}
	now, proof := tablesOf(f, x.q, a)
	if why := addTree(now, a); why != "" {
		return why
	}
	before, err := transition.On(f, x.was, now)
	if err != nil {
		return err.Error()
	}
	for lid, owner := range f.LIDs() {
		for s := range fabric.NodeID(f.Switches()) {
			if len(f.Attached(s)) > 1 && !a.Drops && arrives(before, s, lid, owner) && !arrives(now, s, lid, owner) {
				return fmt.Sprintf("from switch %d LID %d was reached and is not", s, lid)
			}
		}
	}
	contracts := []routing.Contract{routing.Honored}
	if a.Directed {
		contracts[0] = routing.Directed
	}
	for sl := range uint8(routing.SLs) {
		if a.Contract>>sl&1 != 0 {
			contracts = append(contracts, routing.Single(sl))
		}
	}
	for _, proof.Contract = range contracts {
		if _, err := deadlock.CheckMixture(t.Context(), []*routing.Tables{before, now}, proof, nil); err != nil {
			return err.Error()
		}
	}
	return ""
}

// arrives follows tables from a switch to a LID.
func arrives(on *routing.Tables, s fabric.NodeID, lid fabric.LID, owner fabric.EndpointID) bool {
	f := on.Fabric
	home := f.Endpoint(owner)
	for range f.Switches() {
		out := on.Forwarding.Port(s, lid)
		if s == home.Switch && out == f.LastPort(home) {
			return true
		}
		c := f.Out(s, out)
		if c == fabric.None || int(c) >= f.Trunks() {
			return false
		}
		s = f.Channel(c).To
	}
	return false
}

// tally counts what became of damaged answers.
type tally struct{ damaged, refused, harmless, wrong int }

// hold holds the plugin's verdicts against the judge's: what it takes the judge takes.
func (n *tally) hold(t *testing.T, x *aStep, f *fabric.Fabric, answers [][]byte, what []string) {
	t.Helper()
	for i, verdict := range x.verdicts(t, answers) {
		n.damaged++
		if !strings.HasPrefix(verdict, "proven") {
			n.refused++
			continue
		}
		n.harmless++
		if why := x.unsound(t, f, answers[i]); why != "" {
			if n.wrong++; n.wrong < 10 {
				t.Errorf("%s: the plugin says %q, the judge: %s", what[i], verdict, why)
			}
		}
	}
}

// TestEveryByteOfSteps changes every byte of every step of plans on small networks: what the plugin
// takes is proven for the judge, in Go, as well.
func TestEveryByteOfSteps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec, engine string
		contract     routing.Contract
		cable        fabric.ChannelID
	}{
		{"torus:3x3,hosts=1", "weave-any", routing.Any, 0},
		{"torus:3x3,hosts=1", "dfsssp", routing.Honored, 5},
		{"mesh:2x3,hosts=1", "updn", routing.Single(2), 2},
	} {
		t.Run(c.spec+"/"+c.engine, func(t *testing.T) {
			t.Parallel()
			n := tally{}
			steps := stepsOf(t, testnet.Build(t, c.spec), c.engine, c.contract, c.cable)
			for k, x := range steps {
				f := read(t, x.q)
				if got := x.verdicts(t, [][]byte{x.whole}); !strings.HasPrefix(got[0], "proven") {
					t.Fatalf("step %d: %s", k, got[0])
				}
				var answers [][]byte
				var what []string
				for i := 16; i < len(x.whole); i++ {
					old := x.whole[i]
					values := []byte{0, 255, old + 1}
					if testnet.Whole() {
						values = append(values, 1, old-1, old^4)
					}
					for _, v := range slices.Compact(slices.Sorted(slices.Values(values))) {
						if v == old || i >= 64 && i < 96 { // the engine's name
							continue
						}
						b := bytes.Clone(x.whole)
						b[i] = v
						answers, what = append(answers, b), append(what, fmt.Sprintf("step %d, byte %d: %d in place of %d", k, i-16, v, old))
					}
				}
				n.hold(t, &x, f, answers, what)
			}
			t.Logf("%d steps, %d damaged answers: %d refused, %d harmless, %d wrong", len(steps), n.damaged, n.refused, n.harmless, n.wrong)
			if len(steps) < 2 || n.refused == 0 || n.harmless == 0 {
				t.Error("the trial is one-sided")
			}
		})
	}
}

// TestDamagedSteps damages steps on a tree of 80 switches by chance, exchanges rows, and gives other
// steps in their place.
func TestDamagedSteps(t *testing.T) {
	t.Parallel()
	mutants := testnet.Of(1000, 300)
	if testing.Short() {
		mutants = 100
	}
	chance := rand.New(rand.NewPCG(8, 80))
	n := tally{}
	steps := stepsOf(t, testnet.Build(t, "fattree:ports=8,levels=3"), "weave-any", routing.Any, 300)
	for k, x := range steps {
		f := read(t, x.q)
		var answers [][]byte
		var what []string
		add := func(b []byte, how string, args ...any) {
			answers, what = append(answers, b), append(what, fmt.Sprintf("step %d, ", k)+fmt.Sprintf(how, args...))
		}
		p := parts(t, x.q, x.whole)
		row := (p[1] - p[0]) / f.Switches()
		for i := range mutants / len(steps) {
			b := bytes.Clone(x.whole)
			switch i % 4 {
			case 0: // rows of out-ports
				one, other := b[p[0]+chance.IntN(f.Switches())*row:][:row], b[p[0]+chance.IntN(f.Switches())*row:][:row]
				was := bytes.Clone(one)
				copy(one, other)
				copy(other, was)
				add(b, "two rows exchanged")
			case 1: // columns: of two LIDs
				one, other := chance.IntN(row), chance.IntN(row)
				for s := range f.Switches() {
					at := p[0] + s*row
					b[at+one], b[at+other] = b[at+other], b[at+one]
				}
				add(b, "LIDs %d and %d exchanged", one, other)
			default:
				for range 1 + chance.IntN(3) {
					b[16+chance.IntN(len(b)-16)] = byte(chance.IntN(256))
				}
				add(b, "bytes by chance")
			}
		}
		for other, y := range steps {
			if other != k && len(y.whole) == len(x.whole) {
				b := bytes.Clone(y.whole)
				copy(b[16:24], x.whole[16:24]) // the number of the sweep
				add(b, "step %d in its place", other)
			}
		}
		n.hold(t, &x, f, answers, what)
	}
	t.Logf("%d steps, %d damaged answers: %d refused, %d harmless, %d wrong", len(steps), n.damaged, n.refused, n.harmless, n.wrong)
	if len(steps) < 2 || n.refused == 0 {
		t.Error("the trial is one-sided")
	}
}
