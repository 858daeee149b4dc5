package layer

import (
	"context"
	"errors"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/forest"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
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
// over T turns; O(D/512) and O(1) for every eight destinations whose trees share a trunk
// of a broken turn to find those whose trees make it, and O(h) for each path moved. The
// paper keeps the list of paths of every dependency; here the paths are found again from
// the forwarding, which needs a second copy of it, one byte and a quarter for each switch
// and destination, instead of a list entry for each path and hop.
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
		if moved && o.AsPrinted && bc.empty(layer) {
			return nil, routing.Refuse(f, ruleKeeps, fabric.None, 0,
				"breaking the %s dependency of every cycle moves all paths of layer %d to the next, where the same would happen again", o.Heuristic, layer)
		}
		moved = moved && bc.next(layer, !o.AsPrinted)
		need = int(layer) + 1
		if !moved {
			break
		}
		if need == maxLayers {
			return nil, &routing.TooFewLanes{Need: need + 1, AtLeast: true, Have: b.VLs}
		}
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

// fewer squeezes the layers, and where they are more than vls even so, assigns them anew. It returns
// how many there are then.
func (bc *breaker) fewer(ctx context.Context, need, vls int, p routing.Progress) (int, error) {
	need, err := newFirstFit(bc.pathSet).squeeze(ctx, need, vls)
	if err != nil || need <= vls {
		return need, err
	}
	return bc.restart(ctx, need, vls, p)
}

// restart assigns all layers anew by first-fit, after breaking cycles needed too many, and returns how
// many there are. If it refuses, it tells the smaller need.
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

	trees    []tree  // how the destinations are reached
	lastPort []uint8 // [trunk] the port by which the switch that it leads to would send back over it
	*columns         // made when it is needed

	// Depth-first search.
	colour []uint8            // [trunk]
	stack  []visit            // the path of the search
	post   []fabric.ChannelID // trunks in the order in which they were finished, for next

	behind []branch       // scratch: what is behind the turn at hand
	turns  []acyclic.Turn // scratch: the turns of the path at hand
}

// tree is one of the ways to a destination.
type tree struct {
	lid fabric.LID
	to  *destination
}

// visit is a trunk on the stack of the search.
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

// newBreaker is a breaker with all paths in layer 0.
func newBreaker(ctx context.Context, p *pathSet) (*breaker, error) {
	f := p.Fabric
	bc := &breaker{
		pathSet:  p,
		count:    make([]uint32, f.Turns()),
		lastPort: make([]uint8, f.Trunks()),
		colour:   make([]uint8, f.Trunks()),
	}
	for c := range bc.lastPort {
		bc.lastPort[c] = f.Channel(fabric.ChannelID(c)).ToPort
	}
	for i := range p.dests {
		for _, lid := range p.dests[i].distinct {
			bc.trees = append(bc.trees, tree{lid: lid, to: &p.dests[i]})
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
		bc.turns = bc.appendTurns(bc.turns[:0], d, s)
		bc.add(bc.turns, bc.weight(d, s))
	}
	return nil
}

// add counts paths that make some turns.
func (bc *breaker) add(turns []acyclic.Turn, paths uint32) {
	for _, t := range turns {
		bc.count[t.ID] += paths
	}
}

// countPaths is countBundles where each path is one, tree by tree.
func (bc *breaker) countPaths(ctx context.Context) error {
	type sums struct {
		routes []uint32 // [switch] paths of the tree at hand that lead through it
		count  []uint32 // [turn]
	}
	workers := make([]sums, par.Workers(len(bc.Ends)))
	for w := range workers {
		workers[w] = sums{routes: make([]uint32, bc.Fabric.Switches()), count: bc.count}
		if w > 0 {
			workers[w].count = make([]uint32, bc.Fabric.Turns())
		}
	}
	heads := bc.Fabric.Heads()
	err := bc.Each(ctx, nil, func(worker, _ int, t *forest.InTree) {
		routes, count := workers[worker].routes, workers[worker].count
		for t.Next() {
			copy(routes, bc.sources)
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

// clean searches the layer for cycles, and moves the bundles of one turn of each, which the heuristic
// chooses, to the next layer, until none is left. It reports whether it moved any.
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

// push puts a trunk on the stack.
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
				return bc.placeOnStack(c), true
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

// placeOnStack is where on the stack a trunk is.
func (bc *breaker) placeOnStack(c fabric.ChannelID) int {
	i := len(bc.stack) - 1
	for bc.stack[i].trunk != c {
		i--
	}
	return i
}

// retreat takes back the search to before the first turn on its stack that no path of the layer makes
// any more; trunks behind it become white again.
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
