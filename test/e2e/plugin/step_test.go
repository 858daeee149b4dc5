package plugin_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// replaced is tables in use with the message that OpenSM was given, and what asks for
// tables after them.
type replaced struct {
	t      testing.TB
	tables *routing.Tables
	file   []byte // the request of then, and the answer
}

func inUse(t testing.TB, tables *routing.Tables, proof *deadlock.Certificate) *replaced {
	t.Helper()
	q := wire.Of(tables.Fabric, 5)
	var b bytes.Buffer
	if err := errors.Join(q.Write(&b), wire.WriteTables(&b, q, "before", tables, proof)); err != nil {
		t.Fatal(err)
	}
	return &replaced{t, tables, b.Bytes()}
}

// ask is a request for a fabric with the tables in use.
func (r *replaced) ask(f *fabric.Fabric) *wire.Request {
	q := wire.Of(f, 6)
	q.InUse, q.Improves = wire.Number(r.tables), true
	return q
}

// step is the plugin's verdict on tables as a step.
func (r *replaced) step(q *wire.Request, tables *routing.Tables, proof *deadlock.Certificate) string {
	r.t.Helper()
	var b bytes.Buffer
	if err := wire.WriteStep(&b, q, "after", tables, proof, wire.Step{}); err != nil {
		r.t.Fatal(err)
	}
	path := filepath.Join(r.t.TempDir(), "steps")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return core(r.t, asan, "step", q, r.file, path)[0]
}

// honest is an engine's tables with their proof.
func honest(t testing.TB, f *fabric.Fabric, engine string, contract routing.Contract) (*routing.Tables, *deadlock.Certificate) {
	t.Helper()
	tables, proof, err := routed(wire.Of(f, 1), engine, contract)
	if err != nil {
		t.Fatal(err)
	}
	return &routing.Tables{Fabric: f, Forwarding: tables.Forwarding, Lanes: tables.Lanes}, proof
}

// TestSteps has cables die and come back, and shows the plugin every step of every plan,
// with the ranks of the union: all are proven. With the ranks of the new tables alone
// the plugin says what the judge says of them.
func TestSteps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec, engine string
		contract     routing.Contract
	}{
		{"torus:4x4,hosts=2", "weave-any", routing.Any},
		{"torus:4x3,hosts=1", "updn", routing.Any},
		{"dragonfly:p=2", "df-dn", routing.Honored},
		{"dragonfly:p=2", "dfsssp", routing.Directed},
		{"xgft:m=4x4,w=2x4,hosts=2", "weave-any", routing.Single(2)},
	} {
		t.Run(fmt.Sprintf("%s/%s/%s", c.spec, c.engine, c.contract), func(t *testing.T) {
			t.Parallel()
			f := testnet.Build(t, c.spec)
			was, proof := honest(t, f, c.engine, c.contract)
			o := change.Options{Contract: c.contract, Scope: routing.Adapters}
			judge := deadlock.Options{Contract: c.contract, Scope: routing.Adapters}
			steps, alone, refusals := 0, 0, 0
			walk := func(p *change.Proven, last *routing.Tables, lastProof *deadlock.Certificate) (*routing.Tables, *deadlock.Certificate) {
				for _, s := range p.Steps {
					r := inUse(t, last, lastProof)
					q := r.ask(s.Tables.Fabric)
					steps++
					if got := r.step(q, s.Tables, s.Union.Certificate); !strings.HasPrefix(got, fmt.Sprintf("proven, %d hops", change.Hops(s.Tables))) {
						t.Fatalf("step %d of %d hops: %s", steps, change.Hops(s.Tables), got)
					}
					before, err := transition.On(s.Tables.Fabric, last, s.Tables)
					if err != nil {
						t.Fatal(err)
					}
					_, err = deadlock.CheckMixture(t.Context(), []*routing.Tables{before, s.Tables}, s.Alone.Certificate, nil)
					got := r.step(q, s.Tables, s.Alone.Certificate)
					if alone++; err != nil {
						refusals++
					}
					if (err == nil) != strings.HasPrefix(got, "proven") {
						t.Fatalf("step %d with the ranks of its end: %s, and the judge: %v", steps, got, err)
					}
					last, lastProof = s.Tables, s.Alone.Certificate
				}
				return last, lastProof
			}
			for i := 0; i < f.Trunks(); i += max(1, f.Trunks()/6) {
				less, err := f.Without([]fabric.ChannelID{fabric.ChannelID(i)}, nil)
				if err != nil {
					t.Fatal(err)
				}
				away, err := change.Mend(t.Context(), was, less, o)
				if err != nil || len(away.Left) > 0 {
					continue // no repair near these tables
				}
				now, nowProof := walk(away, was, proof)
				back, err := change.Return(t.Context(), now, was, o)
				if err != nil {
					t.Fatal(err)
				}
				walk(back, now, nowProof)
			}
			if steps < 6 || refusals == 0 && c.engine == "weave-any" && strings.HasPrefix(c.spec, "torus") {
				t.Errorf("%d steps, %d of %d refused", steps, refusals, alone)
			}
			t.Logf("%d steps; with the ranks of the end alone %d of %d refused (%v)", steps, refusals, alone, judge.Contract)
		})
	}
}

