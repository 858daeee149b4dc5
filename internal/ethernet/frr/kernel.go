package frr

import (
	"io"
	"net/netip"

	"github.com/weft-fabric/weft/internal/ethernet/lined"
)

// kernelInterfaces reads ip -j address show, for routers whose FRR does not say interfaces as JSON (before 8.1).
func kernelInterfaces(v *lined.Value) ([]Interface, error) {
	var list []Interface
	for i := range v.Items {
		e := &v.Items[i]
		if err := e.Want(lined.Object, "an interface"); err != nil {
			return nil, err
		}
		if len(e.Members) == 0 {
			continue // ip prints {} for what it leaves out
		}
		in := Interface{Line: e.Line, Up: true}
		var err error
		if in.Name, err = e.String("ifname"); err != nil {
			return nil, err
		}
		if in.Name == "" {
			return nil, e.Errorf("an interface without ifname")
		}
		if in.MAC, err = e.String("address"); err != nil {
			return nil, err
		}
		if info := e.Get("linkinfo"); info != nil {
			master, err := e.String("master")
			if err != nil {
				return nil, err
			}
			switch textOf(info.Get("info_slave_kind")) {
			case "vrf":
				in.VRF = master
			case "bond", "team":
				in.Member, in.Channel = true, master
			}
		}
		state, err := e.String("operstate")
		if err != nil {
			return nil, err
		}
		in.Loopback = textOf(e.Get("link_type")) == "loopback"
		in.Up = state == "UP" || state == "UNKNOWN" // the state of dummies and of what has no carrier of its own
		addresses := e.Get("addr_info")
		if addresses == nil {
			list = append(list, in)
			continue
		}
		if err := addresses.Want(lined.List, "addr_info"); err != nil {
			return nil, err
		}
		for j := range addresses.Items {
			a := &addresses.Items[j]
			if err := a.Want(lined.Object, "an address"); err != nil {
				return nil, err
			}
			if len(a.Members) == 0 {
				continue
			}
			prefix, err := netip.ParsePrefix(textOf(a.Get("local")) + "/" + textOf(a.Get("prefixlen")))
			if err != nil {
				return nil, a.Errorf("an address of %s has no local and prefixlen", in.Name)
			}
			in.Addresses = append(in.Addresses, prefix)
		}
		list = append(list, in)
	}
	return list, nil
}

// textOf is the text of a value that may not be there.
func textOf(v *lined.Value) string {
	if v == nil || v.Kind != lined.String && v.Kind != lined.Number {
		return ""
	}
	return v.Text
}

// Neighbor is an address that a router heard of on an interface by ARP or neighbor discovery.
type Neighbor struct {
	Line      int
	IP        netip.Addr
	Interface string
	MAC       string
}

// ReadNeighbors reads ip -j neigh show: the entries with a MAC address, which those that failed do not have.
func ReadNeighbors(r io.Reader, file string) ([]Neighbor, error) {
	v, err := lined.Read(r, file)
	if err != nil {
		return nil, err
	}
	if err := v.Want(lined.List, "ip -j neigh show"); err != nil {
		return nil, err
	}
	var list []Neighbor
	for i := range v.Items {
		e := &v.Items[i]
		if err := e.Want(lined.Object, "a neighbor"); err != nil {
			return nil, err
		}
		n := Neighbor{Line: e.Line, Interface: textOf(e.Get("dev")), MAC: textOf(e.Get("lladdr"))}
		if n.MAC == "" || n.Interface == "" {
			continue
		}
		if n.IP, err = netip.ParseAddr(textOf(e.Get("dst"))); err != nil {
			return nil, e.Errorf("dst %q is not an address", textOf(e.Get("dst")))
		}
		list = append(list, n)
	}
	return list, nil
}
