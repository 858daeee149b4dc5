// Package lighter asks several path finders and takes the paths of the first, unless
// those of another have noticeably less on their fullest channel, or not noticeably more and
// phases of half the time: where an odd part of a network is so narrow that no paths have less on its
// channels, the fullest says nothing of the rest.
//
// Complexity: that of the finders, and O(D·S) for D destination LIDs and S switches.
package lighter

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/routing"
)

// noticeable is the part of the largest load, one in so many, that other paths must
// save.
const noticeable = 8

// shorter is how many times shorter phases must be. On 11 of the 60 networks for tuning sssp's are, and none is worse for
// it. Less is not worth the lanes: for an eighth, dfsssp takes 13 lanes for 7 on a torus of 6x5x5.
const shorter = 2

// Finder takes the best of several finders.
type Finder struct {
	Of []routing.PathFinder

	// OneWay says that the first leads all packets from one switch to another over the same
	// switches. It is not asked where such paths, whichever they are, lose to those of the second.
	OneWay bool
}

// found is paths with their loads.
type found struct {
	paths *routing.Forwarding
	load
}

// Paths implements routing.PathFinder.
func (o Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	if len(o.Of) == 0 {
		return nil, errors.New("no path finder to ask; give at least one")
	}
	made, asked := make([]*found, len(o.Of)), 0
	ask := func(i int) (*found, error) {
		if made[i] == nil {
			t, err := o.Of[i].Paths(ctx, f, nil)
			if err != nil {
				return nil, err
			}
			made[i] = &found{t, load{fullest(f, t), sync.OnceValue(func() uint64 { return phases(f, t) })}}
			asked++
			p.Report(asked, len(o.Of))
		}
		return made[i], nil
	}
	first := 0
	if o.OneWay && len(o.Of) > 1 {
		x, err := ask(1)
		if err != nil {
			return nil, err
		}
		if x.lighter(oneWay(f)) {
			first = 1
		}
	}
	best, err := ask(first)
	for i := first + 1; err == nil && i < len(o.Of); i++ {
		var x *found
		if x, err = ask(i); err == nil && x.lighter(best.load) {
			best = x
		}
	}
	if err != nil {
		return nil, err
	}
	p.Report(len(o.Of), len(o.Of)) // one that cannot win was not asked
	return best.paths, nil
}

// load is what paths are judged by. Phases are counted only where the fullest channel does not decide.
type load struct {
	fullest uint64
	phases  func() uint64
}

func (l load) lighter(than load) bool {
	switch {
	case less(l.fullest, than.fullest):
		return true
	case less(than.fullest, l.fullest):
		return false
	}
	return l.phases()*shorter < than.phases()
}

// less reports whether a is noticeably less than b.
func less(a, b uint64) bool { return a < b-b/noticeable }

// mostFlows is about how many flows phases follows.
const mostFlows = 300_000

// phases is the flows on the fullest trunk of a phase of all to all, added up over a sample: in each, every
// adapter and router sends to the one so many further on, by switch.
func phases(f *fabric.Fabric, t *routing.Forwarding) uint64 {
	ranks := f.ByPort(routing.Adapters.Endpoints(f))
	apart := sampled(len(ranks))
	phases := len(apart)
	on, worst := make([]uint32, f.Trunks()*phases), make([]uint32, phases) // [trunk × phases + phase]; [phase]
	for rank, e := range ranks {                                           // all to one after the other: so its row stays in a cache
		to := f.Endpoint(e)
		row := t.Row(to.LID)
		for i, k := range apart {
			at := f.Endpoint(ranks[(rank-k+len(ranks))%len(ranks)]).Switch
			for range f.Switches() {
				if at == to.Switch {
					break
				}
				c := f.Trunk(at, row[at])
				if c == fabric.None {
					break
				}
				n := &on[int(c)*phases+i]
				*n++
				worst[i] = max(worst[i], *n)
				at = f.Heads()[c]
			}
		}
	}
	return sum(worst)
}

