package routing

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Groups is what switches with adaptive routing choose from: for a LID an entry names,
// besides the static port that a Forwarding has, a group of ports, any of which a packet
// may leave by. Packets that must stay in order (of other transports, or on service levels
// without adaptive routing) always take the static port, so an entry with a group allows
// the static port and the ports of the group.
//
// Private forwarding tables. A switch may have several tables, and then the in-port of a
// packet and its service level say which one counts. Table 0 has the static ports of
// Tables.Forwarding.
type Groups struct {
	f       *fabric.Fabric
	sets    [][]PortSet    // [switch][number of the group]
	entries [][]Choice     // [private table][LID × switches + switch]
	static  []*Forwarding  // [private table, less one]
	levels  []uint16       // [switch] service levels whose packets may choose, as bits
	private *privateTables // which table counts; nil: table 0 for all
}

// privateTables is the private forwarding table by switch, in-port and service level.
type privateTables struct {
	first  []int   // [switch] offset into number
	number []uint8 // [first + in-port × SLs + SL] number of the table
}

// Choice is an entry of a switch with adaptive routing.
type Choice uint16

// NoChoice is an entry without a group: packets take the static port.
const NoChoice Choice = 0

// byHash marks an entry whose port a hash of the packet decides, not the queues. The other bits are the
// number of the group plus one.
const byHash Choice = 1 << 15

// ChoiceOf is an entry for a group; hashed says that a hash of the packet decides, so
// that waiting does not make it take another port.
func ChoiceOf(group int, hashed bool) Choice {
	c := Choice(group + 1)
	if hashed {
		c |= byHash
	}
	return c
}

// Group is the number of the group of an entry that is not NoChoice.
func (c Choice) Group() int { return int(c&^byHash) - 1 }

// Hashed reports whether a hash decides.
func (c Choice) Hashed() bool { return c&byHash != 0 }

// NewGroups is Groups of f with some number of tables, at least 1, in which no entry has
// a group; every service level may choose.
func NewGroups(f *fabric.Fabric, tables int) *Groups {
	g := &Groups{f: f, sets: make([][]PortSet, f.Switches()), levels: slices.Repeat([]uint16{1<<SLs - 1}, f.Switches())}
	for range tables {
		g.AddTable()
	}
	return g
}

// Tables counts the private tables, table 0 included.
func (g *Groups) Tables() int { return len(g.entries) }

// AddTable adds a private table without any path.
func (g *Groups) AddTable() {
	if len(g.entries) > 0 {
		g.static = append(g.static, NewForwarding(g.f))
	}
	g.entries = append(g.entries, make([]Choice, (int(g.f.TopLID())+1)*g.f.Switches()))
}

// Static is the static ports of a private table other than 0.
func (g *Groups) Static(table int) *Forwarding { return g.static[table-1] }

// Row is the entries of all switches for a LID in a table, [switch]. Only what builds the
// Groups writes into it.
func (g *Groups) Row(table int, lid fabric.LID) []Choice {
	n := g.f.Switches()
	i := int(lid) * n
	return g.entries[table][i : i+n : i+n]
}

// Sets is the groups of a switch, by their numbers.
func (g *Groups) Sets(s fabric.NodeID) []PortSet { return g.sets[s] }

// Set gives a group of a switch its ports, by number; groups of lower numbers that were not given any
// have none.
func (g *Groups) Set(s fabric.NodeID, group int, ports PortSet) {
	for len(g.sets[s]) <= group {
		g.sets[s] = append(g.sets[s], PortSet{})
	}
	g.sets[s][group] = ports
}

// Levels is the service levels whose packets may choose at a switch, as bits.
func (g *Groups) Levels(s fabric.NodeID) uint16 { return g.levels[s] }

// SetLevels sets Levels of a switch.
func (g *Groups) SetLevels(s fabric.NodeID, sls uint16) { g.levels[s] = sls }

// Table is the private table for packets that enter switch s by a port on a service level.
func (g *Groups) Table(s fabric.NodeID, in, sl uint8) int {
	if g.private == nil {
		return 0
	}
	return int(g.private.number[g.private.first[s]+int(in)*SLs+int(sl)])
}

