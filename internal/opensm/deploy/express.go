package deploy

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Limit is something that files for a stock OpenSM cannot express.
type Limit string

// The limits of the package comment.
const (
	PortMaps   Limit = "SL2VL maps that differ by port"
	SourceSLs  Limit = "service levels that depend on the source"
	AddressSLs Limit = "service levels that depend on the address"
	NoAddress  Limit = "addresses that some sources must not use"
)

// Inexpressible is the refusal of a routing that needs more than the files can say.
type Inexpressible struct {
	Limit Limit
	Where string // the first place
}

func (e *Inexpressible) Error() string {
	return fmt.Sprintf("files for a stock OpenSM cannot express %s: %s", e.Limit, e.Where)
}

// Plan is a routing as the files of Files express it: a service level by destination, and one SL2VL map.
type Plan struct {
	Tables *routing.Tables    // as OpenSM will have them
	SL     []uint8            // [EndpointID] service level of packets to it
	Lane   [routing.SLs]uint8 // the map at every port, as far as its cable runs the lanes
	VLs    int                // number of lanes that the map uses for service levels in use
	Scope  routing.Scope      // endpoints whose service levels are kept

	// Number of classes of traffic, each with lanes of its own, which senders choose by the service level, and of
	// levels of each (routing.Lanes.Classes). 0: there is one class.
	Classes, ClassLevels int

	levels [routing.SLs]int    // number of destinations with a service level
	order  []fabric.EndpointID // adapter and router ports by leaf switch
}

// Levels is the service levels that destinations have, ascending.
func (p *Plan) Levels() []uint8 {
	var levels []uint8
	for sl, n := range p.levels {
		if n > 0 {
			levels = append(levels, uint8(sl))
		}
	}
	return levels
}

// Express is the routing as the files express it, for sources and destinations in
// scope; the error is an *Inexpressible.
func Express(t *routing.Tables, scope routing.Scope) (*Plan, error) {
	f := t.Fabric
	if err := t.Check(); err != nil {
		return nil, err
	}
	p := &Plan{SL: make([]uint8, len(f.Endpoints())), Scope: scope, Classes: t.Lanes.Classes, ClassLevels: t.Lanes.ClassLevels}
	lane, uniform := t.Lanes.SL2VL.Uniform()
	if !uniform {
		var where string
		if lane, where = sameEverywhere(t); where != "" {
			return nil, &Inexpressible{Limit: PortMaps, Where: where}
		}
	}
	p.Lane = lane
	rows := sourceRows(t, scope)
	for _, e := range scope.Endpoints(f) {
		sl, err := destinationSL(t, rows, e)
		if err != nil {
			return nil, err
		}
		p.SL[e] = sl
		p.levels[sl]++
		for class := range max(1, t.Lanes.Classes) {
			p.VLs = max(p.VLs, int(lane[t.Lanes.Class(class, sl)])+1)
		}
	}
	p.VLs = max(1, p.VLs)
	p.Tables = &routing.Tables{Fabric: f, Forwarding: t.Forwarding, Lanes: p.lanes(f)}
	for s := range fabric.NodeID(f.Switches()) {
		for _, e := range f.Attached(s) {
			if f.Endpoint(e).Class != fabric.SwitchPort {
				p.order = append(p.order, e)
			}
		}
	}
	return p, nil
}

// sameEverywhere is the one map that OpenSM could give all ports to get the maps of t, at pairs of ports by which packets
// can travel: a port whose cable runs fewer lanes begins again at lane 0 beyond these
// (routing.SL2VL.WithinCables). where says where that fails; empty: nowhere.
func sameEverywhere(t *routing.Tables) (whole [routing.SLs]uint8, where string) {
	whole = widest(t)
	maps, like := t.Lanes.SL2VL, routing.UniformSL2VL(whole).WithinCables(t.Fabric)
	forPorts(t.Fabric, func(s fabric.NodeID, in, out uint8) bool {
		if maps.Map(s, in, out) != like.Map(s, in, out) {
			where = fmt.Sprintf("%s maps service levels otherwise from port %d to port %d than other ports do", t.Fabric.Label(s), in, out)
		}
		return where == ""
	})
	return whole, where
}

