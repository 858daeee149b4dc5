package lldp

import (
	"cmp"
	"strings"

	"github.com/weft-fabric/weft/internal/ethernet/lined"
)

// eos reads show lldp neighbors detail | json of Arista's EOS.
func eos(v *lined.Value) ([]Neighbor, error) {
	var list []Neighbor
	if v.Kind == lined.List { // without detail: one entry for each neighbor
		for i := range v.Items {
			e := &v.Items[i]
			n := Neighbor{File: e.File, Line: e.Line}
			for _, part := range [...]struct {
				name string
				to   *string
			}{{"port", &n.Interface}, {"neighborDevice", &n.Device}, {"neighborPort", &n.Port}} {
				var err error
				if *part.to, err = e.String(part.name); err != nil {
					return nil, err
				}
				if *part.to == "" {
					return nil, e.Errorf("a neighbor without %s", part.name)
				}
			}
			list = append(list, n)
		}
		return list, nil
	}
	if err := v.Want(lined.Object, "lldpNeighbors"); err != nil {
		return nil, err
	}
	for i := range v.Members {
		m := &v.Members[i]
		for _, e := range listed(m.Value.Get("lldpNeighborInfo")) {
			n := Neighbor{File: e.File, Line: e.Line, Interface: m.Name, Device: cmp.Or(textOf(e.Get("systemName")), textOf(e.Get("chassisId")))}
			if port := e.Get("neighborInterfaceInfo"); port != nil {
				n.Port = textOf(port.Get("interfaceId_v2"))
				if n.Port == "" {
					n.Port = strings.Trim(textOf(port.Get("interfaceId")), `"`)
				}
				n.Descr = textOf(port.Get("interfaceDescription"))
			}
			if err := n.whole(e); err != nil {
				return nil, err
			}
			list = append(list, n)
		}
	}
	return list, nil
}

// nvue reads nv show interface lldp -o json of Cumulus Linux: the neighbors of each interface by name.
func nvue(v *lined.Value) ([]Neighbor, error) {
	var list []Neighbor
	for i := range v.Members {
		m := &v.Members[i]
		heard := m.Value.Get("lldp")
		if heard == nil || heard.Get("neighbor") == nil {
			continue
		}
		all := heard.Get("neighbor")
		if err := all.Want(lined.Object, "the neighbors of "+m.Name); err != nil {
			return nil, err
		}
		for j := range all.Members {
			e := &all.Members[j].Value
			n := Neighbor{File: e.File, Line: e.Line, Interface: m.Name, Device: all.Members[j].Name}
			if chassis := e.Get("chassis"); chassis != nil && textOf(chassis.Get("system-name")) != "" {
				n.Device = textOf(chassis.Get("system-name"))
			}
			if port := e.Get("port"); port != nil {
				n.Port, n.Descr = textOf(port.Get("name")), textOf(port.Get("description"))
			}
			if err := n.whole(e); err != nil {
				return nil, err
			}
			list = append(list, n)
		}
	}
	return list, nil
}

// whole says what a neighbor lacks.
func (n *Neighbor) whole(v *lined.Value) error {
	if n.Device == "" {
		return v.Errorf("the neighbor at %s does not say its name", n.Interface)
	}
	if n.Port == "" && n.Descr == "" {
		return v.Errorf("the neighbor at %s, %s, does not say which port", n.Interface, n.Device)
	}
	return nil
}
