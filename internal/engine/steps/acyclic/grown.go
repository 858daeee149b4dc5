package acyclic

import "github.com/weft-fabric/weft/fabric"

// Grown is a set of turns without a cycle that only grows: what it refused once it will
// never take. Turns are not counted.
type Grown struct {
	f *fabric.Fabric
	ordered
	known []uint8 // [turn] held, refused or neither (0)
	fresh []Turn  // scratch: those of some turns that the set does not hold
}

const (
	held    uint8 = 1 << iota
	refused       // would close a cycle, with no other turn added
)

// Grow is the set of the turns that are counted at least once, known to be free of
// cycles, with a topological order of all trunks.
func Grow(f *fabric.Fabric, count []uint32, order []fabric.ChannelID) *Grown {
	const lanes = 1 // a vertex is a trunk
	g := &Grown{f: f, ordered: newOrdered(f, lanes, order), known: make([]uint8, f.Turns())}
	for in := range fabric.ChannelID(f.Trunks()) {
		first, end := f.TrunksFrom(f.Heads()[in])
		turn := f.FirstTurn(in)
		for i, n := range count[turn:][:end-first] {
			if n > 0 {
				g.known[turn+i] = held
				g.link(in, first+fabric.ChannelID(i))
			}
		}
	}
	return g
}

// AddAll adds turns, all or none. No turn is named twice.
func (g *Grown) AddAll(turns []Turn) bool {
	all, some := held, uint8(0)
	for _, t := range turns {
		known := g.known[t.ID]
		all &= known
		some |= known
	}
	if all == held || some&refused != 0 {
		return all == held
	}
	g.fresh = g.fresh[:0]
	for _, t := range turns {
		if g.known[t.ID] != held {
			g.fresh = append(g.fresh, t)
		}
	}
	alone, ok := g.linkAll(g.fresh)
	if alone >= 0 {
		g.known[g.fresh[alone].ID] = refused
	}
	if !ok {
		return false
	}
	for _, t := range g.fresh {
		g.known[t.ID] = held
	}
	return true
}

// Has reports whether the set holds a turn.
func (g *Grown) Has(turn int) bool { return g.known[turn] == held }

// Add adds a turn, unless it would close a cycle.
func (g *Grown) Add(in, out fabric.ChannelID) bool {
	known := &g.known[g.f.Turn(in, out)]
	switch {
	case *known != 0:
		return *known == held
	case !g.fits(in, out):
		*known = refused
		return false
	}
	g.link(in, out)
	*known = held
	return true
}
