package fattree_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/fattree"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// trees is healthy trees, most of them small.
var trees = []string{
	"karytree:k=2,n=1", "karytree:k=2,n=2", "karytree:k=2,n=3", "karytree:k=2,n=5", "karytree:k=3,n=3", "karytree:k=4,n=3", "karytree:k=6,n=2", "karytree:k=8,n=2",
	"xgft:m=4,w=1,hosts=3", "xgft:m=4x4,w=1x1,hosts=2", "xgft:m=4x3,w=1x2,hosts=4", "xgft:m=4x1,w=2x2,hosts=2", "xgft:m=3x5,w=2x3,hosts=6", "xgft:m=12,w=6,hosts=6",
	"xgft:m=6x6,w=6x6,hosts=6", "xgft:m=6x6,w=4x3,hosts=7", "xgft:m=12,w=9,hosts=20", "xgft:m=2x3x4,w=2x2x3,hosts=2", "xgft:m=9x4,w=3x9,hosts=9",
}

// Every healthy tree is routed on shortest paths, free of deadlock and as evenly
// as by the better of minhop and sssp, up to a tenth.
func TestTrees(t *testing.T) {
	for _, spec := range trees {
		t.Run(spec, func(t *testing.T) {
			f := testnet.Build(t, spec)
			fw, refusal := paths(t, f)
			if refusal != nil {
				t.Fatal(refusal)
			}
			judge(t, f, fw)
			got := congestion.Count(f, fw, routing.HCA)
			best := ^uint32(0)
			for _, o := range []routing.PathFinder{minhop.Finder{}, sssp.Finder{}} {
				other, err := o.Paths(context.Background(), f, nil)
				if err != nil {
					t.Fatal(err)
				}
				l := congestion.Count(f, other, routing.HCA)
				if got.Hops != l.Hops {
					t.Errorf("%d hops in all; shortest paths have %d", got.Hops, l.Hops)
				}
				best = min(best, l.Max)
			}
			if 10*got.Max > 11*best {
				t.Errorf("the fullest trunk carries %d routes, %d are possible", got.Max, best)
			}
		})
	}
}

// Loads that follow from the trees alone: every trunk at the leaves carries an
// equal share.
func TestBalance(t *testing.T) {
	for spec, want := range map[string]uint32{
		"karytree:k=4,n=3": 60, "karytree:k=2,n=5": 30, "karytree:k=8,n=2": 56,
		"xgft:m=6x6,w=6x6,hosts=6": 210, "xgft:m=12,w=6,hosts=6": 66, "xgft:m=9x4,w=3x9,hosts=9": 945,
	} {
		f := testnet.Build(t, spec)
		fw, refusal := paths(t, f)
		if refusal != nil {
			t.Fatal(refusal)
		}
		if l := congestion.Count(f, fw, routing.HCA); l.Max != want {
			t.Errorf("%s: the fullest trunk carries %d routes, want %d", spec, l.Max, want)
		}
	}
}

// In a k-ary n-tree a destination has one top switch, and one way down from it
// for all.
func TestOneWayDown(t *testing.T) {
	for _, spec := range []string{"karytree:k=3,n=3", "karytree:k=4,n=3", "xgft:m=4x6,w=4x4,hosts=4"} {
		f := testnet.Build(t, spec)
		fw, _ := paths(t, f)
		for lid, e := range f.LIDs() {
			if f.Endpoint(e).Class != fabric.HostAdapter {
				continue
			}
			into := map[fabric.NodeID]fabric.NodeID{} // [switch on a way] the one before
			for from := range f.Endpoints() {
				if src := f.Endpoint(fabric.EndpointID(from)); src.Class == fabric.HostAdapter {
					way := walk(f, fw, src.Switch, lid)
					for i := (len(way) + 1) / 2; i < len(way); i++ {
						if before, ok := into[way[i]]; ok && before != way[i-1] {
							t.Fatalf("%s: LID %d is reached by %s from %s and from %s", spec, lid, f.Label(way[i]), f.Label(before), f.Label(way[i-1]))
						}
						into[way[i]] = way[i-1]
					}
				}
			}
		}
	}
}

// walk lists the switches on the way to a LID.
func walk(f *fabric.Fabric, fw *routing.Forwarding, at fabric.NodeID, lid fabric.LID) []fabric.NodeID {
	way := []fabric.NodeID{at}
	for root := f.Endpoint(f.Owner(lid)).Switch; at != root && len(way) <= f.Switches(); {
		at = f.Channel(f.Out(at, fw.Port(at, lid))).To
		way = append(way, at)
	}
	return way
}

