package orient

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/testnet"
)

// Shorter bars switches from going down so that paths are as short in sum as any choice
// makes them, found by trying all, but for a root in a hundred; they stay legal, reach as
// far as before, and are shorter than those of Legal in sum where they can be.
func TestShorterIsShortest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	roots, worse, gained := 0, 0, 0
	for range 60 {
		f := testnet.Build(t, []string{"mesh:3x3", "torus:3x3", "hypercube:3", "kautz:b=2,n=2", "random:switches=11,links=16,seed=1", "random:switches=10,links=20,seed=3"}[rng.IntN(6)])
		o := New(f, deep(f, rng))
		sends := make([]bool, f.Switches())
		for s := range sends {
			sends[s] = rng.IntN(4) > 0
		}
		for root := range fabric.NodeID(f.Switches()) {
			s := search{o: o, f: f, root: root, sends: sends}
			var legal, shorter, d dag.DAG
			o.Legal(&legal, f, root)
			o.Shorter(sends)(&shorter, f, root)
			checkLegal(t, f, o, &shorter)
			if len(shorter.Order) != len(legal.Order) || s.sum(&shorter) > s.sum(&legal) {
				t.Fatalf("%d switches in %d hops, before %d in %d", len(shorter.Order), s.sum(&shorter), len(legal.Order), s.sum(&legal))
			}
			least := s.sum(&legal)
			for set := range 1 << f.Switches() {
				barred := make([]bool, f.Switches())
				for u := range barred {
					barred[u] = set>>u&1 == 1
				}
				o.legal(&d, f, root, barred, nil)
				if len(d.Order) == len(legal.Order) {
					least = min(least, s.sum(&d))
				}
			}
			roots++
			if s.sum(&shorter) > least {
				worse++
			}
			if least < s.sum(&legal) {
				gained++
			}
		}
	}
	t.Logf("%d roots, %d with shorter paths, %d of them not the shortest", roots, gained, worse)
	if 100*worse > roots || gained < 30 {
		t.Errorf("%d of %d roots are not the shortest, %d can be shortened", worse, roots, gained)
	}
}

// deep is the order of a depth-first search that goes on at random.
func deep(f *fabric.Fabric, rng *rand.Rand) (order []fabric.NodeID) {
	found := make([]bool, f.Switches())
	var visit func(s fabric.NodeID)
	visit = func(s fabric.NodeID) {
		found[s] = true
		order = append(order, s)
		next := f.Neighbours(s)
		for _, i := range rng.Perm(len(next)) {
			if !found[next[i]] {
				visit(next[i])
			}
		}
	}
	visit(fabric.NodeID(rng.IntN(f.Switches())))
	return order
}

// checkLegal reports whether no path of a graph goes up after it went down, and every
// switch stands behind those it forwards to.
func checkLegal(t *testing.T, f *fabric.Fabric, o *Orientation, d *dag.DAG) {
	t.Helper()
	place := map[fabric.NodeID]int{}
	up := map[fabric.NodeID]bool{} // some path from there begins upwards
	for i, u := range d.Order {
		place[u] = i
		for _, c := range d.Choices(i) {
			v := f.Heads()[c]
			if at, ok := place[v]; !ok || at >= i || d.Hops[v] != d.Hops[u]-1 {
				t.Fatalf("switch %d goes on to %d, which is not nearer", u, v)
			}
			if up[u] = up[u] || o.Up[c]; !o.Up[c] && up[v] {
				t.Fatalf("from %d down to %d, and up again", u, v)
			}
		}
	}
}
