package turnlanes

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/acyclic"
	"github.com/weft-fabric/weft/routing/internal/forest"
)

// bundle is all paths between two switches, both ways. Under contract honored packets
// may take each of them on the service levels of the others, so that one service level
// must admit all.
type bundle struct{ a, b fabric.NodeID }

// bundles is those that have a turn.
type bundles struct {
	paths *forest.Pairs
	list  []bundle // by hops, those with most first
	order []int32  // of list: as it is
}

// inBundles is the paths by bundle.
func (p *Paths) inBundles() *bundles {
	if p.bundles != nil {
		return p.bundles
	}
	b := &bundles{paths: p.Pairs()}
	n := p.Fabric.Switches()
	hops := make([]int, n*n) // [a × switches + b] of the longest path of the bundle
	var all []int32
	for x := range fabric.NodeID(n) {
		for y := range x {
			if !p.Sends[x] || !p.Sends[y] {
				continue
			}
			all = b.paths.Append(all[:0], x, y)
			all = b.paths.Append(all, y, x)
			most := 0
			for _, h := range all {
				most = max(most, p.Hops(h))
			}
			if hops[int(y)*n+int(x)] = most; most > 1 { // one hop has no turn
				b.list = append(b.list, bundle{y, x})
			}
		}
	}
	slices.SortFunc(b.list, func(x, y bundle) int {
		return cmp.Or(cmp.Compare(hops[int(y.a)*n+int(y.b)], hops[int(x.a)*n+int(x.b)]), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	b.order = make([]int32, len(b.list))
	for i := range b.order {
		b.order[i] = int32(i)
	}
	p.bundles = b
	return b
}

// together is the paths of a bundle that have a turn, scratch to be filled again.
type together struct {
	steps []acyclic.Turn
	end   []int   // of each path in steps
	hops  []int32 // scratch of fill
}

// path is the i-th path.
func (t *together) path(i int) []acyclic.Turn {
	begin := 0
	if i > 0 {
		begin = t.end[i-1]
	}
	return t.steps[begin:t.end[i]]
}

// fill takes the paths of a bundle.
func (t *together) fill(p *Paths, of bundle) {
	t.steps, t.end = t.steps[:0], t.end[:0]
	for range 2 {
		t.hops = p.bundles.paths.Append(t.hops[:0], of.a, of.b)
		for _, h := range slices.Backward(t.hops) {
			before := len(t.steps)
			if t.steps = p.AppendTurns(t.steps, h); len(t.steps) > before {
				t.end = append(t.end, len(t.steps))
			}
		}
		of.a, of.b = of.b, of.a
	}
}

// placeTogether is Place for paths that need the same service level: one that admits
// all of them already, else the first in which they can be placed one after another.
func (l *Assignment) placeTogether(t *together) bool {
	for sl := range l.used {
		if l.admitsAll(sl, t) {
			return true
		}
	}
	for sl := range l.levels {
		if l.putAll(sl, t) {
			l.used = max(l.used, sl+1)
			return true
		}
		if sl >= l.used {
			break // nor can any other that is empty
		}
	}
	return false
}

func (l *Assignment) admitsAll(sl int, t *together) bool {
	for i := range t.end {
		if !l.admits(sl, t.path(i)) {
			return false
		}
	}
	return true
}

// putAll places paths in a service level, all or none.
func (l *Assignment) putAll(sl int, t *together) bool {
	for i := range t.end {
		if l.falls(sl, t.path(i)) {
			return false
		}
	}
	l.undo, l.undoing = l.undo[:0], true
	defer func() { l.undoing = false }()
	for i := range t.end {
		steps := t.path(i)
		if !l.admits(sl, steps) && (l.falls(sl, steps) || !l.put(sl, steps)) {
			l.takeBack(sl)
			return false
		}
	}
	return true
}

// change is what to take back if the paths of a bundle after this one cannot be placed.
type change struct {
	acyclic.Turn
	was  uint8 // the lane of the turn
	held uint8 // the lane whose graph holds the turn since; unset: none
}

// takeBack takes all changes since the bundle began back.
func (l *Assignment) takeBack(sl int) {
	for _, c := range slices.Backward(l.undo) {
		l.set(c.ID, sl, c.was)
		if c.held != unset {
			l.graphs[c.held].Remove(c.In, c.Out)
			l.held[c.ID] &^= 1 << c.held
		}
	}
}

// assignBundles is Assign for bundles.
func (p *Paths) assignBundles(ctx context.Context, lanes, levels int) (best *Assignment, fewest int, err error) {
	b := p.inBundles()
	var t together
	return p.rounds(b.order, len(b.list), lanes, levels, func(l *Assignment, order []int32, limit int) ([]int32, error) {
		var left []int32
		for i, n := range order {
			if i%1024 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			t.fill(p, b.list[n])
			if l.placeTogether(&t) {
				continue
			}
			if left = append(left, n); len(left) > limit {
				break
			}
		}
		return left, nil
	})
}

// giveBothWays gives out the lowest service level that admits all paths between two
// switches.
func (l *Assignment) giveBothWays(lanes *routing.Lanes, fw *routing.Forwarding, lids []fabric.LID) {
	n := l.f.Switches()
	admitting := make([]uint16, n*n) // [the higher switch × switches + the lower] service levels, as bits
	for i := range admitting {
		admitting[i] = 1<<l.Used() - 1
	}
	l.eachTree(fw, lids, func(_ fabric.LID, s, to fabric.NodeID, admit uint16) {
		admitting[int(max(s, to))*n+int(min(s, to))] &= admit
	})
	l.eachTree(fw, lids, func(lid fabric.LID, s, to fabric.NodeID, _ uint16) {
		if admit := admitting[int(max(s, to))*n+int(min(s, to))]; admit != 0 { // else nothing is sent
			lanes.SLRow(lid)[s] = uint8(bits.TrailingZeros16(admit))
		}
	})
}
