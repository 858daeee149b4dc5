package layer_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/layer"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// turn is a pair of trunks, one into a switch and one out of it.
type turn [2]fabric.ChannelID

// bundle is paths that share a layer.
type bundle struct {
	root, source fabric.NodeID
	lid          fabric.LID // the first to which it leads
	turns        []turn
	weight       int // paths between endpoints
}

// bundles is those of host adapters, in the order by destination: a path each or,
// under contract honored, all paths between two switches.
func bundles(f *fabric.Fabric, fw *routing.Forwarding, contract routing.Contract) []bundle {
	hosts := map[fabric.NodeID][]fabric.LID{}
	sends := map[fabric.NodeID]int{}
	for lid, e := range f.LIDs() {
		if ep := f.Endpoint(e); routing.HCA.Includes(ep.Class) {
			hosts[ep.Switch] = append(hosts[ep.Switch], lid)
			if lid == ep.LID {
				sends[ep.Switch]++
			}
		}
	}
	walk := func(s, root fabric.NodeID, lid fabric.LID) (turns []turn) {
		in := fabric.ChannelID(fabric.None)
		for at := s; at != root; {
			out := f.Out(at, fw.Port(at, lid))
			if in != fabric.None {
				turns = append(turns, turn{in, out})
			}
			in, at = out, f.Channel(out).To
		}
		return turns
	}
	var all []bundle
	for _, root := range slices.Sorted(maps.Keys(hosts)) {
		for _, lid := range hosts[root] {
			for _, s := range slices.Sorted(maps.Keys(hosts)) {
				if contract == routing.Directed {
					all = append(all, bundle{root, s, lid, walk(s, root, lid), sends[s]})
				}
			}
		}
		for _, s := range slices.Sorted(maps.Keys(hosts)) {
			if s >= root || contract == routing.Directed {
				continue
			}
			b := bundle{root: root, source: s, lid: hosts[root][0], weight: sends[s]*len(hosts[root]) + sends[root]*len(hosts[s])}
			for _, lid := range hosts[root] {
				b.turns = append(b.turns, walk(s, root, lid)...)
			}
			for _, lid := range hosts[s] {
				b.turns = append(b.turns, walk(root, s, lid)...)
			}
			all = append(all, b)
		}
	}
	return all
}

// layerOf is the service level that lanes give a bundle.
func layerOf(f *fabric.Fabric, l *routing.Lanes, b *bundle) int {
	for e := range f.Endpoints() {
		if ep := f.Endpoint(fabric.EndpointID(e)); ep.Switch == b.source && ep.Class == fabric.HostAdapter {
			return int(l.SL(fabric.EndpointID(e), b.lid))
		}
	}
	panic("a bundle from a switch without hosts")
}

// acyclic reports whether turns close no cycle, by taking away trunks that nothing
// follows until none is left.
func acyclic(turns map[turn]bool) bool {
	left := maps.Clone(turns)
	for {
		leads := map[fabric.ChannelID]bool{}
		for t := range left {
			leads[t[0]] = true
		}
		before := len(left)
		maps.DeleteFunc(left, func(t turn, _ bool) bool { return !leads[t[1]] })
		if len(left) == before {
			return before == 0
		}
	}
}

// with is turns with those of a bundle.
func with(turns map[turn]bool, b *bundle) map[turn]bool {
	more := maps.Clone(turns)
	if more == nil {
		more = map[turn]bool{}
	}
	for _, t := range b.turns {
		more[t] = true
	}
	return more
}

// greedy puts every bundle into the first layer that stays acyclic.
func greedy(all []bundle) (layerOf []int, layers int) {
	var held []map[turn]bool
	for i := range all {
		at := 0
		for at < len(held) && !acyclic(with(held[at], &all[i])) {
			at++
		}
		if at == len(held) {
			held = append(held, nil)
		}
		held[at] = with(held[at], &all[i])
		layerOf = append(layerOf, at)
	}
	return layerOf, len(held)
}

var twinSpecs = []string{"ring:5", "ring:6,hosts=2", "torus:3x3,hosts=2", "torus:4x4,hosts=1", "kautz:b=2,n=2,hosts=2", "random:switches=9,links=13,hosts=2,seed=1", "random:switches=10,links=20,hosts=1,seed=7", "hypercube:3"}

