// Package layer assigns whole paths to layers: each path has one service level,
// each service level one lane, and the dependencies of every lane by itself are
// free of cycles.
//
// Two assigners share the view of a forwarding as a set of paths that this file
// gives. FirstFit takes path after path and puts each into the first layer that
// stays acyclic (LASH, and DFSSSP online). BreakCycles starts with all paths in
// one layer, looks for cycles and moves the paths of one dependency of each to
// the next layer (DFSSSP offline). Finding the fewest layers is NP-complete (J.
// Domke, T. Hoefler, W. Nagel, IPDPS 2011, Theorem 1); both are heuristics.
//
// A path here is a pair (source switch, destination LID): all endpoints of a
// switch share their switch-to-switch path to one destination, so they share
// its layer, and the path weighs as many as they are.
//
// What is put into a layer as a whole is a bundle. Under contract directed that is
// one path. Under contract honored packets may take a path on the service level of
// the way back as well, so a bundle is all paths between two switches, both ways,
// to whichever of their LIDs: they have one service level. Less than that is safe
// only if each path fits into the layers of all its ways back, which is as hard to
// have as one layer for all and leaves the layers fuller.
package layer

import (
	"bytes"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/forest"
	"github.com/weft-fabric/weft/routing"
)

// maxLayers is how far the search for layers goes before it gives up on saying
// exactly how many are needed.
const maxLayers = 64

// pathSet is the paths of a forwarding between the endpoints of a scope, in
// bundles.
type pathSet struct {
	*forest.Paths
	lanes   *routing.Lanes
	sources []uint32      // [switch] endpoints in scope on it
	dests   []destination // by switch, then LID

	// Where bundles are both ways:
	both bool
	at   []int32  // [switch] its place in dests; -1: nothing in scope on it
	seen []uint32 // [turn] stamp of the paths that last had it
	now  uint32   // stamp of the paths at hand

	// addresses is how many LIDs an endpoint may have where some of them may be left
	// out; else 0.
	addresses int
}

// destination is where bundles lead: a LID or, both ways, a switch.
type destination struct {
	root     fabric.NodeID // the switch
	lids     []fabric.LID  // the LID or, both ways, those in scope on the switch
	distinct []fabric.LID  // of these, one for each different way in which the other switches forward to them
	sl       []uint8       // [switch] the layer of the bundle from there; both ways, from switches below root
}

func newPathSet(f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget) *pathSet {
	p := &pathSet{
		Paths: forest.Of(f, fw, b.Scope), lanes: routing.NewLanes(f, routing.LanePerSL(b.VLs)),
		sources: b.Scope.PerSwitch(f), both: b.Contract.EitherWay(),
	}
	if p.both {
		p.at, p.seen = slices.Repeat([]int32{-1}, f.Switches()), make([]uint32, f.Turns())
	}
	for _, end := range p.Ends {
		if s := end.Switch; p.both {
			p.at[s] = int32(len(p.dests))
			p.dests = append(p.dests, destination{root: s, lids: end.LIDs, distinct: distinct(fw, end.LIDs, s), sl: make([]uint8, s)})
			continue
		}
		for i, lid := range end.LIDs {
			only := end.LIDs[i : i+1]
			p.dests = append(p.dests, destination{root: end.Switch, lids: only, distinct: only, sl: p.lanes.SLRow(lid)})
		}
	}
	return p
}

// distinct is the LIDs of a switch without those that every other switch forwards like
// one before.
func distinct(fw *routing.Forwarding, lids []fabric.LID, root fabric.NodeID) []fabric.LID {
	var ways []fabric.LID
	for _, lid := range lids {
		row := fw.Row(lid)
		if !slices.ContainsFunc(ways, func(w fabric.LID) bool {
			same := fw.Row(w)
			return bytes.Equal(row[:root], same[:root]) && bytes.Equal(row[root+1:], same[root+1:])
		}) {
			ways = append(ways, lid)
		}
	}
	return ways
}

