// Package adaptive has routing in which switches choose: by which trunk and on which lane a
// packet goes on is decided when it comes. InfiniBand's tables cannot express it, so it is a
// value of its own kind beside routing.Tables; package judge judges it. Groups of ports,
// which InfiniBand's switches do have, are routing.Groups.
package adaptive

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Address identifies a destination switch together with a set of ways to it, in
// Tables. Addresses are dense from zero, those of one destination consecutive. They
// are not LIDs: there may be more of them than InfiniBand has LIDs.
type Address int32

// Tables is a routing in which switches choose: a packet's next trunk and lane are
// decided when it arrives. It covers traffic between switches; between a switch and its
// endpoints there is nothing to choose.
//
// The source, a switch, picks one of the destination's addresses that it may use
// (AddressesOf; Allowed is not zero). From there on the packet carries its address and
// its allowed lanes, T(s,a) in the words of O. Lysne et al.: Layered Routing in
// Irregular Networks, IEEE TPDS 17(1), 2006, Definition 10. Neither changes on the way.
// Where it may go:
//
//   - at its source, by any lane of Allowed, and on it by any trunk of Ways with
//     fabric.None for the trunk it came by;
//   - at a switch that it came to by trunk c on lane l, by any lane of Allowed
//     that is also in Lanes[l].Next, and on it by any trunk of Ways;
//   - at its destination, nowhere: it is delivered, whatever the sets say.
//
// The sets of Ways contain trunks of all switches; a packet takes one that leaves the
// switch where it is (fabric.TrunksFrom). All of this together is the routing function
// R of the paper (Definition 3), which may depend on the input channel.
//
// Within R, Lanes[l].Rely marks the routing subfunction R' (Definition 13) on which the
// proof of freedom from deadlock rests; at the source R' is the union of all Rely. A
// switch must offer a waiting packet all of R; which free lane it takes first does not
// matter.
type Tables struct {
	Fabric *fabric.Fabric
	Lanes  []Lane   // [lane], at most MaxDataVLs
	Needed int      // lanes that the proof needs, before traffic is spread over spare ones; 0: not known
	Notes  []string // remarks for users, a sentence each

	// FirstSwitch leaves the choice among the addresses of a destination to the switch of the
	// source, where their ways part with the first trunk; else the source makes it. Nobody waits for
	// what a packet held before (an injection channel), so that every address is proven as it is.
	FirstSwitch bool

	first   []Address       // [switch, plus one] addresses by destination
	dest    []fabric.NodeID // [address]
	allowed []uint16        // [address × switches + source switch]
}

// Lane says how packets that hold a lane of a trunk go on. Sets of lanes are
// bits.
type Lane struct {
	Choices *Choices // the trunks by which packets may take this lane
	Next    uint16   // lanes that a packet on this one may take next; this one among them if it may stay
	Rely    uint16   // those of Next that the proof relies on
}

// New is a routing of f without lanes or traffic; addresses is the number of
// addresses of each destination, [switch].
func New(f *fabric.Fabric, addresses []int) *Tables {
	t := &Tables{Fabric: f, first: make([]Address, f.Switches()+1)}
	for d := range f.Switches() {
		for range addresses[d] {
			t.dest = append(t.dest, fabric.NodeID(d))
		}
		t.first[d+1] = Address(len(t.dest))
	}
	t.allowed = make([]uint16, len(t.dest)*f.Switches())
	return t
}

// Addresses is how many addresses all destinations have together: they are the numbers below it.
func (t *Tables) Addresses() int { return len(t.dest) }

// AddressesOf is the range [first, end) of the addresses of a destination switch.
func (t *Tables) AddressesOf(d fabric.NodeID) (first, end Address) {
	return t.first[d], t.first[d+1]
}

// Destination is the switch that an address belongs to.
func (t *Tables) Destination(a Address) fabric.NodeID { return t.dest[a] }

// AllowedRow is the lanes of the packets to an address, as bits, [source switch]; 0:
// the source does not use the address. Only the engine that builds the routing writes
// into it.
func (t *Tables) AllowedRow(a Address) []uint16 {
	n := t.Fabric.Switches()
	i := int(a) * n
	return t.allowed[i : i+n : i+n]
}

// Allowed is the lanes of the packets from switch s to an address, as bits.
func (t *Tables) Allowed(s fabric.NodeID, a Address) uint16 {
	return t.allowed[int(a)*t.Fabric.Switches()+int(s)]
}

// Ways is the trunks by which a packet to an address may take lane to, if it came by
// trunk in on lane from; at the source in is None and from is ignored. A lane with
// Choices other than those of the lane before treats the packet like a new one.
func (t *Tables) Ways(a Address, in fabric.ChannelID, from, to uint8) TrunkSet {
	c := t.Lanes[to].Choices
	if in == fabric.None || t.Lanes[from].Choices != c {
		return c.Set(a, 0)
	}
	return c.Set(a, c.phase[in])
}