// First-fit is greedy: the first layer that stays acyclic, path by path. As printed that
// is all; else, with more than three layers, it takes them again in other orders.
func TestFirstFitIsGreedy(t *testing.T) {
	compared := 0
	for _, spec := range twinSpecs {
		f := testnet.Build(t, spec)
		fw := paths(t, f, sssp.Finder{})
		for _, contract := range []routing.Contract{routing.Directed, routing.Honored} {
			for _, order := range []layer.Order{layer.ByDestination, layer.BySource} {
				all := bundles(f, fw, contract)
				if order == layer.BySource {
					slices.SortStableFunc(all, func(a, b bundle) int { return int(a.source) - int(b.source) })
				}
				want, layers := greedy(all)
				printed, err := layer.FirstFit{Order: order, Unbalanced: true, AsPrinted: true}.Lanes(ctx, f, fw, routing.Budget{VLs: 15, Contract: contract}, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := range all {
					if got := layerOf(f, printed, &all[i]); got != want[i] || printed.Needed != layers {
						t.Fatalf("%s, %s, %s, as printed: from switch %d to LID %d in layer %d of %d, greedily %d of %d", spec, contract, order,
							all[i].source, all[i].lid, got, printed.Needed, want[i], layers)
					}
				}
				l, err := layer.FirstFit{Order: order, Unbalanced: true}.Lanes(ctx, f, fw, routing.Budget{VLs: 15, Contract: contract}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if l.Needed > layers || l.Needed < min(layers, 2) {
					t.Errorf("%s, %s, %s: %d layers, greedily %d", spec, contract, order, l.Needed, layers)
				}
				if layers > 3 {
					continue
				}
				compared++
				for i := range all {
					if got := layerOf(f, l, &all[i]); got != want[i] {
						t.Fatalf("%s, %s, %s: from switch %d to LID %d in layer %d, greedily %d", spec, contract, order, all[i].source, all[i].lid, got, want[i])
					}
				}
			}
		}
	}
	if compared < 16 {
		t.Errorf("only %d assignments were compared", compared)
	}
}

// Balancing goes on until no move of a bundle to a layer that takes it would lessen
// the imbalance; every layer stays acyclic.
func TestBalanceLeavesNoMove(t *testing.T) {
	for _, spec := range twinSpecs {
		f := testnet.Build(t, spec)
		fw := paths(t, f, sssp.Finder{})
		for _, contract := range []routing.Contract{routing.Directed, routing.Honored} {
			all := bundles(f, fw, contract)
			l, err := layer.FirstFit{}.Lanes(ctx, f, fw, routing.Budget{VLs: 15, Contract: contract}, nil)
			if err != nil {
				t.Fatal(err)
			}
			held, weight := content(f, l, all)
			for i := range all {
				from := layerOf(f, l, &all[i])
				for to := range held {
					if weight[from] > weight[to]+all[i].weight && acyclic(with(held[to], &all[i])) {
						t.Fatalf("%s, %s: the paths from switch %d to LID %d could go from layer %d to %d: %v", spec, contract, all[i].source, all[i].lid, from, to, weight)
					}
				}
			}
			for at, turns := range held {
				if !acyclic(turns) {
					t.Errorf("%s, %s: layer %d has a cycle", spec, contract, at)
				}
			}
		}
	}
}

// content is the turns in every layer, and the paths between endpoints.
func content(f *fabric.Fabric, l *routing.Lanes, all []bundle) (held []map[turn]bool, weight []int) {
	held, weight = make([]map[turn]bool, l.Needed), make([]int, l.Needed)
	for i := range all {
		at := layerOf(f, l, &all[i])
		held[at] = with(held[at], &all[i])
		weight[at] += all[i].weight
	}
	return held, weight
}

// What breaking cycles moved to the next layer does not fit into the one before: what
// still fits is put back.
func TestBrokenLayersAreFull(t *testing.T) {
	moved := 0
	for _, spec := range append(twinSpecs, "torus:5x5,hosts=1", "random:switches=24,links=48,hosts=1,seed=3") {
		f := testnet.Build(t, spec)
		fw := paths(t, f, sssp.Finder{})
		for _, contract := range []routing.Contract{routing.Directed, routing.Honored} {
			for _, h := range layer.Heuristics {
				all := bundles(f, fw, contract)
				l, err := layer.BreakCycles{Heuristic: h, Unbalanced: true}.Lanes(ctx, f, fw, routing.Budget{VLs: 15, Contract: contract}, nil)
				if err != nil {
					t.Fatal(err)
				}
				held, _ := content(f, l, all)
				for i := range all {
					if at := layerOf(f, l, &all[i]); at > 0 {
						if moved++; acyclic(with(held[at-1], &all[i])) {
							t.Fatalf("%s, %s, %s: the paths from switch %d to LID %d fit into layer %d, and are in the next", spec, contract, h, all[i].source, all[i].lid, at-1)
						}
					}
				}
			}
		}
	}
	if moved < 100 {
		t.Errorf("only %d were moved", moved)
	}
}

// As printed, nothing is put back: what was moved on stays there, though some of it fits
// into the layer before.
func TestPrintedPutsNothingBack(t *testing.T) {
	f := testnet.Build(t, "random:switches=24,links=48,hosts=1,seed=3")
	fw := paths(t, f, sssp.Finder{})
	for _, h := range layer.Heuristics {
		all := bundles(f, fw, routing.Directed)
		l := assign2(t, f, fw, layer.BreakCycles{Heuristic: h, AsPrinted: true, Unbalanced: true})
		held, _ := content(f, l, all)
		fits := 0
		for i := range all {
			if at := layerOf(f, l, &all[i]); at > 0 && acyclic(with(held[at-1], &all[i])) {
				fits++
			}
		}
		for at, turns := range held {
			if !acyclic(turns) {
				t.Errorf("%s: layer %d has a cycle", h, at)
			}
		}
		if fits == 0 {
			t.Errorf("%s: no path in a later layer fits into the one before", h)
		}
	}
}

// Breaking the strongest dependency can move all paths of a layer to the next, and so on
// for ever. That is found out and refused; the weakest always leaves some.
func TestPrintedStopsWhereNoLayerKeepsAPath(t *testing.T) {
	f := testnet.Build(t, "ring:6,hosts=2")
	fw := paths(t, f, sssp.Finder{})
	for h, ends := range map[layer.Heuristic]bool{layer.Weakest: true, layer.Strongest: false} {
		_, err := layer.BreakCycles{Heuristic: h, AsPrinted: true}.Lanes(ctx, f, fw, routing.Budget{VLs: 15, Contract: routing.Honored}, nil)
		var refused *routing.Refusal
		if (err == nil) != ends || !ends && !errors.As(err, &refused) {
			t.Errorf("%s: %v", h, err)
		}
	}
}

// On a ring of five whose switches have 3, 1, 5, 2 and 4 hosts, 15, 2, 20, 6 and 4
// pairs of hosts make the turns of either cycle. The weakest costs as many pairs their
// place, the strongest as many more; never the one that the search happens to begin at.
func TestWeakestIsWeakest(t *testing.T) {
	f := unevenRing(t, 3, 1, 5, 2, 4)
	fw := paths(t, f, sssp.Finder{})
	for h, want := range map[layer.Heuristic]int{layer.Weakest: 2 + 2, layer.Strongest: 20 + 20} {
		l := assign2(t, f, fw, layer.BreakCycles{Heuristic: h, AsPrinted: true, Unbalanced: true})
		_, weight := content(f, l, bundles(f, fw, routing.Directed))
		if len(weight) != 2 || weight[1] != want {
			t.Errorf("%s: layers of %v pairs, want %d in the second", h, weight, want)
		}
	}
}

// Where all turns of a cycle are made by as many pairs, none of them is the weakest or
// the strongest, and all heuristics break the first.
func TestHeuristicsAgreeOnTies(t *testing.T) {
	for n := 5; n <= 9; n += 2 {
		f := testnet.Build(t, fmt.Sprintf("ring:n=%d,hosts=2", n))
		fw := paths(t, f, sssp.Finder{})
		all := bundles(f, fw, routing.Directed)
		first := assign2(t, f, fw, layer.BreakCycles{Heuristic: layer.First, AsPrinted: true, Unbalanced: true})
		for _, h := range []layer.Heuristic{layer.Weakest, layer.Strongest} {
			l := assign2(t, f, fw, layer.BreakCycles{Heuristic: h, AsPrinted: true, Unbalanced: true})
			for i := range all {
				if got, want := layerOf(f, l, &all[i]), layerOf(f, first, &all[i]); got != want {
					t.Errorf("ring of %d, switch %d to LID %d: layer %d by the %s turn, %d by the first", n, all[i].source, all[i].lid, got, h, want)
				}
			}
		}
	}
}

func assign2(t *testing.T, f *fabric.Fabric, fw *routing.Forwarding, a routing.LaneAssigner) *routing.Lanes {
	t.Helper()
	l, err := a.Lanes(ctx, f, fw, routing.Budget{VLs: 15, Contract: routing.Directed}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// unevenRing is a ring with so many hosts on its switches.
func unevenRing(t *testing.T, hosts ...int) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	var sw []fabric.Ref
	for i, n := range hosts {
		sw = append(sw, b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: n + 2}, ""))
	}
	for i, n := range hosts {
		b.Cable(sw[i], uint8(n+1), sw[(i+1)%len(sw)], uint8(hosts[(i+1)%len(sw)]+2), fabric.Rate{})
		for h := range n {
			b.Cable(b.Node(fabric.Node{Kind: fabric.Adapter, Ports: 1, GUID: fabric.GUID(100*(i+1) + h)}, ""), 1, sw[i], uint8(h+1), fabric.Rate{})
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Taking the paths again in other orders saves layers.
func TestSqueezeSaves(t *testing.T) {
	f := testnet.Build(t, "torus:6x6,hosts=1")
	fw := paths(t, f, sssp.Finder{})
	plain := assign2(t, f, fw, layer.FirstFit{Order: layer.ByDestination, AsPrinted: true, Unbalanced: true}).Needed
	fit := assign2(t, f, fw, layer.FirstFit{Order: layer.ByDestination, Unbalanced: true}).Needed
	unsqueezed := assign2(t, f, fw, layer.BreakCycles{AsPrinted: true, Unbalanced: true}).Needed
	squeezed := assign2(t, f, fw, layer.BreakCycles{Unbalanced: true}).Needed
	t.Logf("first-fit %d layers, %d without; break-cycles %d, %d without", fit, plain, squeezed, unsqueezed)
	if fit >= plain || squeezed >= unsqueezed {
		t.Errorf("first-fit %d layers, %d without squeezing; break-cycles %d, %d without", fit, plain, squeezed, unsqueezed)
	}
}
