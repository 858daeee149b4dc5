package packetset

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
)

// Counter counts what the packets of all sources cause by whole rows: most of the work of a repair
// where there are many. What it looks up for a switch is side by side.
type Counter struct {
	packets *Packets
	first   []int32 // [switch, plus one] into hops
	hops    []hop   // [first + port]
	turns   []int32 // [trunk] what is added to the next trunk to have the number of the turn
	passes  []pass  // [switch]

	// The ways of the packets of all sources, each up to where an earlier one passed. Read from the
	// last to the first, they have every switch before the one that it forwards to.
	last   int64 // the number of the last, in all rows
	before int64 // that of the last before this row
	at     []fabric.NodeID
	began  []int32 // [way of this row] into at
}

// hop is where a port leads.
type hop struct {
	by fabric.ChannelID
	to fabric.NodeID
}

var nowhere = hop{fabric.None, fabric.None}

// pass is what is known of the packets at a switch.
type pass struct {
	hop
	met   int64 // the number of the last way that passed it
	pairs int64 // of which packets pass it
}

// NewCounter counts for some sources.
func NewCounter(s *Sources) *Counter {
	f := s.f
	n := &Counter{packets: New(s), first: make([]int32, f.Switches()+1), turns: make([]int32, f.Trunks()), passes: make([]pass, f.Switches())}
	heads := f.Heads()
	for at := range fabric.NodeID(f.Switches()) {
		for port := range f.Node(at).Ports + 1 {
			h := nowhere
			if c := f.Trunk(at, uint8(port)); c != fabric.None {
				h = hop{c, heads[c]}
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

// Count counts by times what packets to a LID cause by its row: each dependency in uses, by its number
// among Dependencies, and each pair in load, [trunk]; nil: these are not counted. Pairs are no load
// where any circle.
func (n *Counter) Count(row []uint8, lid fabric.LID, by int32, uses []int32, load []int64) {
	straight := n.trace(row, lid)
	if uses != nil && !(straight && n.packets.laneZero && n.packets.Lanes == 1) {
		numbers := n.packets.Dependencies()
		n.packets.Begin(row, lid)
		n.packets.Start(func(in, out fabric.ChannelID) bool {
			uses[numbers.Number(acyclic.Dependency{In: in, Out: out})] += by
			return true
		})
		uses = nil
	}
	end := len(n.at)
	for i := len(n.began) - 1; i >= 0 && straight; i-- {
		first := int(n.began[i])
		for _, s := range n.at[first:end] {
			p := &n.passes[s]
			if p.by == fabric.None {
				continue
			}
			if load != nil {
				load[p.by] += int64(by) * p.pairs
			}
			u := &n.passes[p.to]
			u.pairs += p.pairs
			if u.by != fabric.None && uses != nil {
				uses[n.turns[p.by]+int32(u.by)] += by
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

// trace finds the ways of the packets to a LID. It fails if some circle.
func (n *Counter) trace(row []uint8, lid fabric.LID) bool {
	sources := n.packets.Sources
	n.at, n.began, n.before = n.at[:0], n.began[:0], n.last
	for _, s := range sources.ends {
		if n.passes[s].met > n.before || sources.pairs(s, lid) == 0 {
			continue
		}
		n.last++
		n.began = append(n.began, int32(len(n.at)))
		for s != fabric.None {
			p := &n.passes[s]
			if p.met > n.before {
				if p.met == n.last {
					return false
				}
				break
			}
			p.met, p.pairs, p.hop = n.last, sources.pairs(s, lid), n.hop(s, row[s])
			n.at = append(n.at, s)
			s = p.to
		}
	}
	return true
}