// Valid says what is wrong with the lanes, if anything: too many lanes, sets with lanes
// that do not exist, choices made for another routing.
func (t *Tables) Valid() error {
	if len(t.Lanes) == 0 || len(t.Lanes) > routing.MaxDataVLs {
		return fmt.Errorf("an adaptive routing has 1 to %d lanes, not %d", routing.MaxDataVLs, len(t.Lanes))
	}
	all := uint16(1)<<len(t.Lanes) - 1
	for i, l := range t.Lanes {
		switch {
		case l.Choices == nil:
			return fmt.Errorf("lane %d has no choices", i)
		case len(l.Choices.phase) != t.Fabric.Trunks() || len(l.Choices.row) != t.Addresses()*l.Choices.phases:
			return fmt.Errorf("the choices of lane %d are for %d trunks and %d addresses; there are %d and %d", i,
				len(l.Choices.phase), len(l.Choices.row)/l.Choices.phases, t.Fabric.Trunks(), t.Addresses())
		case l.Next&^all != 0:
			return fmt.Errorf("lane %d leads to lanes %b, beyond the %d there are", i, l.Next&^all, len(t.Lanes))
		case l.Rely&^l.Next != 0:
			return fmt.Errorf("lane %d relies on lanes %b that it does not lead to", i, l.Rely&^l.Next)
		}
	}
	for i, m := range t.allowed {
		if m&^all != 0 {
			return fmt.Errorf("switch %d may use lanes %b for address %d, beyond the %d there are",
				i%t.Fabric.Switches(), m&^all, i/t.Fabric.Switches(), len(t.Lanes))
		}
	}
	return nil
}

// TrunkSet is a set of trunks as bits; nil is empty. Sets are shared.
type TrunkSet []uint64

// Has reports whether a trunk is in the set.
func (s TrunkSet) Has(c fabric.ChannelID) bool { return s != nil && s[c/64]>>(c%64)&1 == 1 }

// Next is the first trunk of the set in [c, end), or end. To go through those of
// a switch:
//
//	first, end := f.TrunksFrom(s)
//	for c := set.Next(first, end); c < end; c = set.Next(c+1, end) { … }
func (s TrunkSet) Next(c, end fabric.ChannelID) fabric.ChannelID {
	if s == nil {
		return end
	}
	for c < end {
		if w := s[c/64] >> (c % 64); w != 0 {
			return min(c+fabric.ChannelID(bits.TrailingZeros64(w)), end)
		}
		c = c&^63 + 64
	}
	return end
}

// AppendRange appends the trunks of the set in [first, end) to words, as bits, the
// lowest bit for first.
func (s TrunkSet) AppendRange(words []uint64, first, end fabric.ChannelID) []uint64 {
	for c := first; c < end; c += 64 {
		word := uint64(0)
		if i, shift := int(c/64), c%64; i < len(s) {
			word = s[i] >> shift
			if i+1 < len(s) {
				word |= s[i+1] << (64 - shift)
			}
		}
		if n := end - c; n < 64 {
			word &= 1<<n - 1
		}
		words = append(words, word)
	}
	return words
}

// Choices is sets of trunks by address and phase. A packet's phase follows from the
// trunk that it came by; a new packet has phase 0. Up*/Down* uses phases for packets
// that went down already, A-LASH for first and later switches.
type Choices struct {
	phases, words int
	phase         []uint8  // [trunk] of packets that came by it
	row           []int32  // [address × phases + phase] into bits, in rows; noRow: empty
	bits          []uint64 // [row × words + …]
}

const noRow = -1

// NewChoices is Choices with empty sets. phase is the phase of a packet by the trunk it
// came by, [trunk], and below phases. NewChoices keeps it.
func NewChoices(f *fabric.Fabric, addresses, phases int, phase []uint8) *Choices {
	if len(phase) != f.Trunks() {
		panic(fmt.Sprintf("%d phases for %d trunks", len(phase), f.Trunks()))
	}
	for c, p := range phase {
		if int(p) >= phases {
			panic(fmt.Sprintf("trunk %d has phase %d of %d", c, p, phases))
		}
	}
	return &Choices{phases: phases, words: (f.Trunks() + 63) / 64, phase: phase, row: slices.Repeat([]int32{noRow}, addresses*phases)}
}

// Phases is how many there are: they are the numbers below it.
func (c *Choices) Phases() int { return c.phases }

// Phase is the phase of a packet that came by a trunk.
func (c *Choices) Phase(in fabric.ChannelID) uint8 { return c.phase[in] }

// Set is the trunks that packets to an address may take in a phase.
func (c *Choices) Set(a Address, phase uint8) TrunkSet {
	r := c.row[int(a)*c.phases+int(phase)]
	if r == noRow {
		return nil
	}
	i := int(r) * c.words
	return c.bits[i : i+c.words : i+c.words]
}

// Fresh gives an address a new, empty set for a phase and returns it for writing, until
// the next call of Fresh.
func (c *Choices) Fresh(a Address, phase uint8) TrunkSet {
	c.row[int(a)*c.phases+int(phase)] = int32(len(c.bits) / max(1, c.words))
	c.bits = append(c.bits, make([]uint64, c.words)...)
	return c.Set(a, phase)
}

// Share gives an address the set of another address for a phase.
func (c *Choices) Share(a Address, phase uint8, with Address) {
	c.row[int(a)*c.phases+int(phase)] = c.row[int(with)*c.phases+int(phase)]
}

// Add adds a trunk to a set just made by Fresh.
func (s TrunkSet) Add(c fabric.ChannelID) { s[c/64] |= 1 << (c % 64) }

// Engine computes an adaptive routing. It covers every pair of switches with
// endpoints in the budget's scope that are connected, or refuses; with *TooFewLanes if
// lanes are the reason.
type Engine interface {
	RouteAdaptive(ctx context.Context, f *fabric.Fabric, b routing.Budget, p routing.Progress) (*Tables, error)
}
