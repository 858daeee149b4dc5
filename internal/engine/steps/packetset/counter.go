package packetset

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
)

// Counter counts what the packets of all sources cause by whole rows, for internal/repair: most of its
// work where there are many rows. What it looks up for a switch is side by side in memory.
type Counter struct {
	packets *Packets
	first   []int32 // [switch, plus one] into hops
	hops    []hop   // [first + port]
	turns   []int32 // [trunk] what is added to the next trunk to have the number of the turn
	passes  []pass  // [switch]

	// The ways of the packets of all sources by the row counted last, each up to where an earlier one
	// passed. Ways have numbers that go on from row to row, from 1. Read from the last way to the first,
	// they have every switch before the one that it forwards to.
	last   int64           // the number of the last way
	before int64           // the number of the last way of the row before
	passed []fabric.NodeID // the switches of all ways of this row
	began  []int32         // [way of this row] into passed
}

// hop is where a port leads.
type hop struct {
	trunk fabric.ChannelID
	to    fabric.NodeID
}

var nowhere = hop{trunk: fabric.None, to: fabric.None}

// pass is what is known of the packets at a switch.
type pass struct {
	hop         // by the entry of the row
	met   int64 // the number of the last way that passed it
	pairs int64 // how many pairs' packets pass it
}

// NewCounter makes a Counter for the packets of some sources.
func NewCounter(s *Sources) *Counter {
	f := s.f
	n := &Counter{packets: New(s), first: make([]int32, f.Switches()+1), turns: make([]int32, f.Trunks()), passes: make([]pass, f.Switches())}
	heads := f.Heads()
	for at := range fabric.NodeID(f.Switches()) {
		for port := range f.Node(at).Ports + 1 {
			h := nowhere
			if c := f.Trunk(at, uint8(port)); c != fabric.None {
				h = hop{trunk: c, to: heads[c]}
			}
			n.hops = append(n.hops, h)
		}
		n.first[at+1] = int32(len(n.hops))
	}
	for c := range fabric.ChannelID(f.Trunks()) {
		first, _ := f.TrunksFrom(heads[c])
		n.turns[c] = int32(f.FirstTurn(c)) - int32(first)
	}
	return n
}

// hop is where an entry of a switch leads.
func (n *Counter) hop(s fabric.NodeID, port uint8) hop {
	if at := n.first[s] + int32(port); at < n.first[s+1] {
		return n.hops[at]
	}
	return nowhere
}

// Count adds times, which may be negative, for what packets to a LID cause by its row: to uses at the
// number of each dependency (Dependencies), once, and to load at each trunk, [trunk], once for each pair
// whose packets take it. Either may be nil. Where packets circle, load is left alone.
func (n *Counter) Count(row []uint8, lid fabric.LID, times int32, uses []int32, load []int64) {
	straight := n.trace(row, lid)
	if uses != nil && !(straight && n.packets.laneZero && n.packets.Lanes == 1) {
		numbers := n.packets.Dependencies()
		n.packets.Begin(row, lid)
		n.packets.Start(func(in, out fabric.ChannelID) bool {
			uses[numbers.Number(acyclic.Dependency{In: in, Out: out})] += times
			return true
		})
		uses = nil
	}
	end := len(n.passed)
	for i := len(n.began) - 1; i >= 0 && straight; i-- {
		first := int(n.began[i])
		for _, s := range n.passed[first:end] {
			p := &n.passes[s]
			if p.trunk == fabric.None {
				continue
			}
			if load != nil {
				load[p.trunk] += int64(times) * p.pairs
			}
			u := &n.passes[p.to]
			u.pairs += p.pairs
			if u.trunk != fabric.None && uses != nil {
				uses[n.turns[p.trunk]+int32(u.trunk)] += times
			}
		}
		end = first
	}
}

// Pairs is how many pairs pass a switch, or begin there, by the row that was counted last.
func (n *Counter) Pairs(s fabric.NodeID) int64 {
	if p := &n.passes[s]; p.met > n.before {
		return p.pairs
	}
	return 0
}

// trace finds the ways of the packets to a LID, with the pairs that begin at each switch in passes. It
// returns false if packets circle.
func (n *Counter) trace(row []uint8, lid fabric.LID) bool {
	sources := n.packets.Sources
	n.passed, n.began, n.before = n.passed[:0], n.began[:0], n.last
	for _, s := range sources.ends {
		if n.passes[s].met > n.before || sources.pairs(s, lid) == 0 {
			continue
		}
		n.last++
		n.began = append(n.began, int32(len(n.passed)))
		for s != fabric.None {
			p := &n.passes[s]
			if p.met > n.before {
				if p.met == n.last {
					return false
				}
				break
			}
			p.met, p.pairs, p.hop = n.last, sources.pairs(s, lid), n.hop(s, row[s])
			n.passed = append(n.passed, s)
			s = p.to
		}
	}
	return true
}
