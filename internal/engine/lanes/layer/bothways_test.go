package layer_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/layer"
	"github.com/weft-fabric/weft/internal/engine/paths/shortest"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/engine/paths/symmetric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

var finders = map[string]routing.PathFinder{
	"sssp": sssp.Finder{}, "shortest": shortest.Finder{}, "symmetric": symmetric.Finder{}, "multipath": sssp.MultiPath{},
}

// allAssigners is assigners with those that leave out addresses.
func allAssigners() map[string]routing.LaneAssigner {
	all := map[string]routing.LaneAssigner{"first-fit, discarding": layer.FirstFit{Discard: true}}
	for name, a := range assigners {
		all[name] = a
	}
	for _, o := range layer.Orders {
		all["first-fit "+o.String()] = layer.FirstFit{Order: o}
	}
	return all
}

// oneLevel says what is wrong with lanes for contract honored: the adapters of two
// switches have one service level for each other, and each has some LID of each. It
// counts the LIDs left out.
func oneLevel(f *fabric.Fabric, l *routing.Lanes) (left int, err error) {
	levels := map[[2]fabric.NodeID]uint8{}
	for _, from := range routing.Adapters.Endpoints(f) {
		for _, to := range routing.Adapters.Endpoints(f) {
			a, b := f.Endpoint(from).Switch, f.Endpoint(to)
			if a == b.Switch {
				continue
			}
			used := 0
			for i := range fabric.LID(1) << b.LMC {
				sl := l.SL(from, b.LID+i)
				if sl == routing.NoSL {
					left++
					continue
				}
				used++
				key := [2]fabric.NodeID{min(a, b.Switch), max(a, b.Switch)}
				if had, ok := levels[key]; ok && had != sl {
					return 0, fmt.Errorf("between switches %d and %d SL %d and %d are in use", key[0], key[1], had, sl)
				}
				levels[key] = sl
			}
			if used == 0 {
				return 0, fmt.Errorf("from switch %d there is no LID of endpoint %d left", a, to)
			}
		}
	}
	return left, nil
}

// Under contract honored both ways between two switches share a level, and the judge
// finds no loop when answers ride that of the request.
func TestBothWaysShareALayer(t *testing.T) {
	for _, spec := range []string{"torus:5x5,hosts=2", "kautz:b=2,n=3,hosts=2", "random:switches=20,links=40,hosts=3,seed=5", "random:switches=4,links=20,hosts=5", "dragonfly:p=2"} {
		for _, lmc := range []uint8{0, 1} {
			f, err := testnet.Build(t, spec).WithLMC(lmc)
			if err != nil {
				t.Fatal(err)
			}
			for finder, p := range finders {
				fw := paths(t, f, p)
				for name, a := range allAssigners() {
					l, err := a.Lanes(ctx, f, fw, routing.Budget{VLs: routing.MaxDataVLs, Scope: routing.Adapters}, nil)
					if err != nil {
						t.Errorf("%s, LMC %d, %s, %s: %v", spec, lmc, finder, name, err)
						continue
					}
					if _, err := oneLevel(f, l); err != nil {
						t.Errorf("%s, LMC %d, %s, %s: %v", spec, lmc, finder, name, err)
					}
					v := honored(t, f, fw, l, routing.Adapters)
					if !v.Free() || !v.Complete() || v.VLs > l.Needed && v.SLs == l.Needed {
						t.Errorf("%s, LMC %d, %s, %s: free %v, complete %v, %d lanes in use, %d needed", spec, lmc, finder, name, v.Free(), v.Complete(), v.VLs, l.Needed)
					}
				}
			}
		}
	}
}

func honored(t testnet.TB, f *fabric.Fabric, fw *routing.Forwarding, l *routing.Lanes, scope routing.Scope) *deadlock.Verdict {
	t.Helper()
	v, err := deadlock.Verify(ctx, &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}, deadlock.Options{Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Where addresses are left out for want of lanes, it is the same ones both ways, and
// not all.
func TestDiscardsBothWays(t *testing.T) {
	f, err := testnet.Build(t, "torus:4x4").WithLMC(2)
	if err != nil {
		t.Fatal(err)
	}
	fw := paths(t, f, sssp.MultiPath{})
	l, err := layer.FirstFit{Discard: true}.Lanes(ctx, f, fw, routing.Budget{VLs: 4, Scope: routing.Adapters}, nil)
	if err != nil {
		t.Fatal(err)
	}
	left, err := oneLevel(f, l)
	if err != nil || left == 0 {
		t.Errorf("%d addresses left out, want some: %v", left, err)
	}
	for _, from := range routing.Adapters.Endpoints(f) {
		for _, to := range routing.Adapters.Endpoints(f) {
			for i := range fabric.LID(4) {
				there, back := l.SL(from, f.Endpoint(to).LID+i), l.SL(to, f.Endpoint(from).LID+i)
				if (there == routing.NoSL) != (back == routing.NoSL) {
					t.Fatalf("address %d between endpoints %d and %d: SL %d there, %d back", i, from, to, there, back)
				}
			}
		}
	}
	if v := honored(t, f, fw, l, routing.Adapters); !v.Free() || !v.Complete() || v.VLs != 4 {
		t.Errorf("free %v, complete %v, %d lanes", v.Free(), v.Complete(), v.VLs)
	}
}

// What the papers take for granted does not hold when answers ride the level of the
// request.
func TestDirectedLayersHaveALoopOnTheWayBack(t *testing.T) {
	f := testnet.Build(t, "torus:5x5,hosts=1")
	fw := paths(t, f, sssp.Finder{})
	for name, a := range assigners {
		l := assign(t, f, fw, a, 8)
		if !verdict(t, f, fw, l).Free() {
			t.Errorf("%s: a loop under contract directed", name)
		}
		if honored(t, f, fw, l, routing.HCA).Free() {
			t.Errorf("%s: no loop under contract honored, so nothing to do", name)
		}
	}
}

// On any network that falls apart, and for any lanes: proven or refused.
func TestBothWaysOnAnyNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		switches := rapid.IntRange(3, 14).Draw(t, "switches")
		f := testnet.Build(t, fmt.Sprintf("random:switches=%d,links=%d,hosts=2,seed=%d", switches,
			rapid.IntRange(switches-1, 3*(switches-1)/2).Draw(t, "links"), rapid.Uint64Range(0, 99).Draw(t, "seed")))
		var gone []fabric.ChannelID
		for range rapid.IntRange(0, 3).Draw(t, "failures") {
			gone = append(gone, fabric.ChannelID(rapid.IntRange(0, f.Trunks()-1).Draw(t, "cable")))
		}
		f, err := f.Without(gone, nil)
		if err != nil {
			t.Fatal(err)
		}
		if f, err = f.WithLMC(uint8(rapid.IntRange(0, 1).Draw(t, "LMC"))); err != nil {
			t.Fatal(err)
		}
		budget := routing.Budget{VLs: rapid.IntRange(1, 4).Draw(t, "lanes"), Scope: rapid.SampledFrom([]routing.Scope{routing.HCA, routing.All}).Draw(t, "scope")}
		for finder, p := range finders {
			fw, err := p.Paths(ctx, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, a := range allAssigners() {
				l, err := a.Lanes(ctx, f, fw, budget, nil)
				if routing.Refused(err) {
					continue
				}
				if err != nil {
					t.Fatalf("%s, %s: %v", finder, name, err)
				}
				if v := honored(t, f, fw, l, budget.Scope); !v.Free() || v.VLs > budget.VLs {
					t.Fatalf("%s, %s: free %v on %d lanes", finder, name, v.Free(), v.VLs)
				}
			}
		}
	})
}
