package acyclic

import "github.com/weft-fabric/weft/fabric"

// Grown is a set of turns without a cycle that only grows: what it refused once it will
// never take. Turns are not counted.
type Grown struct {
	f *fabric.Fabric
	ordered
	known []uint8 // [turn] held, refused or neither (0)
	added []Turn  // scratch: what AddAll has added so far
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
	g.added = g.added[:0]
	for _, t := range turns {
		switch {
		case g.known[t.ID] == held:
		case g.add(t):
			g.added = append(g.added, t)
		default:
			g.undo(t)
			return false
		}
	}
	for _, t := range g.added {
		g.known[t.ID] = held
	}
	return true
}

// Has reports whether the set holds a turn.
func (g *Grown) Has(turn int) bool { return g.known[turn] == held }

// Add adds a turn, unless it would close a cycle.
func (g *Grown) Add(in, out fabric.ChannelID) bool {
	t := Turn{ID: int32(g.f.Turn(in, out)), In: in, Out: out}
	switch {
	case g.known[t.ID] != 0:
		return g.known[t.ID] == held
	case g.add(t):
		g.known[t.ID] = held
		return true
	}
	g.known[t.ID] = refused
	return false
}

// add adds a turn that the set does not hold, unless it would close a cycle.
func (g *Grown) add(t Turn) bool {
	if g.label[t.In] > g.label[t.Out] && !g.makeRoom(t.In, t.Out) {
		return false
	}
	g.link(t.In, t.Out)
	return true
}

// undo takes out what AddAll has added before a turn that would close a cycle, and sees
// whether that one would do so by itself.
func (g *Grown) undo(culprit Turn) {
	for _, t := range g.added {
		g.unlink(t.In, t.Out)
	}
	if len(g.added) > 0 && g.add(culprit) {
		g.unlink(culprit.In, culprit.Out)
		return
	}
	g.known[culprit.ID] = refused
}
