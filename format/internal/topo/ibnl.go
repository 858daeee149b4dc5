package topo

import (
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/format/internal/cabling"
	"github.com/weft-fabric/weft/internal/reading"
)

// definition is a system: its boards by all of their names, which are upper case, and itself.
type definition struct {
	file   string
	boards map[string]*board
	top    *board
}

// board is a SYSTEM or the TOPSYSTEM.
type board struct {
	name  string
	parts []part
}

// part is a chip, or another board.
type part struct {
	name  string
	chip  cabling.Kind // Unknown: a board
	ports int          // of a chip
	board string       // the name of its SYSTEM
	links []link
	line  int
}

// link joins a port of a part with one of another part or, without a peer, of the board itself.
type link struct {
	port, peer, peerPort string
	rate                 fabric.Rate
	line                 int
}

var (
	boardLine = regexp.MustCompile(`^(TOP)?SYSTEM\s+(\S.*)$`)
	chipLine  = regexp.MustCompile(`^NODE\s+(SW|CA|HCA)\s+([0-9]{1,3})\s+(\S+)\s+(\S+)$`)
	subLine   = regexp.MustCompile(`^SUBSYSTEM\s+(\S+)\s+(\S+)$`)
	linkLine  = regexp.MustCompile(`^(\S+)\s+-(?:([0-9]+)[xX]-)?(?:([^\s>-]+)-)?>\s*(\S+)(?:\s+(\S+))?$`)
)

// uncommented is a line without its comment and the blanks around it.
func uncommented(c reading.Cursor) string {
	text := string(c)
	for i := range len(text) {
		if text[i] == '#' && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t') {
			text = text[:i]
			break
		}
	}
	return strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
}

// readDefinition reads a system definition (.ibnl).
func readDefinition(r io.Reader, file string) (*definition, error) {
	d := &definition{file: file, boards: map[string]*board{}}
	lines := reading.NewLines(r, file)
	var in *board
	err := lines.Each(func(c reading.Cursor) error {
		text := uncommented(c)
		if text == "" {
			return nil
		}
		if m := boardLine.FindStringSubmatch(text); m != nil {
			if d.top != nil {
				return lines.Errorf("a system behind the TOPSYSTEM, which is the last")
			}
			in = &board{}
			for _, name := range strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
				if in.name == "" {
					in.name = name
				}
				d.boards[strings.ToUpper(name)] = in
			}
			if m[1] != "" {
				d.top = in
			}
			return nil
		}
		if in == nil {
			return lines.Errorf("%q before the first SYSTEM or TOPSYSTEM", text)
		}
		return in.read(lines, text)
	})
	if err == nil && d.top == nil {
		err = lines.Errorf("no TOPSYSTEM in it")
	}
	return d, err
}

// read reads a line within a board.
func (b *board) read(lines *reading.Lines, text string) error {
	p := part{line: lines.Number()}
	if m := chipLine.FindStringSubmatch(text); m != nil {
		p.name, p.chip = m[4], cabling.Adapter
		if m[1] == "SW" {
			p.chip = cabling.Switch
		}
		if p.ports, _ = strconv.Atoi(m[2]); p.ports < 1 || p.ports > fabric.MaxPorts {
			return lines.Errorf("%s has %s, and InfiniBand numbers 1 to %d", p.name, reading.Count(p.ports, "port", "ports"), fabric.MaxPorts)
		}
	} else if m := subLine.FindStringSubmatch(text); m != nil {
		p.name, p.board = m[2], m[1]
	}
	if p.name != "" {
		if slices.ContainsFunc(b.parts, func(q part) bool { return q.name == p.name }) {
			return lines.Errorf("a second %s on %s", p.name, b.name)
		}
		b.parts = append(b.parts, p)
		return nil
	}
	if m := linkLine.FindStringSubmatch(text); m != nil && len(b.parts) > 0 {
		l := link{port: m[1], peerPort: m[4], rate: rate(m[2], m[3]), line: lines.Number()}
		if m[5] != "" {
			l.peer, l.peerPort = m[4], m[5]
		}
		of := &b.parts[len(b.parts)-1]
		if n, err := strconv.Atoi(l.port); of.chip != cabling.Unknown && (err != nil || n < 1 || n > of.ports) {
			return lines.Errorf("port %q of %s, which has ports 1 to %d", l.port, of.name, of.ports)
		}
		of.links = append(of.links, l)
		return nil
	}
	if strings.Contains(text, "=") && !strings.Contains(text, ">") {
		return nil // an attribute, such as U1=isChaBma
	}
	return lines.Errorf("%q is no line of a system definition: SYSTEM, TOPSYSTEM, NODE, SUBSYSTEM, or a connection such as 1 -4x-> P1", text)
}

// rate is what an arrow says, -WIDTHx-SPEED->; without a speed it is not known.
func rate(width, speed string) fabric.Rate {
	s, ok := cabling.LaneSpeed(speed)
	if !ok {
		return fabric.Rate{}
	}
	r := fabric.Rate{Width: 4, Speed: s}
	if n, err := strconv.ParseUint(width, 10, 8); err == nil && n > 0 {
		r.Width = uint8(n)
	}
	return r
}

// pin is a port of a part, by the path of the part within the system: a chip's port, or the
// connector of a board, which has a side within and one without.
type pin struct{ path, port string }

