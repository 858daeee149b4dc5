package cli

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
)

// drawing is a network as a file states it, to be changed.
type drawing struct {
	nodes  []drawnNode
	cables [][2]drawnPort
	lost   [][2]drawnPort // cables that are gone, and may come back
	rng    *rand.Rand
	did    []string
}

type drawnNode struct {
	fabric.Node
	gone  bool
	ports map[uint8]fabric.Port
}

type drawnPort struct {
	node int
	port uint8
}

func drawingOf(f *fabric.Fabric, rng *rand.Rand) *drawing {
	d := &drawing{rng: rng}
	for _, n := range f.Nodes() {
		d.nodes = append(d.nodes, drawnNode{Node: n, ports: map[uint8]fabric.Port{}})
	}
	for _, e := range f.Endpoints() {
		d.nodes[e.Node].ports[e.Port] = fabric.Port{GUID: e.PortGUID, LID: e.LID, LMC: e.LMC}
	}
	for i, c := range f.Channels() {
		if c.Reverse > fabric.ChannelID(i) {
			d.cables = append(d.cables, [2]drawnPort{{int(c.From), c.FromPort}, {int(c.To), c.ToPort}})
		}
	}
	return d
}

// copy is the same network, to be changed by other draws.
func (d *drawing) copy(rng *rand.Rand) *drawing {
	c := &drawing{nodes: slices.Clone(d.nodes), cables: slices.Clone(d.cables), lost: slices.Clone(d.lost), rng: rng, did: slices.Clone(d.did)}
	for i := range c.nodes {
		c.nodes[i].ports = maps.Clone(c.nodes[i].ports)
	}
	return c
}

