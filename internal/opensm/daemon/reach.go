package daemon

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// reachAll is tables by which every switch with adapters reaches the LIDs out of scope, too, such
// as those of switches, which OpenSM and tools ask. An engine may leave them out: where no path
// goes up and then down, Up*/Down* has none. A row that some switch does not reach the LID by is replaced by shortest
// paths; no packet in scope follows it, and no proof is about it. If all rows do, it is t itself.
func reachAll(t *routing.Tables, s routing.Scope) *routing.Tables {
	f, fw := t.Fabric, (*routing.Forwarding)(nil)
	for lid, owner := range f.LIDs() {
		if e := f.Endpoint(owner); !s.Includes(e.Class) && e.Switch != fabric.None && !reached(f, t.Forwarding.Row(lid), e) {
			if fw == nil {
				fw = t.Forwarding.Clone()
			}
			shortest(f, fw.Row(lid), e)
		}
	}
	if fw == nil {
		return t
	}
	all := *t
	all.Forwarding = fw
	return &all
}

// reached reports whether every switch with adapters reaches an endpoint by a row of out-ports.
func reached(f *fabric.Fabric, row []uint8, to *fabric.Endpoint) bool {
	arrives := make([]bool, f.Switches())
	arrives[to.Switch] = row[to.Switch] == f.LastPort(to)
	for s := range fabric.NodeID(f.Switches()) {
		if len(f.Attached(s)) < 2 { // port 0 and nothing else
			continue
		}
		at, left := s, f.Switches()
		for ; !arrives[at] && left > 0; left-- {
			c := f.Trunk(at, row[at])
			if c == fabric.None {
				return false
			}
			at = f.Channel(c).To
		}
		if left == 0 && !arrives[at] {
			return false
		}
		arrives[s] = true
	}
	return true
}

// shortest fills in a row with shortest paths to an endpoint.
func shortest(f *fabric.Fabric, row []uint8, to *fabric.Endpoint) {
	hops := f.Hops(to.Switch)
	for s := range fabric.NodeID(f.Switches()) {
		row[s] = routing.NoPort
		first, end := f.TrunksFrom(s)
		for c := first; c < end; c++ {
			if far := hops[f.Channel(c).To]; far != fabric.None && far+1 == hops[s] {
				row[s] = f.Channel(c).FromPort
				break
			}
		}
	}
	row[to.Switch] = f.LastPort(to)
}
