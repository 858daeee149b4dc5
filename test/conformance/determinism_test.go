package conformance

import (
	"context"
	"reflect"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// result is all that an engine and the judge say, in plain slices.
type result struct {
	Nodes     []fabric.Node
	Channels  []fabric.Channel
	Endpoints []fabric.Endpoint
	Notes     []string
	Ports     [][]uint8 // [LID]
	SLs       [][]uint8 // [LID]
	Needed    int
	Error     string
	Verdict   *deadlock.Verdict
}

// everything runs an engine and keeps all it says.
func (on *subject) everything(e engines.Engine, scope routing.Scope) result {
	f := on.Fabric
	r := result{Nodes: f.Nodes(), Channels: f.Channels(), Endpoints: f.Endpoints()}
	t, err := on.route(e, scope, e.Contract)
	if err != nil {
		r.Error = err.Error()
		return r
	}
	r.Notes = t.Forwarding.Notes
	for lid := range f.TopLID() + 1 {
		r.Ports = append(r.Ports, t.Forwarding.Row(lid))
	}
	if t.Lanes == nil {
		return r
	}
	for lid := range f.TopLID() + 1 {
		r.SLs = append(r.SLs, t.Lanes.SLRow(lid))
	}
	r.Needed = t.Lanes.Needed
	// Whether the verdict is right is the business of other tests.
	if r.Verdict, err = deadlock.Verify(context.Background(), t, deadlock.Options{Contract: e.Contract, Scope: scope}); err != nil {
		r.Error = err.Error()
	}
	return r
}

// diff is what two results differ in. cmp tells it well but slowly, so it is asked
// only where there is something to tell.
func diff(a, b result) string {
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return cmp.Diff(a, b, cmp.AllowUnexported(routing.Contract{}))
}

// The number of cores changes nothing. Every pair takes one of the networks, in turn, and another
// where it refuses; with WEFT_THOROUGH all of them. A sample takes a sixth of the pairs.
func TestSameResultOnAnyNumberOfCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	specs := []string{"dragonfly:p=2", "torus:4x4,hosts=3", "random:switches=20,links=50,seed=3"}
	var one, four []*subject
	for _, spec := range specs {
		f := testnet.Build(t, spec)
		one, four = append(one, newSubject(f)), append(four, newSubject(f))
	}
	n := 0
	eachPair(func(e engines.Engine) {
		if n++; n%testnet.Of(1, 6) != 0 {
			return
		}
		for k := range specs {
			i := (n + k) % len(specs)
			runtime.GOMAXPROCS(1)
			want := one[i].everything(e, routing.HCA)
			runtime.GOMAXPROCS(4)
			if d := diff(want, four[i].everything(e, routing.HCA)); d != "" {
				t.Errorf("%s on %s differs between one core and four (-one +four):\n%s", e.Name, specs[i], d)
			}
			if want.Error == "" && !thorough {
				return
			}
		}
	})
}

// The order in which nodes, cables and the ends of cables are named changes
// nothing.
func TestSameResultInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := recipes(7).Draw(t, "network")
		rng := chance(t, "order")
		f := mustBuild(t, r)
		g, err := r.build(rng.Perm(len(r.nodes)), rng.Perm(len(r.cables)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(f.Warnings(), g.Warnings()); d != "" {
			t.Fatal(d)
		}
		one, other := newSubject(f), newSubject(g)
		somePairs(t, func(e engines.Engine) {
			if d := diff(one.everything(e, routing.All), other.everything(e, routing.All)); d != "" {
				t.Fatalf("%s: %s", e.Name, d)
			}
		})
	})
}

// A fabric without anything in it, and one without switches, go through
// everything.
func TestNearlyNothing(t *testing.T) {
	var none, pair fabric.Builder
	a := pair.Node(fabric.Node{Kind: fabric.Adapter, Ports: 1}, "a")
	z := pair.Node(fabric.Node{Kind: fabric.Adapter, Ports: 1}, "z")
	pair.Cable(a, 1, z, 1, fabric.Rate{})
	for _, b := range []*fabric.Builder{&none, &pair} {
		f, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		on := newSubject(f)
		eachPair(func(e engines.Engine) {
			if err := on.check(e, routing.All); err != nil {
				t.Errorf("%s: %v", e.Name, err)
			}
		})
	}
}
