package packets

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// TableBlocks is how many blocks of routing.BlockLIDs the forwarding tables of a fabric have.
func TableBlocks(f *fabric.Fabric) int { return int(f.TopLID())/routing.BlockLIDs + 1 }

// Never is a time that does not come.
const Never Time = never

// Rewrite is tables that a subnet manager writes over those in force while packets are on
// their way. From its time on, a block holds the new entries and a switch the new SL2VL
// map; Never: it stays as it was. What enters the network has the service level of the
// tables before all rewrites: clients remember their PathRecords.
type Rewrite struct {
	Tables *routing.Tables // for the fabric of the tables in force
	Blocks []Time          // [switch × TableBlocks + block]
	Maps   []Time          // [switch]
}

// NewRewritten is a network that forwards by tables and, as time passes, by those that
// are written over them, one after another. A packet whose switch has no way on for it is
// dropped. It refuses what New refuses, and rewrites that do not fit the fabric.
func NewRewritten(t *routing.Tables, rewrites []Rewrite, c Config) (*Network, error) {
	if len(rewrites) == 0 {
		return New(t, c)
	}
	if c.Flits {
		return nil, errors.New("flit by flit tables do not change: that is modelled for packets as a whole")
	}
	all := []*routing.Tables{t}
	for i, r := range rewrites {
		switch {
		case r.Tables.Fabric != t.Fabric:
			return nil, errors.New("tables are rewritten by those of another fabric")
		case len(r.Blocks) != t.Fabric.Switches()*TableBlocks(t.Fabric) || len(r.Maps) != t.Fabric.Switches():
			return nil, fmt.Errorf("rewrite %d has times of %d blocks and %d maps; there are %d and %d", i+1,
				len(r.Blocks), len(r.Maps), t.Fabric.Switches()*TableBlocks(t.Fabric), t.Fabric.Switches())
		}
		all = append(all, r.Tables)
	}
	n, err := newNetwork(c, all...)
	if err == nil {
		n.rewrites = rewrites
	}
	return n, err
}

// wayNow is wayOn by the entry and the map that a switch has by now; none where there is
// no way on.
func (s *region) wayNow(q int32, p *packet) int32 {
	in := q >> s.shift
	at := fabric.NodeID(s.far[in<<s.shift].at)
	entries, maps := s.tables.Forwarding, s.tables.Lanes.SL2VL
	block := int(at)*TableBlocks(s.Fabric) + int(p.address)/routing.BlockLIDs
	for i := range s.rewrites {
		r := &s.rewrites[i]
		if r.Blocks[block] <= s.wheel.now {
			entries = r.Tables.Forwarding
		}
		if r.Maps[at] <= s.wheel.now {
			maps = r.Tables.Lanes.SL2VL
		}
	}
	port := entries.Port(at, fabric.LID(p.address))
	c := s.Fabric.Out(at, port)
	if c == fabric.None { // there is no map for it
		return none
	}
	lane := maps.Next(at, s.links[in].inPort, port, p.sl, s.laneOf(q))
	if int(lane) >= s.lanes {
		return none
	}
	return s.out(c, lane)
}

// dropHead drops the head of a queue, which has asked for no buffer.
func (s *region) dropHead(q int32) {
	b := &s.far[q]
	index := b.head
	p := &s.packets[index]
	b.head = p.next
	s.headChanged(q)
	b.area += int64(p.size) * int64(s.wheel.now-p.entered)
	s.giveBack(q, b, s.wheel.now, p.size)
	s.count.inside--
	s.count.dropped++
	s.end(p, true)
	s.release(index)
	s.arrived()
}

// Writing is how a subnet manager writes tables: one write after another, of a block or
// of a switch's SL2VL map.
type Writing struct {
	Start Time // of the first write
	Each  Time // from one write to the next
	Pause Time // from the last write of some tables to the first of the next

	// Shuffled writes come in a random order drawn from Seed. Otherwise they come as
	// OpenSM makes them: block by block, within a block switch by switch in the order of
	// GUIDs, then the maps.
	Shuffled bool
	Seed     uint64
}

// Rewrites is the rewrites by tables for one fabric that are written one after another.
func (w Writing) Rewrites(sequence []*routing.Tables) []Rewrite {
	var list []Rewrite
	rng := rand.New(rand.NewPCG(w.Seed, 0))
	now := w.Start
	for _, t := range sequence {
		switches, blocks := t.Fabric.Switches(), TableBlocks(t.Fabric)
		r := Rewrite{Tables: t, Blocks: make([]Time, switches*blocks), Maps: make([]Time, switches)}
		var times []*Time
		for block := range blocks {
			for s := range switches {
				times = append(times, &r.Blocks[s*blocks+block])
			}
		}
		for s := range switches {
			times = append(times, &r.Maps[s])
		}
		if w.Shuffled {
			rng.Shuffle(len(times), func(i, j int) { times[i], times[j] = times[j], times[i] })
		}
		for _, at := range times {
			*at = now
			now += w.Each
		}
		now += w.Pause - w.Each
		list = append(list, r)
	}
	return list
}