// widest is the map at the first port of those whose cables run the most lanes.
func widest(t *routing.Tables) (lane [routing.SLs]uint8) {
	most := -1
	forPorts(t.Fabric, func(s fabric.NodeID, in, out uint8) bool {
		runs := int(t.Fabric.Channel(t.Fabric.Out(s, out)).DataVLs)
		if runs == 0 {
			runs = routing.MaxDataVLs // not known
		}
		if runs > most {
			most, lane = runs, t.Lanes.SL2VL.Map(s, in, out)
		}
		return most < routing.MaxDataVLs
	})
	return lane
}

// forPorts calls pair for every pair of ports of every switch by which packets can travel, until it
// returns false.
func forPorts(f *fabric.Fabric, pair func(s fabric.NodeID, in, out uint8) bool) {
	for s := range fabric.NodeID(f.Switches()) {
		for in := range f.Node(s).Ports + 1 {
			for out := 1; out <= f.Node(s).Ports; out++ {
				if in == out || in > 0 && f.Out(s, uint8(in)) == fabric.None || f.Out(s, uint8(out)) == fabric.None {
					continue
				}
				if !pair(s, uint8(in), uint8(out)) {
					return
				}
			}
		}
	}
}

// source is endpoints on one switch that send by one row of service levels.
type source struct {
	row  int32             // of routing.Lanes
	on   fabric.NodeID     // the switch
	name fabric.EndpointID // one of them, for messages
}

// sourceRows is every row and switch that endpoints in scope send from.
func sourceRows(t *routing.Tables, scope routing.Scope) []source {
	type key struct {
		row int32
		on  fabric.NodeID
	}
	seen := map[key]bool{}
	var rows []source
	for _, e := range scope.Endpoints(t.Fabric) {
		k := key{row: t.Lanes.Row[e], on: t.Fabric.Endpoint(e).Switch}
		if seen[k] {
			continue
		}
		seen[k] = true
		rows = append(rows, source{row: k.row, on: k.on, name: e})
	}
	return rows
}

// destinationSL is the one service level that all sources use to an endpoint.
func destinationSL(t *routing.Tables, rows []source, e fabric.EndpointID) (uint8, error) {
	f := t.Fabric
	to := f.Endpoint(e)
	chosen, first, address := routing.NoSL, source{}, fabric.LID(0) // the level of the first source, to an address
	for lid := to.LID; lid < to.LID+1<<to.LMC; lid++ {
		levels := t.Lanes.SLRow(lid)
		for _, from := range rows {
			if from.on == to.Switch {
				continue // crosses no trunk
			}
			sl := uint8(0)
			if levels != nil {
				sl = levels[from.row]
			}
			switch {
			case sl == routing.NoSL:
				return 0, &Inexpressible{Limit: NoAddress, Where: fmt.Sprintf("%s must not use LID %d of %s", name(f, from.name), lid, name(f, e))}
			case chosen == routing.NoSL:
				chosen, first, address = sl, from, lid
			case sl != chosen && from == first:
				return 0, &Inexpressible{Limit: AddressSLs, Where: fmt.Sprintf("%s uses SL %d to LID %d and SL %d to LID %d of %s",
					name(f, from.name), chosen, address, sl, lid, name(f, e))}
			case sl != chosen:
				return 0, &Inexpressible{Limit: SourceSLs, Where: fmt.Sprintf("to %s, %s uses SL %d and %s uses SL %d",
					name(f, e), name(f, first.name), chosen, name(f, from.name), sl)}
			}
		}
	}
	if chosen == routing.NoSL { // all sources are on its own switch
		return 0, nil
	}
	return chosen, nil
}

// lanes is the service levels and the map as OpenSM will have them.
func (p *Plan) lanes(f *fabric.Fabric) *routing.Lanes {
	m := routing.UniformSL2VL(p.Lane).WithinCables(f)
	if p.levels[0] == 0 || len(p.Levels()) > 1 {
		l := routing.NewLanes(f, m)
		for lid, e := range f.LIDs() {
			row := l.SLRow(lid)
			for i := range row {
				row[i] = p.SL[e]
			}
		}
		l.Needed, l.Classes, l.ClassLevels = p.VLs, p.Classes, p.ClassLevels
		return l
	}
	l := routing.OneSL(f, m)
	l.Needed, l.Classes, l.ClassLevels = max(1, p.Classes), p.Classes, p.ClassLevels
	return l
}

// name is what messages call an endpoint.
func name(f *fabric.Fabric, e fabric.EndpointID) string {
	ep := f.Endpoint(e)
	return fmt.Sprintf("%s port %d", f.Label(ep.Node), ep.Port)
}
