package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// promises is the contracts of the campaign.
var promises = []routing.Contract{routing.Honored, routing.Directed, routing.Any, routing.Single(0), routing.Single(5)}

// tally counts what a campaign went through.
type tally struct {
	routings, refusals, verdicts, loops, cut, corrupted, corruptedLoops, proofs, refuted int
}

// The judge and checker.py agree about every engine's tables, on random networks with
// random damage, and about the same tables after random corruption.
func TestCheckerAgreesWithTheJudge(t *testing.T) {
	c := startChecker(t)
	c.proof = startProver(t)
	want := testnet.Of(60, 12)
	if testing.Short() {
		want = 15
	}
	if thorough {
		want = 1500
	}
	var n tally
	for seed := uint64(0); n.routings < want; seed++ {
		if err := n.campaign(t, c, seed); err != nil {
			t.Fatalf("campaign %d: %v", seed, err)
		}
	}
	t.Logf("%d routings (%d refusals beside), %d verdicts, %d with a credit loop, %d with pairs cut off; %d corrupted tables, %d with a credit loop; %d certificates held, %d refuted after corruption: checker.py and the judge agree on all",
		n.routings, n.refusals, n.verdicts, n.loops, n.cut, n.corrupted, n.corruptedLoops, n.proofs, n.refuted)
	if n.loops == 0 || n.cut == 0 || n.corruptedLoops == 0 || n.refuted == 0 {
		t.Error("the campaign met too little to mean anything")
	}
}

// campaign routes one network with one engine and has both judge the files.
func (n *tally) campaign(t *testing.T, c *checker, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 0xC4A))
	f := anyNetwork(t, rng, seed)
	e := anyEngine(rng)
	can := promised(e)
	contract := can[rng.IntN(len(can))]
	budget := routing.Budget{VLs: []int{8, 8, 15, 2}[rng.IntN(4)], Scope: scopes[rng.IntN(3)], Contract: contract}
	tables, err := e.Route(context.Background(), f, engines.Options{Seed: seed}, budget, nil)
	if err != nil {
		if !routing.Refused(err) {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		n.refusals++
		return nil
	}
	n.routings++
	if !asTheProverSees(f) {
		other := *c
		c, other.proof = &other, nil
	}
	dirs := t.TempDir()
	defer os.RemoveAll(dirs) // there are thousands
	form := []psl.Form{psl.Full, psl.Compact}[rng.IntN(2)]
	if err := n.folder(c, mustMkdir(t, dirs, "whole"), tables, form, contract, rng); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	for i := range 2 {
		if err := n.corrupt(c, mustMkdir(t, dirs, fmt.Sprint("corrupted ", i)), tables, form, rng); err != nil {
			return fmt.Errorf("%s, corrupted: %w", e.Name, err)
		}
	}
	return nil
}

func mustMkdir(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	return path
}

// folder writes tables, reads them back, and compares what the judge says of what was
// read with what checker.py says of the files.
func (n *tally) folder(c *checker, dir string, tables *routing.Tables, form psl.Form, contract routing.Contract, rng *rand.Rand) error {
	if err := writeFolder(dir, tables, form); err != nil {
		return err
	}
	read, err := readFolder(dir)
	if err != nil {
		return err
	}
	for _, contract := range []routing.Contract{contract, promises[rng.IntN(len(promises))]} {
		v, err := n.judge(c, dir, read, contract, scopes[rng.IntN(len(scopes))])
		if err != nil {
			return err
		}
		if !v.Free() {
			continue
		}
		if err := writeCertificate(dir, read.Fabric, v.Certificate); err != nil {
			return err
		}
		o, err := c.holds(dir, certificateFile)
		if err != nil || !o.Holds {
			return fmt.Errorf("contract %s: checker.py does not accept the certificate: %s: %w", contract, o.Why, err)
		}
		n.proofs++
	}
	return nil
}

