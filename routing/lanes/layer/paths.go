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
package layer

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/acyclic"
	"github.com/weft-fabric/weft/routing"
)

// maxLayers is how far the search for layers goes before it gives up on saying
// exactly how many are needed.
const maxLayers = 64

// pathSet is the paths of a forwarding between the endpoints of a scope.
type pathSet struct {
	f       *fabric.Fabric
	fw      *routing.Forwarding
	sources []uint32      // [switch] endpoints in scope on it
	dests   []destination // by switch, then endpoint
}

type destination struct {
	lid  fabric.LID
	root fabric.NodeID // the switch it hangs on
}

func newPathSet(f *fabric.Fabric, fw *routing.Forwarding, scope routing.Scope) *pathSet {
	p := &pathSet{f: f, fw: fw, sources: make([]uint32, f.Switches())}
	for s := range f.Switches() {
		for _, e := range f.Attached(fabric.NodeID(s)) {
			ep := f.Endpoint(e)
			if !scope.Includes(ep.Class) {
				continue
			}
			p.sources[s]++
			for l := range fabric.LID(1) << ep.LMC {
				p.dests = append(p.dests, destination{ep.LID + l, fabric.NodeID(s)})
			}
		}
	}
	return p
}

// appendTurns appends the turns of the path from switch s along a row, which
// must not lead in circles. Without a path there are none.
func (p *pathSet) appendTurns(turns []acyclic.Turn, row []uint8, d destination, s fabric.NodeID) []acyclic.Turn {
	if s == d.root || row[s] == routing.NoPort {
		return turns
	}
	heads := p.f.Heads()
	in := p.f.Out(s, row[s])
	for at := heads[in]; at != d.root; at = heads[in] {
		out := p.f.Out(at, row[at])
		turns = append(turns, acyclic.Turn{ID: int32(p.f.Turn(in, out)), In: in, Out: out})
		in = out
	}
	return turns
}
