package ibdiagnet

import (
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// portKey names a port of a node.
type portKey struct {
	node   int32
	number uint8
}

// build joins the tables, when all rows are read.
func (p *parser) build() (*fabric.Fabric, error) {
	last := max(p.lines.Number(), 1)
	if p.began["NODES"] == 0 {
		return nil, p.lines.ErrorAt(last, "there is no table NODES in the file, and no network without it")
	}
	if p.began["LINKS"] == 0 && p.linkLines == p.lines {
		return nil, p.lines.ErrorAt(last, "there is no table LINKS in the file and no ibdiagnet2.net_dump beside it, and no network without either")
	}
	for _, m := range p.switches {
		if n, err := p.find(m); err != nil {
			return nil, err
		} else if p.nodes[n].Kind != fabric.Switch {
			return nil, p.lines.ErrorAt(m.line, "%s %q is in the table SWITCHES, but no switch by line %d", m.id, p.nodes[n].Name, p.nodes[n].line)
		}
	}
	var b fabric.Builder
	refs := make([]fabric.Ref, len(p.nodes))
	for i := range p.nodes {
		refs[i] = b.Node(p.nodes[i].Node, p.nodes[i].id)
	}
	ports, err := p.addPorts(&b, refs)
	if err != nil {
		return nil, err
	}
	if err := p.addCables(&b, refs, ports); err != nil {
		return nil, err
	}
	if p.began["PORTS"] != 0 {
		b.ExpectLIDs()
	} else {
		b.Warn("there is no table PORTS in the file: LIDs and rates are not known, and tables that speak of LIDs do not fit")
	}
	if most := 3; len(p.skipped) > most {
		b.Warn("%d tables of the file are not read: %s and %d more", len(p.skipped), strings.Join(p.skipped[:most], ", "), len(p.skipped)-most)
	} else if len(p.skipped) > 0 {
		b.Warn("tables of the file that are not read: %s", strings.Join(p.skipped, ", "))
	}
	f, err := b.Build()
	if err != nil {
		return nil, p.lines.ErrorAt(last, "%v", err)
	}
	return f, nil
}

// find looks a node up that a row of db_csv mentions by GUID or, in anonymised files, by word.
func (p *parser) find(m mention) (int32, error) { return p.findIn(p.lines, m) }

// findIn is find for a row of either file, db_csv or net_dump; lines are the file's, for errors.
func (p *parser) findIn(lines *reading.Lines, m mention) (int32, error) {
	n, ok := p.byID[m.id]
	if !ok {
		return none, lines.ErrorAt(m.line, "node %s has no row in the table NODES", m.id)
	}
	return n, nil
}

// findPort is find for a port of the node.
func (p *parser) findPort(m mention, number uint8) (portKey, error) {
	return p.findPortIn(p.lines, m, number)
}

// findPortIn is findPort for a row of either file.
func (p *parser) findPortIn(lines *reading.Lines, m mention, number uint8) (portKey, error) {
	n, err := p.findIn(lines, m)
	if err != nil {
		return portKey{}, err
	}
	if has := &p.nodes[n]; int(number) > has.Ports {
		return portKey{}, lines.ErrorAt(m.line, "%q has %s by line %d, not a port %d", has.Name, reading.Count(has.Ports, "port", "ports"), has.line, number)
	}
	return portKey{node: n, number: number}, nil
}

// addPorts gives ports their LIDs and GUIDs, and returns the rows by port.
func (p *parser) addPorts(b *fabric.Builder, refs []fabric.Ref) (map[portKey]*port, error) {
	ports := make(map[portKey]*port, len(p.ports))
	byLID := make(map[fabric.LID]*port)
	cabled := p.cabled()
	for i := range p.nodes {
		if n := &p.nodes[i]; n.Kind == fabric.Switch {
			b.Port(refs[i], 0, fabric.Port{GUID: n.portGUID})
		}
	}
	for i := range p.ports {
		q := &p.ports[i]
		key, err := p.findPort(q.mention, q.number)
		if err != nil {
			return nil, err
		}
		n := &p.nodes[key.node]
		if other, ok := ports[key]; ok {
			return nil, p.lines.ErrorAt(q.line, "port %d of %q has a second row; the first is line %d", q.number, n.Name, other.line)
		}
		ports[key] = q
		b.DataVLs(refs[key.node], q.number, q.lanes)
		if (n.Kind == fabric.Switch) != (q.number == 0) {
			continue // the LID of a switch is that of port 0
		}
		if n.Kind != fabric.Switch && !cabled[key] {
			continue // what it says may be from when it had a cable
		}
		for lid := q.LID; q.LID != 0 && q.LID <= fabric.MaxLID && int(lid) < int(q.LID)+1<<q.LMC; lid++ {
			if other, ok := byLID[lid]; ok {
				return nil, p.lines.ErrorAt(q.line, "LID %d of %q is that of line %d already", lid, n.Name, other.line)
			}
			byLID[lid] = q
		}
		set := q.Port
		if set.GUID == 0 && q.number == 0 {
			set.GUID = n.portGUID
		}
		b.Port(refs[key.node], q.number, set)
	}
	return ports, nil
}

// cabled is the ports that a row of LINKS names.
func (p *parser) cabled() map[portKey]bool {
	cabled := make(map[portKey]bool, 2*len(p.links))
	for i := range p.links {
		for side, id := range p.links[i].ends {
			if n, ok := p.byID[id]; ok {
				cabled[portKey{n, p.links[i].ports[side]}] = true
			}
		}
	}
	return cabled
}

// addCables adds every cable once, with the rate of its ports.
func (p *parser) addCables(b *fabric.Builder, refs []fabric.Ref, ports map[portKey]*port) error {
	taken := make(map[portKey]*link, 2*len(p.links))
	for i := range p.links {
		k := &p.links[i]
		var ends [2]portKey
		for side := range ends {
			var err error
			if ends[side], err = p.findPortIn(p.linkLines, mention{k.ends[side], k.line}, k.ports[side]); err != nil {
				return err
			}
		}
		if ends[0] == ends[1] {
			return p.linkLines.ErrorAt(k.line, "port %d of %q is cabled to itself", k.ports[0], p.nodes[ends[0].node].Name)
		}
		first, second := taken[ends[0]], taken[ends[1]]
		if first != nil && first == second {
			continue // the same cable, from its other end perhaps
		}
		for side, other := range [2]*link{first, second} {
			if other != nil {
				return p.linkLines.ErrorAt(k.line, "port %d of %q has another cable in line %d", k.ports[side], p.nodes[ends[side].node].Name, other.line)
			}
		}
		taken[ends[0]], taken[ends[1]] = k, k
		one, two := ports[ends[0]], ports[ends[1]]
		b.Cable(refs[ends[0].node], k.ports[0], refs[ends[1].node], k.ports[1], p.rateOf(b, one, two))
		if one != nil && two != nil && one.runs && two.runs && one.lanes != two.lanes {
			b.Warn("the cable of %q port %d and %q port %d runs %d data lanes by line %d and %d by line %d; the fewer count",
				p.nodes[ends[0].node].Name, one.number, p.nodes[ends[1].node].Name, two.number, one.lanes, one.line, two.lanes, two.line)
		}
	}
	return nil
}

// rateOf is the rate of a cable by the rows of its ports, each of which may be nil; the
// slower one, with a warning, if they differ.
func (p *parser) rateOf(b *fabric.Builder, one, two *port) fabric.Rate {
	switch unknown := (fabric.Rate{}); {
	case one == nil && two == nil:
		return unknown
	case one == nil || two != nil && one.rate == unknown:
		return two.rate
	case two == nil || two.rate == unknown || two.rate == one.rate:
		return one.rate
	}
	slower := one.rate
	if two.rate.Mbps() < slower.Mbps() {
		slower = two.rate
	}
	b.Warn("the cable of %q port %d and %q port %d runs at %s by line %d and at %s by line %d; it counts as %s",
		p.nodes[p.byID[one.id]].Name, one.number, p.nodes[p.byID[two.id]].Name, two.number, one.rate, one.line, two.rate, two.line, slower)
	return slower
}
