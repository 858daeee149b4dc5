package cablelist

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/format/internal/cabling"
	"github.com/weft-fabric/weft/format/internal/objects"
	"github.com/weft-fabric/weft/internal/reading"
)

// ReadLinks reads UFM's list of links: an array of objects, or an object with such an array in
// data, as UFM answers a query for a page. Of each link it takes source_guid, source_port and
// destination_guid, destination_port; source_port_dname, source_port_node_description and those
// of the destination; name; width; speed, which few versions have; severity. A link may be
// listed once or from both ends.
func ReadLinks(r io.Reader, file string) (*fabric.Fabric, error) {
	d, err := objects.New(r, file)
	if err != nil {
		return nil, err
	}
	p := &links{list: cabling.List{File: file}, d: d}
	total, arrays := 0, 0
	if d.Opens('[') {
		arrays, err = 1, d.Each(p.link)
	} else {
		err = d.Members(func(key string) error {
			switch {
			case d.Opens('['):
				arrays++
				return d.Each(p.link)
			case key == "total_resources" || key == "filtered_resources":
				value, err := d.Value()
				if n, bad := strconv.Atoi(objects.Text(value)); bad == nil && key == "total_resources" {
					total = n
				}
				return err
			}
			_, err := d.Value()
			return err
		})
	}
	if err == nil {
		err = d.End()
	}
	switch {
	case err != nil:
		return nil, err
	case arrays != 1:
		return nil, format.Errorf(file, 1, "%d lists of links in it, and one is wanted: what UFM answers to GET /ufmRest/resources/links", arrays)
	}
	p.tell(total)
	return p.list.Build()
}

// links is UFM's links as far as they are read, and what is to be told of them.
type links struct {
	list cabling.List
	d    *objects.Reader

	read, worse int    // links; those of a severity worse than Info
	severity    string // of the first of these
	speeds      int    // speeds that are not known
	speed       string // the first of them
}

// side is what a link says of one of its ends.
type side struct {
	guid        fabric.GUID
	port        int
	dname, desc string
}

func (p *links) link(line int, values map[string]any) error {
	var sides [2]side
	for i, name := range [...]string{"source", "destination"} {
		s := &sides[i]
		c := reading.Cursor(objects.Text(values[name+"_guid"]))
		guid, ok := c.Hex(1<<64 - 1)
		if !ok || !c.Empty() || guid == 0 {
			return format.Errorf(p.list.File, line, "%s_guid is %q, which is no GUID: is this UFM's list of links (GET /ufmRest/resources/links)?", name, objects.Text(values[name+"_guid"]))
		}
		s.guid = fabric.GUID(guid)
		port, err := strconv.Atoi(objects.Text(values[name+"_port"]))
		if err != nil || port < 1 || port > fabric.MaxPorts {
			return format.Errorf(p.list.File, line, "%s_port is %q, and ports have numbers from 1 to %d", name, objects.Text(values[name+"_port"]), fabric.MaxPorts)
		}
		s.port = port
		s.dname, s.desc = objects.Text(values[name+"_port_dname"]), strings.TrimSpace(objects.Text(values[name+"_port_node_description"]))
	}
	own := ownGUIDs(objects.Text(values["name"]), &sides)
	var ends [2]cabling.End
	for i := range sides {
		s := &sides[i]
		n := cabling.Node{Kind: kindOf(s), GUID: s.guid, Name: nodeName(s)}
		if n.Kind == cabling.Adapter && own[i] != 0 {
			n.GUID = own[i] // source_guid is that of the host's first adapter
		}
		n.PortGUID = n.Kind == cabling.Adapter
		n.Key = strings.TrimPrefix(n.GUID.String(), "0x")
		at, err := p.list.Node(n, line)
		if err != nil {
			return err
		}
		ends[i] = cabling.End{Node: at, Port: cabling.Port{Number: s.port}}
	}
	p.read++
	if severity := objects.Text(values["severity"]); severity != "" && !strings.EqualFold(severity, "info") {
		if p.worse++; p.worse == 1 {
			p.severity = fmt.Sprintf("%s, of %s", severity, objects.Text(values["name"]))
		}
	}
	return p.list.Cable(ends[0], ends[1], p.rate(values), line)
}

