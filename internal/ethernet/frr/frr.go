// Package frr reads what FRR's vtysh says of a router: show ip route, show ipv6 route (as JSON
// or text, of one VRF or of all) and show interface json. SONiC's routers speak the same. It reads
// the routes of Cumulus Linux (NVUE) and of Arista's EOS too, as JSON.
//
// A route counts if zebra selected it, with the next hops that it put into the kernel or
// the hardware (fib). A recursive next hop counts by those that it was resolved to, which
// FRR lists behind it. Where the kernel refused a route (failed), its next hops are said to be
// in the FIB all the same (FRR 8.4.4), and nothing tells what is.
package frr

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/ethernet/lined"
	"github.com/weft-fabric/weft/internal/reading"
)

// Route is a route in force.
type Route struct {
	File     string
	Line     int
	Prefix   netip.Prefix
	Protocol string // connected, bgp, static, …
	Hops     []Hop  // none: packets are dropped
	Unknown  string // why the next hops do not tell where packets go; empty: they do
}

// Hop is a next hop.
type Hop struct {
	Interface string
	IP        netip.Addr // zero: hosts on the interface
	Weight    uint16     // its share of the flows beside other next hops; 0: not said
}

// Why the next hops of a route do not tell where packets go.
const (
	notInstalled   = "it could not be installed, and an older route may be in force"
	beingInstalled = "it was being installed, and an older route may have been in force: take the dump again"
	noneInFIB      = "none of its next hops is in the FIB, and an older route may be in force"
	labelled       = "packets get MPLS labels, and devices behind do not go by the prefix"
)

// ReadRoutes reads the routes of one VRF. VRFs that were there are added to seen.
func ReadRoutes(r io.Reader, file, vrf string, seen map[string]bool) ([]Route, error) {
	in := bufio.NewReaderSize(r, 4096)
	head, err := in.Peek(1024)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff"))); !textBegins.Match(head) {
		return readJSON(in, file, vrf, seen)
	}
	return readText(in, file, vrf, seen)
}

// readJSON reads a file of one JSON value, or of several: older versions of FRR print the routes of all VRFs as one after the other.
func readJSON(r io.Reader, file, vrf string, seen map[string]bool) (list []Route, err error) {
	all, err := lined.ReadAll(r, file)
	if err != nil {
		return nil, err
	}
	lines := map[netip.Prefix]int{} // where the route to each prefix is
	for i := range all {
		found, err := routesOf(&all[i], vrf, seen)
		if err != nil {
			return nil, err
		}
		for _, route := range found {
			if before := lines[route.Prefix]; before != 0 {
				return nil, format.Errorf(file, route.Line, "%s is selected a second time: line %d too", route.Prefix, before)
			}
			lines[route.Prefix] = route.Line
		}
		list = append(list, found...)
	}
	return list, nil
}

// textBegins matches the beginning of a file that is text, not JSON.
var textBegins = regexp.MustCompile(`^(?:[A-Za-z~][>\[ *]|[^\s{\["0-9tfn-])`)

// routesOf is the routes of one VRF in a JSON value, in whatever dialect it is.
func routesOf(v *lined.Value, vrf string, seen map[string]bool) ([]Route, error) {
	if err := v.Want(lined.Object, "show ip route json"); err != nil {
		return nil, err
	}
	if vrfs := v.Get("vrfs"); vrfs != nil {
		return arista(vrfs, vrf, seen)
	}
	if inner := v.Get("route"); inner != nil && len(v.Members) == 1 && inner.Kind == lined.Object {
		return nvue(inner, vrf, seen)
	}
	if len(v.Members) > 0 && v.Members[0].Value.Get("route-entry") != nil {
		return nvue(v, vrf, seen)
	}
	return frrRoutes(v, vrf, seen)
}

