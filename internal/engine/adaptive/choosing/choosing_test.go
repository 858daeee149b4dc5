// Tests of every adaptive engine on every kind of network,
// healthy and damaged.
package choosing_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/adaptive/judge"
	"github.com/weft-fabric/weft/internal/engine/adaptive/alash"
	"github.com/weft-fabric/weft/internal/engine/adaptive/escape"
	"github.com/weft-fabric/weft/internal/engine/adaptive/updown"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// promise is what a router says of its tables.
type promise struct {
	router   adaptive.Engine
	minimal  bool // no path is longer than the shortest
	wormhole bool // free of deadlock under wormhole switching too
	legal    bool // all lanes hold every shortest legal way, rather than every shortest
	every    bool // no shortest way is left out
}

var promises = map[string]promise{
	"a-lash":               {router: alash.Engine{}, minimal: true, every: true},
	"a-lash one layer":     {router: alash.Engine{OneLayer: true}, minimal: true, every: true, wormhole: true},
	"a-lash stay":          {router: alash.Engine{Stay: true}, minimal: true, every: true, wormhole: true},
	"a-lash partial":       {router: alash.Engine{Partial: true}, minimal: true},
	"adaptive Up*/Down*":   {router: updown.Engine{}, wormhole: true, legal: true},
	"Up*/Down* for escape": {router: escape.Engine{}, wormhole: true, every: true},
}

var specs = []string{
	"ring:3", "ring:4", "ring:9", "torus:4x4", "torus:5x3", "torus:3x3x3", "mesh:4x4", "hypercube:4",
	"xgft:m=3x3,w=1x2", "random:switches=16,links=32,seed=3", "random:switches=9,links=8", "random:switches=6,links=15",
	"random:switches=5,links=20,seed=1", "random:switches=24,links=30,hosts=2",
}

// check routes a network and says what is wrong with the routing, if it is not
// refused for want of lanes.
func check(f *fabric.Fabric, p promise, b routing.Budget) error {
	a, err := p.router.RouteAdaptive(context.Background(), f, b, nil)
	if few := (*routing.TooFewLanes)(nil); errors.As(err, &few) && few.Need > b.VLs && few.Have == b.VLs {
		return nil
	}
	if err != nil {
		return err
	}
	if a.Needed > b.VLs || len(a.Lanes) != b.VLs {
		return fmt.Errorf("%d lanes, %d needed, of %d", len(a.Lanes), a.Needed, b.VLs)
	}
	for s := range judge.Wormhole + 1 {
		v, err := judge.Verify(context.Background(), a, judge.Options{Scope: b.Scope, Switching: s})
		if err != nil {
			return err
		}
		switch {
		case !v.Free() && (s == judge.CutThrough || p.wormhole):
			return fmt.Errorf("not free of deadlock under %s switching: cycle %+v, %d stranded", s, v.Cycle, v.Stranded)
		case v.MayNotArrive > 0 || v.Unreachable != apart(f, b.Scope):
			return fmt.Errorf("%d of %d pairs unreachable, %d flows astray: %+v", v.Unreachable, v.Pairs, v.MayNotArrive, v.Lost)
		case p.minimal && !v.Minimal:
			return fmt.Errorf("not minimal")
		}
	}
	if p.every {
		if err := holdsEveryShortest(a, b.Scope); err != nil {
			return err
		}
	}
	if p.legal {
		return holdsEveryLegal(a)
	}
	return nil
}

func ends(f *fabric.Fabric, scope routing.Scope) map[fabric.NodeID]bool {
	ends := map[fabric.NodeID]bool{}
	for _, e := range f.Endpoints() {
		if e.Switch != fabric.None && scope.Includes(e.Class) {
			ends[e.Switch] = true
		}
	}
	return ends
}

// apart counts the pairs that no cables join.
func apart(f *fabric.Fabric, scope routing.Scope) int64 {
	ends, pairs := ends(f, scope), int64(0)
	for _, part := range f.Parts() {
		here := 0
		for _, s := range part {
			if ends[s] {
				here++
			}
		}
		pairs += int64(here * (len(ends) - here))
	}
	return pairs
}

const far = 1 << 20

// hops is the hops of every switch to d, by relaxing until nothing changes.
func hops(f *fabric.Fabric, d fabric.NodeID) []int {
	h := make([]int, f.Switches())
	for s := range h {
		h[s] = far
	}
	h[d] = 0
	for changed := true; changed; {
		changed = false
		for _, c := range f.Channels()[:f.Trunks()] {
			if h[c.To]+1 < h[c.From] {
				h[c.From], changed = h[c.To]+1, true
			}
		}
	}
	return h
}