// TestStepAgrees draws pairs of tables, and holds the plugin's verdict on the step from
// the one to the other against the judge's on their mixtures: with the ranks of the
// judge, if there are any, else with those of the new tables alone, and spoilt.
func TestStepAgrees(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"ring:5,hosts=2", "torus:3x3,hosts=1", "dragonfly:p=2"} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			f := testnet.Build(t, spec)
			chance := rand.New(rand.NewPCG(9, uint64(len(spec))))
			count := map[bool]int{}
			for range 40 {
				engines := []string{"updn", "dfsssp", "df-dn", "weave", "nue", "lash"}
				a, b := engines[chance.IntN(len(engines))], engines[chance.IntN(len(engines))]
				was, proof := honest(t, f, a, routing.Honored)
				full, alone := honest(t, f, b, routing.Honored)
				next := part(was, full, chance)
				v, err := deadlock.VerifyMixture(t.Context(), []*routing.Tables{was, next}, deadlock.Options{Contract: routing.Honored, Scope: routing.Adapters})
				if err != nil {
					t.Fatal(err)
				}
				ranks := v.Certificate
				if ranks == nil {
					ranks = alone
				} else if chance.IntN(3) == 0 {
					ranks = &deadlock.Certificate{Contract: ranks.Contract, Scope: ranks.Scope, Lanes: ranks.Lanes, Rank: bytesOf(ranks.Rank)}
					ranks.Rank[chance.IntN(len(ranks.Rank))] = int32(chance.IntN(40)) - 1
				}
				if lost(next) != "" {
					continue
				}
				r := inUse(t, was, proof)
				_, wrong := deadlock.CheckMixture(t.Context(), []*routing.Tables{was, next}, ranks, nil)
				got := r.step(r.ask(f), next, ranks)
				if (wrong == nil) != strings.HasPrefix(got, "proven") {
					t.Errorf("from %s to %s: the plugin says %q, the judge: %v", a, b, got, wrong)
				}
				count[wrong == nil]++
			}
			t.Log(count)
			if count[true] < 5 || count[false] < 5 {
				t.Errorf("%v: the trial is one-sided", count)
			}
		})
	}
}

