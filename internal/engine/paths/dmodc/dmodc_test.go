package dmodc_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/single"
	"github.com/weft-fabric/weft/internal/engine/paths/dmodc"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
)

func paths(t *testing.T, f *fabric.Fabric) *routing.Forwarding {
	t.Helper()
	fw, err := dmodc.Finder{}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fw
}

// damaged is a network with cables and switches missing.
func damaged(t *testing.T, spec string, d topology.Damage) *fabric.Fabric {
	t.Helper()
	f := testnet.Build(t, spec)
	loss, err := d.Draw(f)
	if err != nil {
		t.Fatal(err)
	}
	g, err := f.Without(loss.Links, append(loss.Switches, loss.Adapters...))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// shuffled is a network with other GUIDs, so that switches of a subtree are not numbered in
// a row, one or two cables where there was one, and cables on any ports.
func shuffled(t *testing.T, f *fabric.Fabric, seed uint64) *fabric.Fabric {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	const ports = 60
	var b fabric.Builder
	guids, nodes, free := r.Perm(len(f.Nodes())), make([]fabric.Ref, len(f.Nodes())), make([][]int, len(f.Nodes()))
	for i := range nodes {
		n := *f.Node(fabric.NodeID(i))
		n.GUID, n.Ports, free[i] = fabric.GUID(guids[i]+1), ports, r.Perm(ports)
		if n.Kind == fabric.Adapter {
			n.Ports, free[i] = 1, []int{0}
		}
		nodes[i] = b.Node(n, "")
	}
	port := func(n fabric.NodeID) uint8 {
		p := free[n][0]
		free[n] = free[n][1:]
		return uint8(p + 1)
	}
	for c := range f.Channels() {
		ch := f.Channel(fabric.ChannelID(c))
		if ch.Reverse < fabric.ChannelID(c) {
			continue
		}
		cables := 1
		if c < f.Trunks() {
			cables += r.IntN(2)
		}
		for range cables {
			b.Cable(nodes[ch.From], port(ch.From), nodes[ch.To], port(ch.To), fabric.Rate{})
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// twin is the formulas told simply, for trees with all hosts on the lowest of the given
// levels, [switch].
type twin struct {
	f     *fabric.Fabric
	level []int
}

func (w *twin) neighbours(s fabric.NodeID, up bool) (to []fabric.NodeID) {
	for _, v := range w.f.Neighbours(s) {
		if (w.level[v] > w.level[s]) == up && !slices.Contains(to, v) {
			to = append(to, v)
		}
	}
	slices.Sort(to)
	return to
}

const far = 1 << 20

// cost is the hops up, then down.
func (w *twin) cost(s, to fabric.NodeID, mayRise bool) int {
	best := far
	if s == to {
		return 0
	}
	for _, v := range w.neighbours(s, false) {
		best = min(best, 1+w.cost(v, to, false))
	}
	for _, v := range w.neighbours(s, true) {
		if mayRise {
			best = min(best, 1+w.cost(v, to, true))
		}
	}
	return best
}

func (w *twin) divider(s fabric.NodeID) int {
	most := 1
	for _, v := range w.neighbours(s, false) {
		most = max(most, w.divider(v)*len(w.neighbours(v, true)))
	}
	return most
}

// leaves is the leaves as their hosts are numbered.
func (w *twin) leaves() (order []fabric.NodeID) {
	taken := map[fabric.NodeID]bool{}
	for s, level := range w.level {
		first := fabric.NodeID(s)
		if level > 0 || taken[first] {
			continue
		}
		nearest := far
		for x, level := range w.level {
			if x := fabric.NodeID(x); level == 0 && !taken[x] && x != first {
				nearest = min(nearest, w.cost(first, x, true))
			}
		}
		for x, level := range w.level {
			if x := fabric.NodeID(x); level == 0 && !taken[x] && (x == first || nearest < far && w.cost(first, x, true) <= nearest) {
				taken[x] = true
				order = append(order, x)
			}
		}
	}
	return order
}

// port is where switch s sends packets for a host with number t on a leaf; false where there is
// no way up and down.
func (w *twin) port(s, leaf fabric.NodeID, t int) (uint8, bool) {
	own := w.cost(s, leaf, true)
	var closer []fabric.NodeID
	falls := w.cost(s, leaf, false) < far
	for _, v := range w.neighbours(s, !falls) {
		if w.cost(v, leaf, !falls) < own {
			closer = append(closer, v)
		}
	}
	if len(closer) == 0 {
		return 0, false
	}
	turn := t / w.divider(s)
	group := closer[turn%len(closer)]
	var ports []uint8
	for c, end := w.f.TrunksFrom(s); c < end; c++ {
		if ch := w.f.Channel(c); ch.To == group {
			ports = append(ports, ch.FromPort)
		}
	}
	return ports[turn/len(closer)%len(ports)], true
}

// Every entry for a host is the formula's, in whole trees and in damaged ones, of two and
// three levels, with parallel cables and without.
func TestTwin(t *testing.T) {
	for _, c := range []struct {
		spec   string
		damage topology.Damage // Links: 0: none
		seed   uint64          // of shuffled; 0: as it is
	}{
		{"xgft:m=6,w=3,hosts=4", topology.Damage{}, 0},
		{"xgft:m=3x4,w=2x2,hosts=3", topology.Damage{}, 0},
		{"xgft:m=4x4,w=3x2,hosts=3", topology.Damage{Links: 3, Seed: 1}, 0},
		{"xgft:m=4x4,w=3x2,hosts=3", topology.Damage{Links: 7, Seed: 4}, 0},
		{"xgft:m=3x2x3,w=2x2x2,hosts=2", topology.Damage{Links: 4, Seed: 2}, 0},
		{"xgft:m=3x4,w=2x2,hosts=9", topology.Damage{}, 1},
		{"xgft:m=3x4,w=3x2,hosts=9", topology.Damage{Links: 3, Seed: 2}, 2},
		{"xgft:m=4x3,w=3x3,hosts=7", topology.Damage{Links: 6, Seed: 3}, 3},
	} {
		f := testnet.Build(t, c.spec)
		if c.damage.Links > 0 {
			f = damaged(t, c.spec, c.damage)
		}
		if c.seed > 0 {
			f = shuffled(t, f, c.seed)
		}
		w := &twin{f: f, level: levelsOf(f)}
		fw := paths(t, f)
		next := 0
		for _, leaf := range w.leaves() {
			for _, id := range f.Attached(leaf) {
				e := f.Endpoint(id)
				if e.Class != fabric.HostAdapter {
					continue
				}
				for s := range fabric.NodeID(f.Switches()) {
					if want, ok := w.port(s, leaf, next); s != leaf && ok && fw.Port(s, e.LID) != want {
						t.Fatalf("%s %+v: host %d leaves switch %d by port %d, the formula says %d", c.spec, c.damage, next, s, fw.Port(s, e.LID), want)
					}
				}
				next++
			}
		}
	}
}

// levelsOf is the hops to the nearest switch with hosts.
func levelsOf(f *fabric.Fabric) []int {
	level := make([]int, f.Switches())
	for s, n := range routing.HCA.PerSwitch(f) {
		if level[s] = far; n > 0 {
			level[s] = 0
		}
	}
	for range level {
		for c := range fabric.ChannelID(f.Trunks()) {
			ch := f.Channel(c)
			level[ch.From] = min(level[ch.From], level[ch.To]+1)
		}
	}
	return level
}

// In a complete tree whose leaves are numbered in order the entries are those of d-mod-k:
// up from level l by port ⌊t/Π⌋ mod w.
func TestDModK(t *testing.T) {
	const w = 3
	f := testnet.Build(t, "xgft:m=3x3,w=3x3,hosts=3")
	fw, level, t0 := paths(t, f), levelsOf(f), 0
	for s := range fabric.NodeID(f.Switches()) {
		if level[s] > 0 {
			continue
		}
		for _, id := range f.Attached(s) {
			e := f.Endpoint(id)
			if e.Class != fabric.HostAdapter {
				continue
			}
			for from := range fabric.NodeID(f.Switches()) {
				var up []uint8
				for c, end := f.TrunksFrom(from); c < end; c++ {
					if ch := f.Channel(c); level[ch.To] > level[from] {
						up = append(up, ch.FromPort)
					}
				}
				turn := t0
				for range level[from] {
					turn /= w
				}
				if got := fw.Port(from, e.LID); from != s && slices.Contains(up, got) && got != up[turn%w] {
					t.Errorf("host %d goes up from switch %d by port %d, d-mod-k says %d", t0, from, got, up[turn%w])
				}
			}
			t0++
		}
	}
}

// Damaged trees stay connected and free of deadlock, on one lane and whatever clients do.
func TestProven(t *testing.T) {
	for _, spec := range []string{"xgft:m=4x6,w=4x3,hosts=4", "karytree:k=4,n=3", testnet.Small, testnet.SmallWide} {
		for seed := range uint64(8) {
			f := damaged(t, spec, topology.Damage{Switches: 1, Links: 5, Seed: seed})
			fw, err := dmodc.Finder{}.Paths(context.Background(), f, nil)
			if refusal := (*routing.Refusal)(nil); errors.As(err, &refusal) {
				continue // as ftree does
			}
			if err != nil {
				t.Fatal(err)
			}
			lanes, err := single.Assigner{}.Lanes(context.Background(), f, fw, routing.Budget{VLs: 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			v, err := deadlock.Verify(context.Background(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: lanes}, deadlock.Options{Contract: routing.Any})
			if err != nil {
				t.Fatal(err)
			}
			if !v.Free() || v.Unreachable != testnet.Apart(f, routing.HCA.Includes) {
				t.Errorf("%s, seed %d: free %v, %d pairs without a path", spec, seed, v.Free(), v.Unreachable)
			}
		}
	}
}

// Networks that are no trees are refused.
func TestRefuses(t *testing.T) {
	_, err := dmodc.Finder{}.Paths(context.Background(), testnet.Build(t, "torus:4x4"), nil)
	if refusal := (*routing.Refusal)(nil); !errors.As(err, &refusal) {
		t.Errorf("a torus: %v", err)
	}
}
