package bgp

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
)

// Pin is the route to one adapter, longer than the prefix of its subnet. Its leaf announces it to Up[0]
// only, and this device upward to Up[1] only, if there are more tiers; downward it is announced to all,
// and by no other leaf. Longest prefix wins; where the pin is gone, packets take the route of the subnet.
type Pin struct {
	Prefix netip.Prefix
	At     ethernet.DeviceID   // the leaf
	Up     []ethernet.DeviceID // from tier to tier
	Under  int                 // the class of the subnet
}

// SetPins gives the plan pins, and returns the classes with those of the pins behind them: pins of one leaf with one way are one
// class. It computes the next hops of all of them. Pins whose devices are not one above the other are refused, and so are
// those of networks where devices that can stand in for each other have ASes of their own: there a route
// that was withdrawn above comes back by another leaf while BGP converges, for subnets too.
func (p *Plan) SetPins(classes []ethernet.Class, pins []Pin) ([]ethernet.Class, error) {
	if p.Protocol != BGP {
		return nil, fmt.Errorf("pins are announced by BGP, and routes are computed as %s", p.Protocol)
	}
	if err := p.oneASAbove(); err != nil {
		return nil, err
	}
	classes = slices.Clip(classes)
	p.pins, p.classOf = map[int]*Pin{}, make([]int, len(pins))
	alike := map[string]int{} // classes of pins, by leaf, way and subnet
	seen := map[netip.Prefix]bool{}
	for i := range pins {
		pin := &pins[i]
		if seen[pin.Prefix] {
			return nil, fmt.Errorf("two pins for %s", pin.Prefix)
		}
		seen[pin.Prefix] = true
		if pin.Under < 0 || pin.Under >= len(classes) || !slices.Equal(classes[pin.Under].At, []ethernet.DeviceID{pin.At}) {
			return nil, fmt.Errorf("the pin for %s is not of a subnet behind %s alone", pin.Prefix, p.Cabling.Names[pin.At])
		}
		if len(pin.Up) == 0 {
			return nil, fmt.Errorf("the pin for %s leads nowhere", pin.Prefix)
		}
		below := pin.At
		for _, d := range pin.Up {
			if p.level[d] != p.level[below]+1 || !p.joined(below, d) {
				return nil, fmt.Errorf("the pin for %s: %s is not above %s", pin.Prefix, p.Cabling.Names[d], p.Cabling.Names[below])
			}
			below = d
		}
		key := fmt.Sprint(pin.At, pin.Up, pin.Under)
		if class, ok := alike[key]; ok {
			p.classOf[i] = class
			classes[class].Prefixes = append(classes[class].Prefixes, pin.Prefix)
			continue
		}
		alike[key], p.classOf[i] = len(classes), len(classes)
		p.pins[len(classes)] = pin
		classes = append(classes, ethernet.Class{Prefixes: []netip.Prefix{pin.Prefix}, At: []ethernet.DeviceID{pin.At}, Hosts: true})
	}
	p.Fill(classes)
	return classes, nil
}

// ClassOf is the class of a pin, by its number among those that the plan was given.
func (p *Plan) ClassOf(pin int) int { return p.classOf[pin] }

// Pin is the pin that a class is of, or the first of several; nil if it is of none.
func (p *Plan) Pin(class int) *Pin { return p.pins[class] }

func (p *Plan) joined(a, b ethernet.DeviceID) bool {
	for l, end := p.Cabling.LinksFrom(a); l < end; l++ {
		if p.Cabling.Links[l].To == b {
			return true
		}
	}
	return false
}

// oneASAbove refuses ASes that keep leaves from each other's routes, or let a leaf carry routes from one device above it to another.
func (p *Plan) oneASAbove() error {
	c := p.Cabling
	leaf := map[uint32]ethernet.DeviceID{}
	for d := range ethernet.DeviceID(len(c.Names)) {
		if other, twice := leaf[p.AS[d]]; p.level[d] == 0 {
			if twice {
				return fmt.Errorf("%s and %s, both with hosts, are AS %d: neither takes the other's routes and pins, since its own AS is on the way (allowas-in is not computed); give each an AS of its own", c.Names[other], c.Names[d], p.AS[d])
			}
			leaf[p.AS[d]] = d
		}
		above := ethernet.DeviceID(ethernet.None)
		for l, end := c.LinksFrom(d); l < end; l++ {
			to := c.Links[l].To
			if p.level[d] < 0 || p.level[to] <= p.level[d] {
				continue
			}
			if above == ethernet.None {
				above = to
			}
			if p.AS[above] != p.AS[to] {
				return fmt.Errorf("%s and %s, both above %s, are AS %d and AS %d: what one of them withdraws comes back to it from below while BGP converges, which can close a credit loop; pins need one AS for devices that stand in for each other (RFC 7938; --as per-leaf)",
					c.Names[above], c.Names[to], c.Names[d], p.AS[above], p.AS[to])
			}
		}
	}
	return nil
}

// announces reports whether a device announces a pin to another, which the communities of the pin decide.
func (p *Plan) announces(pin *Pin, from, to ethernet.DeviceID) bool {
	switch {
	case from == pin.At:
		return to == pin.Up[0]
	case p.level[from] == 0:
		return false
	case p.level[to] > p.level[from]:
		i := int(p.level[from])
		return i < len(pin.Up) && to == pin.Up[i]
	}
	return true
}

// Class computes the next hops of a class as Row does; of a pin, those of its subnet at the devices that do not know the pin.
func (c *Computer) Class(class int, at []ethernet.DeviceID, down []bool, row ethernet.Row) {
	c.Row(at, down, row)
	if c.pins[class] != nil {
		c.Over(class, at, down, row)
	}
}

// Over writes the next hops of a pin, at the devices that know it, over those of its subnet, which row has.
func (c *Computer) Over(class int, at []ethernet.DeviceID, down []bool, row ethernet.Row) {
	pin := c.pins[class]
	if c.pinned == nil {
		c.pinned = c.Cabling.NewRow()
	}
	c.know(pin, at, down, c.pinned)
	for d := range ethernet.DeviceID(len(c.Cabling.Names)) {
		if words := c.Cabling.Words(c.pinned, d); !none(words) {
			copy(c.Cabling.Words(row, d), words)
		}
	}
}

// know computes the next hops of a pin at the devices that know it.
func (c *Computer) know(pin *Pin, at []ethernet.DeviceID, down []bool, row ethernet.Row) {
	c.pin = pin
	c.Row(at, down, row)
	c.pin = nil
}

// Known writes the next hops of a pin into row, at the devices that know it: they have an entry for it, others none.
func (c *Computer) Known(class int, down []bool, row ethernet.Row) {
	pin := c.pins[class]
	c.know(pin, []ethernet.DeviceID{pin.At}, down, row)
}
