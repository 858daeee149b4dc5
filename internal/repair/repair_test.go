package repair_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// route routes a fabric, or returns nil where the engine refuses.
func route(t testing.TB, f *fabric.Fabric, engine string) (*routing.Tables, routing.Contract) {
	t.Helper()
	e, err := engines.Named(engine)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := e.Route(t.Context(), f, engines.Options{}, routing.Budget{VLs: 8, Scope: routing.Adapters}, nil)
	if err != nil && routing.Refused(err) {
		return nil, e.Contract
	}
	if err != nil {
		t.Fatal(err)
	}
	return tables, e.Contract
}

// outcome is what came of a plan.
type outcome struct {
	steps, changed, due, left int
}

// mended has the judges look at every step of a repair, and at every step's tables.
func mended(was *routing.Tables, live *fabric.Fabric, c routing.Contract, t testing.TB) (*outcome, error) {
	old, err := transition.On(live, was, nil)
	if err != nil {
		return nil, err
	}
	plan, err := repair.Mend(t.Context(), old, was, repair.Options{Contract: c})
	if err != nil {
		return nil, err
	}
	o := deadlock.Options{Contract: c}
	r := &outcome{left: len(plan.Left)}
	first, err := transition.Verify(t.Context(), old, old, o)
	if err != nil {
		return nil, err
	}
	cut := first.CutBefore()
	for i, s := range plan.Steps {
		v, err := transition.Verify(t.Context(), old, s.Tables, o)
		if err != nil {
			return nil, err
		}
		alone, err := deadlock.Verify(t.Context(), s.Tables, o)
		switch {
		case err != nil:
			return nil, err
		case !v.Free() || v.Circles != 0 || !alone.Free() || alone.Loops != 0:
			return nil, fmt.Errorf("step %d: union free %v, %d LIDs circle; tables free %v, %d loops", i+1, v.Free(), v.Circles, alone.Free(), alone.Loops)
		case v.SLs != 0 || v.Maps != 0 || v.Entries != s.Mended+s.Follow || v.Dropped != 0:
			return nil, fmt.Errorf("step %d: %d SLs, %d SL2VL cells and %d entries change, planned %d and %d; %d drop", i+1, v.SLs, v.Maps, v.Entries, s.Mended, s.Follow, v.Dropped)
		case s.Mended > 0 && (v.CutAfter() > cut || v.CutAfter() == cut && !s.Rebuilt) || s.Mended == 0 && v.CutAfter() != cut || v.Exposed != 0 && i == 0 && v.CutBefore() == 0:
			return nil, fmt.Errorf("step %d: %d pairs cut off before, %d after", i+1, cut, v.CutAfter())
		}
		if s.Follow > 0 {
			v, err := transition.Verify(t.Context(), old, s.Tables, deadlock.Options{Contract: c, Scope: routing.All})
			if err != nil || v.Circles != 0 {
				return nil, fmt.Errorf("step %d: packets to %d LIDs can circle if port 0 of switches sends too; %v", i+1, v.Circles, err)
			}
		}
		cut = v.CutAfter()
		if s.Mended > 0 {
			r.steps++
		}
		r.changed += v.Entries
		r.due += v.Due
		old = s.Tables
	}
	if joined := len(live.Parts()) == len(was.Fabric.Parts()); joined && (cut != 0) != (len(plan.Left) > 0) {
		return nil, fmt.Errorf("%d pairs are cut off at the end; left are %v", cut, plan.Left)
	}
	return r, whole(old, plan.Left)
}

// whole says which switch still has no way to a LID after a plan, although the cables
// join the two and nobody said so.
func whole(t *routing.Tables, left []repair.Left) error {
	f := t.Fabric
	part := make([]int, f.Switches())
	for i, switches := range f.Parts() {
		for _, s := range switches {
			part[s] = i
		}
	}
	for lid, e := range f.LIDs() {
		ep := f.Endpoint(e)
		if ep.Switch == fabric.None || slices.ContainsFunc(left, func(l repair.Left) bool { return l.LID == lid }) {
			continue
		}
		for s := range fabric.NodeID(f.Switches()) {
			at, hops := s, 0
			for ; at != ep.Switch && part[s] == part[ep.Switch] && hops <= f.Switches(); hops++ {
				c := f.Out(at, t.Forwarding.Port(at, lid))
				if c == fabric.None || int(c) >= f.Trunks() {
					return fmt.Errorf("%s still has no way to LID %d: it ends at %s", f.Label(s), lid, f.Label(at))
				}
				at = f.Heads()[c]
			}
			if hops > f.Switches() {
				return fmt.Errorf("what %s sends to LID %d circles", f.Label(s), lid)
			}
		}
	}
	return nil
}

