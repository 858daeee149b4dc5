package frr

import (
	"math"
	"net/netip"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/ethernet/lined"
)

// arista reads show ip route | json of EOS: an object for each VRF, with one entry for each prefix.
func arista(vrfs *lined.Value, vrf string, seen map[string]bool) ([]Route, error) {
	var list []Route
	if err := vrfs.Want(lined.Object, "vrfs"); err != nil {
		return nil, err
	}
	for i := range vrfs.Members {
		m := &vrfs.Members[i]
		if err := m.Value.Want(lined.Object, "VRF "+m.Name); err != nil {
			return nil, err
		}
		seen[m.Name] = true
		all := m.Value.Get("routes")
		if all == nil || m.Name != vrf {
			continue
		}
		if err := all.Want(lined.Object, "routes"); err != nil {
			return nil, err
		}
		for j := range all.Members {
			e := &all.Members[j].Value
			prefix, err := prefixOf(all.Members[j].Name, e)
			if err != nil {
				return nil, err
			}
			r, err := aristaRoute(e, prefix)
			if err != nil {
				return nil, err
			}
			list = append(list, r)
		}
	}
	return list, nil
}

// aristaRoute is the route to a prefix of EOS.
func aristaRoute(e *lined.Value, prefix netip.Prefix) (r Route, err error) {
	r = Route{File: e.File, Line: e.Line, Prefix: prefix}
	if err := e.Want(lined.Object, "an entry of "+prefix.String()); err != nil {
		return r, err
	}
	text := map[string]string{}
	for _, name := range [...]string{"routeType", "routeAction"} {
		if text[name], err = e.String(name); err != nil {
			return r, err
		}
	}
	r.Protocol = text["routeType"]
	if in := e.Get("hardwareProgrammed"); in != nil && in.Text != "true" {
		r.Unknown = notInstalled
	}
	if text["routeAction"] == "drop" {
		return r, nil
	}
	vias := e.Get("vias")
	if vias == nil {
		return r, e.Errorf("%s has no vias", prefix)
	}
	if err := vias.Want(lined.List, "vias"); err != nil {
		return r, err
	}
	for i := range vias.Items {
		via := &vias.Items[i]
		if err := via.Want(lined.Object, "a next hop"); err != nil {
			return r, err
		}
		for _, tunnel := range [...]string{"mplsLabel", "labelStack", "vtepAddr", "tunnelDescriptor", "resolvingTunnel"} {
			if via.Get(tunnel) != nil {
				r.Unknown = "packets are wrapped (" + tunnel + "), and devices behind do not go by the prefix"
			}
		}
		if r.Unknown != "" && via.Get("interface") == nil {
			continue
		}
		hop, err := readHop(via, "interface", "nexthopAddr")
		if err != nil {
			return r, err
		}
		if hop.Weight, err = weightOf(via, "weight"); err != nil {
			return r, err
		}
		r.Hops = append(r.Hops, hop)
	}
	return r, nil
}

// nvue reads nv show vrf VRF router rib ipv4 route -o json of Cumulus Linux: for each prefix
// its entries, of which one is selected. The output does not say the VRF, so it is taken to be that asked for.
func nvue(all *lined.Value, vrf string, seen map[string]bool) ([]Route, error) {
	var list []Route
	seen[vrf] = true
	for i := range all.Members {
		e := &all.Members[i].Value
		prefix, err := prefixOf(all.Members[i].Name, e)
		if err != nil {
			return nil, err
		}
		if err := e.Want(lined.Object, "what NVUE says of "+prefix.String()); err != nil {
			return nil, err
		}
		entries := e.Get("route-entry")
		if entries == nil {
			return nil, e.Errorf("%s has no route-entry: ask with nv show vrf VRF router rib ipv4 route -o json", prefix)
		}
		if err := entries.Want(lined.Object, "route-entry"); err != nil {
			return nil, err
		}
		found := 0
		for j := range entries.Members {
			r, chosen, err := nvueRoute(&entries.Members[j].Value, prefix)
			if err != nil {
				return nil, err
			}
			if !chosen {
				continue
			}
			if found > 0 {
				return nil, entries.Errorf("%s is selected a second time: line %d too", prefix, found)
			}
			found = r.Line
			list = append(list, r)
		}
	}
	return list, nil
}

