package subnetlst

import (
	"fmt"
	"io"

	"github.com/weft-fabric/weft/fabric"
)

// Read reads a fabric; file is the name for errors, which are *format.ParseError
// unless r itself fails.
func Read(r io.Reader, file string) (*fabric.Fabric, error) {
	l, err := parse(r, file)
	if err != nil {
		return nil, err
	}
	at, warnings, err := l.join()
	if err != nil {
		return nil, err
	}
	var b fabric.Builder
	refs := make([]fabric.Ref, len(l.nodes))
	for i := range l.nodes {
		refs[i] = b.Node(l.nodes[i].Node, "")
	}
	// A list may have every cable once. If most have two lines, one from each end, one that
	// has not suggests that the network was changing or the file was edited.
	once := 0
	for _, i := range at {
		if l.links[i].lines == 1 {
			once++
		}
	}
	for _, i := range at {
		k := &l.links[i]
		b.Cable(refs[k.a.node], k.a.port, refs[k.b.node], k.b.port, k.rate)
		if once <= len(at)/2 && k.lines == 1 {
			b.OneSided(refs[k.a.node], k.a.port)
		}
		for _, s := range [2]*side{&k.a, &k.b} {
			b.Port(refs[s.node], l.lidPort(s), fabric.Port{GUID: s.portGUID, LID: s.lid})
		}
	}
	b.ExpectLIDs()
	if !l.lines.Whole() {
		b.Warn("the last line has no end: the list may have been cut short, within a speed")
	}
	if l.bare != 0 {
		b.Warn("the lines of the list have no SPD=: the rates of cables are not known")
	}
	for _, w := range warnings {
		b.Warn("%s", w)
	}
	f, err := b.Build()
	if err != nil {
		return nil, l.lines.ErrorAt(max(l.lines.Number(), 1), "%v", err)
	}
	return f, nil
}

// lidPort is the port that the LID and port GUID of a side belong to.
func (l *list) lidPort(s *side) uint8 {
	if l.nodes[s.node].Kind == fabric.Switch {
		return 0
	}
	return s.port
}

// portKey names a port: of a switch, a port with a cable or port 0.
type portKey struct {
	node int32
	port uint8
}

// join finds the lines of the same cable and returns one for each cable, as a place in l.links, whose rate it makes the slower one and
// whose lines it counts. It refuses lines that contradict each other.
func (l *list) join() (cables []int, warnings []string, err error) {
	taken := make(map[portKey]int, 2*len(l.links)) // the first line of the cable at a port, as a place in l.links
	for i := range l.links {
		k := &l.links[i]
		if err := l.sameIdentity(k); err != nil {
			return nil, nil, err
		}
		one, seenOne := taken[portKey{k.a.node, k.a.port}]
		two, seenTwo := taken[portKey{k.b.node, k.b.port}]
		if !seenOne && !seenTwo {
			taken[portKey{k.a.node, k.a.port}], taken[portKey{k.b.node, k.b.port}] = i, i
			cables = append(cables, i)
			k.lines = 1
			continue
		}
		if !seenOne || !seenTwo || one != two {
			s, at := &k.a, one
			if !seenOne {
				s, at = &k.b, two
			}
			return nil, nil, l.lines.ErrorAt(k.line, "port %d of %q has another cable in line %d", s.port, l.nodes[s.node].Name, l.links[at].line)
		}
		old := &l.links[one]
		if old.a.node != k.a.node || old.a.port != k.a.port {
			old.lines = 2 // from the other end
		}
		if old.rate != k.rate {
			slower := old.rate
			if !slower.Known() || (k.rate.Known() && k.rate.Mbps() < slower.Mbps()) {
				slower = k.rate
			}
			warnings = append(warnings, fmt.Sprintf("the cable of %q port %d runs at %s by line %d and at %s by line %d; it counts as %s",
				l.nodes[k.a.node].Name, k.a.port, old.rate, old.line, k.rate, k.line, slower))
			old.rate = slower
		}
	}
	return cables, warnings, nil
}

// identity is the GUID and LID of a port by the first line that shows it.
type identity struct {
	guid fabric.GUID
	lid  fabric.LID
	line int
}

// sameIdentity notes the GUIDs and LIDs of both ports of a line, and refuses a port with two of either.
func (l *list) sameIdentity(k *link) error {
	for _, s := range [2]*side{&k.a, &k.b} {
		key := portKey{s.node, l.lidPort(s)}
		id, ok := l.ports[key]
		if !ok {
			l.ports[key] = identity{guid: s.portGUID, lid: s.lid, line: k.line}
			continue
		}
		if id.guid != s.portGUID || id.lid != s.lid {
			return l.lines.ErrorAt(k.line, "port %d of %q has port GUID %s and LID %d here, but %s and %d in line %d",
				key.port, l.nodes[s.node].Name, s.portGUID, s.lid, id.guid, id.lid, id.line)
		}
	}
	return nil
}