// Whatever is taken from a tree, the rest is routed or refused; light damage to a
// tree with four spines is never refused, and between hosts with a switch above
// both nobody goes up after going down.
func TestDamagedTrees(t *testing.T) {
	refused, routed := 0, 0
	testnet.CheckCounted(t, func(t *rapid.T) {
		spec := rapid.SampledFrom(trees).Draw(t, "tree")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		f := testnet.Build(t, spec)
		if rapid.Bool().Draw(t, "parallel cables") {
			f = thicken(t, f, rng)
		}
		f = harm(t, f, rng, rapid.IntRange(0, 30).Draw(t, "percent of the cables"), rapid.IntRange(0, 3).Draw(t, "switches"))
		fw, refusal := paths(t, f)
		if refusal != nil {
			refused++
			return
		}
		routed++
		judge(t, f, fw)
	}, func() {
		if refused*10 > routed {
			t.Errorf("%d of %d damaged trees are refused", refused, refused+routed)
		}
	})
}

func TestLightDamage(t *testing.T) {
	for _, spec := range []string{"karytree:k=4,n=3", "xgft:m=6x6,w=6x6,hosts=6", "xgft:m=12,w=6,hosts=6", "xgft:m=6x6,w=4x3,hosts=7"} {
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 2))
			f := harm(t, testnet.Build(t, spec), rng, 5, 1)
			fw, refusal := paths(t, f)
			if refusal != nil {
				t.Fatalf("%s, seed %d: %v", spec, seed, refusal)
			}
			judge(t, f, fw)
		}
	}
}

// What has little to do with a tree is refused by a rule and at a place, and if
// it is not, then the judge agrees.
func TestAnyNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "switches")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		k := sketch{hosts: make([]int, n), agg: make([]int, n)}
		for s := range k.hosts {
			k.hosts[s], k.agg[s] = max(0, rng.IntN(6)-2), rng.IntN(4)/3
		}
		for range rapid.IntRange(0, 2*n).Draw(t, "cables") {
			if a, b := rng.IntN(n), rng.IntN(n); a != b {
				k.cables = append(k.cables, [3]int{a, b, 1 + rng.IntN(2)})
			}
		}
		f := k.build(t)
		fw, refusal := paths(t, f)
		if refusal != nil {
			if refusal.Node == fabric.None || refusal.Label == "" || refusal.Rule == "" {
				t.Fatalf("a refusal that says little: %v", refusal)
			}
			return
		}
		judge(t, f, fw)
	})
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"torus:4x4", "sw-0-0, port 2: the cable to sw-1-0, port 3, joins two leaves"},
		{"torus:3x3x3,hosts=2", "joins two leaves"},
		{"dragonfly:p=2", "joins two leaves"},
		{"hypercube:4", "joins two leaves"},
		{"ring:5", "joins two leaves"},
		{"mesh:3x3", "joins two leaves"},
		{"random:switches=12,links=24,hosts=2,seed=1", "joins two leaves"},
	} {
		if _, refusal := paths(t, testnet.Build(t, c.spec)); refusal == nil || !strings.Contains(refusal.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.spec, refusal, c.want)
		}
	}
}

// chequered is a torus of n by n with hosts on every other switch only.
func chequered(n int) sketch {
	k := sketch{hosts: make([]int, n*n)}
	for s := range k.hosts {
		x, y := s%n, s/n
		k.hosts[s] = 1 - (x+y)%2
		k.cables = append(k.cables, [3]int{s, y*n + (x+1)%n, 1}, [3]int{s, (y+1)%n*n + x, 1})
	}
	return k
}

// twoLevels is leaves with hosts below spines, two cables each.
func twoLevels(leaves, spines, hosts int) sketch {
	k := sketch{hosts: make([]int, leaves+spines)}
	for a := range leaves {
		k.hosts[a] = hosts
		for b := range spines {
			k.cables = append(k.cables, [3]int{a, leaves + b, 2})
		}
	}
	return k
}

// threeLevels is four pods of three leaves with six hosts each below two middle switches, and above these
// four spines. Leaves are 0 to 11, those in the middle 12 to 19, spines 20 to 23.
func threeLevels() sketch {
	k := sketch{hosts: make([]int, 24)}
	for leaf := range 12 {
		k.hosts[leaf] = 6
		k.cables = append(k.cables, [3]int{leaf, 12 + leaf/3*2, 1}, [3]int{leaf, 13 + leaf/3*2, 1})
	}
	for mid := range 8 {
		k.cables = append(k.cables, [3]int{12 + mid, 20 + mid%2*2, 1}, [3]int{12 + mid, 21 + mid%2*2, 1})
	}
	return k
}