// holdsEveryShortest reports whether every trunk that begins a shortest path is open
// to the flows of its source, and to all packets on their way.
func holdsEveryShortest(a *adaptive.Tables, scope routing.Scope) error {
	f := a.Fabric
	ends := ends(f, scope)
	for d := range ends {
		h := hops(f, d)
		first, end := a.AddressesOf(d)
		for c, ch := range f.Channels()[:f.Trunks()] {
			nearer := h[ch.To] < h[ch.From]
			atSource := false
			for x := first; x < end; x++ {
				atSource = atSource || a.Allowed(ch.From, x) != 0 && a.Ways(x, fabric.None, 0, 0).Has(fabric.ChannelID(c))
				if nearer != a.Ways(x, f.Reverses()[c], 0, 0).Has(fabric.ChannelID(c)) {
					return fmt.Errorf("trunk %d to switch %d, on the way: %v", c, d, !nearer)
				}
			}
			if ends[ch.From] && atSource != nearer {
				return fmt.Errorf("trunk %d to switch %d, from its source: %v", c, d, !nearer)
			}
		}
	}
	return nil
}

// holdsEveryLegal reports whether the sets hold exactly the trunks that begin a
// shortest way on which nothing goes up after it went down.
func holdsEveryLegal(a *adaptive.Tables) error {
	f, choices := a.Fabric, a.Lanes[0].Choices
	for x := range adaptive.Address(a.Addresses()) {
		// [phase][switch]
		h := [2][]int{make([]int, f.Switches()), make([]int, f.Switches())}
		for s := range h[0] {
			h[0][s], h[1][s] = far, far
		}
		d := a.Destination(x)
		h[0][d], h[1][d] = 0, 0
		after := func(c int, phase uint8) (int, bool) { // hops by a trunk
			down := choices.Phase(fabric.ChannelID(c))
			return h[down][f.Channel(fabric.ChannelID(c)).To] + 1, phase == 0 || down == 1
		}
		for changed := true; changed; {
			changed = false
			for c, ch := range f.Channels()[:f.Trunks()] {
				for phase := range uint8(2) {
					if n, legal := after(c, phase); legal && n < h[phase][ch.From] {
						h[phase][ch.From], changed = n, true
					}
				}
			}
		}
		for c, ch := range f.Channels()[:f.Trunks()] {
			for phase := range uint8(2) {
				n, legal := after(c, phase)
				want := legal && n == h[phase][ch.From] && n < far
				if got := choices.Set(x, phase).Has(fabric.ChannelID(c)); got != want {
					return fmt.Errorf("trunk %d to switch %d in phase %d: %v, want %v", c, d, phase, got, want)
				}
			}
		}
	}
	return nil
}

func TestNetworks(t *testing.T) {
	for _, spec := range specs {
		f := testnet.Build(t, spec)
		for name, p := range promises {
			for _, vls := range testnet.First([]int{1, 4, 2, 15}, 2) {
				for _, scope := range []routing.Scope{routing.HCA, routing.All} {
					if err := check(f, p, routing.Budget{VLs: vls, Scope: scope}); err != nil {
						t.Errorf("%s on %s, %d lanes, scope %s: %v", name, spec, vls, scope, err)
					}
				}
			}
		}
	}
}

// A network without switches, and one without cables, are routed: there is nothing
// to do.
func TestNothingToRoute(t *testing.T) {
	for n := range 3 {
		var b fabric.Builder
		for i := range n {
			sw := b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 1}, "")
			b.Cable(sw, 1, b.Node(fabric.Node{GUID: fabric.GUID(100 + i), Kind: fabric.Adapter, Ports: 1}, ""), 1, fabric.Rate{})
		}
		f, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range promises {
			if err := check(f, p, routing.Budget{VLs: 2}); err != nil {
				t.Errorf("%s on %d switches: %v", name, n, err)
			}
		}
	}
}

