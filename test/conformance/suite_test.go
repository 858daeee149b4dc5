package conformance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// specs is a network or two of every family.
var specs = []string{
	"ring:5", "ring:8,hosts=2", "mesh:3x4", "torus:3x3,hosts=2", "torus:4x4", "hypercube:4",
	"karytree:k=2,n=3", "karytree:k=4,n=2", "xgft:m=3x4,w=2x2,hosts=3", "dragonfly:p=1", "dragonfly:p=2",
	"dragonfly:p=1,a=2,h=2,global=random,seed=1", "fattree:ports=4,levels=3", "fattree:ports=6,hosts=4,leaves=4", "director:8,radix=4", testnet.Small, testnet.SmallWide,
	"slimfly:q=3,hosts=1", "polarfly:q=3,hosts=1", "oft:k=3", "kautz:b=2,n=3", "hyperx:3x4", "jellyfish:switches=14,degree=3,seed=1",
	"random:switches=12,links=16,hosts=2,seed=1", "random:switches=20,links=50,seed=2", "random:switches=3,links=12,hosts=3",
}

// large is those of specs that take the longest.
var large = []string{testnet.Small, testnet.SmallWide, "dragonfly:p=2", "oft:k=3", "xgft:m=3x4,w=2x2,hosts=3"}

// minimal is the path finders that take no detours; balance takes some in trees.
var minimal = []string{"minhop", "sssp", "shortest", "symmetric", "symmetric-regular", "lighter"}

// fussy reports whether an engine may refuse a network though it has the lanes.
// Up*/Down* with roots of its own choice takes any.
func fussy(e engines.Engine) bool {
	_, lanes, pair := parts(e)
	return e.Refuses != "" && (!pair || e.Paths != "updn" || lanes.Refuses != "")
}

// shortSpecs is the corpus with -short.
var shortSpecs = []string{"ring:5", "torus:3x3,hosts=2", "karytree:k=2,n=3", "dragonfly:p=1", "random:switches=12,links=16,hosts=2,seed=1"}

// dumps is the real fabrics small enough to walk packet by packet.
var dumps = []string{"kalcher-stage-2014", "psmn-x5-2020", "ibtopotool-1", "ibtopotool-2", "ibtopotool-3", "ibtopotool-4"}

// largeDumps is those of dumps that take the longest.
var largeDumps = dumps[:2]

var (
	finders   = engines.Finders()
	assigners = engines.Assigners()
	pairs     = everyPair()
)

// parts is the path finder and lane assigner of an engine that is a pair.
func parts(e engines.Engine) (f engines.Finder, l engines.Assigner, pair bool) {
	i := slices.IndexFunc(finders, func(f engines.Finder) bool { return f.Name == e.Paths })
	k := slices.IndexFunc(assigners, func(l engines.Assigner) bool { return l.Name == e.Lanes })
	if i >= 0 {
		f = finders[i]
	}
	if k >= 0 {
		l = assigners[k]
	}
	return f, l, i >= 0 && k >= 0
}

// everyPair is every path finder with every lane assigner, and every router that is
// both. (Adaptive routers have a suite of their own.)
func everyPair() (all []engines.Engine) {
	for _, e := range engines.All() {
		if _, _, pair := parts(e); !pair {
			all = append(all, e)
		}
	}
	for _, p := range finders {
		for _, l := range assigners {
			all = append(all, engines.Pair(p, l))
		}
	}
	return all
}

func eachPair(test func(e engines.Engine)) {
	for _, e := range pairs {
		test(e)
	}
}

// isEngine reports whether what was put together of a path finder and a lane assigner, or is both
// itself, is an engine that users can name by a word.
func isEngine(e engines.Engine) bool {
	return slices.ContainsFunc(engines.All(), func(of engines.Engine) bool { return of.Paths == e.Paths && of.Lanes == e.Lanes })
}

// somePairs is eachPair for one of many drawn networks, each of which meets a third of the pairs.
func somePairs(t *rapid.T, test func(e engines.Engine)) {
	const third = 3
	n := rapid.IntRange(0, third-1).Draw(t, "pairs")
	eachPair(func(e engines.Engine) {
		if n++; n%third == 0 || thorough {
			test(e)
		}
	})
}

// promised is the contracts for which an engine makes tables that hold under them.
func promised(e engines.Engine) []routing.Contract {
	if e.Contract == routing.Honored {
		return []routing.Contract{routing.Honored, routing.Directed}
	}
	return []routing.Contract{e.Contract}
}

// check routes the fabric with an engine, for each contract that it can serve, and holds
// the tables against everything that the engine, the judge and the flow counter promise.
func (on *subject) check(e engines.Engine, scope routing.Scope) error {
	for _, contract := range promised(e) {
		if err := on.checkUnder(e, scope, contract); err != nil {
			return fmt.Errorf("%s: %w", contract, err)
		}
	}
	return nil
}

