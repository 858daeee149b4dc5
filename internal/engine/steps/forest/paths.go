// Package forest reads the paths of a Forwarding between the endpoints of a scope, once
// for all lane assigners.
//
// One rule decides what a path is. A source switch that has no entry for a LID has no
// path to it, and is left out: a fabric in parts is routed within its parts. Every other
// path has to arrive. One that comes back to a switch, ends at a switch without an entry,
// leaves by a port without a cable or goes out to another endpoint than the owner of the
// LID is refused with *routing.Refusal, in the same words whoever asks.
//
// Paths gives the in-trees of all LIDs one after another, or the turns of a single path,
// and stores nothing. Forest stores every hop once for all paths that agree from there
// on, whether they come from different switches or lead to different LIDs of a switch.
package forest

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// Paths is the paths of a Forwarding between the endpoints of a scope. Paths begin at
// the switches with endpoints in scope, and lead to their LIDs.
type Paths struct {
	Fabric     *fabric.Fabric
	Forwarding *routing.Forwarding
	Sends      []bool // [switch] it has endpoints in scope
	Ends       []End  // by switch

	sources []fabric.NodeID // the switches that send, ascending
}

// End is a switch to which paths lead.
type End struct {
	Switch fabric.NodeID
	LIDs   []fabric.LID // those in scope, by endpoint
}

// Of is the paths of a Forwarding. It follows none of them: Check and Each do.
func Of(f *fabric.Fabric, fw *routing.Forwarding, scope routing.Scope) *Paths {
	p := &Paths{Fabric: f, Forwarding: fw, Sends: make([]bool, f.Switches())}
	for s := range fabric.NodeID(f.Switches()) {
		var lids []fabric.LID
		for _, e := range f.Attached(s) {
			if ep := f.Endpoint(e); scope.Includes(ep.Class) {
				lids = slices.AppendSeq(lids, ep.LIDs())
			}
		}
		if len(lids) > 0 {
			p.Sends[s] = true
			p.sources = append(p.sources, s)
			p.Ends = append(p.Ends, End{s, lids})
		}
	}
	return p
}

// LIDs is all LIDs in scope, by switch.
func (p *Paths) LIDs() []fabric.LID {
	var all []fabric.LID
	for i := range p.Ends {
		all = append(all, p.Ends[i].LIDs...)
	}
	return all
}

// Check follows every path, and refuses the first that does not arrive.
func (p *Paths) Check(ctx context.Context, report routing.Progress) error {
	return p.Each(ctx, report, func(_, _ int, t *InTree) {
		for t.Next() {
		}
	})
}

// Each calls visit for every End, with the in-trees of its LIDs, in no order and on
// several cores: worker is as of par.For, end an index into Ends. Visit calls t.Next before each
// in-tree, until that returns false. If some path does not arrive, Each returns the refusal of the
// first such path by End, LID and source.
//
// Complexity: O(D·S) for D LIDs and S switches. Memory: O(S) for each worker.
func (p *Paths) Each(ctx context.Context, report routing.Progress, visit func(worker, end int, t *InTree)) error {
	trees := make([]*InTree, par.Workers(len(p.Ends)))
	for w := range trees {
		trees[w] = newInTree(p)
	}
	refusals := make([]*routing.Refusal, len(p.Ends))
	err := par.For(ctx, len(p.Ends), func(worker, end int) {
		t := trees[worker]
		t.begin(&p.Ends[end])
		visit(worker, end, t)
		refusals[end] = t.refusal
		if worker == 0 && end%64 == 0 {
			report.Report(end, len(p.Ends))
		}
	})
	if err != nil {
		return err
	}
	for _, r := range refusals {
		if r != nil {
			return r
		}
	}
	return nil
}

// Turns is the turns of all paths, as bits by number. It refuses as Each does.
func (p *Paths) Turns(ctx context.Context) ([]uint64, error) {
	f, heads := p.Fabric, p.Fabric.Heads()
	sets := make([][]uint64, par.Workers(len(p.Ends)))
	for w := range sets {
		sets[w] = make([]uint64, (f.Turns()+63)/64)
	}
	err := p.Each(ctx, nil, func(worker, _ int, t *InTree) {
		set := sets[worker]
		for t.Next() {
			for _, s := range t.Order {
				in := t.Out[s]
				if u := heads[in]; u != t.End.Switch {
					turn := f.Turn(in, t.Out[u])
					set[turn/64] |= 1 << (turn % 64)
				}
			}
		}
	})
	for _, more := range sets[1:] {
		for i, word := range more {
			sets[0][i] |= word
		}
	}
	return sets[0], err
}

