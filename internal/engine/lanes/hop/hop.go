// Package hop assigns lanes hop by hop: a packet changes lanes at every switch
// and only ever to a higher one, so that no packet waits for a lower lane and no
// cycle can close.
//
// T. Schneider, O. Bibartiu, T. Hoefler: Ensuring Deadlock-Freedom in
// Low-Diameter InfiniBand Networks, HOTI 2016. Theorem 1: the dependencies are
// free of cycles if the lane rises at every hop; "q > p (or any other total order
// among VLs) is sufficient".
//
// A switch does not see the lane that a packet came by. It picks the next one by
// in-port, out-port and service level, which is what the two assigners live on.
// D2 (DF-D2, section IV) serves paths of two hops: lane 0 for what comes from an
// adapter, lane 1 for what comes from a switch, whatever the service level. DN
// (DF-DN, section V) serves longer ones: the turn from one trunk to the next has
// a lane for each service level, and every path is given a service level in which
// the lanes of its turns rise. Package layer needs no changes of lane, and where
// paths are long fewer lanes, but more of them where paths are short.
//
// Guarantee: free of deadlock for any paths that arrive, minimal or not; D2 under
// every contract, DN under contract honored, or directed if that was asked for. Lanes
// needed: as many as the longest path has hops from switch to switch, so the switch
// diameter for minimal paths.
// Hops are counted for the paths between endpoints in scope.
//
// Deviations from the paper:
//   - Figure 3 reads "h <- head(i)" where it means the tail: what sends into the
//     switch decides.
//   - Figure 6 marks unused entries with 0, which is also a lane, and writes the
//     lane of the last hop into all of them; and it wants an entry at the first
//     switch of a path. Here the first hop uses lane 0 whatever the service
//     level, and the delivery to an adapter needs no lane of its own, since an
//     injection channel has no predecessor and a delivery channel no successor.
//   - Figure 6 lets lanes rise by one at every hop and takes the first service
//     level that fits, path by path. Printed does that; DN lets shorter paths skip
//     lanes and looks for few service levels.
//   - Paths that share their way from some switch on are looked at once: a
//     service level that carries a path carries it from every switch on its way.
package hop

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/forest"
	"github.com/weft-fabric/weft/routing"
)

// D2 is DF-D2: two lanes, one service level is as good as another. It refuses
// paths of more than two hops with *routing.Refusal, and to do with one lane
// where two hops are made with *routing.TooFewLanes. Lanes.Needed is 1 where no
// path has two hops.
//
// Complexity: O(D·S) for D destination LIDs and S switches, to see that no path
// is too long; the lanes themselves are O(ports²) for each switch.
type D2 struct{}

// Lanes implements routing.LaneAssigner.
func (D2) Lanes(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	longest, err := forest.Of(f, fw, b.Scope).Longest(ctx, p)
	if err != nil {
		return nil, err
	}
	hops := longest.Hops
	if hops > 2 {
		return nil, routing.Refuse(f, ruleTwoHops, longest.From, 0, "its path to LID %d (%s) has %d hops from switch to switch",
			longest.LID, f.Label(f.Endpoint(f.Owner(longest.LID)).Node), hops)
	}
	if hops > b.VLs {
		return nil, &routing.TooFewLanes{Need: hops, Have: b.VLs}
	}
	l := routing.OneSL(f, mapLanes(f, hops, nil))
	l.Needed = max(1, hops)
	return l, nil
}

// mapLanes is the map for paths of at most so many hops: lane 0 for what comes from an
// adapter or from the switch itself; for what comes from another switch the lane
// of the turn, [service level][turn], and lane 1 where it has none. Service levels beyond
// those given start over with the first.
func mapLanes(f *fabric.Fabric, hops int, lane [][]uint8) *routing.SL2VL {
	m := routing.UniformSL2VL([routing.SLs]uint8{})
	if hops < 2 {
		return m
	}
	m = m.PerPort(f)
	for in := range fabric.ChannelID(f.Trunks()) {
		c := f.Channel(in)
		for out := range f.Node(c.To).Ports + 1 {
			for sl := range uint8(routing.SLs) {
				m.Set(c.To, c.ToPort, uint8(out), sl, 1)
			}
		}
		if len(lane) > 0 {
			mapTurns(f, m, in, lane)
		}
	}
	return m
}

// mapTurns writes into m the lanes above 1 for what comes in by a trunk and goes on to another switch.
func mapTurns(f *fabric.Fabric, m *routing.SL2VL, in fabric.ChannelID, lane [][]uint8) {
	c := f.Channel(in)
	first, end := f.TrunksFrom(c.To)
	for out := first; out < end; out++ {
		turn, port := f.Turn(in, out), f.Channel(out).FromPort
		for sl := range uint8(routing.SLs) {
			if vl := lane[int(sl)%len(lane)][turn]; vl > 1 {
				m.Set(c.To, c.ToPort, port, sl, vl)
			}
		}
	}
}