// frrRoutes reads FRR's own JSON: a list of entries for each prefix.
func frrRoutes(v *lined.Value, vrf string, seen map[string]bool) ([]Route, error) {
	var list []Route
	for i := range v.Members {
		m := &v.Members[i]
		if m.Value.Kind == lined.Object { // show ip route vrf all json: an object for each VRF
			seen[m.Name] = true
			more, err := frrRoutes(&m.Value, vrf, seen)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
			continue
		}
		prefix, err := prefixOf(m.Name, &m.Value)
		if err != nil {
			return nil, err
		}
		if err := m.Value.Want(lined.List, "what FRR says of "+m.Name); err != nil {
			return nil, err
		}
		found, err := selected(&m.Value, prefix, vrf, seen)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// selected is the entry of a prefix that is in force; none or one.
func selected(entries *lined.Value, prefix netip.Prefix, vrf string, seen map[string]bool) ([]Route, error) {
	var found []Route
	for i := range entries.Items {
		e := &entries.Items[i]
		if err := e.Want(lined.Object, "an entry of "+prefix.String()); err != nil {
			return nil, err
		}
		name, err := vrfOf(e)
		if err != nil {
			return nil, err
		}
		seen[name] = true
		chosen, err := isSelected(e)
		if err != nil {
			return nil, err
		}
		if name != vrf || !chosen {
			continue
		}
		if len(found) > 0 {
			return nil, e.Errorf("%s is selected a second time: line %d too", prefix, found[0].Line)
		}
		r := Route{File: e.File, Line: e.Line, Prefix: prefix}
		if r.Protocol, err = e.String("protocol"); err != nil {
			return nil, err
		}
		if r.Hops, r.Unknown, err = hops(e); err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, nil
}

// vrfOf is the VRF of an entry. Older versions of FRR give its number alone, and none or 0 for the default VRF.
func vrfOf(e *lined.Value) (string, error) {
	name, err := e.String("vrfName")
	if err != nil || name != "" {
		return name, err
	}
	if id := e.Get("vrfId"); id != nil && id.Text != "0" {
		return "number " + id.Text, nil
	}
	return "default", nil
}

// isSelected reports whether an entry is in force: by destSelected, and where that is not there by selected.
func isSelected(e *lined.Value) (bool, error) {
	for _, name := range [...]string{"destSelected", "selected"} {
		if e.Get(name) != nil {
			return e.True(name)
		}
	}
	return false, nil
}

// hops is the next hops of an entry that are in force, and why they do not tell where packets go (Route.Unknown).
func hops(e *lined.Value) (list []Hop, doubt string, err error) {
	all := e.Get("nexthops")
	if all == nil {
		return nil, "", nil
	}
	if err := all.Want(lined.List, "nexthops"); err != nil {
		return nil, "", err
	}
	drops := false
	for i := range all.Items {
		h := &all.Items[i]
		if err := h.Want(lined.Object, "a next hop"); err != nil {
			return nil, "", err
		}
		dropped, err := oneOf(h, "unreachable", "blackhole", "reject")
		if err != nil {
			return nil, "", err
		}
		if dropped {
			drops = true
			continue
		}
		fib, err := h.True("fib")
		if err != nil {
			return nil, "", err
		}
		recursive, err := h.True("recursive")
		if err != nil {
			return nil, "", err
		}
		if !fib || recursive {
			continue
		}
		hop, err := hopOf(h)
		if err != nil {
			return nil, "", err
		}
		if labels := h.Get("labels"); labels != nil && len(labels.Items) > 0 {
			doubt = labelled
		}
		list = append(list, hop)
	}
	failed, err := e.True("failed")
	if err != nil {
		return nil, "", err
	}
	queued, err := e.True("queued")
	switch {
	case err != nil:
		return nil, "", err
	case failed:
		doubt = notInstalled
	case queued:
		doubt = beingInstalled
	case len(list) == 0 && len(all.Items) > 0 && !drops:
		doubt = noneInFIB
	}
	return list, doubt, nil
}

// oneOf reports whether any of some members is true.
func oneOf(v *lined.Value, names ...string) (bool, error) {
	for _, name := range names {
		if yes, err := v.True(name); yes || err != nil {
			return yes, err
		}
	}
	return false, nil
}

// hopOf is a next hop of FRR's JSON.
func hopOf(h *lined.Value) (hop Hop, err error) {
	if hop, err = readHop(h, "interfaceName", "ip"); err != nil {
		return hop, err
	}
	hop.Weight, err = weightOf(h, "weight")
	return hop, err
}

// readHop reads the interface and the address of a next hop from members of these names.
func readHop(h *lined.Value, iface, address string) (hop Hop, err error) {
	if hop.Interface, err = h.String(iface); err != nil {
		return hop, err
	}
	if hop.Interface == "" {
		return hop, h.Errorf("a next hop in the FIB without %s", iface)
	}
	ip, err := h.String(address)
	if err != nil || ip == "" {
		return hop, err
	}
	if hop.IP, err = netip.ParseAddr(ip); err != nil {
		return hop, h.Errorf("the next hop %q is not an IP address", ip)
	}
	return hop, nil
}

// Interface is an interface of a router.
type Interface struct {
	Name      string
	Line      int
	VRF       string
	Up        bool
	Loopback  bool
	Member    bool   // of a port channel, whose name only the kernel says
	Channel   string // that port channel, if it is known
	Speed     uint32 // Mb/s; 0: not said
	MAC       string
	Addresses []netip.Prefix // as configured, not masked
}

// ReadInterfaces reads show interface json, or ip -j address show.
func ReadInterfaces(r io.Reader, file string) ([]Interface, error) {
	v, err := lined.Read(r, file)
	if err != nil {
		return nil, err
	}
	if v.Kind == lined.List {
		return kernelInterfaces(v)
	}
	if err := v.Want(lined.Object, "show interface json"); err != nil {
		return nil, err
	}
	var list []Interface
	for i := range v.Members {
		m := &v.Members[i]
		if err := m.Value.Want(lined.Object, "interface "+m.Name); err != nil {
			return nil, err
		}
		in, err := interfaceOf(m.Name, &m.Value)
		if err != nil {
			return nil, err
		}
		list = append(list, in)
	}
	return list, nil
}

// interfaceOf is an interface of FRR's JSON.
func interfaceOf(name string, v *lined.Value) (in Interface, err error) {
	in = Interface{Name: name, Line: v.Line}
	text := map[string]string{}
	for _, key := range [...]string{"vrfName", "operationalStatus", "administrativeStatus", "type", "hardwareAddress", "interfaceSlaveType"} {
		if text[key], err = v.String(key); err != nil {
			return in, err
		}
	}
	in.VRF, in.MAC = text["vrfName"], text["hardwareAddress"]
	in.Up = text["operationalStatus"] == "up" && text["administrativeStatus"] != "down"
	in.Loopback = text["type"] == "Loopback"
	in.Member = text["interfaceSlaveType"] == "Bond"
	if speed := v.Get("speed"); speed != nil && speed.Kind == lined.Number {
		if n, err := strconv.ParseUint(speed.Text, 10, 32); err == nil && n < math.MaxUint32 { // the kernel's word for unknown
			in.Speed = uint32(n)
		}
	}
	addresses := v.Get("ipAddresses")
	if addresses == nil {
		return in, nil
	}
	if err := addresses.Want(lined.List, "ipAddresses"); err != nil {
		return in, err
	}
	for i := range addresses.Items {
		a := &addresses.Items[i]
		if err := a.Want(lined.Object, "an address"); err != nil {
			return in, err
		}
		address, err := a.String("address")
		if err != nil {
			return in, err
		}
		prefix, err := netip.ParsePrefix(address)
		if err != nil {
			return in, format.Errorf(a.File, a.Line, "the address %q of %s is not one such as 10.0.0.1/31", address, name)
		}
		in.Addresses = append(in.Addresses, prefix)
	}
	return in, nil
}

// ReadAS reads the AS number in an FRR configuration; 0 if there is none. That of the instance of the VRF counts, where there
// is none that of the default VRF.
func ReadAS(r io.Reader, file, vrf string) (uint32, error) {
	lines := reading.NewLines(r, file)
	as, own := uint32(0), false // own: it is that of the VRF's own instance
	vrf = cmp.Or(vrf, "default")
	for lines.Next() {
		c := lines.Text()
		if !c.Cut("router bgp ") {
			continue
		}
		n, ok := parseAS(string(c.Word()))
		if !ok {
			return 0, lines.Errorf("router bgp is followed by an AS number")
		}
		in := "default"
		for !c.Empty() {
			switch string(c.Word()) {
			case "vrf", "view":
				in = string(c.Word())
			}
		}
		if in == vrf || in == "default" && !own {
			as, own = n, in == vrf
		}
	}
	return as, lines.Err()
}

// parseAS reads an AS number, plain or of two halves with a point between (RFC 5396).
func parseAS(text string) (uint32, bool) {
	high, low, dotted := strings.Cut(text, ".")
	bits := 32
	if dotted {
		bits = 16
	} else {
		low = "0"
	}
	a, err := strconv.ParseUint(high, 10, bits)
	b, bad := strconv.ParseUint(low, 10, 16)
	if dotted {
		a = a<<16 | b
	}
	return uint32(a), err == nil && bad == nil
}
