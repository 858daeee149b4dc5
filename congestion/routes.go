package congestion

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/fan"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// mostTable limits the memory of the table of all routes, in bytes. On larger
// networks, the routes of flows are walked ahead.
const mostTable = 1 << 30

// cellsPerFlow is how many routes can be put into the table in the time that it takes
// to walk one ahead and to keep it with its flow.
const cellsPerFlow = 4

// routes finds the trunks that a flow crosses. Endpoints that take part are numbered
// densely, as sites. Sources that share a switch and a row of service levels share
// their routes; they form a class.
//
// The table has a record for every (destination site, class), so that a flow reads one
// cache line and no chain of tables: the number of trunks, then the trunks as 16-bit
// numbers. Where there are more trunks than 16 bits can number, flows are walked ahead.
type routes struct {
	tables  *routing.Tables
	fan     *fan.Fan            // nil: switches do not choose
	sites   []fabric.EndpointID // [site]
	rank    []int32             // [rank] its site
	class   []int32             // [site] its class as a source
	sources []int32             // [class] one of its sites
	inject  []fabric.ChannelID  // [site] or None
	deliver []fabric.ChannelID  // [site] or None

	stride int      // length of a record
	table  []uint16 // [(destination site × classes + class) × stride]; nil: flows are walked
}

// noRoute in place of the number of trunks says that there is no route.
const noRoute = ^uint16(0)

// newRoutes numbers the endpoints of a placement and finds their classes; it has no table yet.
func newRoutes(t *routing.Tables, p traffic.Placement) *routes {
	r := &routes{tables: t, fan: fan.New(t), rank: make([]int32, len(p))}
	f := t.Fabric
	site := make([]int32, len(f.Endpoints())) // [endpoint] its site plus one; 0: none yet
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
				r.sources = append(r.sources, int32(len(r.sites)))
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

// makeTable fills the table, unless it would be too large or would take longer than it
// saves for so many flows.
func (r *routes) makeTable(ctx context.Context, flows int64) error {
	cells := int64(len(r.sites)) * int64(len(r.sources))
	if r.fan != nil || flows < cells/cellsPerFlow || r.tables.Fabric.Trunks() >= int(noRoute) {
		return nil
	}
	longest, err := r.longest(ctx, max(1, len(r.sites)/sampled))
	for err == nil && cells*int64(1+longest)*2 <= mostTable {
		stride := 1 + longest
		table := make([]uint16, cells*int64(stride))
		if longest, err = r.fill(ctx, table, stride, 1); err == nil && longest < stride {
			r.stride, r.table = stride, table
			break
		}
	}
	return err
}

// sampled is the least number of sites from which the length of records is estimated.
const sampled = 32

// longest is the number of trunks on the longest of the routes to every step-th site.
func (r *routes) longest(ctx context.Context, step int) (int, error) {
	return r.fill(ctx, nil, 1, step)
}

// fill fills a table with the routes to every step-th site that fit into its records, and returns the
// number of trunks on the longest route; without a table it only does the latter.
func (r *routes) fill(ctx context.Context, table []uint16, stride, step int) (int, error) {
	n := (len(r.sites) + step - 1) / step
	workers := make([]*converging, par.Workers(n))
	for i := range workers {
		workers[i] = newConverging(r, stride)
	}
	err := par.For(ctx, n, func(worker, i int) {
		w, to := workers[worker], i*step
		w.begin(int32(to))
		for class, from := range r.sources {
			var record []uint16
			if table != nil {
				record = table[(to*len(r.sources)+class)*stride:][:stride]
			}
			w.put(record, from)
		}
	})
	longest := 0
	for _, w := range workers {
		longest = max(longest, w.longest)
	}
	return longest, err
}

// walk appends the trunks from one site to another, by the forwarding tables; false: there is no route.
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
		if at == dst.Switch && row[at] == f.LastPort(dst) {
			return crossed, true
		}
		crossed = crossed[:before]
	}
	return crossed, false
}
