package iblinkinfo

import (
	"cmp"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// build finds the nodes of all rows and which of them are joined, and builds the fabric.
func (p *parser) build() (*fabric.Fabric, error) {
	p.mergeHeads()
	p.nameNodes()
	peers, err := p.pair()
	if err != nil {
		return nil, err
	}
	var b fabric.Builder
	refs := make([]fabric.Ref, len(p.nodes))
	for i := range p.nodes {
		n := &p.nodes[i]
		refs[i] = b.Node(fabric.Node{Kind: n.kind, GUID: n.guid, Name: n.name, Ports: int(n.top)}, fmt.Sprintf("%s (line %d)", n.name, n.line))
		if n.kind == fabric.Switch {
			b.Port(refs[i], 0, fabric.Port{GUID: n.guid, LID: n.lid})
		}
	}
	p.addCables(&b, refs, peers)
	b.ExpectLIDs()
	p.sayRest()
	for _, w := range p.warnings {
		b.Warn("%s", w)
	}
	f, err := b.Build()
	if err != nil {
		return nil, p.lines.ErrorAt(max(p.lines.Number(), 1), "%v", err)
	}
	return f, nil
}

// mergeHeads makes one node of heads with one GUID of a switch, and gives nodes the GUIDs of their ports.
func (p *parser) mergeHeads() {
	first := map[fabric.GUID]int32{}
	for i := range p.rows {
		r := &p.rows[i]
		if r.node == none {
			continue
		}
		n := &p.nodes[r.node]
		if n.kind != fabric.Switch {
			if r.own.guid != 0 && (n.guid == 0 || r.own.guid < n.guid) {
				n.guid = r.own.guid
			}
			continue
		}
		if at, seen := first[n.guid]; seen {
			r.node = at
		} else {
			first[n.guid] = r.node
		}
	}
	used := make([]bool, len(p.nodes))
	for i := range p.rows {
		if p.rows[i].node != none {
			used[p.rows[i].node] = true
		}
	}
	moved, kept := make([]int32, len(p.nodes)), p.nodes[:0]
	for i, n := range p.nodes { // heads without rows are left out
		moved[i] = int32(len(kept))
		if used[i] {
			kept = append(kept, n)
		}
	}
	p.nodes = kept
	for i := range p.rows {
		if r := &p.rows[i]; r.node != none {
			r.node = moved[r.node]
			p.take(r)
		}
	}
}

// take notes what a row says of its node.
func (p *parser) take(r *row) {
	n := &p.nodes[r.node]
	n.top = max(n.top, r.own.port)
	if n.kind == fabric.Switch {
		n.lid = cmp.Or(n.lid, r.own.lid)
	}
}

// adapter is what the rows of one adapter have in common with -l. The GUIDs of its ports are consecutive.
type adapter struct {
	name string
	base fabric.GUID // the GUID of the port less its number
}

// nameNodes finds the nodes of rows of -l, which name their nodes themselves. A GUID with several ports of one LID is a
// switch's.
func (p *parser) nameNodes() {
	switches := p.switchGUIDs()
	bySwitch, byAdapter, byGUID := map[fabric.GUID]int32{}, map[adapter]int32{}, map[fabric.GUID]int32{}
	for i := range p.rows {
		r := &p.rows[i]
		if r.node != none {
			continue
		}
		add := func(kind fabric.Kind) int32 {
			p.nodes = append(p.nodes, node{kind: kind, name: r.own.name, guid: r.own.guid, line: r.line})
			return int32(len(p.nodes) - 1)
		}
		var ok bool
		key := adapter{name: r.own.name, base: r.own.guid - fabric.GUID(r.own.port)}
		switch {
		case switches[r.own.guid]:
			if r.node, ok = bySwitch[r.own.guid]; !ok {
				r.node = add(fabric.Switch)
				bySwitch[r.own.guid] = r.node
			}
		default:
			if r.node, ok = byAdapter[key]; !ok {
				r.node, ok = byGUID[r.own.guid] // versions that print the GUID of the node for each of its ports
			}
			if !ok {
				r.node = add(fabric.Adapter)
			}
			byAdapter[key], byGUID[r.own.guid] = r.node, r.node
			n := &p.nodes[r.node]
			n.guid = min(n.guid, r.own.guid)
		}
		p.take(r)
	}
}

// switchGUIDs finds the GUIDs that are those of switches: of several ports with one LID.
func (p *parser) switchGUIDs() map[fabric.GUID]bool {
	first, is := map[fabric.GUID]end{}, map[fabric.GUID]bool{}
	for i := range p.rows {
		r := &p.rows[i]
		for _, e := range [2]end{r.own, r.far} {
			if e.guid == 0 {
				continue
			}
			f, seen := first[e.guid]
			if !seen {
				first[e.guid] = e
			} else if f.port != e.port && f.lid == e.lid {
				is[e.guid] = true
			}
		}
	}
	return is
}

// peer is the other end of a row's cable.
type peer struct {
	row  int32 // the peer's own row; none: it has none
	node int32
	port uint8
}

// pair finds the other end of each row, [row]; the zero peer with node none: it has no cable.
func (p *parser) pair() ([]peer, error) {
	byPlace := map[end][]int32{}
	taken := map[[2]int32]int{}
	for i := range p.rows {
		r := &p.rows[i]
		at := [2]int32{r.node, int32(r.own.port)}
		if line, twice := taken[at]; twice {
			return nil, p.lines.ErrorAt(r.line, "port %d of %q has two rows; the other is line %d: if these are two outputs, give one", r.own.port, r.own.name, line)
		}
		taken[at] = r.line
		all := []end{{lid: r.own.lid, port: r.own.port, name: r.own.name}, {lid: r.own.lid, port: r.own.port}}
		if r.own.guid != 0 {
			all = append(all, end{guid: r.own.guid, port: r.own.port})
		}
		for _, at := range all {
			byPlace[at] = append(byPlace[at], int32(i))
		}
	}
	peers := make([]peer, len(p.rows))
	others := others{nodes: map[end]int32{}, taken: map[[2]int32]int{}}
	for i := range p.rows {
		r := &p.rows[i]
		peers[i] = peer{row: none, node: none}
		if !r.cabled {
			continue
		}
		found := byPlace[end{guid: r.far.guid, port: r.far.port}]
		if r.far.guid == 0 {
			found = byPlace[end{lid: r.far.lid, port: r.far.port, name: r.far.name}]
		}
		at, err := p.mutual(int32(i), found, true)
		if at == none && r.far.guid == 0 && r.far.lid != 0 { // names that changed meanwhile, or were overwritten
			if other, no := p.mutual(int32(i), byPlace[end{lid: r.far.lid, port: r.far.port}], false); other != none {
				if at, err = other, nil; r.far.name != p.rows[at].own.name {
					p.renamed.Note(r.line, r.far.name)
				}
			} else if err == nil {
				err = no
			}
		}
		if err != nil {
			return nil, err
		}
		if at == none {
			if peers[i], err = p.other(r, &others); err != nil {
				return nil, err
			}
			continue
		}
		peers[i] = peer{row: at, node: p.rows[at].node, port: r.far.port}
	}
	p.warnOthers(&others)
	return peers, nil
}

// mutual is the row, of those that may be the peer of a row, that names this one as its peer; none if there are no rows.
// named: by name as well.
func (p *parser) mutual(i int32, found []int32, named bool) (at int32, err error) {
	r := &p.rows[i]
	at = none
	for _, j := range found {
		s := &p.rows[j]
		switch {
		case j == i:
			return none, p.lines.ErrorAt(r.line, "port %d of %q is cabled to itself", r.own.port, r.own.name)
		case !s.cabled || s.far.port != r.own.port || s.far.lid != r.own.lid || named && s.far.name != r.own.name || s.far.guid != 0 && r.own.guid != 0 && s.far.guid != r.own.guid:
		case at != none:
			return none, p.lines.ErrorAt(r.line, "the peer %q, LID %d, port %d can be that of line %d and that of line %d: two of one name and LID; give what iblinkinfo -l or ibnetdiscover prints, which have GUIDs, of one subnet at a time",
				r.far.name, r.far.lid, r.far.port, p.rows[at].line, s.line)
		default:
			at = j
		}
	}
	if at == none && len(found) > 0 {
		s := &p.rows[found[0]]
		says := "has no cable"
		if s.cabled {
			says = fmt.Sprintf("is cabled to port %d of %q, LID %d", s.far.port, s.far.name, s.far.lid)
		}
		return none, p.lines.ErrorAt(r.line, "port %d of %q, LID %d, is cabled to port %d of %q here, which by line %d %s: if the network was changing, take it again", r.own.port, r.own.name, r.own.lid, r.far.port, r.far.name, s.line, says)
	}
	return at, nil
}

// others is the nodes that have no rows, known from their peers alone.
type others struct {
	nodes map[end]int32 // by GUID, or by LID and name
	taken map[[2]int32]int
	list  []int32
}

// other is a port of such a node, which is added if it is new: a switch if several of its ports have one LID, or
// if an adapter is cabled to it; else an adapter.
func (p *parser) other(r *row, o *others) (peer, error) {
	key := end{guid: r.far.guid}
	if r.far.guid == 0 {
		key = end{lid: r.far.lid, name: r.far.name}
	}
	at, ok := o.nodes[key]
	if !ok {
		at = int32(len(p.nodes))
		n := node{kind: fabric.Adapter, name: r.far.name, guid: r.far.guid, line: r.line}
		if p.nodes[r.node].kind != fabric.Switch {
			n.kind = fabric.Switch
		}
		p.nodes = append(p.nodes, n)
		o.nodes[key], o.list = at, append(o.list, at)
	}
	n := &p.nodes[at]
	if n.top != 0 && n.top != r.far.port {
		n.kind = fabric.Switch
	}
	n.top = max(n.top, r.far.port)
	n.lid = cmp.Or(n.lid, r.far.lid)
	port := [2]int32{at, int32(r.far.port)}
	if line, twice := o.taken[port]; twice {
		return peer{}, p.lines.ErrorAt(r.line, "port %d of %q is the peer here and in line %d", r.far.port, r.far.name, line)
	}
	o.taken[port] = r.line
	return peer{row: none, node: at, port: r.far.port}, nil
}

// warnOthers warns of nodes without rows.
func (p *parser) warnOthers(o *others) {
	if len(o.list) == 0 {
		return
	}
	n := &p.nodes[o.list[0]]
	p.warn("%s known only from the cables of others; the first is %q in line %d (iblinkinfo prints all nodes without --switches-only, --cas-only, -d and -S)",
		reading.Count(len(o.list), "node has no rows and is", "nodes have no rows and are"), n.name, n.line)
}

// addCables adds each cable once, with what is known of the ports of adapters.
func (p *parser) addCables(b *fabric.Builder, refs []fabric.Ref, peers []peer) {
	unrated, differ, firstLine := 0, 0, 0
	for i := range p.rows {
		r, to := &p.rows[i], peers[i]
		if r.cabled && p.nodes[r.node].kind != fabric.Switch {
			b.Port(refs[r.node], r.own.port, fabric.Port{GUID: r.own.guid, LID: r.own.lid})
		}
		if to.node == none || to.row != none && to.row < int32(i) {
			continue
		}
		rate := r.rate
		if to.row == none {
			if p.nodes[to.node].kind != fabric.Switch {
				b.Port(refs[to.node], to.port, fabric.Port{GUID: r.far.guid, LID: r.far.lid})
			}
		} else if back := p.rows[to.row].rate; back != rate {
			if differ++; differ == 1 {
				firstLine = r.line
			}
			if rate == (fabric.Rate{}) || back.Known() && back.Mbps() < rate.Mbps() {
				rate = back
			}
		}
		if rate == (fabric.Rate{}) {
			unrated++
		}
		b.Cable(refs[r.node], r.own.port, refs[to.node], to.port, rate)
	}
	if differ > 0 {
		p.warn("%s different rates at their ends, the first in line %d; the slower counts", reading.Count(differ, "cable has", "cables have"), firstLine)
	}
	if unrated > 0 {
		p.warn("%s a rate that is not known", reading.Count(unrated, "cable has", "cables have"))
	}
}

// sayRest warns of lines that were passed over, and of what iblinkinfo does not say.
func (p *parser) sayRest() {
	if note := p.lines.Note(); note != "" {
		p.warn("%s", note)
	}
	if n := p.renamed; n.N > 0 {
		p.warn("%s, the first %q in line %d: LIDs and ports tell which they are", reading.Count(n.N, "peer has another name than in its own row", "peers have other names than in their own rows"), n.Text, n.Line)
	}
	if n := p.silent; n.N > 0 {
		p.warn("%s up and nobody answered at the other end (Port not available): what is there, and behind it, is not known; the first is of %q in line %d", reading.Count(n.N, "port is", "ports are"), n.Text, n.Line)
	}
	if n := p.odd; n.N > 0 {
		const most = 60
		text := []rune(n.Text)
		if len(text) > most {
			text = append(text[:most], '…')
		}
		p.warn("%s no part of iblinkinfo's output, skipped; the first is line %d: %s", reading.Count(n.N, "line is", "lines are"), n.Line, string(text))
	}
	p.warn("iblinkinfo says no LMCs, no devices, and no GUIDs of adapters but of their ports: LMC 0 counts, and an adapter goes by the smallest GUID of its ports (ibnetdiscover says more)")
}
