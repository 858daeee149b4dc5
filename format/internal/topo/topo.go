// Package topo reads the .topo files of ibutils and UFM, networks as cables between systems, with
// the system definitions (.ibnl) that say how a system is wired inside: see the manual pages
// ibdm-topo-file and ibdm-ibnl-file.
//
// A chip of a system of several is called SYSTEM/board/chip, an adapter of a host HOST ADAPTER.
// A system whose type has no definition is taken as one switch or adapter, whose port Pn is port
// n, and a host as adapters with such ports (mlx5_0/P1, U1/P1); a director cannot be guessed.
package topo

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/format/internal/cabling"
	"github.com/weft-fabric/weft/internal/reading"
)

// Find opens the definition of a type of system; a nil reader says that there is none. The name
// is for errors.
type Find func(kind string) (text io.ReadCloser, name string, err error)

// Read reads a network. Without find there are no definitions.
func Read(r io.Reader, file string, find Find) (*fabric.Fabric, error) {
	p := &parser{
		list: cabling.List{File: file}, lines: reading.NewLines(r, file), find: find,
		kinds: map[string]*definition{}, boxes: map[string]*box{}, panels: map[string]bool{},
	}
	if err := p.lines.Each(p.line); err != nil {
		return nil, err
	}
	if err := p.connect(); err != nil {
		return nil, err
	}
	p.tell()
	return p.list.Build()
}

type parser struct {
	list  cabling.List
	lines *reading.Lines
	find  Find

	kinds   map[string]*definition // by type; nil: there is none
	panels  map[string]bool        // files of definitions in use
	boxes   map[string]*box        // systems by name
	order   []*box
	cables  []cable
	speeds  int // speeds that are not known
	speed   string
	nowhere int // cables at ports of a panel that lead nowhere
	first   string
}

// box is a system of the network.
type box struct {
	kind, name string
	config     map[string]string
	line       int

	def   *definition
	built *system
	chips []int // places in the list
}

// cable is a line of a section.
type cable struct {
	box  [2]*box
	port [2]string
	rate fabric.Rate
	line int
}

var (
	cableLine   = regexp.MustCompile(`^(\S+)\s+-(?:([0-9]+)[xX]-)?(?:([^\s>-]+)-)?>\s*(\S+)\s+(\S+)\s+(\S+)$`)
	sectionLine = regexp.MustCompile(`^(\S+)\s+(\S+?)(?:\s+CFG:\s*(.*))?$`)
)

func (p *parser) line(c reading.Cursor) error {
	text := uncommented(c)
	if text == "" {
		return nil
	}
	if m := cableLine.FindStringSubmatch(text); m != nil {
		return p.cable(m)
	}
	m := sectionLine.FindStringSubmatch(text)
	if m == nil || strings.Contains(text, ">") {
		return p.lines.Errorf("%q is no line of a .topo file: TYPE NAME, or PORT -> TYPE NAME PORT below one", text)
	}
	b, err := p.box(m[1], m[2])
	if err != nil {
		return err
	}
	p.order = append(p.order, b)
	return p.configure(b, m[3])
}

// box is a system by its name; the first line that names it says its type.
func (p *parser) box(kind, name string) (*box, error) {
	name = strings.Trim(name, `"`)
	if b := p.boxes[name]; b != nil {
		if b.kind != kind {
			return nil, p.lines.Errorf("system %s is of type %s here, and of type %s by line %d", name, kind, b.kind, b.line)
		}
		return b, nil
	}
	b := &box{kind: kind, name: name, line: p.lines.Number(), config: map[string]string{}}
	p.boxes[name] = b
	return b, nil
}

// configure reads modifiers of boards: leaf1=R, leaf2=12x.
func (p *parser) configure(b *box, text string) error {
	for _, item := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		path, modifier, ok := strings.Cut(item, "=")
		if !ok || path == "" || modifier == "" {
			return p.lines.Errorf("CFG has %q, which is not as leaf1=R", item)
		}
		key := strings.ToUpper(path)
		if was := b.config[key]; was != "" && was != modifier {
			return p.lines.Errorf("board %s of %s is %s here, and %s before", path, b.name, modifier, was)
		}
		b.config[key] = modifier
	}
	return nil
}

func (p *parser) cable(m []string) error {
	if len(p.order) == 0 {
		return p.lines.Errorf("a cable before the first system")
	}
	here := p.order[len(p.order)-1]
	there, err := p.box(m[4], m[5])
	if err != nil {
		return err
	}
	p.cables = append(p.cables, cable{box: [2]*box{here, there}, port: [2]string{m[1], m[6]}, rate: rate(m[2], m[3]), line: p.lines.Number()})
	if m[3] != "" && p.cables[len(p.cables)-1].rate == (fabric.Rate{}) {
		if p.speeds++; p.speeds == 1 {
			p.speed = m[3]
		}
	}
	return nil
}

// connect makes nodes of systems, and adds their cables, those inside first.
func (p *parser) connect() error {
	for _, b := range slices.SortedFunc(maps.Values(p.boxes), func(a, b *box) int { return strings.Compare(a.name, b.name) }) {
		if err := p.put(b); err != nil {
			return err
		}
	}
	type port struct {
		end  cabling.End
		rate fabric.Rate
	}
	var inside []port
	for i := range p.cables {
		c := &p.cables[i]
		var ends [2]cabling.End
		connected := true
		for side, b := range c.box {
			end, rate, ok, err := p.end(b, c.port[side], c.line)
			if err != nil {
				return err
			}
			ends[side], connected = end, connected && ok
			inside = append(inside, port{end, rate})
		}
		if !connected {
			if p.nowhere++; p.nowhere == 1 {
				p.first = fmt.Sprintf("in line %d", c.line)
			}
			continue
		}
		if err := p.list.Cable(ends[0], ends[1], c.rate, c.line); err != nil {
			return err
		}
	}
	for _, at := range inside {
		p.list.Rate(at.end, at.rate) // of the port, where no line says that of the cable
	}
	return nil
}

