package layer

import (
	"context"
	"errors"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/acyclic"
	"github.com/weft-fabric/weft/routing/internal/forest"
)

// BreakCycles is the offline layering of DFSSSP.
//
// J. Domke, T. Hoefler, W. E. Nagel: Deadlock-Free Oblivious Routing for
// Arbitrary Topologies, IPDPS 2011, section IV and Algorithm 2, with its best
// heuristic: of each cycle the weakest edge is broken, the dependency induced by
// the fewest paths between endpoints.
//
// Guarantee: deadlock-free under contract honored for any paths that arrive, directed if
// that was asked for. Lanes needed: 3 to 5 on the paper's random networks, directed.
// Refuses with *routing.TooFewLanes, and paths that do not arrive with *routing.Refusal.
//
// Complexity: one depth-first search per layer, resumed where it stopped, O(T)
// over T turns; O(D) to find the destinations whose trees make a broken turn,
// and O(h) for each path moved. The paper keeps the list of paths of every
// dependency; here the paths are found again from the forwarding, which needs
// one byte for each switch and destination instead of a list entry for each
// path and hop.
//
// Deviations from the paper: breaking a dependency moves all its paths, and some
// of them would have fitted once the layer is free of cycles. They are put back,
// path by path as in first-fit, before the next layer is looked at; this saves
// lanes and leaves each layer as full as it can be. Then the layers are squeezed
// (see squeeze), and where they are too many even so, the paths are assigned
// anew by first-fit before the refusal: on tori, whose cycles are many and long,
// that takes fewer. AsPrinted does without all three.
type BreakCycles struct {
	Heuristic Heuristic // which dependency of a cycle to break

	// AsPrinted is Algorithm 2 and nothing else: paths that were moved stay in the
	// next layer, and the layers that come of it are what is needed. It refuses, with
	// *routing.Refusal, where Algorithm 2 would go on for ever; see empty.
	AsPrinted bool

	// Unbalanced leaves out the last step, the spreading of paths over spare lanes.
	Unbalanced bool
}

// Lanes implements routing.LaneAssigner.
func (o BreakCycles) Lanes(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	bc, err := newBreaker(ctx, newPathSet(f, fw, b))
	if err != nil {
		return nil, err
	}
	bc.heuristic = o.Heuristic
	var need int
	for layer := uint8(0); ; layer++ {
		moved, err := bc.clean(ctx, layer, p)
		if err != nil {
			return nil, err
		}
		switch {
		case !moved:
		case !o.AsPrinted:
			moved = bc.refill(layer)
		case bc.empty(layer):
			return nil, routing.Refuse(f, ruleKeeps, fabric.None, 0,
				"breaking the %s dependency of every cycle moves all paths of layer %d to the next, where the same would happen again", o.Heuristic, layer)
		}
		need = int(layer) + 1
		if !moved {
			break
		}
		if need == maxLayers {
			return nil, &routing.TooFewLanes{Need: need + 1, AtLeast: true, Have: b.VLs}
		}
		bc.count, bc.next = bc.next, bc.count
		clear(bc.next)
	}
	if !o.AsPrinted {
		if need, err = bc.fewer(ctx, need, b.VLs, p); err != nil {
			return nil, err
		}
	}
	if need > b.VLs {
		return nil, &routing.TooFewLanes{Need: need, Have: b.VLs}
	}
	if !o.Unbalanced {
		bc.spread(need, b.VLs)
	}
	lanes := bc.giveOut()
	lanes.Needed = need
	return lanes, nil
}

// fewer squeezes the layers, and where they are too many even so, assigns them anew.
func (bc *breaker) fewer(ctx context.Context, need, vls int, p routing.Progress) (int, error) {
	need, err := newFirstFit(bc.pathSet).squeeze(ctx, need, vls)
	if err != nil || need <= vls {
		return need, err
	}
	return bc.restart(ctx, need, vls, p)
}

// restart assigns the layers anew, bundle by bundle, after the cycles left too many.
func (bc *breaker) restart(ctx context.Context, need, vls int, p routing.Progress) (int, error) {
	fewer, err := newFirstFit(bc.pathSet).fill(ctx, FirstFit{}, vls, p)
	if few := (*routing.TooFewLanes)(nil); errors.As(err, &few) {
		few.Need = min(few.Need, need)
	}
	return fewer, err
}

// breaker is the state of the algorithm, one layer at a time.
type breaker struct {
	*pathSet
	heuristic Heuristic

	count []uint32 // [turn] paths between endpoints whose bundles have it in the layer at hand
	next  []uint32 // [turn] the same for the next layer

	lastPort []uint8 // [trunk] the port by which the switch that it leads to would send back over it

	trees        []tree   // how the destinations are reached
	inner        []uint64 // [tree × switches + switch] others forward to the switch, as bits; made with byTrunk
	byTrunk      []uint16 // index into trees, by trunk: see treesBy
	byTrunkFirst []int    // [trunk, plus one] into byTrunk

	// Depth-first search.
	colour []uint8            // [trunk]
	stack  []visit            // the path of the search
	post   []fabric.ChannelID // trunks in the order in which they were finished

	subtree []fabric.NodeID // scratch of behind
	turns   []acyclic.Turn  // scratch: the turns of the path at hand
}