// every calls visit with the fabric without each cable and without each switch.
func every(t testing.TB, f *fabric.Fabric, visit func(what string, live *fabric.Fabric)) {
	t.Helper()
	for c := range fabric.ChannelID(f.Trunks()) {
		if ch := f.Channel(c); ch.Reverse > c {
			live, err := f.Without([]fabric.ChannelID{c}, nil)
			if err != nil {
				t.Fatal(err)
			}
			visit(fmt.Sprintf("without the cable at %s, port %d", f.Label(ch.From), ch.FromPort), live)
		}
	}
	for s := range fabric.NodeID(f.Switches()) {
		live, err := f.Without(nil, []fabric.NodeID{s})
		if err != nil {
			t.Fatal(err)
		}
		visit("without "+f.Label(s), live)
	}
}

// Every cable and every switch: each step's union and each step's tables are free of
// deadlock, service levels and maps stay, and nobody is cut off who was not. On most
// networks nothing is left for weave-any's tables. Unless
// thoroughly, those of other engines than weave-any meet every fourth failure only.
func TestEverySingleFailure(t *testing.T) {
	for _, spec := range []string{
		"ring:5,hosts=2", "mesh:3x3,hosts=2", "torus:4x4,hosts=2", "dragonfly:p=2", "karytree:k=2,n=3",
		"xgft:m=4x4,w=4x4,hosts=2", "slimfly:q=3,hosts=2", "random:switches=16,links=48,hosts=2,seed=1", "hypercube:4",
	} {
		t.Run(spec, func(t *testing.T) {
			if spec == "dragonfly:p=2" || spec == "xgft:m=4x4,w=4x4,hosts=2" {
				testnet.OnlyWhole(t) // they take most of the time
			}
			f := testnet.Build(t, spec)
			for _, engine := range []string{"updn", "lash", "dfsssp", "df-dn", "nue", "weave", "weave-any"} {
				was, contract := route(t, f, engine)
				if was == nil {
					continue
				}
				seldom, n := os.Getenv("WEFT_THOROUGH") == "" && engine != "weave-any", 0
				every(t, f, func(what string, live *fabric.Fabric) {
					if n++; seldom && n%4 != 0 {
						return
					}
					r, err := mended(was, live, contract, t)
					if err != nil {
						t.Fatalf("%s, %s: %v", engine, what, err)
					}
					if engine == "weave-any" && r.left != 0 && len(live.Parts()) == 1 {
						t.Errorf("%s, %s: %d destinations are left", engine, what, r.left)
					}
				})
			}
		})
	}
}

// With Drain, where the cables join everything, every engine's tables are mended whole on
// sparse networks too: destinations that lost nothing make way for others.
func TestDestinationsMakeWay(t *testing.T) {
	for _, spec := range testnet.First([]string{"mesh:3x3,hosts=2", "random:switches=12,links=18,hosts=2,seed=4", "dragonfly:p=2"}, 2) {
		rebuilt := 0
		f := testnet.Build(t, spec)
		for _, engine := range []string{"updn", "lash", "dfsssp", "nue", "weave-any"} {
			was, contract := route(t, f, engine)
			if was == nil {
				continue
			}
			every(t, f, func(what string, live *fabric.Fabric) {
				old, err := transition.On(live, was, nil)
				if err != nil {
					t.Fatal(err)
				}
				plan, err := repair.Mend(t.Context(), old, was, repair.Options{Contract: contract, AllowDrops: true})
				if err != nil {
					t.Fatalf("%s, %s, %s: %v", spec, engine, what, err)
				}
				if len(plan.Left) > 0 && len(live.Parts()) == 1 {
					t.Errorf("%s, %s, %s: left are %v", spec, engine, what, plan.Left)
				}
				for i, s := range plan.Steps {
					v, err := transition.Verify(t.Context(), old, s.Tables, deadlock.Options{Contract: contract})
					if err != nil || !v.Free() || v.Circles != 0 || v.Maps != 0 || v.SLs != 0 {
						t.Fatalf("%s, %s, %s: step %d: %+v, %v", spec, engine, what, i+1, v, err)
					}
					old = s.Tables
					if s.Rebuilt {
						rebuilt++
					}
				}
			})
		}
		if rebuilt == 0 {
			t.Errorf("%s: nothing was rebuilt", spec)
		}
	}
}

