package change

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// likeNeighbours is on with service levels for what is new, so that Mend can plan for it: on is tables as they act
// on the network now (transition.On), was the fabric that they were made for. New are endpoints and LIDs that
// was does not have; packets from others, endpoints of the network now, count as new, too. Each gets the levels
// of a neighbour on its switch that is where it was, or else of port 0 of that switch, or else SL 0.
// Everything else keeps its own.
func likeNeighbours(on *routing.Tables, was *fabric.Fabric, others []fabric.EndpointID) *routing.Tables {
	f := on.Fabric
	if f == was {
		return on
	}
	n := newNeighbours(on, was)
	var sources []fabric.EndpointID // whose packets get levels; each has a row of its own, after the old ones
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

// neighbours finds the service levels of what is near. Endpoints are those of f if nothing else is said.
type neighbours struct {
	f, was *fabric.Fabric              // now, and when the tables were made
	old    *routing.Lanes              // of the tables, as they act on f
	near   [][]fabric.EndpointID       // [switch of f] endpoints on it that stay, port 0 last
	known  map[place]fabric.EndpointID // endpoints of was
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

// then is the same endpoint in the fabric was, or None.
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

// level is the service level from a source row of the old tables to a LID. For a new LID it is that to a neighbour of
// its owner, one that is not of this row itself, since the level to oneself says nothing; 0 if there is none.
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

// levelFrom is the service level from an endpoint to a LID as its neighbours have it: that of the first one that
// does not own the LID; 0 if there is none.
func (n *neighbours) levelFrom(e fabric.EndpointID, lid fabric.LID) uint8 {
	for _, like := range n.near[n.f.Endpoint(e).Switch] {
		if like != n.f.Owner(lid) {
			return n.level(n.old.Row[like], lid)
		}
	}
	return 0
}