// put finds the definition of a system, and adds its chips and what joins them.
func (p *parser) put(b *box) error {
	def, known := p.kinds[b.kind]
	if !known && p.find != nil {
		text, name, err := p.find(b.kind)
		if err != nil {
			return err
		}
		if text != nil {
			def, err = readDefinition(text, name)
			text.Close()
			if err != nil {
				return err
			}
		}
	}
	if p.kinds[b.kind] = def; def == nil {
		return nil
	}
	p.panels[def.file] = true
	built, err := def.build(b.config)
	if err != nil {
		return err
	}
	b.def, b.built = def, built
	for _, c := range built.chips {
		key := b.name
		switch {
		case len(built.chips) == 1:
		case c.kind == cabling.Adapter:
			key += " " + c.path
		default:
			key += "/" + c.path
		}
		at, err := p.list.Node(cabling.Node{Key: key, Kind: c.kind, Ports: c.ports}, b.line)
		if err != nil {
			return err
		}
		b.chips = append(b.chips, at)
	}
	for _, w := range built.wires {
		a, z := cabling.End{Node: b.chips[w.a.chip], Port: cabling.Port{Number: w.a.port}}, cabling.End{Node: b.chips[w.b.chip], Port: cabling.Port{Number: w.b.port}}
		if err := p.list.Cable(a, z, w.a.rate, b.line); err != nil {
			return err
		}
	}
	return nil
}

// end finds the port of a chip behind a port of a panel; not ok: it leads nowhere, as those of
// boards that are not there.
func (p *parser) end(b *box, port string, line int) (end cabling.End, rate fabric.Rate, ok bool, err error) {
	if b.def == nil {
		end, err = p.guess(b, port, line)
		return end, rate, true, err
	}
	for _, name := range [...]string{port, "P" + port, strings.TrimPrefix(strings.ToUpper(port), "P")} {
		if w, found := b.built.panel[strings.ToUpper(name)]; found {
			return cabling.End{Node: b.chips[w.chip], Port: cabling.Port{Number: w.port}}, w.rate, true, nil
		}
	}
	if len(b.config) > 0 {
		return end, rate, false, nil
	}
	return end, rate, false, format.Errorf(p.list.File, line, "%s has no port %s by the definition of %s in %s", b.name, port, b.kind, b.def.file)
}

var (
	numbered = regexp.MustCompile(`^(?:(.*)/)?[pP]0*([1-9][0-9]{0,4})$`)
	onHost   = regexp.MustCompile(`(?i)^(mlx[0-9]+_|hca|hfi1_|qib[0-9]|mthca[0-9]|ib[ps]?[0-9])`)
	hostType = regexp.MustCompile(`(?i)^(HCA|CA)([-_0-9]|$)`)
	onChip   = regexp.MustCompile(`(?i)^(U|mlx|hca)[-_0-9]`)
)

// guess is the end at a port of a system without a definition.
func (p *parser) guess(b *box, port string, line int) (cabling.End, error) {
	n := cabling.Node{Key: b.name, Model: b.kind}
	at := cabling.Port{}
	if hostType.MatchString(b.kind) {
		n.Kind = cabling.Adapter
	}
	if m := numbered.FindStringSubmatch(port); m != nil {
		at.Number, _ = strconv.Atoi(m[2])
		switch {
		case m[1] == "":
		case n.Kind == cabling.Adapter, onHost.MatchString(m[1]):
			n.Key, n.Kind = b.name+" "+m[1], cabling.Adapter
		case onChip.MatchString(m[1]):
			n.Key = b.name + "/" + m[1]
		default:
			return cabling.End{}, format.Errorf(p.list.File, line, "how the boards of %s (%s) are joined inside is in no system definition that was found: put %s.ibnl beside the file, or its folder into IBDM_IBNL_PATH", b.name, b.kind, b.kind)
		}
	} else {
		var ok bool
		if at, ok = cabling.ParsePort(strings.TrimPrefix(port, "P")); !ok {
			return cabling.End{}, format.Errorf(p.list.File, line, "port %q of %s is none like P7 or mlx5_0/P1, and no system definition of %s was found", port, b.name, b.kind)
		}
	}
	i, err := p.list.Node(n, line)
	return cabling.End{Node: i, Port: at}, err
}

// tell warns of what was left out or is not known.
func (p *parser) tell() {
	var without []string
	for kind, def := range p.kinds {
		if def == nil {
			without = append(without, kind)
		}
	}
	slices.Sort(without)
	if len(without) > 0 {
		p.list.Warn("no system definition (.ibnl) of %s: port Pn counts as port n of one switch or adapter", strings.Join(without, ", "))
	}
	if used := slices.Sorted(maps.Keys(p.panels)); len(used) > 0 {
		p.list.Warn("systems are wired inside as in %s", strings.Join(used, ", "))
	}
	if p.nowhere > 0 {
		p.list.Warn("%s at ports of boards that CFG takes away, the first %s", reading.Count(p.nowhere, "cable is left out", "cables are left out"), p.first)
	}
	if p.speeds > 0 {
		p.list.Warn("%s like 25G or EDR, the first %q", reading.Count(p.speeds, "speed is none", "speeds are none"), p.speed)
	}
}
