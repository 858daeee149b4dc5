// Package minimal gives the entries of finished tables groups of ports to choose from:
// beside the static port, every port that leads nearer to the destination and keeps the
// tables free of credit loops, whatever the switches choose.
//
// Nearer is by the hops that the static ports take from there on. So where these are
// shortest paths the groups are those of all shortest paths that the proof admits, and no
// choice makes a packet circle.
//
// Guarantee. All choices together have no cycle of dependencies, on the service levels in
// use, so a switch may choose once or again as it likes. It needs no lane beyond those of
// the tables. A port is left out whose dependencies, together with those admitted before,
// would close a cycle; switches far from the destination come first, ports of one switch
// in ascending order.
//
// Complexity: O(D·C·k) dependencies to look up for D destinations, C trunks and k trunks
// that packets come by; those that are new cost a search in the graph of those admitted
// (internal/engine/steps/acyclic).
package minimal

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// Groups computes the groups of tables for packets of endpoints of a scope, on the service
// levels that a contract allows them. It fails if the tables have a credit loop already.
func Groups(ctx context.Context, t *routing.Tables, c routing.Contract, scope routing.Scope, p routing.Progress) (*routing.Groups, error) {
	w := newWidener(t, c, scope)
	lids := slices.Collect(func(yield func(fabric.LID) bool) {
		for lid := range scope.LIDs(t.Fabric) {
			if !yield(lid) {
				return
			}
		}
	})
	var err error
	if w.graph.Lanes, err = w.packets.Graph(ctx, scope, t.Forwarding); err != nil {
		return nil, err
	}
	if w.graph.Lanes == nil {
		return nil, errors.New("the tables have a credit loop before any port is added to them")
	}
	for n, lid := range lids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.begin(t.Forwarding.Row(lid), lid)
		w.widen()
		w.store(lid)
		p.Report(n+1, len(lids))
	}
	return w.groups, nil
}

// widener adds ports for one destination after another.
type widener struct {
	f       *fabric.Fabric
	packets *packetset.Packets // to the destination, by static ports and by those that were added
	graph   acyclic.Journal    // the dependencies admitted
	groups  *routing.Groups
	numbers []map[routing.PortSet]int // [switch] numbers of its groups

	static routing.Tree    // of the static ports to the destination
	order  []fabric.NodeID // the switches with a path to it, far ones first
}

func newWidener(t *routing.Tables, c routing.Contract, scope routing.Scope) *widener {
	f := t.Fabric
	const further, groupTables = 0, 1 // service levels besides those in use; tables of groups, whatever the service level
	w := &widener{
		f: f, packets: packetset.New(packetset.NewSources(t, c, scope, further)), groups: routing.NewGroups(f, groupTables),
		numbers: make([]map[routing.PortSet]int, f.Switches()),
	}
	for s := range w.numbers {
		w.numbers[s] = map[routing.PortSet]int{}
	}
	return w
}

// begin follows the static ports to a destination.
func (w *widener) begin(row []uint8, lid fabric.LID) {
	w.graph.Forget()
	w.packets.Begin(row, lid)
	w.packets.Start(packetset.Any)
	w.static.Build(w.f, row, w.packets.Home)
	w.order = append(w.order[:0], w.static.Order...)
	slices.SortFunc(w.order, func(a, b fabric.NodeID) int {
		return cmp.Or(cmp.Compare(w.static.Depth(b), w.static.Depth(a)), cmp.Compare(a, b))
	})
}

// widen adds every port that leads nearer and fits.
func (w *widener) widen() {
	for _, s := range w.order {
		first, end := w.f.TrunksFrom(s)
		for c := first; c < end; c++ {
			if to := w.static.Depth(w.f.Heads()[c]); to >= 0 && to < w.static.Depth(s) && c != w.packets.Entry[s] {
				w.try(s, c)
			}
		}
	}
}

// try adds a trunk to those of a switch, unless its dependencies close a cycle.
func (w *widener) try(s fabric.NodeID, out fabric.ChannelID) {
	graph, packets := w.graph.Checkpoint(), w.packets.Mark()
	if !w.packets.Add(s, out, w.graph.Admit) {
		w.graph.Rollback(graph)
		w.packets.TakeBack(packets)
	}
}

// store writes the groups of the destination.
func (w *widener) store(lid fabric.LID) {
	const hashed = false // switches choose by their queues
	row := w.groups.Row(0, lid)
	for _, s := range w.order {
		if len(w.packets.More[s]) == 0 {
			continue
		}
		var ports routing.PortSet
		ports.Add(w.f.TailPorts()[w.packets.Entry[s]])
		for _, c := range w.packets.More[s] {
			ports.Add(w.f.TailPorts()[c])
		}
		number, known := w.numbers[s][ports]
		if !known {
			number = len(w.numbers[s])
			w.numbers[s][ports] = number
			w.groups.Set(s, number, ports)
		}
		row[s] = routing.ChoiceOf(number, hashed)
	}
}