// with is k with more switches, given by their hosts, and more cables.
func (k sketch) with(hosts []int, cables ...[3]int) sketch {
	k.hosts = append(k.hosts[:len(k.hosts):len(k.hosts)], hosts...)
	k.cables = append(k.cables[:len(k.cables):len(k.cables)], cables...)
	return k
}

// Odd trees, and what is no tree, by hand.
func TestSketches(t *testing.T) {
	basic := twoLevels(6, 3, 8) // leaves 0 to 5, spines 6 to 8
	spineHosts, everywhere := twoLevels(6, 3, 8), twoLevels(6, 3, 8)
	spineHosts.hosts[6] = 3
	everywhere.agg = []int{1, 1, 1, 1, 1, 1, 1, 1, 1}
	strayHosts, smallLeaf, storage := threeLevels(), threeLevels(), threeLevels()
	strayHosts.hosts[21], strayHosts.hosts[22], strayHosts.hosts[15] = 1, 2, 1
	smallLeaf.hosts[4] = 1
	storage.hosts[21] = 6
	for _, c := range []struct {
		name   string
		net    sketch
		levels string // beginning of the note; empty: refused
		why    string // of a refusal
		hosts  string // of a second note, if there is one
	}{
		{"two levels", basic, "2 levels with 6, 3 switches", "", ""},
		{"hosts on a spine", spineHosts, "2 levels with 6, 3 switches", "", ""},
		{"a few hosts on spines, more than below them", strayHosts, "3 levels with 12, 8, 4 switches", "", "6 pairs of hosts have no switch above both and go down and up again on their way"},
		{"a few hosts on a leaf of a pod", smallLeaf, "3 levels with 12, 8, 4 switches", "", ""},
		{"as many hosts on a spine as on a leaf", storage, "3 levels with 13, 8, 3 switches", "", ""},
		{"aggregation nodes everywhere", everywhere, "2 levels with 6, 3 switches", "", ""},
		{"a leaf without hosts", basic.with([]int{0}, [3]int{9, 6, 1}, [3]int{9, 7, 1}), "2 levels with 7, 3 switches", "", ""},
		{"a tail", basic.with([]int{5}, [3]int{9, 0, 3}), "3 levels with 1, 6, 3 switches", "", ""},
		{"a tail of a tail", basic.with([]int{5, 9}, [3]int{9, 0, 1}, [3]int{10, 9, 1}), "4 levels with 1, 1, 6, 3 switches", "", ""},
		{"a tail on two leaves", basic.with([]int{5}, [3]int{9, 0, 1}, [3]int{9, 1, 1}), "3 levels with 1, 6, 3 switches", "", ""},
		{"a spine with one cable", basic.with([]int{0}, [3]int{9, 0, 1}), "3 levels with 1, 6, 3 switches", "", ""},
		{"a leaf at the roots", sketch{ // leaves 0-3, middle 4-7, roots 8 and 9, a leaf at those
			hosts: []int{6, 6, 6, 6, 0, 0, 0, 0, 0, 0, 4},
			cables: [][3]int{{0, 4, 1}, {0, 5, 1}, {1, 4, 1}, {1, 5, 1}, {2, 6, 1}, {2, 7, 1}, {3, 6, 1}, {3, 7, 1},
				{4, 8, 1}, {5, 9, 1}, {6, 8, 1}, {7, 9, 1}, {10, 8, 1}, {10, 9, 1}},
		}, "3 levels with 4, 5, 2 switches", "", ""},
		{"one leaf lost a spine, another the rest", sketch{
			hosts:  []int{4, 4, 4, 4, 4, 0, 0},
			cables: [][3]int{{0, 5, 1}, {1, 6, 1}, {2, 5, 2}, {2, 6, 2}, {3, 5, 2}, {3, 6, 1}, {4, 5, 1}, {4, 6, 1}},
		}, "2 levels with 5, 2 switches", "", "32 pairs of hosts have no switch above both and go down and up again on their way"},
		{"cabled spines", basic.with(nil, [3]int{6, 7, 1}), "", "the cable to s7, port", ""},
		{"cabled leaves", basic.with(nil, [3]int{0, 1, 1}), "", "joins two leaves", ""},
		{"a chequered torus", chequered(8), "", "only 28 % of all pairs", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := c.net.build(t)
			fw, refusal := paths(t, f)
			if c.levels == "" {
				if refusal == nil || !strings.Contains(refusal.Error(), c.why) {
					t.Fatalf("not refused for %q: %v", c.why, refusal)
				}
				return
			}
			if refusal != nil {
				t.Fatal(refusal)
			}
			judge(t, f, fw)
			if !strings.HasPrefix(fw.Notes[0], c.levels) {
				t.Errorf("note is %q, want %q", fw.Notes[0], c.levels)
			}
			if got := strings.Join(fw.Notes[1:], "; "); got != c.hosts {
				t.Errorf("note is %q, want %q", got, c.hosts)
			}
		})
	}
}