// TestStepOldPackets is about packets of the tables before, which are on lanes that the new tables do not
// have, or that their proof has no ranks for: by the old maps, or by the old service levels.
func TestStepOldPackets(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:5,hosts=2")
	paths, _ := honest(t, f, "updn", routing.Directed)
	onLane := func(maps *routing.SL2VL, sl uint8) (*routing.Tables, *deadlock.Certificate) {
		lanes := routing.NewLanes(f, maps)
		for lid := range f.LIDs() {
			row := lanes.SLRow(lid)
			for i := range row {
				row[i] = sl
			}
		}
		tables := &routing.Tables{Fabric: f, Forwarding: paths.Forwarding, Lanes: lanes}
		v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Directed, Scope: routing.Adapters})
		if err != nil || !v.Free() {
			t.Fatal(v.Free(), err)
		}
		return tables, v.Certificate
	}
	// With one lane, the rank of lane 5 would be looked up at the same port of the next switch.
	high := routing.UniformSL2VL([routing.SLs]uint8{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5})
	for _, c := range []struct {
		name      string
		old, next *routing.SL2VL
		sl, lane  uint8 // of the old tables; the new ones have 0
	}{
		{"maps", high, routing.LanePerSL(1), 0, 5},
		{"service levels", routing.LanePerSL(2), routing.LanePerSL(2), 1, 1},
	} {
		was, proof := onLane(c.old, c.sl)
		next, alone := onLane(c.next, 0)
		if _, err := deadlock.CheckMixture(t.Context(), []*routing.Tables{was, next}, alone, nil); err == nil {
			t.Fatalf("%s: the judge takes the ranks of the new tables", c.name)
		}
		r := inUse(t, was, proof)
		if got := r.step(r.ask(f), next, alone); !strings.Contains(got, fmt.Sprintf("lane %d, which does not exist or has no rank", c.lane)) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

func bytesOf(ranks []int32) []int32 { return append([]int32(nil), ranks...) }

// part is tables with some of the rows of others; where it takes all, their service
// levels and maps too.
func part(was, full *routing.Tables, chance *rand.Rand) *routing.Tables {
	most := chance.IntN(3)
	if most == 2 {
		return full
	}
	f := was.Fabric
	next := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: was.Lanes}
	for lid := range f.LIDs() {
		from := was
		if chance.IntN(8) < most*3+1 {
			from = full
		}
		copy(next.Forwarding.Row(lid), from.Forwarding.Row(lid))
	}
	return next
}

// TestUnconfirmed is about a switch that has not confirmed its new table: what it has
// counts, too.
func TestUnconfirmed(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:5,hosts=1")
	was, _ := honest(t, f, "updn", routing.Any)
	v, err := deadlock.VerifyMixture(t.Context(), []*routing.Tables{was, was}, deadlock.Options{Contract: routing.Any, Scope: routing.Adapters})
	if err != nil {
		t.Fatal(err)
	}
	r := inUse(t, was, v.Certificate)
	q := r.ask(f)
	if got := r.step(q, was, v.Certificate); !strings.HasPrefix(got, "proven") {
		t.Fatal(got)
	}
	// All switches send everything clockwise: together with any tables that is a loop.
	for s := range f.Switches() {
		b := wire.Block{Switch: s, Ports: bytes.Repeat([]byte{routing.NoPort}, 64)}
		first, _ := f.TrunksFrom(fabric.NodeID(s))
		for c := first; ; c++ {
			if f.Channel(c).To == fabric.NodeID((s+1)%f.Switches()) {
				for lid := range f.LIDs() {
					b.Ports[lid] = f.Channel(c).FromPort
				}
				break
			}
		}
		q.Blocks = append(q.Blocks, b)
	}
	if got := r.step(q, was, v.Certificate); !strings.Contains(got, "while tables are replaced") {
		t.Errorf("%q", got)
	}
}

