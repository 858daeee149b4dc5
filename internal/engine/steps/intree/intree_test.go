package intree_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/internal/testnet"
)

// network draws a small fabric, with some cables gone.
func network(t *rapid.T) *fabric.Fabric {
	f := testnet.Build(t, rapid.SampledFrom([]string{
		"ring:7", "torus:4x4", "mesh:3x4", "hypercube:3", "xgft:m=3x4,w=2x2,hosts=3", "random:switches=12,links=30,seed=2",
	}).Draw(t, "network"))
	var gone []fabric.ChannelID
	for range rapid.IntRange(0, 6).Draw(t, "cuts") {
		gone = append(gone, fabric.ChannelID(rapid.IntRange(0, f.Trunks()-1).Draw(t, "cut")))
	}
	f, err := f.Without(gone, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// someTurns is rules by which only some turns may be taken: those of escape paths and
// others drawn beforehand.
type someTurns struct {
	f        *fabric.Fabric
	t        *intree.Tree
	may      []bool // [turn]
	retracts int
}

func (r *someTurns) Settle(u fabric.NodeID, choices []fabric.ChannelID, hops int32) bool {
	for _, c := range choices {
		v := r.f.Heads()[c]
		if r.t.Hops[v] == hops && (hops == 0 || r.may[r.f.Turn(c, r.t.Out[v])]) {
			r.t.Put(u, c)
			return true
		}
	}
	return false
}

func (r *someTurns) Escape(u fabric.NodeID, c fabric.ChannelID) { r.t.Put(u, c) }
func (r *someTurns) Retract()                                   { r.retracts++ }

// Whatever turns are refused, every switch of the root's part gets a path of turns that
// may be taken, each behind the one it forwards to; where none is refused, a shortest
// one. Without escape paths only those are left over that can follow nobody.
func TestEverySwitchIsSettled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := network(t)
		loads := intree.NewLoads(f)
		tree := intree.New(f, loads)
		e := intree.NewEscapes(f)
		e.Span(intree.RootSets(f, make([]int64, f.Switches()), 1)[0], nil)
		share := rapid.IntRange(0, 10).Draw(t, "tenths of turns")
		rules := &someTurns{f: f, t: tree, may: make([]bool, f.Turns())}
		for i := range rules.may {
			rules.may[i] = rapid.IntRange(0, 9).Draw(t, "turn") < share
		}
		e.EachTurn(func(in, out fabric.ChannelID) { rules.may[f.Turn(in, out)] = true })
		var d dag.DAG
		for root := range fabric.NodeID(f.Switches()) {
			dag.Shortest(&d, f, root)
			rules.retracts = 0
			tree.Shortest(&d, rules)
			escaped := tree.Finish(&d, e, rules)
			if escaped != (rules.retracts > 0) || len(tree.Late) > 0 || len(tree.Order) != len(d.Order) || tree.Order[0] != root {
				t.Fatalf("to %d: escaped %v, begun anew %d times, %d late, %d of %d switches", root, escaped, rules.retracts, len(tree.Late), len(tree.Order), len(d.Order))
			}
			place := map[fabric.NodeID]int{}
			for i, u := range tree.Order {
				place[u] = i
				if i == 0 {
					continue
				}
				v := f.Heads()[tree.Out[u]]
				if at, ok := place[v]; !ok || at >= i || f.Channel(tree.Out[u]).From != u || tree.Hops[u] != tree.Hops[v]+1 {
					t.Fatalf("to %d: switch %d forwards to %d, which is not before it", root, u, v)
				}
				if v != root && !rules.may[f.Turn(tree.Out[u], tree.Out[v])] {
					t.Fatalf("to %d: switch %d takes a turn that it may not", root, u)
				}
				if share == 10 && tree.Hops[u] != d.Hops[u] {
					t.Fatalf("to %d: %d hops from %d, %d would do", root, tree.Hops[u], u, d.Hops[u])
				}
			}
			tree.Shortest(&d, rules)
			if tree.Finish(&d, nil, rules) || len(tree.Order)+len(tree.Late) != len(d.Order) {
				t.Fatalf("to %d without escape paths: %d settled and %d late of %d", root, len(tree.Order), len(tree.Late), len(d.Order))
			}
			for _, u := range tree.Late {
				first, end := f.TrunksFrom(u)
				for c := first; c < end; c++ {
					v := f.Heads()[c]
					if tree.Hops[v] == 0 || tree.Hops[v] > 0 && rules.may[f.Turn(c, tree.Out[v])] {
						t.Fatalf("to %d: %d is late, and could follow %d", root, u, v)
					}
				}
			}
		}
	})
}

