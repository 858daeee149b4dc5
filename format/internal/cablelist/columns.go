// Package cablelist reads networks from lists of their cables: the .ndt files that UFM compares
// a fabric with, and others with the same columns, and the JSON that UFM answers to
// GET /ufmRest/resources/links.
//
// Neither says which devices are switches. Ports with a blade belong to directors, those that
// are called as an adapter is (mlx5_0/P1, HCA-1/1, ibp11s0f0) to hosts; what is left is guessed,
// and a warning of the fabric says so.
package cablelist

import (
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/internal/cabling"
	"github.com/weft-fabric/weft/internal/reading"
)

// ReadColumns reads a list of cables in columns, with commas, semicolons or tabs between them.
// The line with their names says which is which:
//
//	StartDevice, StartPort, EndDevice, EndPort   (A-Node Name, A-Port, Z-Node Name, Z-Port)
//	Speed         HDR, 4xHDR or 200G, if there is such a column
//	LinkType      rows of management, console and power links are left out
//	State         rows of disabled ports are left out
//	StartType, EndType (A-Type, Z-Type)   Switch or Host
//
// Others are left alone. A # or #Fields: before the first name is no part of it. Further such
// lines may follow, as where files are joined: a list of cables between switches and one of those
// to hosts make one network.
func ReadColumns(r io.Reader, file string) (*fabric.Fabric, error) {
	p := &columns{list: cabling.List{File: file}, lines: reading.NewLines(r, file), directors: map[string]int{}}
	if err := p.lines.Each(p.line); err != nil {
		return nil, err
	}
	if p.at == nil {
		return nil, p.lines.Errorf("no line with the columns StartDevice, StartPort, EndDevice and EndPort")
	}
	p.tell()
	return p.list.Build()
}

// columns is the list as far as it is read, and what is to be told of rows that are no cables.
type columns struct {
	list  cabling.List
	lines *reading.Lines

	comma rune           // what stands between columns
	at    map[string]int // by columnName: the place of each column; nil: no line has named them yet
	most  int            // the largest place of those that must be there

	open, disabled, other int            // rows left out: of ports without a cable, disabled, no data link
	speeds                int            // speeds that are not known
	speed                 string         // the first of them
	directors             map[string]int // cabled ports of each chip on a blade
	first                 string         // the director of the first of them
}

// alias is other names of columns, without blanks and punctuation and in lower case.
var alias = map[string]string{
	"anodename": "startdevice", "znodename": "enddevice", "aport": "startport", "zport": "endport", "atype": "starttype", "ztype": "endtype",
	"startdevicetype": "starttype", "enddevicetype": "endtype", "startnodetype": "starttype", "endnodetype": "endtype",
	"linkspeed": "speed", "rate": "speed",
}

// columnName is the name of a column as alias has it, for the text of a cell.
func columnName(text string) string {
	text = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")), "#"))
	text = strings.TrimPrefix(strings.TrimSpace(text), "fields:")
	text = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, text)
	if name := alias[text]; name != "" {
		return name
	}
	return text
}

func (p *columns) line(c reading.Cursor) error {
	if c.Empty() {
		return nil
	}
	text := string(c)
	for _, comma := range ",;\t" {
		if fields, err := p.split(text, comma); err == nil && p.header(fields) {
			p.comma = comma
			return nil
		}
	}
	if p.at == nil || strings.HasPrefix(strings.TrimSpace(text), "#") {
		return nil // a title, or a comment
	}
	fields, err := p.split(text, p.comma)
	if err != nil {
		return p.lines.Errorf("no row of columns")
	}
	if strings.TrimSpace(strings.Join(fields, "")) == "" {
		return nil
	}
	if len(fields) <= p.most {
		return p.lines.Errorf("%s, and the one of the %s is number %d", reading.Count(len(fields), "column", "columns"), p.columnAt(p.most), p.most+1)
	}
	return p.row(fields)
}

// split cuts a line into its cells.
func (p *columns) split(text string, comma rune) ([]string, error) {
	r := reading.NewCSV(strings.NewReader(text), p.list.File)
	r.Comma, r.LazyQuotes, r.TrimLeadingSpace = comma, true, comma != '\t'
	fields, err := r.Read()
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields, err
}

// header takes the names of columns, if fields are such, and says whether they are.
func (p *columns) header(fields []string) bool {
	at := map[string]int{}
	for i, f := range fields {
		if name := columnName(f); name != "" {
			if _, twice := at[name]; !twice {
				at[name] = i
			}
		}
	}
	most := 0
	for _, name := range [...]string{"startdevice", "startport", "enddevice", "endport"} {
		i, ok := at[name]
		if !ok {
			return false
		}
		most = max(most, i)
	}
	p.at, p.most = at, most
	return true
}

// columnAt is the name, for people, of the column at a place that must be there.
func (p *columns) columnAt(i int) string {
	for _, name := range [...]string{"StartDevice", "StartPort", "EndDevice", "EndPort"} {
		if p.at[strings.ToLower(name)] == i {
			return name
		}
	}
	return ""
}

