package sonic

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
)

// minigraph is one switch's minigraph.xml on its way to a Config.
type minigraph struct {
	c    *Config
	file string
	d    *xml.Decoder
	as   map[string]uint32 // by router, in lower case: the file spells a name in several ways
	link []deviceLink
}

// deviceLink is an element DeviceLinkBase: a cable between two devices, of which either may be the switch itself.
type deviceLink struct {
	line                         int
	EndDevice, EndPort           string
	StartDevice, StartPort, Kind string
}

// ReadMinigraph reads a minigraph.xml, which SONiC's switches are set up from where they have no
// config_db.json yet: the name of the switch, its AS number, its neighbors, its port channels and its
// addresses. It has no maps for priorities.
func ReadMinigraph(r io.Reader, file string) (*Config, error) {
	text, err := reading.ReadUTF8(r, file, reading.MaxSettings)
	if err != nil {
		return nil, err
	}
	m := &minigraph{
		c:    &Config{File: file, Channel: map[string]string{}, Alias: map[string]string{}, Speed: map[string]uint32{}, Ports: map[string]*QoS{}, VRF: map[string]string{}},
		file: file, d: xml.NewDecoder(bytes.NewReader(text)), as: map[string]uint32{},
	}
	depth := 0
	for {
		t, err := m.d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, m.failed(err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth == 0 && t.Name.Local != "DeviceMiniGraph" {
				return nil, format.Errorf(file, m.line(), "the element %s, not DeviceMiniGraph: this is not a minigraph.xml", reading.Printable(t.Name.Local))
			}
			depth++
			done, err := m.element(&t, depth)
			if err != nil {
				return nil, err
			}
			if done {
				depth--
			}
		case xml.EndElement:
			depth--
		}
	}
	if m.c.Hostname == "" {
		return nil, format.Errorf(file, 1, "no Hostname of the switch itself")
	}
	return m.c, m.finish()
}

// line is where the decoder is.
func (m *minigraph) line() int {
	line, _ := m.d.InputPos()
	return line
}

// failed is an error of the decoder with its line.
func (m *minigraph) failed(err error) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		return format.Errorf(m.file, syntax.Line, "not XML: %s", syntax.Msg)
	}
	return format.Errorf(m.file, m.line(), "not XML: %v", err)
}

// element reads an element that says something to its end, and says whether it did; others are left to the caller.
func (m *minigraph) element(t *xml.StartElement, depth int) (done bool, err error) {
	line := m.line()
	switch t.Name.Local {
	case "Hostname":
		if depth != 2 {
			return false, nil
		}
		err = m.decode(&m.c.Hostname, t)
	case "DeviceLinkBase":
		l := deviceLink{line: line}
		var e struct {
			ElementType, EndDevice, EndPort, StartDevice, StartPort string
		}
		err = m.decode(&e, t)
		l.Kind, l.EndDevice, l.EndPort, l.StartDevice, l.StartPort = e.ElementType, e.EndDevice, e.EndPort, e.StartDevice, e.StartPort
		m.link = append(m.link, l)
	case "BGPRouterDeclaration":
		var e struct{ ASN, Hostname string }
		if err = m.decode(&e, t); err == nil && e.Hostname != "" {
			n, bad := strconv.ParseUint(strings.TrimSpace(e.ASN), 10, 32)
			if bad != nil {
				return true, format.Errorf(m.file, line, "the ASN %q of %s is not a number", reading.Printable(e.ASN), reading.Printable(e.Hostname))
			}
			m.as[strings.ToLower(e.Hostname)] = uint32(n)
		}
	case "PortChannel":
		var e struct{ Name, AttachTo string }
		if err = m.decode(&e, t); err == nil {
			for port := range strings.SplitSeq(e.AttachTo, ";") {
				if port = strings.TrimSpace(port); port != "" && e.Name != "" {
					m.c.Channel[port] = e.Name
				}
			}
		}
	case "IPInterface", "LoopbackIPInterface":
		var e struct {
			AttachTo string
			Prefix   struct { // of a loopback the text is blank, and an element inside has the address
				Text     string `xml:",chardata"`
				IPPrefix string
			}
			PrefixStr string
		}
		if err = m.decode(&e, t); err != nil {
			break
		}
		text := cmp.Or(strings.TrimSpace(e.Prefix.Text), strings.TrimSpace(e.PrefixStr), strings.TrimSpace(e.Prefix.IPPrefix))
		if e.AttachTo == "" || text == "" {
			break
		}
		p, bad := netip.ParsePrefix(text)
		if bad != nil {
			return true, format.Errorf(m.file, line, "the prefix %q of %s is not an address such as 10.0.0.0/31", reading.Printable(text), reading.Printable(e.AttachTo))
		}
		m.c.Addresses = append(m.c.Addresses, Address{e.AttachTo, p})
	case "ManagementIPInterfaces":
		err = m.skip()
	default:
		return false, nil
	}
	return true, err
}

func (m *minigraph) decode(to any, t *xml.StartElement) error {
	if err := m.d.DecodeElement(to, t); err != nil {
		return m.failed(err)
	}
	return nil
}

func (m *minigraph) skip() error {
	if err := m.d.Skip(); err != nil {
		return m.failed(err)
	}
	return nil
}

// finish fills in what is about the switch itself of what the file says of several: its AS number and its neighbors.
func (m *minigraph) finish() error {
	c := m.c
	c.AS = m.as[strings.ToLower(c.Hostname)]
	for _, l := range m.link {
		if l.Kind != "" && l.Kind != "DeviceInterfaceLink" {
			continue // management, consoles, links inside a device
		}
		n := Neighbor{Line: l.line}
		switch {
		case strings.EqualFold(l.StartDevice, c.Hostname):
			n.Port, n.Device, n.Peer = l.StartPort, l.EndDevice, l.EndPort
		case strings.EqualFold(l.EndDevice, c.Hostname):
			n.Port, n.Device, n.Peer = l.EndPort, l.StartDevice, l.StartPort
		default:
			continue
		}
		if n.Port == "" || n.Device == "" || n.Peer == "" {
			return format.Errorf(m.file, l.line, "a DeviceLinkBase of %s lacks a device or a port", reading.Printable(c.Hostname))
		}
		if !slices.ContainsFunc(c.Neighbors, func(o Neighbor) bool { return o.Port == n.Port && o.Device == n.Device && o.Peer == n.Peer }) {
			c.Neighbors = append(c.Neighbors, n)
		}
	}
	return nil
}

// Complete adds what a minigraph.xml says to a config_db.json of the same switch: the neighbors and
// the AS number where the latter has none. In other matters config_db.json is what is in force.
func (c *Config) Complete(m *Config) {
	if len(c.Neighbors) == 0 {
		c.Neighbors = m.Neighbors
		c.NeighborsFile = m.File
	}
	if c.AS == 0 {
		c.AS = m.AS
	}
	if c.Hostname == "" {
		c.Hostname = m.Hostname
	}
}