// AppendTurns appends the turns of the path from switch s to a LID on switch root, none
// where there is no path. The paths must have been checked.
func (p *Paths) AppendTurns(turns []acyclic.Turn, s fabric.NodeID, lid fabric.LID, root fabric.NodeID) []acyclic.Turn {
	row := p.Forwarding.Row(lid)
	if s == root || row[s] == routing.NoPort {
		return turns
	}
	f, heads := p.Fabric, p.Fabric.Heads()
	in := f.Out(s, row[s])
	for at := heads[in]; at != root; at = heads[in] {
		out := f.Out(at, row[at])
		turns = append(turns, acyclic.Turn{ID: int32(f.Turn(in, out)), In: in, Out: out})
		in = out
	}
	return turns
}

// InTree is the part of a LID's in-tree that paths lead over. It is filled again for
// every LID of an End.
type InTree struct {
	End   *End
	LID   fabric.LID
	Order []fabric.NodeID    // the switches on paths except the End's, each behind the one it forwards to
	Out   []fabric.ChannelID // [switch in Order] the trunk it forwards to

	paths   *Paths
	next    int     // into End.LIDs
	state   []state // [switch]
	refusal *routing.Refusal
}

// state is what is known of the path from a switch to the LID at hand.
type state uint8

const (
	unknown  state = iota
	followed       // it is on the path that follow is at
	arrives
)

func newInTree(p *Paths) *InTree {
	n := p.Fabric.Switches()
	return &InTree{paths: p, Order: make([]fabric.NodeID, 0, n), Out: make([]fabric.ChannelID, n), state: make([]state, n)}
}

func (t *InTree) begin(e *End) { t.End, t.next, t.refusal = e, 0, nil }

// Next reads the in-tree of the next LID. It returns false when there is none, or when a path
// does not arrive; then visit must return.
func (t *InTree) Next() bool {
	if t.next == len(t.End.LIDs) {
		return false
	}
	t.LID = t.End.LIDs[t.next]
	t.next++
	t.Order = t.Order[:0]
	clear(t.state)
	t.state[t.End.Switch] = arrives
	row := t.paths.Forwarding.Row(t.LID)
	for _, s := range t.paths.sources {
		if t.state[s] == unknown && row[s] != routing.NoPort && !t.follow(row, s) {
			return false
		}
	}
	return t.delivered(row[t.End.Switch])
}

// follow adds the path from a switch to Order and Out, up to where it is known. It returns false, with
// t.refusal set, if the path does not arrive.
func (t *InTree) follow(row []uint8, s fabric.NodeID) bool {
	f := t.paths.Fabric
	heads, trunks := f.Heads(), fabric.ChannelID(f.Trunks())
	first := len(t.Order)
	for t.state[s] == unknown {
		out := f.Out(s, row[s])
		if out == fabric.None || out >= trunks {
			t.refuseEnd(s, row[s])
			return false
		}
		t.state[s], t.Out[s] = followed, out
		t.Order = append(t.Order, s)
		s = heads[out]
	}
	added := t.Order[first:]
	if t.state[s] == followed {
		t.refuse(s, row[s], "circle over %d switches", len(added)-slices.Index(added, s))
		return false
	}
	for _, s := range added {
		t.state[s] = arrives
	}
	slices.Reverse(added)
	return true
}

// delivered reports whether the End's switch hands packets to the owner of the LID, by a port, which it
// need not if no switch has a path; else t.refusal is set.
func (t *InTree) delivered(port uint8) bool {
	f := t.paths.Fabric
	if len(t.Order) == 0 && port == routing.NoPort || port == f.LastPort(f.Endpoint(f.Owner(t.LID))) {
		return true
	}
	t.refuseEnd(t.End.Switch, port)
	return false
}

// Path is the path from a switch to a LID, with its hops.
type Path struct {
	From fabric.NodeID
	LID  fabric.LID
	Hops int // trunks
}

// Longest is the path with the most hops, the first of several by End, LID and source,
// and no path at all if none has a hop. It refuses as Check does. The paths of switches
// that send nothing need no exception: one that sends has a longer path over them.
func (p *Paths) Longest(ctx context.Context, report routing.Progress) (Path, error) {
	longest := make([]Path, len(p.Ends))
	hops := make([][]int, par.Workers(len(p.Ends))) // [worker][switch]
	for w := range hops {
		hops[w] = make([]int, p.Fabric.Switches())
	}
	heads := p.Fabric.Heads()
	err := p.Each(ctx, report, func(worker, end int, t *InTree) {
		hops, far := hops[worker], &longest[end]
		for t.Next() {
			hops[t.End.Switch] = 0
			for _, s := range t.Order {
				hops[s] = hops[heads[t.Out[s]]] + 1
				if hops[s] > far.Hops || hops[s] == far.Hops && t.LID == far.LID && s < far.From {
					*far = Path{From: s, LID: t.LID, Hops: hops[s]}
				}
			}
		}
	})
	var first Path
	for _, path := range longest {
		if path.Hops > first.Hops {
			first = path
		}
	}
	return first, err
}
