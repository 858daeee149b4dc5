package congestion

import (
	"context"
	"slices"

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
type routes struct {
	tables  *routing.Tables
	sites   []fabric.EndpointID // [site]
	rank    []int32             // [rank] its site
	class   []int32             // [site] its class as a source
	sources []fabric.EndpointID // [class] one of it
	inject  []fabric.ChannelID  // [site] or None
	deliver []fabric.ChannelID  // [site] or None

	stride int      // of records
	table  []uint32 // [(destination site × classes + class) × stride]; nil: walk
}

// noRoute stands for the number of trunks where there is no route.
const noRoute = ^uint32(0)

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
	if flows < cells/4 {
		return nil
	}
	workers := par.Workers(len(r.sites))
	scratch := make([]treeWalk, workers)
	longest := make([]int, workers)
	err := par.For(ctx, len(r.sites), func(worker, site int) {
		r.fromAll(&scratch[worker], int32(site), func(_ int32, trunks []uint32, ok bool) {
			longest[worker] = max(longest[worker], len(trunks))
		})
	})
	if err != nil {
		return err
	}
	stride := 1 + slices.Max(longest)
	if cells*int64(stride)*4 > mostTable {
		return nil
	}
	table := make([]uint32, cells*int64(stride))
	err = par.For(ctx, len(r.sites), func(worker, site int) {
		at := site * len(r.sources) * stride
		r.fromAll(&scratch[worker], int32(site), func(class int32, trunks []uint32, ok bool) {
			record := table[at+int(class)*stride:][:stride]
			record[0] = uint32(copy(record[1:], trunks))
			if !ok {
				record[0] = noRoute
			}
		})
	})
	if err != nil {
		return err
	}
	r.stride, r.table = stride, table
	return nil
}

// treeWalk is scratch space of fromAll.
type treeWalk struct {
	trees  [1 << 7]routing.Tree // [address]
	trunks []uint32
}

// fromAll gives the route from every class to a site: that to the first of its
// addresses that the class may use and that is reached.
func (r *routes) fromAll(w *treeWalk, site int32, yield func(class int32, trunks []uint32, ok bool)) {
	f := r.tables.Fabric
	to := f.Endpoint(r.sites[site])
	if to.Switch == fabric.None {
		for class := range r.sources {
			yield(int32(class), nil, false)
		}
		return
	}
	addresses := 1 << to.LMC
	for a := range addresses {
		w.trees[a].Build(f, r.tables.Forwarding.Row(to.LID+fabric.LID(a)), to.Switch)
	}
	heads := f.Heads()
	for class, from := range r.sources {
		at, ok := f.Endpoint(from).Switch, false
		w.trunks = w.trunks[:0]
		for a := 0; a < addresses && !ok && at != fabric.None; a++ {
			t := &w.trees[a]
			if ok = t.Depth(at) >= 0 && r.tables.Lanes.SL(from, to.LID+fabric.LID(a)) != routing.NoSL; ok {
				for ; at != to.Switch; at = heads[t.Out[at]] {
					w.trunks = append(w.trunks, uint32(t.Out[at]))
				}
			}
		}
		yield(int32(class), w.trunks, ok)
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