// Fabrics that are in use, with what their fullest trunk carried under OpenSM's
// rule (minhop) and under sssp: 472 and 472, 220 and 184, 1,651 and 911.
func TestRealFabrics(t *testing.T) {
	for _, c := range []struct {
		name string
		load uint32
	}{{"kalcher-stage-2014", 432}, {"psmn-x5-2020", 193}, {"topograph-ndr-dgx-2025", 684}} {
		t.Run(c.name, func(t *testing.T) {
			f := testnet.Dump(t, c.name)
			fw, refusal := paths(t, f)
			if refusal != nil {
				t.Fatal(refusal)
			}
			judge(t, f, fw)
			if l := congestion.Count(f, fw, routing.HCA); l.Max > c.load || l.MaxHops != 2 {
				t.Errorf("the fullest trunk carries %d routes, the longest route has %d hops", l.Max, l.MaxHops)
			}
		})
	}
}

// Several LIDs of a host come down different ways.
func TestLMC(t *testing.T) {
	f, err := testnet.Build(t, "xgft:m=6,w=4,hosts=2").WithLMC(1)
	if err != nil {
		t.Fatal(err)
	}
	fw, refusal := paths(t, f)
	if refusal != nil {
		t.Fatal(refusal)
	}
	judge(t, f, fw)
	for _, e := range f.Endpoints() {
		if e.Class == fabric.HostAdapter && e.Switch != 0 && fw.Port(0, e.LID) == fw.Port(0, e.LID+1) {
			t.Errorf("LIDs %d and %d leave the first leaf by the same port", e.LID, e.LID+1)
		}
	}
}

func TestSameOnAnyNumberOfCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	f := harm(t, testnet.Build(t, "xgft:m=6x6,w=4x3,hosts=7"), rand.New(rand.NewPCG(1, 4)), 10, 2)
	var got [2]*routing.Forwarding
	for i, cores := range []int{1, 4} {
		runtime.GOMAXPROCS(cores)
		got[i], _ = paths(t, f)
	}
	if d := cmp.Diff(got[0], got[1], cmp.AllowUnexported(routing.Forwarding{})); d != "" {
		t.Error(d)
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		name string
		f    *fabric.Fabric
		ok   []bool
	}{
		{"a tree", testnet.Build(t, "karytree:k=4,n=3"), []bool{true, true, true}},
		{"a ring", testnet.Build(t, "ring:5"), []bool{false}},
		{"a chequered torus", chequered(8).build(t), []bool{true, false}},
	} {
		findings := fattree.Finder{}.Explain(c.f)
		if len(findings) != len(c.ok) {
			t.Fatalf("%s: %+v", c.name, findings)
		}
		for i, x := range findings {
			if x.OK != c.ok[i] || x.Rule == "" || x.Why == "" {
				t.Errorf("%s: %+v", c.name, x)
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (fattree.Finder{}).Paths(ctx, testnet.Build(t, "karytree:k=4,n=3"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, it says %v", err)
	}
}

func TestNothing(t *testing.T) {
	var b fabric.Builder
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if _, refusal := paths(t, f); refusal != nil {
		t.Error(refusal)
	}
}

func BenchmarkPaths11664(b *testing.B) {
	f := testnet.Build(b, "xgft:m=18x36,w=18x18,hosts=18")
	for b.Loop() {
		if _, err := (fattree.Finder{}).Paths(context.Background(), f, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// Ports with several LIDs: the rounds in which destinations are dealt out count
// LIDs, not hosts.
func TestSeveralAddresses(t *testing.T) {
	for _, spec := range []string{"xgft:m=4,w=3,hosts=1", "xgft:m=18,w=6,hosts=5", "karytree:k=3,n=3"} {
		for lmc := range uint8(4) {
			f, err := testnet.Build(t, spec).WithLMC(lmc)
			if err != nil {
				t.Fatal(err)
			}
			paths, err := fattree.Finder{}.Paths(t.Context(), f, nil)
			if err != nil {
				t.Fatalf("%s, LMC %d: %v", spec, lmc, err)
			}
			tables := &routing.Tables{Fabric: f, Forwarding: paths, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
			v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any, Scope: routing.All})
			if err != nil || !v.Free() || !v.Complete() {
				t.Errorf("%s, LMC %d: free %v, complete %v, %v", spec, lmc, v.Free(), v.Complete(), err)
			}
		}
	}
}