func (d *drawing) build(t *testing.T) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	refs := make([]fabric.Ref, len(d.nodes))
	for i, n := range d.nodes {
		if n.gone {
			continue
		}
		refs[i] = b.Node(n.Node, "")
		for port, p := range n.ports {
			b.Port(refs[i], port, p)
		}
	}
	for _, c := range d.cables {
		if !d.nodes[c[0].node].gone && !d.nodes[c[1].node].gone {
			b.Cable(refs[c[0].node], c[0].port, refs[c[1].node], c[1].port, fabric.Rate{})
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// some is the nodes of a kind that are there, in an order drawn at random.
func (d *drawing) some(kind fabric.Kind) (list []int) {
	for _, i := range d.rng.Perm(len(d.nodes)) {
		if !d.nodes[i].gone && d.nodes[i].Kind == kind {
			list = append(list, i)
		}
	}
	return list
}

// free is a port of a switch without a cable but those of hosts that are gone; 0: there is none.
func (d *drawing) free(s int) uint8 {
	for port := uint8(1); int(port) <= d.nodes[s].Ports; port++ {
		if !d.taken(drawnPort{s, port}) {
			return port
		}
	}
	return 0
}

// taken reports whether a port has a cable, or waits for one: those of hosts that are gone leave it.
func (d *drawing) taken(p drawnPort) bool {
	left := func(end drawnPort) bool { return d.nodes[end.node].gone && d.nodes[end.node].Kind == fabric.Adapter }
	return slices.ContainsFunc(d.cables, func(c [2]drawnPort) bool { return slices.Contains(c[:], p) && !left(c[0]) && !left(c[1]) })
}

// uplink is where the cable of a host is, and which of its ends is the switch's.
func (d *drawing) uplink(host int) *drawnPort {
	for i := range d.cables {
		for end := range 2 {
			if d.cables[i][end].node == host {
				return &d.cables[i][1-end]
			}
		}
	}
	return nil
}

// at is the port by which a node has its LID, and that port.
func (d *drawing) at(node int) (uint8, fabric.Port) {
	for port := range 3 {
		if p, ok := d.nodes[node].ports[uint8(port)]; ok {
			return uint8(port), p
		}
	}
	panic("a node without a port")
}

func (d *drawing) setLID(node int, lid fabric.LID, lmc uint8) {
	port, p := d.at(node)
	p.LID, p.LMC = lid, lmc
	d.nodes[node].ports[port] = p
}

// freeLID is a LID that nobody has, with room for an LMC.
func (d *drawing) freeLID(lmc uint8) fabric.LID {
	taken := map[fabric.LID]bool{}
	for i := range d.nodes {
		if _, p := d.at(i); !d.nodes[i].gone {
			for l := range fabric.LID(1) << p.LMC {
				taken[p.LID+l] = true
			}
		}
	}
	for {
		lid := fabric.LID(1+d.rng.IntN(4*len(d.nodes))) &^ (1<<lmc - 1)
		ok := lid != 0
		for l := range fabric.LID(1) << lmc {
			ok = ok && !taken[lid+l]
		}
		if ok {
			return lid
		}
	}
}

func (d *drawing) name(i int) string { return d.nodes[i].Name }

func (d *drawing) say(text string, args ...any) { d.did = append(d.did, fmt.Sprintf(text, args...)) }

// exchange gives each of two nodes the LIDs of the other.
func (d *drawing) exchange(a, b int) {
	_, p := d.at(a)
	_, q := d.at(b)
	d.setLID(a, q.LID, q.LMC)
	d.setLID(b, p.LID, p.LMC)
	d.say("%s and %s exchange LIDs %d and %d", d.name(a), d.name(b), p.LID, q.LID)
}

// change makes one change of some kind, if the network allows it.
func (d *drawing) change(kind int) {
	hosts, switches := d.some(fabric.Adapter), d.some(fabric.Switch)
	h := hosts[0]
	switch kind {
	case 0:
		d.exchange(h, hosts[1])
	case 1:
		_, p := d.at(h)
		d.setLID(h, d.freeLID(p.LMC), p.LMC)
		d.say("%s has a new LID", d.name(h))
	case 2:
		lmc := uint8(d.rng.IntN(3))
		d.setLID(h, d.freeLID(lmc), lmc)
		d.say("%s has a new LID and LMC %d", d.name(h), lmc)
	case 3, 4: // to another switch, or port
		to := switches[0]
		if up := d.uplink(h); kind == 4 {
			to = up.node
		} else if to == up.node {
			to = switches[1]
		}
		if port := d.free(to); port != 0 {
			*d.uplink(h) = drawnPort{to, port}
			d.say("%s moves to %s port %d", d.name(h), d.name(to), port)
		}
	case 5:
		a, b := d.uplink(h), d.uplink(hosts[1])
		*a, *b = *b, *a
		d.say("%s and %s exchange places", d.name(h), d.name(hosts[1]))
	case 6, 7: // an adapter is replaced by one with a new GUID, a switch likewise
		i := h
		if kind == 7 {
			i = switches[0]
		}
		port, p := d.at(i)
		d.nodes[i].GUID += 0x5000_0000
		d.nodes[i].SystemGUID = d.nodes[i].GUID
		if p.GUID += 0x5000_0000; d.rng.IntN(2) == 0 {
			p.LID = d.freeLID(p.LMC)
		}
		d.nodes[i].ports[port] = p
		d.say("%s is replaced, LID %d", d.name(i), p.LID)
	case 8:
		if _, p := d.at(h); p.LMC == 0 {
			d.exchange(switches[0], h)
		}
	case 9:
		d.exchange(switches[0], switches[1])
	}
}

const changeKinds = 10

// lose takes a cable between two switches, a switch or a host away.
func (d *drawing) lose() {
	switch d.rng.IntN(5) {
	case 0:
		s := d.some(fabric.Switch)[0]
		d.nodes[s].gone = true
		d.say("%s is gone", d.name(s))
	case 1:
		h := d.some(fabric.Adapter)[0]
		d.nodes[h].gone = true
		d.say("%s is gone", d.name(h))
	default:
		for _, i := range d.rng.Perm(len(d.cables)) {
			c := d.cables[i]
			if d.trunk(c) {
				d.cables = slices.Delete(d.cables, i, i+1)
				d.lost = append(d.lost, c)
				d.say("a cable between %s and %s is gone", d.name(c[0].node), d.name(c[1].node))
				return
			}
		}
	}
}

// trunk reports whether a cable joins two switches that are there.
func (d *drawing) trunk(c [2]drawnPort) bool {
	is := func(n drawnNode) bool { return n.Kind == fabric.Switch && !n.gone }
	return is(d.nodes[c[0].node]) && is(d.nodes[c[1].node])
}

// comeBack brings a host, or else a switch or a cable, back that is gone. Ports and LIDs that others
// have taken meanwhile stay with them: then it comes back with another LID, or not at all.
func (d *drawing) comeBack(hosts bool) {
	for _, i := range d.rng.Perm(len(d.nodes)) {
		n := &d.nodes[i]
		if !n.gone || hosts != (n.Kind == fabric.Adapter) || hosts && d.taken(*d.uplink(i)) {
			continue
		}
		port, p := d.at(i)
		lid := d.freeLID(p.LMC)
		n.gone = false
		if d.shared(i) {
			p.LID = lid
			n.ports[port] = p
		}
		d.say("%s is back with LID %d", n.Name, p.LID)
		return
	}
	for i, c := range d.lost {
		if !hosts && !d.taken(c[0]) && !d.taken(c[1]) {
			d.lost, d.cables = slices.Delete(d.lost, i, i+1), append(d.cables, c)
			d.say("a cable between %s and %s is back", d.name(c[0].node), d.name(c[1].node))
			return
		}
	}
}

// shared reports whether a node has a LID that another one has, too.
func (d *drawing) shared(i int) bool {
	_, p := d.at(i)
	for k := range d.nodes {
		_, q := d.at(k)
		if k != i && !d.nodes[k].gone && p.LID < q.LID+1<<q.LMC && q.LID < p.LID+1<<p.LMC {
			return true
		}
	}
	return false
}