// judge has both judge a folder and says where they differ.
func (n *tally) judge(c *checker, dir string, tables *routing.Tables, contract routing.Contract, scope routing.Scope) (*deadlock.Verdict, error) {
	v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: contract, Scope: scope})
	if err != nil {
		return nil, err
	}
	if err := c.agree(dir, tables, v); err != nil {
		return nil, fmt.Errorf("contract %s, endpoints %s: %w", contract, scope, err)
	}
	n.verdicts++
	if !v.Free() {
		n.loops++
	}
	if v.Unreachable > 0 {
		n.cut++
	}
	return v, nil
}

// corrupt changes a few cells of tables and has both judge them again, and the
// certificate of the tables as they were.
func (n *tally) corrupt(c *checker, dir string, tables *routing.Tables, form psl.Form, rng *rand.Rand) error {
	contract, scope := promises[rng.IntN(len(promises))], scopes[rng.IntN(len(scopes))]
	before, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: contract, Scope: scope})
	if err != nil {
		return err
	}
	bad := corrupted(tables, rng)
	if err := writeFolder(dir, bad, form); err != nil {
		return err
	}
	v, err := n.judge(c, dir, bad, contract, scope)
	if err != nil {
		return err
	}
	n.corrupted++
	if !v.Free() {
		n.corruptedLoops++
	}
	if !before.Free() {
		return nil
	}
	if err := writeCertificate(dir, bad.Fabric, before.Certificate); err != nil {
		return err
	}
	o, err := c.holds(dir, certificateFile)
	if err != nil {
		return err
	}
	_, err = deadlock.CheckCertificate(context.Background(), bad, before.Certificate, nil)
	var wrong *deadlock.Violation
	var unranked *deadlock.Unranked
	switch rises := err == nil; {
	case !rises && !errors.As(err, &wrong) && !errors.As(err, &unranked):
		return nil // for fewer lanes than the tables now name somewhere
	case rises != o.Holds:
		return fmt.Errorf("the certificate of the tables before: checker.py says %q, the judge %v", o.Why, err)
	case !rises:
		n.refuted++
	}
	return nil
}

// corrupted is a copy of tables with up to 6 cells changed: entries, service levels,
// lanes.
func corrupted(t *routing.Tables, rng *rand.Rand) *routing.Tables {
	f := t.Fabric
	fw := routing.NewForwarding(f)
	row := slices.Clone(t.Lanes.Row)
	lanes := routing.NewLanesByRow(f, t.Lanes.SL2VL.PerPort(f), row, t.Lanes.Rows)
	var lids []fabric.LID
	for lid := range f.LIDs() {
		lids = append(lids, lid)
		copy(fw.Row(lid), t.Forwarding.Row(lid))
		copy(lanes.SLRow(lid), t.Lanes.SLRow(lid))
	}
	if len(lids) == 0 || f.Switches() == 0 {
		return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: lanes}
	}
	for range 1 + rng.IntN(6) {
		s := fabric.NodeID(rng.IntN(f.Switches()))
		ports := f.Node(s).Ports
		lid := lids[rng.IntN(len(lids))]
		switch rng.IntN(4) {
		case 0, 1:
			port := uint8(rng.IntN(ports + 1)) // a port without a cable too
			if rng.IntN(8) == 0 {
				port = routing.NoPort
			}
			fw.Row(lid)[s] = port
		case 2:
			sl := uint8(rng.IntN(routing.SLs))
			if rng.IntN(4) == 0 {
				sl = routing.NoSL
			}
			lanes.SLRow(lid)[rng.IntN(lanes.Rows)] = sl
		case 3:
			vl := uint8(rng.IntN(4))
			if rng.IntN(8) == 0 {
				vl = 15
			}
			out := uint8(1 + rng.IntN(max(1, ports)))
			for sl := range uint8(routing.SLs) { // of one level it would rarely show
				if rng.IntN(2) == 0 {
					lanes.SL2VL.Set(s, uint8(rng.IntN(ports+1)), out, sl, vl)
				}
			}
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: lanes}
}