// What the maps of the tables drop on every other way is left, by name: no row helps.
func TestLeft(t *testing.T) {
	f := testnet.Build(t, "ring:4,hosts=1")
	was, contract := route(t, f, "weave-any")
	used := map[[2]fabric.ChannelID]bool{}
	for lid, e := range f.LIDs() {
		for s := range fabric.NodeID(f.Switches()) {
			in := fabric.ChannelID(fabric.None)
			for at := s; at != f.Endpoint(e).Switch; {
				out := f.Out(at, was.Forwarding.Port(at, lid))
				if in != fabric.None {
					used[[2]fabric.ChannelID{in, out}] = true
				}
				in, at = out, f.Heads()[out]
			}
		}
	}
	drops := routing.UniformSL2VL([routing.SLs]uint8{}).PerPort(f)
	for in := range fabric.ChannelID(f.Trunks()) {
		first, end := f.TrunksFrom(f.Heads()[in])
		for out := first; out < end; out++ {
			for sl := range uint8(routing.SLs) {
				if !used[[2]fabric.ChannelID{in, out}] {
					drops.Set(f.Heads()[in], f.Channel(in).ToPort, f.Channel(out).FromPort, sl, 15)
				}
			}
		}
	}
	was = &routing.Tables{Fabric: f, Forwarding: was.Forwarding, Lanes: routing.OneSL(f, drops)}
	left := 0
	every(t, f, func(what string, live *fabric.Fabric) {
		r, err := mended(was, live, contract, t)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		left += r.left
	})
	if left == 0 {
		t.Error("nothing is left though every other way drops")
	}
}

// When what was gone is back, so are the tables from before it went, exactly, by steps
// that the judges accept. Unless thoroughly, every third of what can go.
func TestBackAgain(t *testing.T) {
	for _, spec := range []string{"ring:5,hosts=2", "torus:4x4,hosts=2", "dragonfly:p=2", "karytree:k=2,n=3", "slimfly:q=3,hosts=2", "random:switches=16,links=48,hosts=2,seed=1"} {
		t.Run(spec, func(t *testing.T) {
			if spec == "dragonfly:p=2" {
				testnet.OnlyWhole(t) // it takes most of the time
			}
			f := testnet.Build(t, spec)
			for _, engine := range []string{"updn", "dfsssp", "weave-any"} {
				was, contract := route(t, f, engine)
				if was == nil {
					continue
				}
				n := 0
				every(t, f, func(what string, live *fabric.Fabric) {
					if n++; n%3 != 0 && os.Getenv("WEFT_THOROUGH") == "" {
						return
					}
					old, err := transition.On(live, was, nil)
					if err != nil {
						t.Fatal(err)
					}
					plan, err := repair.Mend(t.Context(), old, was, repair.Options{Contract: contract})
					if err != nil {
						t.Fatal(err)
					}
					now := old
					if n := len(plan.Steps); n > 0 {
						now = plan.Steps[n-1].Tables
					}
					if now, err = transition.On(f, now, was); err != nil {
						t.Fatal(err)
					}
					back, err := repair.Migrate(t.Context(), now, was, repair.Options{Contract: contract, AllowDrops: true})
					if err != nil {
						t.Fatal(err)
					}
					drops := 0
					for i, s := range back.Steps {
						drops += s.Drops
						v, err := transition.Verify(t.Context(), now, s.Tables, deadlock.Options{Contract: contract})
						if err != nil || !v.Free() || v.Circles != 0 || v.Maps != 0 || v.SLs != 0 {
							t.Fatalf("%s, %s: step %d back: %+v %+v, %v", engine, what, i+1, v.MixtureVerdict, v.Cost, err)
						}
						if s.Follow > 0 {
							v, err := transition.Verify(t.Context(), now, s.Tables, deadlock.Options{Contract: contract, Scope: routing.All})
							if err != nil || v.Circles != 0 {
								t.Fatalf("%s, %s: step %d back: packets to %d LIDs can circle if port 0 of switches sends too; %v", engine, what, i+1, v.Circles, err)
							}
						}
						now = s.Tables
					}
					if cost := transition.CostOf(now, was); cost.Entries != 0 || len(back.Left) != 0 {
						t.Errorf("%s, %s: %d entries differ after %d steps back; left %v", engine, what, cost.Entries, len(back.Steps), back.Left)
					}
					if engine == "weave-any" && drops > 0 && len(plan.Left) == 0 {
						t.Errorf("%s, %s: %d entries are dropped for a step", engine, what, drops)
					}
				})
			}
		})
	}
}