func (on *subject) checkUnder(e engines.Engine, scope routing.Scope, contract routing.Contract) error {
	f := on.Fabric
	t, err := on.route(e, scope, contract)
	var no *routing.Refusal
	if errors.As(err, &no) && fussy(e) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := on.checkPaths(e, t.Forwarding); err != nil {
		return err
	}
	if t.Lanes == nil {
		return nil
	}
	if t.Forwarding.Apart { // then engines refuse all other scopes that are not joined
		scope = routing.HCA
	}
	v, r, err := on.verify(t, contract, scope)
	if err != nil {
		return err
	}
	if e.Safe && !v.Free() {
		return fmt.Errorf("a credit loop of %d steps, though the engine is safe", len(v.Cycle))
	}
	want := on.cut(scope)
	asCut := r.unreachable == want
	if leavesOut(t) { // cut pairs count once for each address in use
		asCut = r.unreachable <= want && (r.unreachable > 0) == (want > 0)
	}
	if !asCut || v.Loops != 0 || v.Dropped != 0 {
		return fmt.Errorf("%d pairs without a route, %d circles, %d drops; the network cuts %d pairs", r.unreachable, v.Loops, v.Dropped, want)
	}
	finder, assigner, pair := parts(e)
	if fewer := t.Lanes.Needed - 1; fewer > 0 && pair {
		l, err := on.assign(assigner, on.by(finder), routing.Budget{VLs: fewer, Scope: scope, Contract: contract})
		if err == nil {
			squeezed := &routing.Tables{Fabric: f, Forwarding: t.Forwarding, Lanes: l}
			if v, _, err := on.verify(squeezed, contract, scope); err != nil || !v.Free() || v.VLs > fewer {
				return fmt.Errorf("squeezed into %d lanes: not free: %w", fewer, err)
			}
		}
	}
	if finder.Safe && contract == routing.Any {
		if v, _, err = on.verify(t, routing.Any, routing.All); err != nil || !v.Free() || v.Unreachable != on.cut(routing.All) && !t.Forwarding.Apart {
			return fmt.Errorf("not safe and connected between all switches under any contract: %w", err)
		}
	}
	return nil
}

// leavesOut reports whether some source must not use some LID.
func leavesOut(t *routing.Tables) bool {
	for lid := range t.Fabric.LIDs() {
		if slices.Contains(t.Lanes.SLRow(lid), routing.NoSL) {
			return true
		}
	}
	return false
}

// cut counts the pairs that no routing can join.
func (on *subject) cut(scope routing.Scope) int64 {
	f, d := on.Fabric, on.far
	n := int64(0)
	for to, dest := range f.Endpoints() {
		for from, src := range f.Endpoints() {
			if from != to && inScope(scope, src) && inScope(scope, dest) && d[src.Switch][dest.Switch] >= apart {
				n += 1 << dest.LMC
			}
		}
	}
	return n
}

// checkPaths holds a forwarding against the promises of its finder: every LID
// reached from every switch of its part, or of those apart host adapters, minimal paths if not Up*/Down*, and
// loads as counted.
func (on *subject) checkPaths(e engines.Engine, fw *routing.Forwarding) error {
	key := on.digest(e.Paths, fw)
	if on.checked[key] {
		return nil
	}
	on.checked[key] = true
	f := on.Fabric
	n := newNetwork(f)
	d := on.far
	turns := map[[2]fabric.ChannelID]bool{}
	hosts := routing.HCA.Ends(f)
	for lid, owner := range f.LIDs() {
		dest := f.Endpoint(owner)
		for s := range fabric.NodeID(f.Switches()) {
			if fw.Apart && fw.Port(s, lid) == routing.NoPort && (!hosts[s] || dest.Class != fabric.HostAdapter) {
				continue
			}
			if dest.Switch == fabric.None || d[s][dest.Switch] >= apart {
				if port := fw.Port(s, lid); port != routing.NoPort {
					return fmt.Errorf("%s sends LID %d by port %d, though no path leads there", f.Label(s), lid, port)
				}
				continue
			}
			way, fate := n.walk(fw, plug{s, 0}, lid, nil)
			if fate != arrives {
				return fmt.Errorf("LID %d from %s: %s", lid, f.Label(s), fate)
			}
			if slices.Contains(minimal, e.Paths) && len(way) != d[s][dest.Switch] {
				return fmt.Errorf("LID %d is %d hops from %s, not %d", lid, d[s][dest.Switch], f.Label(s), len(way))
			}
			for i := 1; i < len(way); i++ {
				turns[[2]fabric.ChannelID{way[i-1].trunk, way[i].trunk}] = true
			}
		}
	}
	if finder, _, _ := parts(e); finder.Safe && !acyclic(turns) {
		return errors.New("the turns of all paths close a cycle, though the path finder is safe")
	}
	for _, scope := range scopes {
		l := congestion.Count(f, fw, scope)
		routes, pairs, total, most := loads(f, fw, scope)
		top := uint32(0)
		for c, n := range routes {
			if l.Routes[c] != n {
				return fmt.Errorf("trunk %d carries %d routes, counted %d", c, n, l.Routes[c])
			}
			top = max(top, n)
		}
		if l.Pairs != pairs || l.Hops != total || l.MaxHops != most || l.Max != top || (top > 0) != (l.Hottest != fabric.None) || top > 0 && routes[l.Hottest] != top {
			return fmt.Errorf("scope %s: loads are %+v; walked %d pairs, %d hops, at most %d, %d routes on a trunk", scope, l, pairs, total, most, top)
		}
	}
	return nil
}