// nvueRoute is the route of an entry of NVUE; chosen says whether it is in force.
func nvueRoute(e *lined.Value, prefix netip.Prefix) (r Route, chosen bool, err error) {
	r = Route{File: e.File, Line: e.Line, Prefix: prefix}
	if err := e.Want(lined.Object, "an entry of "+prefix.String()); err != nil {
		return r, false, err
	}
	flags := e.Get("flags")
	if flags == nil {
		return r, false, nil
	}
	if err := flags.Want(lined.Object, "flags"); err != nil {
		return r, false, err
	}
	if !set(flags, "selected") && !set(flags, "fib-selected") {
		return r, false, nil
	}
	switch {
	case set(flags, "failed"):
		r.Unknown = notInstalled
	case set(flags, "queued"):
		r.Unknown = beingInstalled
	}
	if r.Protocol, err = e.String("protocol"); err != nil {
		return r, false, err
	}
	var vias *lined.Value
	for _, name := range [...]string{"via-entry", "via", "resolved-via"} {
		if vias = e.Get(name); vias != nil {
			break
		}
	}
	if vias == nil {
		r.Unknown = "its next hops are not told: ask with -o json for the whole route"
		return r, true, nil
	}
	if err := vias.Want(lined.Object, "next hops"); err != nil {
		return r, false, err
	}
	for i := range vias.Members {
		hop, counts, err := nvueHop(vias.Members[i].Name, &vias.Members[i].Value, &r)
		if err != nil {
			return r, false, err
		}
		if counts {
			r.Hops = append(r.Hops, hop)
		}
	}
	return r, true, nil
}

// nvueHop reads a next hop of a route, whose key is its address, its interface, or a number; counts says whether it is in force. Where
// it does not tell where packets go, it sets r.Unknown.
func nvueHop(key string, v *lined.Value, r *Route) (hop Hop, counts bool, err error) {
	if err := v.Want(lined.Object, "next hop "+key); err != nil {
		return hop, false, err
	}
	kind, err := v.String("type")
	if err != nil {
		return hop, false, err
	}
	if flags := v.Get("flags"); flags != nil && flags.Kind == lined.Object && (set(flags, "inactive") || set(flags, "recursive")) {
		return hop, false, nil
	}
	if strings.Contains(kind, "blackhole") || strings.Contains(kind, "unreachable") || key == "blackhole" || key == "reject" {
		return hop, false, nil
	}
	if v.Get("label") != nil || v.Get("labels") != nil {
		r.Unknown = labelled
	}
	if hop.Interface, err = v.String("interface"); err != nil {
		return hop, false, err
	}
	if ip, bad := netip.ParseAddr(key); bad == nil {
		hop.IP = ip
	} else if hop.Interface == "" {
		hop.Interface = key
	}
	if hop.Interface == "" {
		r.Unknown = "it does not say by which interface, and an address can be behind several"
		return hop, false, nil
	}
	hop.Weight, err = weightOf(v, "weight")
	return hop, true, err
}

// set reports whether a flag of NVUE is there: as an empty object, or "on".
func set(flags *lined.Value, name string) bool {
	f := flags.Get(name)
	return f != nil && f.Text != "off" && f.Text != "false"
}

// prefixOf is the prefix that the name of an entry v is.
func prefixOf(name string, v *lined.Value) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(strings.ReplaceAll(name, `\/`, "/")) // FRR writes \/, which tools that gather dumps quote once more
	if err != nil {
		return prefix, v.Errorf("%q is not a prefix such as 10.1.0.0/24", name)
	}
	if prefix != prefix.Masked() {
		return prefix, v.Errorf("%s has bits behind its length: %s", prefix, prefix.Masked())
	}
	return prefix, nil
}

// weightOf is how much traffic a next hop takes beside the others, 0 where it is not said.
func weightOf(v *lined.Value, name string) (uint16, error) {
	w := v.Get(name)
	if w == nil || w.Kind == lined.Null {
		return 0, nil
	}
	n, err := strconv.ParseUint(w.Text, 10, 16)
	if err != nil {
		return 0, w.Errorf("the weight %q is not a number up to %d", w.Text, math.MaxUint16)
	}
	return uint16(n), nil
}
