package hop_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/hop"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
)

var (
	finders = map[string]routing.PathFinder{"sssp": sssp.Finder{}, "minhop": minhop.Finder{}, "updn": updown.Finder{}}
	scopes  = []routing.Scope{routing.HCA, routing.Adapters, routing.All}
)

func paths(t testing.TB, f *fabric.Fabric, finder routing.PathFinder) *routing.Forwarding {
	t.Helper()
	fw, err := finder.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fw
}

// farthest counts the hops of the longest path in scope, by walking all.
func farthest(f *fabric.Fabric, fw *routing.Forwarding, scope routing.Scope) int {
	most := 0
	for lid, e := range f.LIDs() {
		if !scope.Includes(f.Endpoint(e).Class) {
			continue
		}
		for i := range f.Endpoints() {
			if ep := f.Endpoint(fabric.EndpointID(i)); scope.Includes(ep.Class) && ep.Switch != fabric.None {
				hops := 0
				for at := ep.Switch; ; hops++ {
					c := f.Out(at, fw.Port(at, lid))
					if c == fabric.None || int(c) >= f.Trunks() {
						break
					}
					at = f.Heads()[c]
				}
				most = max(most, hops)
			}
		}
	}
	return most
}

// judge has the tables that an assigner makes for a contract judged under it; nil where
// it refuses.
func judge(f *fabric.Fabric, fw *routing.Forwarding, a routing.LaneAssigner, c routing.Contract, b routing.Budget) (*deadlock.Verdict, *routing.Lanes, error) {
	b.Contract = c
	lanes, err := a.Lanes(context.Background(), f, fw, b, nil)
	if err != nil {
		return nil, nil, err
	}
	t := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: lanes}
	v, err := deadlock.Verify(context.Background(), t, deadlock.Options{Contract: c, Scope: b.Scope})
	if err != nil {
		return nil, nil, err
	}
	if !v.Free() {
		return nil, nil, fmt.Errorf("a credit loop of %d steps", len(v.Cycle))
	}
	if v.Dropped != 0 || v.VLs > lanes.Needed {
		return nil, nil, fmt.Errorf("%d drops, %d lanes in use, %d said to be needed", v.Dropped, v.VLs, lanes.Needed)
	}
	return v, lanes, nil
}

// check holds both assigners against what they promise for a forwarding.
func check(f *fabric.Fabric, fw *routing.Forwarding, scope routing.Scope) error {
	far := farthest(f, fw, scope)
	full := routing.Budget{VLs: routing.MaxDataVLs, Scope: scope}
	_, l, err := judge(f, fw, hop.D2{}, routing.Any, full)
	if refused := (*routing.Refusal)(nil); far > 2 && !errors.As(err, &refused) {
		return fmt.Errorf("d2 takes %d hops: %v", far, err)
	} else if far <= 2 && (err != nil || l.Needed != max(1, far)) {
		return fmt.Errorf("d2 does not take %d hops: %v", far, err)
	}
	for _, c := range []routing.Contract{routing.Honored, routing.Directed} {
		if err := checkDN(f, fw, scope, c, far); err != nil {
			return fmt.Errorf("dn, %s: %w", c, err)
		}
	}
	return nil
}

