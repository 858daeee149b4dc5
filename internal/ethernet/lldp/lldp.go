// Package lldp reads who is at the other end of a device's cables: lldpcli -f json show
// neighbors, also with the form json0; what Arista's EOS says (show lldp neighbors | json, also
// with detail) and Cumulus Linux (nv show interface lldp -o json).
package lldp

import (
	"io"
	"slices"

	"github.com/weft-fabric/weft/internal/ethernet/lined"
)

// Neighbor is what a device heard on one of its interfaces.
type Neighbor struct {
	File      string
	Line      int
	Interface string // of the device that heard
	Device    string // the other's system name, or the address of its chassis if it says none
	Port      string // the other's port, as it names it; a MAC address if it says no more
	Descr     string // the other's description of the port
}

// Read reads the neighbors of a device. What a device says of itself by other protocols than
// LLDP (CDP and the like) is left out where LLDP says the same of the interface.
func Read(r io.Reader, file string) ([]Neighbor, error) {
	v, err := lined.Read(r, file)
	if err != nil {
		return nil, err
	}
	if heard := v.Get("lldpNeighbors"); heard != nil {
		return eos(heard)
	}
	top := unwrap(v.Get("lldp"))
	if top == nil && slices.ContainsFunc(v.Members, func(m lined.Member) bool { return m.Value.Get("lldp") != nil }) {
		return nvue(v)
	}
	if top == nil || top.Kind != lined.Object {
		return nil, v.Errorf("no object called lldp: this is not the output of lldpcli -f json show neighbors")
	}
	var list []Neighbor
	for _, entry := range listed(top.Get("interface")) {
		if entry.Kind != lined.Object {
			return nil, entry.Errorf("an interface is %s, not an object", entry.Kind)
		}
		if name := entry.Get("name"); name != nil { // json0: the name is a member
			n, err := neighbor(name.Text, entry)
			if err != nil {
				return nil, err
			}
			list = append(list, n)
			continue
		}
		for i := range entry.Members {
			n, err := neighbor(entry.Members[i].Name, &entry.Members[i].Value)
			if err != nil {
				return nil, err
			}
			list = append(list, n)
		}
	}
	return list, nil
}

// unwrap is the first item of a list, which json0 makes of everything, or the value itself.
func unwrap(v *lined.Value) *lined.Value {
	for v != nil && v.Kind == lined.List && len(v.Items) > 0 {
		v = &v.Items[0]
	}
	return v
}

// listed is the items of a list, or the value as the only one.
func listed(v *lined.Value) []*lined.Value {
	if v == nil {
		return nil
	}
	if v.Kind != lined.List {
		return []*lined.Value{v}
	}
	var list []*lined.Value
	for i := range v.Items {
		list = append(list, &v.Items[i])
	}
	return list
}

func neighbor(name string, v *lined.Value) (Neighbor, error) {
	n := Neighbor{File: v.File, Line: v.Line, Interface: name}
	chassis, port := unwrap(v.Get("chassis")), unwrap(v.Get("port"))
	if chassis == nil || port == nil || chassis.Kind != lined.Object || port.Kind != lined.Object {
		return n, v.Errorf("interface %s has no chassis or no port of a neighbor", name)
	}
	switch named := unwrap(chassis.Get("name")); {
	case named != nil && named.Kind == lined.Object: // json0
		n.Device = textOf(named.Get("value"))
	case named != nil:
		n.Device = named.Text
	case chassis.Get("id") != nil: // the firmware of an adapter says no name
		n.Device = textOf(unwrap(chassis.Get("id")).Get("value"))
	case len(chassis.Members) == 1: // json: the name of the system is the name of the member
		n.Device = chassis.Members[0].Name
	}
	if id := unwrap(port.Get("id")); id != nil {
		n.Port = textOf(id.Get("value"))
	}
	if descr := unwrap(port.Get("descr")); descr != nil {
		n.Descr = descr.Text
		if descr.Kind == lined.Object {
			n.Descr = textOf(descr.Get("value"))
		}
	}
	return n, n.whole(v)
}

func textOf(v *lined.Value) string {
	if v == nil {
		return ""
	}
	return v.Text
}
