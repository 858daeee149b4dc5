package repair

import "github.com/weft-fabric/weft/fabric"

// counter counts what packets on one lane cause by whole rows: most of the work of a plan where
// there are many. What it looks up for a switch is side by side.
type counter struct {
	levels *levels
	first  []int32 // [switch, plus one] into hops
	hops   []hop   // [first + port]
	turns  []int32 // [trunk] what is added to the next trunk to have the number of the turn
	passes []pass  // [switch]

	// The ways of the packets of all sources, each up to where an earlier one passed. Read from the
	// last to the first, they have every switch before the one that it forwards to.
	last  int64 // the number of the last of all rows
	at    []fabric.NodeID
	began []int32 // [way of this row] into at
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
	own   int64 // sources on it
}

func newCounter(f *fabric.Fabric, l *levels) *counter {
	n := &counter{levels: l, first: make([]int32, f.Switches()+1), turns: make([]int32, f.Trunks()), passes: make([]pass, f.Switches())}
	heads := f.Heads()
	for s := range fabric.NodeID(f.Switches()) {
		for port := range f.Node(s).Ports + 1 {
			h := nowhere
			if c := f.Trunk(s, uint8(port)); c != fabric.None {
				h = hop{c, heads[c]}
			}
			n.hops = append(n.hops, h)
		}
		n.first[s+1] = int32(len(n.hops))
	}
	for s, sources := range l.sources {
		n.passes[s].own = int64(len(sources))
	}
	for c := range fabric.ChannelID(f.Trunks()) {
		first, _ := f.TrunksFrom(heads[c])
		n.turns[c] = int32(f.FirstTurn(c)) - int32(first)
	}
	return n
}

// pairs is how many sources on a switch, other than that of its owner, send to a LID.
func (n *counter) pairs(s fabric.NodeID, lid fabric.LID) int64 {
	if n.levels.fixed != 0 {
		return n.passes[s].own
	}
	return n.levels.pairs(s, lid)
}

// hop is where an entry of a switch leads.
func (n *counter) hop(s fabric.NodeID, port uint8) hop {
	if at := n.first[s] + int32(port); at < n.first[s+1] {
		return n.hops[at]
	}
	return nowhere
}

// row counts by times what packets of all sources cause by a row: each dependency in uses, by turn,
// and each pair in load, [trunk], unless that is nil. It fails, with nothing counted, if some circle or
// the entry of home sends them on.
func (n *counter) row(row []uint8, lid fabric.LID, home fabric.NodeID, by int32, uses []int32, load []int64) bool {
	if home != fabric.None && n.hop(home, row[home]) != nowhere {
		return false
	}
	n.at, n.began = n.at[:0], n.began[:0]
	before := n.last
	for _, s := range n.levels.ends {
		if s == home || n.passes[s].met > before || n.pairs(s, lid) == 0 {
			continue
		}
		n.last++
		n.began = append(n.began, int32(len(n.at)))
		for s != home {
			p := &n.passes[s]
			if p.met > before {
				if p.met == n.last {
					return false
				}
				break
			}
			p.met, p.pairs, p.hop = n.last, n.pairs(s, lid), n.hop(s, row[s])
			n.at = append(n.at, s)
			if s = p.to; s == fabric.None {
				break
			}
		}
	}
	end := len(n.at)
	for i := len(n.began) - 1; i >= 0; i-- {
		first := int(n.began[i])
		for _, s := range n.at[first:end] {
			p := &n.passes[s]
			if p.by == fabric.None {
				continue
			}
			if load != nil {
				load[p.by] += int64(by) * p.pairs
			}
			if p.to == home {
				continue
			}
			u := &n.passes[p.to]
			u.pairs += p.pairs
			if u.by != fabric.None {
				uses[n.turns[p.by]+int32(u.by)] += by
			}
		}
		end = first
	}
	return true
}