// bundles counts them, those of switches without sources too.
func (p *pathSet) bundles() int {
	n := 0
	for i := range p.dests {
		n += len(p.dests[i].sl)
	}
	return n
}

// weight is the paths between endpoints in a bundle.
func (p *pathSet) weight(d *destination, s fabric.NodeID) uint32 {
	if p.both {
		return p.sources[s]*uint32(len(d.lids)) + p.sources[d.root]*uint32(len(p.dests[p.at[s]].lids))
	}
	return p.sources[s]
}

// bundle is the bundle, as destination and source switch, with the path from a switch to a LID of a
// destination: both ways it belongs to the destination of the higher switch.
func (p *pathSet) bundle(d *destination, s fabric.NodeID) (*destination, fabric.NodeID) {
	if p.both && s > d.root {
		return &p.dests[p.at[s]], d.root
	}
	return d, s
}

// giveOut writes the layer of every bundle into p.lanes, as the service level of its paths.
func (p *pathSet) giveOut() *routing.Lanes {
	if p.both {
		for d, s := range p.all {
			p.give(d, s, d.sl[s])
			p.give(&p.dests[p.at[s]], d.root, d.sl[s])
		}
	}
	return p.lanes
}

// give gives the paths in use from a switch to a destination a service level.
func (p *pathSet) give(d *destination, s fabric.NodeID, sl uint8) {
	for _, lid := range d.lids {
		if to := &p.lanes.SLRow(lid)[s]; *to != routing.NoSL {
			*to = sl
		}
	}
}

// appendTurns appends the turns of the paths in use of a bundle, both ways each turn
// once. Without a path there are none.
func (p *pathSet) appendTurns(turns []acyclic.Turn, d *destination, s fabric.NodeID) []acyclic.Turn {
	if !p.both {
		return p.AppendTurns(turns, s, d.lids[0], d.root)
	}
	if p.addresses > 0 {
		for a := range p.addresses {
			turns = p.appendAddress(turns, d, s, a)
		}
		return turns
	}
	p.now++
	turns = p.walkAll(turns, d, s)
	return p.walkAll(turns, &p.dests[p.at[s]], d.root)
}

// appendAddress appends the turns of the paths in use to one of the addresses of all
// endpoints, each turn once.
func (p *pathSet) appendAddress(turns []acyclic.Turn, d *destination, s fabric.NodeID, address int) []acyclic.Turn {
	p.now++
	p.eachOf(d, s, address, func(lid fabric.LID, s, root fabric.NodeID) {
		if p.lanes.SLRow(lid)[s] != routing.NoSL {
			turns = p.walkNew(turns, lid, s, root)
		}
	})
	return turns
}

// eachOf visits the paths of a bundle, both ways, to one of the addresses.
func (p *pathSet) eachOf(d *destination, s fabric.NodeID, address int, visit func(lid fabric.LID, s, root fabric.NodeID)) {
	for range 2 {
		for _, lid := range d.lids {
			if p.Fabric.Address(lid) == address {
				visit(lid, s, d.root)
			}
		}
		d, s = &p.dests[p.at[s]], d.root
	}
}

// walkAll appends the turns of the paths from a switch to a destination that are not
// stamped yet.
func (p *pathSet) walkAll(turns []acyclic.Turn, d *destination, s fabric.NodeID) []acyclic.Turn {
	for _, lid := range d.distinct {
		turns = p.walkNew(turns, lid, s, d.root)
	}
	return turns
}

// walkNew appends the turns of a path that do not have the stamp p.now yet, and stamps them.
func (p *pathSet) walkNew(turns []acyclic.Turn, lid fabric.LID, s, root fabric.NodeID) []acyclic.Turn {
	known := len(turns)
	turns = p.AppendTurns(turns, s, lid, root)
	fresh := turns[:known]
	for _, t := range turns[known:] {
		if p.seen[t.ID] != p.now {
			p.seen[t.ID] = p.now
			fresh = append(fresh, t)
		}
	}
	return fresh
}
