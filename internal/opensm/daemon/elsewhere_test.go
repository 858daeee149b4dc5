package daemon

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// TestStateOfAnother has a daemon begin with the state of something else: a fabric with other cables,
// hosts, adapters, switches, GUIDs or LIDs, of another engine or contract, or written by another
// version; with an OpenSM that begins too, that has the tables of the state in use, or others. The
// first answer serves every pair unless it is a step, and whatever is called a step is proven.
func TestStateOfAnother(t *testing.T) {
	t.Parallel()
	const half, network, engine, contract, version = "half of the switches are others", "another network", "another engine", "another contract", "another version"
	kinds := slices.Concat(shuffles, []shuffled{
		{"the same", func(*wire.Request, *rand.Rand) {}}, {network, nil}, {engine, nil}, {contract, nil}, {version, nil},
		{half, func(q *wire.Request, _ *rand.Rand) {
			for i := range q.Nodes {
				if q.Nodes[i].Kind == fabric.Switch && i%2 == 0 {
					renew(q, i)
				}
			}
		}},
	})
	outcomes := map[string]int{}
	done := make(chan string, 1000)
	t.Cleanup(func() {
		close(done)
		for o := range done {
			outcomes[o]++
		}
		t.Logf("%v", outcomes)
		if outcomes["a step"] == 0 || outcomes["anew"] == 0 {
			t.Error("the trial is one-sided")
		}
	})
	for spec, with := range map[string]string{"torus:4x4,hosts=2": "weave-any", "xgft:m=4x4,w=2x4,hosts=2": "updn"} {
		if with == "updn" && os.Getenv("WEFT_THOROUGH") == "" {
			continue
		}
		for i, kind := range kinds {
			t.Run(fmt.Sprintf("%s/%s", spec, kind.name), func(t *testing.T) {
				if i%4 > 0 {
					testnet.OnlyWhole(t)
				}
				t.Parallel()
				f, chance := testnet.Build(t, spec), rand.New(rand.NewPCG(7, 7))
				for i := range 6 {
					c := Config{Engine: Names{with}, State: stateDir(t), MaxEntries: 8}
					o := openSM(start(t, c))
					o.settles(f)
					if i%2 == 1 { // in the midst of a plan
						o.settles(less(t, f, []fabric.ChannelID{0, 30}))
						o.asks(f, false)
					}
					o.end()
					q := wire.Of(f, 77)
					switch kind.name {
					case network:
						q = wire.Of(testnet.Build(t, "hypercube:n=4,hosts=2"), 77)
					case engine:
						c.Engine = Names{map[string]string{"updn": "weave-any", "weave-any": "updn"}[with]}
					case contract:
						c.Contract, c.Engine = "honored", Names{"dfsssp"}
					case version:
						asBefore(t, c.State)
					default:
						kind.change(q, chance)
					}
					o.running = start(t, c)
					q.OpenSM, q.Deadline, q.Improves, q.Lifetime, q.InUse = "OpenSM 3.3.23", time.Minute, true, time.Second, []uint64{0, o.inUse, 12345}[i/2]
					o.keeper.wait(nil)
					was := o.keeper.find(q.InUse)
					a := o.ask(q)
					if a.Refusal != "" || a.Drops {
						t.Fatalf("%d: %q\n%s", i, a.Refusal, o.log)
					}
					outcome := "anew"
					if a.Step {
						outcome = "a step"
						o.proven(t, was, a)
					} else if cut := cutBy(t, q, a); cut > 0 {
						t.Errorf("%d: %d pairs are cut\n%s", i, cut, o.log)
					}
					if log := o.log.String(); strings.Contains(log, "internal error") || a.Step && (q.InUse != o.inUse || kind.name == version) {
						t.Errorf("%d: a step: %v\n%s", i, a.Step, log)
					}
					for n := 0; a.SoFar; n++ { // to the end
						was = o.keeper.find(a.Number)
						again := *q
						again.InUse, again.Again = a.Number, true
						if a = o.ask(&again); a.Refusal != "" || n > 40 {
							break
						}
						if a.Step {
							o.proven(t, was, a)
						}
						if a.More == 0 && cutBy(t, q, a) > 0 {
							t.Errorf("%d: pairs are cut at the end\n%s", i, o.log)
						}
					}
					done <- outcome
					o.end()
				}
			})
		}
	}
}

// asBefore makes of a state folder one as it was before there were snapshots.
func asBefore(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, snapshots)); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, lastGood, installedName))
}

// proven holds a step against the judge: every mixture of what was in use with it.
func (o *opensm) proven(t *testing.T, was *handed, a *wire.Answer) {
	t.Helper()
	now := o.keeper.find(a.Number)
	if was == nil || now == nil {
		t.Errorf("a step from tables that nobody knows: %v, to %v", was != nil, now != nil)
		return
	}
	on, err := transition.On(now.tables.Fabric, was.tables, now.tables)
	if err != nil {
		t.Fatal(err)
	}
	bare := func(x *routing.Tables) *routing.Tables {
		return &routing.Tables{Fabric: x.Fabric, Forwarding: x.Forwarding, Lanes: x.Lanes}
	}
	v, err := deadlock.VerifyMixture(t.Context(), []*routing.Tables{bare(on), bare(now.tables)}, deadlock.Options{Contract: routing.Any, Scope: routing.HCA, Lost: -1})
	if err != nil || !v.Free() {
		t.Errorf("a step with a loop (%v)\n%s", err, o.log)
	}
}
