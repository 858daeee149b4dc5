package orient

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// NotJoined is the failure of Join: no turn can be admitted that leads From one
// switch To another, both with hosts.
type NotJoined struct {
	From, To fabric.NodeID
}

func (e *NotJoined) Error() string {
	return fmt.Sprintf("no turn can be admitted that leads from switch %d to switch %d", e.From, e.To)
}

// Join completes a forwarding whose paths go up, then down, by turns from down to up
// of which each is admitted only if the turns of all paths together stay free of
// cycles.
//
// Every part has a hub, the switch from which most others are reached by going
// up only. Whoever has no path goes towards the hub until it meets somebody who
// has one. With all turns at the hub or right above it, no two of them can close
// a cycle in a tree without faults. Where this does not help, other turns are
// tried; where that comes to nothing either, all is tried again without hubs.
//
// There may be no such turns for all: in a tree whose planes of spines share no switch
// above, two spines of a plane above the same leaf are enough. Then what hosts need
// comes first: paths from switches with host adapters to the LIDs of host adapters.
// It fails with *NotJoined if one of these has no turn left. All other addresses, such
// as those of spines, get what is still free; where nothing is, their entries stay
// empty, and Forwarding.Apart says so. The note is what was done.
func Join(ctx context.Context, f *fabric.Fabric, o *Orientation, t *routing.Forwarding) (note string, err error) {
	used, err := markTurns(ctx, f, t)
	if err != nil {
		return "", err
	}
	order := o.UpThenDown(f)
	begin := func(hubs bool) *joiner {
		return newJoiner(f, o, t, acyclic.Grow(f, used, order), hubs)
	}
	for _, hubs := range [2]bool{true, false} {
		j := begin(hubs)
		j.nearest = hubs
		if err = j.all(ctx); err == nil {
			return j.note(), nil
		}
		j.undo()
	}
	var best *joiner
	for _, hubs := range [2]bool{true, false} {
		j := begin(hubs)
		if best != nil {
			j.most = best.empty
		}
		if err = j.hostsFirst(ctx); err == nil && j.empty < j.most {
			best = j
		}
		j.undo()
	}
	if best == nil {
		return "", err
	}
	best.redo()
	t.Apart = best.empty > 0
	return best.note(), nil
}

// errNoBetter ends an attempt of Join.
var errNoBetter = errors.New("an attempt before leaves no more entries empty")

// joiner completes a forwarding in which some switches have no path.
type joiner struct {
	f        *fabric.Fabric
	t        *routing.Forwarding
	g        *acyclic.Grown // the turns of all paths
	up       []bool         // [trunk]
	part     []int32        // [switch]
	hubs     [][]uint8      // [part] the way to its hub, by switch; nil: do without
	tree     routing.Tree
	nearest  bool            // admit turns near the destination first
	added    int             // entries that turn from down to up
	empty    int             // entries for which no turn is left
	most     int             // with so many it is no better than what was tried before
	filled   []entry         // what there was no path for
	lost     []fabric.NodeID // scratch
	shortest dag.DAG         // scratch
}

// entry is a place in a forwarding.
type entry struct {
	lid  fabric.LID
	s    fabric.NodeID
	port uint8
}

func newJoiner(f *fabric.Fabric, o *Orientation, t *routing.Forwarding, g *acyclic.Grown, hubs bool) *joiner {
	parts := f.Parts()
	j := &joiner{f: f, t: t, g: g, most: math.MaxInt, up: o.Up, part: f.PartOf(parts)}
	empty := 0
	for lid := range f.LIDs() {
		empty += bytes.Count(t.Row(lid), []byte{routing.NoPort})
	}
	j.filled = make([]entry, 0, empty)
	for i, switches := range parts {
		j.hubs = append(j.hubs, nil)
		if hubs {
			hub := f.Endpoint(f.Attached(o.hub(f, switches))[0]) // its port 0
			j.hubs[i] = t.Row(hub.LID)
		}
	}
	return j
}

// all completes the forwarding for every LID in turn.
func (j *joiner) all(ctx context.Context) error {
	return j.each(ctx, anyClass, func(lid fabric.LID, root fabric.NodeID) error {
		if still := j.rescue(lid, root); len(still) > 0 {
			return &NotJoined{From: still[0], To: root}
		}
		return nil
	})
}

// hostsFirst gives switches with hosts their paths to the LIDs of host adapters, then
// whatever has no path one if it can: first to host adapters, last to port 0 of
// switches.
func (j *joiner) hostsFirst(ctx context.Context) error {
	hosts := routing.HCA.Ends(j.f)
	hasHosts := func(s fabric.NodeID) bool { return hosts[s] }
	err := j.each(ctx, fabric.HostAdapter, func(lid fabric.LID, root fabric.NodeID) error {
		if !slices.ContainsFunc(j.lost, hasHosts) {
			return nil
		}
		still := j.rescue(lid, root)
		if i := slices.IndexFunc(still, hasHosts); i >= 0 {
			return &NotJoined{From: still[i], To: root}
		}
		return nil
	})
	for class := fabric.HostAdapter; class <= fabric.SwitchPort && err == nil; class++ {
		err = j.each(ctx, class, func(lid fabric.LID, root fabric.NodeID) error {
			if j.empty += len(j.rescue(lid, root)); j.empty >= j.most {
				return errNoBetter
			}
			return nil
		})
	}
	return err
}

