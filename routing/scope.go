package routing

import (
	"fmt"
	"iter"

	"github.com/weft-fabric/weft/fabric"
)

// Scope says which endpoints count as sources and destinations.
type Scope uint8

// Each scope contains the one before.
const (
	HCA      Scope = iota // host adapters
	Adapters              // and aggregation nodes and routers
	All                   // and port 0 of switches
)

// Includes reports whether endpoints of a class are in the scope.
func (s Scope) Includes(c fabric.Class) bool {
	switch c {
	case fabric.HostAdapter:
		return true
	case fabric.SwitchPort:
		return s == All
	}
	return s >= Adapters
}

// LIDs is the LIDs in use, ascending, of the endpoints in scope that are attached to a
// switch.
func (s Scope) LIDs(f *fabric.Fabric) iter.Seq2[fabric.LID, fabric.EndpointID] {
	return func(yield func(fabric.LID, fabric.EndpointID) bool) {
		for lid, id := range f.LIDs() {
			if e := f.Endpoint(id); e.Switch != fabric.None && s.Includes(e.Class) && !yield(lid, id) {
				return
			}
		}
	}
}

// Endpoints is the endpoints in scope that are attached to a switch, in their order.
func (s Scope) Endpoints(f *fabric.Fabric) []fabric.EndpointID {
	var list []fabric.EndpointID
	for i := range f.Endpoints() {
		if e := f.Endpoint(fabric.EndpointID(i)); e.Switch != fabric.None && s.Includes(e.Class) {
			list = append(list, fabric.EndpointID(i))
		}
	}
	return list
}

// PerSwitch counts the endpoints in scope on every switch, [switch].
func (s Scope) PerSwitch(f *fabric.Fabric) []uint32 {
	n := make([]uint32, f.Switches())
	for _, e := range s.Endpoints(f) {
		n[f.Endpoint(e).Switch]++
	}
	return n
}

// Ends reports of every switch, [switch], whether it has endpoints in scope: paths begin and end
// there.
func (s Scope) Ends(f *fabric.Fabric) []bool {
	ends := make([]bool, f.Switches())
	for _, e := range s.Endpoints(f) {
		ends[f.Endpoint(e).Switch] = true
	}
	return ends
}

// Disconnected counts the ordered pairs (source endpoint, destination LID) in scope in
// different parts of a network, which no tables can join.
func (s Scope) Disconnected(f *fabric.Fabric) int64 {
	var sources, lids, within int64
	for _, part := range f.Parts() {
		var from, to int64
		for _, at := range part {
			for _, e := range f.Attached(at) {
				if ep := f.Endpoint(e); s.Includes(ep.Class) {
					from++
					to += 1 << ep.LMC
				}
			}
		}
		within += from * to
		sources += from
		lids += to
	}
	return sources*lids - within
}

func (s Scope) String() string { return [...]string{"hca", "ca", "all"}[s] }

// ParseScope reads hca, ca or all.
func ParseScope(s string) (Scope, error) {
	for _, sc := range [...]Scope{HCA, Adapters, All} {
		if s == sc.String() {
			return sc, nil
		}
	}
	return 0, fmt.Errorf("endpoints are hca, ca or all, not %q", s)
}