// tree is one of the ways to a destination.
type tree struct {
	lid fabric.LID
	to  *destination
}

type visit struct {
	trunk fabric.ChannelID
	next  int32 // the turn to look at next, counted from the first
}

// Colours of the search: not seen, on the stack, finished.
const (
	white uint8 = iota
	grey
	black
)

func newBreaker(ctx context.Context, p *pathSet) (*breaker, error) {
	f := p.Fabric
	bc := &breaker{
		pathSet:  p,
		count:    make([]uint32, f.Turns()),
		next:     make([]uint32, f.Turns()),
		lastPort: make([]uint8, f.Trunks()),
		colour:   make([]uint8, f.Trunks()),
	}
	for c := range bc.lastPort {
		bc.lastPort[c] = f.Channel(fabric.ChannelID(c)).ToPort
	}
	for i := range p.dests {
		for _, lid := range p.dests[i].distinct {
			bc.trees = append(bc.trees, tree{lid, &p.dests[i]})
		}
	}
	if p.both {
		return bc, bc.countBundles(ctx)
	}
	return bc, bc.countPaths(ctx)
}

// countBundles counts the paths of every turn while all are in the first layer.
func (bc *breaker) countBundles(ctx context.Context) error {
	if err := bc.Check(ctx, nil); err != nil {
		return err
	}
	for d, s := range bc.all {
		w := bc.weight(d, s)
		bc.turns = bc.appendTurns(bc.turns[:0], d, s)
		for _, t := range bc.turns {
			bc.count[t.ID] += w
		}
	}
	return nil
}

// countPaths is countBundles where each path is one, tree by tree.
func (bc *breaker) countPaths(ctx context.Context) error {
	type sums struct {
		routes []uint32 // [switch] paths of the tree at hand that lead through it
		count  []uint32 // [turn]
	}
	workers := make([]sums, par.Workers(len(bc.Ends)))
	for w := range workers {
		workers[w] = sums{make([]uint32, bc.Fabric.Switches()), bc.count}
		if w > 0 {
			workers[w].count = make([]uint32, bc.Fabric.Turns())
		}
	}
	heads := bc.Fabric.Heads()
	err := bc.Each(ctx, nil, func(worker, _ int, t *forest.InTree) {
		routes, count := workers[worker].routes, workers[worker].count
		for t.Next() {
			for _, s := range t.Order {
				routes[s] = bc.sources[s]
			}
			for _, s := range slices.Backward(t.Order) {
				in := t.Out[s]
				if u := heads[in]; u != t.End.Switch {
					routes[u] += routes[s]
					count[bc.Fabric.Turn(in, t.Out[u])] += routes[s]
				}
			}
		}
	})
	for _, more := range workers[1:] {
		for turn, n := range more.count {
			bc.count[turn] += n
		}
	}
	return err
}

// clean searches the layer for cycles, and moves the bundles of the weakest turn
// of each to the next layer, until none is left. It says whether it moved any.
func (bc *breaker) clean(ctx context.Context, layer uint8, p routing.Progress) (moved bool, err error) {
	clear(bc.colour)
	bc.post = bc.post[:0]
	for c := range bc.colour {
		if c%256 == 0 {
			p.Report(c, len(bc.colour))
		}
		if bc.colour[c] != white {
			continue
		}
		bc.push(fabric.ChannelID(c))
		for len(bc.stack) > 0 {
			back, found := bc.search()
			if !found {
				continue
			}
			if err := ctx.Err(); err != nil {
				return false, err
			}
			in, out := bc.victim(back)
			bc.move(in, out, layer)
			bc.retreat()
			moved = true
		}
	}
	p.Report(len(bc.colour), len(bc.colour))
	return moved, nil
}

func (bc *breaker) push(c fabric.ChannelID) {
	bc.colour[c] = grey
	bc.stack = append(bc.stack, visit{trunk: c})
}

// search goes on with the depth-first search until the trunk on top is finished
// or a cycle closes; then back is where on the stack it closes.
func (bc *breaker) search() (back int, found bool) {
	heads := bc.Fabric.Heads()
	top := &bc.stack[len(bc.stack)-1]
	for {
		first, end := bc.Fabric.TrunksFrom(heads[top.trunk])
		turns := bc.count[bc.Fabric.FirstTurn(top.trunk):][:end-first]
		down := fabric.ChannelID(fabric.None)
		for ; int(top.next) < len(turns); top.next++ {
			if turns[top.next] == 0 {
				continue
			}
			c := first + fabric.ChannelID(top.next)
			if bc.colour[c] == grey {
				return bc.find(c), true
			}
			if bc.colour[c] == white {
				down = c
				break
			}
		}
		if down == fabric.None {
			break
		}
		bc.push(down)
		top = &bc.stack[len(bc.stack)-1]
	}
	bc.colour[top.trunk] = black
	bc.post = append(bc.post, top.trunk)
	bc.stack = bc.stack[:len(bc.stack)-1]
	return 0, false
}