// thorough makes every pair meet every ruin, which takes minutes:
// make conformance.
var thorough = os.Getenv("WEFT_THOROUGH") != ""

// among is how many whole networks it takes to meet every pair, stride how many ruins.
var among = testnet.Of(6, 12)

var stride = testnet.Of(12, 96)

// checkAll checks every engine on a fabric while it falls apart.
func checkAll(t *testing.T, f *fabric.Fabric, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for step := 0; ; step++ {
		n, tried := 0, newSubject(f)
		eachPair(func(e engines.Engine) {
			// The whole network meets every engine and a sixth of the other pairs, or of a sample a twelfth of
			// all, each of its ruins a few.
			n++
			if whole := isEngine(e) && testnet.Whole() || n%among == int(seed)%among; step > 0 && !thorough && n%stride != step%stride || step == 0 && !thorough && !whole {
				return
			}
			if err := tried.check(e, scopes[step%len(scopes)]); err != nil {
				t.Errorf("%s after %d failures, %d switches and %d trunks left: %v", e.Name, step, f.Switches(), f.Trunks(), err)
			}
		})
		if t.Failed() || f.Trunks() == 0 || testing.Short() && step == 3 {
			return
		}
		var err error
		if f, err = fail(f, rng); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEveryEngineOnEveryNetwork(t *testing.T) {
	t.Cleanup(func() {
		t.Logf("weft-proof was asked about %d of %d verdicts", besideAnswers.Load(), besideAsked.Load())
	})
	list := specs
	if testing.Short() {
		list = shortSpecs
	}
	for i, spec := range list {
		t.Run(spec, func(t *testing.T) {
			if slices.Contains(large, spec) {
				testnet.OnlyWhole(t)
			}
			t.Parallel()
			checkAll(t, testnet.Build(t, spec), uint64(i))
		})
	}
}

// Ports with several LIDs, and then a network that loses some of them.
func TestEveryEngineWithLMC(t *testing.T) {
	for lmc := range uint8(3) {
		f, err := testnet.Build(t, "torus:3x3,hosts=2").WithLMC(lmc)
		if err != nil {
			t.Fatal(err)
		}
		checkAll(t, f, uint64(lmc))
	}
}

func TestEveryEngineOnAnyNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := mustBuild(t, recipes(7).Draw(t, "network"))
		scope := rapid.SampledFrom(scopes).Draw(t, "scope")
		tried := newSubject(f)
		somePairs(t, func(e engines.Engine) {
			if err := tried.check(e, scope); err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
		})
		// The judge agrees under contracts and scopes that engines do not promise.
		e := rapid.SampledFrom(engines.All()).Draw(t, "engine")
		tables, err := tried.route(e, scope, e.Contract)
		if err != nil || tables.Lanes == nil {
			return
		}
		for _, scope := range scopes {
			for _, contract := range contracts {
				if _, _, err := tried.verify(tables, contract, scope); err != nil {
					t.Fatalf("%s: %v", e.Name, err)
				}
			}
		}
	})
}

// Real fabrics meet every engine, and each of the other pairs one of them, as do in a sample the engines;
// with WEFT_THOROUGH all.
func TestEveryEngineOnRealFabrics(t *testing.T) {
	for i, name := range dumps {
		t.Run(name, func(t *testing.T) {
			if slices.Contains(largeDumps, name) {
				testnet.OnlyWhole(t)
			}
			t.Parallel()
			tried := newSubject(testnet.Dump(t, name))
			n := i
			eachPair(func(e engines.Engine) {
				if n++; n%len(dumps) != 0 && !thorough && !(isEngine(e) && testnet.Whole()) {
					return
				}
				if err := tried.check(e, routing.Adapters); err != nil {
					t.Errorf("%s: %v", e.Name, err)
				}
			})
			t.Run("checker", func(t *testing.T) {
				if testing.Short() {
					t.Skip("the networks of the campaign are enough")
				}
				if i > len(largeDumps) {
					testnet.OnlyWhole(t) // checker.py takes no less for small ones
				}
				checkerAgrees(t, tried)
			})
		})
	}
}
