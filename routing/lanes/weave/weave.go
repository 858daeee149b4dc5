// Package weave is in the making.
package weave

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Levels is how many service levels there are for data.
const Levels = 15

// Assigner assigns.
type Assigner struct{}

// Lanes implements routing.LaneAssigner.
func (Assigner) Lanes(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	paths, err := Gather(ctx, f, fw, b.Scope, p)
	if err != nil {
		return nil, err
	}
	for lanes := 1; lanes <= b.VLs; lanes++ {
		l := NewLoom(f, lanes, Levels)
		left, err := l.weave(ctx, paths)
		if err != nil {
			return nil, err
		}
		if left == 0 {
			return l.table(paths), nil
		}
	}
	return nil, &routing.TooFewLanes{Need: b.VLs + 1, AtLeast: true, Have: b.VLs}
}

func (l *Loom) weave(ctx context.Context, p *Paths) (left int, err error) {
	var steps []step
	for i, n := range p.leaves {
		if i%1024 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		steps = p.steps(steps[:0], n)
		if !l.place(steps) {
			return 1, nil
		}
	}
	return 0, nil
}

// table gives every source and LID the lowest service level that carries its path.
func (l *Loom) table(p *Paths) *routing.Lanes {
	if l.used <= 1 {
		lanes := routing.OneSL(l.f, l.sl2vl())
		lanes.Needed = l.lanes
		return lanes
	}
	lanes := routing.NewLanes(l.f, l.sl2vl())
	lanes.Needed = l.lanes
	var tree routing.Tree
	mask := make([]uint16, l.f.Switches())
	heads := l.f.Heads()
	for _, lid := range p.lids {
		root := l.f.Endpoint(l.f.Owner(lid)).Switch
		tree.Build(l.f, p.fw.Row(lid), root)
		row := lanes.SLRow(lid)
		for _, s := range tree.Order {
			mask[s] = l.carriers(&tree, heads, s, mask)
			row[s] = lowest(mask[s])
		}
	}
	return lanes
}
