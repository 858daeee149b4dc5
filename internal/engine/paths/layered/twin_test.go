package layered_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// twin fills layers as the package comment says, without any cleverness: all ways are tried,
// all routes walked.
type twin struct {
	f           *fabric.Fabric
	sources     []uint32
	hops        [][]int32 // [from][to]; -1: no way
	far         int32
	first, long []int // [trunk] routes to first addresses, and to the others
	fw          *routing.Forwarding
	retried     int // layers in which detours of two hops left others too far
}

func newTwin(f *fabric.Fabric) *twin {
	w := &twin{f: f, sources: routing.Adapters.PerSwitch(f), first: make([]int, f.Trunks()), long: make([]int, f.Trunks()), fw: routing.NewForwarding(f)}
	for s := range fabric.NodeID(f.Switches()) {
		w.hops = append(w.hops, f.Hops(s))
	}
	for a, row := range w.hops {
		for z, h := range row {
			if w.sources[a] > 0 && w.sources[z] > 0 {
				w.far = max(w.far, h)
			}
		}
	}
	return w
}

func (w *twin) paths() *routing.Forwarding {
	for root := range fabric.NodeID(w.f.Switches()) {
		for _, id := range w.f.Attached(root) {
			e := w.f.Endpoint(id)
			longer := make([]int, w.f.Switches())
			for lid := range e.LIDs() {
				w.fw.Row(lid)[root] = w.f.LastPort(e)
				tree := map[fabric.NodeID]fabric.ChannelID{}
				counts := e.Class != fabric.SwitchPort
				if lid == e.LID {
					w.rest(root, tree, true, counts)
				} else {
					long, had := slices.Clone(w.long), slices.Clone(longer)
					w.detours(root, tree, longer, counts, 2)
					w.rest(root, tree, false, counts)
					if w.tooFar(root, tree) {
						w.retried++
						w.long, longer = long, had
						clear(tree)
						w.detours(root, tree, longer, counts, 1)
						w.rest(root, tree, false, counts)
					}
				}
				for s, c := range tree {
					w.fw.Row(lid)[s] = w.f.Channel(c).FromPort
				}
			}
		}
	}
	return w.fw
}

// tooFar reports whether a switch that sends has a path of more hops than the diameter and one.
func (w *twin) tooFar(root fabric.NodeID, tree map[fabric.NodeID]fabric.ChannelID) bool {
	for s := range tree {
		if w.sources[s] > 0 && len(w.walk(root, s, tree)) > int(w.far)+1 {
			return true
		}
	}
	return false
}

func (w *twin) weight(c fabric.ChannelID) int { return w.first[c] + w.long[c] }

// walk is the trunks from a switch along a tree.
func (w *twin) walk(root, s fabric.NodeID, tree map[fabric.NodeID]fabric.ChannelID) (way []fabric.ChannelID) {
	for ; s != root; s = w.f.Channel(way[len(way)-1]).To {
		way = append(way, tree[s])
	}
	return way
}

func (w *twin) detours(root fabric.NodeID, tree map[fabric.NodeID]fabric.ChannelID, longer []int, counts bool, most int32) {
	n := w.f.Switches()
	before := slices.Clone(longer)
	for level := range 128 {
		for i := 1; i < n; i++ {
			s := fabric.NodeID((int(root) + i) % n)
			if _, has := tree[s]; has || before[s] != level || w.sources[s] == 0 || w.hops[s][root] < 0 {
				continue
			}
			way := w.lightest(root, s, tree, most)
			for i, c := range way {
				u := w.f.Channel(c).From
				if _, has := tree[u]; has {
					break
				}
				if len(way)-i > int(w.hops[u][root]) {
					longer[u]++
				}
				tree[u] = c
				for _, c := range way[i:] {
					if counts {
						w.long[c] += int(w.sources[u])
					}
				}
			}
		}
	}
}