// SetTable sets Table of a switch, in-port and service level.
func (g *Groups) SetTable(s fabric.NodeID, in, sl, table uint8) {
	if g.private == nil {
		p := &privateTables{first: make([]int, g.f.Switches())}
		size := 0
		for s := range p.first {
			p.first[s] = size
			size += (g.f.Node(fabric.NodeID(s)).Ports + 1) * SLs
		}
		p.number = make([]uint8, size)
		g.private = p
	}
	g.private.number[g.private.first[s]+int(in)*SLs+int(sl)] = table
}

// On is a copy of the groups for another fabric f of the same hardware, nil if g is: was is, for each switch of f,
// [switch], the same switch in the fabric of g, or None. Switches that are known keep what they choose from, by port
// numbers, for LIDs of both fabrics; others choose nothing.
func (g *Groups) On(f *fabric.Fabric, was []fabric.NodeID) *Groups {
	if g == nil {
		return nil
	}
	on := NewGroups(f, g.Tables())
	for s, w := range was {
		s := fabric.NodeID(s)
		if w == fabric.None {
			on.SetLevels(s, 0)
			continue
		}
		on.sets[s] = slices.Clone(g.sets[w])
		on.SetLevels(s, g.Levels(w))
		for in := range uint8(f.Node(s).Ports + 1) {
			for sl := range uint8(SLs) {
				if table := g.Table(w, in, sl); table > 0 {
					on.SetTable(s, in, sl, uint8(table))
				}
			}
		}
	}
	for lid := range min(f.TopLID(), g.f.TopLID()) + 1 {
		for table := range g.Tables() {
			for s, w := range was {
				if w == fabric.None {
					continue
				}
				on.Row(table, lid)[s] = g.Row(table, lid)[w]
				if table > 0 {
					on.Static(table).Row(lid)[s] = g.Static(table).Row(lid)[w]
				}
			}
		}
	}
	return on
}

// SameFrom reports whether packets that enter switch s by either of two ports meet the same
// tables.
func (g *Groups) SameFrom(s fabric.NodeID, port, other uint8) bool {
	if g.private == nil {
		return true
	}
	a, b := g.private.first[s]+int(port)*SLs, g.private.first[s]+int(other)*SLs
	return slices.Equal(g.private.number[a:a+SLs], g.private.number[b:b+SLs])
}

// IgnoresSL reports whether packets are forwarded alike on all service levels.
func (g *Groups) IgnoresSL() bool {
	for _, sls := range g.levels {
		if sls != 0 && sls != 1<<SLs-1 {
			return false
		}
	}
	if g.private == nil {
		return true
	}
	for i, table := range g.private.number {
		if table != g.private.number[i&^(SLs-1)] {
			return false
		}
	}
	return true
}

// check says what is wrong with the groups, if anything.
func (g *Groups) check(t *Tables) error {
	if g.f != t.Fabric {
		return fmt.Errorf("the groups of ports are for another fabric")
	}
	for table, entries := range g.entries {
		for i, c := range entries {
			if s := i % g.f.Switches(); c != NoChoice && c.Group() >= len(g.sets[s]) {
				return fmt.Errorf("switch %d has no group %d, which its table %d names for LID %d", s, c.Group(), table, i/g.f.Switches())
			}
		}
	}
	if g.private == nil {
		return nil
	}
	if top := slices.Max(g.private.number); int(top) >= len(g.entries) {
		return fmt.Errorf("packets are to go by private table %d, and there are %d", top, len(g.entries))
	}
	return nil
}

// PortSet is a set of ports of a switch.
type PortSet [4]uint64

// Add adds a port.
func (p *PortSet) Add(port uint8) { p[port/64] |= 1 << (port % 64) }

// Has reports whether a port is in the set.
func (p *PortSet) Has(port uint8) bool { return p[port/64]>>(port%64)&1 == 1 }

// Len counts the ports.
func (p *PortSet) Len() int {
	return bits.OnesCount64(p[0]) + bits.OnesCount64(p[1]) + bits.OnesCount64(p[2]) + bits.OnesCount64(p[3])
}

// All is the ports, ascending.
func (p *PortSet) All() iter.Seq[uint8] {
	return func(yield func(uint8) bool) {
		for i, word := range p {
			for ; word != 0; word &= word - 1 {
				if !yield(uint8(i*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