// otherLink is types of links that are not those of the fabric.
var otherLink = regexp.MustCompile(`(?i)mgmt|management|console|oob|power|ethernet`)

// idle is states of ports that carry nothing.
var idle = regexp.MustCompile(`(?i)disabled|no-?discover|disconnected`)

// row adds the cable of a row, or counts the row among those that are left out.
func (p *columns) row(fields []string) error {
	get := func(name string) string {
		if i, ok := p.at[name]; ok && i < len(fields) {
			return fields[i]
		}
		return ""
	}
	switch {
	case get("enddevice") == "" && get("endport") == "", get("startdevice") == "" && get("startport") == "":
		p.open++
		return nil
	case otherLink.MatchString(get("linktype")):
		p.other++
		return nil
	case idle.MatchString(get("state")):
		p.disabled++
		return nil
	}
	var ends [2]cabling.End
	for side, name := range [...]string{"start", "end"} {
		var err error
		if ends[side], err = p.end(get(name+"device"), get(name+"port"), get(name+"type")); err != nil {
			return err
		}
	}
	rate := fabric.Rate{}
	if text := get("speed"); text != "" {
		var ok bool
		if rate, ok = cabling.ParseRate(text); !ok {
			if p.speeds++; p.speeds == 1 {
				p.speed = text
			}
		}
	}
	return p.list.Cable(ends[0], ends[1], rate, p.lines.Number())
}

var (
	// blade is a port of a director: Blade 16_Port 2/20 or L16/U2/20 is port 20 of chip 2 on
	// blade 16.
	blade = regexp.MustCompile(`(?i)^(blade|l|spine|s) ?([0-9]{1,3})[_ /]+(?:port ?|u)?([0-9]{1,2})/p?([0-9]{1,3})$`)
	// adapter is a port of a host: the adapter as the host calls it, and its port if it has
	// several.
	adapter = regexp.MustCompile(`^((?i:mlx[0-9]+_[a-z0-9]+|hca-?[0-9]+|hfi1_[0-9]+|qib[0-9]+|mthca[0-9]+|rail ?[0-9]+)|ib[ps][0-9][a-z0-9]*|ib[0-9]+)(?:[ /:_]+(?i:p?(?:ort ?)?)([0-9]{1,3}))?$`)
)

// end is one end of a cable; it adds its device to the list. kind is what the row says the device is, which may be empty.
func (p *columns) end(device, port, kind string) (cabling.End, error) {
	if device == "" || port == "" {
		return cabling.End{}, p.lines.Errorf("a device without a port, or a port without a device: %q, %q", device, port)
	}
	n := cabling.Node{Key: device}
	var at cabling.Port
	var ok bool
	switch lower := strings.ToLower(kind); {
	case strings.Contains(lower, "switch"):
		n.Kind = cabling.Switch
	case strings.Contains(lower, "host"), strings.Contains(lower, "server"), strings.Contains(lower, "hca"):
		n.Kind = cabling.Adapter
	}
	name := strings.TrimSpace(strings.TrimPrefix(port, device+" "))
	if m := blade.FindStringSubmatch(port); m != nil {
		letter := strings.ToUpper(m[1][:1])
		if letter == "B" {
			letter = "L"
		}
		n.Key, n.Kind = device+"/"+letter+strings.TrimLeft(m[2], "0")+"/U"+m[3], cabling.Switch
		at.Number, _ = strconv.Atoi(m[4])
		if ok = at.Number > 0; ok {
			if p.directors[n.Key]++; p.first == "" {
				p.first = device
			}
		}
	} else if m := adapter.FindStringSubmatch(name); m != nil && n.Kind != cabling.Switch {
		n.Key, n.Kind = device+" "+m[1], cabling.Adapter
		if at.Number, _ = strconv.Atoi(m[2]); m[2] == "" {
			at.Number = 1
		}
		ok = at.Number > 0
	} else {
		at, ok = cabling.ParsePort(name)
	}
	if !ok {
		return cabling.End{}, p.lines.Errorf("port %q of %s is none like Port 7, 7, P7, IB1/7, 1/3/1, Blade 3_Port 1/7, mlx5_0/P1 or ibp11s0f0", port, device)
	}
	i, err := p.list.Node(n, p.lines.Number())
	return cabling.End{Node: i, Port: at}, err
}

// tell warns of what was left out or is not known.
func (p *columns) tell() {
	if p.first != "" {
		p.list.Warn("%s on blades of directors, the first of %s, and a list of cables does not say how these are wired inside: those cables are missing; ibnetdiscover has them",
			reading.Count(len(p.directors), "chip is", "chips are"), p.first)
	}
	for _, left := range [...]struct {
		n    int
		what string
	}{{p.open, "ports without a cable"}, {p.disabled, "disabled ports"}, {p.other, "links that carry no data, by their LinkType"}} {
		if left.n > 0 {
			p.list.Warn("%s left out, of %s", reading.Count(left.n, "row is", "rows are"), left.what)
		}
	}
	if p.speeds > 0 {
		p.list.Warn("%s like HDR, 4xHDR or 200G, the first %q", reading.Count(p.speeds, "speed is none", "speeds are none"), p.speed)
	}
}