// anyEngine is an engine of the table, more often than not, or any pair.
func anyEngine(rng *rand.Rand) engines.Engine {
	if rng.IntN(3) > 0 {
		all := engines.All()
		return all[rng.IntN(len(all))]
	}
	p, a := engines.Finders(), engines.Assigners()
	return engines.Pair(p[rng.IntN(len(p))], a[rng.IntN(len(a))])
}

// anyNetwork is a network small enough for a slow checker: of a family, or of all
// sorts of parts; LMC 0 to 2; whole or damaged, until it falls into parts.
func anyNetwork(t *testing.T, rng *rand.Rand, seed uint64) *fabric.Fabric {
	if rng.IntN(3) == 0 {
		f, err := recipes(8).Example(int(seed)).build(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	r := func(low, high int) int { return low + rng.IntN(high-low+1) }
	specs := []func() string{
		func() string { return fmt.Sprintf("ring:%d,hosts=%d", r(3, 9), r(1, 3)) },
		func() string { return fmt.Sprintf("mesh:%dx%d,hosts=%d", r(2, 4), r(2, 4), r(1, 2)) },
		func() string { return fmt.Sprintf("torus:%dx%d,hosts=%d", r(3, 5), r(3, 5), r(1, 2)) },
		func() string { return fmt.Sprintf("torus:%dx%dx%d,hosts=1", r(2, 3), r(2, 3), r(3, 4)) },
		func() string { return fmt.Sprintf("hypercube:%d", r(2, 4)) },
		func() string { return fmt.Sprintf("karytree:k=%d,n=%d", r(2, 3), r(2, 3)) },
		func() string { return fmt.Sprintf("dragonfly:p=%d", r(1, 2)) },
		func() string { return fmt.Sprintf("kautz:b=2,n=%d,hosts=%d", r(2, 3), r(1, 2)) },
		func() string { return fmt.Sprintf("hyperx:%dx%d", r(2, 4), r(2, 4)) },
		func() string { return fmt.Sprintf("slimfly:q=3,hosts=%d", r(1, 2)) },
		func() string { return fmt.Sprintf("polarfly:q=%d,hosts=%d", r(2, 5), r(1, 2)) },
		func() string { return fmt.Sprintf("jellyfish:switches=%d,degree=3,seed=%d", 2*r(4, 9), seed) },
		func() string {
			n := r(6, 20)
			return fmt.Sprintf("random:switches=%d,links=%d,hosts=%d,seed=%d", n, n+r(0, 20), r(1, 3), seed)
		},
	}
	f := testnet.Build(t, specs[rng.IntN(len(specs))]())
	var err error
	if rng.IntN(3) == 0 {
		f, err = f.WithLMC(uint8(rng.IntN(3)))
	}
	for range rng.IntN(4) {
		if err == nil && f.Trunks() > 0 {
			f, err = fail(f, rng)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// checkerAgrees has the judge and checker.py judge some engines' tables of a real fabric.
func checkerAgrees(t *testing.T, on *subject) {
	c := startChecker(t)
	var n tally
	for _, engine := range []string{"minhop", "dfsssp", "nue", "weave-any"} {
		e, err := engines.Named(engine)
		if err != nil {
			t.Fatal(err)
		}
		tables, err := e.Route(context.Background(), on.Fabric, on.options, routing.Budget{VLs: routing.DefaultVLs, Scope: routing.Adapters, Contract: e.Contract}, nil)
		if routing.Refused(err) {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", engine, err)
		}
		if err := n.folder(c, t.TempDir(), tables, psl.Compact, e.Contract, rand.New(rand.NewPCG(1, uint64(n.verdicts)))); err != nil {
			t.Errorf("%s: %v", engine, err)
		}
	}
	t.Logf("%d verdicts, %d with a credit loop", n.verdicts, n.loops)
}