// Networks lose cables and switches until they fall apart.
func TestDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.SampledFrom(specs).Draw(t, "network")
		whole := testnet.Build(t, spec)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "damage"), 1))
		var channels []fabric.ChannelID
		var nodes []fabric.NodeID
		for range rng.IntN(1 + whole.Trunks()/3) {
			channels = append(channels, fabric.ChannelID(rng.IntN(whole.Trunks())))
		}
		for range rng.IntN(3) {
			nodes = append(nodes, fabric.NodeID(rng.IntN(whole.Switches())))
		}
		f, err := whole.Without(channels, nodes)
		if err != nil {
			t.Fatal(err)
		}
		b := routing.Budget{VLs: rapid.IntRange(1, 8).Draw(t, "lanes"), Scope: rapid.SampledFrom([]routing.Scope{routing.HCA, routing.Adapters, routing.All}).Draw(t, "scope")}
		for name, p := range promises {
			if err := check(f, p, b); err != nil {
				t.Fatalf("%s on %s: %v", name, spec, err)
			}
		}
	})
}

func TestSameEveryTime(t *testing.T) {
	f := testnet.Build(t, "random:switches=16,links=32,seed=3")
	for name, p := range promises {
		var got [2]string
		for i := range got {
			a, err := p.router.RouteAdaptive(context.Background(), f, routing.Budget{VLs: 6}, nil)
			if err != nil {
				t.Fatal(err)
			}
			v, err := judge.Verify(context.Background(), a, judge.Options{})
			if err != nil {
				t.Fatal(err)
			}
			allowed := ""
			for x := range adaptive.Address(a.Addresses()) {
				allowed += fmt.Sprintln(a.AllowedRow(x), a.Ways(x, fabric.None, 0, 0), a.Ways(x, 0, 0, 0))
			}
			got[i] = fmt.Sprint(a.Notes, v.Certificate, allowed)
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// What makes no sense is refused.
func TestRefusals(t *testing.T) {
	f := testnet.Build(t, "ring:5")
	host := f.Node(fabric.NodeID(f.Switches())).GUID
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, p := range promises {
		for _, vls := range []int{-1, 16} { // zero is the default
			if _, err := p.router.RouteAdaptive(context.Background(), f, routing.Budget{VLs: vls}, nil); err == nil {
				t.Errorf("%s takes %d lanes", name, vls)
			}
		}
		if _, err := p.router.RouteAdaptive(ctx, f, routing.Budget{VLs: 4}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", name, err)
		}
	}
	for _, root := range []fabric.GUID{host, 0xdead} {
		for _, r := range []adaptive.Engine{updown.Engine{Root: root}, escape.Engine{Root: root}} {
			if _, err := r.RouteAdaptive(context.Background(), f, routing.Budget{VLs: 2}, nil); err == nil {
				t.Errorf("%T takes %s for a root", r, root)
			}
		}
	}
	for spec, want := range map[string]adaptive.Engine{"ring:5": alash.Engine{}, "ring:3": escape.Engine{}} {
		_, err := want.RouteAdaptive(context.Background(), testnet.Build(t, spec), routing.Budget{VLs: 1}, nil)
		if few := (*routing.TooFewLanes)(nil); !errors.As(err, &few) || few.Need != 2 || few.Have != 1 {
			t.Errorf("%T on %s with one lane: %v", want, spec, err)
		}
	}
}

// A root that is given is the root: every way up ends there.
func TestGivenRoot(t *testing.T) {
	f := testnet.Build(t, "torus:4x4")
	for s := range fabric.NodeID(f.Switches()) {
		a, err := updown.Engine{Root: f.Node(s).GUID}.RouteAdaptive(context.Background(), f, routing.Budget{VLs: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for u := range fabric.NodeID(f.Switches()) {
			first, end := f.TrunksFrom(u)
			ups := 0
			for c := first; c < end; c++ {
				if a.Lanes[0].Choices.Phase(c) == 0 {
					ups++
				}
			}
			if (ups == 0) != (u == s) {
				t.Errorf("root %d: %d trunks lead up from switch %d", s, ups, u)
			}
		}
	}
}

func TestDumps(t *testing.T) {
	dumps, _ := filepath.Glob(filepath.Join(testnet.Corpus(t), "fabrics", "*.ibnetdiscover"))
	if len(dumps) == 0 {
		t.Skip("no dumps of real fabrics under WEFT_CORPUS")
	}
	for _, name := range dumps {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := ibnet.Read(file, filepath.Base(name))
		file.Close()
		if err != nil {
			continue // for its reader to test
		}
		for router, p := range promises {
			if err := check(f, p, routing.Budget{VLs: 8}); err != nil {
				t.Errorf("%s on %s: %v", router, filepath.Base(name), err)
			}
		}
	}
}