// named is the name of a link: the port GUID and the number of the port of either end, in any
// order.
var named = regexp.MustCompile(`^(?:0x)?([0-9a-fA-F]{1,16})_([0-9]{1,3}):(?:0x)?([0-9a-fA-F]{1,16})_([0-9]{1,3})$`)

// ownGUIDs is the GUIDs of the adapters themselves at both ends, by the name of the link; zero:
// it does not say.
func ownGUIDs(name string, sides *[2]side) [2]fabric.GUID {
	m := named.FindStringSubmatch(name)
	if m == nil {
		return [2]fabric.GUID{}
	}
	var guid [2]fabric.GUID
	var port [2]int
	for i := range guid {
		value, _ := strconv.ParseUint(m[1+2*i], 16, 64)
		guid[i] = fabric.GUID(value)
		port[i], _ = strconv.Atoi(m[2+2*i])
	}
	fits := func(first int) (points int) { // how well half first is the source's
		for i := range sides {
			half := (i + first) % 2
			if port[half] != sides[i].port {
				return -1
			}
			if guid[half] == sides[i].guid {
				points++
			}
		}
		return points
	}
	switch straight, crossed := fits(0), fits(1); {
	case straight < 0 && crossed < 0, straight == crossed:
		return [2]fabric.GUID{} // of another link, or either way round
	case straight > crossed:
		return guid
	}
	return [2]fabric.GUID{guid[1], guid[0]}
}

// adapterName is what adapters and their ports are called: by device, or by network interface, such as ib0, ibp3s0, ibP16p3s0
// or what else rules of udev make of it.
var adapterName = regexp.MustCompile(`(?i)^hca|[ :](mlx[0-9]+_|hca-?[0-9]|hfi1_|ib[ps]?[0-9]|ib[a-z]+[0-9][a-z0-9]*$)|aggregation node`)

// kindOf says what is at an end. Ports of switches are in their descriptions, behind a colon.
func kindOf(s *side) cabling.Kind {
	switch {
	case adapterName.MatchString(s.dname), adapterName.MatchString(s.desc):
		return cabling.Adapter
	case strings.HasSuffix(s.desc, ":"+s.dname) && s.dname != "", strings.HasSuffix(s.desc, ":"+strconv.Itoa(s.port)), inDirector.MatchString(s.desc):
		return cabling.Switch
	}
	return cabling.Unknown
}

// inDirector is the description of a port of a director: name:L5/U1/20.
var inDirector = regexp.MustCompile(`^(.*:[A-Z][A-Z0-9]*/U[0-9]+)/P?[0-9/]+$`)

// nodeName is the description without the port.
func nodeName(s *side) string {
	if m := inDirector.FindStringSubmatch(s.desc); m != nil {
		return m[1]
	}
	for _, port := range [...]string{s.dname, strconv.Itoa(s.port)} {
		if name, ok := strings.CutSuffix(s.desc, ":"+port); ok && port != "" {
			return name
		}
	}
	return s.desc
}

var lanes = regexp.MustCompile(`(?i)^(?:IB_)?([0-9]{1,2})x$`)

// rate is how fast a link is; without a speed it is not known.
func (p *links) rate(values map[string]any) fabric.Rate {
	for _, key := range [...]string{"speed", "active_speed", "link_speed", "source_port_speed"} {
		said := strings.TrimPrefix(objects.Text(values[key]), "IB_")
		if said == "" {
			continue
		}
		rate, ok := cabling.ParseRate(said)
		if !ok {
			if p.speeds++; p.speeds == 1 {
				p.speed = said
			}
			continue
		}
		if m := lanes.FindStringSubmatch(objects.Text(values["width"])); m != nil {
			if width, _ := strconv.Atoi(m[1]); width > 0 {
				rate.Width = uint8(width)
			}
		}
		return rate
	}
	return fabric.Rate{}
}

func (p *links) tell(total int) {
	if total > p.read {
		p.list.Warn("%d of %d links are in it: this is one page; ask for all of them, without page_number and rpp", p.read, total)
	}
	if p.worse > 0 {
		p.list.Warn("UFM calls %s worse than Info, the first %s", reading.Count(p.worse, "link", "links"), p.severity)
	}
	if p.speeds > 0 {
		p.list.Warn("%s like HDR, 4xHDR or 200G, the first %q", reading.Count(p.speeds, "speed is none", "speeds are none"), p.speed)
	}
}
