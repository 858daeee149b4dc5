package change

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// likeNeighbours is tables as they act on a fabric (transition.On), with service levels for endpoints
// and LIDs that was, the fabric that they were made for, does not have, and for packets from some others:
// those of a neighbour that is on the switch where it was, or else of that switch, or else SL 0. All
// others keep theirs.
func likeNeighbours(on *routing.Tables, was *fabric.Fabric, others []fabric.EndpointID) *routing.Tables {
	f := on.Fabric
	if f == was {
		return on
	}
	n := newNeighbours(on, was)
	var sources []fabric.EndpointID // that have other levels than before
	rows := slices.Clone(n.old.Row)
	for i := range f.Endpoints() {
		e := fabric.EndpointID(i)
		if f.Endpoint(e).Switch != fabric.None && (n.then(e) == fabric.None || slices.Contains(others, e)) {
			rows[i] = int32(n.old.Rows + len(sources))
			sources = append(sources, e)
		}
	}
	lids := false
	for lid := range f.LIDs() {
		lids = lids || n.isNew(lid)
	}
	if sources == nil && !lids {
		return on
	}
	l := routing.NewLanesByRow(f, n.old.SL2VL, rows, n.old.Rows+len(sources))
	l.Needed = n.old.Needed
	for lid := range f.TopLID() + 1 {
		to := l.SLRow(lid)
		for r := range n.old.Rows {
			to[r] = n.level(int32(r), lid)
		}
		for i, e := range sources {
			to[n.old.Rows+i] = n.levelFrom(e, lid)
		}
	}
	t := *on
	t.Lanes = l
	return &t
}

// neighbours finds the service levels of what is near.
type neighbours struct {
	f, was *fabric.Fabric
	old    *routing.Lanes
	near   [][]fabric.EndpointID // [switch] endpoints that are where they were and have the LIDs that they had, port 0 last
	known  map[place]fabric.EndpointID
}

// place is where an endpoint is, in any fabric of the same hardware.
type place struct {
	guid fabric.GUID
	port uint8
}

func newNeighbours(on *routing.Tables, was *fabric.Fabric) *neighbours {
	f := on.Fabric
	n := &neighbours{f: f, was: was, old: on.Lanes, near: make([][]fabric.EndpointID, f.Switches()), known: map[place]fabric.EndpointID{}}
	for i, e := range was.Endpoints() {
		n.known[place{was.Node(e.Node).GUID, e.Port}] = fabric.EndpointID(i)
	}
	for s := range n.near {
		for _, e := range f.Attached(fabric.NodeID(s)) {
			if n.stays(e) && f.Endpoint(e).Class != fabric.SwitchPort {
				n.near[s] = append(n.near[s], e)
			}
		}
		if port0 := fabric.EndpointID(s); n.stays(port0) {
			n.near[s] = append(n.near[s], port0)
		}
	}
	return n
}

// then is an endpoint in the fabric of before, or None.
func (n *neighbours) then(e fabric.EndpointID) fabric.EndpointID {
	ep := n.f.Endpoint(e)
	if was, ok := n.known[place{n.f.Node(ep.Node).GUID, ep.Port}]; ok {
		return was
	}
	return fabric.None
}

// stays reports whether an endpoint is where it was, and has the LIDs that it had.
func (n *neighbours) stays(e fabric.EndpointID) bool {
	then := n.then(e)
	if then == fabric.None {
		return false
	}
	a, b := n.was.Endpoint(then), n.f.Endpoint(e)
	return a.LID == b.LID && a.LMC == b.LMC && a.Switch != fabric.None && n.was.Node(a.Switch).GUID == n.f.Node(b.Switch).GUID
}

// isNew reports whether nobody had a LID.
func (n *neighbours) isNew(lid fabric.LID) bool { return n.was.Owner(lid) == fabric.None }

// level is the service level from a row of the tables to a LID: if that is new, to a neighbour of
// its owner whose packets are not of this row.
func (n *neighbours) level(row int32, lid fabric.LID) uint8 {
	owner := n.f.Owner(lid)
	if owner == fabric.None || !n.isNew(lid) {
		return levelAt(n.old.SLRow(lid), row)
	}
	if s := n.f.Endpoint(owner).Switch; s != fabric.None {
		for _, e := range n.near[s] {
			if n.old.Row[e] != row {
				return levelAt(n.old.SLRow(n.f.Endpoint(e).LID), row)
			}
		}
	}
	return 0
}

// levelFrom is the service level from an endpoint as from its neighbours.
func (n *neighbours) levelFrom(e fabric.EndpointID, lid fabric.LID) uint8 {
	for _, like := range n.near[n.f.Endpoint(e).Switch] {
		if like != n.f.Owner(lid) {
			return n.level(n.old.Row[like], lid)
		}
	}
	return 0
}