// Escape paths reach every switch of a part within the trees, by the turns that are
// visited, and by no others if they are for some destinations only.
func TestEscapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := network(t)
		far, _ := dag.Far(f, nil)
		sets := intree.RootSets(f, far, 3)
		e := intree.NewEscapes(f)
		e.Span(sets[rapid.IntRange(0, len(sets)-1).Draw(t, "roots")], nil) // of an earlier use
		var dests []fabric.NodeID
		for s := range fabric.NodeID(f.Switches()) {
			if rapid.Bool().Draw(t, "destination") {
				dests = append(dests, s)
			}
		}
		if dests == nil {
			dests = []fabric.NodeID{0}
		}
		e.Span(sets[rapid.IntRange(0, len(sets)-1).Draw(t, "roots")], dests)
		visited := map[int]bool{}
		e.EachTurn(func(in, out fabric.ChannelID) { visited[f.Turn(in, out)] = true })
		used := map[int]bool{}
		for _, part := range f.Parts() {
			for _, to := range part {
				for _, from := range part {
					in := fabric.ChannelID(fabric.None)
					for at, hops := from, 0; at != to; hops++ {
						out := e.Out(at, to)
						if hops > f.Switches() || f.Channel(out).From != at {
							t.Fatalf("the escape path from %d to %d never arrives", from, to)
						}
						if in != fabric.None && slices.Contains(dests, to) {
							used[f.Turn(in, out)] = true
						}
						in, at = out, f.Heads()[out]
					}
				}
			}
		}
		for turn := range used {
			if !visited[turn] {
				t.Fatalf("turn %d is on an escape path and not visited", turn)
			}
		}
		if len(visited) != len(used) {
			t.Fatalf("%d turns visited, %d on escape paths", len(visited), len(used))
		}
	})
}

// Loads are what walking from every switch counts; charged with -1 they are gone.
func TestLoads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := network(t)
		loads := intree.NewLoads(f)
		tree := intree.New(f, loads)
		want := make([]uint64, f.Trunks())
		var d dag.DAG
		times := rapid.Uint64Range(1, 3).Draw(t, "times")
		for root := range fabric.NodeID(f.Switches()) {
			dag.Shortest(&d, f, root)
			tree.Shortest(&d, anyTurn{tree})
			for _, u := range tree.Order {
				if sum := sumFrom(f, tree, u, want); tree.Sum[u] != sum {
					t.Fatalf("a load of %d on the path from %d to %d, walked %d", tree.Sum[u], u, root, sum)
				}
			}
			for _, u := range tree.Order {
				for at := u; at != root; at = f.Heads()[tree.Out[at]] {
					want[tree.Out[at]] += times * uint64(len(f.Attached(u))-1)
				}
			}
			loads.Charge(tree.Order, tree.Out, times)
			if !slices.Equal(loads.On, want) || loads.Most() != slices.Max(append(want, 0)) {
				t.Fatalf("loads %v, walked %v", loads.On, want)
			}
			none := uint64(0)
			loads.Charge(tree.Order, tree.Out, none-1)
			loads.Charge(tree.Order, tree.Out, 1)
		}
	})
}

type anyTurn struct{ *intree.Tree }

func (r anyTurn) Settle(u fabric.NodeID, choices []fabric.ChannelID, _ int32) bool {
	r.Put(u, choices[len(choices)-1])
	return true
}
func (anyTurn) Escape(fabric.NodeID, fabric.ChannelID) { panic("no turn is refused") }
func (anyTurn) Retract()                               { panic("no turn is refused") }

func sumFrom(f *fabric.Fabric, tree *intree.Tree, u fabric.NodeID, load []uint64) (sum uint64) {
	for ; u != tree.Order[0]; u = f.Heads()[tree.Out[u]] {
		sum += load[tree.Out[u]]
	}
	return sum
}
