package hop

import (
	"context"
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/forest"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// Color is the lane scheme for layers of almost minimal paths.
//
// N. Blach et al.: A High-Performance Design, Implementation, Deployment, and Evaluation
// of The Slim Fly Network, NSDI 2024 (arXiv 2310.03742), section 5, read by way of the
// authors' OpenSM (github.com/spcl/opensm, routing engine lnmp). A packet is on lane 0
// after its first switch, on lane 1 after the second, on lane 2 after the third. A switch knows that
// it is the first by the in-port, to which an adapter is cabled. The second and the third cannot tell
// by that, so switches have colors, and the service level of a path of three hops is the
// color of its second switch: a switch that finds its own color there is the second, any other
// is the third, because neighbours on a path have different colors. Paths of fewer
// hops share a service level of their own.
//
// Guarantee: deadlock-free under contract directed for any paths that arrive. Lanes
// needed: the hops of the longest path, at most 3. It refuses longer paths, and switches
// that cannot be told apart by the colors that there are service levels for, with
// *routing.Refusal. Service levels: a color more than DN needs now and then, but they
// depend on which switches follow each other, not on which paths there are.
//
// Deviations: the paper colors neighbours differently whether a path leads over both or
// not, in the order of the switches (its code has 13 colors for them); here those that a
// path of three hops has in its middle, the ones with the most colors around them first
// (D. Brélaz: New Methods to Color the Vertices of a Graph, CACM 1979), which takes
// fewer. And lanes that are left over stay empty; there packets are spread over them.
//
// Complexity: O(D·S) to look at the paths to D LIDs from S switches, O(S²) for the colors.
type Color struct{}

const (
	ruleThreeHops = "no path between endpoints has more than three hops from switch to switch"
	ruleColors    = "fifteen colors suffice for switches that follow each other in the middle of a path"
)

// colors is how many there are: a service level is for paths of fewer than three hops.
const colors = routing.SLs - 1

// Lanes implements routing.LaneAssigner.
func (Color) Lanes(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	all := forest.Of(f, fw, b.Scope)
	longest, err := all.Longest(ctx, p)
	switch {
	case err != nil:
		return nil, err
	case longest.Hops > 3:
		return nil, routing.Refuse(f, ruleThreeHops, longest.From, 0, "its path to LID %d (%s) has %d hops from switch to switch",
			longest.LID, f.Label(f.Endpoint(f.Owner(longest.LID)).Node), longest.Hops)
	case longest.Hops > b.VLs:
		return nil, &routing.TooFewLanes{Need: longest.Hops, Have: b.VLs}
	case longest.Hops < 3:
		l := routing.OneSL(f, mapLanes(f, longest.Hops, nil))
		l.Needed = max(1, longest.Hops)
		return l, nil
	}
	color, err := colored(ctx, all)
	if err != nil {
		return nil, err
	}
	l := routing.NewLanes(f, colorLanes(f, color))
	l.Needed = longest.Hops
	return l, all.Each(ctx, nil, func(_, _ int, t *forest.InTree) {
		for t.Next() {
			row := l.SLRow(t.LID)
			eachMiddle(all, t, func(s, second, _ fabric.NodeID) { row[s] = 1 + color[second] })
		}
	})
}

// eachMiddle visits the paths of three hops in an in-tree: the switch at which each
// begins, and the second and the third that it passes.
func eachMiddle(all *forest.Paths, t *forest.InTree, visit func(s, second, third fabric.NodeID)) {
	heads, root := all.Fabric.Heads(), t.End.Switch
	for _, s := range t.Order {
		second := heads[t.Out[s]]
		if second == root || !all.Sends[s] {
			continue
		}
		if third := heads[t.Out[second]]; third != root {
			visit(s, second, third)
		}
	}
}

// colored gives every switch a color, [switch], so that the second and the third switch of
// any path have different ones.
func colored(ctx context.Context, all *forest.Paths) ([]uint8, error) {
	n := all.Fabric.Switches()
	follow := make([][]bool, par.Workers(len(all.Ends))) // [worker][second × switches + third]
	for w := range follow {
		follow[w] = make([]bool, n*n)
	}
	err := all.Each(ctx, nil, func(worker, _ int, t *forest.InTree) {
		set := follow[worker]
		for t.Next() {
			eachMiddle(all, t, func(_, second, third fabric.NodeID) { set[int(second)*n+int(third)] = true })
		}
	})
	if err != nil {
		return nil, err
	}
	beside := make([][]fabric.NodeID, n)
	for a := range fabric.NodeID(n) {
		for z := range fabric.NodeID(n) {
			for _, set := range follow {
				if set[int(a)*n+int(z)] || set[int(z)*n+int(a)] {
					beside[a] = append(beside[a], z)
					break
				}
			}
		}
	}
	return saturate(all.Fabric, beside)
}

// saturate colors a graph, given by the neighbours of each switch, so that no two
// neighbours have the same color. It takes the switch next whose neighbours have the most
// colors, of several the one with the most neighbours, and gives it the first color that
// is left.
func saturate(f *fabric.Fabric, beside [][]fabric.NodeID) ([]uint8, error) {
	color := make([]uint8, len(beside))
	taken := make([]uint32, len(beside)) // [switch] colors of its neighbours, as bits
	done := make([]bool, len(beside))
	for range beside {
		next := -1
		for s := range beside {
			if !done[s] && (next < 0 || before(taken, beside, s, next)) {
				next = s
			}
		}
		done[next] = true
		c := bits.TrailingZeros32(^taken[next])
		if c >= colors {
			return nil, routing.Refuse(f, ruleColors, fabric.NodeID(next), 0, "the switches before and behind it have %d", bits.OnesCount32(taken[next]))
		}
		color[next] = uint8(c)
		for _, z := range beside[next] {
			taken[z] |= 1 << c
		}
	}
	return color, nil
}

// before reports whether switch a is colored before z.
func before(taken []uint32, beside [][]fabric.NodeID, a, z int) bool {
	more := bits.OnesCount32(taken[a]) - bits.OnesCount32(taken[z])
	return more > 0 || more == 0 && len(beside[a]) > len(beside[z])
}

// colorLanes is the map: lane 0 for what comes from an adapter; for what comes from a switch
// lane 1 if the service level is that of short paths or of the switch's own color, else 2.
func colorLanes(f *fabric.Fabric, color []uint8) *routing.SL2VL {
	m := routing.UniformSL2VL([routing.SLs]uint8{}).PerPort(f)
	for in := range fabric.ChannelID(f.Trunks()) {
		c := f.Channel(in)
		var lane [routing.SLs]uint8
		for sl := range lane {
			lane[sl] = 2
		}
		lane[0], lane[1+color[c.To]] = 1, 1
		for out := range f.Node(c.To).Ports + 1 {
			m.SetMap(c.To, c.ToPort, uint8(out), lane)
		}
	}
	return m
}