// A trunk of several cables that loses one: the entries over it move to another cable
// of the trunk, and no other changes.
func TestAnotherCableOfTheTrunk(t *testing.T) {
	var b fabric.Builder
	var sw [3]fabric.Ref
	for i := range sw {
		sw[i] = b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 5}, "")
		host := b.Node(fabric.Node{GUID: fabric.GUID(i + 10), Kind: fabric.Adapter, Ports: 1}, "")
		b.Cable(sw[i], 5, host, 1, fabric.Rate{})
	}
	for i := range sw {
		for cable := range uint8(2) {
			b.Cable(sw[i], 1+cable, sw[(i+1)%3], 3+cable, fabric.Rate{})
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	was, contract := route(t, f, "updn")
	live, err := f.Without([]fabric.ChannelID{0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := mended(was, live, contract, t)
	if err != nil || r.steps > 1 || r.changed != r.due || r.left != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Nothing to do is no step; and there is nothing safe to begin with from tables that
// have a loop already.
func TestNothingToMend(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	was, _ := route(t, f, "weave-any")
	plan, err := repair.Mend(t.Context(), was, was, repair.Options{Contract: routing.Any})
	if err != nil || len(plan.Steps) != 0 || len(plan.Left) != 0 {
		t.Errorf("%+v, %v", plan, err)
	}
	loop, _ := route(t, testnet.Build(t, "ring:5"), "minhop")
	if _, err := repair.Mend(t.Context(), loop, loop, repair.Options{Contract: routing.Any}); !errors.Is(err, repair.ErrLoop) {
		t.Errorf("a ring under minhop: %v", err)
	}
}

// Where nobody can make way, rows are chosen anew around Up*/Down*, in two ways: neither
// alone mends every failure below. Rows keep the entries that are Up*/Down* already: four
// entries changed for one that was due before they did.
func TestRowsChosenAnew(t *testing.T) {
	f := testnet.Build(t, "torus:7x7,hosts=1")
	was, contract := route(t, f, "updn")
	live, err := f.Without([]fabric.ChannelID{0}, nil) // at the root
	if err != nil {
		t.Fatal(err)
	}
	o, err := mended(was, live, contract, t)
	if err != nil || o.left > 0 || o.changed > 3*o.due {
		t.Errorf("%+v, %v", o, err)
	}
	for _, c := range []struct{ spec, engine string }{{"torus:5x5,hosts=2", "nue"}, {"mesh:4x5,hosts=1", "dfsssp"}} {
		f := testnet.Build(t, c.spec)
		was, contract := route(t, f, c.engine)
		every(t, f, func(what string, live *fabric.Fabric) {
			if o, err := mended(was, live, contract, t); err != nil || o.left > 0 {
				t.Errorf("%s, %s, %s: %+v, %v", c.spec, c.engine, what, o, err)
			}
		})
	}
}
