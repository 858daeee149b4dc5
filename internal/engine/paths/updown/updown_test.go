package updown_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

var ctx = context.Background()

type fataler interface{ Fatal(args ...any) }

// judged judges paths on one lane, between all, whatever clients do.
func judged(t fataler, f *fabric.Fabric, fw *routing.Forwarding) *deadlock.Verdict {
	tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
	v, err := deadlock.Verify(ctx, tables, deadlock.Options{Contract: routing.Any, Scope: routing.All})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// legal reports whether every path goes up first and then down, where up is towards
// a switch nearer to the roots, and at equal distance towards the lower GUID.
func legal(f *fabric.Fabric, fw *routing.Forwarding, roots []fabric.NodeID) bool {
	return legalFor(f, fw, roots, 0)
}

// legalFor says so of the paths to one address of every endpoint.
func legalFor(f *fabric.Fabric, fw *routing.Forwarding, roots []fabric.NodeID, address int) bool {
	rank := make([]int, f.Switches())
	for i := range rank {
		rank[i] = len(rank)
	}
	for _, r := range roots {
		rank[r] = 0
	}
	for range rank { // Bellman and Ford
		for c := range fabric.ChannelID(f.Trunks()) {
			ch := f.Channel(c)
			rank[ch.To] = min(rank[ch.To], rank[ch.From]+1)
		}
	}
	up := func(c *fabric.Channel) bool {
		if rank[c.To] != rank[c.From] {
			return rank[c.To] < rank[c.From]
		}
		return f.Node(c.To).GUID < f.Node(c.From).GUID
	}
	for lid, e := range f.LIDs() {
		if int(lid-f.Endpoint(e).LID) != address {
			continue
		}
		for s := range fabric.NodeID(f.Switches()) {
			wentDown := false
			for at := s; at != f.Endpoint(e).Switch; {
				c := f.Channel(f.Out(at, fw.Port(at, lid)))
				if up(c) && wentDown {
					return false
				}
				wentDown = wentDown || !up(c)
				at = c.To
			}
		}
	}
	return true
}

// With one root every path is legal, and every switch reaches every other.
func TestOneRoot(t *testing.T) {
	for _, spec := range []string{"ring:7", "torus:4x3", "hypercube:4", "karytree:k=3,n=2", "dragonfly:p=2", "random:switches=30,links=60,seed=3"} {
		f := testnet.Build(t, spec)
		for _, root := range []fabric.NodeID{0, 3, fabric.NodeID(f.Switches() - 1)} {
			fw, err := updown.Finder{Roots: []fabric.GUID{f.Node(root).GUID}}.Paths(ctx, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v := judged(t, f, fw); !v.Free() || !v.Complete() {
				t.Errorf("%s from root %d: free %v, complete %v", spec, root, v.Free(), v.Complete())
			}
			if !legal(f, fw, []fabric.NodeID{root}) {
				t.Errorf("%s from root %d: a path goes up after it went down", spec, root)
			}
			if want := "roots: " + f.Label(root); len(fw.Notes) != 1 || fw.Notes[0] != want {
				t.Errorf("notes are %q, want %q", fw.Notes, want)
			}
		}
	}
}

// Between the hosts of a fat tree no path is longer than up and down again, with
// the tops chosen as roots.
func TestChoosesTheTopsOfATree(t *testing.T) {
	f := testnet.Build(t, "karytree:k=3,n=3")
	fw, err := updown.Finder{}.Paths(ctx, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := judged(t, f, fw); !v.Free() || !v.Complete() {
		t.Errorf("free %v, complete %v", v.Free(), v.Complete())
	}
	if !strings.HasSuffix(strings.SplitAfter(fw.Notes[0], " more")[0], ", 6 more") {
		t.Errorf("note is %q, want nine roots", fw.Notes[0])
	}
}

// In a fat tree of any depth every trunk carries the same share of the routes between
// hosts that ftree gives it.
func TestBalancesTrees(t *testing.T) {
	for spec, most := range map[string]uint32{"karytree:k=4,n=2": 12, "karytree:k=3,n=3": 24, "xgft:m=4x8,w=4x4,hosts=4": 124, "xgft:m=6,w=3,hosts=6": 60} {
		f := testnet.Build(t, spec)
		fw, err := updown.Finder{}.Paths(ctx, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if l := congestion.Count(f, fw, routing.HCA); l.Max != most {
			t.Errorf("%s: the fullest trunk carries %d routes, not %d", spec, l.Max, most)
		}
	}
}

// Trees as they grow keep all their tops as roots, where some pairs of leaves have no
// switch above both, and where a turn that no host needs cannot be had.
func TestChoosesTheTopsOfGrownTrees(t *testing.T) {
	apart := 0
	for _, c := range testnet.First([]struct{ spec, roots string }{
		{"planes:ports=12,groups=3,planes=2,wide=3", ""}, {testnet.Wide, ", 123 more; "}, {testnet.Grown, ", 159 more; "},
	}, 2) {
		whole := testnet.Build(t, c.spec)
		for seed := range uint64(6) {
			rng := rand.New(rand.NewPCG(seed, 2))
			var gone []fabric.ChannelID
			for range seed {
				gone = append(gone, fabric.ChannelID(rng.IntN(whole.Trunks())))
			}
			f, err := whole.Without(gone, nil)
			if err != nil {
				t.Fatal(err)
			}
			fw, err := updown.Finder{}.Paths(ctx, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(fw.Notes[0], c.roots) || !strings.Contains(fw.Notes[0], " more; ") {
				t.Errorf("%s without %d cables: note is %q, want all tops as roots", c.spec, seed, fw.Notes[0])
			}
			tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
			for _, scope := range []routing.Scope{routing.HCA, routing.All} {
				v, err := deadlock.Verify(ctx, tables, deadlock.Options{Contract: routing.Any, Scope: scope})
				if err != nil || !v.Free() || v.Loops != 0 || !v.Complete() && !(fw.Apart && scope == routing.All) {
					t.Errorf("%s without %d cables, scope %s: %v, free %v, %d unreachable", c.spec, seed, scope, err, v.Free(), v.Unreachable)
				}
			}
			if fw.Apart {
				apart++
			}
			if c.roots != "" { // large enough to be seen once
				break
			}
		}
	}
	if apart == 0 {
		t.Error("no damage leaves addresses of switches apart: no test")
	}
}

// Any roots at all: all are joined and nothing can deadlock, or they are refused
// by name. Several roots, the same twice, roots in one part only.
func TestAnyRoots(t *testing.T) {
	routed, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		f := testnet.Build(t, rapid.SampledFrom([]string{
			"ring:6", "mesh:3x4", "torus:3x3", "hypercube:3", "karytree:k=2,n=3", "xgft:m=3x3,w=2x2,hosts=1", "dragonfly:p=1", "random:switches=10,links=14,seed=4",
		}).Draw(t, "network"))
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var gone []fabric.ChannelID
		for range rng.IntN(1 + f.Trunks()/4) {
			gone = append(gone, fabric.ChannelID(rng.IntN(f.Trunks())))
		}
		f, err := f.Without(gone, nil)
		if err != nil {
			t.Fatal(err)
		}
		var roots []fabric.GUID
		for range rapid.IntRange(1, 5).Draw(t, "roots") {
			roots = append(roots, f.Node(fabric.NodeID(rng.IntN(f.Switches()))).GUID)
		}
		fw, err := updown.Finder{Roots: roots}.Paths(ctx, f, nil)
		if err != nil {
			var r *routing.Refusal
			if !errors.As(err, &r) || r.Node == fabric.None || r.Rule == "" {
				t.Fatal(err)
			}
			refused++
			return
		}
		routed++
		v := judged(t, f, fw)
		part := make([]int, f.Switches())
		for i, p := range f.Parts() {
			for _, s := range p {
				part[s] = i
			}
		}
		cut := int64(0)
		for i, a := range f.Endpoints() {
			for j, z := range f.Endpoints() {
				if i != j && part[a.Switch] != part[z.Switch] {
					cut++
				}
			}
		}
		if !v.Free() || v.Unreachable < cut || v.Unreachable > cut && !fw.Apart || v.Loops != 0 {
			t.Fatalf("roots %v: free %v, %d pairs cut of %d, %d circles", roots, v.Free(), v.Unreachable, cut, v.Loops)
		}
	})
	t.Logf("%d routed, %d refused", routed, refused)
}

func TestBadRoots(t *testing.T) {
	f := testnet.Build(t, "ring:4")
	host := f.Node(fabric.NodeID(f.Switches()))
	for _, c := range []struct {
		root fabric.GUID
		want string
	}{
		{0xdead, "root 0x000000000000dead is no node of this fabric"},
		{host.GUID, "root " + host.Name + " is a channel adapter; roots are switches"},
	} {
		_, err := updown.Finder{Roots: []fabric.GUID{f.Node(0).GUID, c.root}}.Paths(ctx, f, nil)
		if err == nil || err.Error() != c.want {
			t.Errorf("error is %v, want %q", err, c.want)
		}
	}
}
