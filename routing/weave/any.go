// Package weave is in the making.
package weave

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/loom"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/paths/dag"
)

// Any is weave-any.
type Any struct {
	Paths routing.PathFinder // whose paths to keep where it can be
}

// Route implements routing.Router.
func (o Any) Route(ctx context.Context, f *fabric.Fabric, b routing.Budget, p routing.Progress) (*routing.Tables, error) {
	fw, err := o.Paths.Paths(ctx, f, p)
	if err != nil {
		return nil, err
	}
	paths, err := loom.Gather(ctx, f, fw, b.Scope, nil)
	if err != nil {
		return nil, err
	}
	best, left, err := paths.OneLevel(ctx, b.VLs)
	if err != nil {
		return nil, err
	}
	r := &rerouting{f: f, fw: fw, lids: paths.LIDs(), grower: newGrower(f, best, b.Scope)}
	if left > 0 {
		ok, err := r.route(ctx)
		if err != nil {
			return nil, err
		}
		if !ok {
			if r, err = o.withEscapes(ctx, f, b, fw, paths, best.Lanes()); err != nil {
				return nil, err
			}
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: r.fw, Lanes: r.grower.loom.Tables(r.fw, r.lids)}, nil
}

// withEscapes begins with escape paths.
func (o Any) withEscapes(ctx context.Context, f *fabric.Fabric, b routing.Budget, fw *routing.Forwarding, paths *loom.Paths, lanes int) (*rerouting, error) {
	if v, err := strconv.Atoi(os.Getenv("RL")); err == nil {
		lanes = v
	}
	var roots []fabric.NodeID
	for _, part := range f.Parts() {
		roots = append(roots, part[len(part)-1])
	}
	e := newEscapes(f, roots)
	l, _, err := paths.WeaveAround(ctx, e.turns(lanes), lanes)
	if err != nil {
		return nil, err
	}
	r := &rerouting{f: f, fw: fw, lids: paths.LIDs(), grower: newGrower(f, l, b.Scope)}
	r.grower.escapes = e
	ok, err := r.route(ctx)
	if err == nil && !ok {
		panic("weave: an escape path is not carried")
	}
	return r, err
}

// rerouting is the state of routing destinations anew.
type rerouting struct {
	f      *fabric.Fabric
	fw     *routing.Forwarding
	lids   []fabric.LID
	grower *grower
}

// route routes the destinations again whose paths are not all carried.
func (r *rerouting) route(ctx context.Context) (bool, error) {
	g := r.grower
	var bad []fabric.LID
	for _, lid := range r.lids {
		root := r.f.Endpoint(r.f.Owner(lid)).Switch
		if !g.carried(r.fw.Row(lid), root) {
			bad = append(bad, lid)
		}
		g.charge(r.fw.Row(lid), root, 1)
	}
	if os.Getenv("V") != "" {
		fmt.Println("bad", len(bad), "of", len(r.lids), "max", slices.Max(g.load))
	}
	var d dag.DAG
	failed := 0
	for pass := range 3 {
		todo := bad
		if pass > 0 {
			todo = r.lids
			g.place = false
		}
		d.Root = -1
		for _, lid := range todo {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			root := r.f.Endpoint(r.f.Owner(lid)).Switch
			if d.Order == nil || d.Root != root {
				dag.Shortest(&d, r.f, root)
			}
			row := r.fw.Row(lid)
			g.charge(row, root, ^uint64(0))
			if g.grow(&d) {
				g.write(row)
			} else {
				failed++
			}
			g.charge(row, root, 1)
		}
		if os.Getenv("V") != "" {
			fmt.Println("pass", pass, "failed", failed, "max", slices.Max(g.load))
		}
		if failed > 0 {
			return false, nil
		}
	}
	return true, nil
}
