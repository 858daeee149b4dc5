package transition

import (
	"errors"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// On is tables as they act on another fabric: the same hardware some time later, with
// cables and nodes gone or new. Switches are the same by GUID, endpoints by GUID and
// port. Hardware only knows LIDs and port numbers, so these stay: an entry for a LID
// that now belongs to another endpoint brings packets there, and an entry that names a
// port leads over the cable that is now in it, or drops packets if there is none.
//
// A switch that the tables do not know has no entries. Its SL2VL map is the one that
// fresh has for it; if fresh is nil, the one that all switches have, or lane 0 where
// these differ, so that it uses no lane that the tables do not use, which cables may
// not run. Its links carry no packets before its map is written. An endpoint that the tables do not know may use no LID under them, and no
// source can use a new LID.
func On(f *fabric.Fabric, t, fresh *routing.Tables) (*routing.Tables, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if fresh != nil && fresh.Fabric != f {
		return nil, errors.New("the fresh tables are for another fabric than the one that tables are to act on")
	}
	if t.Fabric == f {
		return t, nil
	}
	was := make([]fabric.NodeID, f.Switches()) // [switch of f] the same switch in t.Fabric, or None
	for s := range was {
		was[s] = t.Fabric.NodeByGUID(f.Node(fabric.NodeID(s)).GUID)
		if w := was[s]; w != fabric.None && (t.Fabric.Node(w).Kind != fabric.Switch || t.Fabric.Node(w).Ports != f.Node(fabric.NodeID(s)).Ports) {
			was[s] = fabric.None
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: forwardingOn(f, t, was), Lanes: lanesOn(f, t, fresh, was), Groups: t.Groups.On(f, was), Multicast: treesOn(t.Multicast, was)}, nil
}

func forwardingOn(f *fabric.Fabric, t *routing.Tables, was []fabric.NodeID) *routing.Forwarding {
	fw := routing.NewForwarding(f)
	for lid := range min(f.TopLID(), t.Fabric.TopLID()) + 1 {
		to, from := fw.Row(lid), t.Forwarding.Row(lid)
		for s, w := range was {
			if w != fabric.None {
				to[s] = from[w]
			}
		}
	}
	return fw
}

// treesOn is trees as they act on another fabric: switches that are known keep their ports.
func treesOn(m *routing.Multicast, was []fabric.NodeID) *routing.Multicast {
	if m == nil {
		return nil
	}
	on := &routing.Multicast{SLs: m.SLs}
	for i := range m.Trees {
		t := routing.MulticastTree{MLID: m.Trees[i].MLID}
		for s, w := range was {
			if w == fabric.None {
				continue
			}
			if ports := m.Trees[i].At(w); ports.Len() > 0 {
				t.Nodes = append(t.Nodes, routing.TreeNode{Switch: fabric.NodeID(s), Ports: ports})
			}
		}
		on.Trees = append(on.Trees, t)
	}
	return on
}

func lanesOn(f *fabric.Fabric, t, fresh *routing.Tables, was []fabric.NodeID) *routing.Lanes {
	old := t.Lanes
	unknown := int32(old.Rows) // the row of endpoints that t does not know
	row := make([]int32, len(f.Endpoints()))
	known := endpointsByPort(t.Fabric)
	for i, e := range f.Endpoints() {
		if w, ok := known[place{f.Node(e.Node).GUID, e.Port}]; ok {
			row[i] = old.Row[w]
		} else {
			row[i] = unknown
		}
	}
	if !slices.Contains(row, unknown) && sameLIDs(f, t.Fabric, old.SLRow(0) == nil) {
		l := *old // of which the service levels are shared: mostly a cable came or went, and nobody else did
		l.Row, l.SL2VL = row, mapOn(f, t, fresh, was)
		l.Needed, l.Classes, l.ClassLevels = 0, 0, 0
		return &l
	}
	l := routing.NewLanesByRow(f, mapOn(f, t, fresh, was), row, old.Rows+1)
	for lid := range f.TopLID() + 1 {
		to := l.SLRow(lid)
		for r := range to {
			to[r] = routing.NoSL
		}
		switch {
		case lid > t.Fabric.TopLID() || t.Fabric.Owner(lid) == fabric.None:
		case old.SLRow(lid) == nil:
			clear(to[:unknown])
		default:
			copy(to, old.SLRow(lid))
		}
	}
	return l
}

// sameLIDs reports whether a fabric has no LID that another has not, and, unless it may have fewer, the same highest one.
func sameLIDs(f, was *fabric.Fabric, fewer bool) bool {
	for lid := range f.LIDs() {
		if was.Owner(lid) == fabric.None {
			return false
		}
	}
	return fewer || f.TopLID() == was.TopLID()
}

// mapOn is the SL2VL map of t on f.
func mapOn(f *fabric.Fabric, t, fresh *routing.Tables, was []fabric.NodeID) *routing.SL2VL {
	lane, uniform := t.Lanes.SL2VL.Uniform() // zeros, if they differ
	maps := routing.UniformSL2VL(lane)       // of switches that t does not know
	if fresh != nil {
		maps = fresh.Lanes.SL2VL
	}
	other, both := maps.Uniform()
	if uniform && (both && lane == other || !slices.Contains(was, fabric.None)) {
		return t.Lanes.SL2VL
	}
	m := routing.UniformSL2VL([routing.SLs]uint8{}).PerPort(f)
	for s, w := range was {
		s, from, at := fabric.NodeID(s), t.Lanes.SL2VL, w
		if w == fabric.None {
			from, at = maps, s
		}
		if levels := from.LevelsByLane(at); levels != 0 {
			m.SetByLane(s, levels)
		}
		ports := uint8(f.Node(s).Ports)
		for in := range ports + 1 {
			for out := range ports + 1 {
				m.SetMap(s, in, out, from.Map(at, in, out))
			}
		}
	}
	return m
}

// place identifies an endpoint in any fabric of the same hardware.
type place struct {
	node fabric.GUID
	port uint8
}

func endpointsByPort(f *fabric.Fabric) map[place]fabric.EndpointID {
	all := make(map[place]fabric.EndpointID, len(f.Endpoints()))
	for i, e := range f.Endpoints() {
		all[place{f.Node(e.Node).GUID, e.Port}] = fabric.EndpointID(i)
	}
	return all
}