// TestStepCuts has a step cut a pair that was delivered, which is refused, and leave one
// cut that was, which is not.
func TestStepCuts(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "torus:3x3,hosts=1")
	was, _ := honest(t, f, "updn", routing.Any)
	far := f.Endpoint(fabric.EndpointID(len(f.Endpoints()) - 1))
	first, _ := f.TrunksFrom(0)
	dead := f.Channel(f.Out(0, was.Forwarding.Port(0, far.LID)))
	less, err := f.Without([]fabric.ChannelID{f.Out(0, dead.FromPort)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	judge := deadlock.Options{Contract: routing.Any, Scope: routing.Adapters}
	alone, err := deadlock.Verify(t.Context(), was, judge)
	if err != nil {
		t.Fatal(err)
	}
	r := inUse(t, was, alone.Certificate)
	still, err := transition.On(less, was, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := deadlock.VerifyMixture(t.Context(), []*routing.Tables{still, still}, judge)
	if err != nil || v.Cut[0] == 0 {
		t.Fatalf("%v, %d pairs cut", err, v.Cut[0])
	}
	if got := r.step(r.ask(less), still, v.Certificate); !strings.HasPrefix(got, "proven") || strings.HasSuffix(got, " 0 cut") {
		t.Errorf("pairs that were cut stay so: %q", got)
	}
	cut := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: was.Lanes}
	for lid := range f.LIDs() {
		copy(cut.Forwarding.Row(lid), was.Forwarding.Row(lid))
	}
	for _, port := range []uint8{routing.NoPort, f.Channel(first).FromPort + 100} {
		cut.Forwarding.Row(far.LID)[0] = port
		if got := r.step(r.ask(f), cut, alone.Certificate); strings.HasPrefix(got, "proven") {
			t.Errorf("a pair is cut by port %d: %q", port, got)
		}
	}
}

// TestPlanGoesOn has an OpenSM that has none of our tables in use take a step that leaves pairs cut: only
// where switches are filled with what was written before, and a further step follows.
func TestPlanGoesOn(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "torus:3x3,hosts=1")
	was, _ := honest(t, f, "updn", routing.Any)
	less, err := f.Without([]fabric.ChannelID{0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	still, err := transition.On(less, was, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := deadlock.Verify(t.Context(), still, deadlock.Options{Contract: routing.Any, Scope: routing.HCA, Lost: -1})
	if err != nil || v.Complete() {
		t.Fatalf("%v, no pair is cut", err)
	}
	verdict := func(filled bool, more uint8, spoil int) string {
		q := wire.Of(less, 1)
		q.Improves, q.Filled = true, true
		var b bytes.Buffer
		if err := wire.WriteStep(&b, q, "updn", still, v.Certificate, wire.Step{More: 1}); err != nil {
			t.Fatal(err)
		}
		message := b.Bytes()
		a, err := wire.ReadAnswer(bytes.NewReader(message), q)
		if err != nil || !a.Step {
			t.Fatalf("%v, a step: %v", err, a.Step)
		}
		at := parts(t, q, message)
		message[16+31] = more
		copy(message[at[4]:], make([]byte, spoil*(at[5]-at[4])))
		q.Filled = filled
		if _, err := wire.ReadAnswer(bytes.NewReader(message), q); (err == nil) != (filled && more > 0) {
			t.Errorf("in Go: %v", err)
		}
		return core(t, asan, "prove", q, message)[0]
	}
	for _, c := range []struct {
		filled bool
		more   uint8
		spoil  int
		want   string
	}{{true, 1, 0, "proven"}, {true, 0, 0, "malformed: a step"}, {false, 1, 0, "malformed: a step"}, {true, 1, 1, "unproven: "}} {
		if got := verdict(c.filled, c.more, c.spoil); !strings.HasPrefix(got, c.want) {
			t.Errorf("filled %v, %d steps follow: %q, not %q", c.filled, c.more, got, c.want)
		}
	}
}

// TestStepLosesPorts has a switch come back with fewer ports than its table in use names:
// what it sent there was not delivered, and a step may leave it so.
func TestStepLosesPorts(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "torus:3x3,hosts=1")
	was, proof := honest(t, f, "updn", routing.Any)
	_, end := f.TrunksFrom(0)
	last := f.Channel(end - 1)
	less, err := f.Without([]fabric.ChannelID{end - 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := inUse(t, was, proof)
	q := r.ask(less)
	q.Nodes[0].Ports = int(last.FromPort) - 1
	if less, err = q.Fabric(); err != nil {
		t.Fatal(err)
	}
	still := &routing.Tables{Fabric: less, Forwarding: routing.NewForwarding(less), Lanes: was.Lanes}
	for lid := range less.LIDs() {
		copy(still.Forwarding.Row(lid), was.Forwarding.Row(lid))
		if row := still.Forwarding.Row(lid); row[0] == last.FromPort {
			row[0] = routing.NoPort
		}
	}
	v, err := deadlock.VerifyMixture(t.Context(), []*routing.Tables{still, still}, deadlock.Options{Contract: routing.Any, Scope: routing.Adapters})
	if err != nil || v.Cut[0] == 0 {
		t.Fatalf("%v, %d pairs cut", err, v.Cut[0])
	}
	if got := r.step(q, still, v.Certificate); !strings.HasPrefix(got, "proven") || strings.HasSuffix(got, " 0 cut") {
		t.Errorf("pairs that were cut stay so: %q", got)
	}
}