// anyClass stands for endpoints of all classes.
const anyClass = fabric.SwitchPort + 1

// each calls visit for every LID of a class that some switch has no path to, with its switch; j.lost is the switches of
// the same part without a path to it.
func (j *joiner) each(ctx context.Context, class fabric.Class, visit func(lid fabric.LID, root fabric.NodeID) error) error {
	for lid, e := range j.f.LIDs() {
		end := j.f.Endpoint(e)
		if class != anyClass && end.Class != class || end.Switch == fabric.None {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		j.lost = j.lost[:0]
		row := j.t.Row(lid)
		for s := bytes.IndexByte(row, routing.NoPort); s >= 0 && s < len(row); s++ { // most rows have no such entry
			if row[s] == routing.NoPort && j.part[s] == j.part[end.Switch] {
				j.lost = append(j.lost, fabric.NodeID(s))
			}
		}
		if len(j.lost) == 0 {
			continue
		}
		if err := visit(lid, end.Switch); err != nil {
			return err
		}
	}
	return nil
}

// undo takes all entries back.
func (j *joiner) undo() {
	for _, e := range j.filled {
		j.t.Row(e.lid)[e.s] = routing.NoPort
	}
}

// redo writes them again.
func (j *joiner) redo() {
	for _, e := range j.filled {
		j.t.Row(e.lid)[e.s] = e.port
	}
}

// note says for users what was done.
func (j *joiner) note() string {
	text := fmt.Sprintf("%d turns from down to up join switches with none above both", j.added)
	if j.added == 1 {
		text = "1 turn from down to up joins switches with none above both"
	}
	switch {
	case j.empty == 1:
		text += "; 1 entry of a switch, for an address that no host needs from there, stays empty: every path would close a credit loop"
	case j.empty > 1:
		text += fmt.Sprintf("; %d entries of switches, for addresses that no host needs from there, stay empty: every path would close a credit loop", j.empty)
	}
	return text
}

// hub is that of some switches from which most are reached by going up only, of
// several the last in the order.
func (o *Orientation) hub(f *fabric.Fabric, switches []fabric.NodeID) fabric.NodeID {
	member := make(map[fabric.NodeID]bool, len(switches))
	for _, s := range switches {
		member[s] = true
	}
	seen := make([]fabric.NodeID, f.Switches()) // [switch] from which it was last seen, plus one
	best, most := switches[0], -1
	for i := len(o.Order) - 1; i >= 0; i-- {
		s := o.Order[i]
		if !member[s] {
			continue
		}
		queue := []fabric.NodeID{s}
		for k := 0; k < len(queue); k++ {
			for c, end := f.TrunksFrom(queue[k]); c < end; c++ {
				if v := f.Heads()[c]; o.Up[c] && seen[v] != s+1 {
					seen[v] = s + 1
					queue = append(queue, v)
				}
			}
		}
		if len(queue) > most {
			best, most = s, len(queue)
		}
	}
	return best
}

// UpThenDown is the order of trunks in which going up, then down closes no cycle:
// up trunks from the last switch to the first, then down trunks from the first
// to the last.
func (o *Orientation) UpThenDown(f *fabric.Fabric) []fabric.ChannelID {
	order := make([]fabric.ChannelID, 0, f.Trunks())
	collect := func(s fabric.NodeID, up bool) {
		for c, end := f.TrunksFrom(s); c < end; c++ {
			if o.Up[c] == up {
				order = append(order, c)
			}
		}
	}
	for i := len(o.Order) - 1; i >= 0; i-- {
		collect(o.Order[i], true)
	}
	for _, s := range o.Order {
		collect(s, false)
	}
	return order
}

// markTurns is 1 for every turn that a path takes, on all cores.
func markTurns(ctx context.Context, f *fabric.Fabric, t *routing.Forwarding) ([]uint32, error) {
	lids := int(f.TopLID()) + 1
	marks := make([][]uint32, par.Workers(lids))          // [worker][turn]
	outs := make([][]fabric.ChannelID, par.Workers(lids)) // [worker][switch] scratch
	for w := range marks {
		marks[w] = make([]uint32, f.Turns())
		outs[w] = make([]fabric.ChannelID, f.Switches())
	}
	err := par.For(ctx, lids, func(worker, lid int) {
		if e := f.Owner(fabric.LID(lid)); e != fabric.None && f.Endpoint(e).Switch != fabric.None {
			markRow(f, t.Row(fabric.LID(lid)), outs[worker], marks[worker])
		}
	})
	for _, m := range marks[1:] {
		for i, seen := range m {
			marks[0][i] |= seen
		}
	}
	return marks[0], err
}

// markRow marks the turns of the paths along one row of a forwarding. out is
// scratch space.
func markRow(f *fabric.Fabric, row []uint8, out []fabric.ChannelID, mark []uint32) {
	heads := f.Heads()
	trunks := fabric.ChannelID(f.Trunks())
	for s, port := range row {
		if out[s] = f.Out(fabric.NodeID(s), port); out[s] >= trunks {
			out[s] = fabric.None
		}
	}
	for _, in := range out {
		if in == fabric.None {
			continue
		}
		if next := out[heads[in]]; next != fabric.None {
			mark[f.Turn(in, next)] = 1
		}
	}
}

// rescue gives the lost switches a path to a LID by way of neighbours that have one,
// and returns those it could not help. They go towards the hub where they can. For
// the others, what is legal and what was admitted before is used as far as it
// goes; only then one more turn from down to up is admitted, and so on: so the
// same few turns serve all. Beside hubs it is one near the destination, by which these may
// have a path: else, where a hub lost its cable to it, all switches that are far away
// would first ask for a turn at each of their neighbours, which closes a cycle with those at the hub.
func (j *joiner) rescue(lid fabric.LID, root fabric.NodeID) []fabric.NodeID {
	hub, lost := j.hubs[j.part[root]], j.lost
	j.tree.Build(j.f, j.t.Row(lid), root)
	for sorted := !j.nearest; len(lost) > 0; {
		before := len(lost)
		if lost = j.towards(hub, lid, lost); len(lost) < before {
			continue
		}
		if lost = j.pass(lid, lost, false); len(lost) < before {
			continue
		}
		if !sorted {
			j.sort(lost, root)
			sorted = true
		}
		if lost = j.pass(lid, lost, true); len(lost) == before {
			return lost
		}
	}
	return nil
}

// sort sorts lost switches by the cables between them and a root, those alike by number.
func (j *joiner) sort(lost []fabric.NodeID, root fabric.NodeID) {
	dag.Shortest(&j.shortest, j.f, root)
	hops := j.shortest.Hops
	slices.SortFunc(lost, func(a, b fabric.NodeID) int {
		return cmp.Or(cmp.Compare(hops[a], hops[b]), cmp.Compare(a, b))
	})
}

// towards sends lost switches towards the hub, where the next on the way has a
// path and the turn there can be admitted. It returns those still lost.
func (j *joiner) towards(hub []uint8, lid fabric.LID, lost []fabric.NodeID) []fabric.NodeID {
	if hub == nil {
		return lost
	}
	still := lost[:0]
	for _, s := range lost {
		c := j.f.Trunk(s, hub[s])
		if c == fabric.None {
			still = append(still, s)
			continue
		}
		out := j.tree.Out[j.f.Heads()[c]]
		if out == fabric.None || !j.g.Add(c, out) {
			still = append(still, s)
			continue
		}
		if !j.up[c] && j.up[out] {
			j.added++
		}
		j.fill(lid, s, c)
	}
	return still
}

// fill sends a LID from a lost switch by a trunk.
func (j *joiner) fill(lid fabric.LID, s fabric.NodeID, c fabric.ChannelID) {
	port := j.f.Channel(c).FromPort
	j.t.Row(lid)[s] = port
	j.tree.Out[s] = c
	j.filled = append(j.filled, entry{lid, s, port})
}

// pass looks once at every lost switch, and returns those still lost. It stops
// after the first turn from down to up that it had to admit.
func (j *joiner) pass(lid fabric.LID, lost []fabric.NodeID, admit bool) []fabric.NodeID {
	still := lost[:0]
	for i, s := range lost {
		c := j.wayOut(s, admit)
		if c == fabric.None {
			still = append(still, s)
			continue
		}
		j.fill(lid, s, c)
		if admit {
			j.added++
			return append(still, lost[i+1:]...)
		}
	}
	return still
}

// wayOut is a trunk from a lost switch to a neighbour with a path whose turn
// there is in use or legal or, if so asked, can be admitted.
func (j *joiner) wayOut(s fabric.NodeID, admit bool) fabric.ChannelID {
	for c, end := j.f.TrunksFrom(s); c < end; c++ {
		// A neighbour with a path has a trunk to follow: the destination's
		// own switch has no lost neighbours.
		out := j.tree.Out[j.f.Heads()[c]]
		if out == fabric.None {
			continue
		}
		known := j.g.Has(j.f.Turn(c, out)) || j.up[c] || !j.up[out]
		if (known || admit) && j.g.Add(c, out) {
			return c
		}
	}
	return fabric.None
}