// sampled is how far apart ranks are that send to each other in the phases of the sample.
func sampled(ranks int) []int {
	most := max(0, min(ranks-1, max(32, mostFlows/max(1, ranks))))
	apart := make([]int, most)
	for i := range apart {
		apart[i] = 1 + i*(ranks-1)/most
	}
	return apart
}

func sum(all []uint32) (sum uint64) {
	for _, n := range all {
		sum += uint64(n)
	}
	return sum
}

// oneWay is what no paths have less than that lead all packets between two switches over the
// same switches, by their addresses over cables in parallel.
func oneWay(f *fabric.Fabric) load {
	part := f.PartOf(f.Parts())
	return load{leastFullest(f, part), func() uint64 { return leastPhases(f, part) }}
}

// leastPhases is what no such paths have less than in phases.
func leastPhases(f *fabric.Fabric, part []int32) uint64 {
	links := dag.NewLinks(f)
	cables := make([]uint32, f.Switches()) // [switch] most of a link from it
	for s := range cables {
		for link := links.First[s]; link < links.First[s+1]; link++ {
			cables[s] = max(cables[s], uint32(len(links.Cables(link))))
		}
	}
	ranks := f.ByPort(routing.Adapters.Endpoints(f))
	apart := sampled(len(ranks))
	worst := make([]uint32, len(apart))
	flows := make([]uint32, f.Switches()) // [switch] to it, from the switch at hand
	for i, k := range apart {
		for rank := 0; rank < len(ranks); { // those on one switch are in a row
			from, first := f.Endpoint(ranks[rank]).Switch, rank
			for ; rank < len(ranks) && f.Endpoint(ranks[rank]).Switch == from; rank++ {
				if to := f.Endpoint(ranks[(rank+k)%len(ranks)]).Switch; to != from && to != fabric.None && from != fabric.None && part[to] == part[from] {
					flows[to]++
					worst[i] = max(worst[i], (flows[to]+cables[from]-1)/cables[from])
				}
			}
			for r := first; r < rank; r++ {
				if to := f.Endpoint(ranks[(r+k)%len(ranks)]).Switch; to != fabric.None {
					flows[to] = 0
				}
			}
		}
	}
	return sum(worst)
}

// leastFullest is what no paths have less than on their fullest trunk: as if all trunks of a switch
// had equally many of the routes that begin or end there.
func leastFullest(f *fabric.Fabric, part []int32) (most uint64) {
	lids := make([]uint64, f.Switches()) // [switch]
	of := map[int32]uint64{}             // by part
	ends := routing.Adapters.PerSwitch(f)
	sources := map[int32]uint64{}
	for _, e := range routing.Adapters.Endpoints(f) {
		if end := f.Endpoint(e); end.Switch != fabric.None {
			lids[end.Switch] += 1 << end.LMC
			of[part[end.Switch]] += 1 << end.LMC
			sources[part[end.Switch]]++
		}
	}
	for s, n := range ends {
		first, end := f.TrunksFrom(fabric.NodeID(s))
		if end > first {
			begin := uint64(n) * (of[part[s]] - lids[s])
			arrive := lids[s] * (sources[part[s]] - uint64(n))
			most = max(most, max(begin, arrive)/uint64(end-first))
		}
	}
	return most
}

// fullest is the routes over the fullest trunk when each adapter and router sends to
// every LID of every other.
func fullest(f *fabric.Fabric, t *routing.Forwarding) uint64 {
	loads := intree.NewLoads(f)
	var tree routing.Tree
	var before []uint8 // a row to root, that times addresses have
	root, times := fabric.NodeID(fabric.None), uint64(0)
	charge := func() {
		if times > 0 {
			tree.Build(f, before, root)
			loads.Charge(tree.Order, tree.Out, times)
		}
	}
	for _, e := range routing.Adapters.Endpoints(f) {
		ep := f.Endpoint(e)
		for lid := range ep.LIDs() {
			row := t.Row(lid)
			if s := ep.Switch; s == root && bytes.Equal(row[:s], before[:s]) && bytes.Equal(row[s+1:], before[s+1:]) {
				times++ // all go as to the one before, but for the last cable
				continue
			}
			charge()
			before, root, times = row, ep.Switch, 1
		}
	}
	charge()
	return loads.Most()
}