// lightest is the lightest of all simple ways of the right length that agree with a tree.
func (w *twin) lightest(root, s fabric.NodeID, tree map[fabric.NodeID]fabric.ChannelID, most int32) (best []fabric.ChannelID) {
	least := w.hops[s][root]
	total := func(way []fabric.ChannelID) (sum int) {
		for _, c := range way {
			sum += w.weight(c)
		}
		return sum
	}
	var try func(at fabric.NodeID, way []fabric.ChannelID, been []fabric.NodeID)
	try = func(at fabric.NodeID, way []fabric.ChannelID, been []fabric.NodeID) {
		if at == root {
			hops := int32(len(way))
			if hops > least && hops <= min(least+most, w.far+1) && (best == nil || total(way) < total(best) || total(way) == total(best) && len(way) < len(best)) {
				best = slices.Clone(way)
			}
			return
		}
		if int32(len(way)) > w.far {
			return
		}
		var ways []fabric.ChannelID
		for c, end := w.f.TrunksFrom(at); c < end; c++ {
			if fixed, has := tree[at]; !has || c == fixed {
				ways = append(ways, c)
			}
		}
		slices.SortStableFunc(ways, func(a, b fabric.ChannelID) int {
			return int(w.hops[w.f.Channel(a).To][root]) - int(w.hops[w.f.Channel(b).To][root])
		})
		for _, c := range ways {
			if to := w.f.Channel(c).To; !slices.Contains(been, to) {
				try(to, append(way, c), append(been, to))
			}
		}
	}
	try(s, nil, []fabric.NodeID{s})
	return best
}

// rest gives all others the shortest way into the tree, of several the lightest.
func (w *twin) rest(root fabric.NodeID, tree map[fabric.NodeID]fabric.ChannelID, first, counts bool) {
	on := w.weight
	if first {
		on = func(c fabric.ChannelID) int { return w.first[c] }
	}
	var filled []fabric.NodeID
	fixed := func(s fabric.NodeID) bool { _, has := tree[s]; return has && !slices.Contains(filled, s) }
	weigh := func(s fabric.NodeID) (sum int) {
		for _, c := range w.walk(root, s, tree) {
			sum += on(c)
		}
		return sum
	}
	for level := 1; level < 2*w.f.Switches(); level++ {
		chosen := map[fabric.NodeID]fabric.ChannelID{}
		for s := range fabric.NodeID(w.f.Switches()) {
			if _, has := tree[s]; has || s == root {
				continue
			}
			begin, end := w.f.TrunksFrom(s)
			least := -1
			for i := range end - begin {
				var ways []fabric.ChannelID
				for c := begin; c < end; c++ {
					to := w.f.Channel(c).To
					if _, has := tree[to]; (has || to == root) && len(w.walk(root, to, tree)) == level-1 && (fixed(to) || to == root || slices.Contains(filled, to)) {
						ways = append(ways, c)
					}
				}
				if int(i) >= len(ways) {
					break
				}
				c := ways[i]
				if first {
					c = ways[(int(i)+int(root))%len(ways)]
				}
				if sum := weigh(w.f.Channel(c).To) + on(c); least < 0 || sum < least {
					least, chosen[s] = sum, c
				}
			}
		}
		for s := range fabric.NodeID(w.f.Switches()) {
			if c, has := chosen[s]; has {
				tree[s] = c
				filled = append(filled, s)
			}
		}
	}
	for _, s := range filled {
		for _, c := range w.walk(root, s, tree) {
			switch {
			case !counts:
			case first:
				w.first[c] += int(w.sources[s])
			default:
				w.long[c] += int(w.sources[s])
			}
		}
	}
}

// The paths are the twin's, entry by entry, also where cables are missing.
func TestTwin(t *testing.T) {
	retried := 0
	for _, spec := range []string{"slimfly:q=3,hosts=2", "polarfly:q=3,hosts=2", "hyperx:3x3,hosts=2", "jellyfish:switches=14,degree=4,hosts=2,seed=1", "random:switches=12,links=20,hosts=2,seed=1"} {
		f := network(t, spec, 2)
		rng := rand.New(rand.NewPCG(1, 1))
		for range 3 {
			w := newTwin(f)
			want, got := w.paths(), paths(t, f)
			retried += w.retried
			for lid := range f.LIDs() {
				for s := range fabric.NodeID(f.Switches()) {
					if got.Port(s, lid) != want.Port(s, lid) {
						t.Fatalf("%s: LID %d leaves switch %d by port %d, the twin says %d", spec, lid, s, got.Port(s, lid), want.Port(s, lid))
					}
				}
			}
			var err error
			if f, err = f.Without([]fabric.ChannelID{fabric.ChannelID(rng.IntN(f.Trunks()))}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if retried == 0 {
		t.Error("no network has a layer with paths that are too long at first")
	}
}