func (bc *breaker) find(c fabric.ChannelID) int {
	i := len(bc.stack) - 1
	for bc.stack[i].trunk != c {
		i--
	}
	return i
}

// retreat takes back the search to before the first turn on its stack that is
// gone; what it had not finished is as if not seen.
func (bc *breaker) retreat() {
	for i := 1; i < len(bc.stack); i++ {
		if bc.count[bc.Fabric.Turn(bc.stack[i-1].trunk, bc.stack[i].trunk)] > 0 {
			continue
		}
		for _, v := range bc.stack[i:] {
			bc.colour[v.trunk] = white
		}
		bc.stack = bc.stack[:i]
		return
	}
}

// move takes all bundles over a turn from the layer to the next.
func (bc *breaker) move(in, out fabric.ChannelID, layer uint8) {
	bc.bundlesOver(in, out, layer, func(d *destination, s fabric.NodeID) {
		d.sl[s] = layer + 1
		w := bc.weight(d, s)
		bc.turns = bc.appendTurns(bc.turns[:0], d, s)
		for _, t := range bc.turns {
			bc.count[t.ID] -= w
			bc.next[t.ID] += w
		}
	})
}

// bundlesOver visits the bundles of a layer that make a turn: of every tree that
// has the turn, those with the paths from behind it. A visit takes the bundle out of
// the layer.
func (bc *breaker) bundlesOver(in, out fabric.ChannelID, layer uint8, visit func(*destination, fabric.NodeID)) {
	if bc.byTrunk == nil {
		bc.indexByTrunk()
	}
	u := bc.Fabric.Channel(in).From
	a, b := bc.treesBy(in), bc.treesBy(out)
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			i, t := int(a[0]), bc.trees[a[0]]
			a, b = a[1:], b[1:]
			for _, s := range bc.behind(u, i) {
				if bc.sources[s] == 0 {
					continue
				}
				if d, s := bc.bundle(t.to, s); d.sl[s] == layer {
					visit(d, s)
				}
			}
		}
	}
}

// treesBy is the trees that a trunk is part of, ascending.
func (bc *breaker) treesBy(c fabric.ChannelID) []uint16 {
	return bc.byTrunk[bc.byTrunkFirst[c]:bc.byTrunkFirst[c+1]]
}

// indexByTrunk lists the trees of every trunk.
func (bc *breaker) indexByTrunk() {
	first := make([]int, bc.Fabric.Trunks()+1)
	each := func(visit func(c fabric.ChannelID, tree int)) {
		for i, t := range bc.trees {
			for s, port := range bc.Forwarding.Row(t.lid) {
				if c := bc.Fabric.Out(fabric.NodeID(s), port); c != fabric.None && int(c) < bc.Fabric.Trunks() {
					visit(c, i)
				}
			}
		}
	}
	heads, switches := bc.Fabric.Heads(), bc.Fabric.Switches()
	bc.inner = make([]uint64, (len(bc.trees)*switches+63)/64)
	each(func(c fabric.ChannelID, tree int) {
		first[c+1]++
		i := tree*switches + int(heads[c])
		bc.inner[i/64] |= 1 << (i % 64)
	})
	for c := range bc.Fabric.Trunks() {
		first[c+1] += first[c]
	}
	bc.byTrunk = make([]uint16, first[bc.Fabric.Trunks()])
	next := slices.Clone(first)
	each(func(c fabric.ChannelID, tree int) {
		bc.byTrunk[next[c]] = uint16(tree) // there are fewer LIDs than that
		next[c]++
	})
	bc.byTrunkFirst = first
}

// behind is the switches whose path leads through switch u in a tree, u first. Most have
// none behind them, and are not asked for their neighbours.
func (bc *breaker) behind(u fabric.NodeID, tree int) []fabric.NodeID {
	heads, row := bc.Fabric.Heads(), bc.Forwarding.Row(bc.trees[tree].lid)
	bits := tree * bc.Fabric.Switches()
	bc.subtree = append(bc.subtree[:0], u)
	for i := 0; i < len(bc.subtree); i++ {
		v := bc.subtree[i]
		if bit := bits + int(v); bc.inner[bit/64]>>(bit%64)&1 == 0 {
			continue
		}
		for c, end := bc.Fabric.TrunksFrom(v); c < end; c++ {
			if row[heads[c]] == bc.lastPort[c] {
				bc.subtree = append(bc.subtree, heads[c])
			}
		}
	}
	return bc.subtree
}