// system is a definition with its boards put in.
type system struct {
	chips []chip
	panel map[string]wire // by the names of its ports, in upper case
	wires []inner
}

type chip struct {
	path  string
	kind  cabling.Kind
	ports int
}

// wire is what a port of the panel leads to.
type wire struct {
	chip, port int
	rate       fabric.Rate
}

// inner is a link between two chips of a system.
type inner struct {
	a, b wire
}

const (
	mostDepth = 20      // of boards on boards
	mostParts = 1 << 16 // of a system
)

// builder puts the boards of a system together.
type builder struct {
	def    *definition
	config map[string]string // modifiers of boards, by their paths in upper case
	chips  map[string]int    // place in sys.chips, by path
	links  []placed
	joined map[pin][]reach
	parts  int
	sys    system
}

// placed is a link with the path of what it begins and ends at.
type placed struct {
	from, to pin
	link
}

type reach struct {
	to   pin
	rate fabric.Rate
}

// build makes a system; config has the modifiers of its boards. One of R is missing.
func (d *definition) build(config map[string]string) (*system, error) {
	b := &builder{def: d, config: config, chips: map[string]int{}, joined: map[pin][]reach{}, sys: system{panel: map[string]wire{}}}
	if err := b.add("", d.top, 0); err != nil {
		return nil, err
	}
	for i := range b.links {
		if err := b.join(&b.links[i]); err != nil {
			return nil, err
		}
	}
	for i, c := range b.sys.chips {
		for port := 1; port <= c.ports; port++ {
			to, rate, ok := b.follow(pin{c.path, strconv.Itoa(port)})
			if !ok {
				continue
			}
			here := wire{i, port, rate}
			if j, inside := b.chips[to.path]; inside && to.path != "" {
				if n, _ := strconv.Atoi(to.port); n > 0 && (i < j || i == j && port < n) {
					b.sys.wires = append(b.sys.wires, inner{here, wire{j, n, rate}})
				}
			} else if to.path == "" {
				b.sys.panel[strings.ToUpper(to.port)] = here
			}
		}
	}
	return &b.sys, nil
}

// add puts a board into the system.
func (b *builder) add(path string, of *board, depth int) error {
	under := path
	if under != "" {
		under += "/"
	}
	for i := range of.parts {
		p := &of.parts[i]
		if b.parts++; depth > mostDepth || b.parts > mostParts {
			return format.Errorf(b.def.file, p.line, "%s: boards on boards without an end, or more than %d parts", of.name, mostParts)
		}
		at := under + p.name
		modifier := b.config[strings.ToUpper(at)]
		switch {
		case p.chip != cabling.Unknown:
			b.chips[at] = len(b.sys.chips)
			b.sys.chips = append(b.sys.chips, chip{at, p.chip, p.ports})
		case !strings.EqualFold(modifier, "R"):
			name := p.board
			if modifier != "" {
				name += ":" + modifier
			}
			sub := b.def.boards[strings.ToUpper(name)]
			if sub == nil {
				return format.Errorf(b.def.file, p.line, "there is no SYSTEM %s for %s", name, at)
			}
			if err := b.add(at, sub, depth+1); err != nil {
				return err
			}
		default:
			continue
		}
		for _, l := range p.links {
			to := pin{path, l.peerPort}
			if l.peer != "" {
				to.path = under + l.peer
			}
			b.links = append(b.links, placed{pin{at, l.port}, to, l})
		}
	}
	return nil
}

// join notes a link from both sides; what is said again from its other end is the same.
func (b *builder) join(l *placed) error {
	for _, way := range [...][2]pin{{l.from, l.to}, {l.to, l.from}} {
		known := b.joined[way[0]]
		if slices.ContainsFunc(known, func(r reach) bool { return r.to == way[1] }) {
			continue
		}
		most := 2 // within a board and without
		if _, chip := b.chips[way[0].path]; chip || way[0].path == "" {
			most = 1
		}
		if len(known) >= most {
			return format.Errorf(b.def.file, l.line, "port %s of %s is joined twice: to %s, port %s, and to %s, port %s", way[0].port, orSystem(way[0].path),
				orSystem(known[0].to.path), known[0].to.port, orSystem(way[1].path), way[1].port)
		}
		b.joined[way[0]] = append(known, reach{way[1], l.rate})
	}
	return nil
}

func orSystem(path string) string {
	if path == "" {
		return "the system"
	}
	return path
}

// follow goes from a chip's port to where the link ends: at another chip, at the panel, or
// nowhere.
func (b *builder) follow(from pin) (end pin, rate fabric.Rate, ok bool) {
	before, here := pin{}, from
	for range len(b.joined) + 1 {
		next := -1
		for i, r := range b.joined[here] {
			if here == from || r.to != before {
				next = i
				break
			}
		}
		if next < 0 {
			return pin{}, rate, false
		}
		r := b.joined[here][next]
		if rate == (fabric.Rate{}) || r.rate.Known() && r.rate.Mbps() < rate.Mbps() {
			rate = r.rate
		}
		before, here = here, r.to
		if _, chip := b.chips[here.path]; chip || here.path == "" {
			return here, rate, true
		}
	}
	return pin{}, rate, false
}