func checkDN(f *fabric.Fabric, fw *routing.Forwarding, scope routing.Scope, c routing.Contract, far int) error {
	few := (*routing.TooFewLanes)(nil)
	_, l, err := judge(f, fw, hop.DN{}, c, routing.Budget{VLs: routing.MaxDataVLs, Scope: scope})
	if far > routing.MaxDataVLs {
		if !errors.As(err, &few) || few.Need != far {
			return fmt.Errorf("%d hops: %v", far, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("%d hops: %w", far, err)
	}
	if l.Needed < far {
		return fmt.Errorf("%d lanes for %d hops", l.Needed, far)
	}
	need := l.Needed
	if _, _, err := judge(f, fw, hop.DN{}, c, routing.Budget{VLs: need, Scope: scope}); err != nil {
		return fmt.Errorf("with the %d lanes it needs: %w", need, err)
	}
	if need > 1 {
		_, _, err := judge(f, fw, hop.DN{}, c, routing.Budget{VLs: need - 1, Scope: scope})
		if !errors.As(err, &few) || few.Need != need {
			return fmt.Errorf("with one lane fewer than %d: %v", need, err)
		}
	}
	return nil
}

func TestOnEveryNetwork(t *testing.T) {
	for _, spec := range []string{
		"ring:5", "ring:9,hosts=2", "ring:40", "mesh:3x4", "torus:3x3,hosts=2", "torus:4x4", "hypercube:4", "karytree:k=4,n=2",
		"karytree:k=2,n=3", "dragonfly:p=1", "dragonfly:p=2", "random:switches=12,links=16,hosts=2,seed=1", "random:switches=20,links=50,seed=2",
	} {
		t.Run(spec, func(t *testing.T) {
			if spec == "dragonfly:p=2" {
				testnet.OnlyWhole(t)
			}
			t.Parallel()
			f := testnet.Build(t, spec)
			rng := rand.New(rand.NewPCG(7, uint64(len(spec))))
			for range testnet.Of(4, 2) {
				for name, finder := range finders {
					fw := paths(t, f, finder)
					for _, scope := range scopes {
						if err := check(f, fw, scope); err != nil {
							t.Errorf("%s, scope %s, %d switches and %d trunks: %v", name, scope, f.Switches(), f.Trunks(), err)
						}
					}
				}
				f = damage(t, f, rng)
			}
		})
	}
}

// damage takes a switch and a few cables away.
func damage(t *testing.T, f *fabric.Fabric, rng *rand.Rand) *fabric.Fabric {
	t.Helper()
	var cables []fabric.ChannelID
	for range f.Trunks() / 16 {
		cables = append(cables, fabric.ChannelID(rng.IntN(f.Trunks())))
	}
	f, err := f.Without(cables, []fabric.NodeID{fabric.NodeID(rng.IntN(f.Switches()))})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestOnAnyRandomNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		switches := rapid.IntRange(2, 14).Draw(t, "switches")
		f, err := topology.Build(fmt.Sprintf("random:switches=%d,links=%d,hosts=%d,seed=%d", switches,
			rapid.IntRange(switches-1, 3*switches).Draw(t, "links"), rapid.IntRange(1, 3).Draw(t, "hosts"), rapid.Uint64().Draw(t, "seed")))
		if err != nil {
			t.Fatal(err)
		}
		if f, err = f.WithLMC(rapid.Uint8Range(0, 1).Draw(t, "LMC")); err != nil {
			t.Fatal(err)
		}
		fw, err := finders[rapid.SampledFrom([]string{"sssp", "minhop", "updn"}).Draw(t, "finder")].Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(f, fw, rapid.SampledFrom(scopes).Draw(t, "scope")); err != nil {
			t.Fatal(err)
		}
	})
}

func TestOnRealFabrics(t *testing.T) {
	for _, name := range []string{"kalcher-stage-2014", "psmn-x5-2020", "ibtopotool-1", "ibtopotool-3"} {
		t.Run(name, func(t *testing.T) {
			f := testnet.Dump(t, name)
			for finder, pf := range finders {
				fw := paths(t, f, pf)
				for _, scope := range scopes {
					if err := check(f, fw, scope); err != nil {
						t.Errorf("%s, scope %s: %v", finder, scope, err)
					}
				}
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	f := testnet.Build(t, "dragonfly:p=2")
	fw := paths(t, f, sssp.Finder{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, a := range []routing.LaneAssigner{hop.D2{}, hop.DN{}} {
		if _, err := a.Lanes(ctx, f, fw, routing.Budget{VLs: 8}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%T: %v", a, err)
		}
	}
}

// What breaks on one core of many breaks in the goroutine of the caller, who may
// recover: a daemon lives on.
func TestPanicsWhereItIsCalled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	small, large := testnet.Build(t, "ring:5"), testnet.Build(t, "dragonfly:p=2")
	fw := paths(t, small, sssp.Finder{})
	for _, a := range []routing.LaneAssigner{hop.D2{}, hop.DN{}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T takes the forwarding of another network", a)
				}
			}()
			_, _ = a.Lanes(context.Background(), large, fw, routing.Budget{VLs: 8}, nil)
		}()
	}
}
