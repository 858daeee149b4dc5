package frr

import (
	"io"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/reading"
)

// The lines of show ip route: a route with its first next hop, such as
//
//	B>* 10.1.2.0/24 [20/0] via 10.0.0.1, lf1-sp1, weight 1, 00:00:12
//
// and further next hops of it, which are indented and have no code of a protocol. Broadcom's SONiC has a column more, for #:
// not installed in hardware.
var (
	routeLine = regexp.MustCompile(`^([A-Za-z~])(?:\[\d+\])?([> ])([*qrtob ]?#?) *(\S+/\d+)(?: \[\d+/\d+\])? (.*)$`)
	hopLine   = regexp.MustCompile(`^  +([*qrtob]?#?) +(via .*|is directly connected.*|unreachable.*)$`)
	vrfLine   = regexp.MustCompile(`^(?:IPv[46] unicast )?VRF (\S+?):?$`)
)

// protocols is the protocols by the letters of FRR, as far as weft looks at them.
var protocols = map[string]string{"C": "connected", "L": "local", "B": "bgp", "S": "static", "K": "kernel", "O": "ospf", "I": "isis"}

// textReader is a text of show ip route on its way to routes.
type textReader struct {
	lines  *reading.Lines
	vrf    string // that counts
	seen   map[string]bool
	in     string // the VRF of the lines that follow
	list   []Route
	chosen bool // the next hops that follow are of the last route in list
	drops  bool // the last route drops packets
	others bool // the last route has next hops that do not drop, in the FIB or not
}

// readText reads show ip route of vtysh, without json.
func readText(r io.Reader, file, vrf string, seen map[string]bool) ([]Route, error) {
	t := &textReader{lines: reading.NewLines(r, file), vrf: vrf, seen: seen, in: "default"}
	legend, routes := false, false
	for t.lines.Next() {
		line := string(t.lines.Text())
		switch {
		case strings.TrimSpace(line) == "":
			legend = false
		case strings.HasPrefix(line, "Codes: "):
			legend, routes = true, true
		case legend || strings.Contains(line, "# show ip") || strings.Contains(line, "> show ip"):
		default:
			ok, err := t.line(line)
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, t.lines.Errorf("%q is not a line of show ip route of FRR; of EOS give show ip route | json", short(line))
			}
			routes = true
		}
	}
	if err := t.lines.Err(); err != nil {
		return nil, err
	}
	if !routes {
		return nil, t.lines.ErrorAt(1, "this is not what show ip route says, as JSON or text")
	}
	t.end()
	return t.list, nil
}

// short is the beginning of a line, for errors.
func short(line string) string {
	if r := []rune(line); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return line
}

// line reads a line; false if it is none of show ip route.
func (t *textReader) line(line string) (bool, error) {
	if m := vrfLine.FindStringSubmatch(line); m != nil {
		t.end()
		t.in, t.chosen = m[1], false
		t.seen[t.in] = true
		return true, nil
	}
	if m := hopLine.FindStringSubmatch(line); m != nil {
		if !t.chosen {
			return true, nil
		}
		return true, t.hop(m[1], m[2])
	}
	m := routeLine.FindStringSubmatch(line)
	if m == nil {
		return false, nil
	}
	t.end()
	t.seen[t.in] = true
	prefix, err := netip.ParsePrefix(m[4])
	if err != nil {
		return true, t.lines.Errorf("%q is not a prefix such as 10.1.0.0/24", m[4])
	}
	if prefix != prefix.Masked() {
		return true, t.lines.Errorf("%s has bits behind its length: %s", prefix, prefix.Masked())
	}
	if strings.HasPrefix(m[5], "from ") {
		return true, t.lines.Errorf("the route to %s is for some senders only, which is not followed", prefix)
	}
	if t.chosen = m[2] == ">" && t.in == t.vrf; !t.chosen {
		return true, nil
	}
	protocol := protocols[m[1]]
	if protocol == "" {
		protocol = m[1]
	}
	t.list = append(t.list, Route{File: t.lines.File(), Line: t.lines.Number(), Prefix: prefix, Protocol: protocol})
	return true, t.hop(m[3], m[5])
}

// end finishes the last route, if that is one that counts, when all its next hops are read.
func (t *textReader) end() {
	if !t.chosen {
		return
	}
	if r := &t.list[len(t.list)-1]; r.Unknown == "" && len(r.Hops) == 0 && t.others && !t.drops {
		r.Unknown = noneInFIB
	}
	t.chosen, t.drops, t.others = false, false, false
}

// hop adds a next hop to the last route if it is in the FIB; status is the letters before it.
func (t *textReader) hop(status, text string) error {
	r := &t.list[len(t.list)-1]
	if rest, ok := strings.CutSuffix(status, "#"); ok {
		status, r.Unknown = rest, notInstalled
	}
	switch status {
	case "r", "o":
		r.Unknown = notInstalled
	case "q":
		r.Unknown = beingInstalled
	}
	parts := strings.Split(text, ", ")
	first := parts[0]
	// FRR's JSON says of the next hops of a route that was refused that they are in the FIB: so here.
	inForce := (status == "*" || status == "t" || status == "r" || status == "o") && !strings.Contains(text, " inactive")
	if strings.HasPrefix(first, "unreachable") {
		t.drops = t.drops || inForce
		return nil
	}
	if t.others = true; !inForce || strings.Contains(text, "(recursive)") {
		return nil
	}
	var hop Hop
	if address, ok := strings.CutPrefix(first, "via "); ok {
		address, _, _ = strings.Cut(address, " ")
		ip, err := netip.ParseAddr(address)
		if err != nil {
			return t.lines.Errorf("the next hop %q is not an IP address", address)
		}
		hop.IP = ip
	}
	if len(parts) < 2 || parts[1] == "" || strings.Contains(parts[1], "weight ") || parts[1][0] >= '0' && parts[1][0] <= '9' && strings.Contains(parts[1], ":") {
		return t.lines.Errorf("a next hop in the FIB without an interface")
	}
	hop.Interface, _, _ = strings.Cut(parts[1], " ")
	for _, part := range parts[2:] {
		switch {
		case strings.HasPrefix(part, "label "):
			r.Unknown = labelled
		case strings.HasPrefix(part, "weight "):
			weight, err := strconv.ParseUint(part[len("weight "):], 10, 16)
			if err != nil {
				return t.lines.Errorf("%q: a weight is a number up to %d", part, 1<<16-1)
			}
			hop.Weight = uint16(weight)
		}
	}
	r.Hops = append(r.Hops, hop)
	return nil
}
