// Package bgp computes the routes of a network where there are none to read: after a
// failure, or before the network is built.
//
// BGP as data centers use it (RFC 7938; D. Dutt, BGP in the Data Center, 2017): a session
// over every cable between different ASes, every device announces its best route for each
// prefix, paths through the own AS are refused, and all paths of the shortest length count,
// whatever ASes are on them (bestpath as-path multipath-relax). Each device adds its AS once,
// so the length of a path is its number of hops. Of equal paths the one over the neighbor
// with the lowest number is announced; which one it is only matters where devices share an
// AS, and real routers may choose another, the older one.
//
// ECMP is all shortest paths, and what BGP computes where every device has an AS of its own.
// UpDown is shortest paths that never lead up after they led down, toward the devices with
// hosts: what filters against bouncing routes leave.
package bgp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/hops"
)

// Protocol is how routes are computed.
type Protocol uint8

// The protocols.
const (
	BGP Protocol = iota
	ECMP
	UpDown
)

// ParseProtocol reads bgp, ecmp or updown.
func ParseProtocol(word string) (Protocol, error) {
	i := slices.Index([]string{"bgp", "ecmp", "updown"}, word)
	if i < 0 {
		return 0, fmt.Errorf("routes are bgp, ecmp or updown, not %q", word)
	}
	return Protocol(i), nil
}

func (p Protocol) String() string { return [...]string{"bgp", "ecmp", "updown"}[p] }

// Scheme is how AS numbers are given to devices.
type Scheme uint8

// The schemes.
const (
	PerSwitch   Scheme = iota // an AS for each device
	PerLeaf                   // RFC 7938: an AS for each leaf, one for the devices between of a pod, one for all at the top
	SpinesAlike               // one AS for all devices at the top, one for each other device
)

// ParseScheme finds a scheme by name.
func ParseScheme(word string) (Scheme, error) {
	i := slices.Index(schemes[:], word)
	if i < 0 {
		return 0, fmt.Errorf("AS numbers are given %s, not %q", strings.Join(schemes[:], ", "), word)
	}
	return Scheme(i), nil
}

var schemes = [...]string{"per-switch", "per-leaf", "spines-alike"}

func (s Scheme) String() string { return schemes[s] }

// Plan is all that the routes of a network follow from.
type Plan struct {
	Cabling  *ethernet.Cabling
	Protocol Protocol
	AS       []uint32 // [DeviceID]; not looked at by ECMP and UpDown
	OwnAS    []uint8  // [DeviceID] how often paths that a device takes may have its own AS (allowas-in); nil: never

	level   []int32      // [DeviceID] hops from the nearest device with hosts; -1: none
	unique  bool         // no two devices share an AS
	pins    map[int]*Pin // by class
	classOf []int        // [pin] its class, as SetPins was given pins
}

// NewPlan is a plan by AS numbers that are given, [DeviceID]; nil for ECMP and UpDown. leaves
// is the devices with hosts. Neighbors in one AS are refused: what they would do (internal
// BGP) is not computed.
func NewPlan(c *ethernet.Cabling, leaves []ethernet.DeviceID, p Protocol, as []uint32) (*Plan, error) {
	plan := &Plan{Cabling: c, Protocol: p, AS: as, level: hops.From(c, leaves, nil), unique: true}
	if p != BGP {
		return plan, nil
	}
	seen := map[uint32]bool{}
	for _, n := range as {
		plan.unique = plan.unique && !seen[n]
		seen[n] = true
	}
	for _, l := range c.Links {
		if as[l.From] == as[l.To] {
			return nil, fmt.Errorf("%s and %s are neighbors in one AS, %d: internal BGP is not computed", c.Names[l.From], c.Names[l.To], as[l.From])
		}
	}
	return plan, nil
}

// own is how often paths that a device takes may have its own AS.
func (p *Plan) own(d ethernet.DeviceID) int {
	if p.OwnAS == nil {
		return 0
	}
	return int(p.OwnAS[d])
}

// Level is how many hops a device is from the nearest one with hosts; -1: none can be reached.
func (p *Plan) Level(d ethernet.DeviceID) int32 { return p.level[d] }

// firstAS is the first private AS number of four bytes.
const firstAS = 4_200_000_000

// Numbers gives AS numbers by a scheme.
func Numbers(c *ethernet.Cabling, leaves []ethernet.DeviceID, s Scheme) []uint32 {
	as := make([]uint32, len(c.Names))
	for d := range as {
		as[d] = firstAS + uint32(d)
	}
	if s == PerSwitch {
		return as
	}
	level := hops.From(c, leaves, nil)
	top := slices.Max(level)
	if top == 0 {
		return as
	}
	pod, _ := hops.Parts(c, func(d ethernet.DeviceID) bool { return level[d] != top })
	first := map[[2]int32]uint32{} // by level and pod, -1 at the top: the AS of all such devices, that of the first
	for d, l := range level {
		key := [2]int32{l, pod[d]}
		switch {
		case l == top:
			key[1] = -1
		case l < 1 || s == SpinesAlike:
			continue
		}
		if _, ok := first[key]; !ok {
			first[key] = as[d]
		}
		as[d] = first[key]
	}
	return as
}
