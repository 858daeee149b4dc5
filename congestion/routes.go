package congestion

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// mostTable is the bytes that the table of all routes may take. Beyond, flows
// are walked through the forwarding tables, which takes a few times as long.
const mostTable = 1 << 30

// routes finds the trunks that a flow crosses. Endpoints that take part are
// numbered densely, as sites; sources that share a switch and a row of service
// levels share their routes, and are a class.
//
// The table has a record for every (destination site, class), so that a flow
// costs one line of memory and no chain of look-ups: how many trunks, and which.
// Small numbers keep the lines few; where there are more trunks than these can
// tell apart, flows are walked.
type routes struct {
	tables  *routing.Tables
	sites   []fabric.EndpointID // [site]
	rank    []int32             // [rank] its site
	class   []int32             // [site] its class as a source
	sources []fabric.EndpointID // [class] one of it
	inject  []fabric.ChannelID  // [site] or None
	deliver []fabric.ChannelID  // [site] or None

	stride int      // of records
	table  []uint16 // [(destination site × classes + class) × stride]; nil: walk
}

// noRoute stands for the number of trunks where there is no route.
const noRoute = ^uint16(0)

func newRoutes(t *routing.Tables, p traffic.Placement) *routes {
	r := &routes{tables: t, rank: make([]int32, len(p))}
	f := t.Fabric
	site := make([]int32, len(f.Endpoints()))
	type key struct {
		sw  fabric.NodeID
		row int32
	}
	classes := map[key]int32{}
	for i, e := range p {
		if site[e] == 0 {
			ep := f.Endpoint(e)
			k := key{ep.Switch, t.Lanes.Row[e]}
			c, ok := classes[k]
			if !ok {
				c = int32(len(r.sources))
				classes[k] = c
				r.sources = append(r.sources, e)
			}
			r.sites = append(r.sites, e)
			r.class = append(r.class, c)
			r.inject = append(r.inject, ep.Inject)
			r.deliver = append(r.deliver, ep.Deliver)
			site[e] = int32(len(r.sites))
		}
		r.rank[i] = site[e] - 1
	}
	return r
}

// makeTable fills the table, unless it would be too large or not pay for itself
// with so many flows to come.
func (r *routes) makeTable(ctx context.Context, flows int64) error {
	cells := int64(len(r.sites)) * int64(len(r.sources))
	if flows < cells || r.tables.Fabric.Trunks() >= int(noRoute) {
		return nil
	}
	scratch := make([]treeWalk, par.Workers(len(r.sites)))
	err := par.For(ctx, len(r.sites), func(worker, site int) {
		w := &scratch[worker]
		w.build(r, site)
		for _, from := range r.sources {
			w.longest = max(w.longest, w.depth(r, from))
		}
	})
	if err != nil {
		return err
	}
	stride := 1
	for i := range scratch {
		stride = max(stride, 1+scratch[i].longest)
	}
	if cells*int64(stride)*2 > mostTable {
		return nil
	}
	table := make([]uint16, cells*int64(stride))
	err = par.For(ctx, len(r.sites), func(worker, site int) {
		w := &scratch[worker]
		w.build(r, site)
		at := site * len(r.sources) * stride
		for class, from := range r.sources {
			w.record(r, from, table[at+class*stride:][:stride])
		}
	})
	if err != nil {
		return err
	}
	r.stride, r.table = stride, table
	return nil
}

// treeWalk is scratch space for the routes from all classes to one site.
type treeWalk struct {
	to      *fabric.Endpoint
	trees   [1 << 7]routing.Tree // [address]
	longest int                  // trunks on a route met so far
}

// build makes the trees of the addresses of a site.
func (w *treeWalk) build(r *routes, site int) {
	f := r.tables.Fabric
	w.to = f.Endpoint(r.sites[site])
	for a := range 1 << w.to.LMC {
		if w.to.Switch != fabric.None {
			w.trees[a].Build(f, r.tables.Forwarding.Row(w.to.LID+fabric.LID(a)), w.to.Switch)
		}
	}
}

// tree is that of the first address that a source may use and reaches, or nil.
func (w *treeWalk) tree(r *routes, from fabric.EndpointID) *routing.Tree {
	at := r.tables.Fabric.Endpoint(from).Switch
	if at == fabric.None || w.to.Switch == fabric.None {
		return nil
	}
	for a := range 1 << w.to.LMC {
		if t := &w.trees[a]; t.Depth(at) >= 0 && r.tables.Lanes.SL(from, w.to.LID+fabric.LID(a)) != routing.NoSL {
			return t
		}
	}
	return nil
}

// depth is the trunks from a source to the site, 0 without a route.
func (w *treeWalk) depth(r *routes, from fabric.EndpointID) int {
	if t := w.tree(r, from); t != nil {
		return t.Depth(r.tables.Fabric.Endpoint(from).Switch)
	}
	return 0
}

// record writes down the route from a source to the site.
func (w *treeWalk) record(r *routes, from fabric.EndpointID, record []uint16) {
	t := w.tree(r, from)
	if t == nil {
		record[0] = noRoute
		return
	}
	heads := r.tables.Fabric.Heads()
	at := r.tables.Fabric.Endpoint(from).Switch
	record[0] = uint16(t.Depth(at))
	for i := range t.Depth(at) {
		record[1+i] = uint16(t.Out[at])
		at = heads[t.Out[at]]
	}
}

// walk appends the trunks from one site to another, by the forwarding tables.
func (r *routes) walk(crossed []uint32, from, to int32) ([]uint32, bool) {
	f := r.tables.Fabric
	src, dst := r.sites[from], f.Endpoint(r.sites[to])
	start := f.Endpoint(src).Switch
	if start == fabric.None || dst.Switch == fabric.None {
		return crossed, false
	}
	before := len(crossed)
	heads, trunks := f.Heads(), fabric.ChannelID(f.Trunks())
	for a := range 1 << dst.LMC {
		lid := dst.LID + fabric.LID(a)
		if r.tables.Lanes.SL(src, lid) == routing.NoSL {
			continue
		}
		row := r.tables.Forwarding.Row(lid)
		at := start
		for at != dst.Switch && len(crossed)-before < f.Switches() {
			c := f.Out(at, row[at])
			if c < 0 || c >= trunks {
				break
			}
			crossed = append(crossed, uint32(c))
			at = heads[c]
		}
		if at == dst.Switch {
			return crossed, true
		}
		crossed = crossed[:before]
	}
	return crossed, false
}
